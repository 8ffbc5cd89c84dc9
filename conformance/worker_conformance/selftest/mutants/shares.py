"""Faults of shares that only a long run, or a change in the middle of one, brings to light."""

from __future__ import annotations

from typing import Any

from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.mutants.order import places
from worker_conformance.selftest.mutants.scheduling import PolicyReadOnce, next_is_least_by


@altered
def late_group_is_owed_the_past(parts: Parts) -> None:
    """Lets a Group that is joined late catch up on the time before it was known."""
    make = parts.get("scheduler.FairScheduler._flow")

    def from_the_beginning(scheduler: Any, name: Any) -> Any:
        known = name in scheduler._flows  # noqa: SLF001 - a mutant is inside the part it alters
        flow = make(scheduler, name)
        if not known:
            flow.start, flow.awake = 0, True
        return flow

    parts.replace("scheduler.FairScheduler._flow", from_the_beginning)


@altered
def cancelled_work_is_charged(parts: Parts) -> None:
    """Charges a Group for work when it leaves the queue, served or cancelled."""
    drop = parts.get("scheduler.FairScheduler.drop")
    charge = parts.get("scheduler.FairScheduler.charge")

    def charged_already(scheduler: Any, work_item_id: str) -> Any:
        flow = scheduler._flows[scheduler._of_item[work_item_id]]  # noqa: SLF001 - as above
        name = charge(scheduler, work_item_id)
        flow.start -= flow.cost  # `drop`, on the way, has charged it once more
        scheduler._settle(name)  # noqa: SLF001 - as above
        return name

    def charging(scheduler: Any, work_item_id: str) -> None:
        name = scheduler._of_item.get(work_item_id)  # noqa: SLF001 - as above
        if name is not None:
            scheduler._flows[name].start += scheduler._flows[name].cost  # noqa: SLF001 - as above
        drop(scheduler, work_item_id)

    parts.replace("scheduler.FairScheduler.charge", charged_already)
    parts.replace("scheduler.FairScheduler.drop", charging)


@altered
def leaving_wipes_out_debt(parts: Parts) -> None:
    """Deletes a Group's account when it is left, and opens another when it is joined again."""
    leave = parts.get("sessions.leave")

    def forgiving(turn: Any, stimulus: Any) -> None:
        leave(turn, stimulus)
        scheduler = turn.runtime.scheduler
        for name in scheduler._of_group.get(stimulus["groupId"], ()):  # noqa: SLF001 - as above
            flow = scheduler._flows[name]  # noqa: SLF001 - as above
            flow.start = min(flow.start, scheduler.virtual_time)

    parts.module("worker").STIMULI["leave"] = forgiving


@altered
def nearest_deadline_first(parts: Parts) -> None:
    """Serves the nearest deadline of all Groups, however long other work has waited."""
    # The tightest bound that can be declared makes the shortest run that shows the fault.
    parts.declare(starvationHorizonSeconds=60)
    places(parts, lambda since, deadline, _urgency: deadline * 10**20 + since)
    next_is_least_by(parts, lambda _name, _flow, head: head)


class WeightsReadOnce(PolicyReadOnce):
    """Reads each Group's weight once, at the start."""

    member = "weight"


MUTANTS = (
    mutant(
        late_group_is_owed_the_past,
        "WRK-010.a",
        "SCHED-0043",
        "Accounts that all begin at zero, whenever they are opened.",
    ),
    mutant(
        cancelled_work_is_charged,
        "WRK-010.a",
        "SCHED-0046",
        "Accounting in the queue, where every removal looks alike.",
    ),
    mutant(
        nearest_deadline_first,
        "WRK-010.b",
        "SCHED-0052",
        "Earliest deadline first, as in every textbook, for load that has no end.",
    ),
    mutant(
        WeightsReadOnce,
        "WRK-010.a",
        "SCHED-0047",
        "Shares worked out at start-up.",
    ),
    mutant(
        leaving_wipes_out_debt,
        "WRK-010.a",
        "SCHED-0048",
        "A record that is deleted with the Membership.",
    ),
)
