import os

from well_behaved import answer, misbehave, send


def die(request: dict) -> None:
    send(answer(request))
    os._exit(7)


misbehave("handle", die)
