"""Bounded offline execution: what may go on while a Group's service is away.

Responsible for section 11.5: how long work in progress goes on, and the binding that a Command
buffered meanwhile carries (MWP-WRK-020, MWP-WRK-021). Never starts anything, and never lets an
operation with outside effects pass on the strength of the grace.
"""

from __future__ import annotations

from reference_worker.contracts import BOUNDED_OFFLINE_EXECUTION
from reference_worker.documents import Document
from reference_worker.instants import spell
from reference_worker.records import WorkItem
from reference_worker.runtime import Run
from reference_worker.turn import Turn

BINDING_VERSION = "0.1.0"
# After this part of the grace a safe point is asked for: the hard end then finds nothing to lose.
LAST_CALL = (3, 4)
USAGE_DIMENSIONS = (
    "financial",
    "modelTokens",
    "toolCalls",
    "computeSeconds",
    "wallClockSeconds",
    "externalSideEffects",
)


def grace_deadline(turn: Turn, group_id: str) -> int | None:
    """When work of a cut Group has to stand still; None while its link is up."""
    since = turn.runtime.cut_at.get(group_id)
    return None if since is None else since + turn.runtime.policy.offline_grace()


def is_in_grace(turn: Turn, group_id: str) -> bool:
    """True while reversible computation of a cut Group may go on without a lease."""
    deadline = grace_deadline(turn, group_id)
    return deadline is not None and turn.now < deadline


def last_call(turn: Turn, group_id: str) -> int | None:
    """When a safe point is asked for."""
    since = turn.runtime.cut_at.get(group_id)
    if since is None:
        return None
    return since + turn.runtime.policy.offline_grace() * LAST_CALL[0] // LAST_CALL[1]


def binding(turn: Turn, run: Run, item: WorkItem, usage: Document) -> Document | None:
    """The critical extension of a Command buffered now, or None while the link is up."""
    since, deadline = turn.runtime.cut_at.get(run.group_id), grace_deadline(turn, run.group_id)
    if since is None or deadline is None or item.lease is None:
        return None
    data = {
        "agentId": turn.projection.session.agent_id,
        "groupId": run.group_id,
        "workItemId": run.work_item_id,
        "sessionEpoch": item.lease.session_epoch,
        "ownershipEpoch": run.ownership_epoch,
        "executionLeaseId": run.lease_id,
        "disconnectedAt": spell(since),
        "bufferedAt": spell(turn.now),
        "graceDeadline": spell(deadline),
        "executionLeaseExpiresAt": spell(item.lease.expires_at),
        "resourceUsageDelta": {name: usage.get(name, 0) for name in USAGE_DIMENSIONS},
    }
    return {BOUNDED_OFFLINE_EXECUTION: {"version": BINDING_VERSION, "critical": True, "data": data}}
