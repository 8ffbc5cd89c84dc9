"""What a check's witness needs of a Worker, and so which checks are out of reach of null Workers.

Read off the vector's own conditions and off what a monitor says it counts. Never plays anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from worker_conformance.judge.monitors import REGISTRY
from worker_conformance.scenario.model import Check, Condition, ConditionKind, Mood
from worker_conformance.suite.checks import catalogue, scenarios

_OF_RUNNING_WORK = frozenset(
    {
        "checkpoint",
        "block",
        "publish",
        "submit",
        "run",
        "resume",
        "preempt",
        "continue",
        "pause",
        "cancel",
        "release",
        "operation",
        "running",
        "names_lease",
        "fair",
        "served_within",
    }
)
_OF_ACCEPTED_WORK = _OF_RUNNING_WORK | {"accept", "start", "renew", "disclose"}
_LED_TO = {"queued": "accept", "active": "run", "blocked": "block", "submitted": "submit"}
"""What a Worker has to do before its work is in this state."""

_SAID_OF_RUNNING_WORK = re.compile(r"\b(ran|running|active work|run went on|pause)\b")


@cache
def checks_of_running_work() -> frozenset[str]:
    """The checks that only a Worker whose work runs can pass."""
    monitors = {info.check_id for info, _ in REGISTRY if _SAID_OF_RUNNING_WORK.search(info.reached)}
    return frozenset(monitors | set(_vectors_with(_OF_RUNNING_WORK)))


@cache
def checks_of_accepted_work() -> frozenset[str]:
    """The checks that only a Worker that has accepted work can pass."""
    return checks_of_running_work() | frozenset(_vectors_with(_OF_ACCEPTED_WORK))


def out_of_reach(null_worker: str) -> frozenset[str]:
    """The checks that a null Worker cannot pass by what it does.

    Nothing is out of reach of the one that speaks at random: it knows the true identifiers, and may
    accept an offer by luck.
    """
    return _OUT_OF_REACH[null_worker]()


def _every_check() -> frozenset[str]:
    return frozenset(info.check_id for info in catalogue())


_OUT_OF_REACH: Mapping[str, Callable[[], frozenset[str]]] = {
    "silent": _every_check,
    "claims_nothing": _every_check,
    "echoes": _every_check,
    "recorded": _every_check,
    "refuses_everything": checks_of_accepted_work,
    "accepts_and_never_starts": checks_of_running_work,
    "speaks_at_random": frozenset,
}


def _vectors_with(words: frozenset[str]) -> Iterator[str]:
    for scenario in scenarios().values():
        conditions = (
            condition
            for step in scenario.steps
            if isinstance(step.action, Check) and step.action.mood is not Mood.NEVER
            for condition in step.action.conditions
        )
        if any(words.intersection(_words_of(condition)) for condition in conditions):
            yield scenario.id


def _words_of(condition: Condition) -> set[str]:
    """The words that have to be seen; those counted as 0 have not."""
    value = condition.value
    if condition.kind is ConditionKind.ORDER and isinstance(value, Iterable):
        return {str(step).partition(" ")[0] for step in value}
    if condition.kind is ConditionKind.COUNT and isinstance(value, Mapping):
        return {str(step).partition(" ")[0] for step, count in value.items() if count}
    if condition.kind is ConditionKind.STATE and isinstance(value, Mapping):
        return {_LED_TO.get(str(state), str(state)) for state in value.values()}
    return {condition.kind.value}
