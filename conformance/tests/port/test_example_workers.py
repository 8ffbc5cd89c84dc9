"""The Workers of `examples/` build here and keep what they claim, on a handful of checks."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from worker_conformance.cli.entry import call

ROOT = Path(__file__).parents[3]
BUILD_SECONDS_MAX = 900
DEBIAN_CRATES = Path("/usr/share/cargo/registry")
ABSENT = re.compile(r"no matching package|failed to (?:get|download|load source|select)", re.I)
"""What a build says where its crates are not to be had without a network."""

CHECKS = {
    "replay": ("REPLAY-0001", "REPLAY-0006", "REPLAY-0013", "REPLAY-0041"),
    "scheduling": ("SCHED-0007", "SCHED-0010", "SCHED-0015", "SCHED-0022"),
    "disclosure": ("DISC-0001", "DISC-0014", "DISC-0017"),
    "isolation": ("ISOL-0003", "ISOL-0012", "ISOL-0022"),
    "leases": ("LEASE-0005", "LEASE-0009", "LEASE-0034", "LEASE-0063"),
    "preemption": ("PREEMPT-0001", "PREEMPT-0004", "PREEMPT-0022"),
    "admission": ("ADMIT-0011", "ADMIT-0020", "ADMIT-0025"),
    "blocking": ("BLOCK-0001", "BLOCK-0006"),
    "retries": ("RETRY-0003", "RETRY-0007", "RETRY-0009"),
    "offline": ("OFFLINE-0005", "OFFLINE-0009", "OFFLINE-0013"),
    "signatures": ("SIGN-0005", "SIGN-0011", "SIGN-0021", "SIGN-0030"),
}


@pytest.mark.long  # a compiler's work, the same for every interpreter of ours
def test_the_worker_in_rust_keeps_what_it_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("cargo")
    without_network(tmp_path, monkeypatch)
    folder = copied("worker-rust", tmp_path)
    built = ran(["cargo", "build", "--release"], folder, BUILD_SECONDS_MAX)
    told = built.stdout + built.stderr
    absent = ABSENT.search(told)
    if built.returncode and absent:
        pytest.skip(f"the crates of the Worker in Rust are not to be had here: {absent[0]}")
    assert built.returncode == 0, told
    unit_tests = ran(["cargo", "test", "--release"], folder, BUILD_SECONDS_MAX)
    assert unit_tests.returncode == 0, unit_tests.stdout + unit_tests.stderr
    judged(f"stdio:{folder / 'target' / 'release' / 'worker-rust'}", tmp_path)


@pytest.mark.long
def test_the_worker_for_node_keeps_what_it_claims(tmp_path: Path) -> None:
    need("node")
    judged(f"stdio:node {ROOT / 'examples' / 'worker-node' / 'worker.mjs'}", tmp_path)


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


def without_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Cargo take the crates that are on this machine."""
    cargo_home = tmp_path / "cargo-home"
    cargo_home.mkdir()
    config = "[net]\noffline = true\n"
    if DEBIAN_CRATES.is_dir():
        config += '[source.crates-io]\nreplace-with = "here"\n'
        config += f'[source.here]\ndirectory = "{DEBIAN_CRATES}"\n'
    (cargo_home / "config.toml").write_text(config)
    monkeypatch.setenv("CARGO_HOME", str(cargo_home))
    monkeypatch.delenv("CARGO_TARGET_DIR", raising=False)


def judged(spec: str, tmp_path: Path) -> None:
    """Every chosen check is executed and passed; each area claimed has some among them."""
    wanted = {check for checks in CHECKS.values() for check in checks}
    result = tmp_path / "result.json"
    options = ["--seed", "7", "--report", str(tmp_path / "report"), "--json", str(result)]
    code = call(["run", "--worker", spec, *options, "--no-color", "-q", *sorted(wanted)])
    found = json.loads(result.read_text(encoding="utf-8"))
    verdicts = {check["checkId"]: check["verdict"] for check in found["checks"]}
    assert (code, {verdicts.get(check) for check in wanted}) == (0, {"pass"}), verdicts
    assert set(found["declaration"]["profiles"]) <= set(CHECKS)


def ran(command: list[str], folder: Path, seconds: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - commands of our own
        command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False
    )
