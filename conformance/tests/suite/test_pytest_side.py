"""`pytest --pyargs worker_conformance.suite` from an implementer's own project."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from worker_conformance.judge.verdicts import RunResult, Verdict
from worker_conformance.report import json_report
from worker_conformance.suite import engine
from worker_conformance.suite.collector import Unheard
from worker_conformance.suite.engine import RunOptions

PLUGIN = "worker_conformance.pytest_plugin"
CHECKS = ("ADMIT-0001", "ADMIT-0002", "BLOCK-0001", "MON-0003")

INI = """
[pytest]
addopts = --strict-markers --strict-config
python_files = spec_*.py
python_functions = spec_*
filterwarnings = error
"""
CONFTEST = """
import pytest

@pytest.fixture(autouse=True)
def of_the_project():
    yield
"""
FORGETFUL = """
class Forgetful:
    def __init__(self):
        from reference_worker import factory
        self.inner = factory()

    def initialize(self, params):
        return {**self.inner.initialize(params), "profiles": ["admission", "leases"]}

    def handle(self, stimulus):
        answer = self.inner.handle(stimulus)
        kept = [one for one in answer["effects"] if one["type"] != "run"]
        return {**answer, "effects": kept}

    def shutdown(self):
        return self.inner.shutdown()
"""

Pytest = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with habits of its own: a conftest, strict settings, other names of files."""
    (tmp_path / "pytest.ini").write_text(INI)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "spec_own.py").write_text("def spec_own():\n    pass\n")
    (tmp_path / "forgetful.py").write_text(FORGETFUL)
    return tmp_path


@pytest.fixture
def run_pytest(project: Path) -> Pytest:
    """Runs pytest in the project as a user does."""
    named = {one.name for one in entry_points(group="pytest11")}
    plugin = [] if PLUGIN in named else ["-p", PLUGIN]
    unset = ("PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST", "PYTEST_ADDOPTS")
    environment = {name: value for name, value in os.environ.items() if name not in unset}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-m", "pytest", *plugin, *arguments],
            cwd=project,
            env={**environment, "COLUMNS": "100"},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def judged(*checks: str, worker: str = "reference_worker:factory") -> RunResult:
    return engine.run(RunOptions(worker=worker, select=checks, seed=7), Unheard())


SUITE = ("--pyargs", "worker_conformance.suite", "-q", "--worker-seed", "7")


IN_ORDER = ("-p", "no:randomly")
"""Then the test of a monitor, which is held back, stands before the project's own."""


@pytest.mark.parametrize(
    "more", [(), IN_ORDER, ("-n", "2")], ids=["alone", "in its order", "xdist"]
)
def test_ids_verdicts_and_results_are_those_of_run(
    more: tuple[str, ...], run_pytest: Pytest, project: Path
) -> None:
    chosen = " or ".join((*CHECKS, "spec_own"))
    done = run_pytest(*SUITE, "spec_own.py", "-k", chosen, *more, "--worker-report", "report")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout
    result = json_report.read(project / "report" / "result.json")
    assert result == judged(*CHECKS)
    assert "passes the chosen checks (4 executed)" in done.stdout
    assert (project / "report" / "report.html").exists()


def test_what_fails_is_told_and_runs_again_with_lf(run_pytest: Pytest, project: Path) -> None:
    arguments = (
        *SUITE,
        "--worker",
        "forgetful:Forgetful",
        "-k",
        "LEASE-0001 or LEASE-0002 or BLOCK-0001",
    )
    done = run_pytest(*arguments, "-rfs", "--junitxml", "own.xml")
    assert done.returncode == 1
    failed = set(re.findall(r"^FAILED \S+\[(\S+)\]", done.stdout, re.M))
    assert failed
    assert "skipped" in done.stdout
    assert "not-claimed: the Worker does not claim the profile blocking" in done.stdout
    assert "expected: " in done.stdout
    assert "again: worker-conformance run --worker forgetful:Forgetful --seed 7" in done.stdout
    assert "worker-conformance" not in re.findall(
        r"<properties>.*", (project / "own.xml").read_text()
    )
    again = run_pytest(*SUITE, "--worker", "forgetful:Forgetful", "--lf", "-rf")
    assert set(re.findall(r"^FAILED \S+\[(\S+)\]", again.stdout, re.M)) == failed
    assert f"{len(failed)} failed" in again.stdout


def test_known_failures_are_expected_ones(run_pytest: Pytest, project: Path) -> None:
    result = judged("LEASE-0001", worker="reference_worker:factory")
    assert result.checks[0].verdict is Verdict.PASS
    entry = '{reason: r, observed: "*", expires: "2999-01-01"}'
    (project / "known.yaml").write_text(f"baseline: 1\nfailures:\n  LEASE-0001: {entry}\n")
    arguments = ("-k", "LEASE-0001", "--worker-baseline", "known.yaml")
    stale = run_pytest(*SUITE, *arguments)
    assert stale.returncode == 1
    assert "Baseline entry LEASE-0001 is stale" in stale.stdout
    known = run_pytest(*SUITE, *arguments, "--worker", "forgetful:Forgetful", "-rx")
    assert "1 xfailed" in known.stdout, known.stdout
    assert "known: r (until 2999-01-01)" in known.stdout


def test_checks_are_chosen_by_area_level_and_kind(run_pytest: Pytest) -> None:
    done = run_pytest(*SUITE, "--collect-only", "-m", "replay and must and not vector")
    assert done.returncode == 0
    ids = re.findall(r"\[(\S+)\]", done.stdout)
    infos = {info.check_id: info for info in engine.catalogue()}
    assert ids
    assert all(infos[one].profile == "replay" and infos[one].kind != "vector" for one in ids)


def test_the_options_stand_in_the_help(run_pytest: Pytest) -> None:
    told = run_pytest("--help").stdout
    for option in ("--worker=", "--worker-seed=", "--worker-baseline=", "--worker-report="):
        assert option in told


def test_other_test_runs_are_left_alone(run_pytest: Pytest) -> None:
    assert "mark.scheduling" not in run_pytest("--markers").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--worker-baseline", "nothing.yaml"), 4, "a baseline cannot be read"),
        (("--worker-seed", "-1"), 4, "'-1' is out of the range of seeds"),
        (("--worker", "stdio:false", "-k", "ADMIT-0001"), 3, "adapter error"),
    ],
    ids=["baseline", "seed", "adapter"],
)
def test_a_mistake_is_told_in_words(
    arguments: tuple[str, ...], code: int, told: str, run_pytest: Pytest
) -> None:
    done = run_pytest("--pyargs", "worker_conformance.suite", *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert told in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
