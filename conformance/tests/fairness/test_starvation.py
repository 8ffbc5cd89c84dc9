from __future__ import annotations

import pytest

from worker_conformance.judge.fairness import Allowance
from worker_conformance.judge.service import MICROSECONDS, HistoryBuilder, Item, ServiceHistory
from worker_conformance.judge.starvation import (
    Horizon,
    Waited,
    flood_bound_seconds,
    judge_flood,
    judge_starvation,
)
from worker_conformance.port.declaration import Parameters

WEIGHTS = {"A": 1.0, "B": 1.0}
BASE = Horizon().base_seconds(1, WEIGHTS, "A", 60)


def victim_served_after(seconds: float, *, served: bool = True) -> ServiceHistory:
    builder = HistoryBuilder(1)
    for group, weight in WEIGHTS.items():
        builder.group(group, weight)
    builder.offered(Item("victim", "A", 60))
    builder.offered(Item("b1", "B", 60))
    builder.ready(0, "victim")
    builder.rest(0)
    if served:
        builder.dispatched(round(seconds * MICROSECONDS), "victim")
    builder.rest(round(seconds * MICROSECONDS))
    return builder.build()


def test_the_base_adds_the_horizon_the_class_ratio_and_some_items():
    assert BASE == 3600 + 3 * 8 * 6 * 2 * 60 + 60 * 60


@pytest.mark.parametrize(
    ("multiple", "waited"),
    [
        (0.1, Waited.SERVED),
        (1.9, Waited.SERVED),
        (2.1, Waited.HORIZON_EXCEEDED),
        (7.9, Waited.HORIZON_EXCEEDED),
        (8.1, Waited.STARVED),
    ],
)
def test_a_wait_is_judged_by_multiples_of_the_base(multiple, waited):
    finding = judge_starvation(victim_served_after(multiple * BASE), Horizon(), 60, "victim")
    assert finding.waited is waited


def test_a_victim_not_served_in_a_short_run_is_undecided_and_not_served():
    history = victim_served_after(BASE, served=False)
    finding = judge_starvation(history, Horizon(), 60, "victim")
    assert finding.waited is Waited.UNDECIDED
    assert not finding.holds


def test_an_item_that_is_no_victim_and_waits_for_ever_is_found():
    finding = judge_starvation(victim_served_after(9 * BASE, served=False), Horizon(), 60)
    assert finding.waited is Waited.STARVED
    assert finding.worst is not None
    assert finding.worst.item == "victim"


def test_a_horizon_beyond_the_ceiling_is_held_to_it():
    horizon = Horizon.of(Parameters(starvation_horizon_seconds=1e9, class_share_ratio=1e6))
    assert horizon == Horizon(30 * 86_400, 64)


def test_the_flood_bound_is_the_others_lead_and_the_slots_and_the_item_itself():
    history = victim_served_after(60)
    # B(B, A) = 2 * (1 + 1) + 2 * 1 = 6 dispatches of 60 s, one busy slot, one item.
    assert flood_bound_seconds(history, Allowance(1), "A", 60) == 6 * 60 + 60 + 60
    by_time = Allowance(1, unit="slotTime")
    assert flood_bound_seconds(history, by_time, "A", 60) == 6 * 60 + 60 + 60


@pytest.mark.parametrize(("seconds", "holds"), [(60, True), (479, True), (480, False)])
def test_a_flood_is_judged_by_that_bound(seconds, holds):
    finding = judge_flood(victim_served_after(seconds), Allowance(1), "victim", 60)
    assert finding.holds is holds


def test_a_flood_without_its_victim_is_undecided():
    finding = judge_flood(victim_served_after(60), Allowance(1), "nobody", 60)
    assert finding.waited is Waited.UNDECIDED
