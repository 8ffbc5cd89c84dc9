"""A Worker that is a process: newline-delimited JSON-RPC 2.0 over standard input and output.

Crashes are real here: SIGKILL of the process group, then a new process on the same state directory.
The conversation itself is `line_port`'s.
"""

from attrs import define, field

from worker_conformance.errors import AdapterError
from worker_conformance.port import messages
from worker_conformance.port.line_port import GRACE_SECONDS, LinePort
from worker_conformance.port.process import WorkerProcess, describe_status

__all__ = ["GRACE_SECONDS", "StdioPort"]

LAST_WORDS_SECONDS = 1.0  # from the end of stdout to the exit of the process


@define
class StdioPort(LinePort):
    """The Port to the process that `command` starts."""

    command: tuple[str, ...]
    transport: str = field(default="stdio", init=False)
    _process: WorkerProcess | None = field(default=None, init=False)

    def shutdown(self) -> None:
        """Ask the Worker to end, then see to it."""
        process = self._process
        if process is None:
            return
        try:
            outcome = self._call("shutdown", None, "'shutdown'")
            messages.check_shutdown_result(self._result(outcome, "'shutdown'"))
            process.close_stdin()
            gone = process.exits_within(self.grace_seconds)
            self._refuse_noise(process, "after the answer to 'shutdown'")
            if not gone:
                process.terminate()
        finally:
            status = self._end()
        if not gone:
            raise AdapterError(
                "did-not-exit",
                f"the process was still there {self.grace_seconds:g} s after it had answered "
                "'shutdown'",
                "answer, flush, and exit with status 0; threads and children must not hold it",
            )
        if status != 0:
            raise AdapterError(
                "exit-status",
                f"after 'shutdown' the process {describe_status(status)}",
                "exit with status 0 after the answer to 'shutdown'" + self._last_words(),
            )

    def process_group(self) -> int | None:
        """Return the process group of the Worker that is up, for diagnosis."""
        return None if self._process is None else self._process.group

    def _begin(self) -> None:
        self._process = WorkerProcess.start(self.command)

    def _peer_or_none(self) -> WorkerProcess | None:
        return self._process

    def _take_peer(self) -> WorkerProcess | None:
        process, self._process = self._process, None
        return process

    def _closed(self, called: str) -> AdapterError:
        exited = self._process is None or self._process.exits_within(LAST_WORDS_SECONDS)
        status = self._end()
        if not exited:
            return AdapterError(
                "closed-stdout",
                f"the Worker closed its stdout before it answered {called}, and lives on",
                "keep stdout open until the process exits" + self._last_words(),
            )
        return AdapterError(
            "exited",
            f"the process {describe_status(status)} before it answered {called}",
            "run the command by hand and give it the same request" + self._last_words(),
        )
