"""A run: which checks, over how many processes, and the one result that comes of it.

pytest runs and distributes the checks; this module gives it its orders and collects the parcels.
Never judges and never prints.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Protocol

import pytest
from attrs import define, evolve, field, frozen

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
    Verdict,
    WorkerIdentity,
)
from worker_conformance.organization.organization import Organization
from worker_conformance.port.contract import SUITE_NAME
from worker_conformance.port.declaration import Declaration, Parameters
from worker_conformance.port.locate import locate
from worker_conformance.scenario.loader import load
from worker_conformance.scenario.model import Profile
from worker_conformance.suite import checks
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import CheckInfo, catalogue
from worker_conformance.suite.parcel import Parcel
from worker_conformance.suite.play import Sighting, sighting_of
from worker_conformance.suite.plugin import OPTION, PARCEL, Orders
from worker_conformance.suite.properties.coverage import summed
from worker_conformance.suite.rejudge import watch_again, wire_parameters
from worker_conformance.suite.results import Rerun, Tallies, not_claimed, ordered, result_of

__all__ = [
    "ProgressListener",
    "RunOptions",
    "catalogue",
    "introduced",
    "rejudge",
    "replay",
    "result_from",
    "run",
]

_HERE = Path(__file__).parent
_COLLECTED = _HERE / "collected" / "test_worker.py"
_PLUGIN = "worker_conformance.suite.plugin"

_PYTEST_MUTE = ("terminal", "cacheprovider", "junitxml", "doctest", "pastebin", "randomly")
"""pytest's own output and files are not ours; the listener hears the same reports."""


WORLDS, WORLDS_QUICK, WORLDS_THOROUGH = 8, 2, 5_000
"""Worlds of each property: about 15 seconds for all of them, a first look, and hours."""


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
        if self.thorough:
            return WORLDS_THOROUGH
        return WORLDS_QUICK if self.quick else WORLDS


class _Unheard:
    """Nobody listens."""

    def planned(self, total: int) -> None:
        """Say nothing."""

    def started(self, check_id: str, title: str) -> None:
        """Say nothing."""

    def finished(self, result: CheckResult) -> None:
        """Say nothing."""


class ProgressListener(Protocol):
    """Who wants to hear how a run goes."""

    def planned(self, total: int) -> None:
        """So many checks will be played."""

    def started(self, check_id: str, title: str) -> None:
        """A check begins."""

    def finished(self, result: CheckResult) -> None:
        """A check has come to its result."""


def run(options: RunOptions, listener: ProgressListener) -> RunResult:
    """Judge a Worker.

    Raises UsageError for a selection that matches nothing, AdapterError where the Worker cannot
    even be brought up, SuiteError for a fault of our own, KeyboardInterrupt when interrupted.
    """
    _refuse_unknown_profiles(options.profiles)
    selected = checks.select(options.select, options.profiles)
    declaration, transport = introduced(options)
    claimed = [info for info in selected if declaration.claims(info.profile)]
    collector = _Collector(listener, Rerun(options.worker, options.seed))
    collector.skip([info for info in selected if not declaration.claims(info.profile)])
    to_play = _to_play(claimed, selected, declaration, options)
    monitors = [info for info in claimed if info.kind is CheckKind.MONITOR]
    listener.planned(len(to_play) + len(monitors))
    _play(to_play, options, collector)
    if options.profiles and not options.select:
        _play_aside(monitors, to_play, declaration, options, collector)
    collector.sum_up(monitors, declaration.parameters)
    shown = [info for info in selected if not _left_out(info, options)]
    result = result_from(options, declaration, transport, ordered(collector.results, shown))
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
    return result_from(chosen, declaration, transport, (own, *watched))


def rejudge(trace: Trace, path: Path) -> RunResult:
    """Watch a saved Trace with every monitor again, without the Worker that made it."""
    scenario, declaration, monitors = watch_again(trace)
    name_of = Organization(scenario, trace.seed).names.name_of
    sightings = [sighting_of(monitor, trace, name_of) for monitor in monitors]
    rerun = Rerun(str(path), trace.seed)
    watched = _watched(scenario.id, sightings, rerun, path, declaration.parameters)
    options = RunOptions(worker=str(path), select=(scenario.id,), seed=trace.seed)
    return result_from(options, declaration, "saved Trace", watched)


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


def _to_play(
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
    return [info for info in vectors if not _left_out(info, options)]


def _play_aside(
    monitors: Sequence[CheckInfo],
    played: Sequence[CheckInfo],
    declaration: Declaration,
    options: RunOptions,
    collector: _Collector,
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
        and not _left_out(info, options)
    ]
    aside = _Collector(_Unheard(), collector.rerun)
    _play(others, options, aside)
    collector.borrow(aside, collector.unreached(monitors, declaration.parameters))


def _left_out(info: CheckInfo, options: RunOptions) -> bool:
    """Long drives wait for `--thorough`; `--quick` leaves out the ordinary ones as well.

    What is asked for by name is played in any case.
    """
    too_long = checks.THOROUGH in info.needs and not options.thorough
    return (too_long or (options.quick and info.kind is CheckKind.FAIRNESS)) and not options.select


# --- playing --------------------------------------------------------------------------


def _play(to_play: Sequence[CheckInfo], options: RunOptions, collector: _Collector) -> None:
    if not to_play:
        return
    orders = Orders(
        worker=options.worker,
        seed=options.seed,
        timeout_seconds=options.timeout_seconds,
        checks=tuple(info.check_id for info in to_play),
        worlds=options.worlds,
        failures=str(options.failures.resolve()) if options.failures else "",
    )
    arguments = [str(_COLLECTED), f"{OPTION}={orders.to_text()}"]
    arguments += ["-c", str(_HERE / "pytest.ini"), "--rootdir", str(_HERE)]
    arguments += ["-p", _PLUGIN, "--capture=no"]
    arguments += [word for name in _PYTEST_MUTE for word in ("-p", f"no:{name}")]
    if options.jobs > 1:
        arguments += ["-p", "xdist", "-n", str(options.jobs), "--dist", "worksteal"]
    with _own_pytest():
        code = pytest.main(arguments, plugins=[collector])
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    missing = [info.check_id for info in to_play if info.check_id not in collector.results]
    if missing:
        raise SuiteError(
            "not-judged",
            f"{len(missing)} check(s) came to no result, the first is {missing[0]}",
            collector.trouble or "run it alone to see more",
        )


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


@define(eq=False)
class _Collector:
    """A pytest plugin that hears every report and keeps what came of the checks."""

    listener: ProgressListener
    rerun: Rerun
    results: dict[str, CheckResult] = field(factory=dict)
    trouble: str = ""
    coverages: list[Mapping[str, int]] = field(factory=list)
    _tallies: Tallies = field(factory=Tallies)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A check begins."""
        check_id = nodeid.partition("[")[2].rstrip("]")
        self.listener.started(check_id, checks.info_of(check_id).title)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A check is over; its parcel rides on the report."""
        for name, value in report.user_properties:
            if name == PARCEL and report.when == "call":
                self._take(Parcel.unwrap(str(value)))
                return
        if report.failed:
            self.trouble = self.trouble or str(report.longrepr)[-2_000:]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Collecting our own folder does not fail, unless something of ours is broken."""
        if report.failed:
            self.trouble = self.trouble or str(report.longrepr)[-2_000:]

    def skip(self, infos: Sequence[CheckInfo]) -> None:
        """Checks of profiles that are not claimed: listed, never counted as passed."""
        for info in infos:
            self.results[info.check_id] = not_claimed(info, self.rerun)

    def sum_up(self, monitors: Sequence[CheckInfo], parameters: Parameters) -> None:
        """The monitors' results, once every Trace has been seen."""
        for info in monitors:
            result = self._tallies.result_of(info, self.rerun, parameters)
            self.results[info.check_id] = result
            self.listener.finished(result)

    def unreached(
        self, monitors: Sequence[CheckInfo], parameters: Parameters
    ) -> tuple[CheckInfo, ...]:
        """The monitors that have had nothing to judge, though they should."""
        results = ((one, self._tallies.result_of(one, self.rerun, parameters)) for one in monitors)
        return tuple(one for one, result in results if result.verdict is Verdict.INCONCLUSIVE)

    def borrow(self, other: _Collector, monitors: Sequence[CheckInfo]) -> None:
        """Take over what these monitors saw in another play."""
        for info in monitors:
            self._tallies.take_over(other._tallies, info.check_id)

    def _take(self, parcel: Parcel) -> None:
        self.results[parcel.result.check_id] = parcel.result
        self._tallies.add(parcel.result.check_id, parcel.sightings)
        self.coverages.append(parcel.coverage)
        self.listener.finished(parcel.result)


# --- after ----------------------------------------------------------------------------


def result_from(
    options: RunOptions,
    declaration: Declaration,
    transport: str,
    results: tuple[CheckResult, ...],
) -> RunResult:
    """The result of a run: who judged whom, how it was asked for, and what the checks came to."""
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
        ),
        declaration=DeclarationRecord(
            profiles=tuple(name for name in Profile if name in declaration.profiles),
            declared=wire_parameters(declaration.parameters),
            effective=wire_parameters(effective),
            notes=notes,
        ),
        seed=options.seed,
        selection=Selection(options.profiles, options.select, options.quick),
        requirement_digest=checks.requirement_digest(),
        vector_digest=checks.vector_digest(),
        checks=results,
    )
