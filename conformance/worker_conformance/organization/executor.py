"""The executor: runs in virtual time what the Worker has put into its Capacity Slots.

Work is done after its planned running time in total; a Checkpoint keeps what was reached at its
safe point. Never decides what runs and never checks whether it may: the monitors do.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define, field

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.errors import SuiteError
from worker_conformance.organization import reports
from worker_conformance.organization.authority import GroupAuthority
from worker_conformance.organization.items import Item
from worker_conformance.organization.moments import SECOND
from worker_conformance.organization.organization import Organization
from worker_conformance.scenario.model import Report

ENDS = frozenset({"completed", "failed", "blocked"})
"""Reports after which a run does nothing more; its slot stays in use until `release`."""

_Due = tuple[int, str]


class NotRunningError(SuiteError):
    """A `report` step speaks of a run that the Worker never began."""


@define
class Run:
    """One WorkItem in one slot, under one Execution Lease.

    `progress` is running time already done at `since`, in microseconds. A run that stands still
    stands at a safe point: with a `preempt` outstanding, or `held` by its Checkpoint, for good;
    else only until the clock moves.
    """

    slot: str
    group: GroupAuthority
    name: str
    lease_id: str
    progress: int
    since: int
    preempted_at: int | None = None
    standing: bool = False
    held: bool = False
    over: bool = False

    @property
    def item(self) -> Item:
        """The WorkItem as its Authority holds it now."""
        return self.group.ledger.items[self.name]

    def reached(self, now: int) -> int:
        """Running time done by now."""
        return self.progress if self.standing or self.over else self.progress + now - self.since

    def stand(self, now: int) -> None:
        """Stand still at a safe point."""
        self.progress, self.since, self.standing = self.reached(now), now, True

    def go_on(self, now: int) -> None:
        """Run on from here."""
        self.since, self.standing = now, False


@define
class _Counters:
    """How many Checkpoints, results and reports a WorkItem has had, over all its runs."""

    made: dict[tuple[str, str], int] = field(factory=dict)

    def next(self, work: str, what: str) -> int:
        self.made[work, what] = self.made.get((work, what), 0) + 1
        return self.made[work, what]


class Executor:
    """All slots of one Worker. Times are microseconds since the scenario's epoch."""

    def __init__(self, organization: Organization) -> None:
        self._organization = organization
        self._runs: dict[str, Run] = {}
        self._slots: dict[str, str] = {}
        self._checkpoints: dict[str, tuple[str, int]] = {}
        self._counters = _Counters()

    # --- what the Worker does ---------------------------------------------------------

    def apply(self, effect: JsonObject, now: int) -> None:
        """Take in one effect; those that are not for the executor change nothing."""
        kind, slot = effect.get("type"), str(effect.get("slotId"))
        if kind == "run":
            self._run(effect, slot, now)
            return
        run = self._runs.get(slot)
        if run is None or find(effect, "workItemId") != run.item.work_item_id:
            return
        self._wake(run, now)
        match kind:
            case "preempt":
                _preempt(run, now)
            case "continue":
                _continue(run, now)
            case "pause":
                run.stand(now)
                run.held = True
            case "cancel":
                run.over = True
            case "release":
                del self._runs[slot]
            case _:
                pass

    def _run(self, effect: JsonObject, slot: str, now: int) -> None:
        found = self._organization.find_work(str(effect.get("workItemId")))
        if found is None:
            return
        group, name = found
        lease_id = str(effect.get("leaseId"))
        progress = self._progress_of(find(effect, "resumeFrom", "checkpointId"), name)
        self._runs[slot] = Run(slot, group, name, lease_id, progress, now)
        self._slots[lease_id] = slot

    def _progress_of(self, checkpoint_id: object, name: str) -> int:
        """What a Checkpoint kept; another WorkItem's Checkpoint is worth nothing."""
        work, progress = self._checkpoints.get(str(checkpoint_id), ("", 0))
        return progress if work == name else 0

    def answered(self, work_item_id: str, *, accepted: bool) -> None:
        """The Authority answered a Command about this item.

        Once its Checkpoint is a fact, the run stands until the Worker pauses it.
        """
        for run in self._runs.values():
            if run.standing and accepted and run.item.work_item_id == work_item_id:
                owner = run.item.owner
                lease = owner.execution if owner else None
                run.held = lease is None or lease.lease_id != run.lease_id

    def drop_all(self, now: int) -> None:  # noqa: ARG002 - the runner says when, whatever it matters
        """The runtime is gone, and every run with it; Checkpoints stay."""
        self._runs.clear()

    # --- what is reported -------------------------------------------------------------

    def next_due(self) -> int | None:
        """When the next report falls due."""
        planned = (self._due(run) for run in self._runs.values())
        return min((due[0] for due in planned if due is not None), default=None)

    def next_report(self, now: int) -> JsonObject | None:
        """The earliest report due by now: an `execution` stimulus without `type` and `now`."""
        ready: list[tuple[int, str, str]] = []
        for slot, run in self._runs.items():
            due = self._due(run)
            if due is not None and due[0] <= now:
                ready.append((due[0], slot, due[1]))
        if not ready:
            return None
        at, slot, kind = min(ready)
        run = self._runs[slot]
        self._wake(run, now)
        return self._reported(run, kind, {}, at)

    def report(self, step: Report, now: int) -> JsonObject:
        """The report that a step asks for, about the present run or a late one of an earlier run.

        Raises NotRunningError where there is no such run.
        """
        run = self._run_of(step.work)
        if step.lease is None:
            if run is None:
                raise NotRunningError(
                    "not-running", f"{step.work} is in no slot: nothing to report"
                )
            self._wake(run, now)
            return self._reported(run, step.kind, step.members, now)
        lease_id = self._lease_id(step)
        if run is not None and run.lease_id == lease_id:
            self._wake(run, now)
            return self._reported(run, step.kind, step.members, now)
        return self._late_report(step, lease_id, now)

    def running(self) -> Mapping[str, str]:
        """Slots whose work is under way, with the WorkItem's URI."""
        return {
            slot: run.item.work_item_id
            for slot, run in self._runs.items()
            if not run.over and not run.held
        }

    def standing(self) -> frozenset[str]:
        """The URIs of work whose run stands at a safe point and waits for what it is told."""
        return frozenset(run.item.work_item_id for run in self._runs.values() if run.standing)

    def occupied(self) -> Mapping[str, str]:
        """Slots in use, from `run` to `release`, with the WorkItem's URI."""
        return {slot: run.item.work_item_id for slot, run in self._runs.items()}

    # --- inside -----------------------------------------------------------------------

    def _due(self, run: Run) -> _Due | None:
        """What a run reports next by itself, and when."""
        if run.over or run.held or (run.standing and self._awaits_answer(run)):
            return None
        plan, candidates = run.item.plan, []
        if run.preempted_at is not None:
            if run.standing:
                return None
            if plan.safe_point_seconds is not None:
                # The second member breaks a tie: work that is done needs no safe point.
                candidates.append((run.preempted_at + plan.safe_point_seconds * SECOND, 1))
        if plan.completes:
            left = max(0, plan.duration_seconds * SECOND - run.progress)
            candidates.append((run.since + left, 0))
        if not candidates:
            return None
        at, what = min(candidates)
        return at, "safe_point" if what else "completed"

    def _awaits_answer(self, run: Run) -> bool:
        return run.item.work_item_id in self._organization.shared.unanswered

    def _wake(self, run: Run, now: int) -> None:
        """Run on after a safe point that nobody used, once the clock has moved."""
        idle = run.standing and not run.held and run.preempted_at is None and not run.over
        if idle and now > run.since and not self._awaits_answer(run):
            run.go_on(run.since)

    def _reported(self, run: Run, kind: str, members: Mapping[str, object], now: int) -> JsonObject:
        """Build a report of a present run, and let the run take what follows from it."""
        report = self._build(run.group, run.item, kind, members, now)
        if kind in ("safe_point", "blocked"):
            run.stand(now)
            self._checkpoints[str(report["checkpointId"])] = (run.name, run.progress)
        if kind in ENDS:
            run.over = True
        return self._stimulus(run.slot, run.item, run.lease_id, report)

    def _late_report(self, step: Report, lease_id: str, now: int) -> JsonObject:
        slot = self._slots.get(lease_id)
        found = self._find(step.work)
        if slot is None or found is None:
            raise NotRunningError("not-running", f"{step.work} never ran under lease {step.lease}")
        group, item = found
        report = self._build(group, item, step.kind, step.members, now)
        return self._stimulus(slot, item, lease_id, report)

    def _build(
        self,
        group: GroupAuthority,
        item: Item,
        kind: str,
        members: Mapping[str, object],
        now: int,
    ) -> JsonObject:
        number = self._counters.next(item.name, kind)
        return reports.build(group.ledger, item, kind, members, number, now)

    def _stimulus(self, slot: str, item: Item, lease_id: str, report: JsonObject) -> JsonObject:
        return {
            "slotId": slot,
            "workItemId": item.work_item_id,
            "leaseId": lease_id,
            "report": report,
        }

    def _run_of(self, work: str) -> Run | None:
        return next((run for run in self._runs.values() if run.name == work), None)

    def _lease_id(self, step: Report) -> str:
        found = self._find(step.work)
        leases = found[1].lease_ids if found else ()
        if step.lease is None or not 1 <= step.lease <= len(leases):
            raise NotRunningError("not-running", f"{step.work} has no Execution Lease {step.lease}")
        return leases[step.lease - 1]

    def _find(self, work: str) -> tuple[GroupAuthority, Item] | None:
        for group in self._organization.groups:
            if work in group.ledger.items:
                return group, group.ledger.items[work]
        return None


def _preempt(run: Run, now: int) -> None:
    if run.over or run.preempted_at is not None:
        return
    if run.standing and not run.held:
        run.go_on(now)
    run.preempted_at = now


def _continue(run: Run, now: int) -> None:
    run.preempted_at = None
    if run.standing and not run.held:
        run.go_on(now)
