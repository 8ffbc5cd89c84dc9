"""A pytest run that a user started: the suite's checks as tests among pytest's own options.

Makes a test of every check, marked by area, level and kind, and gives the run the same verdicts,
seeds and reports as `worker-conformance run`. A monitor has its verdict only when every scenario
was played, so its test is held back, and reported at the end. Never judges by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest
from _pytest import runner

from worker_conformance import pytest_plugin as options
from worker_conformance.baseline import file as baseline_file
from worker_conformance.baseline.entries import Baseline
from worker_conformance.baseline.matching import excused
from worker_conformance.cli.options import read_seed
from worker_conformance.cli.today import today
from worker_conformance.errors import SuiteFailure, UsageError, render
from worker_conformance.judge.verdicts import CheckKind, CheckResult
from worker_conformance.port.locate import TCP, with_restart
from worker_conformance.scenario.model import Level, Profile
from worker_conformance.suite import checks, engine, plugin
from worker_conformance.suite.checks import CheckInfo, catalogue
from worker_conformance.suite.engine import RunOptions
from worker_conformance.suite.plugin import EXCUSING, ORDERS, Orders
from worker_conformance.suite.pytest_report import HELD_BACK, MonitorTest, Reporter

_COLLECTED = Path(__file__).parent / "collected" / "test_worker.py"


def install(config: pytest.Config) -> None:
    """Prepare a run; raises pytest.UsageError for options that cannot be followed."""
    try:
        run_options, baseline = _options(config), _baseline(config)
        chosen = tuple(info.check_id for info in _collectable(run_options))
    except SuiteFailure as failure:
        raise pytest.UsageError(render(failure)) from None
    config.stash[ORDERS] = Orders(
        worker=run_options.worker,
        seed=run_options.seed,
        timeout_seconds=run_options.timeout_seconds,
        checks=chosen,
        worlds=run_options.worlds,
        failures=str(run_options.failures or ""),
    )
    if baseline is not None:
        config.stash[EXCUSING] = _excusing(baseline, today())
    for name, told in _markers():
        config.addinivalue_line("markers", f"{name}: {told}")
    manager = config.pluginmanager
    manager.register(plugin, plugin.__name__)
    manager.register(Selecting(), "worker-conformance-selecting")
    if not hasattr(config, "workerinput"):
        reporter = Reporter(config, run_options, baseline)
        manager.register(reporter, "worker-conformance-reporter")


def _options(config: pytest.Config) -> RunOptions:
    worker = with_restart(
        str(config.getoption(options.WORKER)), str(config.getoption(options.RESTART))
    )
    report = str(config.getoption(options.REPORT))
    jobs = config.getoption("numprocesses", None)
    if worker.startswith(TCP) and jobs:
        hint = "leave out -n: one server cannot crash for one process alone"
        raise UsageError("tcp-jobs", "a server is judged by one process", hint)
    return RunOptions(
        worker=worker,
        seed=read_seed(str(config.getoption(options.SEED))),
        jobs=jobs if isinstance(jobs, int) and jobs > 1 else 1,
        quick=bool(config.getoption(options.QUICK)),
        timeout_seconds=_seconds(str(config.getoption(options.TIMEOUT))),
        failures=(config.invocation_params.dir / report / "counterexamples") if report else None,
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise UsageError("timeout", f"'{text}' is no time to wait", "write seconds, such as 30")
    return seconds


def _baseline(config: pytest.Config) -> Baseline | None:
    path = str(config.getoption(options.BASELINE))
    return baseline_file.load(config.invocation_params.dir / path) if path else None


def _excusing(baseline: Baseline, day: date) -> Callable[[CheckResult], CheckResult]:
    return lambda result: excused(result, baseline, day)


def _collectable(run_options: RunOptions) -> list[CheckInfo]:
    return [info for info in catalogue() if not engine.left_out(info, run_options)]


def _markers() -> Iterator[tuple[str, str]]:
    for area in Profile:
        yield area.value, f"checks of the Worker area {area.value}"
    for level in Level:
        yield level.value.lower(), f"checks of duties of level {level.value}"
    for kind in CheckKind:
        yield kind.value, f"checks that are a {kind.value}"


def _marks(info: CheckInfo) -> list[pytest.MarkDecorator]:
    names = (info.profile, str(info.level).lower(), str(info.kind))
    return [getattr(pytest.mark, name) for name in names]


def check_of(item: pytest.Item) -> str | None:
    """The check that a test is, or None for a test of somebody else."""
    call = getattr(item, "callspec", None)
    ours = item.path == _COLLECTED and call is not None
    return str(call.params["check_id"]) if ours and call is not None else None


class _Checks(pytest.Module):
    """Our one file, whatever test functions are called in the user's project."""

    def funcnamefilter(self, name: str) -> bool:
        """Whether a function of this name is a test."""
        return name == "test_check"


class Selecting:
    """What every process does: makes the tests, and holds those of monitors back."""

    def __init__(self) -> None:
        self.held_back: list[MonitorTest] = []
        self.selected: list[str] = []

    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> pytest.Collector | None:
        """Collect our one file also where the user's `python_files` would not."""
        patterns = parent.config.getini("python_files")
        named = any(file_path.match(str(pattern)) for pattern in patterns)
        if file_path == _COLLECTED and not named:
            return self.pytest_pycollect_makemodule(file_path, parent)
        return None

    def pytest_pycollect_makemodule(
        self, module_path: Path, parent: pytest.Collector
    ) -> pytest.Module | None:
        """Find our one test function also where the user's `python_functions` would not."""
        if module_path != _COLLECTED:
            return None
        module: pytest.Module = _Checks.from_parent(parent, path=module_path)
        return module

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test for each check, under its ID."""
        if (
            "check_id" in metafunc.fixturenames
            and Path(str(metafunc.module.__file__)) == _COLLECTED
        ):
            ids = metafunc.config.stash[ORDERS].checks
            infos = [checks.info_of(check_id) for check_id in ids]
            metafunc.parametrize(
                "check_id",
                [pytest.param(one.check_id, id=one.check_id, marks=_marks(one)) for one in infos],
            )

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keep in mind what is selected."""
        names = {item: check_of(item) for item in session.items}
        self.selected = [name for name in names.values() if name]
        self.held_back = [
            MonitorTest(name, item.nodeid, item.location)
            for item, name in names.items()
            if name and checks.info_of(name).kind is CheckKind.MONITOR
        ]
        reporter = session.config.pluginmanager.get_plugin("worker-conformance-reporter")
        if isinstance(reporter, Reporter) and self.selected:
            reporter.expect(self.selected, self.held_back)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> bool | None:
        """A monitor's test is over without a report: that comes when all scenarios were played."""
        name = check_of(item)
        if name is None or checks.info_of(name).kind is not CheckKind.MONITOR:
            return None
        # What the test before left standing for this one, the next one may have no use for. Called
        # as a hook, it would have other plugins tear down what they never set up.
        runner.pytest_runtest_teardown(item, nextitem)
        return True

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send home what was selected, from a process of xdist."""
        output = getattr(session.config, "workeroutput", None)
        if isinstance(output, dict):
            told = [one.as_list() for one in self.held_back]
            output[HELD_BACK] = {"selected": self.selected, "monitors": told}
