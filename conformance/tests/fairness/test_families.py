"""The judges tried on Schedulers whose merits are known.

By default each conforming family meets each number of slots once and each weight set in turn, at
the error that runs over the Port catch; WORKER_CONFORMANCE_THOROUGH=1 plays the whole matrix at
the lengths of the bare harness.
"""

from __future__ import annotations

import os

import pytest

from worker_conformance.selftest.cases import SHARE_ERROR, WEIGHTS, Case
from worker_conformance.selftest.conforming import CONFORMING
from worker_conformance.selftest.examine import STARVATION_TRIALS, TRIALS, examine
from worker_conformance.selftest.faults import UNFAIR

THOROUGH = os.environ.get("WORKER_CONFORMANCE_THOROUGH") == "1"
QUICK_ERROR = 1.0
RANDOM_ERROR = 2.0
"""A lottery at full length takes minutes; that it is not failed shows on shorter runs too."""

LARGEST_RATIO = 0.85


def cases() -> list[tuple[str, int, str]]:
    return [
        (name, slots, weights)
        for place, name in enumerate(CONFORMING)
        for turn, slots in enumerate((1, 2, 4, 8) if THOROUGH else (1, 2, 4))
        for step, weights in enumerate(WEIGHTS)
        if THOROUGH or (place + turn) % len(WEIGHTS) == step
    ]


def case_of(name: str, slots: int, weights: str) -> Case:
    scheduler = CONFORMING[name]
    error = RANDOM_ERROR if scheduler.randomised else SHARE_ERROR if THOROUGH else QUICK_ERROR
    return Case(scheduler, slots, WEIGHTS[weights], share_error=error)


@pytest.mark.parametrize(("name", "slots", "weights"), cases())
def test_a_conforming_scheduler_is_never_failed(name, slots, weights):
    outcomes = list(examine(case_of(name, slots, weights), TRIALS))
    assert [outcome for outcome in outcomes if not outcome.holds] == []
    assert max(outcome.ratio for outcome in outcomes) <= LARGEST_RATIO


@pytest.mark.parametrize("name", CONFORMING)
def test_a_conforming_scheduler_starves_nobody(name):
    sets = WEIGHTS if THOROUGH else ("fractional",)
    for weights in sets:
        outcomes = list(examine(case_of(name, 1, weights), STARVATION_TRIALS))
        assert [outcome for outcome in outcomes if not outcome.holds] == []
        assert max(outcome.ratio for outcome in outcomes) <= LARGEST_RATIO


@pytest.mark.parametrize("seed", range(50 if THOROUGH else 4))
def test_a_lottery_is_fair_under_every_seed(seed):
    case = Case(CONFORMING["lottery"], 2, WEIGHTS["1:2:4"], seed=seed, share_error=RANDOM_ERROR)
    outcomes = list(examine(case, {"share": TRIALS["share"], "pulse": TRIALS["pulse"]}))
    assert [outcome for outcome in outcomes if not outcome.holds] == []


@pytest.mark.parametrize("name", UNFAIR)
def test_an_unfair_scheduler_is_caught_by_the_check_for_its_fault(name):
    fault = UNFAIR[name]
    case = Case(fault.scheduler, fault.slots, WEIGHTS[fault.weights])
    trial = {**TRIALS, **STARVATION_TRIALS}[fault.trial]
    failed = {outcome.check for outcome in trial(case) if not outcome.holds}
    assert fault.check in failed


def test_there_are_enough_families_of_both_kinds():
    assert len(CONFORMING) >= 12
    assert len(UNFAIR) >= 35


def test_the_same_seed_plays_the_same_run():
    case = Case(CONFORMING["lottery"], 2, WEIGHTS["fractional"], share_error=RANDOM_ERROR)
    one, other = (list(TRIALS["share"](case)) for _ in range(2))
    assert one == other
