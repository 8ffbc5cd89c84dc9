"""A small Organization for the reference Worker's own tests.

It signs Events, answers Commands by the book, and keeps the WorkItem documents. It is no judge: it
refuses little, and the tests say what they expect.
"""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from reference_worker import factory
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
FRAMES = {"COMMAND": "commandFrame", "ACK": "ackFrame", "SUBSCRIBE": "subscribeFrame"}


def _key(name: str) -> tuple[str, str, str]:
    seed = bytes.fromhex(sha256(name.encode())[7:])
    public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    return f"urn:test:key:{name}", encode_base64url(seed), encode_base64url(public)


class Crashed(Exception):  # noqa: N818 - an event of the test, not an error
    """The Worker died after its commit and before its effects left."""


class Organization:
    """Groups, a clock, and one Worker that is driven through its Port."""

    Crashed = Crashed

    def __init__(self, directory: Path, slots: int = 1, session: int = 1) -> None:
        self.directory, self.slots, self.session = directory, slots, session
        self.now = START
        self.logs: dict[str, list[Json]] = {}
        self.items: dict[str, Json] = {}
        self.leases: dict[str, Json] = {}
        self.memberships: dict[str, Json] = {}
        self.policy: Json = {
            "policyVersion": 1,
            "priorityClasses": ["background", "standard", "urgent"],
            "groups": {},
            "workItems": {},
            "limits": {"offlineGraceSeconds": 60},
        }
        self.effects: list[Json] = []
        self.counter = 0
        self.wake_at: str | None = None
        self.lease_seconds = 600
        self.answering = True
        self.port: Any = factory()
        self.epochs: dict[str, int] = {}
        self.handled = 0
        self.crash_after = 0
        for name in "AB":
            self.add_group(name)

    # -- the world ---------------------------------------------------------------------------

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

    # -- the Worker --------------------------------------------------------------------------

    def start(self) -> list[Json]:
        groups = [
            {
                "groupId": g,
                "missionId": m["missionId"],
                "conversationId": f"{g}:conversation",
                "membership": m,
                "missionContext": {"secret": f"context of {g}"},
                "credentials": {"repository": f"secret of {g}"},
            }
            for g, m in self.memberships.items()
        ]
        key_id, seed, _ = _key("w")
        return self.handle(
            "start",
            stateDirectory=str(self.directory),
            seed=1,
            agent={
                "agentId": WORKER,
                "keyId": key_id,
                "privateKey": seed,
                "agentCardVersion": 3,
                "capabilities": [{"id": "acme.build", "version": "2.1.0"}],
                "maxConcurrency": self.slots,
            },
            sessionEpoch=self.session,
            organization={
                "organizationId": "urn:test:organization",
                "keys": [
                    self._binding("authority", "service", AUTHORITY),
                    self._binding("archive", "service", ARCHIVE),
                    self._binding("owner", "human", HUMAN),
                    self._binding("w", "agent", WORKER),
                ],
                "authorized": {
                    "eventAuthority": [AUTHORITY],
                    "archival": [ARCHIVE],
                    "cardIssuer": [AUTHORITY],
                    "approvers": [HUMAN],
                },
                "policy": self.policy,
            },
            groups=groups,
        )

    @staticmethod
    def _binding(name: str, kind: str, principal: str) -> Json:
        key_id, _, public = _key(name)
        return {
            "keyId": key_id,
            "principal": {"type": kind, "id": principal},
            "algorithm": "Ed25519",
            "publicKey": public,
            "validFrom": "2020-01-01T00:00:00Z",
        }

    def open(self) -> None:
        """Start, replay what the durable Cursors ask for, and become live."""
        for effect in self.start():
            if effect["type"] == "frame" and effect["frame"]["frameType"] == "SUBSCRIBE":
                self.replay(effect["frame"])
        self.tick()

    def replay(self, subscribe: Json) -> None:
        for entry in subscribe["groups"]:
            log = self.logs[entry["groupId"]]
            rest = [e for e in log if e["sequence"] > entry["afterSequence"]]
            if rest:
                self.deliver(*rest)
            self.handle("caught_up", groupId=entry["groupId"], sequence=len(log))

    def restart(self, *, empty: bool = False) -> None:
        """A crash: the object is dropped, and a copy of the directory is all that stays."""
        copied = self.directory.with_name(self.directory.name + "x")
        if not empty:
            shutil.copytree(self.directory, copied)
        self.directory, self.port, self.session = copied, factory(), self.session + 1
        for item in self.items.values():
            if item["state"] == "active" and item["owner"]["agentId"] == WORKER:
                item["state"] = "queued"
                item["revision"] += 1
        self.open()

    def handle(self, kind: str, **members: object) -> list[Json]:
        result = self.port.handle({"type": kind, "now": spell(self.now), **members})
        self.wake_at = result.get("wakeAt")
        effects = json.loads(json.dumps(result["effects"]))
        self.handled += 1
        if self.handled == self.crash_after:
            raise Crashed  # what was committed stays; the effects never left
        self.effects += effects
        for effect in effects:
            if effect["type"] == "frame":
                frame = effect["frame"]
                assert is_valid(FRAMES.get(frame["frameType"], "pingFrame"), frame), frame
        if self.answering:
            self.answer(effects)
        return effects

    def tick(self) -> list[Json]:
        return self.handle("tick")

    def advance(self, seconds: float) -> None:
        """Move the clock, with a tick at every time the Worker asked for."""
        until = self.now + int(seconds * MICROS)
        for _ in range(10_000):
            if self.wake_at is None or micros(self.wake_at) > until:
                break
            self.now = max(self.now, micros(self.wake_at))
            self.tick()
        self.now = until
        self.tick()

    def deliver(self, *events: Json) -> list[Json]:
        frames = [
            {
                "protocolVersion": "0.1",
                "frameId": f"urn:test:frame:{event['eventId'][9:]}",
                "frameType": "EVENT",
                "event": event,
            }
            for event in events
        ]
        return self.handle("frames", frames=frames)

    def error(self, command: Json, code: str, *, retryable: bool = False, **more: object) -> None:
        self.counter += 1
        error = {
            "code": code,
            "message": "no",
            "retryable": retryable,
            "relatedActionId": command["actionId"],
            "groupId": command["groupId"],
            "occurredAt": spell(self.now),
            **more,
        }
        frame = {
            "protocolVersion": "0.1",
            "frameId": f"urn:test:error:{self.counter}",
            "frameType": "ERROR",
            "error": error,
        }
        self.handle("frames", frames=[frame])

    # -- facts -------------------------------------------------------------------------------

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
        key_id, seed, _ = _key(name)
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

    def give(self, *names: str, group: str = "A", **contract: object) -> None:
        """Offer items and deliver the offers."""
        self.deliver(*[self.offer(name, group, **contract) for name in names])

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

    def answer(self, effects: Iterable[Json]) -> None:
        """Take the Commands among the effects in order and deliver what they cause."""
        for command in commands(effects):
            self.accept(command)

    def accept(self, command: Json) -> None:
        """Accept one Command."""
        if command["kind"] == "artifact.publish":
            document = command["payload"]["artifact"]
            assert is_valid("artifact", document)
            payload = {"artifactId": document["artifactId"]}
            self.deliver(
                self.event(command["groupId"], "artifact.published", payload, command["actionId"])
            )
            return
        item = self.items[command["workItemId"]]
        if command["expectedRevision"] != item["revision"]:
            self.error(command, "REVISION_CONFLICT", currentRevision=item["revision"])
            return
        self.deliver(self.transition(command, item))

    def transition(self, command: Json, item: Json) -> Json:
        """The Event of an accepted Command about a WorkItem."""
        kind, payload = command["kind"], command["payload"]
        item["revision"] += 1
        extra: Json = {}
        self.counter += 1
        if kind == "work.accept_offer":
            self.own(item, self.epochs.get(item["workItemId"], 0) + 1)
            extra["leases"] = [
                self._lease(item, "ownership", item["owner"]["ownershipLeaseId"], 10**7)
            ]
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

    # -- the executor ------------------------------------------------------------------------

    def report(self, name: str, kind: str, **members: object) -> list[Json]:
        run = self.running()[f"urn:test:item:{name}"]
        return self.handle(
            "execution",
            slotId=run["slotId"],
            workItemId=run["workItemId"],
            leaseId=run["leaseId"],
            report={"kind": kind, **members},
        )

    def complete(self, name: str) -> list[Json]:
        """The work is done, with an Artifact and Evidence."""
        item = f"urn:test:item:{name}"
        artifact = {"contentHash": sha256(b"x"), "uri": "urn:test:content:x", "sizeBytes": 1}
        evidence = {"type": "deterministic_test", "method": "ran", "result": "passed"}
        effects = self.report(name, "completed", artifacts=[artifact], evidence=[evidence])
        self.items[item]["state"] = "verified"
        self.items[item]["revision"] += 1
        payload = {"workItem": self.items[item]}
        self.deliver(self.event(self.items[item]["groupId"], "work.result.accepted", payload))
        return effects

    def running(self) -> dict[str, Json]:
        """What runs now, by WorkItem, from the effects alone."""
        runs: dict[str, Json] = {}
        slots: dict[str, str] = {}
        for effect in self.effects:
            if effect["type"] == "run":
                assert effect["slotId"] not in slots, "a slot is used twice"
                slots[effect["slotId"]] = effect["workItemId"]
                runs[effect["workItemId"]] = effect
            elif effect["type"] == "release":
                runs.pop(slots.pop(effect["slotId"]))
        assert len(runs) <= self.slots
        return runs

    def starts(self) -> list[str]:
        """Short names of the items in the order of their `work.start` Commands."""
        return [c["workItemId"][14:] for c in commands(self.effects) if c["kind"] == "work.start"]


CLOSURES = {
    "work.checkpoint": ("work.checkpointed", "queued"),
    "work.block": ("work.blocked", "blocked"),
    "work.submit": ("work.submitted", "submitted"),
    "work.fail": ("work.failed", "failed"),
}


def commands(effects: Iterable[Json]) -> list[Json]:
    """The Commands among effects."""
    return [
        effect["frame"]["command"]
        for effect in effects
        if effect["type"] == "frame" and effect["frame"]["frameType"] == "COMMAND"
    ]


@pytest.fixture
def organization(tmp_path: Path) -> Callable[..., Organization]:
    """Makes an Organization over an empty state directory."""
    made = iter(range(100))
    return lambda **options: Organization(tmp_path / f"state{next(made)}", **options)
