"""Monitors of Cursors: what a Worker acknowledges and where it resumes."""

from __future__ import annotations

from attrs import define

from worker_conformance.judge.monitors.base import Monitor, MonitorInfo
from worker_conformance.judge.reading import positions_in
from worker_conformance.judge.trace import Entry
from worker_conformance.scenario.model import Level, Profile


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
