"""What the bare Schedulers of the self-test share: queues per Group, slots in use, quotas.

Responsible for bookkeeping only. A family says which Group is next (`pick`) and which of that
Group's jobs (`best`); the conforming families stand in `conforming`, the unfair ones in `unfair`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from attrs import define, field

from worker_conformance.judge.fairness import ServiceUnit
from worker_conformance.selftest.harness import Job

CLASSES: Mapping[str, int] = {"background": 0, "standard": 1, "urgent": 2}
URGENCIES: Mapping[str, int] = {"routine": 0, "normal": 1, "high": 2, "critical": 3}


@define(eq=False)
class GroupQueue:
    """One Group as a Scheduler keeps it. `tag` and `credit` are the family's own figures."""

    name: str
    weight: float
    quota: int | None
    place: int
    jobs: dict[str, Job] = field(factory=dict)
    by_class: dict[int, dict[str, Job]] = field(factory=dict)
    running: int = 0
    tag: float = 0.0
    credit: float = 0.0

    @property
    def startable(self) -> bool:
        """Whether it has a job and is below its quota."""
        return bool(self.jobs) and (self.quota is None or self.running < self.quota)

    def add(self, job: Job, priority_class: int) -> None:
        """Put a job at the end."""
        self.jobs[job.name] = job
        self.by_class.setdefault(priority_class, {})[job.name] = job

    def remove(self, name: str) -> Job | None:
        """Take a job out; None if it is not there."""
        for priority_class, jobs in self.by_class.items():
            if jobs.pop(name, None) is not None:
                if not jobs:
                    del self.by_class[priority_class]
                break
        return self.jobs.pop(name, None)


class Scheduler:
    """Base of all families: first come, first served in a Group; `pick` is the family's own."""

    unit: ClassVar[ServiceUnit] = "dispatch"
    randomised: ClassVar[bool] = False
    considers: ClassVar[frozenset[str]] = frozenset({"quota", "gate"})
    horizon_seconds: ClassVar[float] = 3600.0

    def __init__(self, slots: int, seed: int = 0) -> None:
        self.slots = slots
        self.seed = seed
        self.now = 0
        self.groups: dict[str, GroupQueue] = {}
        self.classes: dict[str, str] = {}  # job name to its class, where policy raised it
        self.pending: dict[str, Job] = {}  # gated jobs

    # --- the family's own -------------------------------------------------------------

    def pick(self, ready: Sequence[GroupQueue]) -> GroupQueue:
        """Choose among the Groups that can start something (never empty)."""
        raise NotImplementedError

    def best(self, group: GroupQueue) -> Job:
        """Choose among the Group's jobs: the one that has waited longest."""
        return next(iter(group.jobs.values()))

    def charge(self, group: GroupQueue, job: Job) -> None:
        """The job was chosen: account for it."""

    def settle(self, group: GroupQueue, job: Job) -> None:
        """The job has ended: account for it."""

    def woke(self, group: GroupQueue) -> None:
        """The Group has a job after having had none."""

    def slept(self, group: GroupQueue) -> None:
        """The Group's last waiting job is gone."""

    # --- what the harness calls -------------------------------------------------------

    def configure(self, group: str, weight: float, quota: int | None) -> None:
        """Take in a Group's policy."""
        known = self.groups.get(group)
        if known is None:
            self.groups[group] = GroupQueue(group, weight, quota, len(self.groups))
        else:
            known.weight, known.quota = weight, quota

    def rejoin(self, group: str) -> None:
        """Keep the account of a Group that was left and joined again."""

    def accepts(self, job: Job) -> bool:
        """Accept every offer."""
        del job
        return True

    def arrive(self, job: Job, *, gated: bool) -> None:
        """Queue it, or keep it aside while its gate is shut."""
        if gated:
            self.pending[job.name] = job
        else:
            self.enqueue(job)

    def open_gate(self, job: Job) -> None:
        """Queue it now."""
        if self.pending.pop(job.name, None) is not None:
            self.enqueue(job)

    def enqueue(self, job: Job) -> None:
        """Put a job into its Group's queue."""
        group = self.groups[job.group]
        group.add(job, self.class_of(job))
        if len(group.jobs) == 1:
            self.woke(group)

    def withdraw(self, job: Job) -> None:
        """Forget a cancelled job."""
        self.pending.pop(job.name, None)
        group = self.groups[job.group]
        if group.remove(job.name) is not None and not group.jobs:
            self.slept(group)

    def reclassify(self, job: Job, priority_class: str) -> None:
        """Remember the class that policy gave the job."""
        self.classes[job.name] = priority_class
        group = self.groups[job.group]
        if group.remove(job.name) is not None:
            group.add(job, self.class_of(job))

    def choose(self) -> Job | None:
        """The family's Group, and in it the family's job."""
        ready = [group for group in self.groups.values() if group.startable]
        if not ready:
            return None
        return self.take(self.pick(ready))

    def take(self, group: GroupQueue) -> Job:
        """Start the chosen Group's next job."""
        return self.start(group, self.best(group))

    def start(self, group: GroupQueue, job: Job) -> Job:
        """Remove the chosen job from its queue and account for it."""
        group.remove(job.name)
        group.running += 1
        self.charge(group, job)
        if not group.jobs:
            self.slept(group)
        return job

    def finish(self, job: Job) -> None:
        """Free the slot."""
        group = self.groups[job.group]
        group.running -= 1
        self.settle(group, job)

    def victim(self, running: Mapping[str, Job]) -> Job | None:
        """Never preempt."""
        del running
        return None

    def paused(self, job: Job) -> None:
        """Back into its queue."""
        self.groups[job.group].running -= 1
        self.enqueue(job)

    # --- helpers ----------------------------------------------------------------------

    def class_of(self, job: Job) -> int:
        """The job's class as a number, the lowest being 0."""
        return CLASSES.get(self.classes.get(job.name, job.offer.priority_class), 0)

    def cost(self, job: Job) -> float:
        """The service a job buys, in the family's unit."""
        return job.seconds if self.unit == "slotTime" else 1.0

    def backlogged(self) -> list[GroupQueue]:
        """Groups with something waiting, quota or not."""
        return [group for group in self.groups.values() if group.jobs]
