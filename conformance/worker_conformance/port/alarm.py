"""A limit in real time on foreign code that runs in this process.

An interval timer interrupts it: loops and waits in Python end, compiled code that never returns to
the interpreter does not. The timer is the process's only one. Outside the main thread, on a
platform without it, and where somebody else's handler is set, there is no limit.
"""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

AGAIN_SECONDS = 1.0  # for code that catches whatever is raised
Result = TypeVar("Result")


class Overtime(BaseException):
    """The limit is reached. Not an `Exception`, so that fewer handlers swallow it."""


def within(seconds: float, operation: Callable[[], Result]) -> Result:
    """Return what `operation` returns; raise `Overtime` if it takes longer than `seconds`."""
    if not _free():
        return operation()
    try:
        signal.signal(signal.SIGALRM, _interrupt)
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
            return operation()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:  # also where the alarm rang while it was put away
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _free() -> bool:
    if not hasattr(signal, "setitimer"):
        return False
    if threading.current_thread() is not threading.main_thread():
        return False
    return signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def _interrupt(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise Overtime
