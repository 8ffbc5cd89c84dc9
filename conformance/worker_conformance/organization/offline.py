"""Reconciliation of Checkpoints and Messages buffered while a Group was out of reach (11.5).

The Command names the historical lease on purpose; what must hold instead is its binding. Never
revives a lease and never accepts a submission this way.
"""

from __future__ import annotations

from attrs import evolve

from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.organization import checks, moves, payloads, talk
from worker_conformance.organization.commands import recorded_checkpoint
from worker_conformance.organization.items import Item
from worker_conformance.organization.leases import Lease
from worker_conformance.organization.ledger import Cause, Ledger
from worker_conformance.organization.moments import SECOND, moment_of
from worker_conformance.organization.outcomes import Appended
from worker_conformance.organization.refusals import Refusal
from worker_conformance.organization.requests import Request
from worker_conformance.organization.talk import charge, over_budget, usage_delta
from worker_conformance.organization.transitions import ALLOWED, State, Transition

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


def reconcilable(_ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """The work stands as the outage left it: queued by a new session, or active as before."""
    item = request.item
    if item is not None and (item.state, _move(item)) in ALLOWED:
        return None
    return Refusal("INVALID_STATE_TRANSITION", "there is nothing to reconcile")


def _move(item: Item) -> Transition:
    active = item.state is State.ACTIVE
    return Transition.CHECKPOINT if active else Transition.CHECKPOINT_OFFLINE


def historical_lease(item: Item) -> Lease | None:
    """The lease under which the outage began: revoked by the new session, or still the current."""
    return item.unseated or (item.owner.execution if item.owner else None)


def binding(ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """The binding is complete, speaks of this Worker and work, and of the lease that was lost."""
    data, item = request.offline_binding(), request.item
    if data is None or item is None or any(name not in data for name in BINDING_MEMBERS):
        return Refusal("INVALID_COMMAND", "the offline binding is incomplete")
    lease = historical_lease(item)
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
    lease = historical_lease(item) if item else None
    since, buffered = _moment(data, "disconnectedAt"), _moment(data, "bufferedAt")
    grace = ledger.shared.policy.limit("offlineGraceSeconds") * SECOND
    if since is None or buffered is None or lease is None:
        return Refusal("INVALID_COMMAND", "the offline binding carries no usable times")
    if _moment(data, "graceDeadline") != since + grace:
        return Refusal("INVALID_COMMAND", "the grace deadline is not the policy's")
    known = _moment(data, "executionLeaseExpiresAt") or 0
    # Of a renewal whose answer the outage swallowed, the Worker could not learn.
    is_renewed = ledger.shared.organization_renews or lease.renewals > 0
    if known > lease.expires_at or (known < lease.expires_at and not is_renewed):
        return Refusal("INVALID_COMMAND", "the historical lease expired at another time")
    if since <= buffered < min(since + grace, lease.expires_at):
        return None
    return Refusal("WORK_LEASE_EXPIRED", "it was buffered outside the grace of its lease")


def charge_fits(ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """The charge and the progress are one transaction (section 11.5)."""
    if request.item is None:
        return None
    return over_budget(
        ledger, request.item, usage_delta(request.offline_binding(), "resourceUsageDelta")
    )


def in_its_conversation(_ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """A buffered Message belongs to its WorkItem's own Conversation (MWP-WRK-021)."""
    found, item = request.document("messageId", "content"), request.item
    if item is not None and find(found, "conversationId") == item.conversation_id:
        return None
    return Refusal("INVALID_COMMAND", "the Message is outside the WorkItem's Conversation")


CHECKPOINT_CHECKS: tuple[checks.Check, ...] = (
    checks.names_work,
    checks.not_fenced,
    reconcilable,
    checks.owned,
    binding,
    charge_fits,
    window,
    checks.checkpoint,
)

MESSAGE_CHECKS: tuple[checks.Check, ...] = (
    checks.names_work,
    checks.still_owned,
    binding,
    charge_fits,
    window,
    talk.message,
    in_its_conversation,
)


def reconcile(ledger: Ledger, request: Request, cause: Cause, now: int) -> tuple[Appended, ...]:
    """Charge what was used, then record the Checkpoint."""
    charged, item = _charged(ledger, request, cause, now)
    recorded = recorded_checkpoint(request, item, now)
    record = moves.checkpoint if item.state is State.ACTIVE else moves.checkpoint_offline
    moved = record(item, recorded, now)
    payload = payloads.put_down(moved)
    return (*charged, ledger.append("work.checkpointed", payload, cause, now, item=moved.item))


def reconcile_message(
    ledger: Ledger, request: Request, cause: Cause, now: int
) -> tuple[Appended, ...]:
    """Charge what was used, then commit the Message."""
    charged, item = _charged(ledger, request, cause, now)
    return (*charged, *talk.post(ledger, evolve(request, item=item), cause, now))


def _charged(
    ledger: Ledger, request: Request, cause: Cause, now: int
) -> tuple[tuple[Appended, ...], Item]:
    """MWP-WRK-022: a charge of its own where anything was used, before the progress."""
    data, item = request.offline_binding() or {}, request.item
    if item is None:
        raise LookupError("the WorkItem was checked before")
    delta = usage_delta(data, "resourceUsageDelta")
    if not delta:
        return (), item
    lease_id = text_at(data, "executionLeaseId")
    appended = charge(ledger, item, lease_id, delta, cause, now)
    return (appended,), ledger.items[item.name]


def _moment(data: JsonObject, member: str) -> int | None:
    value = find(data, member)
    return moment_of(value) if isinstance(value, str) else None
