"""Monitors of estimates and Presence: true in form, and kept up to date.

Whether an estimate gives a neighbour away is the business of `privacy`; whether it comes true is
measured over whole runs (`suite.comparisons`).
"""

from __future__ import annotations

import json
from heapq import heappop, heappush

from attrs import define, evolve, field, frozen

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.judge.facts import ItemFact
from worker_conformance.judge.monitors.base import Monitor, MonitorInfo, text
from worker_conformance.judge.reading import command_of, frames_in, kind_of
from worker_conformance.judge.trace import Entry, NoteKind
from worker_conformance.scenario.clock import moment_of
from worker_conformance.scenario.model import Level, Profile

_MICROSECONDS = 1_000_000
_ENDS_OF_A_SESSION = frozenset({NoteKind.CRASHED.value, NoteKind.STOPPED.value})


@define
class EstimatesAreSound(Monitor):
    """MWP-WRK-012: start before completion, window in order, not calculated in the future."""

    def effect(self, entry: Entry) -> None:
        """Check the form of each published estimate."""
        estimate = entry.body.get("estimate")
        if entry.body.get("type") != "disclose" or not isinstance(estimate, dict):
            return
        self.witness += 1
        start, end = _moment(estimate, "estimatedStart"), _moment(estimate, "estimatedCompletion")
        calculated = _moment(estimate, "lastCalculatedAt")
        latest = moment_of(text(entry.body, "estimatedStartLatest"))
        faults = (
            (start is not None and end is not None and calculated is not None, "valid timestamps"),
            ((start or 0) <= (end or 0), "an estimated start no later than the completion"),
            (
                (calculated or 0) <= self.facts.latest(entry.at),
                "a calculation time that is not in the future",
            ),
            (latest is None or (start or 0) <= latest, "a start window that does not end early"),
        )
        for holds, expected in faults:
            if not holds:
                self.breach(entry, expected, json.dumps(entry.body, sort_keys=True))
                return


ESTIMATES_ARE_SOUND = MonitorInfo(
    check_id="MON-0018",
    title="Published estimates are sound",
    requirement="WRK-012.c",
    level=Level.MUST,
    profile=Profile.DISCLOSURE,
    reached="an estimate was published",
    needs=("estimates",),
)


@define
class EstimatesHaveAWindow(Monitor):
    """MWP-WRK-012: an estimate of waiting work gives a start window, not one instant."""

    def effect(self, entry: Entry) -> None:
        """Look for the end of the window."""
        item = self.facts.items.now(text(entry.body, "workItemId"))
        if entry.body.get("type") != "disclose" or item is None or item.state == "active":
            return
        self.witness += 1
        if moment_of(text(entry.body, "estimatedStartLatest")) is None:
            self.breach(
                entry,
                "a start window: estimatedStart and estimatedStartLatest",
                f"one instant for {self.context.short(item.work_item_id)}",
            )


ESTIMATES_HAVE_A_WINDOW = MonitorInfo(
    check_id="MON-0035",
    title="An estimate gives a start window",
    requirement="WRK-012.a",
    level=Level.SHOULD,
    profile=Profile.DISCLOSURE,
    reached="an estimate of waiting work was published",
    needs=("estimates",),
)


@frozen
class _Published:
    """The last estimate of an item: when, for which state, and when its window ends."""

    at: int
    latest: int | None
    passed: bool = False


@define
class EstimatesAreKeptUp(Monitor):
    """MWP-WRK-012: a new estimate on a material change, calculated no earlier than it.

    Material is what makes the last estimate false: the item went back to its queue, was blocked or
    unblocked, or its start window ran out while it was still waiting. What is over within the
    declared granularity, or before the link is back, was no change that anybody could plan by.
    What was started for the Authority alone, and never ran here, has left its estimate as true as
    it was: a start that was revoked before the Worker heard of it.
    """

    _ran: set[str] = field(factory=set)
    _last: dict[str, _Published] = field(factory=dict)
    _ending: list[tuple[int, str]] = field(factory=list)
    _ended: dict[str, None] = field(factory=dict)
    _changed: dict[str, int] = field(factory=dict)
    _states: dict[str, str] = field(factory=dict)
    _session: int = 0
    _is_down: bool = False
    _alive: bool = False

    def stimulus(self, entry: Entry) -> None:
        """Notice changes of state."""
        kind = entry.body.get("type")
        self._alive = self._alive or kind == "start"
        if kind in ("start", "link"):
            self._session = entry.at
            self._is_down = kind == "link" and entry.body.get("state") == "down"
        for work_item_id in [one for one in self.facts.items.changed() if one in self._last]:
            item = self.facts.items.now(work_item_id)
            before = self._states.get(work_item_id)
            if item is None or item.state == before:
                continue
            self._states[work_item_id] = item.state
            if item.state == "blocked" or self._went_back(item, before):
                self._changed[work_item_id] = entry.at
            else:
                self._changed.pop(work_item_id, None)
            if item.state != "active":
                self._ran.discard(work_item_id)
            if _waits(item) and self._is_over(self._last[work_item_id], entry.at):
                self._ended[work_item_id] = None

    def _went_back(self, item: ItemFact, before: str | None) -> bool:
        ran = before == "blocked" or (before == "active" and item.work_item_id in self._ran)
        return ran and _waits(item)

    def effect(self, entry: Entry) -> None:
        """Take in an estimate."""
        estimate = entry.body.get("estimate")
        work_item_id = text(entry.body, "workItemId")
        if entry.body.get("type") == "run":
            self._ran.add(work_item_id)
        item = self.facts.items.now(work_item_id)
        if entry.body.get("type") != "disclose" or not isinstance(estimate, dict) or item is None:
            return
        changed = self._changed.pop(work_item_id, None)
        calculated = _moment(estimate, "lastCalculatedAt")
        if changed is not None:
            self.witness += 1
            if calculated is not None and calculated < changed:
                self._stale(entry, work_item_id, "an estimate that was calculated before it")
        latest = moment_of(text(entry.body, "estimatedStartLatest"))
        self._last[work_item_id] = _Published(entry.at, latest)
        self._ended.pop(work_item_id, None)
        if latest is not None:
            heappush(self._ending, (latest, work_item_id))
        self._states[work_item_id] = item.state

    def note(self, entry: Entry) -> None:
        """At rest everything that became false has been revised."""
        if entry.body.get("note") in _ENDS_OF_A_SESSION:
            self._changed.clear()
            self._alive = False
        if entry.body.get("note") != NoteKind.REST or self._is_down or not self._alive:
            return
        for work_item_id, changed in tuple(self._changed.items()):
            known_since = max(changed, self._session)
            if self._is_ours(work_item_id, entry.at) and known_since + self._grace < entry.at:
                del self._changed[work_item_id]
                self.witness += 1
                self._stale(entry, work_item_id, "the old estimate stands")
        self._look_at_ended(entry)

    def _look_at_ended(self, entry: Entry) -> None:
        """Windows that are over, each as long as its work waits under it."""
        while self._ending and self._ending[0][0] < entry.at:
            latest, work_item_id = heappop(self._ending)
            if self._last[work_item_id].latest == latest:
                self._ended[work_item_id] = None
        for work_item_id in tuple(self._ended):
            published, item = self._last[work_item_id], self.facts.items.now(work_item_id)
            if published.passed or (item is not None and not _waits(item)):
                del self._ended[work_item_id]
            elif self._ran_out(work_item_id, published, entry.at):
                self._last[work_item_id] = evolve(published, passed=True)
                self.witness += 1
                self._stale(entry, work_item_id, "its start window is over, and it still waits")

    def _is_over(self, published: _Published, now: int) -> bool:
        return published.latest is not None and published.latest < now and not published.passed

    def _ran_out(self, work_item_id: str, published: _Published, now: int) -> bool:
        item = self.facts.items.now(work_item_id)
        if published.passed or published.latest is None or item is None or not _waits(item):
            return False
        known_since = max(published.latest, self._session)
        return self._is_ours(work_item_id, now) and known_since + self._grace < now

    @property
    def _grace(self) -> int:
        return round(self.context.parameters.estimate_granularity_seconds * _MICROSECONDS)

    def _is_ours(self, work_item_id: str, now: int) -> bool:
        """Whether somebody could plan by an estimate of it: the Group hears, and it may start."""
        item = self.facts.items.now(work_item_id)
        group = self.facts.groups.now(item.group_id) if item else None
        return (
            item is not None
            and item.owner == self.facts.agent_id
            and item.state != "active"
            and group is not None
            and group.caught_up
            and group.member
            and not group.ended
            and not self.facts.may_wait(item, now)
        )

    def _stale(self, entry: Entry, work_item_id: str, observed: str) -> None:
        name = self.context.short(work_item_id)
        self.breach(entry, f"a new estimate of {name} when the last one became false", observed)


def _waits(item: ItemFact) -> bool:
    return item.state == "queued"


ESTIMATES_ARE_KEPT_UP = MonitorInfo(
    check_id="MON-0036",
    title="An estimate that became false is replaced",
    requirement="WRK-012.b",
    level=Level.SHOULD,
    profile=Profile.DISCLOSURE,
    reached="a published estimate became false: a pause, a block, or a window that ran out",
    needs=("estimates",),
)


@define
class PresenceIsTrue(Monitor):
    """MWP-IDN-005: a Presence Record tells the slots as they are.

    That it is no Agent Card follows from its schema, which `frames` holds it to. No clause says
    whether a slot that is promised to a start under way counts as active.
    """

    _in_use: dict[str, str] = field(factory=dict)
    _promised: dict[str, str] = field(factory=dict)
    _counts: set[int] = field(factory=lambda: {0})
    _call: int = 0

    def note(self, entry: Entry) -> None:
        """A crash or a stop frees every slot."""
        if entry.body.get("note") in _ENDS_OF_A_SESSION:
            self._in_use.clear()
            self._promised.clear()

    def stimulus(self, entry: Entry) -> None:
        """A start that was refused promises nothing any more."""
        for frame in frames_in(entry.body) if self._promised else ():
            self._promised.pop(str(find(frame, "error", "relatedActionId")), None)

    def effect(self, entry: Entry) -> None:
        """Count slots; compare them with what Presence says in the same call."""
        if entry.call != self._call:
            self._call, self._counts = entry.call, {len(self._in_use)}
        kind, slot = entry.body.get("type"), text(entry.body, "slotId")
        command = command_of(entry.body)
        if command is not None and kind_of(command) == "work.start":
            self._promised[text(command, "actionId")] = text(command, "workItemId")
        if kind == "run":
            self._in_use[slot] = work = text(entry.body, "workItemId")
            self._promised = {k: v for k, v in self._promised.items() if v != work}
        elif kind == "release":
            self._in_use.pop(slot, None)
        self._counts.add(len(self._in_use))
        presence = find(entry.body, "frame", "presence")
        if isinstance(presence, dict):
            self._judge(entry, presence)

    def _judge(self, entry: Entry, presence: JsonObject) -> None:
        self.witness += 1
        capacity = {
            name: find(presence, "capacity", name)
            for name in ("maxSlots", "activeSlots", "availableSlots")
        }
        most, active, available = capacity.values()
        promised = len(set(self._promised.values()))
        honest = (
            most == self.facts.slots
            and isinstance(available, int)
            and isinstance(active, int)
            and any(one <= active <= one + promised for one in self._counts)
            and 0 <= available <= self.facts.slots - active
        )
        if not honest:
            told = ", ".join(f"{name} {value}" for name, value in capacity.items())
            in_use = f"{len(self._in_use)} of {self.facts.slots} slots in use"
            self.breach(entry, f"a Presence Record that is true: {in_use}", told)


PRESENCE_IS_TRUE = MonitorInfo(
    check_id="MON-0037",
    title="Presence is true of the slots in use",
    requirement="IDN-005.a",
    level=Level.MUST,
    profile=Profile.DISCLOSURE,
    reached="a Presence Record was sent",
    needs=("presence",),
)


def _moment(estimate: JsonObject, member: str) -> int | None:
    return moment_of(text(estimate, member))
