"""One process, in a session and process group of its own, from start to reaping.

Whatever way it ends, the whole group ends with it, nothing stays a zombie and no descriptor stays
open. Knows nothing of JSON or of the Port's methods.
"""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from attrs import define, field

from worker_conformance.errors import AdapterError, SuiteError
from worker_conformance.port import guard
from worker_conformance.port.channel import Channel

TERM_SECONDS = 1.0  # between SIGTERM and SIGKILL; no verdict hangs on it
REAP_SECONDS_MAX = 30.0  # after SIGKILL; only a process stuck in the kernel takes that long
DYING_SECONDS = 0.002  # between two looks at a group that was killed

Made = TypeVar("Made")


@define
class ProcessGroup:
    """A running process and all that it starts. Made by `start`, over after `end`."""

    _popen: "subprocess.Popen[bytes]"
    _over: bool = field(default=False, init=False)

    @property
    def group(self) -> int:
        """The process group; the process itself leads it and has the same number."""
        return self._popen.pid

    def exits_within(self, seconds: float) -> bool:
        """Wait for the process to exit by itself, without reaping it."""
        return self._over or _exits_within(self._popen, seconds)

    def terminate(self) -> None:
        """Ask the whole group to end and give it a moment."""
        if not self._over:
            _signal_group(self.group, signal.SIGTERM)
            self.exits_within(TERM_SECONDS)

    def end(self) -> int:
        """Kill what is left of the group, reap, close; return the exit status as `Popen` has it.

        Idempotent. The status is the process's own where it had exited before.
        """
        if not self._over:
            self._over = True
            _kill_and_reap(self._popen)
            self._before_closing()
            _close_pipes(self._popen)
        return self._popen.returncode

    def _before_closing(self) -> None:
        """Read what is still to be read."""


@define
class WorkerProcess(ProcessGroup):
    """A process that speaks the Worker Port on its standard input and output."""

    channel: Channel

    @classmethod
    def start(cls, command: tuple[str, ...]) -> "WorkerProcess":
        """Start `command`, found on the path, with the environment of the suite."""
        popen = _started(command, subprocess.PIPE)
        pipes = (popen.stdin, popen.stdout, popen.stderr)
        return _or_ended(
            popen,
            lambda: cls(popen, Channel(*(pipe.fileno() for pipe in pipes if pipe is not None))),
        )

    def close_stdin(self) -> None:
        """Let the Worker see the end of its input."""
        self.channel.stdin_open = False
        if self._popen.stdin is not None:
            self._popen.stdin.close()

    def _before_closing(self) -> None:
        self.channel.drain_stderr()


@define
class ServerProcess(ProcessGroup):
    """A command that brings up a server: nobody talks to it, but what it writes can be read.

    `output` is one descriptor for its stdout and stderr, and for those of all that it starts.
    """

    output: int

    @classmethod
    def start(cls, command: tuple[str, ...]) -> "ServerProcess":
        """Start `command`, found on the path, with the environment of the suite."""
        popen = _started(command, subprocess.STDOUT)
        assert popen.stdout is not None  # noqa: S101 - it was asked for in _started
        output = popen.stdout.fileno()
        return _or_ended(popen, lambda: cls(popen, output))

    def end(self) -> int:
        """As of any group; returns once all its processes are dead, and their sockets closed."""
        if not self._over:
            _signal_group(self.group, signal.SIGKILL)
            _wait_until_dead(self.group)
        return super().end()

    def status(self) -> int:
        """Return the exit status of the command, as `Popen` has it; it must have exited."""
        if not hasattr(os, "waitid"):
            return self._popen.wait()
        # Not reaped, so that its number still names the group of what it has started.
        exit_ = os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT)
        assert exit_ is not None  # noqa: S101 - only WNOHANG brings nothing
        return exit_.si_status if exit_.si_code == os.CLD_EXITED else -exit_.si_status


def _started(command: tuple[str, ...], stderr: int) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(  # noqa: S603 - running the given command is what it is for
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            start_new_session=True,
        )
    except OSError as error:
        raise AdapterError(
            "cannot-start",
            f"'{command[0]}' does not start: {error.strerror or error}",
            "run the command by hand in the same directory",
        ) from None


def _or_ended(popen: "subprocess.Popen[bytes]", make: Callable[[], Made]) -> Made:
    """Have the guard watch the process, and make what stands for it; or end it."""
    try:
        guard.watch(popen.pid)
        return make()
    except BaseException:
        _kill_and_reap(popen)
        _close_pipes(popen)
        raise


def describe_status(status: int) -> str:
    """Say in words how a process ended."""
    if status >= 0:
        return f"exited with status {status}"
    with suppress(ValueError):
        return f"was ended by {signal.Signals(-status).name}"
    return f"was ended by signal {-status}"


def _kill_and_reap(popen: "subprocess.Popen[bytes]") -> None:
    # The leader is not reaped yet, so its number cannot name another group by now.
    _signal_group(popen.pid, signal.SIGKILL)
    guard.forget(popen.pid)
    try:
        popen.wait(REAP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        raise SuiteError(
            "cannot-kill",
            f"process {popen.pid} is still there {REAP_SECONDS_MAX:.0f} s after SIGKILL",
            "the machine is overloaded, or the process hangs in the kernel",
        ) from None


def _signal_group(group: int, number: signal.Signals) -> None:
    # macOS answers EPERM where all that is left of a group are zombies.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _wait_until_dead(group: int) -> None:
    """Wait for the processes of a killed group, as far as `/proc` tells of them."""
    deadline = time.monotonic() + REAP_SECONDS_MAX
    while living_in_group(group) and time.monotonic() < deadline:
        select.select([], [], [], DYING_SECONDS)


def _close_pipes(popen: "subprocess.Popen[bytes]") -> None:
    for pipe in (popen.stdin, popen.stdout, popen.stderr):
        if pipe is not None:
            pipe.close()


def living_in_group(group: int) -> tuple[int, ...]:
    """Return the processes of a group that are alive, its leader included; zombies are not.

    Only where `/proc` tells; elsewhere none. For diagnosis: `end` needs no list.
    """
    entries = sorted(Path("/proc").glob("[0-9]*"))
    return tuple(int(entry.name) for entry in entries if _lives_in(entry, group))


def _lives_in(entry: Path, group: int) -> bool:
    try:
        # The name of the program stands in parentheses and may itself contain some.
        state, _, of_group, *_ = (
            (entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        )
    except (OSError, ValueError):
        return False  # it has ended meanwhile
    return int(of_group) == group and state != "Z"


def _exits_within(popen: "subprocess.Popen[bytes]", seconds: float) -> bool:
    descriptor = _descriptor_of(popen.pid)
    if descriptor is None:
        # This reaps: in theory the number could name another group before ours is killed.
        with suppress(subprocess.TimeoutExpired):
            popen.wait(seconds)
        return popen.returncode is not None
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(descriptor)


def _descriptor_of(pid: int) -> int | None:
    """A descriptor that tells of the exit, exactly and without reaping; Linux from 5.3 on."""
    if sys.platform == "linux":
        with suppress(OSError):
            return os.pidfd_open(pid)
    return None
