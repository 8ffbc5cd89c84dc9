"""Capacity Slots: what runs, and how a slot becomes free again.

Responsible for the moves of a slot from `run` to `release` (MWP-WRK-011, MWP-WRK-015) and for
filling free slots. Never chooses among Groups; the Scheduler does.
"""

from __future__ import annotations

from collections.abc import Mapping

from reference_worker import disclosure, eligibility, leases, offline, outbox
from reference_worker.documents import Document, sha256
from reference_worker.records import WorkItem
from reference_worker.runtime import Phase, Run
from reference_worker.turn import Turn

# What each signal does to a slot; a signal that is not listed for a phase is ignored. None: free.
MOVES: Mapping[tuple[Phase, str], Phase | None] = {
    (Phase.RUNNING, "preempt"): Phase.PREEMPTING,
    (Phase.RUNNING, "close"): Phase.CLOSING,
    (Phase.RUNNING, "lease lost"): None,
    (Phase.RUNNING, "retry"): None,
    (Phase.PREEMPTING, "withdraw"): Phase.RUNNING,
    (Phase.PREEMPTING, "safe point"): Phase.CHECKPOINTING,
    (Phase.PREEMPTING, "close"): Phase.CLOSING,
    (Phase.PREEMPTING, "lease lost"): None,
    (Phase.PREEMPTING, "retry"): None,
    (Phase.CHECKPOINTING, "refused"): Phase.RUNNING,
    (Phase.CHECKPOINTING, "checkpointed"): None,
    (Phase.CHECKPOINTING, "buffered"): None,
    (Phase.CHECKPOINTING, "lease lost"): None,
    (Phase.CLOSING, "closed"): None,
    (Phase.CLOSING, "refused"): None,
    (Phase.CLOSING, "lease lost"): None,
}
# What the executor is told when a slot becomes free.
FAREWELLS: Mapping[tuple[Phase, str], tuple[str, ...]] = {
    (Phase.RUNNING, "lease lost"): ("cancel", "release"),
    (Phase.PREEMPTING, "lease lost"): ("cancel", "release"),
    (Phase.CHECKPOINTING, "lease lost"): ("cancel", "release"),
    (Phase.CHECKPOINTING, "checkpointed"): ("pause", "release"),
    (Phase.CHECKPOINTING, "buffered"): ("pause", "release"),
}


def move(turn: Turn, run: Run, signal: str) -> bool:
    """Apply one row of MOVES; False where the signal means nothing in this phase."""
    if (run.phase, signal) not in MOVES:
        return False
    after = MOVES[run.phase, signal]
    if after is not None:
        run.phase = after
        return True
    for effect in FAREWELLS.get((run.phase, signal), ("release",)):
        tell(turn, run, effect)
    del turn.runtime.runs[run.slot_id]
    turn.touch(run.work_item_id)
    return True


def tell(turn: Turn, run: Run, effect: str) -> None:
    """Speak to the executor of a slot."""
    turn.emit({"type": effect, "slotId": run.slot_id, "workItemId": run.work_item_id})


def review(turn: Turn, run: Run) -> None:
    """Free the slot whose lease or whose grace is over, saying why."""
    item = turn.item(run.work_item_id)
    if item is not None and _may_go_on(turn, run, item):
        return
    if run.phase is Phase.CLOSING:
        move(turn, run, "closed")
    elif (
        run.phase is Phase.CHECKPOINTING and item is not None and _is_checkpointed(turn, run, item)
    ):
        turn.change(item, pauses=item.pauses + 1)
        move(turn, run, "checkpointed")
    else:
        move(turn, run, "lease lost")


def _may_go_on(turn: Turn, run: Run, item: WorkItem) -> bool:
    deadline = offline.grace_deadline(turn, run.group_id)
    if deadline is not None:  # MWP-WRK-020: bounded, whatever the lease says
        turn.runtime.timers.set(max(deadline, turn.now + 1), run.work_item_id)
        return goes_on_offline(turn, run, item)
    lease = leases.current_lease(turn, item)
    return lease is not None and lease.lease_id == run.lease_id


def goes_on_offline(turn: Turn, run: Run, item: WorkItem) -> bool:
    """Reversible computation may outlast its lease while the service is away."""
    return (
        offline.is_in_grace(turn, run.group_id)
        and not turn.projection.session.fenced_by
        and leases.is_member(turn, run.group_id)
        and item.lease is not None
        and item.lease.lease_id == run.lease_id
    )


def _is_checkpointed(turn: Turn, run: Run, item: WorkItem) -> bool:
    return (
        item.checkpoint is not None
        and item.checkpoint == run.reported
        and item.state == "queued"
        and leases.is_owner(turn, item)
    )


def free(turn: Turn) -> int:
    """Slots that are neither used, nor promised to a start under way, nor claimed.

    A claim that its Group's quota holds back keeps no slot from other Groups.
    """
    runtime = turn.runtime
    claimed = sum(_may_run(turn, work_item_id) for work_item_id in runtime.claims)
    return runtime.agent.slots_max - len(runtime.runs) - len(runtime.reservations) - claimed


def fill(turn: Turn) -> None:
    """Run what already holds a lease, then start what the Scheduler says, while slots are free."""
    for work_item_id in list(turn.runtime.claims):
        if len(turn.runtime.runs) < turn.runtime.agent.slots_max and _may_run(turn, work_item_id):
            del turn.runtime.claims[work_item_id]
            item = turn.item(work_item_id)
            assert item is not None, "a claim is dropped with its item"
            _run(turn, item)
    for group_id in turn.runtime.scheduler.held_back():
        refresh_group(turn, group_id)
    while free(turn) > 0:
        chosen = next_choice(turn)
        if chosen is None:
            return
        _start(turn, chosen[0])


def _start(turn: Turn, work_item_id: str) -> None:
    item = turn.item(work_item_id)
    assert item is not None, "what is queued is known"
    assert item.ownership is not None, "what is queued is owned"
    flow = turn.runtime.scheduler.charge(work_item_id)
    turn.runtime.reservations[work_item_id] = flow
    turn.runtime.challengers.pop(work_item_id, None)
    outbox.propose(turn, item, outbox.START, {"ownershipEpoch": item.ownership.epoch})
    refresh_group(turn, item.group_id)


def next_choice(turn: Turn) -> tuple[str, str] | None:
    """The item that the Scheduler would start now and its class, of a Group that may start any.

    Groups are asked about as they come to the head. To close one earlier would change nothing: a
    flow that is not at the head is not behind virtual time, so that it loses no credit by closing.
    """
    while (chosen := turn.runtime.scheduler.next()) is not None:
        item = turn.item(chosen[0])
        assert item is not None, "what is queued is known"
        if refresh_group(turn, item.group_id):
            return chosen
    return None


def refresh_group(turn: Turn, group_id: str) -> bool:
    """Tell the Scheduler whether one Group may be dispatched from; returns the same."""
    group = turn.group(group_id)
    is_open = (
        group is not None
        and turn.is_live(group_id)
        and leases.is_member(turn, group_id)
        and group.membership_state != "stale"
        and turn.now >= group.paused_until
        and _is_below_quota(turn, group_id)
    )
    turn.runtime.scheduler.set_open(group_id, is_open=is_open)
    return is_open


def _is_below_quota(turn: Turn, group_id: str) -> bool:
    quota = turn.runtime.policy.quota(group_id)
    if quota is None:
        return True
    claims = sum(item.group_id == group_id for item in _claiming(turn))
    # A quota lowered later stops new starts and kills nothing.
    return _promised(turn, group_id) + claims < quota


def _may_run(turn: Turn, work_item_id: str) -> bool:
    """Whether the quota has room (MWP-WRK-010).

    Work that failed gave its place up, and waits for another one to be tried again in.
    """
    item = turn.item(work_item_id)
    assert item is not None, "a claim is dropped with its item"
    quota = turn.runtime.policy.quota(item.group_id)
    if quota is None or not _waits_for_retry(item):
        return True  # what was started had its place when the start was asked for
    started = sum(
        one.group_id == item.group_id and not _waits_for_retry(one) for one in _claiming(turn)
    )
    return _promised(turn, item.group_id) + started < quota


def _waits_for_retry(item: WorkItem) -> bool:
    """True for work that has failed under the lease that it still holds."""
    return item.lease is not None and item.lease.lease_id == item.failed_under


def _promised(turn: Turn, group_id: str) -> int:
    """The slots that a Group has, or has asked for."""
    runtime = turn.runtime
    asked = sum(flow[0] == group_id for flow in runtime.reservations.values())
    return asked + sum(run.group_id == group_id for run in runtime.runs.values())


def _claiming(turn: Turn) -> list[WorkItem]:
    items = (turn.item(work_item_id) for work_item_id in turn.runtime.claims)
    return [item for item in items if item is not None]


def claim(turn: Turn, item: WorkItem) -> None:
    """An item that holds a current lease and no slot wants the next one."""
    lease = leases.current_lease(turn, item)
    wants = (
        lease is not None
        and turn.runtime.run_of(item.work_item_id) is None
        and not item.suspended
        and eligibility.unfit(turn, item) is None
        and not eligibility.is_unaffordable(turn, item)  # MWP-AUT-004
        and turn.now >= item.not_before
        and turn.is_live(item.group_id)
        and not outbox.has_outstanding(turn, item, *outbox.CLOSING_KINDS, outbox.CHECKPOINT)
    )
    if wants:
        turn.runtime.claims[item.work_item_id] = None
    else:
        turn.runtime.claims.pop(item.work_item_id, None)
        if lease is not None and turn.now < item.not_before:
            turn.runtime.timers.set(item.not_before, item.work_item_id)
        if item.lease is not None and turn.now < item.lease.starts_at:
            turn.runtime.timers.set(item.lease.starts_at, item.work_item_id)


def _run(turn: Turn, item: WorkItem) -> None:
    lease, runtime = leases.current_lease(turn, item), turn.runtime
    assert lease is not None, "only a leased item is run"  # MWP-WRK-013
    taken = set(runtime.runs)
    slot_id = next(f"s{n}" for n in range(1, runtime.agent.slots_max + 1) if f"s{n}" not in taken)
    runtime.runs[slot_id] = Run(
        slot_id=slot_id,
        group_id=item.group_id,
        work_item_id=item.work_item_id,
        lease_id=lease.lease_id,
        ownership_epoch=lease.ownership_epoch,
        began_at=turn.now,
        occasion=runtime.occasion(),
    )
    effect: Document = {
        "type": "run",
        "slotId": slot_id,
        "groupId": item.group_id,
        "workItemId": item.work_item_id,
        "leaseId": lease.lease_id,
        "context": _context(turn, item),
    }
    if item.checkpoint is not None:
        effect["resumeFrom"] = {
            "checkpointId": item.checkpoint.checkpoint_id,
            "checkpointHash": item.checkpoint.checkpoint_hash,
        }
    earlier = dict(item.spent)
    for name, used in item.spending:
        earlier[name] = earlier.get(name, 0) + used
    turn.change(
        item,
        runs=item.runs + 1,
        failed_under="",
        spent=tuple(earlier.items()),
        spending=(),
    )
    turn.emit(effect)
    disclosure.publish(turn, item)


def _context(turn: Turn, item: WorkItem) -> Document:
    """What the slot may see: this Group's and nothing else's, built anew for every run."""
    own = turn.runtime.contexts.get(item.group_id)
    scope = f"{turn.projection.session.agent_id}\n{item.mission_id}\n{item.group_id}"
    return {  # MWP-WRK-011, MWP-WRK-028
        "missionContext": own.mission_context if own else {},
        "credentials": own.credentials if own else {},
        "budget": item.contract.limits(),
        "sideEffectScope": f"scope:{sha256(scope.encode())[7:47]}",
    }
