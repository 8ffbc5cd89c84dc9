"""Canonical bytes of a JSON value (RFC 8785), and the hashes over them.

Every signature and content hash of the protocol goes through here. Never parses, and never repairs
a value: what has no canonical form raises DataModelError.

Two routes to the same bytes. The `rfc8785` library is the definition. `orjson`, which is not
written in Python, is many times faster and gives the same bytes for values without numbers that the
two spell differently (whole floats, exponents, integers beyond the safe range) and without member
names that hold characters from U+E000 up: no spaces, the same short escapes, lower-case `\\u00xx`
for the other control characters, the shortest digits of a fraction, and member names sorted by code
point, which below U+E000 is the UTF-16 order that RFC 8785 asks for. Every text for which that does
not hold is found in what `orjson` wrote, and some that merely look so; those take the library's
route, and so does what `orjson` refuses, or writes as `null` though it may have been another value.
A test holds the two equal.
"""

import hashlib
import math
import re

import orjson
import rfc8785

from .errors import DataModelError
from .json_types import JsonValue
from .strict_json import MAX_SAFE_INTEGER

# `,`, `]` or `}` follows a number. The same characters may stand in a string; that costs time, not
# correctness. Two short searches take a third of the time of one that knows where a number begins.
_WHOLE = re.compile(rb"\.0[,\]}]")
_EXPONENT = re.compile(rb"e[-+]?\d{1,3}[,\]}]")

# Integers beyond the safe range are refused.
_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER

_HIGH = re.compile(rb"[\xee-\xf4]")  # the first byte of a character from U+E000 up
_STRING = re.compile(rb'"((?:[^"\\]+|\\.)*)"(:?)')  # a string, and whether it is a name


def canonical(value: JsonValue) -> bytes:
    """Return the RFC 8785 bytes of `value` (MWP-FND-006).

    Raises DataModelError for a number that is not finite and for an unpaired surrogate.
    """
    try:
        text = orjson.dumps(value, option=_OPTIONS)
    except orjson.JSONEncodeError:
        return _by_library(value)
    if text[:1] not in b"[{" or b"null" in text or _WHOLE.search(text) or _EXPONENT.search(text):
        return _by_library(value)
    if not text.isascii() and _names_sort_otherwise(text):
        return _by_library(value)
    return text


def _names_sort_otherwise(text: bytes) -> bool:
    """Whether a member name holds a character from U+E000 up."""
    if not _HIGH.search(text):
        return False
    return any(name and _HIGH.search(string) for string, name in _STRING.findall(text))


def sha256_of(value: JsonValue) -> str:
    """Return `sha256:` and the lower-case hexadecimal SHA-256 of the canonical bytes."""
    return sha256_bytes(canonical(value))


def sha256_bytes(content: bytes) -> str:
    """Return `sha256:` and the lower-case hexadecimal SHA-256 of `content` (MWP-FND-007)."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def _by_library(value: JsonValue) -> bytes:
    try:
        return rfc8785.dumps(_in_binary64(value))
    except UnicodeEncodeError:
        raise _unpaired_surrogate() from None
    except rfc8785.CanonicalizationError as error:
        raise _unpaired_surrogate() from error


def _in_binary64(value: JsonValue) -> JsonValue:
    # The library refuses integers beyond the safe range; in JSON they mean the nearest double.
    if isinstance(value, dict):
        return {name: _in_binary64(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_in_binary64(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise _out_of_range()
    if isinstance(value, int) and abs(value) > MAX_SAFE_INTEGER:
        try:
            return float(value)
        except OverflowError:
            raise _out_of_range() from None
    return value


def _out_of_range() -> DataModelError:
    return DataModelError(
        "number-out-of-range", "a number is beyond binary64", "numbers must be finite doubles"
    )


def _unpaired_surrogate() -> DataModelError:
    return DataModelError(
        "unpaired-surrogate",
        "a string holds half of a surrogate pair",
        "escape both halves, or write the character itself",
    )
