"""What an accepted Command about work does: the Events it causes and the item's next value.

Runs only after every check of its door has passed. Never refuses anything.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from worker_conformance.documents.json_types import JsonObject, JsonValue, text_at
from worker_conformance.organization import checks, moves, payloads
from worker_conformance.organization.acts import membership_payload
from worker_conformance.organization.items import Item
from worker_conformance.organization.ledger import Cause, Ledger
from worker_conformance.organization.moments import text
from worker_conformance.organization.outcomes import Appended
from worker_conformance.organization.requests import Request
from worker_conformance.organization.transitions import Transition
from worker_conformance.scenario.model import LEASE_SECONDS

Effect = Callable[[Ledger, Request, Cause, int], tuple[Appended, ...]]

LEASE_WISH = "executionLeaseSeconds"
"""A Worker may ask for a shorter Execution Lease; the plan's length is the Authority's limit."""


def cause_of(request: Request) -> Cause:
    """The Worker's Command as the cause of Events."""
    command = request.command
    actor = command["actor"]
    return Cause(
        by="worker",
        actor=dict(actor) if isinstance(actor, dict) else {},
        action_id=request.action_id,
        correlation_id=text_at(command, "correlationId"),
    )


def accept_offer(ledger: Ledger, request: Request, cause: Cause, now: int) -> tuple[Appended, ...]:
    """Ownership begins, and a provisional Membership becomes active (MWP-MSN-011)."""
    item, offer = _item(request), request.offer()
    if offer is None:
        raise LookupError("the offer was checked before")
    appended: list[Appended] = []
    if ledger.membership.state == "provisional":
        ledger.membership = ledger.membership.activated(now)
        payload = membership_payload(ledger)
        appended.append(ledger.append("membership.changed", payload, cause, now))
    moved = moves.accept_offer(item, offer, ledger.shared.worker(), ledger.next_lease_id(item), now)
    payload = payloads.offer_accepted(moved)
    appended.append(ledger.append("work.offer.accepted", payload, cause, now, item=moved.item))
    return tuple(appended)


def start(ledger: Ledger, request: Request, cause: Cause, now: int) -> tuple[Appended, ...]:
    """Execution begins under a new lease."""
    item = _item(request)
    lease_id, seconds = ledger.next_lease_id(item), _lease_seconds(request)
    moved = moves.start(item, ledger.shared.worker(), lease_id, seconds, now)
    payload = payloads.started(moved)
    event = ledger.append("work.started", payload, cause, now, item=moved.item, lease=lease_id)
    return (event,)


def renew(ledger: Ledger, request: Request, cause: Cause, now: int) -> tuple[Appended, ...]:
    """The Execution Lease runs longer."""
    return (renewal(ledger, _item(request), _lease_seconds(request), cause, now),)


def renewal(ledger: Ledger, item: Item, seconds: float, cause: Cause, now: int) -> Appended:
    """Renew an Execution Lease: `work.progressed` is the fact (section 15.2)."""
    moved = moves.renew(item, seconds, now)
    return ledger.append("work.progressed", payloads.changed(moved), cause, now, item=moved.item)


def checkpoint(ledger: Ledger, request: Request, cause: Cause, now: int) -> tuple[Appended, ...]:
    """Progress is durable; the work is queued again."""
    item = _item(request)
    moved = moves.checkpoint(item, recorded_checkpoint(request, item, now), now)
    payload = payloads.put_down(moved)
    return (ledger.append("work.checkpointed", payload, cause, now, item=moved.item),)


def block(ledger: Ledger, request: Request, cause: Cause, now: int) -> tuple[Appended, ...]:
    """The work waits for its resolution."""
    item = _item(request)
    recorded = recorded_checkpoint(request, item, now)
    moved = moves.block(item, recorded, ledger.next_lease_id(item), now)
    reason = request.payload.get("reason") or request.payload.get("requiredResolution")
    payload = payloads.put_down(moved, str(reason))
    return (ledger.append("work.blocked", payload, cause, now, item=moved.item),)


def recorded_checkpoint(request: Request, item: Item, now: int) -> JsonObject:
    """The Checkpoint as Events carry it; epoch and lease are the Authority's own facts."""
    named = request.document("checkpointId", "checkpointHash") or {}
    lease = item.owner.execution if item.owner else None
    lease = lease or item.unseated
    return {
        "checkpointId": named["checkpointId"],
        "workItemId": item.work_item_id,
        "ownershipEpoch": item.epoch,
        "executionLeaseId": lease.lease_id if lease else item.lease_ids[-1],
        "checkpointHash": named["checkpointHash"],
        "recordedAt": text(now),
    }


def publish(ledger: Ledger, request: Request, cause: Cause, now: int) -> tuple[Appended, ...]:
    """The manifest is kept; the item's revision does not move."""
    item, manifest = _item(request), request.document("artifactId", "contentHash") or {}
    artifact_id, content = str(manifest["artifactId"]), str(manifest["contentHash"])
    ledger.manifests[artifact_id] = manifest
    item = evolve(item, artifacts={**item.artifacts, artifact_id: content})
    payload: JsonObject = {"artifactId": artifact_id, "contentHash": content}
    return (ledger.append("artifact.published", payload, cause, now, item=item),)


def submit(ledger: Ledger, request: Request, cause: Cause, now: int) -> tuple[Appended, ...]:
    """The result awaits the Coordinator."""
    hashes: list[JsonValue] = list(dict.fromkeys(checks.published(request)))
    evidence = request.documents("evidenceId", "criterionIds")
    identifiers: list[JsonValue] = list(dict.fromkeys(str(one["evidenceId"]) for one in evidence))
    submission: JsonObject = {
        "artifactHashes": hashes,
        "evidenceIds": identifiers,
        "submittedAt": text(now),
    }
    moved = moves.submit(_item(request), submission, now)
    payload = payloads.changed(moved)
    return (ledger.append("work.submitted", payload, cause, now, item=moved.item),)


def fail(ledger: Ledger, request: Request, cause: Cause, now: int) -> tuple[Appended, ...]:
    """The Worker gives the work back."""
    reason = request.payload.get("reason")
    said = reason if isinstance(reason, str) and reason.strip() else "reported by the Worker"
    moved = moves.end(_item(request), Transition.FAIL, said[:500], now)
    payload = payloads.changed(moved, said)
    return (ledger.append("work.failed", payload, cause, now, item=moved.item),)


def _lease_seconds(request: Request) -> float:
    """A wish may shorten a lease of the ordinary length; one that a scenario is about stays."""
    limit = _item(request).plan.lease_seconds
    wish = request.payload.get(LEASE_WISH)
    if limit != LEASE_SECONDS or isinstance(wish, bool) or not isinstance(wish, int | float):
        return limit
    return min(float(wish), limit) if wish > 0 else limit


def _item(request: Request) -> Item:
    if request.item is None:
        raise LookupError(f"{request.kind} without a WorkItem")
    return request.item
