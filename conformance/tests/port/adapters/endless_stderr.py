import sys

from well_behaved import misbehave


def flood(_: dict) -> None:
    while True:
        sys.stderr.write("the disk is full\n" * 1000)


misbehave("handle", flood)
