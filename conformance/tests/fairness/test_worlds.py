"""Random weights and arrivals, many Groups, late joiners, extreme weights."""

from __future__ import annotations

import os
import random

import pytest

from worker_conformance.judge.exact import idle_breaches, liveness_breaches, safety_breaches
from worker_conformance.judge.fairness import Allowance, judge_fairness
from worker_conformance.selftest.cases import Case
from worker_conformance.selftest.conforming import CONFORMING
from worker_conformance.selftest.examine import TRIALS
from worker_conformance.selftest.harness import Setting, play
from worker_conformance.suite.loads import Batch, Deep, Hoard, Load, Offer, Pulse, equal

THOROUGH = os.environ.get("WORKER_CONFORMANCE_THOROUGH") == "1"
WORLDS = 500 if THOROUGH else 20

FAMILIES = [name for name, scheduler in CONFORMING.items() if not scheduler.randomised]
BY_DISPATCH = [name for name in FAMILIES if CONFORMING[name].unit == "dispatch"]


def load_of(draws: random.Random, groups: list[str]) -> Load:
    lengths = [[draws.choice((30, 60, 90, 240)) for _ in range(5)] for _ in groups]
    makers = {
        group: [Offer(group, seconds) for seconds in row]
        for group, row in zip(groups, lengths, strict=True)
    }
    kind = draws.choice(("deep", "pulse", "hoard"))
    if kind == "deep":
        return Deep(makers, low=draws.randint(1, 4), high=4)
    late = groups[draws.randrange(len(groups))]
    del makers[late]
    if kind == "pulse":
        return Pulse(makers, pulsing=late)
    return Hoard(makers, hoarding=late, idle_dispatches=draws.randint(1, 200))


@pytest.mark.parametrize("seed", range(WORLDS))
def test_no_conforming_scheduler_fails_in_a_random_world(seed):
    draws = random.Random(seed)  # noqa: S311 - worlds, no secrets
    groups = [f"G{place}" for place in range(draws.randint(2, 8))]
    weights = {group: round(10 ** draws.uniform(-1, 1.3), 3) for group in groups}
    slots = draws.choice((1, 2, 3, 4, 8))
    scheduler = CONFORMING[FAMILIES[seed % len(FAMILIES)]]
    run = play(
        scheduler(slots, seed), load_of(draws, groups), Setting(slots, weights), dispatches=600
    )
    finding = judge_fairness(run.history, Allowance(slots, unit=scheduler.unit))
    assert finding.ratio <= 0.85
    assert safety_breaches(run.history) == ()
    assert idle_breaches(run.history) == ()
    assert liveness_breaches(run.history, run.stopped_at, run.remaining_seconds) == ()


@pytest.mark.parametrize(
    ("name", "groups"), [("stride", 100), ("weighted round robin", 12), ("deficit round robin", 12)]
)
def test_many_groups_are_no_reason_to_fail(name, groups):
    weights = tuple(1 + place % 4 for place in range(groups))
    case = Case(CONFORMING[name], 4, weights, share_error=5.0)
    assert [outcome for outcome in TRIALS["share"](case) if not outcome.holds] == []


@pytest.mark.parametrize("name", BY_DISPATCH)
def test_extreme_weights_keep_everybody_safe_and_alive(name):
    setting = Setting(2, {"A": 1.0, "B": 1e7})
    run = play(CONFORMING[name](2, 1), equal(["A", "B"]), setting, dispatches=400)
    finding = judge_fairness(run.history, Allowance(2))
    assert finding.holds
    assert safety_breaches(run.history) == ()
    assert liveness_breaches(run.history, run.stopped_at, run.remaining_seconds) == ()


@pytest.mark.parametrize("name", BY_DISPATCH)
def test_a_very_heavy_group_is_delayed_by_one_light_item_at_most(name):
    load = Hoard({"B": [Offer("B")]}, hoarding="A", idle_dispatches=20, flood=30)
    run = play(CONFORMING[name](1, 1), load, Setting(1, {"A": 1e7, "B": 1.0}), dispatches=50)
    order = [dispatch.group for dispatch in run.history.dispatches()]
    assert order[20:50].count("B") <= 1


@pytest.mark.parametrize("name", CONFORMING)
def test_a_batch_of_one_instant_is_worked_off_without_an_idle_slot(name):
    groups = ["A", "B", "C"]
    load = Batch([Offer(groups[place % 3], 30 * (1 + place % 5)) for place in range(40)])
    setting = Setting(3, dict.fromkeys(groups, 1.0), {"A": 1})
    run = play(CONFORMING[name](3, 1), load, setting, dispatches=0)
    assert sum(1 for _ in run.history.dispatches()) == 40
    assert idle_breaches(run.history) == ()
    assert liveness_breaches(run.history, run.stopped_at, run.remaining_seconds) == ()
