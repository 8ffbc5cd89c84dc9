"""Whatever the clauses allow has to pass."""

import fnmatch

import pytest

from worker_conformance.judge.verdicts import CheckKind, Verdict
from worker_conformance.selftest.matrix import play_all, subjects
from worker_conformance.selftest.variants import VARIANTS
from worker_conformance.suite.checks import catalogue

SEED = 7
GOOD = {Verdict.PASS, Verdict.ADVICE, Verdict.ABSTAINED}


def checks_about(patterns: tuple[str, ...]) -> list[str]:
    """The vectors whose area a variant's habit is about. The kill matrix has them all."""
    return [
        info.check_id
        for info in catalogue()
        if info.kind is CheckKind.VECTOR
        and any(fnmatch.fnmatch(info.check_id, pattern) for pattern in patterns)
    ]


MONITORS = [info.check_id for info in catalogue() if info.kind is CheckKind.MONITOR]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_lawful_habit_fails_nothing(name: str) -> None:
    vectors = checks_about(VARIANTS[name].areas)
    row = play_all(subjects()[name], (*vectors, *MONITORS), SEED)
    played = {check: verdict for check, verdict in row.verdicts.items() if check in vectors}
    assert set(played.values()) <= GOOD, played
    failed = {Verdict.FAIL, Verdict.ADAPTER_ERROR, Verdict.SUITE_ERROR}
    assert not row.with_verdict(*failed), row.verdicts


def test_every_variant_says_how_it_differs() -> None:
    assert all(variant.habit for variant in VARIANTS.values())
