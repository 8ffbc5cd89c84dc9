"""Sees to it that no Worker and no folder outlives the suite, however the suite ends.

One small process watches over the suite that started it. It learns the process group of every
Worker, and every folder of state, through a pipe; when the pipe closes, because the suite ended,
was interrupted, terminated or killed, it kills the groups and removes the folders that are left,
and ends. That needs no signal handler in the suite and no
kernel feature of one system. It never touches a group it was not told about.

Out of reach are processes that leave their group on purpose (`setsid`), and a Worker in the instant
between its start and its registration; both still see their standard input close.
"""

import atexit
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from attrs import define

END_SECONDS_MAX = 5.0  # it has only to read an end of file

_PROGRAM = Path(__file__).with_name("guard_process.py")


def watch(group: int) -> None:
    """Have `group` killed when the suite ends."""
    _tell(f"+{group}\n")


def forget(group: int) -> None:
    """Leave `group` alone from now on. To be said before its leader is reaped: IDs are reused."""
    _tell(f"-{group}\n")


def watch_folder(folder: Path) -> None:
    """Have `folder` removed, with all that is in it, when the suite ends."""
    _tell(f">{os.fspath(folder)}\n")


def forget_folder(folder: Path) -> None:
    """Leave `folder` alone from now on: it has been removed."""
    _tell(f"<{os.fspath(folder)}\n")


def ensure() -> "subprocess.Popen[bytes]":
    """Return the guard process of this suite; start it if there is none yet."""
    if _guard.process is None:
        _guard.process = _start()
    return _guard.process


@define
class _Guard:
    process: "subprocess.Popen[bytes] | None" = None


_guard = _Guard()


def _tell(line: str) -> None:
    pipe = ensure().stdin
    assert pipe is not None  # noqa: S101 - it was asked for in _start
    with suppress(BrokenPipeError):  # somebody killed the guard; the suite goes on without it
        os.write(pipe.fileno(), os.fsencode(line))


def _start() -> "subprocess.Popen[bytes]":
    # Isolated and without site packages: it starts in milliseconds and imports nothing of ours.
    return subprocess.Popen(  # noqa: S603 - our own interpreter and our own file
        [sys.executable, "-I", "-S", str(_PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # an interrupt at the terminal must not reach it
        bufsize=0,
    )


def _close() -> None:
    process, _guard.process = _guard.process, None
    if process is not None and process.stdin is not None:
        process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS_MAX)


def _after_fork() -> None:
    """A forked copy of the suite has Workers of its own; the guard serves the one that began it."""
    process, _guard.process = _guard.process, None
    if process is not None and process.stdin is not None:
        process.stdin.close()
        process.returncode = (
            0  # not a child of this process: nothing to wait for, nothing to warn of
        )


atexit.register(_close)
os.register_at_fork(after_in_child=_after_fork)
