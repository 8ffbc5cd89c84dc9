"""A bare Scheduler harness: slots, queues and a clock, and nothing of a Worker around them.

Plays a load against a Scheduler and records the service history that the judges read. It exists so
that the judges can be tried on many families of Schedulers over many dispatches. It never judges
and never corrects what a Scheduler does: a dispatch of something ineligible is recorded as one.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Protocol

from attrs import define, evolve, field, frozen

from worker_conformance.judge.exact import Pause
from worker_conformance.judge.service import MICROSECONDS, HistoryBuilder, Item, ServiceHistory
from worker_conformance.suite.loads import (
    CancelOne,
    Enter,
    Load,
    Offer,
    OpenGates,
    Reaction,
    Rejoin,
    Reweigh,
)


@frozen(eq=False)
class Job:
    """One WorkItem as a Scheduler sees it. `seconds` is what is left of it."""

    name: str
    offer: Offer
    seconds: float
    accepted_at: int
    ordinal: int

    @property
    def group(self) -> str:
        """Its Group."""
        return self.offer.group


class BareScheduler(Protocol):
    """What the harness asks of a Scheduler.

    `now` is set before every call: microseconds, never going back.
    """

    now: int

    def configure(self, group: str, weight: float, quota: int | None) -> None:
        """A Group's weight and quota from now on."""
        ...

    def rejoin(self, group: str) -> None:
        """The Group was left and joined again."""
        ...

    def accepts(self, job: Job) -> bool:
        """Admission control: whether an offer is accepted now."""
        ...

    def arrive(self, job: Job, *, gated: bool) -> None:
        """The job is accepted; it may start unless its gate is shut."""
        ...

    def open_gate(self, job: Job) -> None:
        """A gated job may start now."""
        ...

    def withdraw(self, job: Job) -> None:
        """A waiting job is cancelled."""
        ...

    def reclassify(self, job: Job, priority_class: str) -> None:
        """A waiting job's priority class changed."""
        ...

    def choose(self) -> Job | None:
        """A slot is free: what starts in it?"""
        ...

    def finish(self, job: Job) -> None:
        """The job has ended and its slot is free."""
        ...

    def victim(self, running: Mapping[str, Job]) -> Job | None:
        """At rest with every slot in use: what should pause at a safe point?"""
        ...

    def paused(self, job: Job) -> None:
        """The job reached its safe point and is in its queue again, with less left to do."""
        ...


@frozen(eq=False)
class Run:
    """What one run of the harness came to.

    Arrivals stopped at `stopped_at`, when what was not finished needed `remaining_seconds`.
    `arrivals` counts offers and class changes.
    """

    history: ServiceHistory
    stopped_at: int
    remaining_seconds: float
    arrivals: int
    pauses: tuple[Pause, ...]


@frozen
class Setting:
    """The world of a run: slots, and each Group's weight and quota.

    Groups in `late` are unknown to the Scheduler until the load says `Enter`.
    """

    slots: int
    weights: Mapping[str, float]
    quotas: Mapping[str, int] = field(factory=dict)
    late: frozenset[str] = frozenset()


@frozen
class Raise:
    """At `at_seconds` the newest waiting item of a Group is raised to a priority class."""

    at_seconds: int
    group: str
    priority_class: str


def play(
    scheduler: BareScheduler,
    load: Load,
    setting: Setting,
    *,
    dispatches: int,
    seconds: float | None = None,
    until: str | None = None,
    raises: Raise | None = None,
) -> Run:
    """Play `load` until so many dispatches, so much time, or the dispatch of item `until`.

    Then arrivals stop, gates open, and the rest is drained, so that a lost wake-up shows.
    """
    bench = _Bench(scheduler, load, setting, raises)
    bench.open()
    bench.until_stopped(dispatches, seconds, until)
    return bench.drain()


PAUSES_MAX = 10_000
"""Two jobs that pause each other for ever must not keep the harness running for ever."""


@define(eq=False)
class _Bench:
    scheduler: BareScheduler
    load: Load
    setting: Setting
    raises: Raise | None
    builder: HistoryBuilder = field(init=False)
    now: int = 0
    dispatches: int = 0
    closed: bool = False
    _queues: dict[str, dict[str, Job]] = field(factory=dict)  # waiting: offered or accepted
    _gated: dict[str, dict[str, Job]] = field(factory=dict)
    _offered: deque[Job] = field(factory=deque)  # not accepted yet
    _running: dict[str, Job] = field(factory=dict)
    _begun: dict[str, int] = field(factory=dict)
    _ends: list[tuple[int, int, str]] = field(factory=list)
    _arrivals: int = 0
    _pauses: list[Pause] = field(factory=list)
    _seen: set[str] = field(factory=set)

    def __attrs_post_init__(self) -> None:
        self.builder = HistoryBuilder(self.setting.slots)

    # --- the run ----------------------------------------------------------------------

    def open(self) -> None:
        for group in self.setting.weights:
            self._queues[group], self._gated[group] = {}, {}
            if group not in self.setting.late:
                self._configure(group)
        self._react(self.load.begin(self))
        self._settle()

    def _configure(self, group: str) -> None:
        weight, quota = self.setting.weights[group], self.setting.quotas.get(group)
        self.scheduler.configure(group, weight, quota)
        self.builder.group(group, weight, quota)

    def until_stopped(self, dispatches: int, seconds: float | None, until: str | None) -> None:
        limit = None if seconds is None else round(seconds * MICROSECONDS)
        while self._ends and self.dispatches < dispatches:
            if until in self._seen or (limit is not None and self.now >= limit):
                return
            self._next_instant()

    def drain(self) -> Run:
        self.closed = True
        stopped_at, remaining = self.now, self._remaining()
        for group in self._queues:
            self._open_gates(group)
        self._settle()
        deadline = stopped_at + round(remaining * MICROSECONDS)
        while self._ends and self._ends[0][0] <= deadline:
            self._next_instant()
        self._move(max(self.now, deadline))
        self.builder.rest(self.now)
        history = self.builder.build()
        return Run(history, stopped_at, remaining, self._arrivals, tuple(self._pauses))

    def _move(self, at: int) -> None:
        self.now = at
        self.scheduler.now = at

    def _remaining(self) -> float:
        waiting = sum(job.seconds for queue in self._queues.values() for job in queue.values())
        begun = self._begun
        running = sum(
            job.seconds - (self.now - begun[name]) / MICROSECONDS
            for name, job in self._running.items()
        )
        return waiting + running

    def _next_instant(self) -> None:
        self._raise_before(self._ends[0][0])
        self._move(self._ends[0][0])
        ended = []
        while self._ends and self._ends[0][0] == self.now:
            _, begun, name = heapq.heappop(self._ends)
            if self._begun.get(name) == begun and name in self._running:
                ended.append(self._end(name))
        for job in ended:
            self._react(self.load.after_end(self, job.offer))
        self._settle()

    def _end(self, name: str) -> Job:
        job = self._running.pop(name)
        self.builder.stopped(self.now, name)
        self.scheduler.finish(job)
        return job

    def _settle(self) -> None:
        """Let the Scheduler fill the slots, and pause what it wants to pause, until it rests."""
        self._offer_again()
        while True:
            job = self.scheduler.choose() if self._free() else None
            if job is not None:
                self._dispatch(job)
            elif not self._pause():
                break
        self.builder.rest(self.now)

    def _free(self) -> bool:
        return len(self._running) < self.setting.slots

    def _dispatch(self, job: Job) -> None:
        self.builder.dispatched(self.now, job.name)
        self.dispatches += 1
        self._seen.add(job.name)
        self._queues[job.group].pop(job.name, None)
        self._gated[job.group].pop(job.name, None)
        self._running[job.name] = job
        self._begun[job.name] = self.now
        end = self.now + max(1, round(job.seconds * MICROSECONDS))
        heapq.heappush(self._ends, (end, self.now, job.name))
        if not self.closed:
            self._react(self.load.after_dispatch(self, job.offer))

    def _pause(self) -> bool:
        if len(self._running) < self.setting.slots or len(self._pauses) >= PAUSES_MAX:
            return False
        job = self.scheduler.victim(self._running)
        if job is None or job.name not in self._running:
            return False
        progress = (self.now - self._begun[job.name]) / MICROSECONDS
        self._pauses.append(Pause(self.now, job.group, job.name, progress))
        del self._running[job.name]
        self.builder.stopped(self.now, job.name)
        left = evolve(job, seconds=max(job.seconds - progress, 1 / MICROSECONDS))
        self._queues[job.group][job.name] = left
        self.builder.ready(self.now, job.name)
        self.scheduler.paused(left)
        return True

    def _raise_before(self, at: int) -> None:
        if self.raises is None or round(self.raises.at_seconds * MICROSECONDS) > at:
            return
        wanted, self.raises = self.raises, None
        self._move(round(wanted.at_seconds * MICROSECONDS))
        queue = self._queues[wanted.group]
        if queue:
            job = queue[next(reversed(queue))]
            self._arrivals += 1
            self.builder.reclassify(job.name, wanted.priority_class)
            self.scheduler.reclassify(job, wanted.priority_class)
        self._settle()

    # --- what a load sees and does ----------------------------------------------------

    def waiting(self, group: str) -> int:
        return len(self._queues[group])

    def _react(self, reactions: Iterable[Reaction]) -> None:
        if self.closed:
            return
        for reaction in reactions:
            match reaction:
                case Offer():
                    self._offer(reaction)
                case OpenGates():
                    self._open_gates(reaction.group)
                case CancelOne():
                    self._cancel(reaction.group)
                case Rejoin():
                    self.builder.leave(reaction.group)
                    self.builder.join(reaction.group)
                    self.scheduler.rejoin(reaction.group)
                case Enter():
                    self._configure(reaction.group)
                case Reweigh():
                    quota = self.setting.quotas.get(reaction.group)
                    self.scheduler.configure(reaction.group, reaction.weight, quota)
                    self.builder.group(reaction.group, reaction.weight, quota)

    def _offer(self, offer: Offer) -> None:
        self._arrivals += 1
        name = f"{offer.group}-{self._arrivals}"
        job = Job(name, offer, offer.seconds, self.now, self._arrivals)
        self.builder.offered(Item(name, offer.group, offer.seconds, offer.priority_class))
        self._queues[offer.group][name] = job
        if offer.gated:
            self._gated[offer.group][name] = job
        else:
            # Demand counts, accepted or not: a Group that is refused for ever is starved too.
            self.builder.ready(self.now, name)
        self._hand_over(job)

    def _hand_over(self, job: Job) -> None:
        if self.scheduler.accepts(job):
            self.scheduler.arrive(job, gated=job.name in self._gated[job.group])
        else:
            self._offered.append(job)

    def _offer_again(self) -> None:
        for _ in range(len(self._offered)):
            job = self._offered.popleft()
            if job.name in self._queues[job.group]:
                self._hand_over(job)

    def _open_gates(self, group: str) -> None:
        for name, job in self._gated[group].items():
            self.builder.ready(self.now, name)
            self.scheduler.open_gate(job)
        self._gated[group].clear()

    def _cancel(self, group: str) -> None:
        queue = self._queues[group]
        if queue:
            job = queue.pop(next(iter(queue)))
            self._gated[group].pop(job.name, None)
            self.builder.unready(self.now, job.name)
            self.scheduler.withdraw(job)
