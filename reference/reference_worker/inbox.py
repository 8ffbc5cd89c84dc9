"""The inbox: wire frames in, verified Events out, in the order of each Group.

Responsible for strict reading, verification, routing by Group, deduplication and sequence
(MWP-WRK-029). Never interprets what an Event says; facts.py does.
"""

from __future__ import annotations

from collections.abc import Callable

from reference_worker import facts
from reference_worker.documents import Document, DocumentError, decode_base64url, is_valid, parse
from reference_worker.projection import Receipt
from reference_worker.records import Group
from reference_worker.turn import Turn

BUFFERED_EVENTS_MAX = 4096  # for each Group; what does not fit is delivered again anyway

FrameHandler = Callable[[Turn, Document], None]
_SCHEMAS = {"EVENT": "eventFrame", "ERROR": "errorFrame", "PING": "pingFrame"}


def receive(turn: Turn, raw: Document, others: dict[str, FrameHandler]) -> None:
    """Take one wire frame; `others` handles the frames that are not Events."""
    frame: object = None
    try:
        frame = parse(decode_base64url(raw["bytes"])) if set(raw) == {"bytes"} else raw
        checked = _checked(frame)
        if checked["frameType"] == "EVENT":
            _receive_event(turn, checked["event"])
        else:
            others[checked["frameType"]](turn, checked)
    except (DocumentError, ValueError) as problem:
        code = problem.code if isinstance(problem, DocumentError) else "PROTOCOL_VIOLATION"
        _reject(turn, frame, code)


def event_ids(frames: list[Document]) -> list[str]:
    """The Event IDs that some frames name, so far as can be told before they are read."""
    events = (frame.get("event") for frame in frames)
    found = (event.get("eventId") for event in events if isinstance(event, dict))
    return [event_id for event_id in found if isinstance(event_id, str) and event_id.isascii()]


def _checked(frame: object) -> Document:
    kind = frame.get("frameType") if isinstance(frame, dict) else None
    schema = _SCHEMAS.get(kind) if isinstance(kind, str) else None
    if schema is None or not isinstance(frame, dict):
        raise DocumentError("PROTOCOL_VIOLATION", "no frame that a server sends")
    if not is_valid(schema, frame):
        raise DocumentError("SCHEMA_VALIDATION_FAILED", f"invalid {kind} frame")
    return frame


def _reject(turn: Turn, frame: object, code: str) -> None:
    effect: Document = {"type": "reject", "code": code}
    if isinstance(frame, dict):
        event = frame.get("event")
        group_id = event.get("groupId") if isinstance(event, dict) else None
        if is_valid("id", frame.get("frameId")):
            effect["frameId"] = frame["frameId"]
        if isinstance(group_id, str) and turn.group(group_id) is not None:
            effect["groupId"] = group_id
    turn.emit(effect)


def _receive_event(turn: Turn, event: Document) -> None:
    """Verify, then route by Group ID before any sequence logic (MWP-EVT-010)."""
    accepted_by = (event["acceptedBy"]["type"], event["acceptedBy"]["id"])
    _, signing_hash = turn.runtime.keys.verify(event, event["occurredAt"], accepted_by)
    if accepted_by[0] != "service" or not turn.runtime.may("eventAuthority", accepted_by):
        raise DocumentError("AUTH_FORBIDDEN", "accepted by no authorized Event service")
    group_id = event.get("groupId")
    if group_id is None:
        _receive_organization_event(turn, event, signing_hash)
        return
    group = turn.group(group_id)
    if group is None or group_id not in turn.runtime.links:
        raise DocumentError("GROUP_NOT_FOUND", "not subscribed to")
    _sequence(turn, group, event, signing_hash)


def _receive_organization_event(turn: Turn, event: Document, signing_hash: str) -> None:
    known = turn.projection.receipt(event["eventId"])
    if known is not None and known.digest not in ("", signing_hash):
        raise DocumentError("PROTOCOL_VIOLATION", "one Event ID, two contents")
    if known is None:
        turn.projection.new_receipts[event["eventId"]] = Receipt("", 0, signing_hash)
        facts.apply_organization_fact(turn, event)


def _sequence(turn: Turn, group: Group, event: Document, signing_hash: str) -> None:
    sequence = event["sequence"]
    if _is_repeated(turn, event, signing_hash):
        turn.acknowledge[group.group_id] = None
    elif sequence <= group.cursor:
        raise DocumentError("PROTOCOL_VIOLATION", "two Events with one sequence number")
    elif sequence == group.cursor + 1:  # MWP-WRK-029: never over a gap
        _process(turn, group, event, signing_hash)
        _drain(turn, group.group_id)
    else:
        _buffer(turn, group, event, signing_hash)


def _is_repeated(turn: Turn, event: Document, signing_hash: str) -> bool:
    """True for an Event processed before; raises if only its ID is the same."""
    receipt = turn.projection.receipt(event["eventId"])
    if receipt is None:
        return False
    same_place = (receipt.group_id, receipt.sequence) == (event["groupId"], event["sequence"])
    if not same_place or receipt.digest not in ("", signing_hash):
        raise DocumentError("PROTOCOL_VIOLATION", "one Event ID, two contents")
    return True


def _process(turn: Turn, group: Group, event: Document, signing_hash: str) -> None:
    facts.apply(turn, group, event)
    current = turn.group(group.group_id)
    assert current is not None, "a Group that is processed is known"
    turn.change_group(current, cursor=event["sequence"])
    turn.projection.new_receipts[event["eventId"]] = Receipt(
        group.group_id, event["sequence"], signing_hash
    )
    turn.acknowledge[group.group_id] = None


def _buffer(turn: Turn, group: Group, event: Document, signing_hash: str) -> None:
    buffer = turn.runtime.buffers.setdefault(group.group_id, {})
    known = buffer.get(event["sequence"])
    if known is not None and known[1] != signing_hash:
        raise DocumentError("PROTOCOL_VIOLATION", "two Events with one sequence number")
    if len(buffer) < BUFFERED_EVENTS_MAX:
        buffer[event["sequence"]] = (event, signing_hash)


def _drain(turn: Turn, group_id: str) -> None:
    """Process what a closed hole had held up."""
    buffer = turn.runtime.buffers.get(group_id, {})
    while (group := turn.group(group_id)) is not None and group.cursor + 1 in buffer:
        event, signing_hash = buffer.pop(group.cursor + 1)
        if _is_repeated(turn, event, signing_hash):
            return
        _process(turn, group, event, signing_hash)
    for sequence in [s for s in buffer if group is not None and s <= group.cursor]:
        del buffer[sequence]
