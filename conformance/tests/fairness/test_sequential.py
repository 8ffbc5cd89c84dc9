from __future__ import annotations

from random import Random

import pytest

from worker_conformance.judge.conditions_fairness import fair
from worker_conformance.judge.exact import shows_randomness
from worker_conformance.judge.sequential import SharesTest, judge_shares
from worker_conformance.judge.service import HistoryBuilder
from worker_conformance.port.declaration import Parameters
from worker_conformance.selftest.conforming import Lottery, StrideWithRandomTies
from worker_conformance.selftest.harness import Setting, play
from worker_conformance.selftest.unfair import LastTicketLost
from worker_conformance.suite.loads import equal

from .histories import played
from .test_drivers import driven, scenario_of

ERROR = 0.25
MOST = 40_000
SETS = ((1, 1, 1), (1, 2, 4), (16, 1, 1), (1.5, 0.5, 3.2))


def drawn(weights, seed, *, bias=1.0, held=1) -> SharesTest:
    """Draws by weight until the test has come to its end; the first Group's tickets are biased."""
    lots = Random(seed)  # noqa: S311 - dice of a test, no secret
    names = "ABCDEF"[: len(weights)]
    wanting = dict(zip(names, weights, strict=True))
    tickets = [weights[0] * bias, *weights[1:]]
    test = SharesTest(ERROR, len(weights))
    while test.finding().holds is None and test.witness < MOST:
        served = lots.choices(names, tickets)[0]
        for _ in range(held):
            test.take(served, wanting)
    return test


@pytest.mark.parametrize("weights", SETS)
@pytest.mark.parametrize("held", [1, 2])
def test_a_lawful_lottery_passes_under_every_seed(weights, held):
    findings = [drawn(weights, seed, held=held).finding() for seed in range(6)]
    assert [finding.holds for finding in findings] == [True] * 6


@pytest.mark.parametrize("weights", SETS)
@pytest.mark.parametrize(("bias", "side"), [(0.5, "too small"), (2.0, "too large")])
def test_a_biased_lottery_fails_under_every_seed(weights, bias, side):
    findings = [drawn(weights, seed, bias=bias).finding() for seed in range(4)]
    assert [finding.holds for finding in findings] == [False] * 4
    assert weights[0] > 1 or {f.says.split(" is ")[1][:9] for f in findings} == {side}


def test_the_test_needs_far_fewer_draws_than_the_bound():
    assert drawn((1, 1, 1), 1).witness < 2_000


def test_too_few_draws_decide_nothing():
    finding = judge_shares(played("ABC" * 4, weights={"A": 1.0, "B": 1.0, "C": 1.0}), ERROR)
    assert finding.holds is None
    assert "not decided" in finding.says


def test_a_slot_that_nobody_else_wanted_is_no_draw():
    test = SharesTest(ERROR, 2)
    test.take("A", {"A": 1.0})
    assert test.finding().holds is None
    assert test.finding().witness == 0


def history_of(scheduler, seed: int, dispatches: int = 40):
    setting = Setting(1, {"A": 1.0, "B": 1.0, "C": 1.0})
    return play(scheduler(1, seed), equal("ABC"), setting, dispatches=dispatches).history


def test_the_test_reads_a_history():
    assert judge_shares(history_of(Lottery, 3, 2_500), ERROR).holds is True
    assert judge_shares(history_of(LastTicketLost, 3, 2_500), ERROR).holds is False


def test_ties_decided_by_lot_vary_less_than_a_lottery_and_pass():
    assert judge_shares(history_of(StrideWithRandomTies, 3, 800), ERROR).holds is True


def test_lots_are_shown_by_seeds_that_differ_and_seeds_that_agree():
    run, repeated = history_of(Lottery, 1), history_of(Lottery, 1)
    assert shows_randomness(run, repeated, history_of(Lottery, 2))
    assert not shows_randomness(run, repeated, history_of(Lottery, 1))
    assert not shows_randomness(run, history_of(Lottery, 3), history_of(Lottery, 2))


def test_runs_without_a_dispatch_show_no_lots():
    empty = HistoryBuilder(1).build()
    assert not shows_randomness(empty, empty, history_of(Lottery, 2))


def test_a_worker_that_draws_lots_is_judged_by_the_test_and_told_its_error_rates():
    scenario = scenario_of("share", 1, 1, 1)
    world = driven(scenario, Lottery, parameters=Parameters(randomised=True))
    finding = fair(world.trace, scenario, world.parameters)
    assert finding.holds is True
    assert "1e-06" in finding.measurements[1].note


def test_a_worker_whose_lots_are_loaded_fails():
    scenario = scenario_of("share", 1, 1, 1)
    world = driven(scenario, LastTicketLost, parameters=Parameters(randomised=True))
    assert fair(world.trace, scenario, world.parameters).holds is False
