"""The stream to a Worker: lines out, lines in, stderr kept aside where there is one.

Every wait ends at a deadline and every buffer has a limit, so that no Worker can hang the suite or
eat its memory. Never reads meaning into a line, never signals a process.
"""

import os
import select
import time
from enum import Enum

from attrs import define, field

MAX_LINE_BYTES = 16 * 1024 * 1024  # the Port's own limit; a Snapshot of 100,000 Event IDs fits
STDERR_KEPT_BYTES = 64 * 1024  # enough for a traceback and what led to it
READ_BYTES = 64 * 1024  # the capacity of a pipe on Linux
STDERR_READS_MAX = 64  # of what is left to read at once; a Worker may write without end


class Trouble(Enum):
    """Why there is no line."""

    TIMEOUT = "timeout"
    CLOSED = "closed"
    TOO_LONG = "too-long"


@define
class Channel:
    """Reads and writes the given file descriptors, which it makes non-blocking and never closes.

    `stdin` is what the Worker reads from, seen from its side, and `stdout` what it writes to; they
    are two descriptors, also where both lead to one socket. `stderr` may be missing.
    """

    _stdin: int
    _stdout: int
    _stderr: int | None
    lines_read: int = field(default=0, init=False)
    stdin_open: bool = field(default=True, init=False)
    _open: set[int] = field(init=False)
    _received: bytearray = field(factory=bytearray, init=False)
    _scanned: int = field(default=0, init=False)  # no line feed before this position
    _errors: bytearray = field(factory=bytearray, init=False)

    def __attrs_post_init__(self) -> None:
        """Make the descriptors non-blocking."""
        self._open = {self._stdout} if self._stderr is None else {self._stdout, self._stderr}
        for descriptor in (self._stdin, *self._open):
            os.set_blocking(descriptor, False)

    def converse(self, request: bytes, timeout_seconds: float) -> bytes | Trouble:
        """Write `request` and return the next line, without its line feed."""
        pending = memoryview(request)
        deadline = time.monotonic() + timeout_seconds
        while True:
            line = self._take_line()
            if line is not None:
                return line
            if self._stdout not in self._open:
                return Trouble.CLOSED
            ready = self._wait(deadline, writing=bool(pending))
            if ready is None:
                return Trouble.TIMEOUT
            if self._stdin in ready:
                pending = self._write(pending)
            self._read_some(ready)

    def send(self, request: bytes, timeout_seconds: float) -> bool:
        """Write all of `request` and read no answer; return whether the Worker took it."""
        pending = memoryview(request)
        deadline = time.monotonic() + timeout_seconds
        while pending:
            ready = self._wait(deadline, writing=True)
            if ready is None:
                return False
            if self._stdin in ready:
                pending = self._write(pending)
            self._read_errors(ready)
        return self.stdin_open

    def wait_for_output(self, timeout_seconds: float) -> bool:
        """Wait until the Worker has written to stdout or closed it, and read nothing of it."""
        deadline = time.monotonic() + timeout_seconds
        while self._stdout in self._open:
            ready = self._wait(deadline, writing=False)
            if ready is None:
                return False
            if self._stdout in ready:
                return True
            self._read_errors(ready)
        return True

    def ends_within(self, seconds: float) -> bool:
        """Wait until the Worker closes its side; whatever it writes instead ends the wait."""
        deadline = time.monotonic() + seconds
        while self._stdout in self._open and not self._received:
            ready = self._wait(deadline, writing=False)
            if ready is None:
                return False
            self._read_some(ready)
        return self._stdout not in self._open

    def surplus(self) -> bytes:
        """Return what stands on stdout beyond the lines taken so far, as far as it has arrived."""
        if self._stdout in self._open:
            self._read_stdout()
        return bytes(self._received)

    def partial(self) -> int:
        """Return how many bytes of an unfinished line have arrived."""
        return len(self._received)

    def drain_stderr(self) -> None:
        """Read what the Worker has written to stderr by now."""
        for _ in range(STDERR_READS_MAX):
            if self._stderr not in self._open or not self._read_stderr():
                return

    def stderr_text(self) -> str:
        """Return the end of stderr since it was last forgotten."""
        return self._errors.decode("utf-8", errors="backslashreplace")

    def forget_stderr(self) -> None:
        """Begin a new tail."""
        self._errors.clear()

    def _take_line(self) -> bytes | Trouble | None:
        end = self._received.find(b"\n", self._scanned)
        if end < 0:
            self._scanned = len(self._received)
            return Trouble.TOO_LONG if self._scanned > MAX_LINE_BYTES else None
        if end > MAX_LINE_BYTES:
            return Trouble.TOO_LONG
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        self._scanned = 0
        self.lines_read += 1
        return line

    def _wait(self, deadline: float, *, writing: bool) -> set[int] | None:
        """Return the descriptors that can be served, or None once the deadline is over."""
        rest = deadline - time.monotonic()
        if rest <= 0:
            return None
        poll = select.poll()
        for descriptor in self._open:
            poll.register(descriptor, select.POLLIN)
        if writing and self.stdin_open:
            poll.register(self._stdin, select.POLLOUT)
        ready = {descriptor for descriptor, _ in poll.poll(rest * 1000)}
        return ready or None

    def _write(self, pending: memoryview) -> memoryview:
        try:
            return pending[os.write(self._stdin, pending) :]
        except BlockingIOError:
            return pending
        except (BrokenPipeError, ConnectionResetError):
            # It may have written a last word before it closed stdin: keep reading.
            self.stdin_open = False
            return pending[len(pending) :]

    def _read_some(self, ready: set[int]) -> None:
        if self._stdout in ready:
            self._read_stdout()
        self._read_errors(ready)

    def _read_errors(self, ready: set[int]) -> None:
        if self._stderr in ready:
            self._read_stderr()

    def _read_stdout(self) -> None:
        self._received += self._read(self._stdout)

    def _read_stderr(self) -> bool:
        """Keep the end of what came; return whether anything did."""
        chunk = b"" if self._stderr is None else self._read(self._stderr)
        self._errors += chunk
        del self._errors[:-STDERR_KEPT_BYTES]
        return bool(chunk)

    def _read(self, descriptor: int) -> bytes:
        try:
            chunk = os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            return b""
        except ConnectionResetError:
            chunk = b""  # a socket's way to say that nothing more comes
        if not chunk:
            self._open.discard(descriptor)
        return chunk
