"""Reading WorkItem documents into records.

Responsible for what a WorkItem, its Work Contract, its offers and its leases mean for this Worker.
Never acts on them; admission, the Scheduler and the slots do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from reference_worker.documents import Document
from reference_worker.instants import NEVER, duration, micros
from reference_worker.records import (
    CLOSED,
    Checkpoint,
    Contract,
    ExecutionLease,
    Offer,
    Ownership,
    shared,
)

BOUNDED_OFFLINE_EXECUTION = "urn:missionweaveprotocol:extension:bounded-offline-execution"
# One encoder for all contracts: making one takes as long as using it.
_ENCODE = json.JSONEncoder(sort_keys=True, check_circular=False).encode
KNOWN_EXTENSIONS = frozenset({BOUNDED_OFFLINE_EXECUTION})


def has_critical_extension(*documents: Document) -> bool:
    """True if any document depends on a critical extension that this Worker does not know."""
    return any(
        extension["critical"] and uri not in KNOWN_EXTENSIONS  # MWP-EXT-002
        for document in documents
        for uri, extension in document.get("extensions", {}).items()
    )


def read_contract(document: Document) -> Contract:
    """The Contract record of a schema-valid Work Contract."""
    retry, deliverable = document["retryPolicy"], document["requiredDeliverables"][0]
    return Contract(
        version=document["contractVersion"],
        deadline=micros(document["deadline"]),
        urgency=shared(document["requestedUrgency"]),
        risk=shared(document["sideEffectRisk"]),
        approval=shared(document["executionApproval"]),
        capabilities=shared(
            tuple((c["id"], c["version"]) for c in document["requiredCapabilities"])
        ),
        dependencies=tuple(document["dependencyWorkItemIds"]),
        budget=shared(tuple(document["budget"].items())),
        criteria=shared(tuple(c["criterionId"] for c in document["acceptanceCriteria"])),
        attempts_max=retry["maxAttempts"],
        backoff=shared(retry["backoff"]),
        delay_max=duration(retry["maxDelay"]),
        retryable=shared(tuple(retry["retryableFailures"])),
        inputs=tuple(document["inputArtifacts"]),
        deliverable=shared((deliverable["mediaType"], deliverable["schema"])),
        terms=_terms(document),
        critical_extension=has_critical_extension(document),
    )


def _terms(document: Document) -> str:
    """What the owner agreed to. Inserting a dependency changes the plan, not the obligation."""
    terms = {**document, "contractVersion": None, "dependencyWorkItemIds": None}
    return hashlib.sha256(_ENCODE(terms).encode()).hexdigest()[:32]


def read_offer(document: Document, agent_id: str) -> Offer | None:
    """The pending offer to this Agent, if the WorkItem carries one."""
    if document["state"] != "offered":
        return None
    for offer in document.get("offers", ()):
        if offer["agentId"] == agent_id and offer["status"] == "pending":
            return Offer(offer["offerId"], offer["agentCardVersion"], micros(offer["expiresAt"]))
    return None


def read_ownership(
    document: Document, leases: Iterable[Document], terms: str, known: Ownership | None
) -> Ownership | None:
    """The ownership that the WorkItem names, with its lease's boundaries where they are known."""
    owner = document.get("owner")
    if owner is None:
        return None
    if known is None or known.epoch != owner["ownershipEpoch"]:
        known = None
    expires_at, start_by = (known.expires_at, known.start_by) if known else (NEVER, NEVER)
    for lease in leases:
        if lease["leaseType"] == "ownership" and lease["leaseId"] == owner["ownershipLeaseId"]:
            expires_at = micros(lease["expiresAt"]) if lease["state"] == "active" else 0
            start_by = micros(lease["startBy"])
    return Ownership(
        agent_id=owner["agentId"],
        epoch=owner["ownershipEpoch"],
        lease_id=owner["ownershipLeaseId"],
        card_version=owner["agentCardVersion"],
        pins=shared(tuple((c["id"], c["version"]) for c in owner["capabilityPins"])),
        accepted_at=micros(owner["acceptedAt"]),
        terms=known.terms if known else terms,
        expires_at=expires_at,
        start_by=start_by,
    )


def read_execution_lease(
    document: Document, leases: Iterable[Document], known: ExecutionLease | None, *, opens: bool
) -> ExecutionLease | None:
    """The Execution Lease under which the owner may run, or None.

    `opens` says whether the fact may open a lease; any other may only renew or close the known one.
    """
    if document["state"] != "active":
        return None
    current = known
    for lease in leases:
        if lease["leaseType"] != "execution" or lease.get("workItemId") != document["workItemId"]:
            continue
        is_known = current is not None and lease["leaseId"] == current.lease_id
        renews = is_known and current is not None and current.expires_at != CLOSED
        if renews or (opens and lease["state"] == "active"):
            current = _lease(document, lease)
    return current


def _lease(document: Document, lease: Document) -> ExecutionLease | None:
    owner = document["owner"]
    bound = (  # MWP-WRK-013: every binding, each one alone refuses the lease
        lease["state"] == "active"
        and lease["holderAgentId"] == owner["agentId"]
        and lease["ownershipEpoch"] == owner["ownershipEpoch"]
        and lease["groupId"] == document["groupId"]
        and lease["missionId"] == document["missionId"]
    )
    if not bound:
        return None
    return ExecutionLease(
        lease_id=lease["leaseId"],
        session_epoch=lease["sessionEpoch"],
        ownership_epoch=lease["ownershipEpoch"],
        starts_at=micros(lease["startsAt"]),
        renewed_at=micros(lease["lastRenewedAt"] if lease["renewalCount"] else lease["startsAt"]),
        expires_at=micros(lease["expiresAt"]),
    )


def read_checkpoint(document: object, work_item_id: str) -> Checkpoint | None:
    """A Checkpoint of that WorkItem, or None for anything else."""
    if not isinstance(document, dict) or document.get("workItemId", work_item_id) != work_item_id:
        return None
    identifier, content_hash = document.get("checkpointId"), document.get("checkpointHash")
    if not isinstance(identifier, str) or not isinstance(content_hash, str):
        return None
    return Checkpoint(identifier, content_hash)
