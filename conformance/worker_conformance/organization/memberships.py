"""This Worker's Membership of a Group: epoch, state and document. Never decides to change it."""

from __future__ import annotations

from attrs import evolve, frozen

from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.organization.moments import SECOND, text
from worker_conformance.organization.names import Names
from worker_conformance.scenario.model import GroupPlan

BASIC_SCOPE = "message.post"
"""Held by every member, so that a Membership without `work.accept_offer` is still valid."""


@frozen
class Membership:
    """The Membership as it stands; times are microseconds since the scenario's epoch."""

    state: str
    epoch: int = 1
    activated_at: int | None = None
    provisional_until: int | None = None
    ended_at: int | None = None

    @classmethod
    def first(cls, plan: GroupPlan) -> Membership:
        """The Membership that a Group's plan gives the Worker at the epoch."""
        if plan.provisional_seconds is None:
            return cls("active", activated_at=0)
        return cls("provisional", provisional_until=plan.provisional_seconds * SECOND)

    def is_usable(self, now: int) -> bool:
        """Whether Commands may rest on it (provisional: until it expires)."""
        if self.state == "provisional":
            return self.provisional_until is not None and now < self.provisional_until
        return self.state == "active"

    def activated(self, now: int) -> Membership:
        """The same epoch, active; after an end a new epoch."""
        epoch = self.epoch + 1 if self.state == "ended" else self.epoch
        return Membership("active", epoch, activated_at=now)

    def moved(self, now: int) -> Membership:
        """The next epoch."""
        return Membership("active", self.epoch + 1, activated_at=now)

    def ended(self, now: int) -> Membership:
        """The end of this epoch."""
        return evolve(self, state="ended", ended_at=now)

    def document(self, plan: GroupPlan, names: Names) -> JsonObject:
        """The normative Membership document."""
        scopes: list[JsonValue] = [*sorted({BASIC_SCOPE, *plan.scopes})]
        document: JsonObject = {
            "membershipId": names.membership_id(plan.name),
            "missionId": names.mission_id(plan.name),
            "groupId": names.group_id(plan.name),
            "member": {"type": "agent", "id": names.agent_id},
            "role": "worker",
            "state": self.state,
            "membershipEpoch": self.epoch,
            "scopes": scopes,
            "visibilityStartSequence": plan.visibility_start,
            "grantedAt": text(0),
        }
        if self.activated_at is not None:
            document["activatedAt"] = text(self.activated_at)
        if self.provisional_until is not None:
            document["provisionalExpiresAt"] = text(self.provisional_until)
            document["contextPackageId"] = names.numbered(
                "context-package", plan.name, plan.name, 1
            )
        if self.ended_at is not None:
            document["endedAt"] = text(self.ended_at)
        return document
