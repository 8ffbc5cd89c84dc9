"""A Worker's desk: sends Commands to the simulated Organization and drives WorkItems along.

Signs what it sends with the key that `start` hands out, so that these tests use the same door as
a Worker does.
"""

from collections.abc import Callable

import pytest

from worker_conformance.documents import base64url, signing
from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.documents.registry import KeyRegistry, Principal
from worker_conformance.documents.schemas import DocumentKind, problems
from worker_conformance.documents.signing import SigningKey, Verified, sign
from worker_conformance.organization.executor import Executor
from worker_conformance.organization.organization import Organization
from worker_conformance.organization.outcomes import Accepted, Outcome
from worker_conformance.scenario.clock import SECOND, text_of
from worker_conformance.scenario.model import (
    Act,
    ActKind,
    AgentPlan,
    GroupPlan,
    Level,
    Profile,
    Scenario,
    WorkPlan,
)

DOCUMENTS = {
    "workItem": DocumentKind.WORK_ITEM,
    "membership": DocumentKind.MEMBERSHIP,
    "mission": DocumentKind.MISSION,
    "message": DocumentKind.MESSAGE,
    "approval": DocumentKind.APPROVAL,
}
DOCUMENT_LISTS = {"workItems": DocumentKind.WORK_ITEM, "leases": DocumentKind.LEASE}


class Desk:
    """One Organization with Groups A and B, and the Worker's side of it. `now` is seconds."""

    def __init__(self, *work: WorkPlan, seed: int = 1, **group_members: object) -> None:
        self.scenario = Scenario(
            id="TEST-0001",
            title="a test",
            stake="none",
            requirement="WRK-003.a",
            level=Level.MUST,
            profile=Profile.LEASES,
            steps=(),
            agent=AgentPlan(slots=2),
            groups=(GroupPlan("A", **group_members), GroupPlan("B")),
            work=work or (WorkPlan("a1", "A"),),
            log={"A": (Act(ActKind.CREATED), Act(ActKind.MEMBER))},
        )
        self.organization = Organization(self.scenario, seed)
        self.start = self.organization.open_session(0)
        self.group = self.organization.group("A")
        self.executor = Executor(self.organization)
        self.registry = KeyRegistry.from_port(self.start["organization"])
        self.key = self._key()
        self.now = 0
        self._sent = 0

    def _key(self) -> SigningKey:
        agent = self.start["agent"]
        secret = base64url.decode(agent["privateKey"])
        return SigningKey.from_seed(secret, agent["keyId"], Principal("agent", agent["agentId"]))

    @property
    def micros(self) -> int:
        return self.now * SECOND

    # --- the Organization's side ------------------------------------------------------

    def act(self, kind: ActKind, work: str | None = None, **args: object):
        return self.group.act(Act(kind, work, args), self.micros)

    def view(self, work: str = "a1"):
        return self.group.item(work, self.micros)

    def state(self, work: str = "a1") -> str:
        return self.view(work).state

    @property
    def last(self) -> JsonObject:
        return self.group.events[-1]

    # --- the Worker's side ------------------------------------------------------------

    def command(self, kind: str, payload: JsonObject, **envelope: object) -> JsonObject:
        """A COMMAND frame, signed; `envelope` overrides members, None takes one away."""
        self._sent += 1
        command = {
            "protocolVersion": "0.1",
            "actionId": f"urn:worker:action:{self._sent}",
            "actor": {"type": "agent", "id": self.start["agent"]["agentId"]},
            "sessionEpoch": self.organization.session_epoch,
            "membershipEpoch": self.group.ledger.membership.epoch,
            "groupId": self.group.group_id,
            "kind": kind,
            "correlationId": "urn:worker:correlation:1",
            "issuedAt": text_of(self.micros),
            "payload": payload,
            **envelope,
        }
        kept = {name: value for name, value in command.items() if value is not None}
        return self.frame(sign(DocumentKind.COMMAND, kept, self.key))

    def frame(self, command: JsonObject) -> JsonObject:
        return {
            "protocolVersion": "0.1",
            "frameId": f"urn:worker:frame:{self._sent}",
            "frameType": "COMMAND",
            "command": command,
        }

    def receive(self, frame: JsonObject) -> Outcome:
        outcome = self.organization.receive(frame, self.micros)
        assert outcome.about.group in ("A", None)
        return outcome

    def send(self, kind: str, payload: JsonObject, **envelope: object) -> Outcome:
        return self.receive(self.command(kind, payload, **envelope))

    def work_id(self, work: str = "a1") -> str:
        return self.organization.names.work_id(work, "A")

    def payload(self, work: str = "a1", **members: object) -> JsonObject:
        epoch = self.view(work).ownership_epoch
        return {"workItemId": self.work_id(work), "ownershipEpoch": epoch, **members}

    def lease_payload(self, work: str = "a1", **members: object) -> JsonObject:
        leases = self.view(work).lease_ids
        return self.payload(work, executionLeaseId=leases[-1] if leases else "urn:no", **members)

    def offer_id(self, work: str = "a1") -> str:
        mine = self.start["agent"]["agentId"]
        offers = self.group.ledger.item(work).offers
        ids = [offer.offer_id for offer in offers if offer.agent_id == mine]
        return ids[-1] if ids else "urn:no-offer"

    def payload_of(self, kind: str, work: str = "a1") -> JsonObject:
        """What a Worker in good order would put into a Command of this kind."""
        checkpoint = {"checkpointId": "urn:worker:checkpoint:1", "checkpointHash": "sha256:00"}
        if kind == "work.accept_offer":
            return {"workItemId": self.work_id(work), "offerId": self.offer_id(work)}
        if kind == "work.start":
            return self.payload(work)
        if kind == "work.checkpoint":
            return self.lease_payload(work, checkpoint=checkpoint)
        if kind == "work.block":
            return self.lease_payload(work, checkpoint=checkpoint, reason="Decide.")
        if kind == "artifact.publish":
            return self.lease_payload(work, artifact=self.artifact(work))
        if kind == "work.submit":
            hashes = list(self.group.ledger.item(work).artifacts)
            return self.lease_payload(work, artifactIds=hashes, evidence=self.evidence(work))
        if kind == "work.fail":
            active = self.state(work) == "active"
            base = self.lease_payload(work) if active else self.payload(work)
            return {**base, "reason": "It broke.", "evidence": self.evidence(work)}
        return self.lease_payload(work)

    def do(self, kind: str, work: str = "a1") -> Outcome:
        return self.send(kind, self.payload_of(kind, work), workItemId=self.work_id(work))

    def done(self, *kinds: str, work: str = "a1") -> None:
        """Send Commands that must be accepted."""
        for kind in kinds:
            outcome = self.do(kind, work)
            assert isinstance(outcome, Accepted), outcome

    def artifact(self, work: str = "a1", **members: object) -> JsonObject:
        item = self.group.ledger.item(work)
        artifact = {
            "artifactId": f"urn:worker:artifact:{work}",
            "contentHash": "sha256:" + "0" * 64,
            "uri": "https://artifacts.example/1",
            "sizeBytes": 1,
            "mediaType": "application/json",
            "schemaUri": "urn:worker:schema",
            "producer": {
                "agentId": self.start["agent"]["agentId"],
                "agentCardVersion": 3,
                "capabilities": [{"id": "acme.build", "version": "2.1.0"}],
            },
            "missionId": item.place.mission_id,
            "groupId": item.place.group_id,
            "workItemId": item.work_item_id,
            "sourceArtifactHashes": [],
            "toolVersions": [],
            "modelVersions": [],
            "classification": "internal",
            "createdAt": text_of(self.micros),
            **members,
        }
        return sign(DocumentKind.ARTIFACT, artifact, self.key)

    def evidence(
        self, work: str = "a1", criteria: tuple[str, ...] = ("tested", "intact")
    ) -> list[JsonObject]:
        item = self.group.ledger.item(work)
        return [
            sign(
                DocumentKind.EVIDENCE,
                {
                    "evidenceId": f"urn:worker:evidence:{work}:{criterion}",
                    "missionId": item.place.mission_id,
                    "groupId": item.place.group_id,
                    "workItemId": item.work_item_id,
                    "type": "deterministic_test",
                    "subject": {"type": "work_item", "id": item.work_item_id},
                    "criterionIds": [criterion],
                    "method": "It was tested.",
                    "result": "passed",
                    "artifactHashes": [],
                    "generatedBy": {"type": "agent", "id": self.start["agent"]["agentId"]},
                    "createdAt": text_of(self.micros),
                },
                self.key,
            )
            for criterion in criteria
        ]

    # --- driving an item --------------------------------------------------------------

    def reach(self, state: str, work: str = "a1") -> None:
        """Bring a WorkItem into a state along the shortest way."""
        for step in WAYS[state]:
            if isinstance(step, ActKind):
                self.act(step, work)
            else:
                self.done(step, work=work)
        assert self.state(work) == state


_OFFERED = (ActKind.AUTHORIZE, ActKind.OFFER)
_QUEUED = (*_OFFERED, "work.accept_offer")
_ACTIVE = (*_QUEUED, "work.start")
_SUBMITTED = (*_ACTIVE, "artifact.publish", "work.submit")
WAYS: dict[str, tuple[ActKind | str, ...]] = {
    "none": (),
    "open": (ActKind.AUTHORIZE,),
    "offered": _OFFERED,
    "queued": _QUEUED,
    "active": _ACTIVE,
    "blocked": (*_ACTIVE, "work.block"),
    "submitted": _SUBMITTED,
    "verified": (*_SUBMITTED, ActKind.ACCEPT_RESULT),
    "failed": (*_QUEUED, ActKind.FAIL),
    "cancelled": (*_QUEUED, ActKind.CANCEL),
}


@pytest.fixture
def open_desk() -> Callable[..., Desk]:
    return Desk


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def check_event() -> Callable[[JsonObject, KeyRegistry], None]:
    """Assert that an Event, and every document in its payload, is valid and signed."""

    def check(event: JsonObject, registry: KeyRegistry) -> None:
        assert problems(DocumentKind.EVENT, event) == ()
        assert isinstance(signing.verify(DocumentKind.EVENT, event, registry), Verified)
        payload = event["payload"]
        for name, kind in DOCUMENTS.items():
            if name in payload:
                assert problems(kind, payload[name]) == (), (event["kind"], name)
        for name, kind in DOCUMENT_LISTS.items():
            for document in payload.get(name, []):
                assert problems(kind, document) == (), (event["kind"], name)
        if "approval" in payload:
            outcome = signing.verify(DocumentKind.APPROVAL, payload["approval"], registry)
            assert isinstance(outcome, Verified)
        item = find(payload, "workItem")
        if item is not None:
            assert item["revision"] == event["aggregateRevision"]

    return check
