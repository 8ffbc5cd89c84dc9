"""A run: which checks, over how many processes, and the one result that comes of it.

pytest runs and distributes the checks; this module gives it its orders and collects the parcels.
Never judges and never prints.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import pytest
from attrs import evolve, frozen

from worker_conformance import __version__
from worker_conformance.errors import SuiteError, UsageError
from worker_conformance.judge.trace import Trace
from worker_conformance.judge.verdicts import (
    CheckKind,
    CheckResult,
    DeclarationRecord,
    RunResult,
    Selection,
    SuiteIdentity,
    WorkerIdentity,
)
from worker_conformance.organization.organization import Organization
from worker_conformance.port.contract import SUITE_NAME
from worker_conformance.port.declaration import Declaration, Parameters
from worker_conformance.port.digest import adapter_digest
from worker_conformance.port.locate import locate
from worker_conformance.scenario.loader import load
from worker_conformance.scenario.model import Profile
from worker_conformance.suite import checks
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import CheckInfo, catalogue
from worker_conformance.suite.collector import Collector, ProgressListener, Unheard
from worker_conformance.suite.play import Sighting, sighting_of
from worker_conformance.suite.plugin import OPTION, Orders
from worker_conformance.suite.properties.coverage import summed
from worker_conformance.suite.rejudge import watch_again, wire_parameters
from worker_conformance.suite.results import Rerun, Tallies, ordered, result_of

__all__ = [
    "ProgressListener",
    "RunOptions",
    "catalogue",
    "introduced",
    "rejudge",
    "replay",
    "result_over",
    "run",
]

_HERE = Path(__file__).parent
_COLLECTED = _HERE / "collected" / "test_worker.py"
_PLUGIN = "worker_conformance.suite.plugin"

_PYTEST_MUTE = ("terminal", "cacheprovider", "junitxml", "doctest", "pastebin", "randomly")
"""pytest's own output and files are not ours; the listener hears the same reports."""


PROCESS_WORTH = 50
"""So many vectors take as long as a process until it is up."""

WORLDS, WORLDS_THOROUGH = 6, 5_000
"""Worlds of each property, in the ordinary run and in one that takes hours."""


@frozen
class RunOptions:
    """What a user asks for. Empty `profiles` and `select`: everything that is claimed.

    `failures` is the folder in which counterexamples of generated worlds are saved.
    """

    worker: str
    profiles: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    seed: int = 0
    jobs: int = 1
    quick: bool = False
    timeout_seconds: float = 30.0
    thorough: bool = False
    failures: Path | None = None

    @property
    def worlds(self) -> int:
        """How many worlds each property makes."""
        return WORLDS_THOROUGH if self.thorough else WORLDS


def run(options: RunOptions, listener: ProgressListener) -> RunResult:
    """Judge a Worker.

    Raises UsageError for a selection that matches nothing, AdapterError where the Worker cannot
    even be brought up, SuiteError for a fault of our own, KeyboardInterrupt when interrupted.
    """
    _refuse_unknown_profiles(options.profiles)
    selected = checks.select(options.select, options.profiles)
    declaration, transport = introduced(options)
    claimed = [info for info in selected if declaration.claims(info.profile)]
    collector = Collector(listener, Rerun(options.worker, options.seed))
    collector.skip([info for info in selected if not declaration.claims(info.profile)])
    to_play = scenarios_for(claimed, selected, declaration, options)
    monitors = [info for info in claimed if info.kind is CheckKind.MONITOR]
    listener.planned(len(to_play) + len(monitors))
    play(to_play, options, collector)
    if options.profiles and not options.select:
        play_aside(monitors, to_play, declaration, options, collector)
    collector.sum_up(monitors, declaration.parameters)
    shown = [info for info in selected if not left_out(info, options)]
    result = result_over(options, declaration, transport, ordered(collector.results, shown))
    return evolve(result, coverage=summed(collector.coverages))


def replay(path: Path, options: RunOptions) -> RunResult:
    """Play one vector file, wherever it lies, and watch it with every monitor."""
    scenario = load(path)
    factory = locate(options.worker, options.timeout_seconds)
    rerun = Rerun(options.worker, options.seed)
    with Bench(factory) as bench:
        declaration = bench.declaration()
        began = perf_counter()
        played = bench.play(scenario, options.seed)
        seconds = perf_counter() - began
        transport = bench.transport
    own = result_of(checks.info_of_scenario(scenario), played, rerun, seconds)
    own = evolve(own, rerun=rerun.replay(path))
    watched = _watched(scenario.id, played.sightings, rerun, path, declaration.parameters)
    chosen = evolve(options, select=(scenario.id,))
    return result_over(chosen, declaration, transport, (own, *watched))


def rejudge(trace: Trace, path: Path) -> RunResult:
    """Watch a saved Trace with every monitor again, without the Worker that made it."""
    scenario, declaration, monitors = watch_again(trace)
    name_of = Organization(scenario, trace.seed).names.name_of
    sightings = [sighting_of(monitor, trace, name_of) for monitor in monitors]
    rerun = Rerun(str(path), trace.seed)
    watched = _watched(scenario.id, sightings, rerun, path, declaration.parameters)
    options = RunOptions(worker=str(path), select=(scenario.id,), seed=trace.seed)
    return result_over(options, declaration, "saved Trace", watched)


def _watched(
    scenario_id: str,
    sightings: Iterable[Sighting],
    rerun: Rerun,
    path: Path,
    parameters: Parameters,
) -> tuple[CheckResult, ...]:
    tallies = Tallies()
    tallies.add(scenario_id, sightings)
    return tuple(
        evolve(tallies.result_of(info, rerun, parameters), rerun=rerun.replay(path))
        for info in catalogue()
        if info.kind is CheckKind.MONITOR and tallies.reached(info.check_id)
    )


# --- before ---------------------------------------------------------------------------


def _refuse_unknown_profiles(profiles: Sequence[str]) -> None:
    for name in profiles:
        if name not in set(Profile):
            known = ", ".join(Profile)
            raise UsageError("no-such-profile", f"there is no profile {name!r}", f"one of {known}")


def introduced(options: RunOptions) -> tuple[Declaration, str]:
    """What the Worker declares, and its transport: known before anything is planned.

    Raises UsageError for a `worker` that names nothing, AdapterError where it cannot be brought up.
    """
    with Bench(locate(options.worker, options.timeout_seconds)) as bench:
        return bench.declaration(), bench.transport


def scenarios_for(
    claimed: Sequence[CheckInfo],
    selected: Sequence[CheckInfo],
    declaration: Declaration,
    options: RunOptions,
) -> list[CheckInfo]:
    """The scenarios to play: those chosen, or all claimed ones where only monitors are."""
    vectors = [info for info in claimed if info.kind is not CheckKind.MONITOR]
    if not vectors and any(info.kind is CheckKind.MONITOR for info in selected):
        vectors = [
            info
            for info in catalogue()
            if info.kind is not CheckKind.MONITOR and declaration.claims(info.profile)
        ]
        options = evolve(options, select=())  # none of these was asked for by its own name
    return [info for info in vectors if not left_out(info, options)]


def play_aside(
    monitors: Sequence[CheckInfo],
    played: Sequence[CheckInfo],
    declaration: Declaration,
    options: RunOptions,
    collector: Collector,
) -> None:
    """What a chosen area's monitors watch for may occur in the vectors of other areas alone.

    These are played where something is missing, and lend their Traces only: an area that passes
    with all others passes when it is asked for alone.
    """
    if not collector.unreached(monitors, declaration.parameters):
        return
    known = {info.check_id for info in played}
    others = [
        info
        for info in catalogue()
        if info.kind is CheckKind.VECTOR
        and info.check_id not in known
        and declaration.claims(info.profile)
        and not left_out(info, options)
    ]
    aside = Collector(Unheard(), collector.rerun)
    play(others, options, aside)
    collector.borrow(aside, collector.unreached(monitors, declaration.parameters))


def left_out(info: CheckInfo, options: RunOptions) -> bool:
    """Long drives wait for `--thorough`; `--quick` plays what notices most in its time.

    What is asked for by name is played in any case.
    """
    too_long = checks.THOROUGH in info.needs and not options.thorough
    return (too_long or (options.quick and _is_unhurried(info))) and not options.select


def _is_short(info: CheckInfo) -> bool:
    return info.kind not in (CheckKind.FAIRNESS, CheckKind.PROPERTY)


def _is_unhurried(info: CheckInfo) -> bool:
    return not _is_short(info) or checks.ORDINARY in info.needs


# --- playing --------------------------------------------------------------------------


def play(to_play: Sequence[CheckInfo], options: RunOptions, collector: Collector) -> None:
    """Let pytest play `to_play`; the collector hears what comes of it.

    Raises SuiteError where a check came to no result.
    """
    if not to_play:
        return
    orders = Orders(
        worker=options.worker,
        seed=options.seed,
        timeout_seconds=options.timeout_seconds,
        checks=tuple(info.check_id for info in sorted(to_play, key=_is_short)),
        worlds=options.worlds,
        failures=str(options.failures or ""),
    )
    arguments = [str(_COLLECTED), f"{OPTION}={orders.to_text()}"]
    arguments += ["-c", str(_HERE / "pytest.ini"), "--rootdir", str(_HERE)]
    arguments += ["-p", _PLUGIN, "--capture=no"]
    arguments += [word for name in _PYTEST_MUTE for word in ("-p", f"no:{name}")]
    plugins: list[object] = [collector]
    jobs = min(options.jobs, worthwhile_jobs(to_play))
    if jobs > 1:
        from worker_conformance.suite.sharing_out import SharingOut

        # One check at a time, and the long ones first, so that all processes end at the same time.
        arguments += ["-p", "xdist", "-n", str(jobs), "--dist", "load"]
        plugins.append(SharingOut())
    with _own_pytest():
        code = pytest.main(arguments, plugins=plugins)
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    missing = [info.check_id for info in to_play if info.check_id not in collector.results]
    if missing:
        raise SuiteError(
            "not-judged",
            f"{len(missing)} check(s) came to no result, the first is {missing[0]}",
            collector.trouble or "run it alone to see more",
        )


def worthwhile_jobs(to_play: Sequence[CheckInfo]) -> int:
    """As many processes as have more to do than to come up; a long check is always worth one."""
    long_checks = sum(not _is_short(info) for info in to_play)
    return max(1, long_checks, len(to_play) // PROCESS_WORTH)


@contextmanager
def _own_pytest() -> Iterator[None]:
    """Keep the user's pytest plugins and options out of the judging."""
    ours = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


# --- after ----------------------------------------------------------------------------


def result_over(
    options: RunOptions,
    declaration: Declaration,
    transport: str,
    results: tuple[CheckResult, ...],
) -> RunResult:
    """What a run over `results` found out, with everything that names and repeats it."""
    effective, notes = declaration.parameters.effective()
    return RunResult(
        suite=SuiteIdentity(SUITE_NAME, __version__),
        worker=WorkerIdentity(
            name=declaration.name,
            version=declaration.version,
            language=declaration.language,
            homepage=declaration.homepage,
            adapter=options.worker,
            transport=transport,
            adapter_digest=adapter_digest(options.worker),
        ),
        declaration=DeclarationRecord(
            profiles=tuple(name for name in Profile if name in declaration.profiles),
            declared=wire_parameters(declaration.parameters),
            effective=wire_parameters(effective),
            notes=notes,
        ),
        seed=options.seed,
        selection=Selection(options.profiles, options.select, options.quick, options.thorough),
        timeout_seconds=options.timeout_seconds,
        requirement_digest=checks.requirement_digest(),
        vector_digest=checks.vector_digest(),
        checks=results,
    )
