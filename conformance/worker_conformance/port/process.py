"""One process of a Worker, in a session and process group of its own, from start to reaping.

Whatever way it ends, the whole group ends with it, nothing stays a zombie and no descriptor stays
open. Knows nothing of JSON or of the Port's methods.
"""

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from attrs import define, field

from worker_conformance.errors import AdapterError, SuiteError
from worker_conformance.port import guard
from worker_conformance.port.channel import Channel

TERM_SECONDS = 1.0  # between SIGTERM and SIGKILL; no verdict hangs on it
REAP_SECONDS_MAX = 30.0  # after SIGKILL; only a process stuck in the kernel takes that long


@define
class WorkerProcess:
    """A running process. Made by `start`, over after `end`."""

    channel: Channel
    _popen: "subprocess.Popen[bytes]"
    _over: bool = field(default=False, init=False)

    @classmethod
    def start(cls, command: tuple[str, ...]) -> "WorkerProcess":
        """Start `command`, found on the path, with the environment of the suite."""
        try:
            popen = subprocess.Popen(  # noqa: S603 - running the given command is what it is for
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise AdapterError(
                "cannot-start",
                f"'{command[0]}' does not start: {error.strerror or error}",
                "run the command by hand in the same directory",
            ) from None
        try:
            guard.watch(popen.pid)
            pipes = (popen.stdin, popen.stdout, popen.stderr)
            channel = Channel(*(pipe.fileno() for pipe in pipes if pipe is not None))
            return cls(channel, popen)
        except BaseException:
            _kill_and_reap(popen)
            _close_pipes(popen)
            raise

    @property
    def group(self) -> int:
        """The process group; the process itself leads it and has the same number."""
        return self._popen.pid

    def exits_within(self, seconds: float) -> bool:
        """Wait for the process to exit by itself, without reaping it."""
        return self._over or _exits_within(self._popen, seconds)

    def close_stdin(self) -> None:
        """Let the Worker see the end of its input."""
        self.channel.stdin_open = False
        if self._popen.stdin is not None:
            self._popen.stdin.close()

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
            self.channel.drain_stderr()
            _close_pipes(self._popen)
        return self._popen.returncode


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
