"""A Worker that is a process: newline-delimited JSON-RPC 2.0 over standard input and output.

Crashes are real here: SIGKILL of the process group, then a new process on the same state directory.
Any breach of the framing ends the process, since nobody knows then which answer belongs to what.
Never judges what an answer says.
"""

from attrs import define, field

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.errors import AdapterError, SuiteError
from worker_conformance.port import messages
from worker_conformance.port.channel import MAX_LINE_BYTES, STDERR_KEPT_BYTES, Trouble
from worker_conformance.port.contract import HOOK_NOT_SUPPORTED, Answer, HookNotSupported
from worker_conformance.port.declaration import Declaration
from worker_conformance.port.json_rpc import RpcError, read_response, request_line
from worker_conformance.port.process import WorkerProcess, describe_status

TIMEOUT_SECONDS = 30.0  # a guard against hangs, far above any honest answer
GRACE_SECONDS = 5.0  # from the answer to `shutdown` until the process has gone
LAST_WORDS_SECONDS = 1.0  # from the end of stdout to the exit of the process
STDERR_LINES_SHOWN = 8  # the end of a traceback


@define
class StdioPort:
    """The Port to the process that `command` starts.

    `timeout_seconds` is real time and bounds each call; it decides no verdict.
    """

    command: tuple[str, ...]
    timeout_seconds: float = TIMEOUT_SECONDS
    grace_seconds: float = GRACE_SECONDS
    transport: str = field(default="stdio", init=False)
    copies_state_on_crash: bool = field(default=False, init=False)
    _process: WorkerProcess | None = field(default=None, init=False)
    _declared: Declaration | None = field(default=None, init=False)
    _requests: int = field(default=0, init=False)
    _stderr: str = field(default="", init=False)  # of processes that are over

    def initialize(self) -> Declaration:
        """Start the process and return what it declares."""
        if self._process is not None:
            raise SuiteError("port-state", "the Worker is already up", "shut it down first")
        self._process = WorkerProcess.start(self.command)
        self._requests = 0
        try:
            params = messages.initialize_params()
            result = self._result(self._call("initialize", params, "'initialize'"), "'initialize'")
            declared = messages.read_declaration(result)
            messages.refuse_change(self._declared, declared)
        except BaseException:
            self._end()
            raise
        self._declared = declared
        return declared

    def handle(self, stimulus: JsonObject) -> Answer:
        """Give the Worker one stimulus and return its answer."""
        messages.check_stimulus(stimulus)
        return self.handle_unchecked(stimulus)

    def handle_unchecked(self, stimulus: JsonObject) -> Answer:
        """As `handle`, for a stimulus that our own schema refuses on purpose."""
        kind = str(stimulus["type"])
        called = f"'handle' of '{kind}'"
        outcome = self._call("handle", stimulus, called)
        if isinstance(outcome, RpcError) and outcome.code == HOOK_NOT_SUPPORTED:
            raise HookNotSupported(kind)
        return messages.read_answer(self._result(outcome, called), kind)

    def crash(self) -> None:
        """Kill the process group."""
        self._end()

    def kill_after_send(self, stimulus: JsonObject) -> None:
        """Send a stimulus and kill the Worker at once, wherever it has got to.

        How far it got differs from run to run; a check built on it must hold for every point.
        """
        self._sent(stimulus)
        self._end()

    def kill_before_reading(self, stimulus: JsonObject) -> None:
        """Send a stimulus, wait until the Worker begins to answer, and kill it.

        It has done all it does before it answers, and the suite learns nothing of it.
        """
        process = self._sent(stimulus)
        answered = process.channel.wait_for_output(self.timeout_seconds)
        self._end()
        if not answered:
            raise self._timeout(f"'handle' of '{stimulus['type']}'", 0)

    def restart(self) -> None:
        """Start a new process after a crash; a changed declaration is refused."""
        self.initialize()

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

    def close(self) -> None:
        """End the process without asking it. Never raises for anything the Worker does."""
        self._end()

    def stderr_tail(self) -> str:
        """Return the end of what the Worker wrote to stderr since the last call, bounded."""
        text, self._stderr = self._stderr, ""
        if self._process is not None:
            self._process.channel.drain_stderr()
            text += self._process.channel.stderr_text()
            self._process.channel.forget_stderr()
        return text

    def process_group(self) -> int | None:
        """Return the process group of the Worker that is up, for diagnosis."""
        return None if self._process is None else self._process.group

    def _call(self, method: str, params: JsonObject | None, called: str) -> JsonObject | RpcError:
        """Make one request; whatever goes wrong with the framing ends the process."""
        process = self._running()
        try:
            return self._exchange(process, method, params, called)
        except BaseException:
            self._end()
            raise

    def _exchange(
        self, process: WorkerProcess, method: str, params: JsonObject | None, called: str
    ) -> JsonObject | RpcError:
        self._requests += 1
        line = request_line(self._requests, method, params)
        if self._requests > 1:  # a banner is best told as a bad answer to the first request
            self._refuse_noise(process, f"before {called} was asked for")
        taken = process.channel.converse(line, self.timeout_seconds)
        if isinstance(taken, Trouble):
            raise self._trouble(taken, called)
        where = f"stdout line {process.channel.lines_read}"
        outcome = read_response(taken, self._requests, called, where)
        self._refuse_noise(process, f"after the answer to {called}")
        return outcome

    def _result(self, outcome: JsonObject | RpcError, called: str) -> JsonObject:
        if isinstance(outcome, RpcError):
            raise AdapterError(
                "error-response",
                f"the Worker answered {called} with error {outcome.code}: "
                + messages.shorten(outcome.message),
                f"only {HOOK_NOT_SUPPORTED}, for a stimulus that is not supported, has a meaning "
                "in the Port" + self._last_words(),
            )
        return outcome

    def _sent(self, stimulus: JsonObject) -> WorkerProcess:
        messages.check_stimulus(stimulus)
        process = self._running()
        self._requests += 1
        line = request_line(self._requests, "handle", stimulus)
        if not process.channel.send(line, self.timeout_seconds):
            self._end()
            raise self._timeout(f"'handle' of '{stimulus['type']}'", 0)
        return process

    def _running(self) -> WorkerProcess:
        if self._process is None:
            raise SuiteError("port-state", "the Worker is not up", "initialize or restart it first")
        return self._process

    def _refuse_noise(self, process: WorkerProcess, when: str) -> None:
        noise = process.channel.surplus()
        if noise:
            line = noise.split(b"\n", 1)[0]
            where = f"stdout line {process.channel.lines_read + 1}"
            raise AdapterError(
                "stdout-noise",
                f"the Worker wrote to stdout {when}, with no request to answer",
                f"{where} is {messages.excerpt(line)}; one line for each request and nothing else: "
                "logs belong on stderr, effects in the next answer",
                where,
            )

    def _trouble(self, trouble: Trouble, called: str) -> AdapterError:
        process = self._running()
        if trouble is Trouble.TIMEOUT:
            return self._timeout(called, process.channel.partial())
        if trouble is Trouble.TOO_LONG:
            return AdapterError(
                "line-too-long",
                f"the answer to {called} is a line of more than {MAX_LINE_BYTES} bytes",
                "spread the effects over several answers with 'busy': true; "
                f"it begins with {messages.excerpt(process.channel.surplus())}",
            )
        exited = process.exits_within(LAST_WORDS_SECONDS)
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

    def _timeout(self, called: str, partial_bytes: int) -> AdapterError:
        hint = "flush stdout after each answer, and answer every request"
        if partial_bytes:
            hint = (
                f"{partial_bytes} bytes of an unfinished line had arrived: "
                "end each answer with a line feed"
            )
        return AdapterError(
            "timeout",
            f"no answer to {called} within {self.timeout_seconds:g} s",
            hint + self._last_words(),
        )

    def _last_words(self) -> str:
        """Return the end of stderr for a hint, without taking it from `stderr_tail`."""
        text = self._stderr
        if self._process is not None:
            self._process.channel.drain_stderr()
            text += self._process.channel.stderr_text()
        lines = text.rstrip().splitlines()[-STDERR_LINES_SHOWN:]
        if not lines:
            return ""
        return "; its stderr ends with:\n" + "\n".join(map(messages.shorten, lines))

    def _end(self) -> int:
        """End the process, if there is one, and keep the end of its stderr."""
        process, self._process = self._process, None
        if process is None:
            return 0
        status = process.end()
        self._stderr = (self._stderr + process.channel.stderr_text())[-STDERR_KEPT_BYTES:]
        return status
