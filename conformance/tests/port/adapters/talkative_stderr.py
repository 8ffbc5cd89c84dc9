import sys

from well_behaved import answer, misbehave, send


def talk(request: dict) -> None:
    sys.stderr.write("x" * 1_000_000 + "\nlast words\n")
    sys.stderr.flush()
    send(answer(request))


misbehave("handle", talk)
