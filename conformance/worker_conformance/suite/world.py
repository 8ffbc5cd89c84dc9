"""The World: one Worker, one simulated Organization and a virtual clock between them.

Carries stimuli in and effects out, lets the Organization answer, moves the clock, and records
everything in the Trace. Never judges what it carries and never looks into the Worker.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, Protocol, runtime_checkable

from worker_conformance.documents import schemas
from worker_conformance.documents.json_types import JsonObject, JsonValue, find
from worker_conformance.errors import SuiteError
from worker_conformance.judge.trace import EntryKind, NoteKind, Trace
from worker_conformance.organization.authority import GroupAuthority
from worker_conformance.organization.executor import Executor
from worker_conformance.organization.names import Names
from worker_conformance.organization.organization import Organization
from worker_conformance.organization.outcomes import Accepted, Appended, Outcome, Refused, Repeated
from worker_conformance.port.contract import Port
from worker_conformance.port.declaration import Parameters
from worker_conformance.scenario.clock import moment_of, text_of
from worker_conformance.scenario.model import Act, ActKind, Report, Scenario, WorkPlan
from worker_conformance.suite.delivery import FRAMES_MAX, Delivery

CALLS_MAX = 200_000
"""Calls in one scenario, beside those of heartbeats."""

HEARTBEAT = 5_000_000
"""Microseconds of virtual time for which a Worker may always have one call more."""

INSTANT_CALLS_MAX = 20_000
"""Calls without the clock moving: far above what any backlog of a scenario needs."""


@runtime_checkable
class KillsDuringCalls(Protocol):
    """A Port that can kill its Worker before the answer is read."""

    def kill_before_reading(self, stimulus: JsonObject) -> None:
        """Send a stimulus and kill the Worker when it begins to answer."""


class NeverRests(Exception):  # noqa: N818 - the Worker's fault, reported as a verdict
    """The Worker goes on at one instant without an end: it breaks its promise of rest."""


class OutOfReach(Exception):  # noqa: N818 - the scene cannot be played, and nobody is to blame
    """What the scenario wants to happen next is impossible after what the Worker did so far."""


class World:
    """Everything a Worker can see, for the length of one scenario.

    `now` is virtual time in microseconds since the epoch. `workspace` is an empty folder that
    belongs to this World; state directories are made in it. `names` as in `Organization`.
    A Worker that needs more than `instant_calls_max` calls at one instant never comes to rest.
    """

    def __init__(
        self,
        scenario: Scenario,
        port: Port,
        parameters: Parameters,
        seed: int,
        workspace: Path,
        names: Names | None = None,
        *,
        instant_calls_max: int = INSTANT_CALLS_MAX,
    ) -> None:
        self.scenario = scenario
        self.port = port
        self.parameters = parameters
        self.organization = Organization(scenario, seed, names, reserved=parameters.reserved_slots)
        self.organization.renewal_kind = parameters.renewal_command_kind
        self.organization.payload_paths = dict(parameters.payload_paths)
        self.organization.organization_renews = parameters.renewal == "organization"
        self.executor = Executor(self.organization)
        self.trace = Trace(scenario.id, seed)
        self.now = 0
        self.running = False
        self.restless = False
        self._seed = seed
        self._workspace = workspace
        self._lives = 0
        self._state_directory = self._new_life()
        self._crashed = False
        self._clock_offset: int | None = None
        self.delivery = Delivery(scenario, self.organization, seed)
        self._replies: list[JsonObject] = []
        self._snapshots: list[str] = []
        self._wake_at: int | None = None
        self._calls = 0
        self._calls_at_instant = 0
        self._instant_calls_max = instant_calls_max
        self._pings = 0
        self.window_start = 0

    # --- a runtime's life -------------------------------------------------------------

    def start(self) -> None:
        """Open a session: `start`, the replay that its SUBSCRIBE asks for, `caught_up`, `tick`."""
        if self._crashed:
            self.port.restart()
            self._crashed = False
        self.running = True
        self.delivery.connect()
        members = self.organization.open_session(self.now)
        self.call(
            {
                "type": "start",
                "stateDirectory": str(self._state_directory),
                "seed": self._seed,
                **members,
            }
        )
        self.settle()

    def stop(self) -> None:
        """End the runtime gracefully; running work is left as a crash would leave it."""
        self.call({"type": "stop"})
        self._end_of_life(NoteKind.STOPPED)

    def leave(self) -> None:
        """Leave the Worker so that the next scenario can begin a new life in it.

        A Worker that is not reusable, or that never came to rest, is replaced.
        """
        if self._crashed:
            self.port.restart()
        elif not self.parameters.reusable or self.restless:
            self.port.crash()
            self.port.restart()
        elif self.running:
            self.port.handle({"type": "stop", **self._time()})
        self.running = False

    def crash(self) -> None:
        """Kill the Worker between two calls."""
        self.port.crash()
        self._after_crash()

    def crash_during(self, sequences: Mapping[str, Sequence[int]]) -> None:
        """Send Events and kill the Worker before its answer is read (stdio only)."""
        frames = [self.delivery.frame(g, s) for g, many in sequences.items() for s in many]
        stimulus: JsonObject = {"type": "frames", "frames": list(frames), **self._time()}
        self._calls += 1
        self.trace.append(self._calls, self.now, EntryKind.STIMULUS, stimulus)
        if not isinstance(self.port, KillsDuringCalls):
            raise SuiteError("no-kill", "this transport cannot kill a Worker during a call")
        self.port.kill_before_reading(stimulus)
        self._after_crash()

    def wipe(self) -> None:
        """Lose the disk: the next `start` finds an empty state directory."""
        self._state_directory = self._new_life()
        self.note(NoteKind.WIPED)

    def _after_crash(self) -> None:
        if self.port.copies_state_on_crash:
            previous, self._state_directory = self._state_directory, self._new_path()
            shutil.copytree(previous, self._state_directory)
        self._crashed = True
        self._end_of_life(NoteKind.CRASHED)

    def _end_of_life(self, kind: NoteKind) -> None:
        self.running = False
        self.executor.drop_all(self.now)
        self._wake_at = None
        self._replies.clear()
        self._snapshots.clear()
        self.delivery.close()
        self.note(kind)

    def _new_path(self) -> Path:
        self._lives += 1
        return self._workspace / f"state-{self._lives}"

    def _new_life(self) -> Path:
        path = self._new_path()
        path.mkdir()
        return path

    @property
    def calls(self) -> int:
        """How many calls were made so far."""
        return self._calls

    @property
    def automatic(self) -> bool:
        """Whether Events arrive by themselves."""
        return self.delivery.automatic

    # --- calls ------------------------------------------------------------------------

    def call(self, stimulus: JsonObject) -> None:
        """Give the Worker one stimulus, let it come to rest, and act on each effect in order."""
        answer = self._handle(stimulus)
        rounds = 0
        while answer:
            rounds += 1
            if rounds > self.parameters.settle_limit:
                self._give_up(f"still busy after {rounds - 1} ticks at {text_of(self.now)}")
            answer = self._handle({"type": "tick"})

    def _handle(self, stimulus: JsonObject) -> bool:
        """One message there and back; returns whether the Worker is still busy."""
        self._count_call()
        message = {**stimulus, **self._time()}
        self.trace.append(self._calls, self.now, EntryKind.STIMULUS, message)
        answer = self.port.handle(message)
        self._wake_at = moment_of(answer.wake_at) if answer.wake_at else None
        for effect in answer.effects:
            self.trace.append(self._calls, self.now, EntryKind.EFFECT, effect)
        for effect in answer.effects:
            self._route(effect)
        return answer.busy

    def _time(self) -> JsonObject:
        """Elapsed time, and the wall clock once a scenario has set it."""
        time: JsonObject = {"now": text_of(self.now)}
        if self._clock_offset is not None:
            time["wallClock"] = text_of(self.now + self._clock_offset)
        return time

    def set_clock(self, offset: int) -> None:
        """Let the wall clock run `offset` microseconds ahead of elapsed time, and say so."""
        self._clock_offset = offset
        self.organization.set_clock(offset)
        self._tick()
        self.settle()

    def _count_call(self) -> None:
        self._calls += 1
        self._calls_at_instant += 1
        if self._calls_at_instant > self._instant_calls_max:
            self._give_up(f"{self._calls_at_instant} calls at {text_of(self.now)}, and no rest")
        if self._calls > CALLS_MAX + self.now // HEARTBEAT:
            self._give_up(f"{self._calls} calls until {text_of(self.now)}, and no rest")

    def _give_up(self, why: str) -> NoReturn:
        self.restless = True
        raise NeverRests(why)

    def note(self, note: NoteKind, /, **members: JsonValue) -> None:
        """Write a note of the suite's own into the Trace."""
        self.trace.append(self._calls, self.now, EntryKind.NOTE, {"note": note.value, **members})

    def _route(self, effect: JsonObject) -> None:
        frame = effect.get("frame")
        if effect.get("type") == "frame" and isinstance(frame, dict):
            self._receive(frame)
        else:
            self.executor.apply(effect, self.now)

    # --- frames from the Worker -------------------------------------------------------

    def _receive(self, frame: JsonObject) -> None:
        if not self.delivery.connected:
            self.note(NoteKind.SWALLOWED, group=None, reason="the connection is down")
        elif frame.get("frameType") == "COMMAND":
            self._command(frame)
        elif schemas.frame_problems(frame):
            self.note(NoteKind.SWALLOWED, group=None, reason="the frame is not valid")
        elif frame["frameType"] == "SUBSCRIBE":
            self._subscribe(frame)
        elif frame["frameType"] == "PING":
            self._ping_received(frame)

    def _command(self, frame: JsonObject) -> None:
        group = self.organization.group_by_id(str(find(frame, "command", "groupId")))
        name = "" if group is None else group.name
        if name in self.delivery.cut:
            self.note(NoteKind.SWALLOWED, group=name, reason="the Group's link is down")
            return
        if self.delivery.network.loses_commands(name, self.now):
            self.note(NoteKind.SWALLOWED, group=name, reason="lost on the way")
            return
        self._conclude(self.organization.receive(frame, self.now))

    def _conclude(self, outcome: Outcome) -> None:
        """Note what the Authority made of a Command, and queue its answer."""
        about = outcome.about
        if about.work_item_id is not None:
            self.executor.answered(about.work_item_id, accepted=isinstance(outcome, Accepted))
        match outcome:
            case Accepted(appended=appended):
                self._note_appended(appended, about.group)
            case Repeated():
                self.note(
                    NoteKind.REPEATED,
                    group=about.group,
                    kind=about.kind,
                    actionId=about.action_id,
                )
                self._redeliver(outcome)
            case Refused():
                self.note(
                    NoteKind.REFUSED,
                    group=about.group,
                    kind=about.kind,
                    work=about.work,
                    actionId=about.action_id,
                    code=outcome.code,
                )
                self._replies.append(self.organization.error_frame(outcome.error))
            case _:
                self.note(NoteKind.SWALLOWED, group=about.group, reason="left unanswered")

    def _redeliver(self, outcome: Repeated) -> None:
        """A repeated accepted Command is answered by delivering its Events again."""
        if not self.delivery.automatic:
            return  # Events reach the Worker by steps alone
        self._replies.extend(self.organization.event_frame(event) for event in outcome.events)

    def _note_appended(self, appended: Iterable[Appended], group: str | None) -> None:
        for fact in appended:
            misfiled = {"misfiled": str(fact.event["eventId"])} if fact.misfiled else {}
            self.note(
                NoteKind.APPENDED,
                group=group,
                sequence=fact.sequence,
                kind=fact.kind,
                work=fact.work,
                by=fact.by,
                state=fact.state,
                ours=fact.ours,
                lease=fact.lease,
                actionId=fact.action_id,
                **misfiled,
            )

    def _subscribe(self, frame: JsonObject) -> None:
        rows = frame.get("groups")
        for row in rows if isinstance(rows, list) else ():
            group = self.organization.group_by_id(str(find(row, "groupId")))
            after = find(row, "afterSequence")
            if group is None or not isinstance(after, int) or not self._may_subscribe(group.name):
                self.note(NoteKind.SWALLOWED, group=None, reason="no such subscription")
            elif after + 1 < group.online_from:
                self._replies.append(group.cursor_too_old(self.now))
                self._snapshots.append(group.name)
            else:
                self.delivery.subscribe(group.name, after)

    def _may_subscribe(self, group: str) -> bool:
        return group not in self.delivery.cut and self.organization.is_joined(group)

    def _ping_received(self, frame: JsonObject) -> None:
        if "replyToNonce" not in frame:
            self._replies.append(self._ping_frame(reply_to=str(frame["nonce"])))

    # --- frames to the Worker ---------------------------------------------------------

    def ping(self) -> str:
        """Send a PING and return its nonce."""
        frame = self._ping_frame(reply_to=None)
        self.send([frame])
        self.settle()
        return str(frame["nonce"])

    def _ping_frame(self, reply_to: str | None) -> JsonObject:
        self._pings += 1
        names = self.organization.names
        frame: JsonObject = {
            "protocolVersion": "0.1",
            "frameId": names.frame_id(f"ping-{self._pings}"),
            "frameType": "PING",
            "nonce": f"nonce{self._pings:08d}",
            "sentAt": text_of(self.now),
        }
        return frame if reply_to is None else {**frame, "replyToNonce": reply_to}

    def deliver(self, sequences: Mapping[str, Sequence[int]], *, one_by_one: bool = False) -> None:
        """Deliver Events by Group and sequence, in the order given, as live traffic."""
        frames: list[JsonObject] = []
        for name, many in sequences.items():
            if self.delivery.reaches(name):
                frames.extend(self.delivery.by_hand(name, many))
            else:
                self.note(NoteKind.SWALLOWED, group=name, reason="not subscribed")
        size = 1 if one_by_one else FRAMES_MAX
        for first in range(0, len(frames), size):
            self.send(frames[first : first + size])
        self.settle()

    def forge(self, group: str, sequence: int | None, how: str) -> None:
        """Deliver a forged Event: signed wrongly, changed after signing, or twice numbered.

        Without a sequence it is the last of the log.
        """
        authority = self._authority(group)
        event = authority.forge(sequence or len(authority.events), how)
        frame = self.organization.event_frame(event)
        self.note(NoteKind.FORGED, frameId=str(frame["frameId"]), how=how)
        if self.delivery.reaches(group):
            self.send([frame])
        self.settle()

    def send(self, frames: Sequence[JsonObject]) -> None:
        """Hand over frames as they are, in one call."""
        self.call({"type": "frames", "frames": list(frames)})

    def _authority(self, name: str) -> GroupAuthority:
        return self.organization.group(name)

    # --- coming to rest ---------------------------------------------------------------

    def settle(self) -> None:
        """Deliver, report and answer until nothing of this instant is left."""
        while self.running and (
            self._give_replies()
            or self._give_events()
            or self._give_snapshot()
            or self._give_caught_up()
            or self._give_tokens()
            or self._give_report()
        ):
            pass

    def _give_replies(self) -> bool:
        if not self._replies or not self.delivery.connected:
            self._replies.clear()
            return False
        frames, self._replies = self._replies, []
        self.send(frames)
        return True

    def _give_events(self) -> bool:
        """Automatic delivery: what has arrived, in one call."""
        frames = self.delivery.due(self.now)
        if frames:
            self.send(frames)
        return bool(frames)

    def _give_tokens(self) -> bool:
        """What the Authorization Service has to say."""
        news = self.organization.token_news(self.delivery.reached, self.now)
        for stimulus in news:
            self.call(stimulus)
        return bool(news)

    def _give_snapshot(self) -> bool:
        if not self._snapshots:
            return False
        group = self._authority(self._snapshots.pop(0))
        snapshot, state = group.snapshot_for_replay(self.now)
        if group.snapshot_is_forged:
            self.note(NoteKind.FORGED, frameId=str(snapshot["snapshotId"]), how="snapshot")
        self.call({"type": "snapshot", "snapshot": snapshot, "state": state})
        return True

    def _give_caught_up(self) -> bool:
        """A replay's end: `caught_up` for each Group, one `tick` after the last of them."""
        replayed = self.delivery.replayed()
        for group_id, position in replayed:
            self.call({"type": "caught_up", "groupId": group_id, "sequence": position})
        if replayed:
            self.call({"type": "tick"})
        return bool(replayed)

    def _give_report(self) -> bool:
        """One report of the executor that is due by now."""
        report = self.executor.next_report(self.now)
        if report is None:
            return False
        self.call({"type": "execution", **report})
        return True

    # --- time -------------------------------------------------------------------------

    def advance(self, seconds: float) -> None:
        """Let time pass, stopping wherever somebody has something to do."""
        self.advance_to(self.now + round(seconds * 1_000_000))

    def advance_to(self, target: int) -> None:
        """Let time pass until `target` (microseconds)."""
        while True:
            self.note(NoteKind.REST)
            step = min(target, *self._appointments(target))
            woken = step == self._wake_at
            self._move_clock(step)
            if woken or step == target:
                self._tick()
            self.settle()
            if step == target:
                return

    def next_appointment(self) -> int | None:
        """When the executor, the Organization or the Worker next has something to do."""
        far = 1 << 62
        soonest = min(self._appointments(far))
        return None if soonest == far else soonest

    def mark(self) -> None:
        """Open a new window for conditions."""
        self.note(NoteKind.MARK)
        self.window_start = len(self.trace)

    def _appointments(self, default: int) -> tuple[int, ...]:
        waiting = (
            self._wake_at,
            self.executor.next_due(),
            self.organization.next_due(),
            self.delivery.network.next_due(self.now),
        )
        # A wake-up not after now would be answered by the same request again.
        return (default, *(at for at in waiting if at is not None and at > self.now))

    def _move_clock(self, at: int) -> None:
        if at != self.now:
            self._calls_at_instant = 0
        self.now = at
        for name, appended in self.organization.act_due(at):
            self._note_appended(appended, name)
        for group, state in self.delivery.network.turns(at):
            self.link(state, (group,))

    def _tick(self) -> None:
        if self.running:
            self.call({"type": "tick"})

    # --- the Organization acts --------------------------------------------------------

    def publish(self, acts: Mapping[str, Sequence[Act]]) -> None:
        """The Organization acts in Groups now; what it appends is delivered where delivery is
        automatic."""
        for name, many in acts.items():
            for act in many:
                with _within_reach():
                    appended = self._authority(name).act(act, self.now)
                self._note_appended(appended, name)
                if act.kind is ActKind.GRANT and "how" in act.args:
                    self._note_false_approvals(appended, name)
        self.settle()

    def _note_false_approvals(self, appended: Iterable[Appended], name: str) -> None:
        for fact in appended:
            event = self._authority(name).events[(fact.sequence or 0) - 1]
            approval_id = str(find(event, "payload", "approval", "approvalId"))
            self.note(NoteKind.FORGED, frameId=approval_id, how="approval")

    def add_work(self, plan: WorkPlan) -> None:
        """Make a WorkItem known that the scenario did not plan (drivers do)."""
        self.organization.add_work(plan)

    def report(self, report: Report) -> None:
        """The executor reports, because a step says so."""
        with _within_reach():
            stimulus = self.executor.report(report, self.now)
        self.call({"type": "execution", **stimulus})
        self.settle()

    def send_policy(self) -> None:
        """Send the policy as it stands now; a runtime that has not begun gets it with `start`."""
        if self.running:
            self.call({"type": "policy", "policy": self.organization.policy()})
            self.settle()

    def link(self, state: str, groups: Sequence[str]) -> None:
        """Cut or heal the whole connection, or the links of some Groups."""
        down = state == "down"
        stimulus: JsonObject = {"type": "link", "state": state}
        if groups:
            cut = self.delivery.cut
            (cut.update if down else cut.difference_update)(groups)
            stimulus["groupIds"] = [self._authority(name).group_id for name in groups]
        else:
            self.delivery.connected = not down
            stimulus |= {} if down else self.organization.reopen_session(self.now)
        self.delivery.close(groups or None)
        self.note(NoteKind.LINK, state=state, groups=list(groups))
        if self.running:
            self.call(stimulus)
            self.settle()


@contextmanager
def _within_reach() -> Iterator[None]:
    """The Organization refuses what its own state forbids: the scene cannot be played."""
    try:
        yield
    except SuiteError as impossible:
        raise OutOfReach(impossible.cause) from impossible
