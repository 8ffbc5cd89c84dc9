"""The Scheduler: which eligible WorkItem starts next, over all Groups.

Responsible for weighted fairness and freedom from starvation (MWP-WRK-010). Never starts anything,
never reads a contract, and never lets a Coordinator's claim move a Group's share (MWP-WRK-009):
deadline and urgency order a Group's own queue only.

The policy is start-time fair queueing (P. Goyal, H. Vin, H. Cheng, "Start-time Fair Queueing",
SIGCOMM 1996). Each Group has one *flow* for each priority class in which it has work. A flow's next
dispatch has a start tag in virtual time; the smallest tag goes first and moves on by
1 / (Group weight x class factor). Virtual time is the tag of the latest dispatch. A flow that comes
back from idleness, a full quota or an absence starts at virtual time if that is later: no credit
for time not spent waiting; a tag that is ahead is kept: no debt is lost by leaving.

Bound: for two Groups of one class, both with work throughout, the difference of their normalised
services is at most 1/w_g + 1/w_h, in dispatches, for any number of slots. Class factors run
geometrically from 1 to CLASS_SHARE_RATIO, so a higher class has at most that multiple of the share
by weight, and a newly raised item is at once ahead of its Group's other work.

All tags are integers, so that nothing rounds, overflows or depends on the machine.
"""

from __future__ import annotations

import heapq
from fractions import Fraction
from typing import Protocol

from attrs import define, field

from reference_worker.policy import Policy
from reference_worker.queues import Place, WorkQueue

CLASS_SHARE_RATIO = 8  # declared as `classShareRatio`
UNIT = 1 << 48  # virtual time of one dispatch at weight 1 and factor 1
FlowId = tuple[str, str]  # Group ID, class name
Entry = tuple[int, int, Place, str, str]


@define(eq=False)
class _Flow:
    start: int
    cost: int
    rank: int = 0
    queue: WorkQueue = field(factory=WorkQueue)
    entry: Entry | None = None
    awake: bool = False


class Scheduler(Protocol):
    """What the rest of the Worker knows of a Scheduler; any other policy fits in here."""

    virtual_time: int
    changed: dict[FlowId, None]

    def set_policy(self, policy: Policy) -> None:
        """Take over weights and classes."""

    def set_open(self, group_id: str, *, is_open: bool) -> None:
        """Say whether the Group may be dispatched from."""

    def held_back(self) -> list[str]:
        """The Groups whose waiting work was kept from `next`."""

    def put(self, class_name: str, group_id: str, place: Place) -> None:
        """Queue an eligible item, or move it."""

    def drop(self, work_item_id: str) -> None:
        """Take an item out."""

    def holds(self, work_item_id: str) -> bool:
        """True if the item is queued."""

    def waiting(self, group_id: str) -> int:
        """Eligible items of one Group."""

    def next(self) -> tuple[str, str] | None:
        """The item to start now and its class."""

    def charge(self, work_item_id: str) -> FlowId:
        """The item is being started."""

    def refund(self, name: FlowId) -> None:
        """The start was refused."""

    def tag(self, name: FlowId) -> tuple[int, int]:
        """What has to be remembered of a flow."""


class FairScheduler:
    """Start-time fair queueing over flows, each ordered by its own Work queue."""

    def __init__(self, virtual_time: int, tags: dict[FlowId, tuple[int, int]]) -> None:
        self.virtual_time = virtual_time
        self.changed: dict[FlowId, None] = {}
        self._flows = {name: _Flow(start, cost) for name, (start, cost) in tags.items()}
        self._of_item: dict[str, FlowId] = {}
        self._of_group: dict[str, list[FlowId]] = {}
        for group_id, class_name in tags:
            self._of_group.setdefault(group_id, []).append((group_id, class_name))
        self._closed: dict[str, None] = {}
        self._heap: list[Entry] = []
        self._policy = Policy()

    def set_policy(self, policy: Policy) -> None:
        """Take over weights and classes. Items have to be queued anew under their classes."""
        self._policy = policy
        for name, flow in self._flows.items():
            self._reprice(name, flow)

    def set_open(self, group_id: str, *, is_open: bool) -> None:
        """Say whether the Group may be dispatched from: quota, link and Membership in order."""
        if is_open and group_id in self._closed:
            del self._closed[group_id]
        elif not is_open and group_id not in self._closed:
            self._closed[group_id] = None
        else:
            return
        for name in self._of_group.get(group_id, ()):
            self._settle(name)

    def held_back(self) -> list[str]:
        """The Groups whose waiting work was kept from `next`, to be asked about again.

        A closed Group with nothing in its queues counts as open until it heads the others again.
        """
        for group_id in [one for one in self._closed if not self.waiting(one)]:
            del self._closed[group_id]
        return list(self._closed)

    def put(self, class_name: str, group_id: str, place: Place) -> None:
        """Queue an eligible item, or move it."""
        name = (group_id, class_name)
        known = self._of_item.get(place.work_item_id)
        if known is not None and known != name:
            self.drop(place.work_item_id)
        self._of_item[place.work_item_id] = name
        self._flow(name).queue.put(place)
        self._settle(name)

    def drop(self, work_item_id: str) -> None:
        """Take an item out: it ended, was gated or is reserved."""
        name = self._of_item.pop(work_item_id, None)
        if name is not None:
            self._flows[name].queue.drop(work_item_id)
            self._settle(name)

    def holds(self, work_item_id: str) -> bool:
        """True if the item is queued."""
        return work_item_id in self._of_item

    def next(self) -> tuple[str, str] | None:
        """The item to start now and its class, or None. Asking changes nothing."""
        while self._heap:
            entry = self._heap[0]
            if self._flows[entry[3], entry[4]].entry is entry:
                return entry[2].work_item_id, entry[4]
            heapq.heappop(self._heap)
        return None

    def charge(self, work_item_id: str) -> FlowId:
        """The item is being started: advance virtual time and its flow's tag."""
        name = self._of_item[work_item_id]
        flow = self._flows[name]
        self.virtual_time = max(self.virtual_time, flow.start)
        flow.start += flow.cost
        self.changed[name] = None
        self.drop(work_item_id)
        return name

    def refund(self, name: FlowId) -> None:
        """The start was refused: it was no service."""
        flow = self._flow(name)
        flow.start = max(0, flow.start - flow.cost)
        self.changed[name] = None
        self._settle(name)

    def tag(self, name: FlowId) -> tuple[int, int]:
        """Start tag and cost of a flow, for the journal."""
        flow = self._flows[name]
        return flow.start, flow.cost

    def waiting(self, group_id: str) -> int:
        """Eligible items of one Group."""
        return sum(len(self._flows[name].queue) for name in self._of_group.get(group_id, ()))

    def _flow(self, name: FlowId) -> _Flow:
        flow = self._flows.get(name)
        if flow is None:
            flow = self._flows[name] = _Flow(self.virtual_time, 0)
            self._of_group.setdefault(name[0], []).append(name)
            self._reprice(name, flow)
        return flow

    def _reprice(self, name: FlowId, flow: _Flow) -> None:
        flow.rank = self._policy.rank(name[1])
        cost = _cost(self._policy.weight(name[0]), flow.rank, len(self._policy.classes))
        if flow.cost not in (0, cost):
            # A debt is service already had: a new weight changes its price, not its amount.
            ahead = max(0, flow.start - self.virtual_time)
            flow.start = self.virtual_time + ahead * cost // flow.cost
        flow.cost = cost
        self.changed[name] = None
        self._settle(name)

    def _settle(self, name: FlowId) -> None:
        """Bring the flow's entry in the heap up to date."""
        flow = self._flows[name]
        head = None if name[0] in self._closed else flow.queue.head()
        if head is None:
            flow.entry, flow.awake = None, False
            return
        if not flow.awake:
            flow.start = max(flow.start, self.virtual_time)
            flow.awake = True
        entry = (flow.start, -flow.rank, head, *name)
        if flow.entry != entry:
            flow.entry = entry
            heapq.heappush(self._heap, entry)


def _cost(weight: Fraction, rank: int, classes: int) -> int:
    top = max(1, classes - 1)
    factor = Fraction(CLASS_SHARE_RATIO ** (rank / top)).limit_denominator(1 << 20)
    return max(1, int(UNIT / (weight * factor)))
