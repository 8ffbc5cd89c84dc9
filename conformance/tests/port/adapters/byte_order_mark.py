import sys

from well_behaved import answer, misbehave


def mark(request: dict) -> None:
    sys.stdout.buffer.write(answer(request).encode("utf-8-sig"))
    sys.stdout.buffer.flush()


misbehave("handle", mark)
