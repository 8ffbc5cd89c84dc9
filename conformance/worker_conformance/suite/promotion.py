"""Promotion: from a counterexample to a permanent vector.

Gives it the next ID of its area, and takes it only if it fails the Worker it came from and passes
the reference Worker: a vector that cannot fail proves nothing, and one that nobody can pass is
wrong. Never writes its twin; that is a person's work.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from attrs import evolve, frozen

from worker_conformance.errors import UsageError
from worker_conformance.judge.verdicts import Verdict
from worker_conformance.port.locate import locate
from worker_conformance.resources import vectors_path
from worker_conformance.scenario.dump import to_yaml
from worker_conformance.scenario.loader import load, vector_files
from worker_conformance.scenario.model import Profile, Scenario
from worker_conformance.scenario.requirements import load_retired
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import scenarios
from worker_conformance.suite.results import DEFAULT_WORKER

RETIRED_FILE = "retired-ids.yaml"
_CATCHES = frozenset({Verdict.FAIL, Verdict.ADVICE})


@frozen
class Promoted:
    """A vector that has become permanent, and where it lies."""

    scenario: Scenario
    path: Path


def promote(file: Path, worker: str, seed: int, into: Path, timeout_seconds: float) -> Promoted:
    """Make a counterexample permanent in the folder `into`.

    Raises UsageError where it does not fail `worker`, does not pass the reference Worker, or cannot
    be written.
    """
    found = load(file)
    scenario = evolve(found, id=next_id(found.profile, into), source=None)
    caught = _verdict(scenario, worker, seed, timeout_seconds)
    if caught not in _CATCHES:
        raise UsageError(
            "not-promotable",
            f"{worker} comes to '{caught}' here, so that the vector catches nothing",
            "name with --worker the Worker it was found in, and its seed with --seed",
            str(file),
        )
    passed = _verdict(scenario, DEFAULT_WORKER, seed, timeout_seconds)
    if passed is not Verdict.PASS:
        raise UsageError(
            "not-promotable",
            f"the reference Worker comes to '{passed}' here",
            "a vector that the reference Worker does not pass says something of the suite",
            str(file),
        )
    path = write_new(scenario.id, scenario.profile, to_yaml(scenario), into)
    return Promoted(scenario, path)


def next_id(profile: Profile, into: Path) -> str:
    """The first ID of an area that no vector has, here or in the folder `into`, and none had."""
    prefixes = Counter(
        name.partition("-")[0] for name, one in scenarios().items() if one.profile is profile
    )
    prefix = prefixes.most_common(1)[0][0] if prefixes else profile.value.upper()
    retired = (entry.id for entry in load_retired(vectors_path() / RETIRED_FILE))
    written = (file.stem for file in vector_files(into))
    taken = [
        int(number)
        for known, _, number in (name.partition("-") for name in (*scenarios(), *retired, *written))
        if known == prefix and number.isdigit()
    ]
    return f"{prefix}-{max(taken, default=0) + 1:04}"


def _verdict(scenario: Scenario, worker: str, seed: int, timeout_seconds: float) -> Verdict:
    with Bench(locate(worker, timeout_seconds)) as bench:
        return bench.play(scenario, seed).verdict


def write_new(check_id: str, profile: Profile, text: str, into: Path) -> Path:
    """Write a vector that is not there yet into its area's folder.

    Raises UsageError where it cannot be written, or is there already.
    """
    path = into / profile.value / f"{check_id}.yaml"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        cause = f"the vector cannot be written: {error.strerror}"
        raise UsageError(
            "vector-file", cause, "choose another place with --into", str(path)
        ) from None
    return path
