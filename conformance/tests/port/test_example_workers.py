"""One matrix of Workers: the reference on stdio, and those of `examples/`, each built here.

The suite comes to the same verdict for all of them, so it does not merely know its own reference.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from worker_conformance.scenario.model import Profile
from worker_conformance.suite.checks import THOROUGH, catalogue

ROOT = Path(__file__).parents[3]
BUILD_SECONDS_MAX = 900
RUN_SECONDS_MAX = 900
ABSENT = re.compile(
    r"no matching package|failed to (?:get|download|load source|select)|could not choose a version",
    re.I,
)
"""What a build says without a network or a toolchain: of its crates, or of itself."""

KINDS = ("vector", "fairness", "monitor")
"""Generated worlds are left out: they follow what a Worker does, and differ from one to another."""

SEED = 7
NODE_ADVISED = frozenset({"MON-0021", "SCHED-0080"})
"""What the README of the Worker for Node says that it does not follow."""

LAWFUL = {"pass", "abstained"}
"""An abstention is declared, and costs nothing; all else would be a difference."""


@pytest.mark.long  # a compiler's work, the same for every interpreter of ours
@pytest.mark.usefixtures("cargo_without_network")
def test_the_worker_in_rust_keeps_what_it_claims(tmp_path: Path) -> None:
    need("cargo")
    folder = copied("worker-rust", tmp_path)
    built = ran(["cargo", "build", "--release"], folder, BUILD_SECONDS_MAX)
    told = built.stdout + built.stderr
    absent = ABSENT.search(told)
    if built.returncode and absent:
        pytest.skip(f"the Worker in Rust cannot be built here: {absent[0]}")
    assert built.returncode == 0, told
    unit_tests = ran(["cargo", "test", "--release"], folder, BUILD_SECONDS_MAX)
    assert unit_tests.returncode == 0, unit_tests.stdout + unit_tests.stderr
    judged(f"stdio:{folder / 'target' / 'release' / 'worker-rust'}", tmp_path)


@pytest.mark.long
def test_the_reference_worker_keeps_what_it_claims_on_stdio(tmp_path: Path) -> None:
    judged(f"stdio:{sys.executable} -m reference_worker", tmp_path)


@pytest.mark.long
def test_the_worker_for_node_keeps_what_it_claims(tmp_path: Path) -> None:
    need("node")
    judged(f"stdio:node {ROOT / 'examples' / 'worker-node' / 'worker.mjs'}", tmp_path, NODE_ADVISED)


def need(tool: str) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"there is no {tool} here")


def copied(example: str, tmp_path: Path) -> Path:
    """The example and the schemas that it is compiled with: nothing is built in the tree."""
    leavings = shutil.ignore_patterns("target", "Cargo.lock")
    folder = tmp_path / "examples" / example
    shutil.copytree(ROOT / "examples" / example, folder, ignore=leavings)
    shutil.copytree(ROOT / "schemas", tmp_path / "schemas")
    return folder


def judged(spec: str, tmp_path: Path, advised: frozenset[str] = frozenset()) -> None:
    """The suite comes to the same verdicts as for the reference Worker, in all that is claimed.

    `advised` are the checks of a SHOULD, or of a reading, that a Worker is known not to follow.
    """
    wanted = [i.check_id for i in catalogue() if i.kind in KINDS and THOROUGH not in i.needs]
    result = tmp_path / "result.json"
    command = [sys.executable, "-m", "worker_conformance", "run", "--worker", spec]
    command += ["--seed", str(SEED), "--report", str(tmp_path / "report"), "--json", str(result)]
    outcome = ran([*command, "--no-color", "-q", *wanted], ROOT, RUN_SECONDS_MAX)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    found = json.loads(result.read_text(encoding="utf-8"))
    verdicts = {check["checkId"]: check["verdict"] for check in found["checks"]}
    assert set(verdicts) == set(wanted)
    others = {check: verdict for check, verdict in verdicts.items() if verdict not in LAWFUL}
    assert {check for check, verdict in others.items() if verdict == "advice"} <= advised, others
    assert set(others.values()) <= {"advice"}, others
    assert set(found["declaration"]["profiles"]) == set(Profile)


def ran(command: list[str], folder: Path, seconds: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - commands of our own
        command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False
    )
