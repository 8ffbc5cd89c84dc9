"""Unfair Schedulers: each a plain family with one realistic fault, and the check that catches it.

The faults are those that real schedulers were found with (docs/fairness.md). `faults` says for each
which check must catch it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import ClassVar

from attrs import evolve

from worker_conformance.judge.fairness import ServiceUnit
from worker_conformance.judge.service import MICROSECONDS
from worker_conformance.selftest.conforming import (
    AgeingClasses,
    CompletionCharged,
    CooperativePreemption,
    CreditScheduler,
    DeficitRoundRobin,
    HierarchicalClasses,
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
    """Every Group's weight stands in the denominator, and idle ones keep earning."""

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


# --- classes and ageing ---------------------------------------------------------------


class AgeingSaturates(AgeingClasses):
    """Waiting raises by less than one class, however long."""

    def effective(self, priority_class: int) -> float:
        """Capped."""
        aged = super().effective(priority_class) - priority_class
        return priority_class + min(aged, 0.9)


class AgeingRestarts(AgeingClasses):
    """Every arrival sets the clock of all who wait back to zero."""

    arrived_at: int = 0

    def enqueue(self, job: Job) -> None:
        """Back to zero."""
        super().enqueue(job)
        self.arrived_at = self.now

    def effective(self, priority_class: int) -> float:
        """Age since the last arrival of anything."""
        step = self.horizon_seconds * MICROSECONDS / 2
        return priority_class + (self.now - self.arrived_at) / step


class AgeingTooSlow(AgeingClasses):
    """Waiting raises, but a hundred times slower than declared."""

    def effective(self, priority_class: int) -> float:
        """A hundredth."""
        aged = super().effective(priority_class) - priority_class
        return priority_class + aged / 100


class ClassRatioUnbounded(HierarchicalClasses):
    """Classes share a thousand to one, far beyond what is declared."""

    class_weights: ClassVar[Mapping[int, float]] = {0: 0.001, 1: 1.0, 2: 1000.0}


class KeysCachedAtEnqueue(HierarchicalClasses):
    """The order is computed when a job is queued: a later change of class moves nothing."""

    def reclassify(self, job: Job, priority_class: str) -> None:
        """Too late."""


class ReorderedToTheEnd(HierarchicalClasses):
    """A job whose class is raised is queued anew, behind its old place and in its old class."""

    def reclassify(self, job: Job, priority_class: str) -> None:
        """To the end."""
        del priority_class
        group = self.groups[job.group]
        if group.remove(job.name) is not None:
            group.add(job, self.class_of(job))


# --- quotas, gates, slots -------------------------------------------------------------


class QuotaIgnored(StartTimeFairQueueing):
    """Quotas are read and forgotten."""

    def configure(self, group: str, weight: float, quota: int | None) -> None:
        """No quota."""
        del quota
        super().configure(group, weight, None)


class QuotaOffByOne(StartTimeFairQueueing):
    """One more than the quota."""

    def configure(self, group: str, weight: float, quota: int | None) -> None:
        """At most, or fewer?"""
        super().configure(group, weight, None if quota is None else quota + 1)


class QuotaLeaks(StartTimeFairQueueing):
    """A finished job's place in the quota is not always given back."""

    ended: int = 0

    def finish(self, job: Job) -> None:
        """Every tenth is forgotten."""
        super().finish(job)
        self.ended += 1
        group = self.groups[job.group]
        if group.quota is not None and self.ended % 10 == 0:
            group.running += 1


class CandidatesCut(FirstComeFirstServed):
    """Only the first few jobs of all are looked at, before asking which may start."""

    def choose(self) -> Job | None:
        """The head of the list may be all of a Group at its quota."""
        jobs = [job for group in self.groups.values() for job in group.jobs.values()]
        window = sorted(jobs, key=lambda job: job.ordinal)[:8]
        for job in window:
            if self.groups[job.group].startable:
                return self.start(self.groups[job.group], job)
        return None


class WakeUpLost(StartTimeFairQueueing):
    """After a Group was held at its quota it is looked at again only when something arrives."""

    def __init__(self, slots: int, seed: int = 0) -> None:
        super().__init__(slots, seed)
        self.asleep: set[str] = set()

    def choose(self) -> Job | None:
        """Groups that fell asleep are passed over."""
        ready = [g for g in self.groups.values() if g.startable and g.name not in self.asleep]
        if not ready:
            return None
        return self.take(self.pick(ready))

    def charge(self, group: GroupQueue, job: Job) -> None:
        """Asleep when the quota is reached."""
        super().charge(group, job)
        if group.quota is not None and group.running >= group.quota:
            self.asleep.add(group.name)

    def enqueue(self, job: Job) -> None:
        """Only an arrival wakes."""
        super().enqueue(job)
        self.asleep.discard(job.group)


class GateIgnored(StartTimeFairQueueing):
    """Gated work is started."""

    def arrive(self, job: Job, *, gated: bool) -> None:
        """Which gate?"""
        del gated
        super().arrive(job, gated=False)


class CancelledRuns(StartTimeFairQueueing):
    """A cancelled job stays in the queue."""

    def withdraw(self, job: Job) -> None:
        """Not heard."""


class StartedTwice(StartTimeFairQueueing):
    """Every twentieth job is left in its queue when it starts."""

    def start(self, group: GroupQueue, job: Job) -> Job:
        """And will start again."""
        started = super().start(group, job)
        if job.ordinal % 20 == 0 and group.jobs:
            group.add(evolve(job), self.class_of(job))
        return started


class SlotLeft(StartTimeFairQueueing):
    """One slot is kept free for something urgent, without having been declared."""

    def choose(self) -> Job | None:
        """The last slot stays empty."""
        if sum(group.running for group in self.groups.values()) >= max(1, self.slots - 1):
            return None
        return super().choose()


class GateStuck(StartTimeFairQueueing):
    """An opened gate is not noticed."""

    def open_gate(self, job: Job) -> None:
        """Not heard."""


# --- admission and preemption ---------------------------------------------------------


class OneGroupRefused(StartTimeFairQueueing):
    """Offers of one Group are declined for capacity, those of the others accepted."""

    def accepts(self, job: Job) -> bool:
        """Never the first Group's."""
        return self.groups[job.group].place != 0


class OneGroupDelayed(StartTimeFairQueueing):
    """Offers of one Group are accepted half an hour late, so that it seldom has work to start."""

    def accepts(self, job: Job) -> bool:
        """The last Group's offers have to lie first."""
        late = self.groups[job.group].place == len(self.groups) - 1
        return not late or self.now - job.accepted_at >= 1800 * MICROSECONDS


class CompletionForgotten(CompletionCharged):
    """Charges when a job ends, but only what ended in the slot that asks."""

    def settle(self, group: GroupQueue, job: Job) -> None:
        """Every second end is lost, always the same Group's."""
        if group.place != 0 or job.ordinal % 2:
            super().settle(group, job)


class MutualPreemption(CooperativePreemption):
    """Two jobs pause each other for ever: the paused one is ranked above who took its slot."""

    pauses_max: ClassVar[int] = FAR

    def victim(self, running: Mapping[str, Job]) -> Job | None:
        """Whoever runs yields to whoever waits."""
        waiting = any(group.startable for group in self.groups.values())
        return next(iter(running.values())) if waiting and self.begun else None


class RandomVictims(StartTimeFairQueueing):
    """A favourite is drawn anew each hour, and everything else waits meanwhile."""

    def __init__(self, slots: int, seed: int = 0) -> None:
        super().__init__(slots, seed)
        self.draws = random.Random(seed)  # noqa: S311 - a scheduler's dice, no secret
        self.favourite = 0
        self.until = 0

    def pick(self, ready: Sequence[GroupQueue]) -> GroupQueue:
        """The favourite of the hour."""
        if self.now >= self.until:
            self.favourite = self.draws.randrange(len(self.groups))
            self.until = self.now + 3600 * MICROSECONDS
        return next((g for g in ready if g.place == self.favourite), ready[0])
