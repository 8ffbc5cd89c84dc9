from __future__ import annotations

import re
from pathlib import Path

import pytest

from worker_conformance.judge.fairness import (
    RANDOM_FACTOR,
    Allowance,
    Flow,
    frame_of,
    pair_bound,
    run_length,
)
from worker_conformance.selftest.tables import conforming_table, unfair_table
from worker_conformance.suite.checks import catalogue
from worker_conformance.suite.drivers import DRIVERS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "fairness.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="docs are not part of the wheel")


def page() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("table", [conforming_table(), unfair_table()], ids=["fair", "unfair"])
def test_the_tables_are_those_of_what_is_tested(table):
    assert table in page(), "print them anew: python -m worker_conformance.selftest.tables"


def test_the_worked_example_is_computed_as_the_suite_computes():
    a, b, c = (Flow(weight, 1.0) for weight in (1.5, 0.5, 3.2))
    allowance, frame = Allowance(2), frame_of([a, b, c])
    assert pair_bound(c, b, allowance, frame) == pytest.approx(10.9375)
    assert pair_bound(c, a, allowance, frame) == pytest.approx(6.9375)
    assert pair_bound(a, b, allowance, frame) == pytest.approx(12)
    assert run_length([a, b, c], allowance, 0.25) == 375
    for figure in ("10.9375", "6.9375", "374.4, so 375"):
        assert figure in page()


def test_the_run_lengths_of_the_page_are_those_of_the_formula():
    equal, heavy = [Flow(1, 1.0)] * 100, [Flow(16, 1.0), Flow(1, 1.0), Flow(1, 1.0)]
    assert f"{run_length(equal, Allowance(8), 0.10):,}" == "30,000"
    assert f"{run_length(heavy, Allowance(8), 0.10):,}" == "5,400"
    randomised = run_length(heavy, Allowance(8, random_factor=RANDOM_FACTOR), 0.10)
    assert round(randomised, -3) == 302_000
    assert all(figure in page() for figure in ("30,000", "5,400", "about 302,000"))


def test_every_driver_and_every_check_named_on_the_page_exists():
    table = page().partition("| driver | pressure")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([a-z-]+)`", table)) == set(DRIVERS)
    named = set(re.findall(r"\b(?:SCHED|PREEMPT|MON|TWIN)-\d{4}\b", page()))
    named |= {f"SCHED{number}" for number in re.findall(r" (-\d{4})\b", table)}
    assert named <= {info.check_id for info in catalogue()}
