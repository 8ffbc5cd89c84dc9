"""Commands of a Worker that move no WorkItem: Messages, Work Proposals, resource usage.

Checks and effects side by side, because each Command has its own few rules. Never gives a Message
any authority (MWP-MSN-016).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attrs import evolve

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.documents.schemas import DocumentKind, is_valid
from worker_conformance.organization.items import BUDGET_WORDS, USAGE_LIMITS, Item
from worker_conformance.organization.ledger import Cause, Ledger
from worker_conformance.organization.outcomes import Appended
from worker_conformance.organization.refusals import Refusal
from worker_conformance.organization.requests import Request

MESSAGES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "message.post": ("message", "message.posted"),
        "message.correct": ("correction", "message.corrected"),
        "message.retract": ("retraction", "message.retracted"),
    }
)
"""Command kind to the Message's own kind and the Event. Redaction needs a policy reason."""

USAGE_RECORDED = "ext.missionweaveprotocol.core.resource_usage_recorded"


# --- Messages and proposals ---------------------------------------------------------------


def message(ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """A valid Message of this very Group, written by the Worker (MWP-MSN-016, -017)."""
    found = request.document("messageId", "content")
    if found is None:
        return Refusal("INVALID_COMMAND", "the Command carries no Message")
    if not is_valid(DocumentKind.MESSAGE, found):
        return Refusal("SCHEMA_VALIDATION_FAILED", "the Message does not conform to its schema")
    here = (
        found["groupId"] == ledger.group_id
        and found["missionId"] == ledger.names.mission_id(ledger.name)
        and found["kind"] == MESSAGES[request.kind][0]
        and find(found, "author", "id") == ledger.names.agent_id
    )
    return None if here else Refusal("INVALID_COMMAND", "the Message belongs elsewhere")


def post(ledger: Ledger, request: Request, cause: Cause, now: int) -> tuple[Appended, ...]:
    """Commit the Message."""
    found = request.document("messageId", "content") or {}
    kind = MESSAGES[request.kind][1]
    item = request.item
    return (ledger.append(kind, {"message": found}, cause, now, item=item),)


def propose(ledger: Ledger, request: Request, cause: Cause, now: int) -> tuple[Appended, ...]:
    """A Work Proposal: no WorkItem exists yet (PROTOCOL 10.2)."""
    return (ledger.append("work.proposed", dict(request.payload), cause, now),)


# --- resource usage -----------------------------------------------------------------------


def usage(ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """A nonzero delta within the budget: all of it is recorded or nothing (MWP-AUT-005)."""
    delta = usage_delta(request.document("usageDelta"), "usageDelta")
    if request.item is None or not delta:
        return Refusal("INVALID_COMMAND", "the Command carries no usage")
    return over_budget(ledger, request.item, delta)


def record(ledger: Ledger, request: Request, cause: Cause, now: int) -> tuple[Appended, ...]:
    """Charge the WorkItem; its revision does not move."""
    item = request.item
    owner = item.owner if item else None
    if item is None or owner is None or owner.execution is None:
        raise LookupError("the lease was checked before")
    delta = usage_delta(request.document("usageDelta"), "usageDelta")
    return (charge(ledger, item, owner.execution.lease_id, delta, cause, now),)


def charge(
    ledger: Ledger,
    item: Item,
    lease_id: str,
    delta: Mapping[str, float],
    cause: Cause,
    now: int,
) -> Appended:
    """Append what was used, under which lease, and what is left."""
    used = {name: item.usage.get(name, 0) + delta.get(name, 0) for name in USAGE_LIMITS}
    charged = evolve(item, usage=used)
    ledger.usage = {name: ledger.usage.get(name, 0) + delta.get(name, 0) for name in USAGE_LIMITS}
    payload: JsonObject = {
        "workItemId": item.work_item_id,
        "executionLeaseId": lease_id,
        "usageDelta": {name: delta.get(name, 0) for name in USAGE_LIMITS},
        "cumulativeUsage": {**used},
        "remainingBudget": {name: remaining(ledger, charged, name) for name in USAGE_LIMITS},
    }
    return ledger.append(USAGE_RECORDED, payload, cause, now, item=charged)


def usage_delta(document: JsonObject | None, member: str) -> Mapping[str, float]:
    """The six-dimensional delta in a document, without its zeros."""
    given = find(document, member)
    members = given if isinstance(given, dict) else {}
    return {
        name: value
        for name, value in members.items()
        if name in USAGE_LIMITS and isinstance(value, int | float) and value > 0
    }


def over_budget(ledger: Ledger, item: Item, delta: Mapping[str, float]) -> Refusal | None:
    """Whether one dimension would overflow, of the WorkItem or of its Mission (MWP-AUT-005)."""
    for name, used in delta.items():
        if used > remaining(ledger, item, name):
            return Refusal("BUDGET_EXCEEDED", f"the budget for {name} does not cover this")
    return None


def remaining(ledger: Ledger, item: Item, dimension: str) -> float:
    """What may still be used: the contract's rest, and no more than the Mission's."""
    limit = find(item.contract, "budget", USAGE_LIMITS[dimension])
    own = (limit if isinstance(limit, int | float) else 0) - item.usage.get(dimension, 0)
    whole = mission_limit(ledger, dimension)
    return own if whole is None else min(own, whole - ledger.usage.get(dimension, 0))


def mission_limit(ledger: Ledger, dimension: str) -> int | None:
    """What the whole Mission may use of one dimension, where its plan says so."""
    limits = (n for word, n in ledger.plan.budget.items() if BUDGET_WORDS[word] == dimension)
    return next(limits, None)
