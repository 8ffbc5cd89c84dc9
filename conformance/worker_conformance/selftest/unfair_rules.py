"""Unfair Schedulers, second part: faults in classes, ageing, quotas, gates, admission, preemption.

As in `unfair`, each is a plain family with one realistic fault; `faults` says which check must
catch it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import ClassVar

from attrs import evolve

from worker_conformance.judge.service import MICROSECONDS
from worker_conformance.selftest.conforming import (
    AgeingClasses,
    CompletionCharged,
    CooperativePreemption,
    HierarchicalClasses,
    NearestDeadlineInGroup,
    StartTimeFairQueueing,
    StrideWithRandomTies,
)
from worker_conformance.selftest.harness import Job
from worker_conformance.selftest.schedulers import GroupQueue
from worker_conformance.selftest.unfair import FAR, FirstComeFirstServed

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


class DeadlineBackwards(NearestDeadlineInGroup):
    """Deadlines are sorted the wrong way round: the nearest is served last."""

    def due(self, job: Job) -> tuple[float, int]:
        """The sign is lost."""
        at, ordinal = super().due(job)
        return (-at, ordinal)


class SeedNotUsed(StrideWithRandomTies):
    """Claims to be deterministic, and draws its ties without the seed it was given."""

    made: ClassVar[Iterator[int]] = count()

    def __init__(self, slots: int, seed: int = 0) -> None:
        super().__init__(slots, seed)
        self.draws = random.Random(next(self.made))  # noqa: S311 - as everywhere here


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
