"""Shortening: what is left is what the failure needs, and it is still the same failure."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from worker_conformance.scenario.model import (
    Act,
    ActKind,
    Advance,
    AgentPlan,
    Crash,
    GroupPlan,
    Level,
    Ping,
    Profile,
    Publish,
    Scenario,
    Start,
    WorkPlan,
)
from worker_conformance.suite.properties.finding import Finding
from worker_conformance.suite.properties.program import Line, Program, Where, course_of, lines
from worker_conformance.suite.properties.reduction import CALLS_MAX, PLAYS_MAX, reduced

PICTURE = Scenario(
    id="GENERATED-0001",
    title="A world",
    stake="Nothing.",
    requirement="WRK-003.a",
    level=Level.MUST,
    profile=Profile.LEASES,
    steps=(),
    agent=AgentPlan(slots=2),
    groups=(GroupPlan("A", weight=3), GroupPlan("B")),
    work=(WorkPlan("a1", "A", duration_seconds=20), WorkPlan("a2", "A"), WorkPlan("b1", "B")),
    log={"A": (), "B": ()},
)
OFFERS = Publish({"A": (Act(ActKind.OFFER, "a1"), Act(ActKind.OFFER, "a2"))})
PROGRAM = lines([Start(), Ping(), OFFERS, Advance(5), Advance(7), Ping(), Crash(), Ping()])
FOUND = Finding("kind", "this", "that", PICTURE, ())


def shortened(fails: Callable[[Scenario, Program], bool]) -> tuple[Scenario, Program, int]:
    asked: list[tuple[Scenario, Program]] = []
    last = [(PICTURE, PROGRAM)]

    def still(picture: Scenario, program: Program) -> Finding | None:
        asked.append((picture, program))
        if not fails(picture, program):
            return None
        last.append((picture, program))
        return FOUND

    reduced(PICTURE, PROGRAM, FOUND, still, lambda: 0)
    return (*last[-1], len(asked))


def cues(program: Program) -> list[object]:
    return [line.cue for line in program]


def test_only_what_the_failure_needs_is_left() -> None:
    picture, program, _ = shortened(lambda _, program: Crash() in cues(program))
    assert cues(program) == [Crash()]
    assert picture.agent == AgentPlan()
    assert [group.name for group in picture.groups] == ["A"]
    assert picture.work == ()


def test_acts_are_dropped_one_by_one() -> None:
    def fails(_: Scenario, program: Program) -> bool:
        told = [cue for cue in cues(program) if isinstance(cue, Publish)]
        return any(act.work == "a2" for cue in told for act in cue.acts.get("A", ()))

    _, program, _ = shortened(fails)
    assert cues(program) == [Publish({"A": (Act(ActKind.OFFER, "a2"),)})]


def test_time_that_passes_in_parts_passes_at_once() -> None:
    def fails(_: Scenario, program: Program) -> bool:
        return sum(cue.seconds for cue in cues(program) if isinstance(cue, Advance)) == 12

    _, program, _ = shortened(fails)
    assert cues(program) == [Advance(12)]


def test_a_failure_that_needs_everything_stays_whole() -> None:
    picture, program, _ = shortened(lambda *_: False)
    assert (picture, program) == (PICTURE, PROGRAM)


def tries(calls_for_one: int) -> int:
    """How many candidates of a large world are played when none of them fails."""
    many = evolve(PICTURE, work=tuple(WorkPlan(f"a{n}", "A") for n in range(400)))
    count = 0

    def still(*_: object) -> Finding | None:
        nonlocal count
        count += 1
        return None

    reduced(many, PROGRAM, FOUND, still, lambda: count * calls_for_one)
    return count


def test_the_number_of_plays_is_bounded() -> None:
    assert tries(calls_for_one=0) <= PLAYS_MAX


def test_a_worker_that_never_rests_does_not_make_shortening_endless() -> None:
    assert tries(calls_for_one=CALLS_MAX // 3) <= 4


def test_lines_keep_the_course_they_belong_to() -> None:
    program = (*lines([Start()]), Line(Crash(), Where.VARIED), Line(Ping(), Where.PLAIN))
    assert cues(course_of(program, Where.PLAIN)) == [Start(), Ping()]
    assert cues(course_of(program, Where.VARIED)) == [Start(), Crash()]
