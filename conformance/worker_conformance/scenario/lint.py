"""The rules of a good vector, beyond being readable: each returns what it finds.

A vector must be able to fail for the reason it gives, stand beside its twin, and keep its ID for
ever. Never loads a vector (`loader` does) and never runs one.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from attrs import frozen

from worker_conformance.scenario.model import (
    Act,
    Check,
    Condition,
    ConditionKind,
    CrashDuring,
    Deliver,
    Drive,
    Forge,
    Link,
    Mark,
    Mood,
    Publish,
    Report,
    Scenario,
    SetPolicy,
    Start,
    Step,
    Truncate,
)
from worker_conformance.scenario.requirements import Requirement, RetiredId, unknown_requirement
from worker_conformance.scenario.surroundings import (
    Backpressure,
    ChangeToken,
    Join,
    Leave,
    Network,
    Raw,
)
from worker_conformance.scenario.values import did_you_mean

MAX_LINES = 70  # a vector is read on one screen
STAKE_CHARACTERS_MIN = 60  # shorter stakes repeat the title
STAKE_CHARACTERS_MAX = 600  # longer ones are not quoted
TO_DO = "TODO"  # what `new-vector` leaves to a person

_VECTOR_ID = re.compile(r"[A-Z]+-[0-9]{4}", re.ASCII)


@frozen
class Finding:
    """One rule that a vector breaks: where, what, and what to do."""

    where: str
    cause: str
    hint: str = ""


@frozen
class _Whole:
    """Everything that a rule may look at besides the scenario itself."""

    scenarios: Mapping[str, Scenario]
    requirements: Mapping[str, Requirement]
    retired: Mapping[str, RetiredId]
    noticed: Mapping[str, Sequence[str]] | None


Rule = Callable[[Scenario, _Whole], Iterator[Finding]]


def lint(
    scenarios: Sequence[Scenario],
    requirements: Mapping[str, Requirement],
    retired: Sequence[RetiredId],
    noticed: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Finding, ...]:
    """Apply every rule to every scenario; findings in the order of the scenarios given.

    `noticed` names, by vector, the faulty Workers that are known to fail it; without it nobody asks
    whether a vector can fail.
    """
    whole = _Whole(
        {scenario.id: scenario for scenario in scenarios},
        requirements,
        {entry.id: entry for entry in retired},
        noticed,
    )
    findings = [
        finding for scenario in scenarios for rule in _RULES for finding in rule(scenario, whole)
    ]
    return (*_unique_ids(scenarios), *findings)


def confusions(
    scenarios: Sequence[Scenario], requirements: Mapping[str, Requirement]
) -> Iterator[Finding]:
    """What no run can be made of: an ID given twice, and a requirement that there is not."""
    yield from _unique_ids(scenarios)
    for scenario in scenarios:
        for name in (scenario.requirement, *scenario.also):
            if name not in requirements:
                yield Finding(_where(scenario), *unknown_requirement(name, requirements))


def _unique_ids(scenarios: Sequence[Scenario]) -> Iterator[Finding]:
    first: dict[str, Scenario] = {}
    for scenario in scenarios:
        before = first.setdefault(scenario.id, scenario)
        if before is not scenario:
            hint = f"{_where(before)} has it already"
            yield Finding(_where(scenario), f"the ID {scenario.id} is given twice", hint)


def _names_itself(scenario: Scenario, whole: _Whole) -> Iterator[Finding]:
    where = _where(scenario)
    if not _VECTOR_ID.fullmatch(scenario.id):
        yield Finding(where, f"{scenario.id} is not a vector's ID", "such as REPLAY-0007")
    if (retired := whole.retired.get(scenario.id)) is not None:
        hint = f"it is retired ({retired.reason}); take the next free number"
        yield Finding(where, f"the ID {scenario.id} may not be used again", hint)
    if scenario.source is None:
        return
    path = PurePath(scenario.source)
    if path.name != f"{scenario.id}.yaml":
        yield Finding(where, f"the file is called {path.name}", f"call it {scenario.id}.yaml")
    if path.parent.name != scenario.profile:
        hint = f"move it to {scenario.profile}/, or change the profile"
        yield Finding(where, f"a {scenario.profile} vector lies in {path.parent.name}/", hint)


def _can_fail(scenario: Scenario, whole: _Whole) -> Iterator[Finding]:
    if whole.noticed is not None and not whole.noticed.get(scenario.id):
        hint = "register a Worker with the fault that it is about (docs/contributing.md)"
        yield Finding(_where(scenario), "no faulty Worker is known that it fails", hint)


def _cites_a_requirement(scenario: Scenario, whole: _Whole) -> Iterator[Finding]:
    requirement = whole.requirements.get(scenario.requirement)
    where = _where(scenario)
    if requirement is None:
        yield Finding(where, *unknown_requirement(scenario.requirement, whole.requirements))
    elif requirement.level is not scenario.level:
        cause = f"level {scenario.level}, but {requirement.id} is a {requirement.level}"
        yield Finding(where, cause, f"write level: {requirement.level}")


def _cites_further_requirements(scenario: Scenario, whole: _Whole) -> Iterator[Finding]:
    """What is judged besides is another duty, and one that exists; its level may be another."""
    for place, name in enumerate(scenario.also):
        if name not in whole.requirements:
            yield Finding(_where(scenario), *unknown_requirement(name, whole.requirements))
        if name == scenario.requirement or name in scenario.also[:place]:
            yield Finding(_where(scenario), f"{name} is cited twice", "delete it from 'also'")


def _says_what_is_at_stake(scenario: Scenario, _: _Whole) -> Iterator[Finding]:
    length = len(scenario.stake)
    if not STAKE_CHARACTERS_MIN <= length <= STAKE_CHARACTERS_MAX:
        cause = f"the stake has {length} characters"
        hint = f"two sentences, {STAKE_CHARACTERS_MIN} to {STAKE_CHARACTERS_MAX} characters"
        yield Finding(_where(scenario), cause, hint)


def _is_written(scenario: Scenario, _: _Whole) -> Iterator[Finding]:
    for member, told in (("title", scenario.title), ("stake", scenario.stake)):
        if told.startswith(TO_DO):
            hint = f"write it: '{TO_DO}' stands there since the skeleton was made"
            yield Finding(_where(scenario), f"the {member} is still to be written", hint)


def _has_its_twin(scenario: Scenario, whole: _Whole) -> Iterator[Finding]:
    where = _where(scenario)
    if scenario.twin is None:
        yield Finding(where, "it has no twin", "add the smallest change that turns its outcome")
        return
    twin = whole.scenarios.get(scenario.twin)
    if twin is None or twin is scenario:
        others = (name for name in whole.scenarios if name != scenario.id)
        hint = did_you_mean(scenario.twin, others)
        hint = hint if hint.startswith("did") else "name the vector that shows the other side"
        yield Finding(where, f"its twin {scenario.twin} is no other vector", hint)
        return
    if twin.twin != scenario.id:
        hint = f"write twin: {scenario.id} in {_where(twin)}"
        yield Finding(where, f"its twin {twin.id} names {twin.twin}, not this one", hint)
    if _clause(twin) != _clause(scenario) and twin.profile is not scenario.profile:
        cause = f"its twin {twin.id} is about {twin.requirement} in another profile"
        yield Finding(where, cause, f"a twin is about {_clause(scenario)}, or {scenario.profile}")


def _can_fail_for_its_reason(scenario: Scenario, _: _Whole) -> Iterator[Finding]:
    """A `never` needs proof that its moment came; without, silence passes."""
    proved = False
    for step in scenario.steps:
        if isinstance(step.action, Mark):
            proved = False
        if not isinstance(step.action, Check):
            continue
        if step.action.mood is Mood.NEVER and not proved:
            hint = "first prove that the moment came: - given: {ack: {A: 4}}"
            yield Finding(_at(scenario, step), "nothing before this `never` is proved", hint)
        proved = proved or step.action.mood in (Mood.GIVEN, Mood.EXPECT)


def _starts(scenario: Scenario, _: _Whole) -> Iterator[Finding]:
    if not any(isinstance(step.action, Start) for step in scenario.steps):
        yield Finding(_where(scenario), "the Worker is never started", "add - start")


def _looks_in_every_window(scenario: Scenario, _: _Whole) -> Iterator[Finding]:
    """A window that only sets the scene proves it by a `given`; the last one judges."""
    moods: set[Mood] = set()
    for step in scenario.steps:
        if isinstance(step.action, Mark):
            if not moods:
                hint = "add - given: {…} before the mark, or delete the mark"
                yield Finding(_at(scenario, step), "nothing is looked for before this mark", hint)
            moods.clear()
        elif isinstance(step.action, Check):
            moods.add(step.action.mood)
    if moods <= {Mood.GIVEN}:
        yield Finding(_where(scenario), "nothing is judged at the end", "add an expect or never")


def _uses_what_it_declares(scenario: Scenario, _: _Whole) -> Iterator[Finding]:
    where = _where(scenario)
    driven = any(isinstance(step.action, Drive) for step in scenario.steps)
    if driven:  # a driver makes use of every Group and every plan
        return
    used = frozenset(_named(scenario))
    for work in scenario.work:
        if work.name not in used:
            yield Finding(where, f"WorkItem {work.name} is never used", "use it or delete it")
    for group in scenario.groups:
        if group.name not in used:
            yield Finding(where, f"Group {group.name} is never used", "use it or delete it")


def _is_short(scenario: Scenario, _: _Whole) -> Iterator[Finding]:
    path = Path(scenario.source or "")
    if not path.is_file():
        return
    lines = path.read_bytes().count(b"\n")
    if lines > MAX_LINES:
        yield Finding(_where(scenario), f"{lines} lines", f"at most {MAX_LINES}: tell one thing")


def _named(scenario: Scenario) -> Iterator[str]:
    """Every Group and WorkItem that something happens to or something is expected of."""
    for group, acts in scenario.log.items():
        yield from _named_in_acts(group, acts)
    for step in scenario.steps:
        yield from _named_in_step(step)
    for work in scenario.work:
        yield from work.depends_on


def _named_in_acts(group: str, acts: Sequence[Act]) -> Iterator[str]:
    if acts:
        yield group
    yield from (act.work for act in acts if act.work is not None)


def _named_in_step(step: Step) -> Iterator[str]:
    action = step.action
    if isinstance(action, Publish):
        for group, acts in action.acts.items():
            yield from _named_in_acts(group, acts)
    elif isinstance(action, Check):
        for condition in action.conditions:
            yield from _named_in_condition(condition)
    elif isinstance(action, SetPolicy):
        yield from (*action.groups, *action.work, *action.remaining)
    elif isinstance(action, Deliver | CrashDuring):
        yield from action.sequences
    elif isinstance(action, Forge | Truncate | Raw):
        yield action.group
    elif isinstance(action, Link | Join | Leave | Backpressure | Network):
        yield from action.groups
    elif isinstance(action, Report | ChangeToken):
        yield action.work


def _named_in_condition(condition: Condition) -> Iterator[str]:
    value = condition.value
    words = value if isinstance(value, Mapping | tuple) else ()
    for word in words:
        named = str(word)
        if condition.kind in (ConditionKind.ORDER, ConditionKind.COUNT):
            named = named.partition(" ")[2]
        yield named


def _clause(scenario: Scenario) -> str:
    return scenario.requirement.partition(".")[0]


def _where(scenario: Scenario) -> str:
    return scenario.source or scenario.id


def _at(scenario: Scenario, step: Step) -> str:
    return f"{_where(scenario)}:{step.line}"


_RULES: tuple[Rule, ...] = (
    _names_itself,
    _can_fail,
    _cites_a_requirement,
    _cites_further_requirements,
    _says_what_is_at_stake,
    _is_written,
    _has_its_twin,
    _starts,
    _can_fail_for_its_reason,
    _looks_in_every_window,
    _uses_what_it_declares,
    _is_short,
)
