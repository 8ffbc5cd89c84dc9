"""Duties: what ought to be done now, item by item, given the projections.

Responsible for bringing the Worker to rest after every stimulus. Everything here is a function of
the present state, never of the stimulus: so a restart, a repeated Event or a Replay leads to the
same Commands as the first time.
"""

from __future__ import annotations

from reference_worker import (
    admission,
    disclosure,
    eligibility,
    execution,
    leases,
    outbox,
    preemption,
    queues,
    renewals,
    slots,
)
from reference_worker.records import WorkItem
from reference_worker.runtime import HISTORY_UNKNOWN
from reference_worker.turn import Turn

ROUNDS_MAX = 10_000  # a turn that does not come to rest is a bug, not a schedule


def settle(turn: Turn) -> None:
    """Do everything that is due, until nothing is."""
    for key in turn.runtime.timers.due(turn.now):
        if key in turn.projection.groups:
            turn.touch_groups(key)
        else:
            turn.touch(key)
    for _ in range(ROUNDS_MAX):
        while turn.touched:
            work_item_id = next(iter(turn.touched))
            del turn.touched[work_item_id]
            review(turn, work_item_id)
        slots.fill(turn)
        preemption.consider(turn)
        if not turn.touched:
            return
    raise AssertionError("the Worker does not come to rest")


def review(turn: Turn, work_item_id: str) -> None:
    """Look at one item again."""
    turn.runtime.timers.clear(work_item_id)
    outbox.review(turn, work_item_id)
    run = turn.runtime.run_of(work_item_id)
    if run is not None:
        slots.review(turn, run)
    item = turn.item(work_item_id)
    if item is None:
        _leave(turn, work_item_id)
        return
    if run is None and turn.runtime.links.get(item.group_id) in HISTORY_UNKNOWN:
        # No duties but those of a run: all items are looked at when the Group becomes live, and
        # nothing is decided twice.
        turn.runtime.claims.pop(work_item_id, None)
        _count(turn, item)
        return
    if run is None:
        execution.give_up_late_retry(turn, item)
    admission.review(turn, item)
    renewals.review(turn, item)
    slots.claim(turn, item)
    _queue(turn, item)
    _count(turn, item)
    if leases.is_owner(turn, item):
        disclosure.publish_on_occasion(turn, item)
        if run is not None and run.slot_id in turn.runtime.runs:
            preemption.hold_unfit(turn, run, item)
            preemption.call_before_the_grace_ends(turn, run)


def _leave(turn: Turn, work_item_id: str) -> None:
    turn.runtime.scheduler.drop(work_item_id)
    turn.runtime.claims.pop(work_item_id, None)
    turn.runtime.given_up.pop(work_item_id, None)
    turn.runtime.challengers.pop(work_item_id, None)
    turn.runtime.waiting.drop(work_item_id)


def _queue(turn: Turn, item: WorkItem) -> None:
    """Put the item into its Group's queue, or take it out."""
    scheduler, work_item_id = turn.runtime.scheduler, item.work_item_id
    if work_item_id in turn.runtime.reservations or eligibility.obstacle(turn, item):
        scheduler.drop(work_item_id)
        turn.runtime.challengers.pop(work_item_id, None)
        return
    if not scheduler.holds(work_item_id) and not item.runs:
        preemption.challenge(turn, work_item_id)
    assert item.ownership is not None, "an eligible item is owned"
    place = queues.place(
        work_item_id,
        item.ownership.accepted_at,
        item.contract.deadline,
        item.contract.urgency,
        item.sequence,
    )
    class_name = turn.runtime.policy.class_of(item.group_id, work_item_id)
    scheduler.put(class_name, item.group_id, place)


def _count(turn: Turn, item: WorkItem) -> None:
    """Keep count of what was accepted and waits, for admission control."""
    waits = outbox.has_outstanding(turn, item, outbox.ACCEPT) or (
        leases.is_owner(turn, item)
        and item.state in ("queued", "active", "blocked")
        and turn.runtime.run_of(item.work_item_id) is None
        and item.work_item_id not in turn.runtime.claims
    )
    if waits:
        turn.runtime.waiting.put(item.group_id, item.work_item_id)
    else:
        turn.runtime.waiting.drop(item.work_item_id)
