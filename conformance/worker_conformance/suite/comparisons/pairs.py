"""Pairs of worlds that differ in nothing but the secrets of other Groups.

Non-interference: what a Group sees must not depend on what it must not know. A pair shows every
influence, also by routes that nobody thought of and in disguises that no search recognises; it
shows it for these worlds only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from worker_conformance.judge.privacy.views import Difference, Kind, compare, view_of
from worker_conformance.judge.trace import Trace
from worker_conformance.judge.verdicts import Failure, Measurement, Verdict
from worker_conformance.organization.names import Names
from worker_conformance.scenario.clock import elapsed
from worker_conformance.scenario.model import Scenario
from worker_conformance.suite.comparisons.outcome import Outcome
from worker_conformance.suite.comparisons.stage import Stage, accepted, starts
from worker_conformance.suite.play import text_of_vector

SEEN_REACHED = "a Group whose work was accepted, beside another Group whose work ran"
ORDER_REACHED = "work of two Groups started"


def judge_views(stage: Stage, scenes: Iterable[Scenario]) -> Outcome:
    """No Group's view changes with the secrets of the others (MWP-WRK-012, MWP-FND-019)."""
    witness, pairs, order = 0, 0, None
    for scene in scenes:
        plain = stage.play(scene)
        for receiver in _served_beside_others(scene, plain):
            pairs += 1
            varied = stage.renamed(scene, _others(scene, receiver))
            found = _compare(stage, plain, varied, receiver)
            witness += len(view_of(plain, _group_id(stage, receiver)))
            if found is None:
                continue
            if not _repeats(stage, scene, plain, receiver):
                return _not_repeatable(stage, witness)
            failure = _failure(scene, receiver, found)
            if found.kind is Kind.CONTENT:
                return Outcome(Verdict.FAIL, witness, "", failure, _counted(pairs))
            order = order or failure
    return Outcome.of(order, Verdict.ADVICE, witness, SEEN_REACHED, _counted(pairs))


def _counted(pairs: int) -> tuple[Measurement, ...]:
    return (Measurement("pairs of worlds", pairs, None, "pairs"),)


def _others(scene: Scenario, receiver: str) -> list[str]:
    return [group.name for group in scene.groups if group.name != receiver]


def _served_beside_others(scene: Scenario, trace: Trace) -> Sequence[str]:
    """Receivers of which something was accepted while work of others ran."""
    served, ran = accepted(trace), {_group_of(scene, work) for _, work in starts(trace)}
    return [name for name in sorted(served) if ran - {name}]


def _group_of(scene: Scenario, work: str) -> str:
    return next((plan.group for plan in scene.work if plan.name == work), "")


def _group_id(stage: Stage, group: str) -> str:
    return Names(stage.seed).group_id(group)


def _compare(stage: Stage, plain: Trace, varied: Trace, receiver: str) -> Difference | None:
    group_id = _group_id(stage, receiver)
    return compare(view_of(plain, group_id), view_of(varied, group_id))


def _repeats(stage: Stage, scene: Scenario, plain: Trace, receiver: str) -> bool:
    """Whether the same world gives the same view again: else a difference proves nothing."""
    return _compare(stage, plain, stage.play(scene), receiver) is None


def _not_repeatable(stage: Stage, witness: int) -> Outcome:
    reason = "two runs of the very same world differ, so that pairs of worlds show nothing"
    if stage.parameters.deterministic:
        return Outcome(Verdict.INCONCLUSIVE, witness, f"{reason}; it declares `deterministic`")
    return Outcome(Verdict.ABSTAINED, witness, f"{reason}; it does not declare `deterministic`")


def _failure(scene: Scenario, receiver: str, found: Difference) -> Failure:
    return Failure(
        expected=f"Group {receiver} sees the same bytes whatever the secrets of the others are",
        observed=f"a difference of {found.kind} in {found.what} (scene {scene.id})",
        transcript=found.lines,
        step=scene.id,
        views=found.pairs,
        vector=text_of_vector(scene),
    )


# --- the order of starts --------------------------------------------------------------


def judge_order(stage: Stage, scenes: Iterable[Scenario]) -> Outcome:
    """The order of starts does not depend on contents (MWP-WRK-028)."""
    witness = 0
    for scene in scenes:
        plain = starts(stage.play(scene))
        groups = {_group_of(scene, work) for _, work in plain}
        if len(groups) < 2:
            continue
        witness += len(plain)
        varied = starts(stage.retold(scene, [group.name for group in scene.groups]))
        if plain == varied:
            continue
        if plain != starts(stage.play(scene)):
            return _not_repeatable(stage, witness)
        failure = Failure(
            expected="the same starts at the same times, whatever goals and Messages say",
            observed=f"another order once the texts were exchanged (scene {scene.id})",
            transcript=tuple(_both(plain, varied)),
            step=scene.id,
            vector=text_of_vector(scene),
        )
        return Outcome(Verdict.FAIL, witness, "", failure)
    return Outcome.of(None, Verdict.FAIL, witness, ORDER_REACHED)


Starts = Sequence[tuple[int, str]]


def _both(plain: Starts, varied: Starts) -> list[str]:
    first = next(
        (
            place
            for place, pair in enumerate(zip(plain, varied, strict=False))
            if pair[0] != pair[1]
        ),
        min(len(plain), len(varied)),
    )
    lines = [f"{elapsed(at):>11}  both    start {work}" for at, work in plain[:first]]
    for name, row in (("plain", plain), ("varied", varied)):
        lines += [f"{elapsed(at):>11}  {name:<6}  start {work}" for at, work in row[first:][:3]]
    return lines
