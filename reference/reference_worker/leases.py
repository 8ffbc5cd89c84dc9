"""Execution Leases and ownership: whether they are current.

Responsible for MWP-WRK-013 and MWP-WRK-014: nothing runs and nothing is said under a lease that is
not granted to this Agent, this Session Epoch and this Ownership Epoch, or whose time is over.
Never frees a slot and never renews; slots.py and renewals.py do.
"""

from __future__ import annotations

from reference_worker.records import ExecutionLease, WorkItem
from reference_worker.turn import Turn


def is_owner(turn: Turn, item: WorkItem) -> bool:
    """True if the item's current ownership is this Agent's."""
    return (
        item.ownership is not None and item.ownership.agent_id == turn.projection.session.agent_id
    )


def current_lease(turn: Turn, item: WorkItem) -> ExecutionLease | None:
    """The Execution Lease under which the item may run at this instant, or None."""
    lease, session = item.lease, turn.projection.session
    if lease is None or item.state != "active" or not is_owner(turn, item) or session.fenced_by:
        return None
    assert item.ownership is not None, "an owner has an ownership"
    bound = (
        lease.session_epoch == session.session_epoch
        and lease.ownership_epoch == item.ownership.epoch
        and lease.starts_at <= turn.now < lease.expires_at
    )
    return lease if bound and is_member(turn, item.group_id) else None


def is_member(turn: Turn, group_id: str) -> bool:
    """True while this Agent's Membership in the Group and the Group's Mission are alive."""
    group = turn.group(group_id)
    return (
        group is not None
        and not group.mission_ended
        and (
            group.membership_state in ("active", "stale")
            or (group.membership_state == "provisional" and turn.now < group.provisional_until)
        )
    )


def is_queued(turn: Turn, item: WorkItem) -> bool:
    """True for owned work that waits to be started."""
    return item.state == "queued" or _is_revoked_by_session(turn, item)


def _is_revoked_by_session(turn: Turn, item: WorkItem) -> bool:
    """True for an item that a former session ran: it is queued again (MWP-WRK-014)."""
    lease = item.lease
    return (
        item.state == "active"
        and lease is not None
        and lease.session_epoch < turn.projection.session.session_epoch
    )
