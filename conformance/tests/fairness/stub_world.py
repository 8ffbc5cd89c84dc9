"""A World without a Port: a bare Scheduler behind what the drivers use of the real one.

The Worker it stands for accepts every offer (unless told otherwise) and starts what its Scheduler
chooses; the Trace it writes has the notes that the real World writes.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from worker_conformance.judge.service import MICROSECONDS
from worker_conformance.judge.trace import EntryKind, NoteKind, Trace
from worker_conformance.organization.names import Names
from worker_conformance.port.declaration import Parameters
from worker_conformance.scenario.model import Act, ActKind, Scenario, SetPolicy, WorkPlan
from worker_conformance.selftest.harness import Job
from worker_conformance.selftest.schedulers import Scheduler
from worker_conformance.suite.loads import Offer


class StubWorld:
    def __init__(
        self,
        scenario: Scenario,
        scheduler: Scheduler,
        *,
        parameters: Parameters | None = None,
        refuses: frozenset[str] = frozenset(),
        starts: bool = True,
    ) -> None:
        self.scenario = scenario
        self.scheduler = scheduler
        self.parameters = parameters or Parameters()
        self.trace = Trace(scenario.id, 7)
        self.now = 0
        self.publications = 0
        self.refuses = refuses
        self.starts = starts
        self.plans: dict[str, WorkPlan] = {}
        self.jobs: dict[str, Job] = {}
        self.policy: dict[str, dict[str, object]] = {}
        self.running: dict[str, Job] = {}
        self.ends: list[tuple[int, str]] = []
        self.sequence = 0
        for group in scenario.groups:
            scheduler.configure(group.name, group.weight, group.slot_quota)

    def add_work(self, plan: WorkPlan) -> None:
        assert plan.name not in self.plans
        self.plans[plan.name] = plan

    def publish(self, acts: Mapping[str, Sequence[Act]]) -> None:
        self.publications += 1
        for many in acts.values():
            for act in many:
                assert act.work is not None
                self._act(act.kind, act.work)
        self._fill()

    def _act(self, kind: ActKind, work: str) -> None:
        if kind is ActKind.AUTHORIZE:
            self._note("work.authorized", work, "organization", "open")
        elif kind is ActKind.ACCEPT_RESULT:
            self._note("work.result.accepted", work, "organization", "verified")
        elif kind is ActKind.OFFER:
            self._note("work.offer.created", work, "organization", "offered")
            plan = self.plans[work]
            if plan.group not in self.refuses:
                self._note("work.offer.accepted", work, "worker", "queued", ours=True)
                job = self.jobs[work] = self._job(plan)
                self.scheduler.arrive(job, gated=plan.approval == "human_required")
        elif kind is ActKind.CANCEL:
            self._note("work.cancelled", work, "organization", "cancelled")
            self.scheduler.withdraw(self.jobs[work])
        elif kind is ActKind.GRANT:
            note = "approval.execution.granted"
            self._note(note, work, "organization", "queued", ours=True)
            self.scheduler.open_gate(self.jobs[work])

    @property
    def organization(self) -> StubWorld:
        return self

    def set_policy(self, change: SetPolicy) -> None:
        for name, members in change.groups.items():
            self.scheduler.configure(name, float(str(members["weight"])), None)
            self.policy[Names(7).group_id(name)] = dict(members)

    def join(self, name: str) -> dict[str, object]:
        return {"group": {"groupId": Names(7).group_id(name)}}

    def leave(self, name: str) -> dict[str, object]:
        self.scheduler.rejoin(name)
        return {"groupId": Names(7).group_id(name)}

    def call(self, stimulus: dict[str, object]) -> None:
        self.trace.append(0, self.now, EntryKind.STIMULUS, stimulus)

    @property
    def delivery(self) -> StubWorld:
        return self

    def close(self, groups: object) -> None:
        """No Event is on its way here."""

    def settle(self) -> None:
        """Everything is settled at once here."""

    def send_policy(self) -> None:
        body = {"type": "policy", "policy": {"groups": dict(self.policy)}}
        self.trace.append(0, self.now, EntryKind.STIMULUS, body)

    def _job(self, plan: WorkPlan) -> Job:
        group = next(g for g in self.scenario.groups if g.name == plan.group)
        offer = Offer(plan.group, plan.duration_seconds, group.priority_class, urgency=plan.urgency)
        return Job(plan.name, offer, plan.duration_seconds, self.now, len(self.plans))

    def next_appointment(self) -> int | None:
        return self.ends[0][0] if self.ends else None

    def advance_to(self, target: int) -> None:
        self.trace.append(0, self.now, EntryKind.NOTE, {"note": NoteKind.REST.value})
        self.now = self.scheduler.now = target
        while self.ends and self.ends[0][0] <= target:
            _, name = heapq.heappop(self.ends)
            self._note("work.submitted", name, "worker", "submitted", ours=True)
            self.scheduler.finish(self.running.pop(name))
        self._fill()

    def _fill(self) -> None:
        while self.starts and len(self.running) < self.scenario.agent.slots:
            job = self.scheduler.choose()
            if job is None:
                return
            self.running[job.name] = job
            self._note("work.started", job.name, "worker", "active", ours=True)
            heapq.heappush(self.ends, (self.now + round(job.seconds * MICROSECONDS), job.name))

    def _note(self, kind: str, work: str, by: str, state: str, *, ours: bool = False) -> None:
        self.sequence += 1
        body = {
            "note": NoteKind.APPENDED.value,
            "group": self.plans[work].group,
            "sequence": self.sequence,
            "kind": kind,
            "work": work,
            "by": by,
            "state": state,
            "ours": ours,
            "lease": None,
            "actionId": None,
        }
        self.trace.append(0, self.now, EntryKind.NOTE, body)
