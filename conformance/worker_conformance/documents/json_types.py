"""The types of JSON values, and how to read a member out of one.

The readers are for documents that a schema has already accepted: a missing member there is a bug
in the caller, so they raise. Never validates and never changes a document.
"""

from typing import TypeAlias

JsonScalar: TypeAlias = bool | int | float | str | None
JsonValue: TypeAlias = "JsonScalar | list[JsonValue] | dict[str, JsonValue]"
JsonObject: TypeAlias = dict[str, JsonValue]
PathStep: TypeAlias = str | int


def find(document: JsonValue, *path: PathStep) -> JsonValue:
    """Return the value at `path` (member names and array positions), or None where it ends."""
    value = document
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def text_at(document: JsonValue, *path: PathStep) -> str:
    """Return the string at `path`; raise TypeError if there is none."""
    value = find(document, *path)
    if isinstance(value, str):
        return value
    raise _not_there("string", path)


def integer_at(document: JsonValue, *path: PathStep) -> int:
    """Return the integer at `path` (1.0 is the integer 1 in JSON); raise TypeError if none."""
    value = find(document, *path)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise _not_there("integer", path)


def object_at(document: JsonValue, *path: PathStep) -> JsonObject:
    """Return the object at `path`; raise TypeError if there is none."""
    value = find(document, *path)
    if isinstance(value, dict):
        return value
    raise _not_there("object", path)


def list_at(document: JsonValue, *path: PathStep) -> list[JsonValue]:
    """Return the array at `path`; raise TypeError if there is none."""
    value = find(document, *path)
    if isinstance(value, list):
        return value
    raise _not_there("array", path)


def pointer(path: tuple[PathStep, ...]) -> str:
    """Spell `path` as a JSON Pointer (RFC 6901); the whole document is the empty string."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def _not_there(kind: str, path: tuple[PathStep, ...]) -> TypeError:
    return TypeError(f"no {kind} at {pointer(path) or 'the top of the document'}")
