from pathlib import Path

from well_behaved import answer, requests, send

counter = Path()
for request in requests():
    stimulus = request.get("params", {})
    if stimulus.get("type") == "start":
        counter = Path(stimulus["stateDirectory"]) / "ticks"
        counter.write_text("0")
    if stimulus.get("type") == "tick":
        counter.write_text(str(int(counter.read_text()) + 1))
    send(answer(request))
