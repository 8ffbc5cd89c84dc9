"""Turns plans into documents: Work Contract, selection basis, Mission, Mission context.

Every text carries a canary of its Group, so that a leak is found wherever it surfaces. Never
changes anything once a document is made.
"""

from __future__ import annotations

from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.organization.hard_values import HARD_VALUES
from worker_conformance.organization.items import BUDGET_WORDS, USAGE_LIMITS
from worker_conformance.organization.moments import SECOND, text
from worker_conformance.organization.names import Names
from worker_conformance.scenario.model import DAY_SECONDS, FAR_SECONDS, GroupPlan, WorkPlan

EXTENSION_PROFILE = "extension:audit-trail"

CRITERIA = ("tested", "intact")
"""Acceptance criteria of every contract."""

FINANCIAL_LIMIT = 1_000
CALL_LIMIT = 100_000
"""Budgets that no scenario exhausts unless it is about them."""

OPEN_ENDED_SECONDS = 2 * DAY_SECONDS
"""The bound of work that runs until a report ends it: longer than nearly every scenario lets it."""


def capability(reference: str) -> tuple[str, str]:
    """`acme.build@2.1.0` as capability ID and version."""
    name, _, version = reference.partition("@")
    return name, version or "1.0.0"


def capability_document(reference: str) -> JsonObject:
    """`acme.build@2.1.0` as a capability reference."""
    name, version = capability(reference)
    return {"id": name, "version": version}


def contract(plan: WorkPlan, version: int, names: Names) -> JsonObject:
    """The Work Contract of a WorkItem, at one contract version."""
    secret = names.canary(plan.name, plan.group, "contract")
    whole = _whole_contract(plan, version, names, secret)
    lacking = _camel(plan.lacks) if plan.lacks else None
    if plan.extension is not None:
        whole["extensions"] = unknown_profile(names, critical=plan.extension == "critical")
    return {part: value for part, value in whole.items() if part != lacking}


def unknown_profile(names: Names, *, critical: bool, data: str | None = None) -> JsonObject:
    """Data of an Extension Profile that no Worker knows; `data` names one of HARD_VALUES."""
    uri = f"{names.organization}:{EXTENSION_PROFILE}"
    carried: JsonObject = {"trail": "kept"} if data is None else HARD_VALUES[data]
    return {uri: {"version": "1.0.0", "critical": critical, "data": carried}}


def _whole_contract(plan: WorkPlan, version: int, names: Names, secret: str) -> JsonObject:
    return {
        "contractVersion": version,
        "goal": f"{plan.goal or 'Build the component.'} Reference {secret}.",
        "requiredDeliverables": [
            {
                "deliverableId": f"package-{secret}",
                "description": f"The built package of {secret}.",
                "mediaType": "application/json",
                "schema": f"{names.organization}:schema:package",
            }
        ],
        "acceptanceCriteria": [_criterion(name, secret) for name in CRITERIA],
        "inputArtifacts": [],
        "dependencyWorkItemIds": [names.work_id(name, plan.group) for name in plan.depends_on],
        "allowedResources": [
            {
                "resource": f"{names.work_id(plan.name, plan.group)}:workspace",
                "operations": ["read", "write"],
            }
        ],
        "requiredCapabilities": [capability_document(plan.capability)],
        "deadline": text(plan.deadline_seconds * SECOND),
        "requestedUrgency": plan.urgency,
        "businessImpact": f"Unblocks the customer behind {secret}.",
        "retryPolicy": {
            "maxAttempts": plan.attempts,
            "backoff": plan.backoff,
            "maxDelay": _duration(plan.max_delay_seconds),
            "retryableFailures": list(plan.retryable),
        },
        "budget": _budget(plan, names),
        "sideEffectRisk": plan.risk,
        "executionApproval": plan.approval,
    }


def _duration(seconds: int) -> str:
    """In the largest units, as people and libraries spell it: PT1H30M, PT30S, P2D."""
    days, rest = divmod(seconds, DAY_SECONDS)
    parts = ((rest // 3600, "H"), (rest // 60 % 60, "M"), (rest % 60, "S"))
    clock = "".join(f"{count}{unit}" for count, unit in parts if count)
    if not days:
        return f"PT{clock or '0S'}"
    return f"P{days}DT{clock}" if clock else f"P{days}D"


def selection_basis(plan: WorkPlan, now: int) -> JsonObject:
    """Why the Coordinator chose the Agent that it offers the work to."""
    needed = capability_document(plan.capability)
    return {
        "requiredCapabilities": [needed],
        "verifiedMatches": [needed],
        "authorizationEligible": plan.authorization_eligible,
        "availabilityEstimate": text(now),
        "expectedCost": 1,
        "reliabilityEvidence": [],
        "policyRulesApplied": ["lowest expected cost"],
    }


def mission(
    group: GroupPlan, names: Names, state: str, revision: int, coordinator_epoch: int = 1
) -> JsonObject:
    """The Mission that owns a Group."""
    lease_id = names.numbered("coordinator-lease", group.name, group.name, coordinator_epoch)
    secret = names.canary(group.name, group.name, "mission")
    return {
        "missionId": names.mission_id(group.name),
        "groupId": names.group_id(group.name),
        "revision": revision,
        "objective": f"Deliver the product of {secret}.",
        "definitionOfDone": [_criterion("delivered", secret)],
        "missionOwner": {"type": "human", "id": names.owner_id},
        "coordinator": {
            "agentId": names.coordinator_id(coordinator_epoch),
            "agentCardVersion": 1,
            "coordinatorEpoch": coordinator_epoch,
            "leaseId": lease_id,
        },
        "state": state,
        "budget": {"currency": "EUR", "financialLimit": FINANCIAL_LIMIT * FINANCIAL_LIMIT},
        "deadline": text(2 * FAR_SECONDS * SECOND),
        "approvalPolicy": {"finalHumanApproval": True, "highRiskExecutionApproval": True},
        "createdAt": text(0),
    }


def mission_context(group: GroupPlan, names: Names) -> JsonObject:
    """What a Worker is told about the Mission outside the log; opaque, and this Group's alone."""
    secret = names.canary(group.name, group.name, "context")
    return {
        "brief": f"Background of {secret}: internal to this Mission.",
        "caseNumber": names.number_canary(group.name, "case"),
    }


def credentials(group: GroupPlan, names: Names) -> dict[str, JsonValue]:
    """Secrets of one Group, by name."""
    return {"repository": f"token-{names.canary(group.name, group.name, 'credential')}"}


def message_text(said: str, group: str, names: Names) -> str:
    """A Message's text with the Group's canary."""
    return f"{said} (case {names.canary(group, group, 'message')})"


def secrets_of_group(group: str, names: Names) -> tuple[str, ...]:
    """The canaries in a Group's own texts."""
    texts = ("mission", "context", "credential", "message")
    canaries = (names.canary(group, group, what) for what in texts)
    return (*canaries, str(names.number_canary(group, "case")))


def token_secret(work: str, group: str, names: Names) -> str:
    """What the secrets of a WorkItem's capability tokens begin with."""
    return f"secret-{names.canary(work, group, 'token')}"


def secrets_of_work(work: str, group: str, names: Names) -> tuple[str, ...]:
    """The canaries in a WorkItem's texts and budget."""
    return (names.canary(work, group, "contract"), str(names.budget_canary(work)))


def _criterion(name: str, secret: str) -> JsonObject:
    return {
        "criterionId": name,
        "description": f"The result is {name}, as agreed in {secret}.",
        "evidenceRequired": ["deterministic_test"],
    }


def _budget(plan: WorkPlan, names: Names) -> JsonObject:
    told: JsonObject = {USAGE_LIMITS[BUDGET_WORDS[word]]: n for word, n in plan.budget.items()}
    return {
        "currency": "EUR",
        "financialLimit": FINANCIAL_LIMIT,
        "modelTokenLimit": CALL_LIMIT,
        "toolCallLimit": names.budget_canary(plan.name),
        "computeSecondsLimit": CALL_LIMIT,
        # The Port's promise: an upper bound of the running time, known before the start.
        "wallClockSecondsLimit": _running_time_max(plan),
        "externalSideEffectLimit": plan.external_side_effect_limit,
        **told,
    }


def _running_time_max(plan: WorkPlan) -> int:
    """Of all its runs together, in seconds; of all its tries, where nothing else is planned.

    What runs until a report ends it has a long time, and time enough before its deadline.
    """
    if plan.running_time_seconds is not None:
        return plan.running_time_seconds
    if plan.completes:
        return plan.duration_seconds * plan.attempts
    return min(OPEN_ENDED_SECONDS, plan.deadline_seconds // 2)


def _camel(words: str) -> str:
    first, *rest = words.split("_")
    return first + "".join(word.capitalize() for word in rest)
