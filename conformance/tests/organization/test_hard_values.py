"""Data whose canonical bytes are hard to make: spelled as RFC 8785 does, and changed by a hair."""

import json

import pytest

from worker_conformance.documents.canonical import canonical
from worker_conformance.organization.hard_values import HARD_VALUES, altered
from worker_conformance.scenario.model import HARD_DATA, ActKind


def test_every_set_has_its_word() -> None:
    assert set(HARD_VALUES) == set(HARD_DATA)


def test_numbers_are_spelled_as_ecmascript_does() -> None:
    assert canonical(HARD_VALUES["numbers"]) == (
        b'{"large":1e+21,"least":5e-324,"power":1152921504606847000,"small":1e-7,'
        b'"tenths":0.30000000000000004,"third":333333333.3333333,"two":2,'
        b'"whole":10000000000000000,"zero":0}'
    )


def test_names_are_sorted_by_their_utf_16_units() -> None:
    names = list(json.loads(canonical(HARD_VALUES["names"])))
    assert names == ["", "\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f602", "\ufb33"]
    assert names != sorted(names)


@pytest.mark.parametrize("data", HARD_DATA)
def test_the_smallest_change_changes_the_bytes(desk, data: str) -> None:
    desk.act(ActKind.EXTENSION, critical=False, data=data)
    event = desk.last
    changed = altered(event)
    assert changed is not None
    assert canonical(changed) != canonical(event)
    assert {**changed, "extensions": None} == {**event, "extensions": None}


def test_an_event_without_such_data_cannot_be_changed(desk) -> None:
    desk.reach("offered")
    assert altered(desk.last) is None
