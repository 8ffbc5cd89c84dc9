"""The catalogue: every check of the suite, whatever its kind, under its permanent ID.

A vector is a check; so is a monitor, which is judged over all Traces of a run, and a property,
which makes its own worlds. Never runs one.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from attrs import frozen

from worker_conformance.documents.canonical import sha256_of
from worker_conformance.errors import SuiteError, UsageError, VectorError
from worker_conformance.judge.monitors import REGISTRY, MonitorInfo
from worker_conformance.judge.verdicts import CheckKind
from worker_conformance.resources import vectors_path
from worker_conformance.scenario.dump import to_line
from worker_conformance.scenario.lint import confusions
from worker_conformance.scenario.loader import load, load_all, vector_files
from worker_conformance.scenario.model import Drive, Level, Scenario
from worker_conformance.scenario.requirements import Requirement, load_requirements
from worker_conformance.suite.comparisons.catalogue import COMPARISONS, ComparisonInfo
from worker_conformance.suite.properties.catalogue import PROPERTIES, PropertyInfo

REQUIREMENTS_FILE = "requirements.yaml"

THOROUGH = "thorough"
"""A need that keeps a check out of the ordinary run: it takes longer than that has time for."""

ORDINARY = "ordinary"
"""A need that keeps a vector out of the quick run: it costs more than what it alone notices."""


@frozen
class CheckInfo:
    """What is known of a check before it runs. `source` is the vector's file, if there is one.

    `also` are further requirements that it judges: a Worker that breaks one of them alone fails it.
    """

    check_id: str
    title: str
    summary: str
    requirement: str
    clauses: tuple[str, ...]
    level: Level
    profile: str
    kind: CheckKind
    source: str | None
    stake: str
    needs: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


@cache
def scenarios() -> Mapping[str, Scenario]:
    """Every vector by its ID."""
    return read_scenarios(vectors_path(), requirements())


def read_scenarios(folder: Path, known: Mapping[str, Requirement]) -> Mapping[str, Scenario]:
    """The vectors of a folder by their IDs, each once, and each of requirements that are `known`.

    Raises VectorError, with the words of `lint`, where that is not so.
    """
    found = load_all(folder)
    for finding in confusions(found, known):
        raise VectorError(finding.where, finding.cause, finding.hint)
    return {scenario.id: scenario for scenario in found}


def scenario_of(check_id: str) -> Scenario:
    """One vector; raises SuiteError where there is none of that ID."""
    found = _scenario(check_id)
    if found is None:
        raise SuiteError("no-such-vector", f"there is no vector {check_id}", "name one that is")
    return found


@cache
def _scenario(check_id: str) -> Scenario | None:
    """One vector: its file alone is read, where not all were read before.

    So a process that plays some of them begins half a second earlier. A file that is not named
    after its ID is found among all.
    """
    file = None if scenarios.cache_info().currsize else _files().get(check_id)
    return scenarios().get(check_id) if file is None else load(file)


@cache
def _files() -> Mapping[str, Path]:
    """The file of every vector by the ID that it is named after."""
    return {file.stem: file for file in vector_files(vectors_path())}


@cache
def requirements() -> Mapping[str, Requirement]:
    """Every requirement by its ID."""
    return load_requirements(vectors_path() / REQUIREMENTS_FILE)


@cache
def catalogue() -> tuple[CheckInfo, ...]:
    """Every check, in the order of IDs."""
    infos = [info_of_scenario(scenario) for scenario in scenarios().values()]
    infos += _without_file().values()
    return tuple(sorted(infos, key=lambda info: info.check_id))


@cache
def _without_file() -> Mapping[str, CheckInfo]:
    """The checks that are no vectors, by their IDs."""
    infos = [_of_monitor(info) for info, _ in REGISTRY]
    infos += [_of_property(info) for info in PROPERTIES]
    infos += [_of_comparison(info) for info in COMPARISONS]
    return {info.check_id: info for info in infos}


def info_of(check_id: str) -> CheckInfo:
    """One check; raises UsageError with a suggestion where there is none of that ID."""
    if check_id in _without_file():
        return _without_file()[check_id]
    scenario = _scenario(check_id)
    if scenario is not None:
        return info_of_scenario(scenario)
    known = [info.check_id for info in catalogue()]
    close = get_close_matches(check_id.upper(), known, n=1)
    hint = f"did you mean {close[0]}?" if close else "`worker-conformance list` shows all checks"
    raise UsageError("no-such-check", f"there is no check {check_id!r}", hint)


def select(patterns: Sequence[str], profiles: Sequence[str]) -> tuple[CheckInfo, ...]:
    """The checks that the patterns (IDs or globs) and profiles choose; none given: all.

    Raises UsageError for a pattern that matches nothing, so that a typing error never runs green.
    """
    chosen: set[str] = set()
    for pattern in patterns:
        found = fnmatch.filter((info.check_id for info in catalogue()), pattern)
        chosen.update(found or {info_of(pattern).check_id})
    return tuple(
        info
        for info in catalogue()
        if (not patterns or info.check_id in chosen) and (not profiles or info.profile in profiles)
    )


def requirement_digest() -> str:
    """The digest of the frozen requirement set: IDs, clauses and levels."""
    return sha256_of(
        [
            {"id": one.id, "clauses": list(one.clauses), "level": one.level.value}
            for one in sorted(requirements().values(), key=lambda one: one.id)
        ]
    )


def vector_digest() -> str:
    """The digest of everything that the vectors say; how it is written makes no difference."""
    return sha256_of({name: to_line(scenario) for name, scenario in scenarios().items()})


def info_of_scenario(scenario: Scenario) -> CheckInfo:
    """The check that a scenario is, whether or not it stands among the vectors."""
    requirement = requirements().get(scenario.requirement)
    driven = any(isinstance(step.action, Drive) for step in scenario.steps)
    return CheckInfo(
        check_id=scenario.id,
        title=scenario.title,
        summary=requirement.summary if requirement else "",
        requirement=scenario.requirement,
        clauses=requirement.clauses if requirement else (),
        level=scenario.level,
        profile=scenario.profile.value,
        kind=CheckKind.FAIRNESS if driven else CheckKind.VECTOR,
        source=scenario.source,
        stake=scenario.stake,
        needs=scenario.needs,
        also=scenario.also,
    )


def _of_monitor(info: MonitorInfo) -> CheckInfo:
    requirement = requirements().get(info.requirement)
    return CheckInfo(
        check_id=info.check_id,
        title=info.title,
        summary=requirement.summary if requirement else "",
        requirement=info.requirement,
        clauses=requirement.clauses if requirement else (),
        level=info.level,
        profile=info.profile.value,
        kind=CheckKind.MONITOR,
        source=None,
        stake=f"Watched in every Trace; counts when {info.reached}.",
        needs=info.needs,
        also=info.also,
    )


def _of_property(info: PropertyInfo) -> CheckInfo:
    requirement = requirements().get(info.requirement)
    return CheckInfo(
        check_id=info.check_id,
        title=info.title,
        summary=requirement.summary if requirement else "",
        requirement=info.requirement,
        clauses=requirement.clauses if requirement else (),
        level=info.level,
        profile=info.profile.value,
        kind=CheckKind.PROPERTY,
        source=None,
        stake=f"{info.stake} Judged over generated worlds; counts when {info.reached}.",
        needs=info.needs,
        also=info.also,
    )


def _of_comparison(info: ComparisonInfo) -> CheckInfo:
    requirement = requirements().get(info.requirement)
    return CheckInfo(
        check_id=info.check_id,
        title=info.title,
        summary=requirement.summary if requirement else "",
        requirement=info.requirement,
        clauses=requirement.clauses if requirement else (),
        level=info.level,
        profile=info.profile.value,
        kind=CheckKind.PROPERTY,
        source=None,
        stake=f"{info.stake} Judged by comparing worlds that are alike but for one thing.",
        needs=info.needs,
    )
