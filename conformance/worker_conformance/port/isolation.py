"""Copies JSON values so that suite and Worker never share an object, and refuses what is not JSON.

In-process messages pass through here instead of through text, in half the time of a round trip
through `json` and two thirds of `copy.deepcopy`. What comes out is what `strict_json.parse` would
have made of the text, so that a Worker which passes in-process passes over stdio as well.
"""

import math
from typing import cast

import orjson
from attrs import frozen

from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.documents.strict_json import MAX_DEPTH, MAX_SAFE_INTEGER

_OPTIONS = (
    orjson.OPT_STRICT_INTEGER | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
)


@frozen
class NotJson(Exception):  # noqa: N818 - a finding about a value; callers say whose fault it is
    """A value that no JSON text can carry. `code` is the adapter error it becomes."""

    code: str
    cause: str

    def __str__(self) -> str:
        """Return the cause."""
        return self.cause


def isolated(value: object) -> JsonValue:
    """Return a copy of `value` that shares nothing mutable with it; raise `NotJson`."""
    return _copy(value, 0)


def isolated_json(value: JsonObject) -> JsonObject:
    """As `isolated`, four times as fast, for what the suite itself has built of JSON values.

    Nothing for what a Worker answers: `orjson` writes a UUID as a text, any enumeration as its
    value, and takes twice the depth.
    """
    try:
        text = orjson.dumps(value, option=_OPTIONS)
    except orjson.JSONEncodeError:
        return cast(JsonObject, isolated(value))
    if b"null" in text:
        return cast(JsonObject, isolated(value))
    return cast(JsonObject, orjson.loads(text))


def _copy(value: object, depth: int) -> JsonValue:
    """Copy the common types here, where it is quick; leave the rest to `_scalar`."""
    kind = type(value)
    if kind is str:
        return _text(cast(str, value))
    if kind is dict:
        return _copy_object(cast("dict[object, object]", value), depth + 1)
    if kind is list:
        if depth >= MAX_DEPTH:
            raise _too_deep()
        return [_copy(item, depth + 1) for item in cast("list[object]", value)]
    if kind is int and -MAX_SAFE_INTEGER <= cast(int, value) <= MAX_SAFE_INTEGER:
        return cast(int, value)
    return _scalar(value, depth)


def _copy_object(value: dict[object, object], depth: int) -> JsonObject:
    if depth > MAX_DEPTH:
        raise _too_deep()
    copied: JsonObject = {}
    for name, item in value.items():
        plain = name if type(name) is str and name.isascii() else _name(name)
        # Most members are plain texts; a call for each would cost a third more.
        copied[plain] = item if type(item) is str and item.isascii() else _copy(item, depth)
    return copied


def _scalar(value: object, depth: int) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJson("not-json", f"{value} is no JSON number")
        return float(value)
    if isinstance(value, dict):
        return _copy(dict(value), depth)
    if isinstance(value, list | tuple):
        return _copy(list(value), depth)
    raise NotJson("not-json", f"an object of type '{kind_of(value)}' is no JSON value")


def kind_of(value: object) -> str:
    """Return the name of the type of `value`, for messages."""
    return type(value).__qualname__


def _name(name: object) -> str:
    if isinstance(name, str):
        return _text(name)
    raise NotJson("not-json", f"a member name is of type '{kind_of(name)}', not a string")


def _text(text: str) -> str:
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise NotJson("not-json", "a string holds half of a surrogate pair") from None
    return str.__str__(text)  # a plain string, also from an enumeration


def _integer(number: int) -> int | float:
    if abs(number) <= MAX_SAFE_INTEGER:
        return int(number)
    try:
        return float(number)  # what the digits mean to a reader of JSON numbers
    except OverflowError:
        raise NotJson("not-json", "an integer is beyond binary64") from None


def _too_deep() -> NotJson:
    return NotJson("too-deep", f"more than {MAX_DEPTH} arrays and objects inside each other")
