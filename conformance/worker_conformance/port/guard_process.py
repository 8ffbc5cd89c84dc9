"""The program of the guard process: see `guard`. Run as a file, on its own, by nothing else."""

import os
import shutil
import signal
import sys
from contextlib import suppress


def main() -> None:
    """Read what to watch until the suite is gone, then end and remove what is left of it."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)  # it ends when the suite does, not before
    groups: dict[int, None] = {}
    folders: dict[bytes, None] = {}
    for line in sys.stdin.buffer:
        sign, rest = line[:1], line[1:].rstrip(b"\n")
        if sign == b"+":
            groups[int(rest)] = None
        elif sign == b"-":
            groups.pop(int(rest), None)
        elif sign == b">":
            folders[rest] = None
        else:
            folders.pop(rest, None)
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
