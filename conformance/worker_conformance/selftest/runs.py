"""Whole ordinary runs against the reference Worker, under one seed after the other.

Each is the command that a user gives, in a process of its own: whatever is not a pass is a false
alarm, or a fault of the reference Worker, and has to be looked at. A campaign goes on where it was
ended. Never repeats a run until it passes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from attrs import asdict, define, field, frozen

from worker_conformance.judge.verdicts import Verdict
from worker_conformance.port.digest import adapter_digest
from worker_conformance.selftest.logbook import Logbook, arguments_of, told
from worker_conformance.suite.checks import vector_digest
from worker_conformance.suite.results import DEFAULT_WORKER
from worker_conformance.suite.soak.campaign import edition

ALARMS = frozenset(
    {
        Verdict.SUITE_ERROR,
        Verdict.ADAPTER_ERROR,
        Verdict.FAIL,
        Verdict.INCONCLUSIVE,
        Verdict.ADVICE,
    }
)
"""What no check may come to against the reference Worker."""


@frozen
class Run:
    """One run: its exit code, how many checks were executed and passed, what alarms, how long."""

    seed: int
    exit_code: int
    executed: int
    passed: int
    alarms: Mapping[str, str]
    seconds: float


def heading() -> Mapping[str, object]:
    """What is run: the reference Worker's code, the suite's, and the vectors."""
    return {
        "code": adapter_digest(DEFAULT_WORKER),
        "suite": edition(),
        "vectors": vector_digest(),
    }


def play(seed: int) -> Run:
    """`worker-conformance run --seed N`, as it stands."""
    with TemporaryDirectory(prefix="worker-runs-") as folder:
        result = Path(folder) / "result.json"
        command = [
            sys.executable,
            "-m",
            "worker_conformance",
            "run",
            "--seed",
            str(seed),
            "--quiet",
        ]
        began = perf_counter()
        told = subprocess.run(  # noqa: S603 - our own command, without a shell
            [*command, "--report", folder], capture_output=True, text=True, check=False
        )
        seconds = round(perf_counter() - began, 1)
        if not result.is_file():
            return Run(seed, told.returncode, 0, 0, {"no result": told.stderr[-2000:]}, seconds)
        return read(json.loads(result.read_text("utf-8")), seed, told.returncode, seconds)


def read(result: Mapping[str, Any], seed: int, exit_code: int, seconds: float) -> Run:
    """What a result says of a run that took so long."""
    alarms = {
        one["checkId"]: one["verdict"] for one in result["checks"] if one["verdict"] in ALARMS
    }
    outcome = result["outcome"]
    passed = int(outcome["counts"].get(Verdict.PASS, 0))
    return Run(seed, exit_code, int(outcome["executed"]), passed, alarms, seconds)


@define
class Campaign:
    """Runs, and the file in which they stand."""

    results: Path
    done: dict[int, Run] = field(factory=dict)

    @property
    def logbook(self) -> Logbook:
        """Where they are written down."""
        return Logbook(self.results, heading())

    def load(self) -> None:
        """Take up what was run before; raises UsageError for other code or vectors."""
        self.done = {one.seed: one for one in runs_in(self.logbook.open())}

    def run(self, seeds: Iterable[int]) -> None:
        """Run what was not run yet."""
        for seed in seeds:
            if seed not in self.done:
                self.done[seed] = play(seed)
                self.logbook.append(asdict(self.done[seed]))
                one = self.done[seed]
                sys.stderr.write(
                    f"seed {seed}: {one.passed} of {one.executed} passed, "
                    f"exit code {one.exit_code}, {one.seconds:.0f} s\n"
                )


def runs_in(lines: Iterable[Mapping[str, Any]]) -> tuple[Run, ...]:
    """The runs that stand in the lines of a file, its head left out."""
    return tuple(Run(**line) for line in lines)


def main(arguments: Sequence[str]) -> int:
    """`FILE FIRST LAST`: the campaign and its seeds."""
    file, (first, last) = arguments_of(arguments, 2, main.__doc__)
    campaign = Campaign(file)
    campaign.load()
    campaign.run(range(first, last + 1))
    return 0


if __name__ == "__main__":
    sys.exit(told(main))
