import sys

from well_behaved import misbehave


def latin(_: dict) -> None:
    sys.stdout.buffer.write(b'{"jsonrpc": "2.0", "id": 2, "result": "\xe9t\xe9"}\n')
    sys.stdout.buffer.flush()


misbehave("handle", latin)
