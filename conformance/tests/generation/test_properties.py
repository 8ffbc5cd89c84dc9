"""Properties judged: the reference Worker keeps them, faults are found, silence passes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker_conformance.errors import UsageError
from worker_conformance.judge.verdicts import Verdict
from worker_conformance.port.locate import locate
from worker_conformance.scenario.loader import load
from worker_conformance.selftest import null_workers
from worker_conformance.selftest.variants import VARIANTS
from worker_conformance.selftest.world_faults import FAULTS
from worker_conformance.suite import promotion
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.engine import WORLDS
from worker_conformance.suite.properties.catalogue import PROPERTIES, PropertyInfo
from worker_conformance.suite.properties.check import run_property
from worker_conformance.suite.properties.saving import Origin
from worker_conformance.suite.properties.theatre import Theatre

from .workers import local

REFERENCE = "reference_worker:factory"
SEED = 1
FOUND = "approvals_lost_by_a_crash"
FOUND_BY = "PROP-0013"


@pytest.mark.parametrize("info", PROPERTIES, ids=lambda info: info.check_id)
def test_the_reference_worker_breaks_no_property(info: PropertyInfo) -> None:
    with Bench(locate(REFERENCE)) as bench:
        run = run_property(info.check_id, Theatre(bench, 4), 2, Origin(REFERENCE, 4), None)
    assert run.verdict in {Verdict.PASS, Verdict.INCONCLUSIVE}, run.failure


@pytest.mark.parametrize("info", PROPERTIES, ids=lambda info: info.check_id)
def test_a_silent_worker_passes_no_property(info: PropertyInfo) -> None:
    with Bench(local(null_workers.silent)) as bench:
        run = run_property(info.check_id, Theatre(bench, 4), 2, Origin("silent", 4), None)
    assert run.verdict in {Verdict.FAIL, Verdict.INCONCLUSIVE}


@pytest.fixture(scope="module")
def counterexample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("counterexamples")
    with Bench(local(FAULTS[FOUND])) as bench:
        run = run_property(FOUND_BY, Theatre(bench, SEED), 10, Origin("the fault", SEED), folder)
    assert run.verdict is Verdict.FAIL
    assert run.saved is not None
    return run.saved


def test_a_counterexample_is_a_vector_that_fails_by_itself(counterexample: Path) -> None:
    scenario = load(counterexample)
    with Bench(local(FAULTS[FOUND])) as bench:
        assert bench.play(scenario, SEED).verdict is Verdict.FAIL
    with Bench(locate(REFERENCE)) as bench:
        assert bench.play(scenario, SEED).verdict is Verdict.PASS


def test_a_counterexample_opens_with_what_went_wrong(counterexample: Path) -> None:
    head = counterexample.read_text("utf-8").splitlines()[:3]
    assert [line.partition(":")[0] for line in head] == ["# expected", "# observed", "# found in"]


def test_a_promoted_counterexample_gets_the_next_id_of_its_area(
    counterexample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = promotion.locate
    faulty = local(FAULTS[FOUND])
    monkeypatch.setattr(
        promotion, "locate", lambda spec, seconds: faulty if spec == "x:y" else known(spec, seconds)
    )
    done = promotion.promote(counterexample, "x:y", SEED, tmp_path, 30.0)
    assert done.path == tmp_path / "replay" / f"{done.scenario.id}.yaml"
    assert done.scenario.id == promotion.next_id(done.scenario.profile, tmp_path / "empty")
    assert load(done.path) == done.scenario


def test_what_catches_nothing_is_not_promoted(counterexample: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="catches nothing"):
        promotion.promote(counterexample, REFERENCE, SEED, tmp_path, 30.0)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("habit", ["discards-out-of-order", "asks-again-at-a-gap"])
def test_who_discards_what_lies_above_a_gap_gets_it_again(habit: str) -> None:
    """As the Port promises; once no such Worker could pass."""
    with Bench(locate(VARIANTS[habit].factory)) as bench:
        run = run_property("PROP-0011", Theatre(bench, SEED), WORLDS, Origin(habit, SEED), None)
    assert run.verdict is Verdict.PASS, run.failure
