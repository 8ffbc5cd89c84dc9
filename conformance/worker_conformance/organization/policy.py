"""The Organization's policy as the Port carries it: classes, weights, quotas, limits, gates.

Always the whole of it. Never says what a Worker should make of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.errors import SuiteError
from worker_conformance.organization.contracts import capability
from worker_conformance.organization.items import BUDGET_WORDS, USAGE_LIMITS
from worker_conformance.organization.names import Names
from worker_conformance.scenario.model import AgentPlan, GroupPlan, SetPolicy

PRIORITY_CLASSES = ("background", "standard", "urgent")
"""From lowest to highest."""

DEFAULT_CLASS = "standard"
"""A Group's class where nothing else is said."""

DEFAULT_LIMITS: Mapping[str, int] = {
    "maxQueuedItems": 1_000,
    "maxQueuedItemsPerGroup": 1_000,
    "offlineGraceSeconds": 60,
}

GROUP_MEMBERS: Mapping[str, str] = {
    "weight": "weight",
    "slot_quota": "slotQuota",
    "priority_class": "priorityClass",
}
WORK_MEMBERS: Mapping[str, str] = {
    "priority_class": "priorityClass",
    "approval": "executionApproval",
}
LIMIT_MEMBERS: Mapping[str, str] = {
    "max_queued_items": "maxQueuedItems",
    "max_queued_items_per_group": "maxQueuedItemsPerGroup",
    "offline_grace_seconds": "offlineGraceSeconds",
}
"""Members as scenarios spell them; the Port's own spelling is understood as well."""


class Policy:
    """The policy in force; `change` makes the next version."""

    def __init__(self, agent: AgentPlan, groups: Iterable[GroupPlan], names: Names) -> None:
        self.version = 1
        self._names = names
        self._group_of_work: dict[str, str] = {}
        self._groups: dict[str, JsonObject] = {}
        self._works: dict[str, JsonObject] = {}
        self._limits: JsonObject = dict(DEFAULT_LIMITS)
        self._remaining: dict[str, JsonObject] = {}
        self._cards: dict[str, str] = {}
        self._available: dict[str, JsonValue] = {
            capability(reference)[0]: "available" for reference in agent.capabilities
        }
        for plan in groups:
            self._add_group(plan)

    def knows_work(self, work: str, group: str) -> None:
        """Tell which Group a WorkItem's local name belongs to."""
        self._group_of_work[work] = group

    def document(self) -> JsonObject:
        """The whole policy."""
        names = self._names
        groups = {names.group_id(name): entry for name, entry in self._groups.items()}
        works = {
            names.work_id(name, self._group_of_work[name]): entry
            for name, entry in self._works.items()
        }
        return {
            "policyVersion": self.version,
            "priorityClasses": list(PRIORITY_CLASSES),
            "groups": cast(JsonObject, groups),
            "workItems": cast(JsonObject, works),
            "capabilityAvailability": dict(self._available),
            "cardUpgrades": {**self._cards},
            "limits": dict(self._limits),
            "remainingBudget": {
                names.group_id(group): {**rest} for group, rest in self._remaining.items()
            },
        }

    def change(self, step: SetPolicy) -> None:
        """Apply a step; a value of None takes the entry away."""
        for group, members in step.groups.items():
            if group not in self._groups:
                raise _unknown("Group", group)
            changed = _merged(self._groups[group], members, GROUP_MEMBERS)
            self._groups[group] = {"weight": 1, "priorityClass": DEFAULT_CLASS, **changed}
        for work, members in step.work.items():
            if work not in self._group_of_work:
                raise _unknown("WorkItem", work)
            self._works[work] = _merged(self._works.get(work, {}), members, WORK_MEMBERS)
        self._limits = _merged(self._limits, step.limits, LIMIT_MEMBERS)
        self._cards |= step.cards
        self._available |= step.capabilities
        for group, rest in step.remaining.items():
            if group not in self._groups:
                raise _unknown("Group", group)
            self._remaining[group] = {**self._remaining.get(group, {}), **budget_members(rest)}
        self.version += 1

    def requires_approval(self, work: str) -> bool:
        """Whether policy gates a WorkItem whose contract leaves that to policy."""
        return self._works.get(work, {}).get("executionApproval") == "required"

    def limit(self, member: str) -> float:
        """A limit by its name in the Port."""
        value = self._limits[member]
        return value if isinstance(value, int | float) else 0

    def _add_group(self, plan: GroupPlan) -> None:
        entry: JsonObject = {"weight": plan.weight, "priorityClass": plan.priority_class}
        if plan.slot_quota is not None:
            entry["slotQuota"] = plan.slot_quota
        self._groups[plan.name] = entry
        if plan.external_side_effect_limit is not None:
            self._remaining[plan.name] = {
                "externalSideEffectLimit": plan.external_side_effect_limit
            }
        if plan.budget:
            known = self._remaining.get(plan.name, {})
            self._remaining[plan.name] = {**known, **budget_members(plan.budget)}


def budget_members(plan: Mapping[str, int]) -> JsonObject:
    """Limits by a plan's words as the members of a Resource Budget."""
    return {USAGE_LIMITS[BUDGET_WORDS[word]]: limit for word, limit in plan.items()}


def _merged(
    entry: JsonObject, members: Mapping[str, object], spelling: Mapping[str, str]
) -> JsonObject:
    merged = dict(entry)
    for name, value in members.items():
        member = spelling.get(name, name)
        if member not in spelling.values():
            raise SuiteError(
                "unknown-policy", f"policy has no {name!r}", f"it has: {', '.join(spelling)}"
            )
        if value is None:
            merged.pop(member, None)
        else:
            merged[member] = cast(JsonValue, value)
    return merged


def _unknown(kind: str, name: str) -> SuiteError:
    return SuiteError("unknown-name", f"policy names the {kind} {name!r}, which does not exist")
