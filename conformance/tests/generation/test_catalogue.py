"""The catalogue of properties, its judgements, and the page about them, say the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from worker_conformance.judge.verdicts import CheckKind
from worker_conformance.suite.checks import info_of, requirements
from worker_conformance.suite.engine import RunOptions
from worker_conformance.suite.properties.catalogue import PROPERTIES, PropertyInfo
from worker_conformance.suite.properties.registry import JUDGEMENTS

PAGE = Path(__file__).parents[3] / "docs" / "properties.md"


def test_there_are_at_least_fifteen_and_every_id_is_given_once() -> None:
    ids = [info.check_id for info in PROPERTIES]
    assert len(ids) >= 15
    assert ids == sorted(set(ids))
    assert all(re.fullmatch(r"PROP-[0-9]{4}", one) for one in ids)


def test_every_property_has_its_judgement() -> None:
    assert list(JUDGEMENTS) == [info.check_id for info in PROPERTIES]


@pytest.mark.parametrize("info", PROPERTIES, ids=lambda info: info.check_id)
def test_a_property_cites_a_requirement_of_its_level_and_area(info: PropertyInfo) -> None:
    requirement = requirements()[info.requirement]
    assert (requirement.level, requirement.profile) == (info.level, info.profile)
    assert requirement.clauses


@pytest.mark.parametrize("info", PROPERTIES, ids=lambda info: info.check_id)
def test_a_property_is_a_check_of_the_run(info: PropertyInfo) -> None:
    check = info_of(info.check_id)
    assert (check.kind, check.title) == (CheckKind.PROPERTY, info.title)


def test_the_page_names_every_property_and_no_other() -> None:
    named = re.findall(r"^\| (PROP-[0-9]{4}) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert named == [info.check_id for info in PROPERTIES]


def test_a_thorough_run_makes_five_thousand_worlds_for_each() -> None:
    assert RunOptions("w", thorough=True).worlds == 5_000
    assert 0 < RunOptions("w").worlds < 5_000
