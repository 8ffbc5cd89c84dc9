"""The plans of a vector: the Worker's identity, its Groups, and its WorkItems.

One table for each, which both reading and writing follow: the words are the model's member names
without their unit. Never decides which WorkItems exist (`loader` does).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import attrs

from worker_conformance.scenario.model import AgentPlan, GroupPlan, WorkPlan
from worker_conformance.scenario.values import (
    DURATION,
    ERROR_CODE,
    NAME,
    POSITIVE,
    TEXT,
    TRUTH,
    WEIGHT,
    WHOLE,
    Form,
    Member,
    checked_name,
    choice,
    duration,
    entries,
    many,
    matching,
    read_members,
    write_duration,
    write_members,
)
from worker_conformance.scenario.yaml_reader import Plain, YamlNode, YamlScalar

URGENCIES = ("routine", "normal", "high", "critical")
APPROVALS = ("not_required", "policy_required", "human_required")
RISKS = ("none", "reversible", "external", "high_risk", "destructive")
BACKOFFS = ("none", "fixed", "exponential")
MANUAL = "manual"

CAPABILITY = matching(
    r"[a-z][a-z0-9._-]*@[0-9]+\.[0-9]+\.[0-9]+", "a capability", "such as acme.build@2.1.0"
)
PRIORITY_CLASS = matching(r"[a-z][a-z0-9_-]*", "a priority class", "such as standard")
SCOPE = matching(r"[a-z][a-z0-9._]*", "a scope", "such as work.accept_offer")


def _read_safe_point(node: YamlNode) -> int | None:
    if isinstance(node, YamlScalar) and node.value == MANUAL:
        return None
    return duration(node)


def _write_safe_point(value: object) -> Plain:
    return MANUAL if value is None else write_duration(value)


AGENT_MEMBERS = (
    Member("slots", "slots", POSITIVE),
    Member("capabilities", "capabilities", many(CAPABILITY)),
    Member("card_version", "card_version", POSITIVE),
)

BUDGET_LIMITS = (
    Member("financial", "financial", WHOLE),
    Member("model_tokens", "model_tokens", WHOLE),
    Member("tool_calls", "tool_calls", WHOLE),
    Member("compute_seconds", "compute_seconds", WHOLE),
    Member("external_side_effects", "external_side_effects", WHOLE),
)
"""The dimensions of a budget that a vector can limit, spelled as usage is."""

PARTS = (
    "goal",
    "required_deliverables",
    "acceptance_criteria",
    "deadline",
    "required_capabilities",
    "retry_policy",
    "budget",
    "side_effect_risk",
)
"""Parts that a Work Contract can lack (MWP-WRK-001)."""


def _read_budget(node: YamlNode) -> dict[str, object]:
    return read_members(node, BUDGET_LIMITS, "budget")


def _write_budget(value: object) -> Plain:
    return write_members(value if isinstance(value, Mapping) else {"": value}, BUDGET_LIMITS)


BUDGET = Form(_read_budget, _write_budget)

GROUP_MEMBERS = (
    Member("weight", "weight", WEIGHT),
    Member("slot_quota", "slot_quota", WHOLE, alias="quota"),
    Member("priority_class", "priority_class", PRIORITY_CLASS, alias="class"),
    Member("scopes", "scopes", many(SCOPE)),
    Member("visibility_start", "visibility_start", WHOLE),
    Member("provisional", "provisional_seconds", DURATION),
    Member("external_side_effect_limit", "external_side_effect_limit", WHOLE),
    Member("budget", "budget", BUDGET),
    Member("joined", "joined", TRUTH),
)

CONTRACT_MEMBERS = (
    Member("duration", "duration_seconds", DURATION),
    Member("completes", "completes", TRUTH),
    Member("running_time", "running_time_seconds", DURATION),
    Member("safe_point", "safe_point_seconds", Form(_read_safe_point, _write_safe_point)),
    Member("goal", "goal", TEXT),
    Member("deadline", "deadline_seconds", DURATION),
    Member("urgency", "urgency", choice(*URGENCIES)),
    Member("approval", "approval", choice(*APPROVALS)),
    Member("risk", "risk", choice(*RISKS)),
    Member("depends_on", "depends_on", many(NAME)),
    Member("capability", "capability", CAPABILITY),
    Member("authorization_eligible", "authorization_eligible", TRUTH),
    Member("external_side_effect_limit", "external_side_effect_limit", WHOLE),
    Member("attempts", "attempts", POSITIVE),
    Member("backoff", "backoff", choice(*BACKOFFS)),
    Member("max_delay", "max_delay_seconds", DURATION),
    Member("retryable", "retryable", many(ERROR_CODE)),
    Member("offer", "offer_seconds", DURATION),
    Member("start_by", "start_by_seconds", DURATION),
    Member("ownership", "ownership_seconds", DURATION),
    Member("lease", "lease_seconds", DURATION),
    Member("lease_delay", "lease_delay_seconds", DURATION),
    Member("budget", "budget", BUDGET),
    Member("lacks", "lacks", choice(*PARTS)),
    Member("extension", "extension", choice("critical", "optional")),
    Member("token", "token", choice("auto", "manual")),
)
"""What a WorkItem's plan and a `revise` act may say."""

WORK_MEMBERS = (Member("group", "group", NAME), *CONTRACT_MEMBERS)

_Plan = TypeVar("_Plan")


def read_agent(node: YamlNode) -> AgentPlan:
    """Read the `agent` section."""
    return _build(AgentPlan, read_members(node, AGENT_MEMBERS, "agent"))


def write_agent(plan: AgentPlan) -> dict[str, Plain]:
    """Write what differs from the default plan."""
    return write_members(_changed(plan, AgentPlan()), AGENT_MEMBERS)


def read_groups(node: YamlNode) -> tuple[GroupPlan, ...]:
    """Read the `groups` section, in the order written."""
    return tuple(
        _build(
            GroupPlan,
            {
                "name": checked_name(key, place),
                **read_members(value, GROUP_MEMBERS, f"Group {key}"),
            },
        )
        for key, place, value in entries(node, "groups")
    )


def write_group(plan: GroupPlan) -> dict[str, Plain]:
    """Write what differs from a default Group."""
    return write_members(_changed(plan, GroupPlan(plan.name)), GROUP_MEMBERS)


def read_work_members(node: YamlNode, name: str) -> dict[str, object]:
    """Read one WorkItem's members; its Group may still be missing."""
    return read_members(node, WORK_MEMBERS, f"WorkItem {name}")


def build_work(name: str, group: str, members: Mapping[str, object]) -> WorkPlan:
    """Make the plan of a WorkItem once its Group is known."""
    return _build(WorkPlan, {"name": name, **members, "group": group})


def write_work(plan: WorkPlan) -> dict[str, Plain]:
    """Write what differs from a default WorkItem of the same Group; never the Group."""
    return write_members(_changed(plan, WorkPlan(plan.name, plan.group)), CONTRACT_MEMBERS)


def _build(kind: Callable[..., _Plan], values: Mapping[str, object]) -> _Plan:
    return kind(**values)


def _changed(plan: attrs.AttrsInstance, default: attrs.AttrsInstance) -> dict[str, object]:
    names: Sequence[str] = [field.name for field in attrs.fields(type(plan))]
    return {
        name: getattr(plan, name) for name in names if getattr(plan, name) != getattr(default, name)
    }
