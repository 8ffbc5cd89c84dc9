"""A signed history of any length for the benchmarks, and the `start` that goes with it.

Responsible for Events as a Group Authority would write them: whole lives of WorkItems, queued
WorkItems, or Messages. Deterministic, and no judge of anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from reference_worker.documents import encode_base64url, sha256
from reference_worker.instants import MICROS, micros, spell
from reference_worker.signatures import SigningKey

Json = dict[str, Any]
START = micros("2026-07-15T00:00:00Z")
WORKER = "urn:bench:agent:w"
AUTHORITY = "urn:bench:service:authority"
CAPABILITIES = [{"id": "acme.build", "version": "2.1.0"}]
LIFE = ("offered", "accepted", "started", "published", "submitted", "verified")


def _seed(name: str) -> bytes:
    return bytes.fromhex(sha256(name.encode())[7:])


def _binding(name: str, kind: str, principal: str) -> Json:
    public = Ed25519PrivateKey.from_private_bytes(_seed(name)).public_key().public_bytes_raw()
    return {
        "keyId": f"urn:bench:key:{name}",
        "principal": {"type": kind, "id": principal},
        "algorithm": "Ed25519",
        "publicKey": encode_base64url(public),
        "validFrom": "2020-01-01T00:00:00Z",
    }


def group_id(number: int) -> str:
    """The ID of a Group."""
    return f"urn:bench:group:{number}"


def _membership(number: int) -> Json:
    return {
        "membershipId": f"urn:bench:membership:{number}",
        "missionId": f"urn:bench:mission:{number}",
        "groupId": group_id(number),
        "member": {"type": "agent", "id": WORKER},
        "role": "worker",
        "state": "active",
        "membershipEpoch": 1,
        "scopes": ["work.accept_offer", "work.execute"],
        "visibilityStartSequence": 0,
        "grantedAt": spell(START),
        "activatedAt": spell(START),
    }


def start(directory: Path, groups: int, slots: int = 4) -> Json:
    """The `start` of a Worker that is a member of so many Groups."""
    return {
        "type": "start",
        "now": spell(START),
        "stateDirectory": str(directory),
        "seed": 1,
        "agent": {
            "agentId": WORKER,
            "keyId": "urn:bench:key:w",
            "privateKey": encode_base64url(_seed("w")),
            "agentCardVersion": 3,
            "capabilities": CAPABILITIES,
            "maxConcurrency": slots,
        },
        "sessionEpoch": 1,
        "organization": {
            "organizationId": "urn:bench:organization",
            "keys": [
                _binding("authority", "service", AUTHORITY),
                _binding("w", "agent", WORKER),
            ],
            "authorized": {"eventAuthority": [AUTHORITY]},
            "policy": {
                "policyVersion": 1,
                "priorityClasses": ["standard"],
                "groups": {
                    group_id(n): {"weight": 1 + n % 3, "priorityClass": "standard"}
                    for n in range(groups)
                },
                "workItems": {},
                "limits": {"maxQueuedItems": 10**6},
            },
        },
        "groups": [
            {
                "groupId": group_id(n),
                "missionId": f"urn:bench:mission:{n}",
                "conversationId": f"urn:bench:conversation:{n}",
                "membership": _membership(n),
                "missionContext": {},
                "credentials": {},
            }
            for n in range(groups)
        ],
    }


def _contract() -> Json:
    return {
        "contractVersion": 1,
        "goal": "Build the module and show that its tests pass.",
        "requiredDeliverables": [
            {
                "deliverableId": "d",
                "description": "The built module.",
                "mediaType": "text/plain",
                "schema": "urn:bench:schema:x",
            }
        ],
        "acceptanceCriteria": [
            {
                "criterionId": "c",
                "description": "The tests pass.",
                "evidenceRequired": ["deterministic_test"],
            }
        ],
        "inputArtifacts": [],
        "dependencyWorkItemIds": [],
        "allowedResources": [],
        "requiredCapabilities": CAPABILITIES,
        "deadline": spell(START + 30 * 86_400 * MICROS),
        "requestedUrgency": "normal",
        "businessImpact": "some",
        "retryPolicy": {
            "maxAttempts": 3,
            "backoff": "fixed",
            "maxDelay": "PT10S",
            "retryableFailures": ["TRANSIENT"],
        },
        "budget": {"wallClockSecondsLimit": 600, "externalSideEffectLimit": 5},
        "sideEffectRisk": "reversible",
        "executionApproval": "not_required",
    }


class History:
    """The Event logs of some Groups, as EVENT frames in the order of their acceptance."""

    def __init__(self, groups: int, *, signed: bool = True) -> None:
        self.groups, self.signed = groups, signed
        self._sequences = [0] * groups
        self._key = SigningKey.load("urn:bench:key:authority", encode_base64url(_seed("authority")))

    def _frame(self, group: int, kind: str, revision: int, payload: Json) -> str:
        self._sequences[group] += 1
        sequence, now = self._sequences[group], spell(START)
        event = {
            "protocolVersion": "0.1",
            "eventId": f"urn:bench:event:{group}:{sequence}",
            "groupId": group_id(group),
            "sequence": sequence,
            "aggregateRevision": revision,
            "kind": kind,
            "actor": {"type": "service", "id": AUTHORITY},
            "cause": {"type": "policy", "id": "urn:bench:policy"},
            "correlationId": "urn:bench:correlation",
            "occurredAt": now,
            "payload": payload,
            "acceptedBy": {"type": "service", "id": AUTHORITY},
        }
        if self.signed:
            event = self._key.sign(event, now)
        else:  # well-formed, for Workers that do not look: signing takes longer than all the rest
            envelope = {"algorithm": "Ed25519", "keyId": "urn:bench:key:authority"}
            event["signature"] = {**envelope, "createdAt": now, "value": "A" * 86}
        frame = {
            "protocolVersion": "0.1",
            "frameId": f"urn:bench:frame:{group}:{sequence}",
            "frameType": "EVENT",
            "event": event,
        }
        return json.dumps(frame, separators=(",", ":"))

    def messages(self, count: int) -> Iterator[str]:
        """Messages, which concern no WorkItem."""
        for number in range(count):
            group = number % self.groups
            message = {
                "messageId": f"urn:bench:message:{number}",
                "missionId": f"urn:bench:mission:{group}",
                "groupId": group_id(group),
                "conversationId": f"urn:bench:conversation:{group}",
                "author": {"type": "service", "id": AUTHORITY},
                "kind": "message",
                "authority": False,
                "content": [{"type": "text", "text": "Some twenty words of plain text. " * 4}],
                "committedAt": spell(START),
            }
            yield self._frame(group, "message.posted", 0, {"message": message})

    def queued(self, count: int) -> Iterator[str]:
        """WorkItems that this Worker accepted and has not started: one Event each."""
        for number in range(count):
            yield self._step(number, "accepted")

    def ended(self, count: int) -> Iterator[str]:
        """The same WorkItems, verified."""
        for number in range(count):
            yield self._step(number, "verified")

    def lives(self, count: int) -> Iterator[str]:
        """Whole lives, an item in each Group at a time, from offer to verification."""
        produced = first = 0
        while produced < count:
            for stage in LIFE:
                for number in range(first, first + self.groups):
                    if produced < count:
                        produced += 1
                        yield self._step(number, stage)
            first += self.groups

    def _step(self, number: int, stage: str) -> str:
        group = number % self.groups
        item, revision = _item(number, group, stage), LIFE.index(stage) + 1
        if stage == "published":
            payload: Json = {"artifactId": f"urn:bench:artifact:{number}"}
            return self._frame(group, "artifact.published", 0, payload)
        payload = {"workItemId": item["workItemId"], "workItem": item}
        if stage == "accepted":
            payload["leases"] = [_lease(item, "ownership", "active")]
        elif stage in ("started", "submitted"):
            closed = "active" if stage == "started" else "released"
            payload["leases"] = [_lease(item, "execution", closed)]
        return self._frame(group, KINDS[stage], revision, payload)


KINDS = {
    "offered": "work.offer.created",
    "accepted": "work.offer.accepted",
    "started": "work.started",
    "submitted": "work.submitted",
    "verified": "work.result.accepted",
}
STATES = {"accepted": "queued", "started": "active"}


def _item(number: int, group: int, stage: str) -> Json:
    item: Json = {
        "workItemId": f"urn:bench:item:{number}",
        "missionId": f"urn:bench:mission:{group}",
        "groupId": group_id(group),
        "conversationId": f"urn:bench:conversation:{group}",
        "revision": LIFE.index(stage) + 1,
        "state": STATES.get(stage, stage),
        "exclusive": True,
        "contract": _contract(),
        "createdBy": {"type": "service", "id": AUTHORITY},
        "createdAt": spell(START),
    }
    if stage == "offered":
        offer = {
            "offerId": f"urn:bench:offer:{number}",
            "agentId": WORKER,
            "agentCardVersion": 3,
            "expiresAt": spell(START + 86_400 * MICROS),
            "status": "pending",
        }
        return {**item, "offers": [offer]}
    item["owner"] = {
        "agentId": WORKER,
        "agentCardVersion": 3,
        "capabilityPins": CAPABILITIES,
        "ownershipEpoch": 1,
        "ownershipLeaseId": f"urn:bench:lease:{number}:ownership",
        "acceptedAt": spell(START),
    }
    item["selectionBasis"] = {
        "requiredCapabilities": CAPABILITIES,
        "verifiedMatches": CAPABILITIES,
        "authorizationEligible": True,
        "availabilityEstimate": spell(START),
        "expectedCost": 1,
        "reliabilityEvidence": [],
        "policyRulesApplied": ["default"],
    }
    if stage in ("submitted", "verified"):
        item["submission"] = {
            "artifactHashes": [sha256(b"x")],
            "evidenceIds": [f"urn:bench:evidence:{number}"],
            "submittedAt": spell(START),
        }
    return item


def _lease(item: Json, kind: str, state: str) -> Json:
    lease: Json = {
        "leaseId": f"urn:bench:lease:{item['workItemId'][15:]}:{kind}",
        "leaseType": kind,
        "missionId": item["missionId"],
        "groupId": item["groupId"],
        "workItemId": item["workItemId"],
        "holderAgentId": WORKER,
        "sessionEpoch": 1,
        "ownershipEpoch": 1,
        "issuedAt": spell(START),
        "startsAt": spell(START),
        "expiresAt": spell(START + 10**6 * MICROS),
        "state": state,
        "renewalCount": 0,
    }
    if kind == "ownership":
        lease["startBy"] = spell(START + 10**6 * MICROS)
    if state != "active":
        lease |= {"closedAt": spell(START), "closureReason": "work.submit"}
    return lease
