"""Monitors of positions: what a Worker acknowledges, where it resumes, what it calls a breach."""

from __future__ import annotations

from attrs import define, field

from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.judge.facts import GroupFact
from worker_conformance.judge.monitors.base import Monitor, MonitorInfo, text
from worker_conformance.judge.reading import frames_in, positions_in
from worker_conformance.judge.trace import Entry, NoteKind
from worker_conformance.scenario.model import Level, Profile

MICROSECONDS = 1_000_000


@define
class NeverAboveContiguous(Monitor):
    """MWP-WRK-030: ACK and `afterSequence` stay at or below the contiguous position."""

    def effect(self, entry: Entry) -> None:
        """Compare each named position with what was delivered without a gap."""
        for frame_type, group_id, sequence in positions_in(entry.body):
            group = self.facts.groups.now(group_id)
            if group is None:
                continue
            if sequence > 0:
                self.witness += 1
            if sequence > group.contiguous:
                name = self.context.short(group_id)
                self.breach(
                    entry,
                    f"a position of at most {group.contiguous} in Group {name}, the highest "
                    "sequence delivered without a gap",
                    f"{frame_type} {{{name}: {sequence}}}",
                )


NEVER_ABOVE_CONTIGUOUS = MonitorInfo(
    check_id="MON-0001",
    title="No ACK and no subscription above the contiguous position",
    requirement="WRK-030.a",
    level=Level.MUST,
    profile=Profile.REPLAY,
    reached="a position above 0 was acknowledged or subscribed from",
)


@define
class AcksInTime(Monitor):
    """MWP-WRK-030: what was processed durably is acknowledged within the declared interval.

    The text gives no time. A Worker is late only once it was called after the interval was over; of
    one that never acknowledged anything other checks tell. What comes after a change of the key
    registry may be beyond verification, and then is not to be acknowledged at all.
    """

    _verifiable: dict[str, int] = field(factory=dict)
    _acked: dict[str, int] = field(factory=dict)
    _since: dict[str, tuple[int, int]] = field(factory=dict)
    _last_call_at: int = 0
    _acknowledges: bool = False

    def stimulus(self, entry: Entry) -> None:
        """Judge what was due in earlier calls, and take in what has come now."""
        news = [*self._since, *self.facts.groups.changed()]  # no other Group can come to owe an ACK
        for group_id in [one for one, (_, at) in self._since.items() if self._is_due(at)]:
            wanted, _ = self._since.pop(group_id)
            if self._acknowledges:
                self.witness += 1
                self._judge(entry, group_id, wanted)
        self._last_call_at = entry.at
        if entry.body.get("type") == "keys":
            kept = {one.group_id: self.facts.kept(one) for one in self.facts.groups.values()}
            self._verifiable = {**kept, **self._verifiable}
        for group in filter(None, map(self.facts.groups.now, news)):
            is_behind = self._owed(group) > self._acked.get(group.group_id, 0)
            is_over = self.facts.fenced or group.ended or not group.member
            if not is_behind or group.cut or is_over:
                self._since.pop(group.group_id, None)
            elif group.caught_up:
                self._since.setdefault(group.group_id, (self._owed(group), entry.at))

    def _owed(self, group: GroupFact) -> int:
        kept = self.facts.kept(group)
        return min(kept, self._verifiable.get(group.group_id, kept))

    def _is_due(self, since: int) -> bool:
        interval = int(self.context.parameters.ack_interval_seconds * MICROSECONDS)
        return self._last_call_at > since + interval

    def _judge(self, entry: Entry, group_id: str, wanted: int) -> None:
        acked = self._acked.get(group_id, 0)
        if acked < wanted:
            name = self.context.short(group_id)
            self.breach(entry, f"ACK {{{name}: {wanted}}} by now", f"the last one is {acked}")

    def effect(self, entry: Entry) -> None:
        """Keep the positions that the Worker names, and count those that it can have processed."""
        for kind, group_id, sequence in positions_in(entry.body):
            group = self.facts.groups.now(group_id)
            if group is None:
                continue
            self._acknowledges = self._acknowledges or kind == "ACK"
            self.witness += self._acked.get(group_id, 0) < sequence <= group.contiguous
            self._acked[group_id] = max(sequence, self._acked.get(group_id, 0))


ACKS_IN_TIME = MonitorInfo(
    check_id="MON-0022",
    title="What was processed is acknowledged within the declared interval",
    requirement="WRK-030.c",
    level=Level.SHOULD,
    profile=Profile.REPLAY,
    reached="a higher position was acknowledged, or was due",
)


ACCUSATIONS = frozenset(
    {"PROTOCOL_VIOLATION", "SCHEMA_VALIDATION_FAILED", "AUTH_INVALID_SIGNATURE"}
)
"""Codes that say of an Event that it is wrong, and not that it cannot be taken just now."""


@define
class RepetitionsAreNoBreach(Monitor):
    """MWP-WRK-029: an Event that was processed and comes again is not called wrong.

    Delivery is promised at least once, so a repetition is what the promise brings. Left out is
    whatever shares its Event ID or its sequence number with something forged: which of the two the
    Worker took for the Event is not known.
    """

    _forged: set[str] = field(factory=set)
    _doubtful: set[tuple[str, JsonValue]] = field(factory=set)
    _delivered: dict[str, tuple[str, int]] = field(factory=dict)
    _acked: dict[str, int] = field(factory=dict)
    _repeated: dict[str, str] = field(factory=dict)

    def note(self, entry: Entry) -> None:
        """Remember what is forged; a lost disk has processed nothing."""
        if entry.body.get("note") == NoteKind.FORGED:
            self._forged.add(str(entry.body.get("frameId")))
        elif entry.body.get("note") == NoteKind.WIPED:
            self._delivered.clear()
            self._acked.clear()

    def stimulus(self, entry: Entry) -> None:
        """Tell repetitions of what was processed from what is new."""
        for frame in frames_in(entry.body):
            event = frame.get("event")
            if isinstance(event, dict):
                self._event(text(frame, "frameId"), event)

    def _event(self, frame_id: str, event: JsonObject) -> None:
        event_id, group_id = text(event, "eventId"), text(event, "groupId")
        sequence = event.get("sequence")
        names = {("event", event_id), (group_id, sequence)}
        if frame_id in self._forged:
            self._doubtful |= names
            return
        known = self._delivered.get(event_id)
        if isinstance(sequence, int):
            self._delivered[event_id] = group_id, sequence
        if known is None or names & self._doubtful or self._acked.get(known[0], 0) < known[1]:
            return
        self.witness += 1
        self._repeated[frame_id] = f"{self.context.short(group_id)}/{sequence}"

    def effect(self, entry: Entry) -> None:
        """Keep what was acknowledged, and look at what is rejected."""
        for kind, group_id, sequence in positions_in(entry.body):
            if kind == "ACK":
                self._acked[group_id] = max(sequence, self._acked.get(group_id, 0))
        which = self._repeated.get(text(entry.body, "frameId"))
        if entry.body.get("type") == "reject" and which and entry.body.get("code") in ACCUSATIONS:
            self.breach(
                entry,
                f"no word against EVENT {which}, which was processed before",
                f"reject {entry.body['code']}",
            )


REPETITIONS_ARE_NO_BREACH = MonitorInfo(
    check_id="MON-0024",
    title="An Event that comes again is not called a breach",
    requirement="WRK-029.a",
    level=Level.MUST,
    profile=Profile.REPLAY,
    reached="an Event was delivered again that had been acknowledged",
)
