"""Event payloads: which documents and flat members each kind of Event carries.

The table of the Worker Port, as functions. Never appends and never changes an item.
"""

from __future__ import annotations

from collections.abc import Iterable

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.organization.items import Item
from worker_conformance.organization.leases import Lease
from worker_conformance.organization.ledger import documents
from worker_conformance.organization.moments import text
from worker_conformance.organization.moves import Moved


def leases_of(leases: Iterable[Lease]) -> JsonObject:
    """The `leases` member: every lease that the transition opened, renewed or closed."""
    return {"leases": documents(lease.document() for lease in leases)}


def authorized(item: Item) -> JsonObject:
    """`work.authorized`."""
    return {"workItem": item.document(), "workItemId": item.work_item_id}


def offer_created(moved: Moved, checkpoint: JsonObject | None) -> JsonObject:
    """`work.offer.created`, with the Checkpoint that it says is the item's latest.

    A former owner's leases end with it (MWP-WRK-014).
    """
    item = moved.item
    return {
        "workItem": item.document(),
        **(leases_of(moved.leases) if moved.leases else {}),
        "workItemId": item.work_item_id,
        "selectionBasis": item.selection_basis,
        **_latest_checkpoint(checkpoint),
    }


def offer_accepted(moved: Moved) -> JsonObject:
    """`work.offer.accepted`."""
    owner = moved.leases[0]
    return {
        "workItem": moved.item.document(),
        **leases_of(moved.leases),
        **_latest_checkpoint(moved.item.checkpoint),
        "workItemId": moved.item.work_item_id,
        "assigneeId": owner.holder,
        "ownershipEpoch": owner.ownership_epoch,
    }


def contract_revised(item: Item) -> JsonObject:
    """`work.contract.revised`."""
    return {"workItem": item.document()}


def approval_granted(approval: JsonObject, item: Item, epoch: int, expires_at: int) -> JsonObject:
    """`approval.execution.granted`."""
    return {
        "approval": approval,
        "workItemId": item.work_item_id,
        "ownershipEpoch": epoch,
        "expiresAt": text(expires_at),
    }


def started(moved: Moved) -> JsonObject:
    """`work.started`."""
    lease = moved.leases[0]
    return {
        "workItem": moved.item.document(),
        **leases_of(moved.leases),
        "ownershipEpoch": lease.ownership_epoch,
        "executionLeaseId": lease.lease_id,
    }


def changed(moved: Moved, reason: str | None = None) -> JsonObject:
    """The item and its leases: progress, unblocking, submission and every end of work."""
    payload: JsonObject = {"workItem": moved.item.document(), **leases_of(moved.leases)}
    return payload if reason is None else {**payload, "reason": reason}


def put_down(moved: Moved, reason: str | None = None) -> JsonObject:
    """`work.checkpointed`, `work.blocked`: the same with the Checkpoint."""
    return {**changed(moved, reason), "checkpoint": moved.item.checkpoint}


def many_changed(moved: Iterable[Moved], reason: str) -> JsonObject:
    """The end of a Mission, or a promotion: all changed items and leases."""
    all_moved = tuple(moved)
    return {
        "workItems": documents(one.item.document() for one in all_moved),
        **leases_of(lease for one in all_moved for lease in one.leases),
        "reason": reason,
    }


def _latest_checkpoint(checkpoint: JsonObject | None) -> JsonObject:
    return {} if checkpoint is None else {"latestCheckpoint": checkpoint}
