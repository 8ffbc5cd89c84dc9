"""Monitors of Cursors: what a Worker acknowledges and where it resumes."""

from __future__ import annotations

from attrs import define, field

from worker_conformance.judge.monitors.base import Monitor, MonitorInfo
from worker_conformance.judge.reading import positions_in
from worker_conformance.judge.trace import Entry
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
    one that never acknowledged anything other checks tell.
    """

    _acked: dict[str, int] = field(factory=dict)
    _since: dict[str, tuple[int, int]] = field(factory=dict)
    _last_call_at: int = 0
    _acknowledges: bool = False

    def stimulus(self, entry: Entry) -> None:
        """Judge what was due in earlier calls, and take in what has come now."""
        for group_id in [one for one, (_, at) in self._since.items() if self._is_due(at)]:
            wanted, _ = self._since.pop(group_id)
            if self._acknowledges:
                self.witness += 1
                self._judge(entry, group_id, wanted)
        self._last_call_at = entry.at
        for group in self.facts.groups.values():
            is_behind = group.contiguous > self._acked.get(group.group_id, 0)
            if not is_behind or group.cut or group.ended or not group.member:
                self._since.pop(group.group_id, None)
            elif group.caught_up:
                self._since.setdefault(group.group_id, (group.contiguous, entry.at))

    def _is_due(self, since: int) -> bool:
        interval = int(self.context.parameters.ack_interval_seconds * MICROSECONDS)
        return self._last_call_at > since + interval

    def _judge(self, entry: Entry, group_id: str, wanted: int) -> None:
        acked = self._acked.get(group_id, 0)
        if acked < wanted:
            name = self.context.short(group_id)
            self.breach(entry, f"ACK {{{name}: {wanted}}} by now", f"the last one is {acked}")

    def effect(self, entry: Entry) -> None:
        """Keep the positions that the Worker names."""
        for kind, group_id, sequence in positions_in(entry.body):
            self._acknowledges = self._acknowledges or kind == "ACK"
            self.witness += sequence > self._acked.get(group_id, 0)
            self._acked[group_id] = max(sequence, self._acked.get(group_id, 0))


ACKS_IN_TIME = MonitorInfo(
    check_id="MON-0022",
    title="What was processed is acknowledged within the declared interval",
    requirement="WRK-030.c",
    level=Level.SHOULD,
    profile=Profile.REPLAY,
    reached="a higher position was acknowledged, or was due",
)
