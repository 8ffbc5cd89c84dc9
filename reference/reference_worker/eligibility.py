"""Eligibility: whether an accepted WorkItem may be started, and what stands in its way.

Responsible for the facts that gate a start: ownership, dependencies, approval, acceptance of the
current terms, backoff. Never looks at slots, quotas or other Groups; the Scheduler does.
"""

from __future__ import annotations

from reference_worker import leases, outbox
from reference_worker.records import Ownership, WorkItem
from reference_worker.turn import Turn

BUDGET_DIMENSIONS = {
    "financial": "financialLimit",
    "modelTokens": "modelTokenLimit",
    "toolCalls": "toolCallLimit",
    "computeSeconds": "computeSecondsLimit",
    "wallClockSeconds": "wallClockSecondsLimit",
    "externalSideEffects": "externalSideEffectLimit",
}
EXTERNAL_RISKS = frozenset({"external", "high_risk", "destructive"})
TERMS_CHANGED = "terms not accepted"
CARD_CHANGED = "incompatible Agent Card"
NEEDS_ACCEPTANCE = frozenset({TERMS_CHANGED, CARD_CHANGED})


def obstacle(turn: Turn, item: WorkItem) -> str | None:
    """Why the item may not be started now, or None. Watches the times at which that may change."""
    ownership = item.ownership
    if ownership is None or not leases.is_owner(turn, item):
        return "not owned"
    if not leases.is_queued(turn, item):
        return "not queued"
    return (
        _overdue(turn, item, ownership)
        or _set_back(turn, item)
        or unfit(turn, item)
        or _unmet(turn, item)
    )


def _overdue(turn: Turn, item: WorkItem, ownership: Ownership) -> str | None:
    for when in (ownership.expires_at, ownership.start_by):
        if when > turn.now:
            turn.runtime.timers.set(when, item.work_item_id)
    if turn.now >= ownership.expires_at:  # MWP-WRK-013
        return "ownership expired"
    if turn.now >= ownership.start_by and not item.started:
        return "start-by missed"
    return None


def _set_back(turn: Turn, item: WorkItem) -> str | None:
    if item.suspended:
        return "refused, and no fact since"
    if any(command.binding for command in outbox.outstanding(turn, item.work_item_id)):
        return "not reconciled"  # MWP-WRK-020
    if outbox.has_outstanding(turn, item, outbox.FAIL):
        return "failing"
    if turn.now < item.not_before:
        turn.runtime.timers.set(item.not_before, item.work_item_id)
        return "backoff"
    if item.failures >= item.contract.attempts_max:
        return "attempts exhausted"
    if not all(turn.runtime.policy.is_available(name) for name, _ in item.contract.capabilities):
        return "capability unavailable"
    if is_unaffordable(turn, item):  # MWP-AUT-004
        return "budget"
    return None


def is_unaffordable(turn: Turn, item: WorkItem) -> bool:
    """True if nothing is left of a dimension that the work needs."""
    if used_up(item) is not None:
        return True
    remaining = turn.runtime.policy.remaining.get(item.group_id, {})
    own = item.contract.limits()
    if item.contract.risk in EXTERNAL_RISKS:
        limits = (own.get("externalSideEffectLimit"), remaining.get("externalSideEffectLimit"))
        if 0 in limits:
            return True
    return any(
        remaining.get(name) == 0 and own.get(name, 0) != 0
        for name in remaining
        if name not in ("currency", "externalSideEffectLimit")
    )


def used_up(item: WorkItem) -> str | None:
    """The first limit of the contract that all runs together have reached, or None."""
    budget, earlier, latest = item.contract.limits(), dict(item.spent), dict(item.spending)
    for name, limit in BUDGET_DIMENSIONS.items():
        used = earlier.get(name, 0) + latest.get(name, 0)
        if limit in budget and used and used >= budget[limit]:
            return limit
    return None


def unfit(turn: Turn, item: WorkItem) -> str | None:
    """What would forbid even going on with it."""
    ownership = item.ownership
    if item.critical_extension:  # MWP-EXT-002
        return "unknown critical extension"
    if ownership is None or ownership.terms != item.contract.terms:  # MWP-WRK-002
        return TERMS_CHANGED
    if _card_is_incompatible(turn, ownership.card_version):  # MWP-IDN-003
        return CARD_CHANGED
    if not is_gate_open(turn, item):
        return "approval"
    return None


def _card_is_incompatible(turn: Turn, pinned: int) -> bool:
    version = max(turn.runtime.agent.card_version, turn.projection.session.card_version)
    return (
        version != pinned and turn.runtime.policy.card_upgrades.get(str(version)) == "incompatible"
    )


def is_gated(turn: Turn, item: WorkItem) -> bool:
    """True if the item needs an execution approval."""
    mode = item.contract.approval
    return mode == "human_required" or (
        mode == "policy_required" and turn.runtime.policy.approval_required(item.work_item_id)
    )


def is_gate_open(turn: Turn, item: WorkItem) -> bool:
    """True without a gate, or with an unexpired approval for this Ownership Epoch (MWP-AUT-003)."""
    if not is_gated(turn, item):
        return True
    epoch = item.ownership.epoch if item.ownership else 0
    open_until = [
        approval.expires_at
        for approval in item.approvals
        if approval.ownership_epoch == epoch and turn.now < approval.expires_at
    ]
    for when in open_until:
        turn.runtime.timers.set(when, item.work_item_id)
    return bool(open_until)


def _unmet(turn: Turn, item: WorkItem) -> str | None:
    """MWP-WRK-007: every dependency verified, as far as this Agent may see the history."""
    group = turn.group(item.group_id)
    sees_all = group is not None and group.full_history
    for dependency in item.contract.dependencies:
        standing = turn.projection.standing(item.group_id, dependency)
        if standing != "verified" and (standing is not None or sees_all):
            return "dependency"
    return None
