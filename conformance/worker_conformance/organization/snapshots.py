"""Group Snapshots: the state that a Group's Events say, hashed and signed by the archive.

Folds the log, so that restoring a Snapshot equals replaying what it stands for. Never cuts the
log.
"""

from __future__ import annotations

from collections.abc import Iterator

from worker_conformance.documents.canonical import sha256_of
from worker_conformance.documents.json_types import (
    JsonObject,
    JsonValue,
    find,
    integer_at,
    text_at,
)
from worker_conformance.documents.schemas import DocumentKind
from worker_conformance.errors import SuiteError
from worker_conformance.organization import contracts
from worker_conformance.organization.forging import altered_signature
from worker_conformance.organization.ledger import Ledger, documents
from worker_conformance.organization.moments import text
from worker_conformance.organization.signatures import signed

FORGERIES = ("true", "signature", "signer", "state_hash", "reference")
"""How a Snapshot can be: true, or with one thing wrong."""

_MISSION_STATES = {
    "mission.submitted_for_approval": "awaiting_approval",
    "mission.approved": "approved",
    "mission.cancelled": "cancelled",
    "mission.terminated": "failed",
}
_ASSIGNED = "mission.coordinator.assigned"
_MISSION_KINDS = frozenset({*_MISSION_STATES, _ASSIGNED, "mission.coordinator.renewed"})
"""Of the Events that change the Mission's document."""


def take(
    ledger: Ledger, through: int, now: int, forged: str = "true"
) -> tuple[JsonObject, JsonObject]:
    """Return the signed Snapshot through a sequence, and the state that its hash covers."""
    if forged not in FORGERIES:
        raise SuiteError("snapshot", f"no such forgery: {forged!r}", ", ".join(FORGERIES))
    state = state_at(ledger, through)
    role = "outsider" if forged == "signer" else "archive"
    covered = {**state, "mission": None} if forged == "state_hash" else state
    draft: JsonObject = {
        "snapshotId": ledger.names.numbered("snapshot", ledger.name, ledger.name, through),
        "groupId": ledger.group_id,
        "throughSequence": through,
        "eventIds": [event["eventId"] for event in ledger.events[:through]],
        "stateHash": sha256_of(covered),
        "policyLog": [_policy_entry(ledger)],
        "createdBy": ledger.shared.keys.actor(role),
        "createdAt": text(now),
    }
    snapshot = signed(DocumentKind.GROUP_SNAPSHOT, draft, ledger.shared.keys[role])
    if forged == "signature":
        snapshot = altered_signature(snapshot)
    return snapshot, state


def cursor_too_old(ledger: Ledger, snapshot: JsonObject, now: int) -> JsonObject:
    """The ERROR frame that answers a SUBSCRIBE below the online log (PROTOCOL 16)."""
    return {
        "protocolVersion": "0.1",
        "frameId": ledger.names.frame_id(f"{text_at(snapshot, 'snapshotId').split(':')[-1]}-{now}"),
        "frameType": "ERROR",
        "error": {
            "code": "CURSOR_TOO_OLD",
            "message": "the online log no longer reaches back to this position",
            "retryable": False,
            "groupId": ledger.group_id,
            "snapshotArtifactHash": sha256_of(snapshot),
            "occurredAt": text(now),
        },
    }


def state_at(ledger: Ledger, through: int) -> JsonObject:
    """What Events 1 to `through` say, as the Port's `snapshot` stimulus carries it."""
    state, epoch = "active", 1
    mission = contracts.mission(ledger.plan, ledger.names, state, 1, epoch)
    items: dict[str, JsonObject] = {}
    leases: dict[str, JsonObject] = {}
    checkpoints: dict[str, JsonObject] = {}
    approvals: list[JsonObject] = []
    artifacts: dict[str, JsonObject] = {}
    membership = ledger.first_membership.document(ledger.plan, ledger.names)
    for event in ledger.events[:through]:
        payload, kind = event["payload"], str(event["kind"])
        if event["sequence"] in ledger.misfiled:
            continue
        for item in _items(payload):
            items[text_at(item, "workItemId")] = item
        for lease in _objects(find(payload, "leases")):
            leases[text_at(lease, "leaseId")] = lease
        checkpoint = find(payload, "checkpoint")
        if isinstance(checkpoint, dict):
            checkpoints[text_at(checkpoint, "workItemId")] = checkpoint
        changed = find(payload, "membership")
        membership = changed if isinstance(changed, dict) else membership
        if kind == "approval.execution.granted" and isinstance(payload, dict):
            approvals.append(payload)
        if kind == "artifact.published":
            artifact_id = text_at(payload, "artifactId")
            artifacts[artifact_id] = ledger.manifests[artifact_id]
        if kind in _MISSION_KINDS:
            state, epoch = _MISSION_STATES.get(kind, state), epoch + (kind == _ASSIGNED)
            revision = integer_at(event, "aggregateRevision")
            mission = contracts.mission(ledger.plan, ledger.names, state, revision, epoch)
    return {
        "mission": mission,
        "workItems": documents(items.values()),
        "leases": documents(leases.values()),
        "memberships": [membership],
        "approvals": documents(approvals),
        "checkpoints": documents(checkpoints.values()),
        "artifacts": documents(artifacts.values()),
    }


def _items(payload: JsonValue) -> Iterator[JsonObject]:
    item = find(payload, "workItem")
    if isinstance(item, dict):
        yield item
    yield from _objects(find(payload, "workItems"))


def _objects(value: JsonValue) -> Iterator[JsonObject]:
    for one in value if isinstance(value, list) else ():
        if isinstance(one, dict):
            yield one


def _policy_entry(ledger: Ledger) -> JsonObject:
    return {
        "entryId": ledger.names.numbered("policy-entry", ledger.name, ledger.name, 1),
        "decision": "The Group's log may be compacted.",
        "actor": ledger.shared.keys.actor("group-authority"),
        "occurredAt": text(0),
        "details": {},
    }
