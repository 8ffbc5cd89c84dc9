"""The outbox: Commands that were decided and are not answered yet.

Responsible for epochs, Action IDs, signing, sending again, and for dropping what facts have made
stale (MWP-WRK-013: a stale Command is dropped, never relabelled). Never decides that a Command
should be; the duties do.
"""

from __future__ import annotations

import hashlib

from reference_worker import leases
from reference_worker.documents import Document
from reference_worker.instants import MICROS
from reference_worker.records import Command, WorkItem, evolve
from reference_worker.turn import IDENTIFIER_PREFIX, Turn

RESEND_AFTER = 30 * MICROS  # declared as `resendSeconds`
ACCEPT, START, CHECKPOINT, BLOCK, PUBLISH, SUBMIT, FAIL = (
    "work.accept_offer",
    "work.start",
    "work.checkpoint",
    "work.block",
    "artifact.publish",
    "work.submit",
    "work.fail",
)
CLOSING_KINDS = frozenset({BLOCK, SUBMIT, FAIL})


def propose(
    turn: Turn,
    item: WorkItem,
    kind: str,
    payload: Document,
    *,
    lease_id: str = "",
    resend_after: int = RESEND_AFTER,
    binding: Document | None = None,
) -> None:
    """Decide on a Command; it leaves at once if the Group's link allows."""
    group = turn.group(item.group_id)
    assert group is not None, "an item's Group is known"
    command = (_given_up(turn, item) if kind == START else None) or Command(
        action_id=turn.identifier("action", item.group_id),
        group_id=item.group_id,
        work_item_id=item.work_item_id,
        kind=kind,
        session_epoch=turn.projection.session.session_epoch,
        membership_epoch=group.membership_epoch,
        ownership_epoch=item.ownership.epoch if item.ownership else 0,
        lease_id=lease_id,
        payload={"workItemId": item.work_item_id, **payload},
        frame={},
        sent_at=0,
        due_at=turn.now,
        resend_after=resend_after,
        binding=binding,
    )
    _keep(turn, command)
    _transmit(turn, command)
    turn.touch(item.work_item_id)


def _given_up(turn: Turn, item: WorkItem) -> Command | None:
    """The start that a cut left unanswered, if it would say the same today (MWP-EVT-003)."""
    earlier = turn.runtime.given_up.pop(item.work_item_id, None)
    if earlier is None or not _has_current_epochs(turn, earlier):
        return None
    same = earlier.frame["command"]["expectedRevision"] == item.revision
    return evolve(earlier, due_at=turn.now) if same and not is_stale(turn, earlier, item) else None


def outstanding(turn: Turn, work_item_id: str) -> list[Command]:
    """The unanswered Commands about one item, oldest first."""
    action_ids = turn.runtime.outstanding.get(work_item_id)
    if action_ids is None:
        return []
    found = (turn.projection.commands.get(action_id) for action_id in action_ids)
    return [command for command in found if command is not None]


def has_outstanding(turn: Turn, item: WorkItem, *kinds: str) -> bool:
    """True if a Command of one of these kinds about the item is unanswered."""
    return any(command.kind in kinds for command in outstanding(turn, item.work_item_id))


def review(turn: Turn, work_item_id: str) -> None:
    """Drop, rebase or send again what is unanswered about one item."""
    for command in outstanding(turn, work_item_id):
        item = turn.item(work_item_id)
        if item is None or is_stale(turn, command, item):
            drop(turn, command)
        elif not _has_current_epochs(turn, command) or _names_a_lost_lease(turn, command, item):
            _reissue_or_rebase(turn, command)
        elif turn.now >= command.due_at:
            _transmit(turn, command)
        else:
            turn.runtime.timers.set(command.due_at, work_item_id)


def is_stale(turn: Turn, command: Command, item: WorkItem) -> bool:
    """True if delivered facts forbid the Command, or make it pointless."""
    if not leases.is_member(turn, item.group_id):
        return True
    if command.kind == ACCEPT:
        return (
            item.offer is None
            or item.offer.offer_id != command.payload["offerId"]
            or turn.now >= item.offer.expires_at
        )
    if not leases.is_owner(turn, item) or item.ownership is None:
        return True
    if item.ownership.epoch != command.ownership_epoch:  # MWP-WRK-019
        return True
    if command.kind == START:
        return not leases.is_queued(turn, item) or turn.now >= item.ownership.expires_at
    if command.binding is not None:  # a run that goes on makes the buffered Checkpoint pointless
        return turn.is_live(item.group_id) and turn.runtime.run_of(item.work_item_id) is not None
    if command.kind == FAIL and (leases.is_queued(turn, item) or not turn.is_live(item.group_id)):
        return False  # a failure stays one when its lease is revoked, or ends in an outage
    lease = leases.current_lease(turn, item)
    if command.lease_id:
        return lease is None or lease.lease_id != command.lease_id
    return False


def _has_current_epochs(turn: Turn, command: Command) -> bool:
    group = turn.group(command.group_id)
    return (
        group is not None
        and command.membership_epoch == group.membership_epoch
        and command.session_epoch == turn.projection.session.session_epoch
    )


def _reissue_or_rebase(turn: Turn, command: Command) -> None:
    """Changed content gets a new Action ID; what was never sent may keep its own."""
    item = turn.item(command.work_item_id)
    if command.kind == START and command.frame:
        drop(turn, command)
    elif command.frame or (item is not None and _names_a_lost_lease(turn, command, item)):
        reissue(turn, command)
    else:
        group = turn.group(command.group_id)
        assert group is not None, "a Command's Group is known"
        rebased = evolve(
            command,
            session_epoch=turn.projection.session.session_epoch,
            membership_epoch=group.membership_epoch,
        )
        _keep(turn, rebased)
        _transmit(turn, rebased)


def _names_a_lost_lease(turn: Turn, command: Command, item: WorkItem) -> bool:
    """The failure of work that is queued again names no lease."""
    return command.kind == FAIL and bool(command.lease_id) and leases.is_queued(turn, item)


def reissue(turn: Turn, command: Command) -> None:
    """The same intention as a new Command: new Action ID, current epochs, revision and time."""
    group, item = turn.group(command.group_id), turn.item(command.work_item_id)
    assert group is not None, "a Command's Group is known"
    _forget(turn, command)
    if item is not None and _names_a_lost_lease(turn, command, item):
        payload = {k: v for k, v in command.payload.items() if k != "executionLeaseId"}
        command = evolve(command, payload=payload, lease_id="")
    fresh = evolve(
        command,
        action_id=turn.identifier("action", command.group_id),
        session_epoch=turn.projection.session.session_epoch,
        membership_epoch=group.membership_epoch,
        frame={},
        due_at=turn.now,
        conflicts=command.conflicts + 1,
    )
    _keep(turn, fresh)
    _transmit(turn, fresh)


def postpone(turn: Turn, command: Command, until: int) -> None:
    """Send the same bytes again, not before `until`."""
    _keep(turn, evolve(command, due_at=until, conflicts=command.conflicts + 1))
    turn.runtime.timers.set(until, command.work_item_id)


def answered(turn: Turn, group_id: str, action_id: str) -> None:
    """An accepted Event of the Command's own Group names it as its cause."""
    command = turn.projection.commands.get(action_id)
    if command is not None and command.group_id == group_id:
        _forget(turn, command)
        if command.kind == START:
            turn.runtime.reservations.pop(command.work_item_id, None)
        turn.touch(command.work_item_id)


def drop(turn: Turn, command: Command, *, refused: bool = False) -> None:
    """Give a Command up.

    A start that was refused or never sent is no service. One that was sent and not answered may
    have been granted, and stays charged: leaving must not wash a debt off.
    """
    _forget(turn, command)
    if command.kind == START:
        flow = turn.runtime.reservations.pop(command.work_item_id, None)
        if flow is not None and (refused or not command.frame):
            turn.runtime.scheduler.refund(flow)
    turn.touch(command.work_item_id)


def _keep(turn: Turn, command: Command) -> None:
    turn.projection.commands.put(command.action_id, command)
    of_item = turn.runtime.outstanding.setdefault(command.work_item_id, {})
    of_item[command.action_id] = None


def _forget(turn: Turn, command: Command) -> None:
    turn.projection.commands.drop(command.action_id)
    of_item = turn.runtime.outstanding.get(command.work_item_id, {})
    of_item.pop(command.action_id, None)
    if not of_item:
        turn.runtime.outstanding.pop(command.work_item_id, None)


def _transmit(turn: Turn, command: Command) -> None:
    group, item = turn.group(command.group_id), turn.item(command.work_item_id)
    if group is None or item is None or not turn.is_live(command.group_id):
        return  # looked at again when the Group's link is live
    if group.membership_state == "stale":
        return  # looked at again when a fact brings the current Membership Epoch
    if command.kind == SUBMIT and command.conflicts and has_outstanding(turn, item, PUBLISH):
        return  # refused once, perhaps for Artifacts of which nobody had heard: they come first
    if turn.now < group.paused_until:
        turn.runtime.timers.set(group.paused_until, command.work_item_id)
        return
    frame = command.frame or _frame(turn, command, item)
    due_at = turn.now + command.resend_after
    _keep(turn, evolve(command, frame=frame, sent_at=turn.now, due_at=due_at))
    turn.runtime.timers.set(due_at, command.work_item_id)
    turn.emit({"type": "frame", "frame": frame})


def _frame(turn: Turn, command: Command, item: WorkItem) -> Document:
    issued_at = turn.stamp()
    document: Document = {
        "protocolVersion": "0.1",
        "actionId": command.action_id,
        "actor": {"type": "agent", "id": turn.projection.session.agent_id},
        "sessionEpoch": command.session_epoch,  # MWP-FND-016
        "membershipEpoch": command.membership_epoch,
        "groupId": command.group_id,
        "workItemId": command.work_item_id,
        "kind": command.kind,
        "correlationId": _correlation(command),
        "issuedAt": issued_at,
        "payload": command.payload,
    }
    if command.kind != PUBLISH:  # an Artifact is an aggregate of its own
        document["expectedRevision"] = item.revision  # MWP-EVT-007
    if command.binding is not None:
        document["extensions"] = command.binding
    return {
        "protocolVersion": "0.1",
        "frameId": turn.identifier("frame", command.group_id),
        "frameType": "COMMAND",
        "command": turn.runtime.agent.key.sign(document, issued_at),
    }


def _correlation(command: Command) -> str:
    text = f"{command.group_id}\n{command.work_item_id}"
    return f"{IDENTIFIER_PREFIX}:correlation:{hashlib.sha256(text.encode()).hexdigest()[:40]}"
