"""Reconciliation of Checkpoints that were buffered while the Group was out of reach (11.5).

The Command names the historical lease on purpose; what must hold instead is its binding. Never
revives a lease and never accepts a submission this way.
"""

from __future__ import annotations

from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.organization import checks, moves, payloads
from worker_conformance.organization.commands import recorded_checkpoint
from worker_conformance.organization.items import Item
from worker_conformance.organization.ledger import Cause, Ledger
from worker_conformance.organization.moments import SECOND, moment_of
from worker_conformance.organization.outcomes import Appended
from worker_conformance.organization.refusals import Refusal
from worker_conformance.organization.requests import Request
from worker_conformance.organization.talk import charge, over_budget, usage_delta
from worker_conformance.organization.transitions import Transition

BINDING_MEMBERS = (
    "agentId",
    "groupId",
    "workItemId",
    "sessionEpoch",
    "ownershipEpoch",
    "executionLeaseId",
    "disconnectedAt",
    "bufferedAt",
    "graceDeadline",
    "executionLeaseExpiresAt",
    "resourceUsageDelta",
)
"""What a binding records (MWP-WRK-021)."""


def is_buffered(request: Request) -> bool:
    """Whether this is a buffered Checkpoint, to be judged by its binding."""
    return request.kind == "work.checkpoint" and request.offline_binding() is not None


def binding(ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """The binding is complete, speaks of this Worker and work, and of the lease that was lost."""
    data, item = request.offline_binding(), request.item
    if data is None or item is None or any(name not in data for name in BINDING_MEMBERS):
        return Refusal("INVALID_COMMAND", "the offline binding is incomplete")
    lease = item.unseated
    if lease is None or data["executionLeaseId"] != lease.lease_id:
        return Refusal("WORK_LEASE_EXPIRED", "the historical lease was closed otherwise")
    about = {
        "agentId": ledger.names.agent_id,
        "groupId": ledger.group_id,
        "workItemId": item.work_item_id,
        "sessionEpoch": lease.session_epoch,
        "ownershipEpoch": lease.ownership_epoch,
    }
    if any(data[name] != value for name, value in about.items()):
        return Refusal("INVALID_COMMAND", "the offline binding speaks of something else")
    return None


def window(ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """It was buffered before the grace and the historical lease had ended."""
    data, item = request.offline_binding() or {}, request.item
    lease = item.unseated if item else None
    since, buffered = _moment(data, "disconnectedAt"), _moment(data, "bufferedAt")
    grace = ledger.shared.policy.limit("offlineGraceSeconds") * SECOND
    if since is None or buffered is None or lease is None:
        return Refusal("INVALID_COMMAND", "the offline binding carries no usable times")
    if _moment(data, "graceDeadline") != since + grace:
        return Refusal("INVALID_COMMAND", "the grace deadline is not the policy's")
    if _moment(data, "executionLeaseExpiresAt") != lease.expires_at:
        return Refusal("INVALID_COMMAND", "the historical lease expired at another time")
    if since <= buffered < min(since + grace, lease.expires_at):
        return None
    return Refusal("WORK_LEASE_EXPIRED", "it was buffered outside the grace of its lease")


def charge_fits(_ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """The charge and the progress are one transaction (section 11.5)."""
    if request.item is None:
        return None
    return over_budget(request.item, usage_delta(request.offline_binding(), "resourceUsageDelta"))


CHECKS: tuple[checks.Check, ...] = (
    checks.names_work,
    checks.not_fenced,
    checks.allowed(Transition.CHECKPOINT_OFFLINE),
    checks.owned,
    binding,
    window,
    checks.checkpoint,
    charge_fits,
)


def reconcile(ledger: Ledger, request: Request, cause: Cause, now: int) -> tuple[Appended, ...]:
    """Charge what was used, then record the Checkpoint."""
    data, item = request.offline_binding() or {}, request.item
    if item is None:
        raise LookupError("the WorkItem was checked before")
    appended: list[Appended] = []
    delta = usage_delta(data, "resourceUsageDelta")
    if delta:
        lease_id = text_at(data, "executionLeaseId")
        appended.append(charge(ledger, item, lease_id, delta, cause, now))
        item = _present(ledger, item)
    moved = moves.checkpoint_offline(item, recorded_checkpoint(request, item, now), now)
    payload = payloads.put_down(moved)
    appended.append(ledger.append("work.checkpointed", payload, cause, now, item=moved.item))
    return tuple(appended)


def _present(ledger: Ledger, item: Item) -> Item:
    return ledger.items[item.name]


def _moment(data: JsonObject, member: str) -> int | None:
    value = find(data, member)
    return moment_of(value) if isinstance(value, str) else None
