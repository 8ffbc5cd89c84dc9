"""Replay: subscriptions, the end of a replay, and restoring a Group Snapshot.

Responsible for section 16: what is asked for after a start or a cut, and what may take the place of
history that is no longer online. Never restores a Snapshot that it has not verified.
"""

from __future__ import annotations

from reference_worker import facts
from reference_worker.documents import Document, DocumentError, digest, is_valid
from reference_worker.instants import is_timestamp, micros
from reference_worker.projection import Receipt
from reference_worker.records import Group
from reference_worker.runtime import Link
from reference_worker.turn import Turn


def subscribe(turn: Turn, group_id: str) -> None:
    """Ask for everything after the durable Cursor (MWP-WRK-030).

    One frame for each Group, so that no Group's stream depends on another's.
    """
    group = turn.group(group_id)
    assert group is not None, "only known Groups are subscribed to"
    turn.runtime.links[group_id] = Link.REPLAYING
    turn.runtime.buffers.pop(group_id, None)
    turn.send(
        "SUBSCRIBE",
        group_id,
        subscriptionId=turn.identifier("subscription", group_id),
        groups=[{"groupId": group_id, "afterSequence": group.cursor}],
    )


def caught_up(turn: Turn, stimulus: Document) -> None:
    """The replay of one Group has ended; its Commands may leave after the next tick."""
    group_id = stimulus["groupId"]
    if turn.runtime.links.get(group_id) is Link.REPLAYING:
        turn.runtime.links[group_id] = Link.CAUGHT_UP


def tick(turn: Turn, stimulus: Document) -> None:
    """Time has passed; what has been caught up with is live now."""
    del stimulus
    ready = [g for g, link in turn.runtime.links.items() if link is Link.CAUGHT_UP]
    for group_id in ready:
        turn.runtime.links[group_id] = Link.LIVE
    if ready:
        turn.touch_groups(*ready)


def await_snapshot(turn: Turn, error: Document) -> None:
    """CURSOR_TOO_OLD: remember which Snapshot the Authority refers to."""
    group = turn.group(error.get("groupId", ""))
    reference = error.get("snapshotArtifactHash")
    if group is not None and reference is not None:
        turn.change_group(group, awaited_snapshot=reference)


def restore(turn: Turn, stimulus: Document) -> None:
    """Restore a Group from a Snapshot, or refuse it and change nothing."""
    snapshot, state = stimulus["snapshot"], stimulus["state"]
    try:
        group = _verified(turn, snapshot, state)
    except DocumentError as problem:
        effect: Document = {"type": "reject", "code": problem.code}
        if isinstance(snapshot, dict) and is_valid("id", snapshot.get("snapshotId")):
            effect["snapshotId"] = snapshot["snapshotId"]
        turn.emit(effect)
        return
    _restore(turn, group, snapshot, state)
    subscribe(turn, group.group_id)


def _verified(turn: Turn, snapshot: Document, state: Document) -> Group:
    """Schema, signature, creator's authority, reference and state hash, in this order."""
    if not is_valid("snapshot", snapshot):
        raise DocumentError("SCHEMA_VALIDATION_FAILED", "no Group Snapshot")
    creator = (snapshot["createdBy"]["type"], snapshot["createdBy"]["id"])
    turn.runtime.keys.verify(snapshot, snapshot["createdAt"], creator)
    if not turn.runtime.may("archival", creator):
        raise DocumentError("AUTH_FORBIDDEN", "created by no authorized archival service")
    group = turn.group(snapshot["groupId"])
    if group is None or not group.awaited_snapshot:
        raise DocumentError("PROTOCOL_VIOLATION", "not asked for")
    if digest(snapshot) != group.awaited_snapshot or digest(state) != snapshot["stateHash"]:
        raise DocumentError("PROTOCOL_VIOLATION", "not what was referred to")
    if snapshot["throughSequence"] < group.cursor:
        raise DocumentError("PROTOCOL_VIOLATION", "older than what is known")
    return group


def _restore(turn: Turn, group: Group, snapshot: Document, state: Document) -> None:
    through = snapshot["throughSequence"]
    for sequence, event_id in enumerate(snapshot["eventIds"], start=1):
        if turn.projection.receipt(event_id) is None:
            exact = len(snapshot["eventIds"]) == through  # else positions cannot be told
            receipt = Receipt(group.group_id, sequence if exact else 0, "")
            turn.projection.new_receipts[event_id] = receipt
    for document in state.get("memberships", ()):
        if is_valid("membership", document):
            facts.absorb_membership(turn, group, document)
    _restore_items(turn, group, state, through)
    for entry in state.get("approvals", ()):
        _restore_approval(turn, entry)
    current = turn.group(group.group_id)
    assert current is not None, "the Group is known"
    mission_state = state.get("mission", {}).get("state")
    ended = mission_state in ("approved", "cancelled", "failed")
    turn.change_group(current, cursor=through, awaited_snapshot="", mission_ended=ended)


def _restore_items(turn: Turn, group: Group, state: Document, through: int) -> None:
    documents = {
        document["workItemId"]: document
        for document in state.get("workItems", ())
        if facts.belongs(turn, document, group)
    }
    for item in turn.projection.items.of_group(group.group_id):
        if item.work_item_id not in documents:
            facts.forget(turn, group.group_id, item.work_item_id, "cancelled")
    latest: dict[str, Document] = {}
    for checkpoint in state.get("checkpoints", ()):
        latest[checkpoint["workItemId"]] = checkpoint
    origin: Document = {"kind": "group.snapshot.created", "sequence": through}
    for work_item_id, document in documents.items():
        payload = {"leases": state.get("leases", ()), "checkpoint": latest.get(work_item_id)}
        facts.absorb(turn, group, document, payload, origin)


def _restore_approval(turn: Turn, entry: Document) -> None:
    item = turn.item(entry["workItemId"])
    if item is not None and is_timestamp(entry["expiresAt"]):
        approval, epoch = entry["approval"], entry["ownershipEpoch"]
        if facts.is_genuine(turn, approval, item):
            facts.absorb_approval(turn, item, approval, epoch, micros(entry["expiresAt"]))
