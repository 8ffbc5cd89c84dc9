"""The points of an adapter's examination: starting, answering, framing, restarting, ending.

Each point names one thing, and says what was seen and what to do about it. The examination goes on
after a problem as far as it can, so that one run shows them all. Never looks for conformance: a
Worker that is in good health here may fail every check.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path

from attrs import define, field, frozen

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.documents.schemas import frame_problems
from worker_conformance.errors import EXIT_ADAPTER, AdapterError, SuiteFailure
from worker_conformance.port import messages, probe
from worker_conformance.port.channel import Trouble
from worker_conformance.port.contract import HOOK_NOT_SUPPORTED, HookNotSupported
from worker_conformance.port.declaration import CORE_PROFILES, PROFILES, Declaration
from worker_conformance.port.in_process import InProcessPort
from worker_conformance.port.json_rpc import request_line
from worker_conformance.port.line_port import GRACE_SECONDS, LinePort
from worker_conformance.port.locate import PortFactory
from worker_conformance.port.process import WorkerProcess, describe_status, living_in_group
from worker_conformance.port.subprocess_port import StdioPort
from worker_conformance.port.tcp import TcpPort


class Outcome(Enum):
    """What became of one point."""

    OK = "ok"
    PROBLEM = "problem"
    NOTE = "note"
    SKIPPED = "skipped"


@frozen
class Finding:
    """One point: what was seen, and what to do about it."""

    name: str
    outcome: Outcome
    detail: str
    hint: str = ""


@frozen
class Examined:
    """What an examination found."""

    findings: tuple[Finding, ...]
    declaration: Declaration | None

    @property
    def exit_code(self) -> int:
        """0 without a problem, else that of a broken adapter."""
        broken = any(finding.outcome is Outcome.PROBLEM for finding in self.findings)
        return EXIT_ADAPTER if broken else 0


def examine(factory: PortFactory, folder: Path) -> Examined:
    """Examine the adapter; state directories lie in `folder`."""
    port = factory.open()
    patient = _Patient(port, folder, min(GRACE_SECONDS, factory.timeout_seconds))
    if isinstance(port, LinePort):
        port.grace_seconds = patient.grace_seconds
    try:
        return _examine(patient)
    finally:
        patient.drop()


@frozen
class _Complaint(Exception):  # noqa: N818 - a finding on its way to the report
    detail: str
    hint: str


@define
class _Patient:
    """The adapter; `ready` brings up a new process or object where the last one fell."""

    port: InProcessPort | StdioPort | TcpPort
    folder: Path
    grace_seconds: float
    _up: bool = field(default=False, init=False)
    _lives: int = field(default=0, init=False)

    def ready(self) -> InProcessPort | StdioPort | TcpPort:
        if not self._up:
            self.bring_up()
        return self.port

    def bring_up(self) -> Declaration:
        declaration = self.port.initialize()
        self._up = True
        return declaration

    def crash(self) -> None:
        self.port.crash()
        self._up = False

    def drop(self) -> None:
        """Done with it: unlike a crash, the next one need not find the state of this one."""
        if isinstance(self.port, LinePort):
            self.port.close()
        else:
            self.port.crash()
        self._up = False

    def end(self) -> None:
        self._up = False
        self.port.shutdown()

    def process(self) -> WorkerProcess:
        """A process of the examiner's own, without the Port around it."""
        assert isinstance(self.port, StdioPort)  # noqa: S101 - only asked for where there is one
        return WorkerProcess.start(self.port.command)

    @property
    def timeout_seconds(self) -> float:
        assert isinstance(self.port, StdioPort)  # noqa: S101 - only asked for where there is one
        return self.port.timeout_seconds

    def new_life(self) -> str:
        """An empty state directory."""
        self._lives += 1
        path = self.folder / f"state-{self._lives}"
        path.mkdir()
        return str(path)

    def after_crash(self, state_directory: str) -> str:
        """The state directory for the next start: the same, or a copy where nothing was killed."""
        if not self.port.copies_state_on_crash:
            return state_directory
        self._lives += 1
        return str(shutil.copytree(state_directory, self.folder / f"state-{self._lives}"))


@frozen
class _Point:
    """One thing to try: returns what was seen, or raises."""

    name: str
    attempt: Callable[[_Patient], str]
    of_processes: bool = False


def _examine(patient: _Patient) -> Examined:
    points = [p for p in _POINTS if isinstance(patient.port, StdioPort) or not p.of_processes]
    try:
        declaration = patient.bring_up()
    except SuiteFailure as failure:
        findings = _opening_with(failure, patient)
        skipped = [Finding(p.name, Outcome.SKIPPED, "it does not initialize") for p in points]
        return Examined((*findings, *skipped), None)
    return Examined(
        (
            *(Finding(name, Outcome.OK, "") for name in _opening_names(patient)),
            *_remarks(declaration),
            *(_try(point, patient) for point in points),
        ),
        declaration,
    )


def _try(point: _Point, patient: _Patient) -> Finding:
    patient.port.stderr_tail()  # what explains an earlier finding does not explain this one
    try:
        return Finding(point.name, Outcome.OK, point.attempt(patient))
    except _Complaint as complaint:
        finding = Finding(point.name, Outcome.PROBLEM, complaint.detail, complaint.hint)
    except HookNotSupported as refusal:
        finding = Finding(
            point.name,
            Outcome.PROBLEM,
            str(refusal),
            f"'{refusal.stimulus_type}' belongs to every profile",
        )
    except AdapterError as failure:
        # A server without a restart command is not ill; it can only not be examined further.
        outcome = Outcome.SKIPPED if failure.code == "cannot-restart" else Outcome.PROBLEM
        finding = Finding(point.name, outcome, failure.cause, failure.hint)
    patient.drop()
    return finding


_OPENING: Mapping[str, frozenset[str]] = {
    "starts": frozenset(
        {
            *("cannot-start", "exited", "closed-stdout", "raised"),
            *("cannot-connect", "disconnected", "restart-failed", "restart-timeout"),
        }
    ),
    "answers in time": frozenset({"timeout"}),
    "stdout carries JSON only": frozenset(
        {"not-json", "invalid-utf8", "byte-order-mark", "too-deep", "line-too-long", "stdout-noise"}
    ),
    "answers are JSON-RPC": frozenset({"not-json-rpc", "error-response"}),
    "ids are echoed": frozenset({"wrong-id"}),
    "declaration is valid": frozenset({"not-port-envelope", "port-version"}),
}
"""What `initialize` shows, in the order in which it can go wrong, with the errors of each."""

_OPENING_IN_PROCESS = ("starts", "declaration is valid")


def _opening_names(patient: _Patient) -> tuple[str, ...]:
    return tuple(_OPENING) if isinstance(patient.port, LinePort) else _OPENING_IN_PROCESS


def _opening_with(failure: SuiteFailure, patient: _Patient) -> Iterator[Finding]:
    """The points before the one that failed are fine, those after it cannot be told."""
    names = _opening_names(patient)
    failed = next((name for name in names if failure.code in _OPENING[name]), names[-1])
    at = names.index(failed)
    yield from (Finding(name, Outcome.OK, "") for name in names[:at])
    hint = failure.hint
    over_pipes = isinstance(patient.port, StdioPort)
    if failure.code == "timeout" and over_pipes and _answers_at_end_of_input(patient):
        hint = "the answer came once stdin was closed: it is buffered; flush stdout after each"
    yield Finding(failed, Outcome.PROBLEM, failure.cause, hint)
    yield from (Finding(name, Outcome.SKIPPED, "cannot be told") for name in names[at + 1 :])


def _answers_at_end_of_input(patient: _Patient) -> bool:
    process = patient.process()
    try:
        process.channel.send(_initialize_line(), patient.timeout_seconds)
        process.close_stdin()
        return not isinstance(process.channel.converse(b"", patient.timeout_seconds), Trouble)
    finally:
        process.end()


def _remarks(declaration: Declaration) -> Iterator[Finding]:
    claimed = [profile for profile in PROFILES if profile in declaration.profiles]
    hint = (
        "" if declaration.claims_core else f"the core needs {', '.join(_missing(declaration))} too"
    )
    if not claimed:
        hint = "what 'profiles' names is judged; 'replay' is the one to begin with"
    outcome = Outcome.OK if declaration.claims_core else Outcome.NOTE
    yield Finding("profiles", outcome, f"claims {', '.join(claimed) or 'nothing'}", hint)
    _, notes = declaration.parameters.effective()
    yield from (Finding("parameters", Outcome.NOTE, note) for note in notes)


def _missing(declaration: Declaration) -> list[str]:
    return [name for name in PROFILES if name in CORE_PROFILES - declaration.profiles]


def _refuses_the_unknown(patient: _Patient) -> str:
    try:
        patient.ready().handle_unchecked({"type": "doctor_probe", "now": probe.NOW})
    except HookNotSupported:
        return f"error {HOOK_NOT_SUPPORTED}"
    raise _Complaint(
        "the made-up stimulus 'doctor_probe' was answered as if it were known",
        f"answer a type that is not supported with JSON-RPC error {HOOK_NOT_SUPPORTED}",
    )


def _subscribes(patient: _Patient) -> str:
    frames = _start(patient, patient.new_life(), 1)
    patient.ready().handle({"type": "stop", "now": probe.NOW})
    return f"{len(frames)} frame(s), 'SUBSCRIBE' for the Group among them; 'stop' is answered"


def _restarts(patient: _Patient) -> str:
    state_directory = patient.new_life()
    _start(patient, state_directory, 1)
    patient.crash()
    _start(patient, patient.after_crash(state_directory), 2)
    return "the same declaration, and 'start' on the same state is answered"


def _shuts_down(patient: _Patient) -> str:
    patient.ready()
    patient.end()
    return "in good order"


def _leaves_nothing(patient: _Patient) -> str:
    process = _initialized(patient)
    try:
        process.channel.converse(request_line(2, "shutdown", None), patient.timeout_seconds)
        process.exits_within(patient.grace_seconds)
        left = [pid for pid in living_in_group(process.group) if pid != process.group]
    finally:
        process.end()
    if left:
        raise _Complaint(
            f"after 'shutdown', {len(left)} other process(es) of its group lived on",
            "end and wait for child processes before exiting",
        )
    return "no process of its group lived on"


def _ends_with_its_input(patient: _Patient) -> str:
    process = _initialized(patient)
    try:
        process.close_stdin()
        gone = process.exits_within(patient.grace_seconds)
    finally:
        status = process.end()
    if not gone:
        raise _Complaint(
            f"{patient.grace_seconds:g} s after the end of its input the process was still there",
            "exit when stdin ends: it is all a Worker sees of a suite that was killed",
        )
    return describe_status(status)


_POINTS = (
    _Point("an unknown stimulus is refused", _refuses_the_unknown),
    _Point("'start' is answered", _subscribes),
    _Point("restarts after a crash", _restarts),
    _Point("'shutdown' is answered", _shuts_down),
    _Point("leaves no process behind", _leaves_nothing, of_processes=True),
    _Point("exits at the end of its input", _ends_with_its_input, of_processes=True),
)


def _start(patient: _Patient, state_directory: str, session_epoch: int) -> list[JsonObject]:
    """Begin a session; return the frames of the answer, up to rest."""
    port = patient.ready()
    answer = port.handle(probe.start(state_directory, session_epoch))
    effects = [*answer.effects]
    for _ in range(BUSY_ANSWERS_MAX):
        if not answer.busy:
            return _checked([e for e in map(_frame, effects) if e is not None])
        answer = port.handle({"type": "tick", "now": probe.NOW})
        effects.extend(answer.effects)
    raise _Complaint(
        f"after 'start' it was still busy {BUSY_ANSWERS_MAX} ticks later",
        "'busy' promises more effects without further input; leave it out at rest",
    )


BUSY_ANSWERS_MAX = 100  # the default `settleLimit`; one Group without Events needs none


def _frame(effect: JsonObject) -> JsonObject | None:
    frame = effect.get("frame")
    return frame if isinstance(frame, dict) else None


def _checked(frames: list[JsonObject]) -> list[JsonObject]:
    for frame in frames:
        for problem in frame_problems(frame):
            raise _Complaint(
                f"a frame after 'start' is invalid: {messages.shorten(str(problem))}",
                f"the frame is {messages.excerpt(frame)}",
            )
    subscribed = [frame for frame in frames if find(frame, "frameType") == "SUBSCRIBE"]
    if not any(probe.GROUP_ID in _group_ids(frame) for frame in subscribed):
        raise _Complaint(
            f"after 'start' no SUBSCRIBE names the Group '{probe.GROUP_ID}'",
            "answer 'start' with a SUBSCRIBE for every Group, from its durable Cursor",
        )
    return frames


def _group_ids(subscribe: JsonObject) -> list[object]:
    groups = find(subscribe, "groups")
    return [find(group, "groupId") for group in groups] if isinstance(groups, list) else []


def _initialized(patient: _Patient) -> WorkerProcess:
    process = patient.process()
    process.channel.converse(_initialize_line(), patient.timeout_seconds)
    return process


def _initialize_line() -> bytes:
    return request_line(1, "initialize", messages.initialize_params())
