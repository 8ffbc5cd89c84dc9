import os
import signal

from well_behaved import misbehave


def close(_: dict) -> None:
    os.close(1)
    while True:
        signal.pause()


misbehave("handle", close)
