"""The program of the guard process: see `guard`. Run as a file, on its own, by nothing else."""

import os
import signal
import sys
from contextlib import suppress


def main() -> None:
    """Read `+group` and `-group` until the suite is gone, then kill what is left."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)  # it ends when the suite does, not before
    groups: dict[int, None] = {}
    for line in sys.stdin:
        if line.startswith("+"):
            groups[int(line)] = None
        else:
            groups.pop(-int(line), None)
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
