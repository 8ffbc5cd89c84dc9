"""Fenced leases: ownership, execution and blocked, with their whole history in one value.

Knows when a lease begins, ends and was renewed. Never decides who gets one.
"""

from __future__ import annotations

from attrs import evolve, frozen

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.organization.moments import text

OWNERSHIP = "ownership"
EXECUTION = "execution"
BLOCKED = "blocked"


@frozen
class Place:
    """Where a lease or WorkItem belongs."""

    mission_id: str
    group_id: str
    work_item_id: str


@frozen
class Lease:
    """One lease; times are microseconds since the scenario's epoch.

    `starts_at` is set where it begins later than it is issued, `start_by` for ownership only. A
    lease is `active` until it is closed; running out changes nothing in it, because an expiry has
    no Event.
    """

    lease_id: str
    lease_type: str
    place: Place
    holder: str
    session_epoch: int
    ownership_epoch: int
    issued_at: int
    expires_at: int
    starts_at: int | None = None
    start_by: int | None = None
    renewals: int = 0
    renewed_at: int | None = None
    state: str = "active"
    closed_at: int | None = None
    reason: str = ""

    def is_current(self, now: int) -> bool:
        """Whether it is active, has begun and has not run out: `now` = expiry is expired."""
        return self.state == "active" and self.begins_at() <= now < self.expires_at

    def begins_at(self) -> int:
        """From when on it allows anything."""
        return self.issued_at if self.starts_at is None else self.starts_at

    def renewed(self, now: int, expires_at: int) -> Lease:
        """The same lease, running longer."""
        return evolve(self, renewals=self.renewals + 1, renewed_at=now, expires_at=expires_at)

    def released(self, now: int, reason: str) -> Lease:
        """The lease given back by its holder."""
        return evolve(self, state="released", closed_at=now, reason=reason)

    def revoked(self, now: int, reason: str) -> Lease:
        """The lease taken away; one that had run out is noted as expired."""
        state = "revoked" if now < self.expires_at else "expired"
        return evolve(self, state=state, closed_at=now, reason=reason)

    def document(self) -> JsonObject:
        """The normative Lease document."""
        document: JsonObject = {
            "leaseId": self.lease_id,
            "leaseType": self.lease_type,
            "missionId": self.place.mission_id,
            "groupId": self.place.group_id,
            "workItemId": self.place.work_item_id,
            "holderAgentId": self.holder,
            "sessionEpoch": self.session_epoch,
            "ownershipEpoch": self.ownership_epoch,
            "issuedAt": text(self.issued_at),
            "startsAt": text(self.begins_at()),
            "expiresAt": text(self.expires_at),
            "state": self.state,
            "renewalCount": self.renewals,
        }
        if self.start_by is not None:
            document["startBy"] = text(self.start_by)
        if self.renewed_at is not None:
            document["lastRenewedAt"] = text(self.renewed_at)
        if self.closed_at is not None:
            document["closedAt"] = text(self.closed_at)
            document["closureReason"] = self.reason
        return document
