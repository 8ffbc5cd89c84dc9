"""Routes: which Group, or whose slot, gets to see which part of an effect.

Everything that leaves a Worker has a receiver here, or is named as having none. Never judges what
is received.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from attrs import define, field, frozen

from worker_conformance.documents.json_types import JsonObject, JsonValue, find, text_at
from worker_conformance.judge.reading import command_of

EVERYBODY = "*"
"""The receiver of what no single Group is addressed by: every Group may see it."""


class Route(StrEnum):
    """By which way something reaches a Group."""

    COMMAND = "a Command"
    ESTIMATE = "an estimate"
    DECLINE = "a decline"
    REJECTION = "a rejection"
    POSITION = "an ACK or SUBSCRIBE"
    PRESENCE = "a PING"
    SLOT = "the context of a run"
    EXECUTOR = "what its slot is told"
    OPERATION = "an operation"


WIRE = frozenset(Route) - {Route.SLOT, Route.EXECUTOR}
"""Routes that lead out of the Worker; the others lead into a Capacity Slot."""


@frozen
class Delivery:
    """A document on its way to a Group (by Group ID, or `EVERYBODY`)."""

    group_id: str
    route: Route
    document: JsonObject


@define
class Homes:
    """The Group IDs of WorkItems, frames and Snapshots by their IDs, as far as they were told."""

    _home: dict[str, str] = field(factory=dict)

    def of(self, identifier: str) -> str | None:
        """Whose it is."""
        return self._home.get(identifier)

    def learn(self, stimulus: JsonObject) -> None:
        """Take in one stimulus."""
        frames = stimulus.get("frames")
        for frame in frames if isinstance(frames, list) else ():
            body = told_in(frame)
            if body is not None:
                ours = (find(body, "payload", "workItem", "workItemId"), find(frame, "frameId"))
                direct = find(body, "payload", "workItemId")
                self._learn(text_at(body, "groupId"), *ours, direct)
        group_id = find(stimulus, "snapshot", "groupId")
        if isinstance(group_id, str):
            items = find(stimulus, "state", "workItems")
            rows = items if isinstance(items, list) else []
            told = [find(item, "workItemId") for item in rows]
            self._learn(group_id, find(stimulus, "snapshot", "snapshotId"), *told)

    def _learn(self, group_id: str, *identifiers: JsonValue) -> None:
        for one in identifiers:
            if isinstance(one, str):
                self._home.setdefault(one, group_id)


def told_in(frame: JsonValue) -> JsonObject | None:
    """The Event or error in a frame, if it is a Group's."""
    body = find(frame, "event") or find(frame, "error")
    return body if isinstance(body, dict) and isinstance(body.get("groupId"), str) else None


_BY_GROUP = {"disclose": Route.ESTIMATE, "decline": Route.DECLINE, "run": Route.SLOT}
_BY_WORK_ITEM = {
    "operation": Route.OPERATION,
    "preempt": Route.EXECUTOR,
    "continue": Route.EXECUTOR,
    "pause": Route.EXECUTOR,
    "cancel": Route.EXECUTOR,
    "release": Route.EXECUTOR,
}
_ROWS = {"ACK": "acknowledgements", "SUBSCRIBE": "groups"}


def deliveries(effect: JsonObject, homes: Homes) -> Iterator[Delivery]:
    """Who gets to see what of an effect."""
    kind = str(effect.get("type"))
    if kind == "frame":
        yield from _of_frame(effect)
    elif kind in _BY_GROUP:
        yield Delivery(str(effect.get("groupId")), _BY_GROUP[kind], effect)
    elif kind in _BY_WORK_ITEM:
        group_id = homes.of(str(effect.get("workItemId")))
        yield Delivery(group_id or EVERYBODY, _BY_WORK_ITEM[kind], effect)
    elif kind == "reject":
        yield Delivery(_rejected(effect, homes) or EVERYBODY, Route.REJECTION, effect)


def _of_frame(effect: JsonObject) -> Iterator[Delivery]:
    frame = effect.get("frame")
    if not isinstance(frame, dict):
        return
    command = command_of(effect)
    if command is not None:
        yield Delivery(str(command.get("groupId")), Route.COMMAND, frame)
        return
    frame_type = str(frame.get("frameType"))
    rows = frame.get(_ROWS.get(frame_type, ""))
    if not isinstance(rows, list):
        yield Delivery(EVERYBODY, Route.PRESENCE, frame)
        return
    # A row is its Group's own; what stands around the rows is read on behalf of each of them.
    envelope = {name: value for name, value in frame.items() if value is not rows}
    for row in rows:
        yield Delivery(str(find(row, "groupId")), Route.POSITION, {**envelope, "row": row})


def _rejected(effect: JsonObject, homes: Homes) -> str | None:
    named = effect.get("groupId")
    if isinstance(named, str):
        return named
    about = (effect.get("frameId"), effect.get("snapshotId"))
    known = (homes.of(one) for one in about if isinstance(one, str))
    return next((one for one in known if one is not None), None)
