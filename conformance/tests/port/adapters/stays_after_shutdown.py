import signal

from well_behaved import answer, misbehave, send

signal.signal(signal.SIGTERM, signal.SIG_IGN)


def stay(request: dict) -> None:
    send(answer(request))
    while True:
        signal.pause()


misbehave("shutdown", stay)
