from __future__ import annotations

import math

import pytest

from worker_conformance.judge.fairness import (
    RANDOM_FACTOR,
    Allowance,
    Flow,
    SeriesPoint,
    frame_of,
    judge_fairness,
    pair_bound,
    run_length,
    thinned,
)
from worker_conformance.judge.service import MICROSECONDS, HistoryBuilder, Item
from worker_conformance.port.declaration import Parameters

from .histories import played

EQUAL = {"A": 1.0, "B": 1.0}


def flows(*weights: float) -> list[Flow]:
    return [Flow(weight, 1.0) for weight in weights]


@pytest.mark.parametrize(
    ("weights", "slots", "error", "dispatches"),
    [
        ((1, 2, 4), 4, 0.10, 998),
        ((16, 1, 1), 8, 0.10, 5_400),
        ((1,) * 100, 8, 0.10, 30_000),
        ((1, 1, 1), 1, 0.25, 108),
    ],
)
def test_the_run_length_is_that_of_the_formula(weights, slots, error, dispatches):
    assert run_length(flows(*weights), Allowance(slots), error) == dispatches


def test_a_randomised_scheduler_needs_a_very_long_run():
    allowance = Allowance(8, random_factor=RANDOM_FACTOR)
    assert 290_000 < run_length(flows(16, 1, 1), allowance, 0.10) < 310_000


def test_a_run_of_that_length_catches_the_error_with_the_safety_factor():
    # The lag of two equal Groups at shares 0.55 and 0.45 after T dispatches is 0.1 T.
    allowance = Allowance(1)
    length = run_length(flows(1, 1), allowance, 0.10)
    bound = pair_bound(Flow(1, 1), Flow(1, 1), allowance, 1.0)
    assert 0.10 * length / 2 == pytest.approx(1.5 * bound)


def test_longer_items_shorten_a_run_counted_in_dispatches():
    long = [Flow(1, 60.0), Flow(1, 60.0)]
    assert run_length(long, Allowance(1, unit="slotTime"), 0.25, 60.0) == run_length(
        flows(1, 1), Allowance(1), 0.25
    )


def test_the_bound_has_one_part_for_the_pair_and_one_for_the_frame():
    allowance = Allowance(2, lag_quanta=2, frame_factor=2)
    g, h = Flow(1.5, 1.0), Flow(0.5, 1.0)
    frame = frame_of([g, h, Flow(3.2, 1.0)])
    assert frame == 2.0
    assert pair_bound(g, h, allowance, frame) == pytest.approx(3 * (1 / 1.5 + 2) + 4)


def test_taking_turns_is_fair_to_equals():
    finding = judge_fairness(played("AB" * 40, weights=EQUAL), Allowance(1))
    assert finding.holds
    assert finding.witness == 80
    assert finding.worst is not None
    assert finding.worst.lag == 1.0


def test_taking_turns_is_unfair_to_three_to_one():
    finding = judge_fairness(played("AB" * 40, weights={"A": 3.0, "B": 1.0}), Allowance(1))
    assert not finding.holds
    assert finding.worst is not None
    assert (finding.worst.ahead, finding.worst.behind) == ("B", "A")


def test_a_starved_group_breaks_the_bound_and_the_story_shows_it():
    finding = judge_fairness(played("AB" * 5 + "A" * 20, weights=EQUAL), Allowance(1))
    assert not finding.holds
    assert finding.worst is not None
    assert finding.worst.lag == 20.0  # since just after the last dispatch of B
    assert finding.worst.since == 9 * 60 * MICROSECONDS
    assert finding.story[0].group == "B"
    assert {dispatch.group for dispatch in finding.story[1:]} == {"A"}
    assert len(finding.story) == 8


def test_the_lag_counts_from_its_lowest_point_and_not_from_the_beginning():
    # B is served first, ten times; that A then catches up with it is no fault.
    finding = judge_fairness(played("B" * 6 + "A" * 6, weights=EQUAL), Allowance(1))
    assert finding.worst is not None
    assert finding.worst.lag == 6.0


def test_groups_of_different_classes_are_not_compared():
    history = played("A" * 60, weights=EQUAL, classes={"A": "urgent"})
    finding = judge_fairness(history, Allowance(1))
    assert finding.holds
    assert finding.witness == 0


def test_a_group_without_backlog_may_fall_behind():
    builder = HistoryBuilder(1)
    builder.group("A", 1.0)
    builder.group("B", 1.0)
    for number in range(60):
        builder.offered(Item(f"a{number}", "A"))
        builder.ready(number, f"a{number}")
        builder.dispatched(number, f"a{number}")
        builder.rest(number)
        builder.stopped(number + 1, f"a{number}")
    finding = judge_fairness(builder.build(), Allowance(1))
    assert finding.holds
    assert finding.witness == 0


def test_a_new_weight_begins_a_new_measurement():
    builder = HistoryBuilder(1)
    builder.group("A", 1.0)
    builder.group("B", 1.0)
    for number in range(80):
        for group in "AB":
            builder.offered(Item(f"{group}{number}", group))
            builder.ready(number, f"{group}{number}")
    builder.rest(0)
    for number in range(8):
        if number == 4:
            builder.group("B", 2.0)
        builder.dispatched(number, f"A{number}")
        builder.stopped(number + 1, f"A{number}")
        builder.rest(number + 1)
    finding = judge_fairness(builder.build(), Allowance(1))
    assert finding.worst is not None
    assert finding.worst.lag == 4.0


def test_the_unit_decides_what_a_dispatch_costs():
    history = played("ABB" * 30, weights={"A": 1.0, "B": 2.0}, seconds=30.0)
    by_dispatch = judge_fairness(history, Allowance(1))
    by_time = judge_fairness(history, Allowance(1, unit="slotTime"))
    assert by_time.worst is not None
    assert by_dispatch.worst is not None
    assert by_time.worst.lag == 30 * by_dispatch.worst.lag
    assert by_time.ratio == pytest.approx(by_dispatch.ratio)


def test_absurd_declarations_are_held_to_the_ceiling():
    allowance = Allowance.of(Parameters(lag_quanta=1000, frame_factor=50), slots=1)
    assert (allowance.lag_quanta, allowance.frame_factor) == (8, 8)


def test_nothing_declared_means_the_defaults():
    assert Allowance.of(Parameters(), slots=2) == Allowance(2, 2, 2, "dispatch", 0.0)


def test_the_statistical_allowance_needs_randomness_to_be_shown():
    parameters = Parameters(randomised=True)
    assert Allowance.of(parameters, 1).random_factor == 0
    assert Allowance.of(parameters, 1, randomness_shown=True).random_factor == RANDOM_FACTOR


def test_weights_of_one_to_ten_million_do_not_overflow():
    history = played("B" * 50 + "A", weights={"A": 1.0, "B": 1e7})
    finding = judge_fairness(history, Allowance(1))
    assert finding.holds
    assert math.isfinite(finding.ratio)


def test_a_thinned_series_keeps_its_peak():
    points = [SeriesPoint(at, 1.0 if at == 777 else 0.1) for at in range(2_000)]
    few = thinned(points, 100)
    assert len(few) <= 100
    assert max(point.ratio for point in few) == 1.0


def test_an_empty_history_shows_nothing():
    finding = judge_fairness(HistoryBuilder(1).build(), Allowance(1))
    assert finding.witness == 0
    assert math.isinf(finding.detectable)
