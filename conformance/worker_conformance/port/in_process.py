"""A Worker that is a Python object in the suite's own process.

The quickest transport: thousands of scenarios in seconds. Messages are copied both ways, so that
neither side can reach into what the other holds, and refused where no JSON text could carry them,
so that a Worker which passes here also passes over stdio. A hang in Python code is interrupted; one
in compiled code, and a crash in the middle of a call, need a process (`subprocess_port`).
"""

import contextlib
import io
import traceback
from collections.abc import Callable
from typing import Protocol, TypeVar

from attrs import define, field

from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.errors import AdapterError, SuiteError
from worker_conformance.port import alarm, messages
from worker_conformance.port.alarm import Overtime, within
from worker_conformance.port.contract import (
    HOOK_NOT_SUPPORTED,
    TIMEOUT_SECONDS,
    Answer,
    HookNotSupported,
)
from worker_conformance.port.declaration import Declaration
from worker_conformance.port.isolation import NotJson, isolated, isolated_json, kind_of

STDERR_KEPT_CHARACTERS = 64 * 1024  # the end of a log
SHOWN_FRAMES_MAX = 5  # the raise and its nearest callers
_OURS = (__file__, alarm.__file__)


class InProcessWorker(Protocol):
    """What a factory returns: the three operations of the Port on plain JSON objects.

    A stimulus that is not supported raises any exception whose `code` is -32001.
    """

    def initialize(self, params: JsonObject) -> JsonObject:
        """Return the declaration."""
        ...

    def handle(self, stimulus: JsonObject) -> JsonObject:
        """Return the effects of one stimulus."""
        ...

    def shutdown(self) -> JsonObject:
        """Return an empty object."""
        ...


WorkerFactory = Callable[[], InProcessWorker]
Result = TypeVar("Result")


@define
class InProcessPort:
    """The Port to an object made by `factory`.

    `timeout_seconds` is real time and bounds each call; it decides no verdict.
    """

    factory: WorkerFactory
    timeout_seconds: float = field(default=TIMEOUT_SECONDS, kw_only=True)
    transport: str = field(default="in-process", init=False)
    copies_state_on_crash: bool = field(default=True, init=False)
    _worker: InProcessWorker | None = field(default=None, init=False)
    _declared: Declaration | None = field(default=None, init=False)
    _log: io.StringIO = field(factory=io.StringIO, init=False)

    def initialize(self) -> Declaration:
        """Make a Worker and return what it declares."""
        if self._worker is not None:
            raise SuiteError("port-state", "the Worker is already up", "shut it down first")
        worker = self._guarded("the factory", self.factory)
        given = self._exchange("initialize", worker.initialize, messages.initialize_params())
        declared = messages.read_declaration(given)
        messages.refuse_change(self._declared, declared)
        self._worker, self._declared = worker, declared
        return declared

    def handle(self, stimulus: JsonObject) -> Answer:
        """Give the Worker a copy of one stimulus and return a copy of its answer."""
        given = _ours(stimulus)
        messages.check_stimulus(given)
        return self._handle(given)

    def handle_unchecked(self, stimulus: JsonObject) -> Answer:
        """As `handle`, for a stimulus that our own schema refuses on purpose."""
        return self._handle(_ours(stimulus))

    def crash(self) -> None:
        """Drop the Worker without a word to it."""
        self._worker = None

    def restart(self) -> None:
        """Make a new Worker after a crash; a changed declaration is refused."""
        self.initialize()

    def shutdown(self) -> None:
        """End the Worker in good order."""
        worker, self._worker = self._worker, None
        if worker is not None:
            messages.check_shutdown_result(
                _theirs("shutdown", self._guarded("shutdown", worker.shutdown))
            )

    def stderr_tail(self) -> str:
        """Return the end of what the Worker's Python code wrote to stderr since the last call."""
        text, self._log = self._log.getvalue()[-STDERR_KEPT_CHARACTERS:], io.StringIO()
        return text

    def _handle(self, given: JsonObject) -> Answer:
        if self._worker is None:
            raise SuiteError("port-state", "the Worker is not up", "initialize or restart it first")
        kind = str(given["type"])
        with contextlib.redirect_stderr(self._log):
            answer = self._exchange(f"handle '{kind}'", self._worker.handle, given)
        return messages.read_answer(answer, kind)

    def _exchange(
        self, called: str, operation: Callable[[JsonObject], JsonObject], given: JsonObject
    ) -> JsonValue:
        return _theirs(called, self._guarded(called, lambda: operation(given)))

    def _guarded(self, called: str, operation: Callable[[], Result]) -> Result:
        """Run the Worker's code; an end without an answer becomes an `AdapterError`."""
        try:
            return within(self.timeout_seconds, lambda: _told(called, operation))
        except Overtime as late:
            raise AdapterError(
                "timeout",
                f"no answer to {called} within {self.timeout_seconds:g} s\n" + _last_frames(late),
                "answer every request; '--timeout' sets the limit in seconds",
            ) from None


def _told(called: str, operation: Callable[[], Result]) -> Result:
    """Run the Worker's code and turn whatever it raises into an answer or an adapter error."""
    try:
        return operation()
    except Exception as error:  # noqa: BLE001 - foreign code may raise anything
        if getattr(error, "code", None) == HOOK_NOT_SUPPORTED:
            raise HookNotSupported(called.partition("'")[2].rstrip("'")) from None
        raise AdapterError(
            "raised",
            f"{called} raised {type(error).__name__}: {messages.shorten(str(error))}\n"
            + _last_frames(error),
            "the Port expects an answer to every stimulus; to refuse one that is not supported, "
            f"raise an exception whose 'code' is {HOOK_NOT_SUPPORTED}",
        ) from None


def _last_frames(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename not in _OURS]
    return "\n".join(f"{f.filename}:{f.lineno} in {f.name}" for f in frames[-SHOWN_FRAMES_MAX:])


def _ours(stimulus: JsonObject) -> JsonObject:
    try:
        return isolated_json(stimulus)
    except NotJson as finding:
        raise SuiteError(
            "invalid-message", f"a stimulus is not JSON: {finding.cause}", "see what built it"
        ) from None


def _theirs(called: str, result: object) -> JsonValue:
    try:
        return isolated(result)
    except NotJson as finding:
        raise AdapterError(
            finding.code,
            f"{called} returned {kind_of(result)}: {finding.cause}",
            "return plain JSON values: dict, list, str, int, float, bool and None",
        ) from None
