"""The reference implementation of JSON Schema for our schemas, beside the compiled one.

Slow, and used by tests and diagnosis only. Its meaning of `pattern`, `date-time` and `uri` is made
what the specifications say, where the library's own is looser: patterns are ECMA-262, in which `$`
is the very end of the text, and formats cover the whole text. Never used while a Worker is judged.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from attrs import frozen
from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry
from referencing.jsonschema import DRAFT202012
from rfc3986_validator import validate_rfc3986  # type: ignore[import-untyped]  # ships no types

from .json_types import JsonObject, JsonValue, pointer
from .schemas import Problem, SchemaSet

_DATE_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@frozen
class ReferenceValidator:
    """One schema, interpreted by `jsonschema`."""

    _validator: Validator

    def is_valid(self, document: JsonValue) -> bool:
        """Tell whether the schema accepts `document`."""
        return self._validator.is_valid(document)

    def problems(self, document: JsonValue) -> tuple[Problem, ...]:
        """Return what the schema finds wrong, sorted by place; empty if it is valid."""
        found = {
            Problem(pointer(tuple(error.absolute_path)), str(error.validator), error.message)
            for error in self._validator.iter_errors(document)
        }
        return tuple(sorted(found, key=lambda item: (item.pointer, item.keyword, item.message)))


def reference_validator(schemas: SchemaSet, name: str) -> ReferenceValidator:
    """Return the reference validator of a schema of `schemas`, or of a part of it."""
    registry: Registry[Any] = Registry().with_resources(
        (uri, DRAFT202012.create_resource(_undeclared(schema)))
        for uri, schema in schemas.resources()
    )
    checker = FormatChecker(formats=())
    for format_name, check in {**_FORMATS, **schemas.formats}.items():
        checker.checks(format_name)(_on_text(check))
    return ReferenceValidator(
        _STRICT({"$ref": schemas.uri(name)}, registry=registry, format_checker=checker)
    )


def is_date_time(text: str) -> bool:
    """Tell whether `text` is an RFC 3339 date-time: year 0000 and true leap seconds included."""
    form = _DATE_TIME.fullmatch(text)
    if form is None:
        return False
    year, month, day, hour, minute, second = (int(form[group]) for group in range(1, 7))
    if not 1 <= month <= 12 or not 1 <= day <= _DAYS[month - 1] or hour > 23 or minute > 59:
        return False
    if (month, day) == (2, 29) and (year % 4 or (not year % 100 and year % 400)):
        return False
    offset_hours, offset_minutes = int(form[8] or 0), int(form[9] or 0)
    if offset_hours > 23 or offset_minutes > 59:
        return False
    sign = -1 if form[7] == "-" else 1
    in_utc = (hour * 60 + minute - sign * (offset_hours * 60 + offset_minutes)) % 1440
    # RFC 3339, 5.6: a leap second ends a day in UTC and occurs at no other time.
    return second < 60 or (second == 60 and in_utc == 1439)


def is_uri(text: str) -> bool:
    """Tell whether `text` is an absolute RFC 3986 URI, to its last character."""
    return "\n" not in text and bool(validate_rfc3986(text, rule="URI"))


def _undeclared(schema: JsonObject) -> JsonObject:
    # At a schema that declares its dialect the library falls back to its own keywords.
    return {name: value for name, value in schema.items() if name != "$schema"}


def _ecma_pattern(
    validator: Validator, pattern: str, instance: JsonValue, schema: Mapping[str, object]
) -> Iterator[ValidationError]:
    del validator, schema  # the library hands them to every keyword
    if isinstance(instance, str) and _compiled(pattern).search(instance) is None:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    # Python's `$` also matches before a final line feed; ECMA-262's does not.
    end_is_end = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", _ending, pattern, flags=re.DOTALL)
    return re.compile(end_is_end, re.ASCII)


def _ending(token: re.Match[str]) -> str:
    return r"\Z" if token[0] == "$" else token[0]


def _on_text(check: Callable[[str], bool]) -> Callable[[object], bool]:
    return lambda value: not isinstance(value, str) or check(value)


_FORMATS = {"date-time": is_date_time, "uri": is_uri}
_STRICT = extend(  # type: ignore[no-untyped-call]  # untyped in the stubs
    Draft202012Validator, {"pattern": _ecma_pattern}
)
