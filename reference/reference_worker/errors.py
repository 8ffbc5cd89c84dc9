"""Errors: how this Worker answers each code of section 19.

Responsible for one table from code to reaction. Never sends the same bytes again where the
specification forbids it, and never sends anything again without a reason to expect another answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reference_worker import (
    admission,
    checkpoints,
    facts,
    leases,
    operations,
    outbox,
    renewals,
    replay,
    slots,
)
from reference_worker.documents import Document
from reference_worker.records import CLOSED, Command, WorkItem, evolve
from reference_worker.runtime import Phase
from reference_worker.turn import Turn

RETRY_AFTER_MS = 1000  # where the Authority gives no guidance; doubled with each refusal
REISSUES_MAX = 5  # of one intention, before it waits for a new fact
NO_FURTHER_USE = "budget: the Authority accepts no further use"
MILLISECOND = 1000  # in microseconds
Reaction = Callable[[Turn, Command, Document], None]


def receive(turn: Turn, frame: Document) -> None:
    """Take one ERROR frame."""
    error = frame["error"]
    code, group_id = error["code"], error.get("groupId")
    if code == "CURSOR_TOO_OLD":
        replay.await_snapshot(turn, error)
        return
    if code in ("RATE_LIMITED", "BACKPRESSURE") and group_id is not None:
        _pause_group(turn, group_id, error)  # MWP-EVT-011: this Group and no other
    command = turn.projection.commands.get(error.get("relatedActionId", ""))
    if command is not None:
        reaction = _repeat if error["retryable"] and code in MAY_REPEAT else REACTIONS[code]
        reaction(turn, command, error)
        turn.touch(command.work_item_id)


def _delay(command: Command, error: Document) -> int:
    milliseconds = error.get("retryAfterMs", RETRY_AFTER_MS << min(command.conflicts, 10))
    return max(1, int(milliseconds)) * MILLISECOND


def _pause_group(turn: Turn, group_id: str, error: Document) -> None:
    group = turn.group(group_id)
    if group is not None:
        until = turn.now + int(error.get("retryAfterMs", RETRY_AFTER_MS)) * MILLISECOND
        turn.change_group(group, paused_until=max(group.paused_until, until))
        turn.runtime.timers.set(until, group_id)


def _repeat(turn: Turn, command: Command, error: Document) -> None:
    """The same bytes later; a start frees its reservation instead and is decided anew."""
    until = turn.now + _delay(command, error)
    item = turn.item(command.work_item_id)
    if command.kind != outbox.START or item is None:
        outbox.postpone(turn, command, until)
        return
    outbox.drop(turn, command, refused=True)
    turn.change(item, not_before=max(item.not_before, until), refusals=item.refusals + 1)


def _reissue(turn: Turn, command: Command, error: Document) -> None:
    """A new Command with a new Action ID, against the revision that we are told of."""
    item = turn.item(command.work_item_id)
    if item is not None and "currentRevision" in error:
        item = turn.change(item, revision=error["currentRevision"])
    if item is None or max(command.conflicts, item.refusals) >= REISSUES_MAX:
        _give_up(turn, command, error)
    elif command.kind == outbox.START:
        outbox.drop(turn, command, refused=True)
        turn.change(item, refusals=item.refusals + 1)
    elif outbox.is_stale(turn, command, item):
        outbox.drop(turn, command, refused=True)
    else:
        outbox.reissue(turn, command)


def _names_unknown_artifacts(turn: Turn, command: Command, item: WorkItem) -> bool:
    """True for a submission whose Artifacts may not have arrived: it is made again after them."""
    return command.kind == outbox.SUBMIT and outbox.has_outstanding(turn, item, outbox.PUBLISH)


def _give_up(turn: Turn, command: Command, error: Document) -> None:
    """Do nothing more of the kind until a fact about the item says otherwise."""
    del error
    item = turn.item(command.work_item_id)
    if item is not None and _names_unknown_artifacts(turn, command, item):
        outbox.reissue(turn, command)
        return
    outbox.drop(turn, command, refused=True)
    if item is None:
        return
    if command.kind == outbox.ACCEPT:
        admission.note_answer(turn, item)
    elif command.kind == renewals.RENEWAL_KIND:
        renewals.postpone(turn, item)
    elif command.kind in (outbox.SUBMIT, outbox.FAIL):
        # The run is over; a lease carries one run, delivered again or not (MWP-WRK-029).
        turn.change(item, lease=None, suspended=True)
    elif command.kind != outbox.PUBLISH:
        turn.change(item, suspended=command.kind != outbox.CHECKPOINT)
    run = turn.runtime.run_of(command.work_item_id)
    if run is not None and run.lease_id == command.lease_id:
        if command.kind == outbox.CHECKPOINT and slots.move(turn, run, "refused"):
            slots.tell(turn, run, "continue")
        elif command.kind in outbox.CLOSING_KINDS:
            slots.move(turn, run, "refused")


def _lose_lease(turn: Turn, command: Command, error: Document) -> None:
    if command.kind == outbox.START or not command.lease_id:
        _give_up(turn, command, error)
        return
    outbox.drop(turn, command, refused=True)
    item = turn.item(command.work_item_id)
    if item is None or item.lease is None or item.lease.lease_id != command.lease_id:
        return
    if not leases.is_queued(turn, item):  # what a session has revoked waits for its next start
        # Closed, and remembered: the next session has the work queued again (MWP-WRK-014).
        turn.change(item, lease=evolve(item.lease, expires_at=CLOSED))


def _lose_ownership(turn: Turn, command: Command, error: Document) -> None:
    """Fenced (MWP-WRK-019): the item is no concern of ours until a fact makes it one again."""
    del error
    outbox.drop(turn, command, refused=True)
    item = turn.item(command.work_item_id)
    if item is not None and command.kind == outbox.ACCEPT:
        admission.note_answer(turn, item)
    elif item is not None:
        facts.forget(turn, item.group_id, item.work_item_id, item.state)


def _lose_session(turn: Turn, command: Command, error: Document) -> None:
    del error
    if command.session_epoch == turn.projection.session.session_epoch:
        facts.fence(turn, command.session_epoch + 1)


def _lose_membership(turn: Turn, command: Command, error: Document) -> None:
    """Wait for the Membership Epoch that we do not know yet (MWP-MSN-010).

    The fact that brings it has everything that is outstanding issued anew.
    """
    del error
    group = turn.group(command.group_id)
    if command.kind == outbox.START:
        outbox.drop(turn, command, refused=True)
    if group is not None and group.membership_epoch == command.membership_epoch:
        turn.change_group(group, membership_state="stale")


def _exhaust(turn: Turn, command: Command, error: Document) -> None:
    """A budget is used up: pause at a safe point and say so (MWP-AUT-004)."""
    run, item = turn.runtime.run_of(command.work_item_id), turn.item(command.work_item_id)
    at_safe_point = command.kind == outbox.CHECKPOINT
    if run is not None and item is not None and run.phase in (Phase.RUNNING, Phase.PREEMPTING):
        outbox.drop(turn, command, refused=True)
        renewals.postpone(turn, item)
        operations.escalate(turn, run, NO_FURTHER_USE)
    elif run is not None and item is not None and at_safe_point:
        outbox.drop(turn, command, refused=True)
        slots.move(turn, run, "refused")
        slots.move(turn, run, "close")
        checkpoints.block(turn, run, item, command.payload["checkpoint"], NO_FURTHER_USE)
    else:
        _give_up(turn, command, error)
        item = turn.item(command.work_item_id)
        if item is not None and at_safe_point:  # of work that stands still: it stays so
            turn.change(item, suspended=True)


def _reconnect(turn: Turn, command: Command, error: Document) -> None:
    """Nothing helps but what the Organization or the operator does."""
    _give_up(turn, command, error)


# An unchanged repetition is lawful for these where the error calls it safe.
MAY_REPEAT = frozenset(
    {
        "RATE_LIMITED",
        "BACKPRESSURE",
        "INTERNAL_ERROR",
        "INVALID_COMMAND",
        "INVALID_STATE_TRANSITION",
        "GROUP_NOT_FOUND",
        "AUTH_FORBIDDEN",
    }
)
REACTIONS: Mapping[str, Reaction] = {
    "UNSUPPORTED_VERSION": _reconnect,
    "AUTH_REQUIRED": _reconnect,
    "AUTH_INVALID_SIGNATURE": _give_up,
    "AUTH_STALE_SESSION": _lose_session,
    "AUTH_STALE_COORDINATOR": _give_up,
    "AUTH_FORBIDDEN": _give_up,
    "GROUP_NOT_FOUND": _give_up,
    "MEMBERSHIP_REQUIRED": _give_up,
    "MEMBERSHIP_STALE": _lose_membership,
    "SCHEMA_VALIDATION_FAILED": _give_up,
    "INVALID_COMMAND": _give_up,
    "INVALID_STATE_TRANSITION": _give_up,
    "REVISION_CONFLICT": _reissue,
    "ACTION_ID_COLLISION": _reissue,
    "UNKNOWN_CRITICAL_EXTENSION": _give_up,
    "WORK_CONTRACT_INCOMPLETE": _give_up,
    "WORK_OFFER_EXPIRED": _give_up,
    "WORK_ALREADY_OWNED": _lose_ownership,
    "WORK_LEASE_EXPIRED": _lose_lease,
    "WORK_STALE_OWNERSHIP": _lose_ownership,
    "APPROVAL_REQUIRED": _give_up,
    "BUDGET_EXCEEDED": _exhaust,
    "RATE_LIMITED": _repeat,
    "BACKPRESSURE": _repeat,
    "PROTOCOL_VIOLATION": _give_up,
    "INTERNAL_ERROR": _give_up,
}
