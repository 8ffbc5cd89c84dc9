"""Canonical bytes, by either route."""

import json
import math

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from worker_conformance.documents.canonical import canonical, sha256_bytes, sha256_of
from worker_conformance.documents.errors import DataModelError
from worker_conformance.documents.json_types import JsonValue
from worker_conformance.documents.strict_json import parse

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
LOOKALIKES = (
    *("a:1.5", "[1e5,", ",-12345678901234567]", ":NaN", ":00.5Z", "null", '":2.0}', "urn:90e45"),
    *("\ue000", "\U0001f600", '":\ue000', '\\":\U0001f600', ":\ufb33"),
)
lookalikes = st.sampled_from(LOOKALIKES)
names = texts | lookalikes
scalars = st.none() | st.booleans() | numbers | texts | lookalikes
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=5),
    max_leaves=20,
)

EXAMPLES: list[tuple[str, bytes]] = [
    ('{"b": 1, "a": 2}', b'{"a":2,"b":1}'),
    ("1.0", b"1"),
    ("-0.0", b"0"),
    ("-0", b"0"),
    ('{"a": -0.0}', b'{"a":0}'),
    ("[1e21, 1e20, 0.000001, 1e-7]", b"[1e+21,100000000000000000000,0.000001,1e-7]"),
    ("[9007199254740993]", b"[9007199254740992]"),
    ('{"a": 4.144946521809752e+16}', b'{"a":41449465218097520}'),
    ('[1.5e300, {"a": 2e-9}]', b'[1.5e+300,{"a":2e-9}]'),
    ('[[9007199254740991.0], {"a": 10.0}]', b'[[9007199254740991],{"a":10}]'),
    ("[123456789012345678901234567890]", b"[1.2345678901234568e+29]"),
    ('"\\u0008\\t\\n\\f\\r\\u001f\\u007f\\"\\\\/"', b'"\\b\\t\\n\\f\\r\\u001f\x7f\\"\\\\/"'),
    ('{"\\ud83d\\ude00": 1, "\\ufb33": 2}', '{"\U0001f600":1,"\ufb33":2}'.encode()),
    ("[]", b"[]"),
    ("null", b"null"),
]


@pytest.mark.parametrize(("raw", "expected"), EXAMPLES)
def test_examples_have_their_canonical_bytes(raw: str, expected: bytes) -> None:
    assert canonical(parse(raw)) == expected


@given(values)
def test_both_routes_give_the_same_bytes(value: JsonValue) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(values)
def test_canonical_bytes_parse_to_values_with_the_same_bytes(value: JsonValue) -> None:
    assert canonical(parse(canonical(value))) == canonical(value)


@pytest.mark.parametrize("value", [math.inf, [-math.inf], {"a": math.nan}, 10**400, ["x", 10**400]])
def test_numbers_beyond_binary64_have_no_canonical_bytes(value: JsonValue) -> None:
    with pytest.raises(DataModelError, match="number-out-of-range"):
        canonical(value)


@pytest.mark.parametrize("value", ["\ud800", ["é\udfff"], {"\ud800": 1}, [1.5, "\ud800"]])
def test_unpaired_surrogates_have_no_canonical_bytes(value: JsonValue) -> None:
    with pytest.raises(DataModelError, match="unpaired-surrogate"):
        canonical(value)


def test_integers_beyond_the_safe_range_mean_the_nearest_double() -> None:
    assert canonical([2**53 + 1, -(2**63)]) == b"[9007199254740992,-9223372036854776000]"


def test_a_hash_is_over_canonical_bytes_in_lower_case() -> None:
    value = json.loads('{"b": [1.0], "a": "é"}')
    assert sha256_of(value) == sha256_bytes('{"a":"é","b":[1]}'.encode())
    assert sha256_bytes(b"").startswith("sha256:e3b0c44298fc1c149afbf4c8996fb924")
