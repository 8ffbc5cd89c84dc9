"""Worlds in disguise: what a pair keeps, what it changes, and what a difference is worth."""

from collections.abc import Iterable
from typing import Any, cast

from attrs import evolve

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.privacy.views import view_of
from worker_conformance.judge.verdicts import Verdict
from worker_conformance.organization.names import Names
from worker_conformance.port.in_process import InProcessPort
from worker_conformance.port.locate import PortFactory, locate
from worker_conformance.scenario.model import Act, ActKind, Publish, Step
from worker_conformance.selftest.interposer import Interposer
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import scenarios
from worker_conformance.suite.comparisons import pairs, scenes, sweep
from worker_conformance.suite.comparisons.stage import (
    Stage,
    accepted,
    other_words,
    rewritten,
    starts,
)

REFERENCE = "reference_worker:factory"
SEED = 11


def test_other_words_are_as_long_and_have_nothing_in_common() -> None:
    text = "URGENT: production is down!"
    changed = other_words(text)
    assert len(changed) == len(text)
    assert changed != text
    assert not set(text.split()) & set(changed.split())


def test_only_the_texts_of_the_others_are_rewritten() -> None:
    scene = scenes.telling()
    varied = rewritten(scene, frozenset({"B", "C"}))
    plain, changed = ({plan.name: plan for plan in one.work} for one in (scene, varied))
    assert plain["a1"] == changed["a1"]
    assert plain["b1"].goal != changed["b1"].goal
    assert evolve(changed["b1"], goal=plain["b1"].goal) == plain["b1"]


def test_messages_are_rewritten_too() -> None:
    said = Act(ActKind.MESSAGE, args={"text": "hello"})
    scene = evolve(scenes.telling(), steps=(Step(Publish({"A": (said,), "B": (said,)})),))
    (step,) = rewritten(scene, frozenset({"B"})).steps
    assert isinstance(step.action, Publish)
    assert step.action.acts["A"] == (said,)
    assert step.action.acts["B"][0].args["text"] == other_words("hello")


def test_a_world_in_disguise_is_another_to_its_neighbours_and_the_same_to_the_group() -> None:
    scene = scenarios()["DISC-0004"]
    with Bench(locate(REFERENCE)) as bench:
        stage = Stage(bench, SEED)
        plain, varied = stage.play(scene), stage.renamed(scene, ["B"])
        retold = stage.retold(scene, ["B"])
    names = Names(SEED)
    a, b = names.group_id("A"), names.group_id("B")
    assert view_of(plain, a) == view_of(varied, a) == view_of(retold, a)
    assert view_of(plain, b)
    assert view_of(varied, b) == ()  # it has another ID there
    assert len(view_of(retold, b)) == len(view_of(plain, b))
    assert accepted(plain) == accepted(varied) == {"A", "B"}
    assert [work for _, work in starts(plain)] == [work for _, work in starts(varied)]


class Forgetful(Interposer):
    """Answers otherwise to the same world each time: it counts over its whole life."""

    count = 0

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] != "disclose":
            return (effect,)
        Forgetful.count += 1
        estimate: Any = effect["estimate"]
        confidence = round(0.1 + Forgetful.count % 1000 / 2000, 4)
        return ({**effect, "estimate": {**estimate, "confidence": confidence}},)


class _Local:
    """Opens Ports to it."""

    def open(self) -> InProcessPort:
        return InProcessPort(Forgetful)


def test_a_worker_that_never_repeats_itself_shows_nothing_by_pairs() -> None:
    scene = scenarios()["DISC-0004"]
    with Bench(cast(PortFactory, _Local())) as bench:
        outcome = pairs.judge_views(Stage(bench, SEED), (scene,))
    assert outcome.verdict is Verdict.INCONCLUSIVE  # it declares `deterministic`
    assert "the very same world" in outcome.reason


def test_the_sweep_has_so_many_items_waiting() -> None:
    assert sweep.BACKLOGS[0] == 0
    assert sweep.BACKLOGS[-1] == 64
    for backlog in (0, 3):
        scene = sweep.scene(backlog)
        assert len([plan for plan in scene.work if plan.group == "B"]) == backlog + 1
