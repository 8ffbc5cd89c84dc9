from __future__ import annotations

import pytest
from attrs import evolve

from worker_conformance.errors import VectorError
from worker_conformance.judge.conditions_fairness import SHARE_ERROR, fair, served_within
from worker_conformance.port.declaration import Parameters
from worker_conformance.scenario.model import (
    AgentPlan,
    Drive,
    GroupPlan,
    Level,
    Profile,
    Scenario,
    Start,
    Step,
)
from worker_conformance.selftest.conforming import (
    HierarchicalClasses,
    StartTimeBySlotTime,
    StartTimeFairQueueing,
    WeightedRoundRobin,
)
from worker_conformance.selftest.schedulers import Scheduler
from worker_conformance.selftest.unfair import (
    CancelledCharged,
    CreditKeptIdle,
    DebtLostOnLeaving,
    FirstComeFirstServed,
    HighestClassFirst,
    MostUrgentFirst,
    NewestFirst,
    TicketsPerJob,
    WeightCached,
    WeightIgnored,
)
from worker_conformance.suite.drivers import DRIVERS, drive

from .stub_world import StubWorld

HORIZON = {"victim": "horizon"}


def scenario_of(
    driver: str, *weights: float, slots: int = 1, classes: tuple[str, ...] = (), **members: object
) -> Scenario:
    groups = tuple(
        GroupPlan("ABCDEFGH"[place], weight, priority_class=(classes or ("standard",) * 8)[place])
        for place, weight in enumerate(weights)
    )
    return Scenario(
        id="T-1",
        title="a drive",
        stake="",
        requirement="WRK-010.a",
        level=Level.MUST,
        profile=Profile.SCHEDULING,
        steps=(Step(Start()), Step(Drive(driver, members))),
        agent=AgentPlan(slots=slots),
        groups=groups,
    )


def driven(scenario: Scenario, scheduler: type[Scheduler], **settings) -> StubWorld:
    world = StubWorld(scenario, scheduler(scenario.agent.slots), **settings)
    drive(world, scenario.steps[1].action)
    return world


def judged(scenario: Scenario, scheduler: type[Scheduler], **settings):
    world = driven(scenario, scheduler, **settings)
    return fair(world.trace, scenario, world.parameters)


def served(scenario: Scenario, scheduler: type[Scheduler], **settings):
    world = driven(scenario, scheduler, **settings)
    (finding,) = served_within(world.trace, scenario, world.parameters, HORIZON)
    return finding


SHARE_DRIVERS = [name for name in DRIVERS if name not in ("flood", "starve")]


@pytest.mark.parametrize("driver", SHARE_DRIVERS)
def test_a_fair_worker_passes_and_the_run_was_long_enough(driver):
    for slots, weights in ((1, (1, 1, 1)), (2, (1.5, 0.5, 3.2))):
        finding = judged(scenario_of(driver, *weights, slots=slots), WeightedRoundRobin)
        assert finding.holds is True, finding.observed
        detectable = finding.measurements[1]
        assert detectable.value <= SHARE_ERROR


@pytest.mark.parametrize(
    ("driver", "scheduler", "weights"),
    [
        ("share", WeightIgnored, (3, 1)),
        ("mixed-sizes", WeightIgnored, (3, 1)),
        ("inflate", MostUrgentFirst, (1, 1)),
        ("share", NewestFirst, (1, 1, 1)),
        ("hoard", CreditKeptIdle, (1, 1)),
        ("cancel", CancelledCharged, (1, 1)),
        ("reweigh", WeightCached, (4, 1)),
        ("blocked", CreditKeptIdle, (1, 1)),
        ("rejoin", DebtLostOnLeaving, (1, 1)),
        ("split", TicketsPerJob, (1, 1)),
    ],
)
def test_an_unfair_worker_fails_and_the_finding_tells_the_story(driver, scheduler, weights):
    finding = judged(scenario_of(driver, *weights), scheduler)
    assert finding.holds is False
    assert "ran ahead of" in finding.observed
    assert "bound" in finding.observed
    assert finding.measurements[0].share_of_bound > 1


def test_a_driver_may_be_asked_for_a_finer_error():
    scenario = scenario_of("share", 1, 1, percent=10)
    finding = judged(scenario, WeightedRoundRobin)
    assert finding.holds is True
    assert finding.measurements[1].value <= 0.10


def test_a_group_that_joins_late_is_owed_its_share_from_then_on():
    scenario = scenario_of("late", 1.5, 0.5, 3.2, slots=2)
    first, *others = scenario.groups
    scenario = evolve(scenario, groups=(evolve(first, joined=False), *others))
    world = driven(scenario, WeightedRoundRobin)
    joined = [e.at for e in world.trace if e.body.get("type") == "join"]
    starts = [e for e in world.trace if e.body.get("kind") == "work.started"]
    assert len(joined) == 1
    assert all(e.at >= joined[0] for e in starts if e.body["group"] == "A")
    assert fair(world.trace, scenario, world.parameters).holds is True


def test_a_worker_that_refuses_one_groups_offers_is_unfair():
    finding = judged(scenario_of("share", 1, 1, 1), StartTimeFairQueueing, refuses=frozenset({"C"}))
    assert finding.holds is False
    assert "C" in finding.observed


def test_a_worker_that_accepts_nothing_ends_the_drive_and_shows_nothing():
    finding = judged(
        scenario_of("share", 1, 1), StartTimeFairQueueing, refuses=frozenset({"A", "B"})
    )
    assert finding.holds is None


def test_a_worker_that_starts_nothing_ends_the_drive_and_shows_nothing():
    scenario = scenario_of("share", 1, 1)
    assert judged(scenario, StartTimeFairQueueing, starts=False).holds is None
    flood = scenario_of("flood", 1, 1)
    world = driven(flood, StartTimeFairQueueing, starts=False)
    (finding,) = served_within(world.trace, flood, world.parameters, HORIZON)
    assert finding.holds is None


def test_the_declared_unit_is_the_one_that_is_judged():
    parameters = Parameters(fairness_unit="slotTime")
    scenario = scenario_of("mixed-sizes", 1, 1, 1)
    good = judged(scenario, StartTimeBySlotTime, parameters=parameters)
    bad = judged(scenario, StartTimeFairQueueing, parameters=parameters)
    assert good.holds is True, good.observed
    assert bad.holds is False
    assert good.measurements[0].unit == "seconds of slot time per unit of weight"


def test_a_generous_declaration_is_told_its_ceiling():
    finding = judged(
        scenario_of("share", 1, 1), WeightedRoundRobin, parameters=Parameters(lag_quanta=99)
    )
    notes = [figure.note for figure in finding.measurements]
    assert "declared 99, held to the ceiling 8" in notes


def test_a_single_item_in_a_flood_is_served_in_time_or_not():
    scenario = scenario_of("flood", 1, 1, 1)
    assert served(scenario, StartTimeFairQueueing).holds is True
    assert served(scenario, FirstComeFirstServed).holds is False


def test_a_flood_stays_within_the_declared_capacity():
    scenario = scenario_of("flood", 1, 1, 1, held=1024)
    world = driven(scenario, StartTimeFairQueueing, parameters=Parameters(queue_capacity=100))
    assert len(world.plans) <= 100


@pytest.mark.parametrize(
    ("scheduler", "holds"), [(HierarchicalClasses, True), (HighestClassFirst, False)]
)
def test_the_lowest_class_is_served_beside_a_stream_of_the_highest(scheduler, holds):
    scenario = scenario_of("starve", 1, 1, classes=("background", "urgent"))
    assert served(scenario, scheduler).holds is holds


def test_newest_first_starves_the_oldest_of_equals():
    scenario = scenario_of("starve", 1, 1, by="nothing")
    assert served(scenario, NewestFirst).holds is False
    assert served(scenario, StartTimeFairQueueing).holds is True


def test_a_long_horizon_is_met_with_long_items_and_not_with_long_runs():
    scenario = scenario_of("starve", 1, 1, classes=("background", "urgent"))
    parameters = Parameters(starvation_horizon_seconds=30 * 86_400)
    world = driven(scenario, HighestClassFirst, parameters=parameters)
    assert len(world.plans) < 1_500


def test_queues_are_filled_in_batches():
    world = driven(scenario_of("share", 1, 1, 1), StartTimeFairQueueing)
    started = sum(entry.body.get("kind") == "work.started" for entry in world.trace)
    assert world.publications < started / 5


def test_the_same_drive_makes_the_same_trace():
    scenario = scenario_of("mixed-sizes", 1.5, 0.5, 3.2, slots=2)
    one, other = (driven(scenario, WeightedRoundRobin).trace for _ in range(2))
    assert list(one.to_lines()) == list(other.to_lines())


def test_an_unknown_driver_is_named_with_the_known_ones():
    with pytest.raises(VectorError) as caught:
        driven(scenario_of("shear", 1, 1), StartTimeFairQueueing)
    assert all(name in str(caught.value.hint) for name in DRIVERS)
