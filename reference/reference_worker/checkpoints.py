"""Checkpoints: safe points reported by the executor, and the Commands that make them durable.

Responsible for steps 2 and 3 of section 11.3 and for blocking (MWP-WRK-015, MWP-WRK-017). Never
pauses a slot before the Checkpoint's Command is out.
"""

from __future__ import annotations

from reference_worker import disclosure, offline, outbox, slots
from reference_worker.documents import Document
from reference_worker.instants import is_timestamp, micros, spell
from reference_worker.records import Checkpoint, WorkItem
from reference_worker.runtime import Run
from reference_worker.turn import Turn


def safe_point(turn: Turn, run: Run, item: WorkItem, report: Document) -> None:
    """A safe point: the wanted one while preempting, worth keeping while offline, else nothing."""
    if offline.is_in_grace(turn, run.group_id):
        _buffer(turn, run, item, report)
        if slots.move(turn, run, "safe point"):
            slots.move(turn, run, "buffered")
    elif slots.move(turn, run, "safe point"):
        document = _checkpoint(turn, run, report)
        if run.escalation:
            block(turn, run, item, document, run.escalation)
        else:
            payload = {**_bound(run), "checkpoint": document}
            outbox.propose(turn, item, outbox.CHECKPOINT, payload, lease_id=run.lease_id)


def _buffer(turn: Turn, run: Run, item: WorkItem, report: Document) -> None:
    """Keep the latest safe point for the reconciliation (MWP-WRK-021)."""
    for command in outbox.outstanding(turn, item.work_item_id):
        if command.kind == outbox.CHECKPOINT and command.binding is not None:
            outbox.drop(turn, command)
    outbox.propose(
        turn,
        item,
        outbox.CHECKPOINT,
        {**_bound(run), "checkpoint": _checkpoint(turn, run, report)},
        lease_id=run.lease_id,
        binding=offline.binding(turn, run, item, report.get("usage", {})),
    )


def progress(turn: Turn, run: Run, item: WorkItem, report: Document) -> None:
    """Progress decides nothing; a revised completion is disclosed if it is materially another."""
    del run
    completion = report.get("updatedCompletionEstimate")
    if is_timestamp(completion):
        disclosure.publish(turn, item, micros(str(completion)))


def blocked(turn: Turn, run: Run, item: WorkItem, report: Document) -> None:
    """The work cannot go on: checkpoint, say what is needed, and give the slot back."""
    if not slots.move(turn, run, "close"):
        return
    if offline.is_in_grace(turn, run.group_id):  # the next run will find itself blocked again
        _buffer(turn, run, item, report)
        slots.move(turn, run, "closed")
    else:
        block(turn, run, item, _checkpoint(turn, run, report), report["requiredResolution"])


def block(turn: Turn, run: Run, item: WorkItem, document: Document, reason: str) -> None:
    """Say at a safe point what is needed to go on."""
    payload = {**_bound(run), "checkpoint": document, "reason": reason}
    outbox.propose(turn, item, outbox.BLOCK, payload, lease_id=run.lease_id)


def _bound(run: Run) -> Document:
    return {"ownershipEpoch": run.ownership_epoch, "executionLeaseId": run.lease_id}


def _checkpoint(turn: Turn, run: Run, report: Document) -> Document:
    run.reported = Checkpoint(report["checkpointId"], report["checkpointHash"])
    return {
        "checkpointId": report["checkpointId"],
        "workItemId": run.work_item_id,
        **_bound(run),
        "checkpointHash": report["checkpointHash"],
        "recordedAt": spell(turn.wall),
    }
