"""What strict parsing refuses, and what it leaves for later."""

from collections.abc import Callable

import pytest

from worker_conformance.documents.errors import DataModelError, StrictJsonError
from worker_conformance.documents.json_types import JsonValue
from worker_conformance.documents.strict_json import (
    MAX_DEPTH,
    parse,
    parse_deferring,
    within_data_model,
)

SYNTAX = [
    ("invalid UTF-8", b'{"a": "\xff"}', "invalid-utf8"),
    ("an encoded surrogate", b'"\xed\xa0\x80"', "invalid-utf8"),
    ("an overlong encoding", b'"\xc0\xaf"', "invalid-utf8"),
    ("a byte-order mark", b'\xef\xbb\xbf{"a": 1}', "byte-order-mark"),
    ("a byte-order mark in a text", '\ufeff{"a": 1}', "byte-order-mark"),
    ("a member twice", b'{"a": 1, "b": 2, "a": 1}', "duplicate-member"),
    ("a member twice, once escaped", b'{"a": 1, "\\u0061": 2}', "duplicate-member"),
    ("a member twice further in", b'[{"x": {"a": 1, "a": 1}}]', "duplicate-member"),
    ("a second value", b"{} {}", "trailing-data"),
    ("a brace too many", b"{}}", "trailing-data"),
    ("NaN", b'{"a": NaN}', "not-a-number"),
    ("Infinity", b"[Infinity]", "not-a-number"),
    ("-Infinity", b"-Infinity", "not-a-number"),
    ("nothing", b"", "syntax"),
    ("a comment", b"{} // why not", "trailing-data"),
    ("a trailing comma", b"[1,]", "syntax"),
    ("a single quote", b"{'a': 1}", "syntax"),
    ("a raw control character", b'"\x01"', "syntax"),
    ("a leading zero", b"01", "trailing-data"),
    ("a leading plus", b"+1", "syntax"),
    ("a bare point", b".5", "syntax"),
    ("half an escape", b'"\\u12"', "syntax"),
    ("deep arrays", b"[" * 100_000, "too-deep"),
    ("deep objects", b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1), "too-deep"),
]


@pytest.mark.parametrize(("raw", "code"), [row[1:] for row in SYNTAX], ids=[r[0] for r in SYNTAX])
@pytest.mark.parametrize("entry", [parse, parse_deferring])
def test_syntax_is_refused_by_both_entries(
    entry: Callable[[bytes | str], JsonValue], raw: bytes | str, code: str
) -> None:
    with pytest.raises(StrictJsonError) as refused:
        entry(raw)
    assert refused.value.code == code
    assert refused.value.hint


@pytest.mark.parametrize("raw", [b"1e999", b"[-1e400]", b'{"a": ' + b"9" * 400 + b"}"])
def test_a_number_beyond_binary64_is_refused_or_deferred(raw: bytes) -> None:
    with pytest.raises(DataModelError, match="binary64"):
        parse(raw)
    assert "inf" in repr(parse_deferring(raw))


@pytest.mark.parametrize("raw", ['"\\ud800"', '{"\\uDFFF": 1}', '["\\ude00\\ud83d"]', '"\ud800"'])
def test_an_unpaired_surrogate_is_refused_or_deferred(raw: str) -> None:
    with pytest.raises(DataModelError, match="surrogate"):
        parse(raw)
    assert parse_deferring(raw)


ACCEPTED: list[tuple[str | bytes, JsonValue]] = [
    (b' {"a": [1, 2.5, null, true, "x"]}\r\n', {"a": [1, 2.5, None, True, "x"]}),
    ('"\\ud83d\\ude00"', "\U0001f600"),
    ('"\\u0000"', "\x00"),
    (b'"[[[["', "[[[["),
    (b"9007199254740991", 2**53 - 1),
    (b"9007199254740993", float(2**53)),
    (b"-9007199254740993", -float(2**53)),
    (b"1e308", 1e308),
    (b"1e-400", 0.0),
]


@pytest.mark.parametrize(("raw", "value"), ACCEPTED)
def test_values_are_what_json_says(raw: str | bytes, value: JsonValue) -> None:
    assert parse(raw) == value
    assert type(parse(raw)) is type(value)


def test_the_deepest_lawful_nesting_is_accepted_even_with_brackets_in_strings() -> None:
    raw = "[" * MAX_DEPTH + '"[{[{\\"["' + "]" * MAX_DEPTH
    assert parse(raw)
    assert parse("[" + ",".join(["[]"] * 1000) + "]")


def test_what_a_schema_sees_has_neither_infinities_nor_surrogates() -> None:
    value = within_data_model(parse_deferring('{"\\ud800": [1e999, -1e999, "\\udfff", 1]}'))
    assert value == {"\ue000": [1.7976931348623157e308, -1.7976931348623157e308, "\ue7ff", 1]}


def test_an_error_tells_code_cause_and_hint_in_one_line() -> None:
    with pytest.raises(StrictJsonError) as refused:
        parse(b"{}\n{}")
    assert str(refused.value) == (
        "trailing-data: more text after the JSON value at line 2, column 1 (send one value alone)"
    )
