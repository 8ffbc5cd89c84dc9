"""Twins: two runs that are the same, or that differ in one improvement of one WorkItem.

A Worker that calls itself deterministic does the same twice. A Scheduler that says it considers an
attribute never serves an item later for having more of it; the improvement is made in a queue of
one Group, and a class is raised to where nothing else waits, because fair queueing between busy
classes may rightly let a raised item wait.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from worker_conformance.judge.privacy.views import compare, view_of
from worker_conformance.judge.trace import Trace
from worker_conformance.judge.verdicts import Failure, Verdict
from worker_conformance.organization.names import Names
from worker_conformance.scenario.clock import elapsed
from worker_conformance.scenario.loader import load_text
from worker_conformance.scenario.model import Scenario
from worker_conformance.suite.comparisons.outcome import Outcome
from worker_conformance.suite.comparisons.stage import Stage, starts

IMPROVED = "a5"
"""Fourth of the eight that wait: it can become earlier, and it can become later."""

QUEUE = """
id: TWINS-0001
title: Eight equal items behind one that runs
stake: >
  Scenery of the twins: one Group, one slot, and a queue that only its order changes.
requirement: WRK-010.d
level: SHOULD
profile: scheduling
groups: {{A: {{}}}}
work: {{a1: {{duration: 10m}}, a5: {{{plan}}}}}
log:
  A: [created, member, {{authorize: a1}}, {{offer: a1}}, {{authorize: a2}}, {{authorize: a3}},
      {{authorize: a4}}, {{authorize: a5}}, {{authorize: a6}}, {{authorize: a7}}, {{authorize: a8}},
      {{authorize: a9}}]
delivery: auto
steps:
  - start
  - advance: 1m
{before}
  - advance: 3m
  - publish: {{A: [{{offer: a2}}, {{offer: a3}}, {{offer: a4}}, {after}{{offer: a6}}, {{offer: a7}},
                  {{offer: a8}}, {{offer: a9}}]}}
  - advance: 90m
"""

SHARES = """
id: TWINS-0002
title: Three Groups of unequal weight on two slots
stake: >
  Scenery of the twins: enough choice for whatever draws lots to show it.
requirement: WRK-010.a
level: READING
profile: scheduling
agent: {slots: 2}
groups: {A: {weight: 1.5}, B: {weight: 0.5}, C: {weight: 3.2}}
work: {a2: {duration: 3m}, b2: {duration: 7m}, c3: {duration: 5m}}
log:
  A: [created, member, {authorize: a1}, {authorize: a2}, {authorize: a3}, {authorize: a4}]
  B: [created, member, {authorize: b1}, {authorize: b2}, {authorize: b3}, {authorize: b4}]
  C: [created, member, {authorize: c1}, {authorize: c2}, {authorize: c3}, {authorize: c4}]
delivery: auto
steps:
  - start
  - publish:
      A: [{offer: a1}, {offer: a2}, {offer: a3}, {offer: a4}]
      B: [{offer: b1}, {offer: b2}, {offer: b3}, {offer: b4}]
      C: [{offer: c1}, {offer: c2}, {offer: c3}, {offer: c4}]
  - advance: 90m
"""


@frozen
class Improvement:
    """One attribute by its name in `considers`, and the scenes without and with more of it."""

    attribute: str
    what: str
    plain: str
    improved: str


def _scene(plan: str = "", before: str = "", *, early: bool = False) -> str:
    offer = f"{{offer: {IMPROVED}}}"
    if early:
        before = f"  - publish: {{A: [{offer}]}}"
    return QUEUE.format(plan=plan, before=before, after="" if early else f"{offer}, ")


_CLASS = f"  - policy: {{work: {{{IMPROVED}: {{class: urgent}}}}}}"

CLASS = Improvement("priorityClass", "a higher class", _scene(), _scene(before=_CLASS))
DEADLINE = Improvement("deadline", "a nearer deadline", _scene(), _scene(plan="deadline: 40m"))
WAITING = Improvement("waitingTime", "three minutes more of waiting", _scene(), _scene(early=True))


def judge_improvement(improvement: Improvement) -> Callable[[Stage], Outcome]:
    """The judge of one attribute (MWP-WRK-010)."""

    def judge(stage: Stage) -> Outcome:
        if improvement.attribute not in stage.parameters.considers:
            reason = f"the Worker does not say that it considers {improvement.attribute}"
            return Outcome(Verdict.ABSTAINED, reason=reason)
        if stage.parameters.randomised:
            reason = "the Worker declares that it draws lots, and lots may fall late"
            return Outcome(Verdict.ABSTAINED, reason=reason)
        scene = load_text(improvement.plain, "twins")
        plain = stage.play(scene)
        if starts(plain) != starts(stage.play(scene)):
            reason = "two runs of the very same world differ, so that twins show nothing"
            return Outcome(Verdict.ABSTAINED, reason=reason)
        improved = stage.play(load_text(improvement.improved, "twins"))
        return _compared(improvement, plain, improved)

    return judge


def _compared(improvement: Improvement, plain: Trace, improved: Trace) -> Outcome:
    before, after = _started(plain), _started(improved)
    failure = None
    if before is not None and (after is None or after > before):
        then = "not at all" if after is None else f"at {elapsed(after)}"
        failure = Failure(
            expected=f"{IMPROVED} starts no later with {improvement.what} than without",
            observed=f"without it {IMPROVED} starts at {elapsed(before)}, with it {then}",
            transcript=(*_told("without", plain), *_told("with", improved)),
        )
    reached = f"{IMPROVED} started behind others of its Group"
    return Outcome.of(failure, Verdict.ADVICE, _overtakable(plain), reached)


def _started(trace: Trace) -> int | None:
    return next((at for at, work in starts(trace) if work == IMPROVED), None)


def _overtakable(trace: Trace) -> int:
    """How many of the queue started before the improved item."""
    order = [work for _, work in starts(trace)]
    return order.index(IMPROVED) - 1 if IMPROVED in order else 0


def _told(name: str, trace: Trace) -> list[str]:
    return [f"{elapsed(at):>11}  {name:<7}  start {work}" for at, work in starts(trace)]


def judge_repetition(stage: Stage) -> Outcome:
    """Who declares `deterministic` does the same twice, in every byte that a Group can see."""
    scene = load_text(SHARES, "twins")
    first = stage.play(scene)
    witness = len(starts(first))
    if witness and not stage.parameters.deterministic:
        reason = "the Worker does not declare `deterministic`"
        return Outcome(Verdict.ABSTAINED, reason=reason)
    failure = _repeated(stage, scene, first, stage.play(scene))
    return Outcome.of(failure, Verdict.ADVICE, witness, "work of three Groups started")


def _repeated(stage: Stage, scene: Scenario, first: Trace, second: Trace) -> Failure | None:
    for group in scene.groups:
        group_id = Names(stage.seed).group_id(group.name)
        found = compare(view_of(first, group_id), view_of(second, group_id))
        if found is not None:
            return Failure(
                expected="the same conduct for the same input and seed, as it is declared",
                observed=f"a difference of {found.kind} in {found.what}, seen by {group.name}",
                transcript=found.lines,
                views=found.pairs,
            )
    return None
