import sys

from well_behaved import answer, misbehave, send


def die(request: dict) -> None:
    send(answer(request))
    sys.exit(7)


misbehave("shutdown", die)
