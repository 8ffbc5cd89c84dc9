"""Reports of the executor: what a slot's work has come to.

Responsible for turning a report into Commands: checkpoint, block, submit, fail, or a retry within
the contract's policy. Never believes a report that names another run's lease, and never lets a
claim of completion stand without its Evidence (MWP-WRK-025).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reference_worker import checkpoints, leases, operations, outbox, results, retries, slots
from reference_worker.documents import Document
from reference_worker.records import WorkItem
from reference_worker.runtime import Run
from reference_worker.turn import Turn

TOO_LATE = "DEADLINE_EXCEEDED"


def receive(turn: Turn, stimulus: Document) -> None:
    """Take one `execution` stimulus."""
    run = turn.runtime.runs.get(stimulus["slotId"])
    report = stimulus["report"]
    if report["kind"] == "operation":
        operations.request(turn, stimulus, run)
        return
    if run is None or not _is_of_run(stimulus, run):
        return  # a late report of an earlier run must not count for the present one
    item = turn.item(run.work_item_id)
    handler = REPORTS.get(report["kind"])
    if item is not None and handler is not None:
        operations.count_usage(turn, item, report.get("usage", {}))
        item = turn.item(run.work_item_id) or item
        if report["kind"] in ("progress", "safe_point"):
            operations.heed_budget(turn, run, item)
        handler(turn, run, item, report)


def _is_of_run(stimulus: Document, run: Run) -> bool:
    return bool(stimulus["workItemId"] == run.work_item_id and stimulus["leaseId"] == run.lease_id)


def _completed(turn: Turn, run: Run, item: WorkItem, report: Document) -> None:
    lease = leases.current_lease(turn, item)
    if lease is None or lease.lease_id != run.lease_id or not slots.move(turn, run, "close"):
        return
    result = results.complete(turn, item, report)
    if result is None:
        evidence = results.failure_evidence(
            turn, item, report.get("evidence", []), "EVIDENCE_MISSING"
        )
        _fail(turn, item, run.lease_id, "EVIDENCE_MISSING", evidence)
        return
    bound: Document = {"ownershipEpoch": run.ownership_epoch, "executionLeaseId": run.lease_id}
    for artifact in result.artifacts:
        publication = {**bound, "artifact": artifact}
        outbox.propose(turn, item, outbox.PUBLISH, publication, lease_id=run.lease_id)
    submission = {
        **bound,
        "artifactIds": [artifact["artifactId"] for artifact in result.artifacts],
        "evidence": list(result.evidence),
    }
    outbox.propose(turn, item, outbox.SUBMIT, submission, lease_id=run.lease_id)


def _failed(turn: Turn, run: Run, item: WorkItem, report: Document) -> None:
    if (run.phase, "retry") not in slots.MOVES:
        return  # the run has come to its end already
    changed = turn.change(item, failures=item.failures + 1)
    delay = retries.delay_before_retry(turn, changed, report["code"])
    if delay is not None and not run.escalation:  # MWP-WRK-018, MWP-AUT-004
        turn.change(changed, not_before=turn.now + delay, failed_under=run.lease_id)
        slots.move(turn, run, "retry")
        return
    if slots.move(turn, run, "close"):
        evidence = results.failure_evidence(
            turn, changed, report.get("evidence", []), report["code"]
        )
        _fail(turn, changed, run.lease_id, report["code"], evidence)


def give_up_late_retry(turn: Turn, item: WorkItem) -> None:
    """Fail work whose next attempt had to wait until behind its deadline (MWP-WRK-018)."""
    if not item.failed_under or item.suspended or not leases.is_owner(turn, item):
        return
    lease = leases.current_lease(turn, item)
    if lease is None and not leases.is_queued(turn, item):
        return
    if turn.now < item.contract.deadline:
        turn.runtime.timers.set(item.contract.deadline, item.work_item_id)
    elif not outbox.has_outstanding(turn, item, *outbox.CLOSING_KINDS):
        evidence = results.failure_evidence(turn, item, [], TOO_LATE)
        _fail(turn, item, lease.lease_id if lease else "", TOO_LATE, evidence)


def _fail(
    turn: Turn, item: WorkItem, lease_id: str, reason: str, evidence: tuple[Document, ...]
) -> None:
    """Propose the failure; work that is queued again names no lease."""
    assert item.ownership is not None, "only an owner fails work"
    payload = {
        "ownershipEpoch": item.ownership.epoch,
        **({"executionLeaseId": lease_id} if lease_id else {}),
        "reason": reason,
        "evidence": list(evidence),
    }
    outbox.propose(turn, item, outbox.FAIL, payload, lease_id=lease_id)


REPORTS: Mapping[str, Callable[[Turn, Run, WorkItem, Document], None]] = {
    "safe_point": checkpoints.safe_point,
    "progress": checkpoints.progress,
    "blocked": checkpoints.blocked,
    "completed": _completed,
    "failed": _failed,
}
