"""Unfair Schedulers: each a plain family with one realistic fault, and the check that catches it.

The faults are those that real schedulers were found with (docs/fairness.md). `faults` says for each
which check must catch it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from worker_conformance.judge.fairness import ServiceUnit
from worker_conformance.judge.service import MICROSECONDS
from worker_conformance.selftest.conforming import (
    CreditScheduler,
    DeficitRoundRobin,
    LargestLag,
    Lottery,
    SmoothWeightedRoundRobin,
    StartTimeFairQueueing,
    Stride,
    WeightedRoundRobin,
)
from worker_conformance.selftest.harness import Job
from worker_conformance.selftest.schedulers import URGENCIES, GroupQueue, Scheduler

FAR = 1 << 62

# --- the order is global, Groups do not count -----------------------------------------


class GlobalScheduler(Scheduler):
    """Base of those that put all jobs into one order, whatever Group they are of."""

    def order(self, job: Job) -> tuple[float, ...]:
        """The job of the smallest value is next."""
        raise NotImplementedError

    def pick(self, ready: Sequence[GroupQueue]) -> GroupQueue:
        """The Group that has that job."""
        return min(ready, key=lambda group: self.order(self.best(group)))

    def best(self, group: GroupQueue) -> Job:
        """The Group's first in that order."""
        return min(group.jobs.values(), key=lambda job: self.order(job))


class FirstComeFirstServed(GlobalScheduler):
    """One queue for everybody: a flood of one Group is served before anything offered later."""

    def order(self, job: Job) -> tuple[float, ...]:
        """By acceptance."""
        return (job.ordinal,)


class NewestFirst(GlobalScheduler):
    """A stack: under a steady stream the oldest job waits for ever."""

    def order(self, job: Job) -> tuple[float, ...]:
        """By acceptance, backwards."""
        return (-job.ordinal,)


class ShortestFirst(GlobalScheduler):
    """The shortest job first, without ageing."""

    unit: ClassVar[ServiceUnit] = "slotTime"

    def order(self, job: Job) -> tuple[float, ...]:
        """By length."""
        return (job.seconds, job.ordinal)


class MostUrgentFirst(GlobalScheduler):
    """What Coordinators claim decides between Groups (against MWP-WRK-009)."""

    def order(self, job: Job) -> tuple[float, ...]:
        """By claimed urgency."""
        return (-URGENCIES[job.offer.urgency], job.ordinal)


class NearestDeadlineFirst(GlobalScheduler):
    """Earliest deadline first over all Groups; no deadline means last."""

    def order(self, job: Job) -> tuple[float, ...]:
        """By claimed deadline."""
        asked = job.offer.deadline_seconds
        return (FAR if asked is None else job.accepted_at + asked * MICROSECONDS, job.ordinal)


class HighestClassFirst(GlobalScheduler):
    """Pure highest-priority-first (what MWP-WRK-010 names as non-conforming)."""

    considers: ClassVar[frozenset[str]] = frozenset({"quota", "gate", "priorityClass"})

    def order(self, job: Job) -> tuple[float, ...]:
        """By class, then by acceptance."""
        return (-self.class_of(job), job.ordinal)


class LongestQueueFirst(Scheduler):
    """Serves whoever has most to do: a single item never wins against a flood."""

    def pick(self, ready: Sequence[GroupQueue]) -> GroupQueue:
        """The longest queue."""
        return max(ready, key=lambda group: (len(group.jobs), -group.place))


class TicketsPerJob(Lottery):
    """A lottery in which every job holds a ticket: offering more buys a larger share."""

    randomised: ClassVar[bool] = False

    def pick(self, ready: Sequence[GroupQueue]) -> GroupQueue:
        """Drawn by queue length."""
        return self.draws.choices(ready, [len(group.jobs) for group in ready])[0]


# --- weights --------------------------------------------------------------------------


class WeightIgnored(StartTimeFairQueueing):
    """Takes turns, whatever the weights say."""

    def charge(self, group: GroupQueue, job: Job) -> None:
        """Everybody pays the same."""
        self.virtual = max(self.virtual, group.tag)
        group.tag += self.cost(job)


class WeightsRounded(StartTimeFairQueueing):
    """Weights are kept as whole numbers, at least one."""

    def configure(self, group: str, weight: float, quota: int | None) -> None:
        """1.5 becomes 2, 0.5 becomes 1."""
        super().configure(group, max(1, int(weight + 0.5)), quota)


class WeightInverted(StartTimeFairQueueing):
    """Multiplies by the weight where it should divide."""

    def charge(self, group: GroupQueue, job: Job) -> None:
        """The heavy pay most."""
        self.virtual = max(self.virtual, group.tag)
        group.tag += self.cost(job) * group.weight


class WeightCached(StartTimeFairQueueing):
    """Reads the weight once: a change of policy while running has no effect."""

    def configure(self, group: str, weight: float, quota: int | None) -> None:
        """Only the first word counts."""
        if group not in self.groups:
            super().configure(group, weight, quota)


class HistoryRescaled(LargestLag):
    """A new weight is applied to everything used before it: the past is owed or forgiven."""

    def configure(self, group: str, weight: float, quota: int | None) -> None:
        """The figure stands, and means something else now."""
        Scheduler.configure(self, group, weight, quota)


class WeightSquared(Stride):
    """A weight applied twice, once in the queue and once in the picker."""

    def charge(self, group: GroupQueue, job: Job) -> None:
        """1/w twice."""
        self.virtual = max(self.virtual, group.tag)
        group.tag += self.cost(job) / group.weight**2


class LastTicketLost(Lottery):
    """A draw whose upper end is off by one: the last Group's first ticket is never drawn."""

    def pick(self, ready: Sequence[GroupQueue]) -> GroupQueue:
        """The last Group has half a ticket less."""
        tickets = [group.weight for group in ready]
        tickets[-1] *= 0.5
        return self.draws.choices(ready, tickets)[0]


class InactiveCounted(SmoothWeightedRoundRobin):
    """Idle Groups count in the sum that the chosen one pays."""

    def pick(self, ready: Sequence[GroupQueue]) -> GroupQueue:
        """The chosen pays for all Groups, the ready ones earn their own weight."""
        total = sum(group.weight for group in self.groups.values())
        for group in ready:
            group.credit += group.weight
        chosen = max(ready, key=lambda group: (group.credit, -group.place))
        chosen.credit -= total
        return chosen


class UnnormalisedSmooth(SmoothWeightedRoundRobin):
    """Smooth weighted round robin as commonly written: the ready sum is paid, and it varies."""

    def pick(self, ready: Sequence[GroupQueue]) -> GroupQueue:
        """A Group that always pays when few are ready pays less than its neighbour."""
        for group in ready:
            group.credit += group.weight
        chosen = max(ready, key=lambda group: (group.credit, -group.place))
        chosen.credit -= sum(group.weight for group in ready)
        return chosen


# --- memory ---------------------------------------------------------------------------


class StrictListOrder(Scheduler):
    """Queues are served in the order of their subscription, each until it is empty."""

    def pick(self, ready: Sequence[GroupQueue]) -> GroupQueue:
        """The first that has something."""
        return ready[0]


class StateNotKept(WeightedRoundRobin):
    """The turn is not kept between decisions: each begins with the first Group."""

    def pick(self, ready: Sequence[GroupQueue]) -> GroupQueue:
        """Start over."""
        self.at = 0
        for group in self.groups.values():
            group.credit = group.weight
        return super().pick(ready)


class Sticky(StartTimeFairQueueing):
    """Stays with a Group while it has work, to save context switches."""

    last: GroupQueue | None = None

    def pick(self, ready: Sequence[GroupQueue]) -> GroupQueue:
        """The same again, if possible."""
        if self.last is None or not self.last.startable:
            self.last = super().pick(ready)
        return self.last


class CreditKeptIdle(StartTimeFairQueueing):
    """Idle time is credited: whoever comes back from a long sleep takes everything."""

    def woke(self, group: GroupQueue) -> None:
        """The old tag stands."""


class DeficitKeptIdle(DeficitRoundRobin):
    """Deficit round robin in which idle Groups go on collecting quanta."""

    def pick(self, ready: Sequence[GroupQueue]) -> GroupQueue:
        """Each decision is a quantum for those who do not use it."""
        for group in self.groups.values():
            if not group.startable:
                group.credit += self.visit(group)
        return super().pick(ready)

    def slept(self, group: GroupQueue) -> None:
        """The deficit stands."""


class CreditUnclamped(CreditScheduler):
    """Everybody gets credit at each hand-out, idle or not, without a limit."""

    def pick(self, ready: Sequence[GroupQueue]) -> GroupQueue:
        """Hand out to all."""
        least = min(group.weight for group in ready)
        while all(group.credit <= 0 for group in ready):
            for group in self.groups.values():
                group.credit += group.weight / least
        return max(ready, key=lambda group: (group.credit / group.weight, -group.place))

    def slept(self, group: GroupQueue) -> None:
        """It is all kept."""


class DebtLostOnLeaving(StartTimeFairQueueing):
    """Leaving and joining again forgets what was used."""

    def rejoin(self, group: str) -> None:
        """A clean sheet."""
        self.groups[group].tag = self.virtual - 1 / self.groups[group].weight


class DebtLostWhenEmpty(StartTimeFairQueueing):
    """A queue that empties starts over, ahead of everybody who waits."""

    def woke(self, group: GroupQueue) -> None:
        """At the front."""
        group.tag = min((other.tag for other in self.backlogged()), default=0.0) - 1


class NewcomerLast(StartTimeFairQueueing):
    """Whoever wakes goes behind the last one waiting, and again behind at the next wake."""

    def woke(self, group: GroupQueue) -> None:
        """Behind everybody, by a frame for each Group."""
        most = max((other.tag for other in self.groups.values()), default=0.0)
        group.tag = max(group.tag, most + 40 / group.weight)


class BusyGroupsAge(StartTimeFairQueueing):
    """Each arrival moves its Group forward: a chatty Group is always next."""

    def enqueue(self, job: Job) -> None:
        """A little forward."""
        super().enqueue(job)
        group = self.groups[job.group]
        if group.place == 0:
            group.tag -= 0.5 / group.weight


# --- keys and units -------------------------------------------------------------------


class FinerKey(Scheduler):
    """Fair between conversations: a Group that offers through eight of them gets eight shares."""

    def __init__(self, slots: int, seed: int = 0) -> None:
        super().__init__(slots, seed)
        self.used: dict[tuple[str, int], float] = {}

    def choose(self) -> Job | None:
        """The conversation with the least service."""
        ready = [group for group in self.groups.values() if group.startable]
        jobs = [job for group in ready for job in group.jobs.values()]
        if not jobs:
            return None
        job = min(jobs, key=lambda job: (self.used.get(self.key(job), 0.0), job.ordinal))
        self.used[self.key(job)] = self.used.get(self.key(job), 0.0) + 1
        return self.start(self.groups[job.group], job)

    def key(self, job: Job) -> tuple[str, int]:
        """What fairness is kept for."""
        return (job.group, job.offer.conversation)


class OtherUnit(StartTimeFairQueueing):
    """Declares slot time and counts dispatches."""

    unit: ClassVar[ServiceUnit] = "slotTime"

    def cost(self, job: Job) -> float:
        """One minute, however long."""
        del job
        return 60.0


class LongJobsFree(StartTimeFairQueueing):
    """The charge is capped: what is longer than a minute is as cheap as a minute."""

    unit: ClassVar[ServiceUnit] = "slotTime"

    def cost(self, job: Job) -> float:
        """At most a minute."""
        return min(job.seconds, 60.0)


class CancelledCharged(StartTimeFairQueueing):
    """Cancelled work is charged as if it had run."""

    def withdraw(self, job: Job) -> None:
        """Charged."""
        self.groups[job.group].tag += 1 / self.groups[job.group].weight
        super().withdraw(job)


class FirstSlotOnly(StartTimeFairQueueing):
    """The last slot serves only the first Group while it has work ("affinity")."""

    def pick(self, ready: Sequence[GroupQueue]) -> GroupQueue:
        """The favourite takes every second start."""
        favourite = next(iter(self.groups.values()))
        if favourite.startable and favourite.running == 0:
            return favourite
        return super().pick(ready)
