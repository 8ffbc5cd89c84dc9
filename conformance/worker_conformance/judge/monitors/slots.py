"""Monitors of Capacity Slots: capacity, quota, the five steps of preemption, idle slots."""

from __future__ import annotations

from attrs import define, field, frozen

from worker_conformance.documents.json_types import JsonObject, JsonValue, find
from worker_conformance.judge.facts import Facts
from worker_conformance.judge.monitors.base import Monitor, MonitorInfo, text
from worker_conformance.judge.reading import command_of, kind_of, strings_in, work_item_of
from worker_conformance.judge.trace import Entry, NoteKind
from worker_conformance.scenario.model import Level, Profile

_ERRORS_OF_DEAD_LEASES = frozenset(
    {
        "WORK_LEASE_EXPIRED",
        "WORK_STALE_OWNERSHIP",
        "AUTH_STALE_SESSION",
        "MEMBERSHIP_STALE",
        "MEMBERSHIP_REQUIRED",
        "BUDGET_EXCEEDED",
    }
)
_ENDS_OF_A_RUN = frozenset({NoteKind.CRASHED.value, NoteKind.STOPPED.value})


@define
class _SlotWatcher(Monitor):
    """Follows which slot holds which WorkItem, from `run` to `release`.

    After a failure the same work may be tried again in its slot without a `release` between.
    """

    in_use: dict[str, str] = field(factory=dict)
    _failed: dict[str, str] = field(factory=dict)

    def note(self, entry: Entry) -> None:
        """A crash or a stop frees every slot."""
        if entry.body.get("note") in _ENDS_OF_A_RUN:
            self.in_use.clear()
            self._failed.clear()

    def stimulus(self, entry: Entry) -> None:
        """Follow failures."""
        if find(entry.body, "report", "kind") == "failed":
            self._failed[text(entry.body, "slotId")] = text(entry.body, "workItemId")

    def effect(self, entry: Entry) -> None:
        """Follow `run` and `release`."""
        slot = text(entry.body, "slotId")
        if entry.body.get("type") == "run":
            if self._failed.pop(slot, None) == entry.body.get("workItemId"):
                self.in_use.pop(slot, None)  # MWP-WRK-018: its slot may be kept for the next try
            self.running(entry)
            self.in_use[slot] = text(entry.body, "workItemId")
        elif entry.body.get("type") == "release":
            self.in_use.pop(slot, None)

    def running(self, entry: Entry) -> None:
        """A `run` arrives; `in_use` is what was in use before it."""


@define
class CapacityHolds(_SlotWatcher):
    """MWP-WRK-011: never more slots in use than `maxConcurrency`, never one slot twice."""

    def running(self, entry: Entry) -> None:
        """Count slots, the new one included."""
        self.witness += self.granted(entry.body)
        slot = text(entry.body, "slotId")
        if slot in self.in_use:
            holder = self.context.short(self.in_use[slot])
            self.breach(entry, f"{slot} released before it is used again", f"{holder} still in it")
        elif len(self.in_use) + 1 > self.facts.slots:
            self.breach(
                entry,
                f"at most {self.facts.slots} slots in use from run to release",
                f"{len(self.in_use) + 1} slots in use",
            )


CAPACITY_HOLDS = MonitorInfo(
    check_id="MON-0006",
    title="No more Capacity Slots in use than declared, and none twice",
    requirement="WRK-011.a",
    level=Level.MUST,
    profile=Profile.ISOLATION,
    reached="a WorkItem ran",
)


@define
class QuotaHolds(_SlotWatcher):
    """MWP-WRK-010: where `considers` names quota, a Group never runs more than its quota.

    A quota lowered below what runs only stops new starts. Work is dispatched when its start is
    asked for: the quota of that moment holds for the run that comes of it.
    """

    _asked_under: dict[str, JsonValue] = field(factory=dict)
    _known: set[str] = field(factory=set)

    def effect(self, entry: Entry) -> None:
        """Keep the quota under which a start was asked for; to repeat a Command asks nothing."""
        command = command_of(entry.body)
        if command is not None and text(command, "actionId") not in self._known:
            self._known.add(text(command, "actionId"))
            item = self.facts.items.now(work_item_of(command, self.facts.items.keys()) or "")
            if kind_of(command) == "work.start" and item is not None:
                self._asked_under[item.work_item_id] = self._quota(item.group_id)
        super().effect(entry)

    def _quota(self, group_id: str) -> JsonValue:
        return find(self.facts.policy, "groups", group_id, "slotQuota")

    def running(self, entry: Entry) -> None:
        """Count the Group's slots."""
        group_id = text(entry.body, "groupId")
        now = self._quota(group_id)
        asked = self._asked_under.pop(text(entry.body, "workItemId"), now)
        if not (isinstance(now, int) and isinstance(asked, int)):
            return
        quota = max(now, asked)
        if "quota" not in self.context.parameters.considers:
            return
        self.witness += self.granted(entry.body)
        owners = [self.facts.items.now(item) for item in self.in_use.values()]
        held = sum(1 for item in owners if item is not None and item.group_id == group_id)
        if held + 1 > quota:
            name = self.context.short(group_id)
            self.breach(
                entry, f"at most {quota} slots for Group {name}", f"{held + 1} slots for {name}"
            )


QUOTA_HOLDS = MonitorInfo(
    check_id="MON-0007",
    title="A Group's slot quota is never exceeded",
    requirement="WRK-010.i",
    level=Level.MUST,
    profile=Profile.SCHEDULING,
    reached="a WorkItem of a Group with a slot quota ran",
    needs=("considers.quota",),
)


@frozen
class _Segment:
    """How far the run in one slot has come on the way out of it."""

    work_item_id: str
    lease_id: str
    preempting: bool = False
    safe_point: bool = False
    checkpointed: bool = False
    paused: bool = False


@define
class PreemptionTakesItsSteps(Monitor):
    """MWP-WRK-015: request, safe point, checkpoint and pause, release, and only in that order.

    A run that ended otherwise (report, cancellation, a lease that is gone or that the Authority
    says is gone) is released freely.
    """

    _segments: dict[str, _Segment] = field(factory=dict)
    _leases_named: dict[str, set[str]] = field(factory=dict)
    _doubted: set[str] = field(factory=set)

    def stimulus(self, entry: Entry) -> None:
        """Reports of the executor: a safe point, or the end of the run."""
        if entry.body.get("type") == "frames":
            self._errors(entry.body.get("frames"))
        if entry.body.get("type") != "execution":
            return
        slot, kind = text(entry.body, "slotId"), find(entry.body, "report", "kind")
        segment = self._segments.get(slot)
        if segment is None or segment.lease_id != entry.body.get("leaseId"):
            return
        if kind == "safe_point":
            self._segments[slot] = _evolve(segment, safe_point=True)
        elif kind in {"completed", "failed", "blocked"}:
            del self._segments[slot]

    def note(self, entry: Entry) -> None:
        """A crash or a stop ends every run."""
        if entry.body.get("note") in _ENDS_OF_A_RUN:
            self._segments.clear()

    def effect(self, entry: Entry) -> None:
        """Follow the steps of each slot."""
        command = command_of(entry.body)
        if command is not None:
            self._command(command)
            return
        slot, segment = text(entry.body, "slotId"), self._segments.get(text(entry.body, "slotId"))
        match entry.body.get("type"):
            case "run":
                self._segments[slot] = _Segment(
                    text(entry.body, "workItemId"), text(entry.body, "leaseId")
                )
            case "preempt" if segment:
                self._segments[slot] = _evolve(segment, preempting=True)
            case "continue" if segment:
                self._segments[slot] = _Segment(segment.work_item_id, segment.lease_id)
            case "pause" if segment:
                self._pause(entry, segment)
                # Out of reach a Checkpoint is buffered, and may be sent after the slot is free.
                kept = segment.checkpointed or self._buffers(segment)
                self._segments[slot] = _evolve(segment, paused=True, checkpointed=kept)
            case "cancel":
                self._cancel(entry, segment)
                self._segments.pop(slot, None)
            case "release" if segment:
                self._release(entry, segment)
                self._segments.pop(slot, None)
            case _:
                pass

    def _errors(self, frames: JsonValue) -> None:
        """An ERROR that calls a lease or its ownership dead puts the lease in doubt."""
        for frame in _list(frames):
            if find(frame, "error", "code") in _ERRORS_OF_DEAD_LEASES:
                action_id = find(frame, "error", "relatedActionId")
                self._doubted |= self._leases_named.get(str(action_id), set())

    def _command(self, command: JsonObject) -> None:
        named = set(strings_in(command.get("payload"))) & self.facts.leases.keys()
        self._leases_named[text(command, "actionId")] = named
        if kind_of(command) not in {"work.checkpoint", "work.block"}:
            return
        about = work_item_of(command, self.facts.items.keys())
        for slot, segment in self._segments.items():
            if segment.work_item_id == about:
                self._segments[slot] = _evolve(segment, checkpointed=True)

    def _pause(self, entry: Entry, segment: _Segment) -> None:
        self.witness += self.facts.leases.now(segment.lease_id) is not None
        name = self.context.short(segment.work_item_id)
        if not segment.safe_point:
            self.breach(
                entry, f"pause of {name} only at a safe point", "no safe point was reported"
            )
        elif not (segment.checkpointed or self._buffers(segment)) and self._lives(entry, segment):
            self.breach(
                entry, f"work.checkpoint for {name} before its pause", "paused without a Checkpoint"
            )

    def _buffers(self, segment: _Segment) -> bool:
        """Out of reach a Checkpoint is buffered and sent later (MWP-WRK-020)."""
        item = self.facts.items.now(segment.work_item_id)
        group = self.facts.groups.now(item.group_id) if item else None
        return group is not None and group.cut

    def _release(self, entry: Entry, segment: _Segment) -> None:
        done = segment.paused and segment.checkpointed
        if done or not self._lives(entry, segment) or self._buffers(segment):
            return
        name = self.context.short(segment.work_item_id)
        self.breach(
            entry,
            f"{name} released after its Checkpoint and pause, or after its end",
            "released in the middle of its run",
        )

    def _cancel(self, entry: Entry, segment: _Segment | None) -> None:
        # Out of reach, work has to end with the grace, at a safe point or not (MWP-WRK-020).
        if segment and self._lives(entry, segment) and not self._buffers(segment):
            name = self.context.short(segment.work_item_id)
            self.breach(
                entry,
                f"{name} interrupted only at a safe point while its lease is current",
                "cancelled in the middle of its run",
            )

    def _lives(self, entry: Entry, segment: _Segment) -> bool:
        """Whether nothing but the Scheduler's wish ends this run."""
        lease = self.facts.leases.now(segment.lease_id)
        group = self.facts.items.now(segment.work_item_id)
        owner = self.facts.groups.now(group.group_id) if group else None
        return (
            lease is not None
            and lease.lease_id not in self._doubted
            and lease.current_at(entry.at)
            and owner is not None
            and owner.member
            and not owner.ended
            and not self.facts.fenced
        )


def _evolve(segment: _Segment, **changes: bool) -> _Segment:
    members = {
        "preempting": segment.preempting,
        "safe_point": segment.safe_point,
        "checkpointed": segment.checkpointed,
        "paused": segment.paused,
    }
    return _Segment(segment.work_item_id, segment.lease_id, **{**members, **changes})


PREEMPTION_TAKES_ITS_STEPS = MonitorInfo(
    check_id="MON-0008",
    title="Running work leaves its slot by checkpoint, pause and release, or by its end",
    requirement="WRK-015.c",
    level=Level.MUST,
    profile=Profile.PREEMPTION,
    reached="running work was paused",
    needs=("preempt",),
)


@define
class NoIdleSlot(_SlotWatcher):
    """MWP-WRK-010: once at rest, no free slot stands beside startable work.

    Startable: owned, queued, dependencies verified, gate open, below quota, link up, replay over,
    nothing else in its way, no `work.start` or `work.checkpoint` for it without an answer, and no
    refused start. A breach needs the same item startable at two moments of rest with time between
    them: an answer may be waited for. A refusal is known over a crash too: nothing says when to try
    again what no fact has changed.
    """

    _refused: dict[str, int] = field(factory=dict)
    _asked: dict[str, int] = field(factory=dict)
    _under_way: set[str] = field(factory=set)
    _starts: dict[str, str] = field(factory=dict)
    _suspects: dict[str, int] = field(factory=dict)
    _granted: set[str] = field(factory=set)
    _have_run: set[str] = field(factory=set)
    _latest: Entry | None = None
    _alive: bool = False

    def effect(self, entry: Entry) -> None:
        """Follow starts that are under way."""
        super().effect(entry)
        if entry.body.get("type") == "run":
            self._have_run.add(text(entry.body, "leaseId"))
        command = command_of(entry.body)
        if command is None or kind_of(command) not in ("work.start", "work.checkpoint"):
            return
        item = self.facts.items.now(work_item_of(command, self.facts.items.keys()) or "")
        if item is None:
            return
        # A Checkpoint that was buffered is reconciled before anything else (MWP-WRK-020).
        self._asked[item.work_item_id] = item.revision
        if kind_of(command) == "work.start":
            self._under_way.add(item.work_item_id)
            self._starts[text(command, "actionId")] = item.work_item_id

    def note(self, entry: Entry) -> None:
        """Look at each moment of rest."""
        super().note(entry)
        if entry.body.get("note") == NoteKind.REST:
            self._look(entry)
        elif entry.body.get("note") in _ENDS_OF_A_RUN:
            self._alive = False  # a dead Worker leaves nothing undone
            self._asked.clear()
            self._under_way.clear()
            self._suspects.clear()

    def stimulus(self, entry: Entry) -> None:
        """Remember how far time has come, and which starts have been answered."""
        super().stimulus(entry)
        self._alive = self._alive or entry.body.get("type") == "start"
        self._latest = entry
        self._granted |= self.facts.leases.changed() - self._have_run
        for frame in _list(entry.body.get("frames")):
            action_id = find(frame, "error", "relatedActionId")
            refused = self._starts.pop(str(action_id), "")
            self._under_way.discard(refused)
            if refused in self._asked:
                self._refused[refused] = self._asked[refused]
        for work_item_id in tuple(self._under_way):
            item = self.facts.items.now(work_item_id)
            # Another revision answers nothing: the Worker may wait for the REVISION_CONFLICT.
            if item is None or item.state != "queued":
                self._under_way.discard(work_item_id)

    def finish(self) -> None:
        """A scenario may end before the clock moves again: its end is a moment of rest too."""
        if self._latest is not None:
            self._look(self._latest)

    def _look(self, entry: Entry) -> None:
        if not self._alive:
            return
        promised = len(self.in_use) + len(self._under_way) + len(self._about_to_run(entry.at))
        free = self.facts.slots - self.context.parameters.reserved_slots - promised
        startable = self._startable(entry.at) if free > 0 else []
        self._suspects = {item: self._suspects.get(item, entry.at) for item in startable}
        running = (self.facts.items.now(item) for item in self.in_use.values())
        self.witness += any(item is not None and item.state == "active" for item in running)
        waited = [item for item, since in self._suspects.items() if since < entry.at]
        for item in waited[:1]:
            self.breach(
                entry,
                "no free slot beside startable work once the Worker is at rest",
                f"{self.context.short(item)} is startable, {free} slot(s) free, no work.start",
            )

    def _about_to_run(self, now: int) -> set[str]:
        """Work that holds a current Execution Lease and has not run under it yet (WRK-011.a)."""
        granted = [lease for one in self._granted if (lease := self.facts.leases.now(one))]
        current = [
            lease
            for lease in granted
            if lease.lease_type == "execution"
            and lease.current_at(now)
            and lease.holder == self.facts.agent_id
            and lease.session_epoch == self.facts.session_epoch
            and lease.lease_id not in self._have_run
        ]
        self._granted = {lease.lease_id for lease in current}
        return {lease.work_item_id for lease in current} - set(self.in_use.values())

    def _startable(self, now: int) -> list[str]:
        found = []
        for item in self.facts.items.values():
            group = self.facts.groups.now(item.group_id)
            if (
                item.state == "queued"
                and item.work_item_id not in self._under_way
                and item.revision
                not in (self._asked.get(item.work_item_id), self._refused.get(item.work_item_id))
                and item.owner == self.facts.agent_id
                and group is not None
                and group.caught_up
                and group.member
                and not group.ended
                and (not self.facts.needs_approval(item) or self.facts.approved(item, now))
                and all(_verified(self.facts, one) for one in item.depends_on)
                and self._below_quota(item.group_id, now)
                and not self.facts.may_wait(item, now)
            ):
                found.append(item.work_item_id)
        return found

    def _below_quota(self, group_id: str, now: int) -> bool:
        quota = find(self.facts.policy, "groups", group_id, "slotQuota")
        promised = {*self.in_use.values(), *self._under_way, *self._about_to_run(now)}
        owners = [self.facts.items.now(item) for item in promised]
        held = sum(1 for item in owners if item is not None and item.group_id == group_id)
        return not isinstance(quota, int) or held < quota


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _verified(facts: Facts, work_item_id: str) -> bool:
    item = facts.items.now(work_item_id)
    return item is not None and item.state == "verified"


NO_IDLE_SLOT = MonitorInfo(
    check_id="MON-0009",
    title="No slot idles beside startable work",
    requirement="WRK-010.j",
    level=Level.SHOULD,
    profile=Profile.SCHEDULING,
    reached="work ran at a moment of rest",
)
