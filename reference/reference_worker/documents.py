"""Protocol documents as bytes and as values: strict JSON, canonical bytes, hashes, schemas.

Responsible for stages 1, 2 and 5 of section 6.4. Never judges a signature and never decides what a
document means.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib import resources
from typing import Any, NoReturn

import jsonschema_rs
import orjson
import rfc8785

from reference_worker.instants import is_timestamp

# A JSON object whose shape a schema has checked. Its members are known by that schema only, which
# the type checker cannot read; projections of it into frozen values carry real types.
Document = dict[str, Any]

MAX_DEPTH = 64  # far above any protocol document; keeps a hostile one from exhausting the stack
SAFE_INTEGER_MAX = 2**53 - 1


class DocumentError(ValueError):
    """A document that may not be used. `code` is the protocol's error code for it."""

    def __init__(self, code: str, cause: str, hint: str = "") -> None:
        super().__init__(f"{code}: {cause}" + (f" ({hint})" if hint else ""))
        self.code, self.cause, self.hint = code, cause, hint


def parse(raw: bytes) -> object:
    """Parse exactly one UTF-8 JSON value.

    Raises DocumentError(PROTOCOL_VIOLATION) for anything else.
    """
    try:
        text = raw.decode("utf-8")
        # A byte-order mark is no white space of JSON, so it is refused with everything else.
        return json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except (ValueError, RecursionError) as problem:
        raise DocumentError("PROTOCOL_VIOLATION", f"not one strict JSON value: {problem}") from None


def _no_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):  # MWP-EVT-012: refused before schema validation
        raise ValueError("duplicate member")
    return members


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def canonical(value: object) -> bytes:
    """RFC 8785 bytes.

    Raises DocumentError(PROTOCOL_VIOLATION) for values outside the JCS data model.
    """
    try:
        if _is_plain(value):
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        return rfc8785.dumps(_within_jcs(value, 0))  # type: ignore[arg-type]  # checked just here
    except _OUTSIDE_JCS as problem:
        raise DocumentError("PROTOCOL_VIOLATION", f"outside the JCS model: {problem}") from None


# For plain values orjson writes the very bytes of RFC 8785, a hundred times faster than code in
# Python: same escapes, no spaces, and for ASCII names the order of code points is the order of
# UTF-16 units. It refuses what is nested too deeply and half a surrogate pair.
_OUTSIDE_JCS = (
    orjson.JSONEncodeError,
    rfc8785.CanonicalizationError,
    UnicodeError,
    OverflowError,
    RecursionError,
)


def _is_plain(value: object) -> bool:
    """True without numbers that need care and without names whose order does."""
    rest = [value]
    while rest:
        part = rest.pop()
        kind = type(part)  # what `json` builds has no subclasses, and this is the fastest question
        if kind is str:
            continue
        if kind is dict:
            members: dict[str, object] = part  # type: ignore[assignment]  # just asked
            if not "".join(members).isascii():
                return False
            rest.extend(members.values())
        elif kind is list or kind is tuple:
            rest.extend(part)  # type: ignore[arg-type]  # just asked
        elif (kind is float or kind is int) and not _is_plain_number(part):  # type: ignore[arg-type]  # just asked
            return False
    return True


def _is_plain_number(number: float) -> bool:
    """True where Python and JCS write the same digits: no exponent, no `.0` of a whole float."""
    if isinstance(number, int):
        return abs(number) <= SAFE_INTEGER_MAX
    return 1e-4 <= abs(number) < 1e15 and number % 1 != 0


def _within_jcs(value: object, depth: int) -> object:
    """The same value with integers beyond 2^53 read as binary64, as section 2 demands."""
    if depth > MAX_DEPTH:
        raise DocumentError("PROTOCOL_VIOLATION", "nested too deeply")
    if isinstance(value, dict):
        return {name: _within_jcs(member, depth + 1) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_within_jcs(member, depth + 1) for member in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > SAFE_INTEGER_MAX:
        return float(value)
    return value


def sha256(data: bytes) -> str:
    """A content hash in the protocol's form."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def digest(value: object) -> str:
    """The hash of a value's canonical bytes."""
    return sha256(canonical(value))


def without_signature(document: Mapping[str, object]) -> bytes:
    """Signing bytes: the whole document but its top-level `signature`."""
    return canonical({name: member for name, member in document.items() if name != "signature"})


def decode_base64url(text: str) -> bytes:
    """Decode canonical unpadded base64url. Raises ValueError for any other spelling."""
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode_base64url(raw) != text:  # MWP-FND-007: padding and unused bits
        raise ValueError("not canonical base64url")
    return raw


def encode_base64url(raw: bytes) -> str:
    """Canonical unpadded base64url."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def is_valid(kind: str, document: object) -> bool:
    """True if `document` conforms to the schema of that kind, formats included."""
    try:
        return _validator(kind)(document)
    except (ValueError, OverflowError, UnicodeError):  # lone surrogates cannot reach the validator
        return False


@cache
def _validator(kind: str) -> Callable[[object], bool]:
    bundle = _bundle()
    schema = {"$ref": f"#/$defs/{kind}", "$defs": bundle["$defs"]}
    validator = jsonschema_rs.Draft202012Validator(
        schema, validate_formats=True, formats={"timestamp": lru_cache(maxsize=8192)(is_timestamp)}
    )
    return validator.is_valid


@cache
def _bundle() -> Document:
    text = resources.files("reference_worker").joinpath("schemas/documents.json").read_text("utf-8")
    bundle: Document = json.loads(text)
    return bundle
