"""Traces made by hand: what a Worker was told and what it said, without a Worker."""

from __future__ import annotations

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.trace import EntryKind, Trace

GROUPS = {"urn:x:group:a": "A", "urn:x:group:b": "B"}
A, B = GROUPS


def event(group_id: str, payload: JsonObject, frame_id: str = "urn:x:frame:1") -> JsonObject:
    """A `frames` stimulus with one Event."""
    body: JsonObject = {"groupId": group_id, "payload": payload}
    return {"type": "frames", "frames": [{"frameId": frame_id, "event": body}]}


def command(group_id: str, payload: JsonObject, **members: object) -> JsonObject:
    """A `frame` effect with one Command."""
    body = {"kind": "work.accept_offer", "groupId": group_id, "payload": payload, **members}
    return {"type": "frame", "frame": {"frameType": "COMMAND", "frameId": "f", "command": body}}  # type: ignore[dict-item]


def trace_of(*bodies: JsonObject) -> Trace:
    """A Trace of stimuli and effects, told apart by their types."""
    trace = Trace("BY-HAND", 1)
    for call, body in enumerate(bodies):
        stimulus = body["type"] in {"start", "frames", "token", "execution", "snapshot"}
        kind = EntryKind.STIMULUS if stimulus else EntryKind.EFFECT
        trace.append(call, call, kind, body)
    return trace
