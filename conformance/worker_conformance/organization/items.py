"""WorkItems as the Group Authority holds them, and their normative documents.

A frozen value for each WorkItem; a transition makes a new one. Never decides which transition may
happen.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, field, frozen

from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.errors import SuiteError
from worker_conformance.organization.leases import Lease, Place
from worker_conformance.organization.moments import text
from worker_conformance.organization.transitions import ALLOWED, State, Transition
from worker_conformance.scenario.model import WorkPlan

USAGE_LIMITS: Mapping[str, str] = {
    "financial": "financialLimit",
    "modelTokens": "modelTokenLimit",
    "toolCalls": "toolCallLimit",
    "computeSeconds": "computeSecondsLimit",
    "wallClockSeconds": "wallClockSecondsLimit",
    "externalSideEffects": "externalSideEffectLimit",
}
"""The six dimensions of a Resource Budget: the member of usage, the member of the budget."""

BUDGET_WORDS: Mapping[str, str] = {
    "financial": "financial",
    "model_tokens": "modelTokens",
    "tool_calls": "toolCalls",
    "compute_seconds": "computeSeconds",
    "external_side_effects": "externalSideEffects",
}
"""Dimensions as plans spell them, with the member of usage."""


@frozen
class Offer:
    """One Work Offer to one Agent, for one version of the contract."""

    offer_id: str
    agent_id: str
    card_version: int
    expires_at: int
    status: str = "pending"

    def is_open(self, now: int) -> bool:
        """Whether it can still be accepted."""
        return self.status == "pending" and now < self.expires_at

    def document(self) -> JsonObject:
        """The entry of a WorkItem's `offers`."""
        return {
            "offerId": self.offer_id,
            "agentId": self.agent_id,
            "agentCardVersion": self.card_version,
            "expiresAt": text(self.expires_at),
            "status": self.status,
        }


@frozen
class Owner:
    """Who owns a WorkItem under one Ownership Epoch, and the leases that say so.

    `execution` is the latest Execution Lease while the work is active, `blocked` the blocked
    lease while it is blocked. A verified item keeps its owner, whose lease is released, because
    the document's schema asks for one.
    """

    agent_id: str
    card_version: int
    pins: tuple[tuple[str, str], ...]
    lease: Lease
    accepted_at: int
    started: bool = False
    execution: Lease | None = None
    blocked: Lease | None = None

    @property
    def epoch(self) -> int:
        """The Ownership Epoch."""
        return self.lease.ownership_epoch

    def is_live(self, now: int) -> bool:
        """Whether the work may not be given to anybody else (MWP-WRK-019, section 11.5)."""
        if not self.lease.is_current(now):
            return False
        if self.execution is not None and not self.execution.is_current(now):
            return False
        if self.blocked is not None and not self.blocked.is_current(now):
            return False
        return self.started or self.lease.start_by is None or now < self.lease.start_by

    def document(self) -> JsonObject:
        """The `owner` of a WorkItem."""
        pins: list[JsonValue] = [{"id": name, "version": version} for name, version in self.pins]
        return {
            "agentId": self.agent_id,
            "agentCardVersion": self.card_version,
            "capabilityPins": pins,
            "ownershipEpoch": self.epoch,
            "ownershipLeaseId": self.lease.lease_id,
            "acceptedAt": text(self.accepted_at),
        }


@frozen
class Grant:
    """An execution approval for one Ownership Epoch of a WorkItem."""

    ownership_epoch: int
    expires_at: int


@frozen
class Item:
    """One WorkItem.

    `epoch` is the highest Ownership Epoch ever granted; `lease_ids` are this Worker's Execution
    Leases in order of granting, `leases_made` counts leases of all types; `artifacts` maps a
    published Artifact's ID to its content hash; `unseated` is the Execution Lease that a new
    session revoked, until the next start.
    """

    name: str
    place: Place
    conversation_id: str
    plan: WorkPlan
    contract: JsonObject
    created_by: JsonObject
    state: State = State.NONE
    revision: int = 0
    contract_version: int = 1
    offers: tuple[Offer, ...] = ()
    owner: Owner | None = None
    epoch: int = 0
    leases_made: int = 0
    lease_ids: tuple[str, ...] = ()
    grants: tuple[Grant, ...] = ()
    checkpoint: JsonObject | None = None
    artifacts: Mapping[str, str] = field(factory=dict)
    usage: Mapping[str, float] = field(factory=dict)
    selection_basis: JsonObject | None = None
    submission: JsonObject | None = None
    promoted: bool = False
    unseated: Lease | None = None
    created_at: int = 0
    updated_at: int = 0

    @property
    def work_item_id(self) -> str:
        """Its URI."""
        return self.place.work_item_id

    def owned_by(self, agent_id: str) -> bool:
        """Whether this Agent owns it now; a finished item has no owner any more."""
        return (
            self.owner is not None
            and self.owner.agent_id == agent_id
            and self.owner.lease.state == "active"
        )

    def moved(self, move: Transition, now: int) -> Item:
        """The item after a transition; SuiteError where the table has none.

        What else the transition changes is for the caller to `evolve`.
        """
        target = ALLOWED.get((self.state, move))
        if target is None:
            raise SuiteError(
                "impossible-transition",
                f"{self.name} is {self.state}: no {move.value}",
                "the scenario asks for something that PROTOCOL 10.2 does not allow",
            )
        return evolve(self, state=target, revision=self.revision + 1, updated_at=now)

    def document(self) -> JsonObject:
        """The normative WorkItem document."""
        document: JsonObject = {
            "workItemId": self.place.work_item_id,
            "missionId": self.place.mission_id,
            "groupId": self.place.group_id,
            "conversationId": self.conversation_id,
            "revision": self.revision,
            "state": self.state.value,
            "exclusive": True,
            "contract": self.contract,
            "createdBy": self.created_by,
            "authorizedBy": self.created_by,
            "createdAt": text(self.created_at),
            "updatedAt": text(self.updated_at),
        }
        if self.offers:
            document["offers"] = [offer.document() for offer in self.offers]
        if self.owner is not None:
            document["owner"] = self.owner.document()
        if self.selection_basis is not None:
            document["selectionBasis"] = self.selection_basis
        if self.submission is not None:
            document["submission"] = self.submission
        return document
