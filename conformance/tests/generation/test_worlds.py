"""Generated worlds: drawn the same again, said in YAML, and played as any vector is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from worker_conformance.port.locate import locate
from worker_conformance.scenario.dump import to_yaml
from worker_conformance.scenario.generation import Stage, Taste, possible_moves
from worker_conformance.scenario.generation import taste as tastes
from worker_conformance.scenario.generation.programs import MOVES
from worker_conformance.scenario.loader import load_text
from worker_conformance.scenario.model import Action
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.properties.outcome import differences
from worker_conformance.suite.properties.program import lines
from worker_conformance.suite.properties.stagehand import Stagehand
from worker_conformance.suite.properties.theatre import Course, Theatre

REFERENCE = "reference_worker:factory"
TASTES = [one for one in vars(tastes).values() if isinstance(one, Taste)]
WORLDS = 2


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench(locate(REFERENCE)) as opened:
        yield opened


def drawn(bench: Bench, taste: Taste, seed: int, worlds: int = WORLDS) -> list[Course]:
    return list(Theatre(bench, seed).courses(taste, worlds))


@pytest.mark.parametrize("taste", TASTES, ids=lambda taste: taste.name)
def test_a_drawn_world_is_a_scenario_that_yaml_can_say(bench: Bench, taste: Taste) -> None:
    for course in drawn(bench, taste, seed=3):
        scenario = course.scenario()
        assert load_text(to_yaml(scenario), "drawn.yaml") == scenario


@pytest.mark.parametrize("taste", TASTES, ids=lambda taste: taste.name)
def test_a_taste_weighs_moves_that_exist(taste: Taste) -> None:
    assert set(taste.moves) <= set(MOVES)


def test_the_same_seed_draws_the_same_worlds(bench: Bench) -> None:
    first, second = (drawn(bench, tastes.EVERYTHING, seed=5) for _ in range(2))
    assert [one.scenario() for one in first] == [one.scenario() for one in second]
    assert [one.ends for one in first] == [one.ends for one in second]


def test_another_seed_draws_other_worlds(bench: Bench) -> None:
    first = drawn(bench, tastes.CALM, seed=5, worlds=3)
    second = drawn(bench, tastes.CALM, seed=6, worlds=3)
    assert [one.scenario() for one in first] != [one.scenario() for one in second]


def test_what_was_played_ends_the_same_when_it_is_played_again(bench: Bench) -> None:
    theatre = Theatre(bench, 7)
    for course in theatre.drawn(tastes.CALM, WORLDS):
        again = theatre.play(course.picture, course.program)
        assert again.program == course.program
        assert not differences(course.ends, again.ends)


def test_a_saved_world_plays_like_a_vector(bench: Bench) -> None:
    (course,) = drawn(bench, tastes.EVERYTHING, seed=9, worlds=1)
    played = bench.play(course.scenario(), 9)
    assert [(one.check_id, one.witness) for one in played.sightings] == [
        (one.check_id, one.witness) for one in course.sightings
    ]


def test_what_is_impossible_is_left_out(bench: Bench) -> None:
    theatre = Theatre(bench, 1)
    (course,) = drawn(bench, tastes.CALM, seed=1, worlds=1)
    shorter = lines([line.cue for line in course.program if not callable(line.cue)][3:])
    played = theatre.play(course.picture, shorter)
    assert len(played.program) <= len(shorter)


def test_without_a_session_only_what_needs_none_can_happen() -> None:
    stage = Stage(work={}, groups={}, alive=False)
    names = {name for name, _, _ in possible_moves(stage, tastes.EVERYTHING)}
    assert "start" in names
    assert not names & {"crash", "cut", "ping", "deliver", "answer"}


def test_what_breaks_a_drawing_is_told_and_leaves_nothing_behind(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, fault = Stagehand.take, ZeroDivisionError("a fault of the suite")
    calls = 0

    def breaks(self: Stagehand, action: Action) -> bool:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise fault
        return take(self, action)

    monkeypatch.setattr(Stagehand, "take", breaks)
    with pytest.raises(ZeroDivisionError, match="a fault of the suite"):
        drawn(bench, tastes.CALM, seed=5)
    assert len(drawn(bench, tastes.CALM, seed=5)) == WORLDS
