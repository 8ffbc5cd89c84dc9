"""Raw wire bytes of a frame: the same in other words, or with one thing wrong (17.4, MWP-EVT-012).

Builds what no JSON object can carry. Never decides which Event is spelled so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType

from worker_conformance.documents import base64url
from worker_conformance.documents.json_types import JsonObject, JsonValue

LAWFUL = "respelled"
"""The one spelling that any strict reader takes for the same frame."""

TIMES = "times"
"""The Event spells its own times otherwise, lawfully, and its bytes are as ever."""

_MARK = "999999999999999"
"""A number that no frame of ours contains: another literal takes its place."""


def raw_frame(frame: JsonObject, how: str) -> JsonObject:
    """The entry of a `frames` stimulus that carries these bytes."""
    return {"bytes": base64url.encode(SPELLINGS[how](frame))}


def _plain(frame: JsonValue) -> bytes:
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode()


def _respelled(frame: JsonObject) -> bytes:
    """Members in reverse order, spaces, and every character outside ASCII escaped."""
    return json.dumps(_reversed(frame), ensure_ascii=True, indent=1).encode()


def _reversed(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: _reversed(value[name]) for name in reversed(value)}
    return [_reversed(one) for one in value] if isinstance(value, list) else value


def _duplicate_member(frame: JsonObject) -> bytes:
    """`frameType` twice, with the same value: whichever is kept, the frame looks whole."""
    return b'{"frameType":"EVENT",' + _plain(frame)[1:]


def _invalid_utf8(frame: JsonObject) -> bytes:
    """A byte that no UTF-8 text contains, in a member that an extension might carry."""
    return _with_note(frame, b'"\xff"')


def _byte_order_mark(frame: JsonObject) -> bytes:
    return b"\xef\xbb\xbf" + _plain(frame)


def _huge_number(frame: JsonObject) -> bytes:
    """A number beyond a finite double (MWP-FND-006)."""
    return _with_note(frame, b"1e999")


def _lone_surrogate(frame: JsonObject) -> bytes:
    return _with_note(frame, b'"\\ud800"')


def _not_a_number(frame: JsonObject) -> bytes:
    return _with_note(frame, b"NaN")


def _trailing_data(frame: JsonObject) -> bytes:
    return _plain(frame) + b" {}"


def _truncated(frame: JsonObject) -> bytes:
    return _plain(frame)[:-1]


def _with_note(frame: JsonObject, literal: bytes) -> bytes:
    """The Event's payload with one more member, whose value is this literal."""
    event = frame["event"]
    members = event if isinstance(event, dict) else {}
    payload = members.get("payload")
    noted = {**(payload if isinstance(payload, dict) else {}), "note": int(_MARK)}
    changed: JsonObject = {**frame, "event": {**members, "payload": noted}}
    return _plain(changed).replace(_MARK.encode(), literal)


SPELLINGS: Mapping[str, Callable[[JsonObject], bytes]] = MappingProxyType(
    {
        LAWFUL: _respelled,
        "duplicate_member": _duplicate_member,
        "invalid_utf8": _invalid_utf8,
        "byte_order_mark": _byte_order_mark,
        "huge_number": _huge_number,
        "lone_surrogate": _lone_surrogate,
        "not_a_number": _not_a_number,
        "trailing_data": _trailing_data,
        "truncated": _truncated,
    }
)
"""By the word that a vector uses."""
