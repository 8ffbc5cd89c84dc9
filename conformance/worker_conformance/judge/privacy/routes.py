"""Routes: which Group, or whose slot, gets to see which part of an effect.

Everything that leaves a Worker has a receiver here, or is named as having none. Never judges what
is received.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum

from attrs import frozen

from worker_conformance.documents.json_types import JsonObject, find
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


GroupOf = Callable[[str], str | None]
"""The Group ID of a WorkItem, frame or Snapshot by its ID, as far as the Worker was told."""

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


def deliveries(effect: JsonObject, group_of: GroupOf) -> Iterator[Delivery]:
    """Who gets to see what of an effect."""
    kind = str(effect.get("type"))
    if kind == "frame":
        yield from _of_frame(effect)
    elif kind in _BY_GROUP:
        yield Delivery(str(effect.get("groupId")), _BY_GROUP[kind], effect)
    elif kind in _BY_WORK_ITEM:
        group_id = group_of(str(effect.get("workItemId")))
        yield Delivery(group_id or EVERYBODY, _BY_WORK_ITEM[kind], effect)
    elif kind == "reject":
        yield Delivery(_rejected(effect, group_of) or EVERYBODY, Route.REJECTION, effect)


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


def _rejected(effect: JsonObject, group_of: GroupOf) -> str | None:
    named = effect.get("groupId")
    if isinstance(named, str):
        return named
    about = (effect.get("frameId"), effect.get("snapshotId"))
    known = (group_of(one) for one in about if isinstance(one, str))
    return next((one for one in known if one is not None), None)
