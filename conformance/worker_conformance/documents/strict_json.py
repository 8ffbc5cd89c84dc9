"""Parses exactly one JSON value from bytes, and refuses everything lenient parsers let pass.

Refused are invalid UTF-8, a byte-order mark, duplicate member names (compared after decoding their
escapes), trailing data, the literals NaN and Infinity, and nesting that no peer can be expected to
read. Numbers become what JSON numbers are under the protocol: binary64 values, with integers kept
as `int` inside the safe range. Never looks at what the members mean.

Two entries, because Signed Documents are judged in stages: a number beyond binary64 and an unpaired
surrogate are data-model failures (stage 5), not syntax (stage 1). `parse` refuses them at once,
`parse_deferring` leaves them in the value, for `canonical` to refuse.
"""

import json
import math
import re
from collections.abc import Callable

from .errors import DataModelError, StrictJsonError
from .json_types import JsonValue

MAX_DEPTH = 128  # the default limit of widely used parsers, so that every peer can read it
MAX_SAFE_INTEGER = 2**53 - 1  # beyond it binary64 no longer tells neighbours apart
_SAFE_DIGITS = 15  # every integer of this many characters is a safe one
_BOM = b"\xef\xbb\xbf"

_BRACKET_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


def parse(raw: bytes | str) -> JsonValue:
    """Return the one JSON value in `raw`.

    Raises StrictJsonError for syntax, DataModelError for a number outside binary64 or an unpaired
    surrogate (MWP-EVT-012, MWP-FND-006).
    """
    text = _text(raw)
    value = _decode(text, _STRICT)
    if _may_hold_surrogates(text):
        _refuse_unpaired_surrogates(value)
    return value


def parse_deferring(raw: bytes | str) -> JsonValue:
    """Return the one JSON value in `raw`, with data-model failures left in it.

    A number outside binary64 is an infinite `float` there, an unpaired surrogate itself. Raises
    StrictJsonError for syntax only.
    """
    return _decode(_text(raw), _DEFERRING)


def within_data_model(value: JsonValue) -> JsonValue:
    """Return a copy of `value` that a schema judges as it would judge the text itself.

    Validators refuse infinities and unpaired surrogates as values; the schema stage must not, since
    they are numbers and characters like others until canonicalization. They are replaced one to one
    by the largest number and by private-use characters.
    """
    if isinstance(value, float) and math.isinf(value):
        return math.copysign(_LARGEST, value)
    if isinstance(value, str):
        return _SURROGATE.sub(lambda found: chr(ord(found[0]) + 0x800), value)
    if isinstance(value, list):
        return [within_data_model(item) for item in value]
    if isinstance(value, dict):
        return {_replaced(name): within_data_model(item) for name, item in value.items()}
    return value


_LARGEST = float.fromhex("0x1.fffffffffffffp+1023")
_SURROGATE = re.compile("[\ud800-\udfff]")


def _replaced(name: str) -> str:
    return _SURROGATE.sub(lambda found: chr(ord(found[0]) + 0x800), name)


def _may_hold_surrogates(text: str) -> bool:
    # Decoded UTF-8 holds none; escapes may spell one, and so may a text that never was bytes.
    return "\\u" in text or (not text.isascii() and _SURROGATE.search(text) is not None)


def _text(raw: bytes | str) -> str:
    if isinstance(raw, str):
        if raw.startswith("\ufeff"):
            raise _bom()
        return raw
    if raw.startswith(_BOM):
        raise _bom()
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StrictJsonError(
            "invalid-utf8",
            f"byte {error.start} does not continue a UTF-8 sequence",
            "encode the message as UTF-8, and escape unpaired surrogates never",
        ) from None


def _bom() -> StrictJsonError:
    return StrictJsonError(
        "byte-order-mark", "the message starts with U+FEFF", "write UTF-8 without a mark"
    )


def _decode(text: str, decoder: json.JSONDecoder) -> JsonValue:
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _refuse_deep_nesting(text)
    try:
        value: JsonValue = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise _syntax(error) from None
    return value


def _syntax(error: json.JSONDecodeError) -> StrictJsonError:
    where = f"line {error.lineno}, column {error.colno}"
    if error.msg == "Extra data":
        return StrictJsonError(
            "trailing-data", f"more text after the JSON value at {where}", "send one value alone"
        )
    return StrictJsonError("syntax", f"{error.msg} at {where}", "RFC 8259 says what JSON is")


def _refuse_deep_nesting(text: str) -> None:
    depth = 0
    for token in _BRACKET_OR_STRING.finditer(text):
        opening = token[0]
        if opening in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise StrictJsonError(
                    "too-deep",
                    f"more than {MAX_DEPTH} arrays and objects inside each other",
                    "flatten the document",
                )
        elif opening in "]}":
            depth -= 1


def _refuse_unpaired_surrogates(value: JsonValue) -> None:
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise DataModelError(
                "unpaired-surrogate",
                "a string holds half of a surrogate pair",
                "escape both halves, or write the character itself",
            )
    elif isinstance(value, list):
        for item in value:
            _refuse_unpaired_surrogates(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            _refuse_unpaired_surrogates(name)
            _refuse_unpaired_surrogates(item)


def _unique_members(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise StrictJsonError(  # MWP-EVT-012: duplicate names are refused before validation
            "duplicate-member",
            f"the member {twice!r} occurs more than once in one object",
            "write each member once; escapes do not make names differ",
        )
    return members


def _no_constant(literal: str) -> JsonValue:
    raise StrictJsonError("not-a-number", f"the literal {literal} is no JSON", "omit the member")


def _integer(digits: str) -> int | float:
    if len(digits) <= _SAFE_DIGITS:
        return int(digits)
    number = float(digits)
    # Above the safe range the text means the nearest binary64 value, whatever its digits say.
    return int(digits) if abs(number) <= MAX_SAFE_INTEGER else number


def _finite(convert: Callable[[str], int | float]) -> Callable[[str], int | float]:
    def convert_or_refuse(digits: str) -> int | float:
        number = convert(digits)
        if math.isinf(number):
            shown = digits if len(digits) <= 40 else digits[:40] + "…"
            raise DataModelError(
                "number-out-of-range",
                f"{shown} is beyond binary64",
                "numbers must be finite IEEE 754 doubles",
            )
        return number

    return convert_or_refuse


_STRICT = json.JSONDecoder(
    object_pairs_hook=_unique_members,
    parse_constant=_no_constant,
    parse_float=_finite(float),
    parse_int=_finite(_integer),
)
_DEFERRING = json.JSONDecoder(
    object_pairs_hook=_unique_members,
    parse_constant=_no_constant,
    parse_float=float,
    parse_int=_integer,
)
