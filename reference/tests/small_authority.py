"""The Group Authority of the reference Worker's own tests: logs, WorkItems, signed Events.

Responsible for writing what happened as Events. It refuses nothing and judges nothing, and never
speaks to a Worker.
"""

from __future__ import annotations

import copy
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from reference_worker.documents import encode_base64url, is_valid, sha256
from reference_worker.instants import MICROS, micros, spell
from reference_worker.signatures import SigningKey

Json = dict[str, Any]
START = micros("2026-07-15T00:00:00Z")
WORKER = "urn:test:agent:w"
AUTHORITY = "urn:test:service:authority"
ARCHIVE = "urn:test:service:archive"
HUMAN = "urn:test:human:owner"
RENEW = "ext.missionweaveprotocol.core.work_execution_lease_renew"
CLOSURES = {
    "work.checkpoint": ("work.checkpointed", "queued"),
    "work.block": ("work.blocked", "blocked"),
    "work.submit": ("work.submitted", "submitted"),
    "work.fail": ("work.failed", "failed"),
}


def key_pair(name: str) -> tuple[str, str, str]:
    seed = bytes.fromhex(sha256(name.encode())[7:])
    public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    return f"urn:test:key:{name}", encode_base64url(seed), encode_base64url(public)


class Authority:
    """Two Groups, a clock, and the history of both."""

    def __init__(self, session: int = 1) -> None:
        self.now, self.session = START, session
        self.logs: dict[str, list[Json]] = {}
        self.items: dict[str, Json] = {}
        self.leases: dict[str, Json] = {}
        self.memberships: dict[str, Json] = {}
        self.epochs: dict[str, int] = {}
        self.policy: Json = {
            "policyVersion": 1,
            "priorityClasses": ["background", "standard", "urgent"],
            "groups": {},
            "workItems": {},
            "limits": {"offlineGraceSeconds": 60},
        }
        self.counter = 0
        self.lease_seconds = 600
        self.ownership_seconds = 10**7
        for name in "AB":
            self.add_group(name)

    def add_group(self, name: str, weight: float = 1, **entry: object) -> str:
        group_id = f"urn:test:group:{name}"
        self.logs[group_id] = []
        self.memberships[group_id] = {
            "membershipId": f"urn:test:membership:{name}",
            "missionId": f"urn:test:mission:{name}",
            "groupId": group_id,
            "member": {"type": "agent", "id": WORKER},
            "role": "worker",
            "state": "active",
            "membershipEpoch": 1,
            "scopes": ["work.accept_offer", "work.execute"],
            "visibilityStartSequence": 0,
            "grantedAt": spell(START),
            "activatedAt": spell(START),
        }
        self.policy["groups"][group_id] = {
            "weight": weight,
            "priorityClass": "standard",
            **entry,
        }
        return group_id

    def contract(self, **members: object) -> Json:
        return {
            "contractVersion": 1,
            "goal": "Do it.",
            "requiredDeliverables": [
                {
                    "deliverableId": "d",
                    "description": "It.",
                    "mediaType": "text/plain",
                    "schema": "urn:test:schema:x",
                }
            ],
            "acceptanceCriteria": [
                {
                    "criterionId": "c",
                    "description": "ok",
                    "evidenceRequired": ["deterministic_test"],
                }
            ],
            "inputArtifacts": [],
            "dependencyWorkItemIds": [],
            "allowedResources": [],
            "requiredCapabilities": [{"id": "acme.build", "version": "2.1.0"}],
            "deadline": spell(START + 30 * 86400 * MICROS),
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
            **members,
        }

    def event(self, group_id: str, kind: str, payload: Json, cause: str = "", **over: Any) -> Json:
        """Append an Event to a Group's log and return it."""
        log = self.logs[group_id]
        revision = payload.get("workItem", {}).get("revision", 0)
        event = {
            "protocolVersion": "0.1",
            "eventId": f"urn:test:event:{group_id[9:]}:{len(log) + 1}",
            "groupId": group_id,
            "sequence": len(log) + 1,
            "aggregateRevision": revision,
            "kind": kind,
            "actor": {"type": "service", "id": AUTHORITY},
            "cause": {"type": "command" if cause else "policy", "id": cause or "urn:test:policy"},
            "correlationId": "urn:test:correlation",
            "occurredAt": spell(self.now),
            "payload": copy.deepcopy(payload),
            "acceptedBy": {"type": "service", "id": AUTHORITY},
            **over,
        }
        event = self.sign(event, "authority", event["occurredAt"])
        log.append(event)
        return event

    @staticmethod
    def sign(document: Json, name: str, time: str) -> Json:
        key_id, seed, _ = key_pair(name)
        return SigningKey.load(key_id, seed).sign(document, time)

    def offer(self, name: str, group: str = "A", **contract: object) -> Json:
        """Create a WorkItem and offer it to the Worker; returns the undelivered Event."""
        group_id = f"urn:test:group:{group}"
        item: Json = {
            "workItemId": f"urn:test:item:{name}",
            "missionId": f"urn:test:mission:{group}",
            "groupId": group_id,
            "conversationId": f"urn:test:conversation:{name}",
            "revision": 1,
            "state": "offered",
            "exclusive": True,
            "contract": self.contract(**contract),
            "offers": [
                {
                    "offerId": f"urn:test:offer:{name}",
                    "agentId": WORKER,
                    "agentCardVersion": 3,
                    "expiresAt": spell(self.now + 86400 * MICROS),
                    "status": "pending",
                }
            ],
            "createdBy": {"type": "service", "id": AUTHORITY},
            "createdAt": spell(self.now),
        }
        self.items[item["workItemId"]] = item
        return self.event(group_id, "work.offer.created", {"workItem": item})

    def _lease(self, item: Json, kind: str, lease_id: str, seconds: int) -> Json:
        lease = {
            "leaseId": lease_id,
            "leaseType": kind,
            "missionId": item["missionId"],
            "groupId": item["groupId"],
            "workItemId": item["workItemId"],
            "holderAgentId": item["owner"]["agentId"],
            "sessionEpoch": self.session,
            "ownershipEpoch": item["owner"]["ownershipEpoch"],
            "issuedAt": spell(self.now),
            "startsAt": spell(self.now),
            "expiresAt": spell(self.now + seconds * MICROS),
            "state": "active",
            "renewalCount": 0,
        }
        if kind == "ownership":
            lease["startBy"] = spell(self.now + 10**6 * MICROS)
        return lease

    def transition(self, command: Json, item: Json) -> Json:
        """The Event of an accepted Command about a WorkItem."""
        kind, payload = command["kind"], command["payload"]
        item["revision"] += 1
        extra: Json = {}
        self.counter += 1
        if kind == "work.accept_offer":
            self.own(item, self.epochs.get(item["workItemId"], 0) + 1)
            lease_id, seconds = item["owner"]["ownershipLeaseId"], self.ownership_seconds
            extra["leases"] = [self._lease(item, "ownership", lease_id, seconds)]
            event_kind = "work.offer.accepted"
        elif kind == "work.start":
            item["state"] = "active"
            lease_id = f"urn:test:lease:{item['workItemId'][14:]}:{self.counter}"
            lease = self._lease(item, "execution", lease_id, self.lease_seconds)
            self.leases[item["workItemId"]] = lease
            extra["leases"] = [lease]
            event_kind = "work.started"
        elif kind == RENEW:
            lease = self.leases[item["workItemId"]]
            lease["renewalCount"] += 1
            lease["lastRenewedAt"] = spell(self.now)
            lease["expiresAt"] = spell(self.now + self.lease_seconds * MICROS)
            extra["leases"] = [lease]
            event_kind = "work.progressed"
        else:
            event_kind, state = CLOSURES[kind]
            item["state"] = state
            lease = self.leases[item["workItemId"]]
            assert payload.get("executionLeaseId", lease["leaseId"]) == lease["leaseId"]
            lease |= {"state": "released", "closedAt": spell(self.now), "closureReason": kind}
            extra["leases"] = [lease]
            if "checkpoint" in payload:
                extra["checkpoint"] = payload["checkpoint"]
            if state == "submitted":
                assert all(is_valid("evidence", e) for e in payload["evidence"])
                item["submission"] = {
                    "artifactHashes": [sha256(b"x")],
                    "evidenceIds": [e["evidenceId"] for e in payload["evidence"]],
                    "submittedAt": spell(self.now),
                }
        return self.event(
            item["groupId"], event_kind, {"workItem": item, **extra}, command["actionId"]
        )

    def own(self, item: Json, epoch: int, agent_id: str = WORKER) -> None:
        capabilities = item["contract"]["requiredCapabilities"]
        item["state"] = "queued"
        item.pop("offers", None)
        self.epochs[item["workItemId"]] = epoch
        item["owner"] = {
            "agentId": agent_id,
            "agentCardVersion": 3,
            "capabilityPins": capabilities,
            "ownershipEpoch": epoch,
            "ownershipLeaseId": f"{item['workItemId']}:ownership:{epoch}",
            "acceptedAt": spell(self.now),
        }
        item["selectionBasis"] = {
            "requiredCapabilities": capabilities,
            "verifiedMatches": capabilities,
            "authorizationEligible": True,
            "availabilityEstimate": spell(self.now),
            "expectedCost": 1,
            "reliabilityEvidence": [],
            "policyRulesApplied": ["default"],
        }

    def fact(self, name: str, kind: str, state: str, **payload: object) -> Json:
        """Something that happens to a WorkItem without a Command of the Worker."""
        item = self.items[f"urn:test:item:{name}"]
        item["revision"] += 1
        item["state"] = state
        return self.event(item["groupId"], kind, {"workItem": item, **payload})
