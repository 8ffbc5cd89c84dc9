"""Renewal of Execution Leases in use.

Responsible for asking early enough that a lost answer does not lose the lease. Never judges whether
a lease is current; leases.py does.
"""

from __future__ import annotations

from reference_worker import outbox
from reference_worker.leases import current_lease
from reference_worker.records import WorkItem
from reference_worker.turn import Turn

RENEWAL_KIND = "ext.missionweaveprotocol.core.work_execution_lease_renew"
RENEWAL_ATTEMPTS = 4  # resends that fit between half of a lease's time and its end
MICROS_APART_MIN = 1_000  # an Organization that grants next to nothing is not asked in a circle


def review(turn: Turn, item: WorkItem) -> None:
    """Renew a lease in use, early enough for several attempts, and watch its boundaries."""
    lease = current_lease(turn, item)
    if lease is None:
        return
    turn.runtime.timers.set(lease.expires_at, item.work_item_id)
    if item.suspended or outbox.has_outstanding(turn, item, RENEWAL_KIND):
        return
    assert item.ownership is not None, "a leased item has an owner"
    if item.ownership.expires_at <= lease.expires_at:
        return  # running is part of owning: no renewal makes it outlast the ownership
    half = max((lease.expires_at - lease.renewed_at) // 2, MICROS_APART_MIN)
    due = max(lease.renewed_at + half, turn.runtime.renewals.get(lease.lease_id, 0))
    if turn.now < due:
        turn.runtime.timers.set(due, item.work_item_id)
        return
    outbox.propose(
        turn,
        item,
        RENEWAL_KIND,
        {"ownershipEpoch": item.ownership.epoch, "executionLeaseId": lease.lease_id},
        lease_id=lease.lease_id,
        resend_after=max(1, (lease.expires_at - turn.now) // (RENEWAL_ATTEMPTS + 1)),
    )


def postpone(turn: Turn, item: WorkItem) -> None:
    """A renewal was refused: try again later, if there is a later."""
    if item.lease is not None:
        pause = max(1, (item.lease.expires_at - turn.now) // 2)
        turn.runtime.renewals[item.lease.lease_id] = turn.now + pause
