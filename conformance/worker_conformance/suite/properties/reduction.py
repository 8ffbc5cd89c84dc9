"""Reduction: the shortest course that still shows a failure.

Works on what a reader sees, steps and acts, not on the drawing that led to them: a dropped step
must not turn all later ones into others. Every candidate is played again; their number and length
are bounded, so that a Worker that breaks everything, or never rests, is told about in time. Never
changes what a failure is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from attrs import evolve

from worker_conformance.scenario.model import (
    Advance,
    AgentPlan,
    Deliver,
    GroupPlan,
    Publish,
    Scenario,
    WorkPlan,
)
from worker_conformance.suite.properties.finding import Finding
from worker_conformance.suite.properties.program import Line, Program

PLAYS_MAX = 160
"""Candidates played for one failure."""

CALLS_MAX = 25_000
"""Calls to the Worker for one failure: all those plays of a world of middle length."""

Still = Callable[[Scenario, Program], Finding | None]


class _Best:
    """The shortest failure so far, and how many candidates may still be played."""

    def __init__(
        self,
        picture: Scenario,
        program: Program,
        found: Finding,
        still: Still,
        calls: Callable[[], int],
    ) -> None:
        self.picture = picture
        self.program = program
        self.found = found
        self._still = still
        self._calls = calls
        self._calls_end = calls() + CALLS_MAX
        self._left = PLAYS_MAX
        self._tried: set[str] = set()

    def try_(self, picture: Scenario, program: Program) -> bool:
        """Take a candidate if it fails in the same way."""
        key = repr((picture, program))
        if self._left <= 0 or self._calls() > self._calls_end or key in self._tried:
            return False
        self._tried.add(key)
        self._left -= 1
        found = self._still(picture, program)
        if found is None:
            return False
        self.picture, self.program, self.found = picture, program, found
        return True


def reduced(
    picture: Scenario,
    program: Program,
    found: Finding,
    still: Still,
    calls: Callable[[], int],
) -> Finding:
    """Shorten the program, then simplify the world; returns the failure of what is left.

    `calls` tells how many calls to the Worker were made so far.
    """
    best = _Best(picture, program, found, still, calls)
    size = 0
    while size != (size := _size(best)):
        _drop_lines(best)
        _drop_acts(best)
        _join_publishes(best)
        _drop_deliveries(best)
        _simplify_world(best)
    return best.found


def _size(best: _Best) -> int:
    return -len(repr((best.picture, best.program)))


def _drop_lines(best: _Best) -> None:
    """Delta debugging: chunks from large to small, from the end, where most is beside the point."""
    chunk = max(1, len(best.program) // 2)
    while chunk:
        end = len(best.program)
        while end > 0:
            first = max(0, end - chunk)
            shorter = (*best.program[:first], *best.program[end:])
            best.try_(best.picture, shorter)
            end = min(first, len(best.program))
        chunk //= 2


def _drop_acts(best: _Best) -> None:
    """Acts of a `publish`, one by one."""
    for place in reversed(range(len(best.program))):
        for smaller in _smaller_publishes(best.program[place]):
            best.try_(best.picture, _replaced(best.program, place, smaller))


def _join_publishes(best: _Best) -> None:
    """What the Organization does in two steps it may do in one."""
    for place in reversed(range(1, len(best.program))):
        if place >= len(best.program):
            continue
        first, second = best.program[place - 1], best.program[place]
        if first.where is second.where and isinstance(later := second.cue, Publish):
            if not isinstance(sooner := first.cue, Publish):
                continue
            acts = dict(sooner.acts)
            for name, told in later.acts.items():
                acts[name] = (*acts.get(name, ()), *told)
            both = evolve(first, cue=Publish(acts))
            best.try_(best.picture, (*best.program[: place - 1], both, *best.program[place + 1 :]))


def _smaller_publishes(line: Line) -> Iterator[Line]:
    if not isinstance(line.cue, Publish):
        return
    acts = {name: list(told) for name, told in line.cue.acts.items()}
    if sum(map(len, acts.values())) < 2:
        return
    for name, told in acts.items():
        for number in reversed(range(len(told))):
            kept = {**acts, name: told[:number] + told[number + 1 :]}
            yield evolve(line, cue=Publish({n: tuple(t) for n, t in kept.items() if t}))


def _drop_deliveries(best: _Best) -> None:
    """Sequences of a `deliver`, and time that need not pass."""
    for place in reversed(range(len(best.program))):
        cue = best.program[place].cue
        if isinstance(cue, Deliver):
            for sequences in _fewer(cue):
                smaller = evolve(best.program[place], cue=Deliver(sequences))
                best.try_(best.picture, _replaced(best.program, place, smaller))
        elif (
            isinstance(cue, Advance)
            and place
            and isinstance(before := _cue(best, place - 1), Advance)
        ):
            both = evolve(best.program[place], cue=Advance(before.seconds + cue.seconds))
            shorter = (*best.program[: place - 1], both, *best.program[place + 1 :])
            best.try_(best.picture, shorter)


def _cue(best: _Best, place: int) -> object:
    return best.program[place].cue


def _fewer(deliver: Deliver) -> Iterator[dict[str, tuple[int, ...]]]:
    for name, numbers in deliver.sequences.items():
        others = {n: many for n, many in deliver.sequences.items() if n != name}
        if others:
            yield others
        for number in dict.fromkeys(numbers) if len(numbers) > 1 else ():
            yield {**deliver.sequences, name: (number,)}


def _replaced(program: Program, place: int, line: Line) -> Program:
    return (*program[:place], line, *program[place + 1 :])


# --- the still picture --------------------------------------------------------------------


def _simplify_world(best: _Best) -> None:
    for number in reversed(range(len(best.picture.work))):
        work = best.picture.work
        if any(work[number].name in one.depends_on for one in work):
            continue
        best.try_(evolve(best.picture, work=work[:number] + work[number + 1 :]), best.program)
    _drop_groups(best)
    for simpler in _plainer(best.picture):
        best.try_(simpler(best.picture), best.program)


def _drop_groups(best: _Best) -> None:
    """Groups without WorkItems that no step names."""
    told = repr(best.program)
    for group in best.picture.groups[1:]:
        used = any(plan.group == group.name for plan in best.picture.work)
        if used or f"'{group.name}'" in told:
            continue
        kept = tuple(one for one in best.picture.groups if one != group)
        log = {name: acts for name, acts in best.picture.log.items() if name != group.name}
        best.try_(evolve(best.picture, groups=kept, log=log), best.program)


def _plainer(picture: Scenario) -> Sequence[Callable[[Scenario], Scenario]]:
    """Everything that can be as it is by default."""
    changes: list[Callable[[Scenario], Scenario]] = []
    if picture.agent != AgentPlan():
        changes.append(lambda scenario: evolve(scenario, agent=AgentPlan()))
    changes += [_default_group(one) for one in picture.groups if one != GroupPlan(one.name)]
    changes += [_default_work(one) for one in picture.work if one != WorkPlan(one.name, one.group)]
    return changes


def _default_group(plan: GroupPlan) -> Callable[[Scenario], Scenario]:
    plain = GroupPlan(plan.name)
    return lambda scenario: evolve(
        scenario, groups=tuple(plain if one.name == plan.name else one for one in scenario.groups)
    )


def _default_work(plan: WorkPlan) -> Callable[[Scenario], Scenario]:
    plain = WorkPlan(plan.name, plan.group)
    return lambda scenario: evolve(
        scenario, work=tuple(plain if one.name == plan.name else one for one in scenario.work)
    )
