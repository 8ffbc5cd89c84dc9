"""The timestamp profile: texts stay, instants compare."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from worker_conformance.documents.errors import TimestampError
from worker_conformance.documents.timestamps import (
    Instant,
    conforms,
    is_protected_form,
    microseconds_of,
    parse,
    to_text,
)

SAME = [
    ("2026-07-15T00:00:00Z", "2026-07-15t00:00:00z"),
    ("2026-07-15T00:00:00Z", "2026-07-15T00:00:00.000Z"),
    ("2026-07-15T00:00:00Z", "2026-07-15T08:00:00+08:00"),
    ("2026-07-15T00:00:00Z", "2026-07-14T00:01:00-23:59"),
    ("2026-07-15T00:00:00.5Z", "2026-07-15T00:00:00.500000000000000000000Z"),
    ("0001-01-01T00:00:00Z", "0001-01-01T23:59:00+23:59"),
    ("2026-07-15T00:00:00Z", "2026-07-15T00:00:00+00:00"),
]
ORDERED = [
    "0001-01-01T00:00:00+23:59",
    "1969-12-31T23:59:59.999999Z",
    "1970-01-01T00:00:00Z",
    "2026-07-15T00:00:00Z",
    "2026-07-15T00:00:00.0000000000000000001Z",
    "2026-07-15T00:00:00.1234560000000000001Z",
    "2026-07-15T00:00:00.1234560000000000002Z",
    "2026-07-15T00:00:00.2Z",
    "2026-07-14T23:00:01-01:00",
    "9999-12-31T23:59:59.9Z",
]
OUTSIDE = [
    "0000-01-01T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2016-12-31T23:59:60Z",
    "2026-07-15T24:00:00Z",
    "2026-07-15T00:60:00Z",
    "2026-07-15T00:00:00-00:00",
    "2026-07-15T00:00:00+24:00",
    "2026-07-15T00:00:00+00:60",
    "2026-07-15T00:00:00",
    "2026-07-15 00:00:00Z",
    "2026-07-15T00:00:00.Z",
    "2026-07-15T00:00:00Z\n",
    " 2026-07-15T00:00:00Z",
    "\uff12026-07-15T00:00:00Z",
    "2026-07-15T00:00:00+0000",
    "",
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_one_instant_has_many_spellings(one: str, other: str) -> None:
    assert parse(one) == parse(other)


def test_instants_are_ordered_by_every_digit() -> None:
    instants = [parse(text) for text in ORDERED]
    assert instants == sorted(instants)
    assert len(set(instants)) == len(instants)


@pytest.mark.parametrize("text", OUTSIDE)
def test_what_is_outside_the_profile_is_refused(text: str) -> None:
    assert not conforms(text)
    with pytest.raises(TimestampError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "lawful"),
    [
        ("2026-07-15T00:00:00Z", True),
        ("2026-07-15t00:00:00Z", True),
        ("2026-07-15T00:00:00z", False),
        ("2026-07-15T00:00:00+00:00", False),
        ("2026-02-30T00:00:00Z", False),
    ],
)
def test_a_protected_time_ends_in_an_upper_case_z(text: str, *, lawful: bool) -> None:
    assert is_protected_form(text) is lawful


def test_the_canonical_spelling_has_no_needless_digits() -> None:
    at = datetime(2026, 7, 15, 8, tzinfo=timezone(timedelta(hours=8)))
    assert to_text(at) == "2026-07-15T00:00:00Z"
    assert to_text(0) == "1970-01-01T00:00:00Z"
    assert to_text(1_500_000) == "1970-01-01T00:00:01.5Z"
    assert to_text(-1) == "1969-12-31T23:59:59.999999Z"
    assert to_text(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00Z"
    assert to_text(Instant(0, "0000001")) == "1970-01-01T00:00:00.0000001Z"


@pytest.mark.parametrize("microseconds", [0, 1, -1, 10**15, 1_784_073_600_123_456])
def test_microseconds_survive_their_text(microseconds: int) -> None:
    assert microseconds_of(to_text(microseconds)) == microseconds


def test_finer_digits_are_rounded_down_to_microseconds() -> None:
    assert microseconds_of("1970-01-01T00:00:00.0000019Z") == 1
    assert microseconds_of("1969-12-31T23:59:59.9999999Z") == -1
