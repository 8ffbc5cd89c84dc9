from threading import Event

from well_behaved import answer, misbehave, send


def dawdle(request: dict) -> None:
    Event().wait(0.3)
    send(answer(request))


misbehave("handle", dawdle)
