"""What the README promises holds: its commands stand in it, and its adapter is heard."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from worker_conformance.port.doctor import run_doctor

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
RUN = "python -m pip install tox && python -m tox run -e conformance"
TEST = "python -m pip install tox && python -m tox run\n"
FIRST_SCREEN_LINES = 20


def test_both_commands_stand_on_the_first_screen() -> None:
    first_screen = "\n".join(README.splitlines()[:FIRST_SCREEN_LINES]) + "\n"
    assert RUN in first_screen
    assert TEST in first_screen


def test_the_adapter_of_the_readme_is_heard_and_claims_nothing(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    adapter = tmp_path / "my_worker.py"
    adapter.write_text(code, encoding="utf-8")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    report = run_doctor(f"stdio:{sys.executable} {adapter}", 20)
    assert report.declaration is not None
    assert report.declaration.profiles == frozenset()
    lacking = [one.name for one in report.findings if one.outcome.value == "problem"]
    # It is heard, and `doctor` names the next steps; everything else is in order.
    assert lacking == [
        "an unknown stimulus is refused",
        "'start' is answered",
        "restarts after a crash",
    ]


def test_every_link_of_the_readme_leads_somewhere() -> None:
    root = Path(__file__).resolve().parents[1]
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (root / target).exists(), target
