"""Monitors of preemption as a whole: it makes progress, ends, and has a cause each time.

The steps of one preemption are the business of `slots`. Here only pauses count that nothing but
the Scheduler's wish explains: a pause because the terms, a token, a link, a limit or an error
interfered is no preemption, and is never judged.
"""

from __future__ import annotations

from attrs import define, evolve, field, frozen

from worker_conformance.documents.json_types import JsonObject, JsonValue, find
from worker_conformance.judge.monitors.base import Monitor, MonitorInfo, text
from worker_conformance.judge.reading import frames_in
from worker_conformance.judge.trace import Entry, NoteKind
from worker_conformance.scenario.model import Level, Profile

_HARMLESS = frozenset({"tick", "frames", "execution", "policy"})
"""Stimuli that give no reason to pause by themselves; any other may."""

_OWN_ENDS = frozenset({"safe_point", "completed", "failed"})
"""Reports that say how a run goes; others (an operation, usage, a block) may stop it."""

_FREE_A_QUOTA = frozenset({"work.submitted", "work.failed", "work.blocked"})

_ENDS_OF_A_RUN = frozenset({NoteKind.CRASHED.value, NoteKind.STOPPED.value})


@frozen
class Segment:
    """One run in one slot. `excused` says that something else than preemption may pause it."""

    work_item_id: str
    began_at: int
    contract_version: int
    membership_epoch: int
    ownership_epoch: int | None
    excused: bool = False


@define
class _PauseWatcher(Monitor):
    """Follows runs and tells of each pause that only the Scheduler can have wanted."""

    _segments: dict[str, Segment] = field(factory=dict)
    _policy: JsonValue = None
    _terms: JsonValue = None

    def stimulus(self, entry: Entry) -> None:
        """Look for other reasons to pause."""
        kind = entry.body.get("type")
        if kind not in _HARMLESS or self._terms_changed() or _has_error(entry.body):
            self._segments = {s: evolve(one, excused=True) for s, one in self._segments.items()}
        elif kind == "execution" and find(entry.body, "report", "kind") not in _OWN_ENDS:
            slot = text(entry.body, "slotId")
            if slot in self._segments:
                self._segments[slot] = evolve(self._segments[slot], excused=True)

    def note(self, entry: Entry) -> None:
        """A crash or a stop ends every run."""
        if entry.body.get("note") in _ENDS_OF_A_RUN:
            self._segments.clear()

    def effect(self, entry: Entry) -> None:
        """Follow each run to its pause or end."""
        slot = text(entry.body, "slotId")
        match entry.body.get("type"):
            case "run" if self.granted(entry.body):
                self._begin(slot, entry)
            case "pause" if slot in self._segments:
                segment = self._segments.pop(slot)
                if not segment.excused and self._as_agreed(segment):
                    self.witness += 1
                    self.paused(entry, segment)
            case "release" | "cancel":
                self._segments.pop(slot, None)
            case _:
                pass

    def paused(self, entry: Entry, segment: Segment) -> None:
        """A running item was paused because the Scheduler wanted it."""

    def _begin(self, slot: str, entry: Entry) -> None:
        work_item_id = text(entry.body, "workItemId")
        item = self.facts.items.now(work_item_id)
        group = self.facts.groups.now(text(entry.body, "groupId"))
        if item is not None and group is not None:
            self._segments[slot] = Segment(
                work_item_id,
                entry.at,
                item.contract_version,
                group.membership_epoch,
                item.ownership_epoch,
            )

    def _as_agreed(self, segment: Segment) -> bool:
        """Whether the contract and the Membership are those under which the run began."""
        item = self.facts.items.now(segment.work_item_id)
        group = self.facts.groups.now(item.group_id) if item else None
        return (
            item is not None
            and group is not None
            and item.contract_version == segment.contract_version
            and group.membership_epoch == segment.membership_epoch
            and group.member
            and not group.ended
        )

    def _terms_changed(self) -> bool:
        """Whether policy says something new that is neither a class nor a share."""
        if self.facts.policy is self._policy:
            return False
        self._policy = self.facts.policy
        terms = _terms_of(self.facts.policy)
        changed = self._terms is not None and terms != self._terms
        self._terms = terms
        return changed


def _terms_of(policy: JsonObject) -> JsonObject:
    works = policy.get("workItems")
    approvals: JsonObject = {
        uri: find(entry, "executionApproval")
        for uri, entry in (works.items() if isinstance(works, dict) else ())
        if find(entry, "executionApproval") is not None
    }
    aside = {"policyVersion", "groups", "workItems"}
    return {**{k: v for k, v in policy.items() if k not in aside}, "approvals": approvals}


def _has_error(stimulus: JsonObject) -> bool:
    return any(frame.get("frameType") == "ERROR" for frame in frames_in(stimulus))


@define
class ProgressBeforeAPause(_PauseWatcher):
    """MWP-WRK-015: of two runs of an item, one gets somewhere before it is preempted.

    No clause sets a shortest run, and a change of priority may come at the moment of a start. What
    is paused at once again and again waits for ever.
    """

    _idle: set[str] = field(factory=set)

    def paused(self, entry: Entry, segment: Segment) -> None:
        """Time in the slot is progress; none at all is not."""
        work_item_id = segment.work_item_id
        got_nowhere, before = entry.at <= segment.began_at, work_item_id in self._idle
        self._idle.discard(work_item_id)
        if got_nowhere:
            self._idle.add(work_item_id)
        if got_nowhere and before:
            name = self.context.short(segment.work_item_id)
            self.breach(
                entry,
                f"{name} gets somewhere before it is paused again",
                "paused twice in a row at the very moment at which its run began",
            )


PROGRESS_BEFORE_A_PAUSE = MonitorInfo(
    check_id="MON-0060",
    title="Work makes progress between its preemptions",
    requirement="WRK-015.e",
    level=Level.MUST,
    profile=Profile.PREEMPTION,
    reached="running work was preempted",
    needs=("preempt",),
)


@define
class NotPausedTooOften(_PauseWatcher):
    """MWP-WRK-015: one item is preempted a declared number of times at most, in one ownership.

    A lost disk takes the count with it, and a Snapshot does not bring it back.
    """

    _counts: dict[tuple[str, int | None], int] = field(factory=dict)

    def note(self, entry: Entry) -> None:
        """Begin to count anew after a wipe."""
        super().note(entry)
        if entry.body.get("note") == NoteKind.WIPED:
            self._counts.clear()

    def paused(self, entry: Entry, segment: Segment) -> None:
        """Count it."""
        key = (segment.work_item_id, segment.ownership_epoch)
        self._counts[key] = self._counts.get(key, 0) + 1
        most = self.context.parameters.max_preemptions_per_item
        if self._counts[key] > most:
            name = self.context.short(segment.work_item_id)
            self.breach(
                entry,
                f"{name} is preempted at most {most} times, as the Worker declares",
                f"preempted for the {self._counts[key]}. time",
            )


NOT_PAUSED_TOO_OFTEN = MonitorInfo(
    check_id="MON-0061",
    title="No item is preempted more often than declared",
    requirement="WRK-015.e",
    level=Level.MUST,
    profile=Profile.PREEMPTION,
    reached="running work was preempted",
    needs=("preempt",),
)


@define
class EveryPauseHasACause(_PauseWatcher):
    """MWP-WRK-015: at most one pause for each slot and cause: preemption comes to an end.

    Causes are what can make other work more urgent than before: facts of the Organization, an
    acceptance, a place in a quota, another try, a change of policy, a replay. Where the Worker
    declares time slicing, the passing of time is a cause, and nothing is left to judge.
    """

    _causes: int = 0
    _pauses: int = 0
    _policy: JsonObject | None = None
    _has_quotas: bool = False

    def stimulus(self, entry: Entry) -> None:
        """Policy, replays and failed tries."""
        super().stimulus(entry)
        kind = entry.body.get("type")
        failed = kind == "execution" and find(entry.body, "report", "kind") == "failed"
        self._causes += kind not in _HARMLESS or kind == "policy" or failed

    def note(self, entry: Entry) -> None:
        """Facts of the Organization, acceptances, and places in a quota."""
        super().note(entry)
        if entry.body.get("note") != NoteKind.APPENDED:
            return
        kind, by = entry.body.get("kind"), entry.body.get("by")
        frees = kind in _FREE_A_QUOTA and self._any_quota()
        self._causes += by != "worker" or kind == "work.offer.accepted" or frees

    def _any_quota(self) -> bool:
        if self._policy is not self.facts.policy:
            self._policy = self.facts.policy
            groups = self._policy.get("groups")
            rows = groups.values() if isinstance(groups, dict) else ()
            self._has_quotas = any(find(row, "slotQuota") is not None for row in rows)
        return self._has_quotas

    def paused(self, entry: Entry, segment: Segment) -> None:
        """Compare the pauses so far with their causes so far."""
        self._pauses += 1
        most = self._causes * self.facts.slots
        if self._pauses > most and not self.context.parameters.time_slicing:
            self.breach(
                entry,
                f"at most {most} pauses, for {self._causes} causes and {self.facts.slots} slot(s)",
                f"{self.context.short(segment.work_item_id)} is paused, the {self._pauses}. pause",
            )


EVERY_PAUSE_HAS_A_CAUSE = MonitorInfo(
    check_id="MON-0062",
    title="Preemption has a new cause each time, and so comes to an end",
    requirement="WRK-015.e",
    level=Level.MUST,
    profile=Profile.PREEMPTION,
    reached="running work was preempted",
    needs=("preempt",),
)
