"""Silence is never green, and neither is anything else that does no work."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from worker_conformance.judge.verdicts import Verdict
from worker_conformance.port.in_process import InProcessPort
from worker_conformance.selftest.matrix import Row, all_checks, play_all, subjects
from worker_conformance.selftest.null_workers import NULL_WORKERS, Recorded
from worker_conformance.selftest.recording import RECORDED_SEED, recording_of
from worker_conformance.selftest.witnesses import checks_of_accepted_work, checks_of_running_work
from worker_conformance.suite.checks import scenarios
from worker_conformance.suite.play import play

SEED = 7
LUCKY_MAX = 3
"""Of some 350 checks that need accepted work."""

PASSES = {Verdict.PASS, Verdict.ADVICE, Verdict.EXPECTED_FAIL}


def row_of(name: str, seed: int = SEED) -> Row:
    return play_all(subjects()[name], all_checks(), seed)


def run(tmp_path: Path, worker: str) -> tuple[int, dict[str, str], str]:
    """Run the suite as a user does; returns exit code, verdicts by check, and what was printed."""
    told = tmp_path / "result.json"
    command = [sys.executable, "-c", "from worker_conformance.cli import main; main()", "run"]
    command += ["--worker", worker, "--seed", str(SEED), "--jobs", "1", "--json", str(told)]
    command += ["--quick"]
    done = subprocess.run(  # noqa: S603 - our own command line
        command, capture_output=True, text=True, cwd=tmp_path, timeout=300
    )
    result = json.loads(told.read_text("utf-8")) if told.exists() else {"checks": []}
    verdicts = {check["checkId"]: check["verdict"] for check in result["checks"]}
    return done.returncode, verdicts, done.stdout + done.stderr


def test_the_silent_worker_passes_no_check_and_the_run_says_so(tmp_path: Path) -> None:
    code, verdicts, _ = run(tmp_path, NULL_WORKERS["silent"])
    assert code == 1
    assert verdicts
    assert set(verdicts.values()) <= {"fail", "inconclusive"}


def test_a_worker_that_claims_nothing_passes_nothing(tmp_path: Path) -> None:
    code, verdicts, _ = run(tmp_path, NULL_WORKERS["claims_nothing"])
    assert code == 1
    assert set(verdicts.values()) == {"not-claimed"}


def test_garbage_is_the_adapters_fault_and_its_first_bad_line_is_named(tmp_path: Path) -> None:
    script = tmp_path / "noise.py"
    script.write_text("print('loading model ... done')\nprint('%%% ready %%%')\n", "utf-8")
    code, verdicts, said = run(tmp_path, f"stdio:{sys.executable} {script}")
    assert code == 3
    assert not verdicts
    assert "stdout line 1" in said
    assert "loading model ... done" in said


@pytest.mark.parametrize("name", ["silent", "echoes", "recorded"])
def test_whoever_takes_no_part_passes_nothing(name: str) -> None:
    row = row_of(name)
    assert not row.with_verdict(*PASSES)
    assert not row.passed_profiles()


def test_whoever_refuses_passes_nothing_that_needs_accepted_work() -> None:
    row = row_of("refuses_everything")
    assert not set(row.with_verdict(Verdict.PASS)) & checks_of_accepted_work()
    assert not row.passed_profiles()


def test_whoever_speaks_at_random_passes_by_luck_at_most() -> None:
    """It knows the true identifiers, so that now and then it accepts an offer at the right time.

    Luck does not come twice: nothing that needs accepted work is passed with every seed.
    """
    rows = [row_of("speaks_at_random", seed) for seed in (1, 2, 3)]
    lucky = [set(row.with_verdict(Verdict.PASS)) & checks_of_accepted_work() for row in rows]
    assert not set.intersection(*lucky)
    assert max(map(len, lucky)) <= LUCKY_MAX
    assert not any(row.passed_profiles() for row in rows)


def test_whoever_never_starts_passes_nothing_that_needs_running_work() -> None:
    row = row_of("accepts_and_never_starts")
    assert not set(row.with_verdict(Verdict.PASS)) & checks_of_running_work()
    assert not row.passed_profiles()


def test_a_recording_passes_for_the_run_that_it_was_made_in(tmp_path: Path) -> None:
    """Else it would pass nothing for another reason than that its identifiers are old."""
    scenario = scenarios()["LEASE-0002"]
    tape = recording_of([scenario])
    port = InProcessPort(lambda: Recorded(tape))
    parameters = port.initialize().parameters
    played = play(scenario, port, parameters, RECORDED_SEED, tmp_path)
    port.shutdown()
    assert played.verdict is Verdict.PASS, played.failure
