"""The collecting process of a pytest run: takes the parcels in, and speaks for the whole run.

Reports the monitors' verdicts once every scenario was played, tells what may be claimed, writes the
reports that were asked for, and lets the exit code be that of the result. Never judges by itself.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, cast

import pytest
from attrs import evolve, frozen

from worker_conformance.baseline.entries import Baseline
from worker_conformance.baseline.matching import held_against
from worker_conformance.cli.today import today
from worker_conformance.errors import SuiteError, SuiteFailure, render
from worker_conformance.judge.verdicts import CheckKind, CheckResult, RunResult, Verdict
from worker_conformance.port.declaration import Declaration
from worker_conformance.report import html, json_report, junit
from worker_conformance.report.story import story
from worker_conformance.report.telling import visible
from worker_conformance.suite import checks, engine
from worker_conformance.suite.checks import CheckInfo, catalogue
from worker_conformance.suite.collector import Collector, Unheard
from worker_conformance.suite.engine import RunOptions
from worker_conformance.suite.parcel import Parcel
from worker_conformance.suite.plugin import PARCEL
from worker_conformance.suite.properties.coverage import summed
from worker_conformance.suite.results import Rerun, ordered

HELD_BACK = "worker-conformance-held-back"
"""What a process of xdist sends home: the tests of monitors, and all checks that were selected."""

Location = tuple[str, int | None, str]


class Reporter:
    """Hears every report of a user's run. Registered in the one process that collects them."""

    def __init__(
        self, config: pytest.Config, options: RunOptions, baseline: Baseline | None
    ) -> None:
        self._config = config
        self._options = options
        self._baseline = baseline
        self._collector = Collector(Unheard(), Rerun(options.worker, options.seed))
        self._selected: list[str] = []
        self._monitors: list[MonitorTest] = []
        self._introduced: tuple[Declaration, str] | None = None
        self.result: RunResult | None = None

    def expect(self, selected: Sequence[str], monitors: Sequence[MonitorTest]) -> None:
        """Take in which checks are selected, and which tests among them are monitors'."""
        self._selected, self._monitors = list(selected), list(monitors)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: _Node) -> None:
        """A process of xdist has ended: all of them had the same checks selected."""
        told = getattr(node, "workeroutput", {}).get(HELD_BACK)
        if told:
            self.expect(told["selected"], [MonitorTest.from_list(one) for one in told["monitors"]])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Unpack what rides on a report, before anybody else writes it into a file."""
        parcels = [str(value) for name, value in report.user_properties if name == PARCEL]
        report.user_properties = [one for one in report.user_properties if one[0] != PARCEL]
        if report.when == "call" and parcels:
            parcel = Parcel.unwrap(parcels[0])
            self._collector.take(parcel)
            _note(report, parcel.result)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.TestReport
    ) -> tuple[str, str, tuple[str, Mapping[str, bool]]] | None:
        """Count advice as such: it passes, and is worth a look."""
        if report.when == "call" and getattr(report, _VERDICT, "") == Verdict.ADVICE:
            return "advice", "a", ("ADVICE", {"yellow": True})
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Bring the Worker up first; report the monitors when every scenario was played."""
        if session.config.option.collectonly:
            return (yield)
        self._introduce()
        answer = yield
        try:
            self._sum_up()
        except SuiteFailure as failure:
            pytest.exit(render(failure), returncode=failure.exit_code)
        for test in self._monitors:
            self._report(test)
        return answer

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Let the exit code be the result's: an area that was not judged has not passed."""
        if self.result is None and self._introduced is not None and self._collector.results:
            self._conclude()
        if self.result is not None and exitstatus in (pytest.ExitCode.OK, 1):
            session.exitstatus = self.result.exit_code()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what may be said of the Worker."""
        if self.result is None:
            return
        terminalreporter.section("Worker conformance")
        for check in self.result.checks:
            if check.verdict is Verdict.ADVICE:
                terminalreporter.write_line(f"advice: {check.check_id} {visible(check.title)}")
        for line in (self.result.claim(), *self.result.qualifications()):
            terminalreporter.write_line(visible(line))
        for path in self._files():
            terminalreporter.write_line(f"Report: {path}")
        terminalreporter.write_line(f"seed {self.result.seed}")

    # --- the way of a run -------------------------------------------------------------------

    def _introduce(self) -> None:
        try:
            self._introduced = engine.introduced(self._options)
        except SuiteFailure as failure:
            pytest.exit(render(failure), returncode=failure.exit_code)

    def _infos(self) -> list[CheckInfo]:
        return [checks.info_of(name) for name in dict.fromkeys(self._selected)]

    def _sum_up(self) -> None:
        """Give every monitor its verdict; play what its verdict still needs, as `run` does."""
        declaration, _ = self._of_the_worker()
        infos = self._infos()
        claimed = [info for info in infos if declaration.claims(info.profile)]
        monitors = [info for info in claimed if info.kind is CheckKind.MONITOR]
        if not monitors and not self._monitors:
            return
        chosen = self._narrowed()
        if all(info.kind is CheckKind.MONITOR for info in infos):
            aside = Collector(Unheard(), self._collector.rerun)
            needed = engine.scenarios_for(claimed, infos, declaration, chosen)
            engine.play(needed, chosen, aside)
            for info in monitors:
                self._collector.borrow(aside, [info])
        elif chosen.profiles:
            played = [checks.info_of(name) for name in self._collector.results]
            engine.play_aside(monitors, played, declaration, chosen, self._collector)
        unclaimed = [info for info in infos if not declaration.claims(info.profile)]
        self._collector.skip([info for info in unclaimed if info.kind is CheckKind.MONITOR])
        self._collector.sum_up(monitors, declaration.parameters)
        self._conclude()

    def _narrowed(self) -> RunOptions:
        """The options of `run` that choose just what is selected: all, areas, or single checks."""
        everything = [info for info in catalogue() if not engine.left_out(info, self._options)]
        selected = set(self._selected)
        if selected >= {info.check_id for info in everything}:
            return self._options
        areas = {info.profile for info in self._infos()}
        whole = {info.check_id for info in everything if info.profile in areas}
        if selected >= whole:
            return evolve(self._options, profiles=tuple(sorted(areas)))
        return evolve(self._options, select=tuple(sorted(selected)))

    def _conclude(self) -> None:
        """Make the result, and write the reports that were asked for."""
        judged = set(self._collector.results)
        options = self._narrowed()
        if not judged >= set(self._selected):  # broken off: no more than single checks
            options = evolve(self._options, select=tuple(sorted(judged)))
        declaration, transport = self._of_the_worker()
        results = ordered(self._collector.results, catalogue())
        result = engine.result_over(options, declaration, transport, results)
        result = evolve(result, coverage=summed(self._collector.coverages))
        if self._baseline is not None:
            known = {info.check_id for info in catalogue()}
            result = held_against(result, self._baseline, known, today())
        self.result = result
        for path in self._files():
            path.parent.mkdir(parents=True, exist_ok=True)
        if self._files():
            html.write(result, self._files()[0])
            json_report.write(result, self._files()[1])
            junit.write(result, self._files()[2])

    def _files(self) -> tuple[Path, ...]:
        if self._options.failures is None:
            return ()
        folder = self._options.failures.parent
        return tuple(folder / name for name in ("report.html", "result.json", "junit.xml"))

    def _of_the_worker(self) -> tuple[Declaration, str]:
        if self._introduced is None:
            raise SuiteError("not-introduced", "a run was summed up before the Worker was met")
        return self._introduced

    def _report(self, test: MonitorTest) -> None:
        found = {check.check_id: check for check in self.result.checks} if self.result else {}
        hook = self._config.hook
        hook.pytest_runtest_logstart(nodeid=test.nodeid, location=test.location)
        hook.pytest_runtest_logreport(report=_report_of(test, found[test.check_id]))
        hook.pytest_runtest_logfinish(nodeid=test.nodeid, location=test.location)


@frozen
class MonitorTest:
    """The test of a monitor, which is reported at the end."""

    check_id: str
    nodeid: str
    location: Location

    def as_list(self) -> list[object]:
        """As what xdist can carry."""
        return [self.check_id, self.nodeid, *self.location]

    @classmethod
    def from_list(cls, told: Sequence[object]) -> MonitorTest:
        """Read what `as_list` wrote."""
        check_id, nodeid, path, line, name = told
        location = (str(path), cast("int | None", line), str(name))
        return cls(str(check_id), str(nodeid), location)


class _Node(Protocol):
    """A process of xdist, as it is used here."""

    workeroutput: Mapping[str, object]


_VERDICT = "worker_conformance_verdict"


def _note(report: pytest.TestReport, result: CheckResult) -> None:
    setattr(report, _VERDICT, result.verdict)


def _report_of(test: MonitorTest, result: CheckResult) -> pytest.TestReport:
    path, line, _ = test.location
    outcome: Literal["passed", "failed", "skipped"] = "passed"
    told: str | tuple[str, int, str] | None = None
    if result.verdict.breaks_the_run:
        outcome, told = "failed", story(result)
    elif result.verdict in (Verdict.EXPECTED_FAIL, Verdict.ABSTAINED, Verdict.NOT_CLAIMED):
        outcome = "skipped"
        told = (path, line or 0, f"Skipped: {result.verdict}: {visible(result.reason)}")
    report = pytest.TestReport(
        nodeid=test.nodeid,
        location=test.location,
        keywords={test.check_id: 1},
        outcome=outcome,
        longrepr=told,
        when="call",
    )
    if result.verdict is Verdict.EXPECTED_FAIL:
        report.wasxfail = result.reason  # as pytest's skipping does
    _note(report, result)
    return report
