"""The Organization's policy as the Worker reads it: classes, weights, quotas, gates and limits.

Responsible for turning one `policy` document into answers. Never takes a claim from a Coordinator
or a Message into account; those do not reach this module (MWP-WRK-009).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Self

from attrs import field, frozen

from reference_worker.documents import Document
from reference_worker.instants import MICROS

QUEUED_ITEMS_MAX = 1000  # accepted and waiting, where policy sets no limit
OFFLINE_GRACE_SECONDS = 0  # without policy there is no grace


@frozen
class Policy:
    """One version of the policy, whole."""

    classes: tuple[str, ...] = ("standard",)
    groups: Mapping[str, Document] = field(factory=dict)
    items: Mapping[str, Document] = field(factory=dict)
    availability: Mapping[str, str] = field(factory=dict)
    card_upgrades: Mapping[str, str] = field(factory=dict)
    limits: Mapping[str, int] = field(factory=dict)
    remaining: Mapping[str, Document] = field(factory=dict)

    @classmethod
    def read(cls, document: Document) -> Self:
        """From the `policy` document of the Port."""
        return cls(
            classes=tuple(document.get("priorityClasses", ())) or ("standard",),
            groups=document.get("groups", {}),
            items=document.get("workItems", {}),
            availability=document.get("capabilityAvailability", {}),
            card_upgrades=document.get("cardUpgrades", {}),
            limits=document.get("limits", {}),
            remaining=document.get("remainingBudget", {}),
        )

    def class_of(self, group_id: str, work_item_id: str) -> str:
        """The item's own class, else its Group's; an unknown one counts as the lowest."""
        own = self.items.get(work_item_id, {}).get("priorityClass")
        name = own or self.groups.get(group_id, {}).get("priorityClass")
        return name if name in self.classes else self.classes[0]

    def rank(self, name: str) -> int:
        """0 for the lowest class."""
        return self.classes.index(name) if name in self.classes else 0

    def weight(self, group_id: str) -> Fraction:
        """The Group's weight, exact; 1 where none is set."""
        weight = self.groups.get(group_id, {}).get("weight", 1)
        return Fraction(weight) if weight > 0 else Fraction(1)

    def quota(self, group_id: str) -> int | None:
        """How many slots the Group may use at once."""
        quota = self.groups.get(group_id, {}).get("slotQuota")
        return None if quota is None else int(quota)

    def approval_required(self, work_item_id: str) -> bool:
        """How `policy_required` resolves for this WorkItem."""
        return bool(self.items.get(work_item_id, {}).get("executionApproval") == "required")

    def is_available(self, capability_id: str) -> bool:
        """False while the Organization says that a capability cannot be used."""
        return self.availability.get(capability_id) != "unavailable"

    def queued_max(self) -> int:
        """Accepted items that may wait over all Groups."""
        return self.limits.get("maxQueuedItems", QUEUED_ITEMS_MAX)

    def queued_max_per_group(self) -> int:
        """Accepted items that may wait in one Group."""
        return self.limits.get("maxQueuedItemsPerGroup", self.queued_max())

    def offline_grace(self) -> int:
        """Microseconds for which reversible work may go on without the Group service."""
        return int(self.limits.get("offlineGraceSeconds", OFFLINE_GRACE_SECONDS) * MICROS)
