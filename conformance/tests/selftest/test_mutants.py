"""Each fault is noticed by the checks that are expected to notice it.

By default those that a default run has; WORKER_CONFORMANCE_THOROUGH=1 takes the longest too.
"""

import os

import pytest

from worker_conformance.judge.verdicts import CheckKind
from worker_conformance.selftest.matrix import KILLS, Kind, all_checks, play_all, subjects
from worker_conformance.selftest.mutants import MUTANTS, NOT_COVERED
from worker_conformance.suite.checks import THOROUGH as LONGEST
from worker_conformance.suite.checks import info_of, requirements, scenarios

SEED = 7
THOROUGH = os.environ.get("WORKER_CONFORMANCE_THOROUGH") == "1"


def drives(name: str) -> list[str]:
    """The long checks that are expected to notice a mutant."""
    expected = MUTANTS[name].killed_by
    return [check for check in expected if info_of(check).kind is CheckKind.FAIRNESS]


def short(checks: list[str]) -> list[str]:
    """Those that a default run has; the others take a minute each."""
    return [check for check in checks if THOROUGH or LONGEST not in info_of(check).needs]


QUICK = [name for name in MUTANTS if not drives(name)]
UNFAIR = [name for name in MUTANTS if short(drives(name))]


@pytest.mark.parametrize("name", QUICK)
def test_the_fault_is_noticed_by_every_check_that_should_notice_it(name: str) -> None:
    mutant = MUTANTS[name]
    row = play_all(subjects()[name], (*mutant.killed_by, *mutant.seen_in), SEED)
    verdicts = {check: row.verdicts[check] for check in mutant.killed_by}
    assert set(verdicts.values()) <= KILLS, verdicts


@pytest.mark.parametrize("name", UNFAIR)
def test_an_unfair_share_is_noticed(name: str) -> None:
    row = play_all(subjects()[name], short(drives(name)), SEED)
    assert set(row.verdicts.values()) <= KILLS, row.verdicts


def test_every_check_has_a_mutant_that_it_should_notice() -> None:
    covered = {check for one in MUTANTS.values() for check in one.killed_by}
    idle = [check for check in all_checks() if check not in covered | set(NOT_COVERED)]
    assert not idle, f"add a mutant that {', '.join(idle)} should notice"


def test_no_check_is_called_uncovered_that_has_a_mutant() -> None:
    covered = {check for one in MUTANTS.values() for check in one.killed_by}
    assert not covered & set(NOT_COVERED)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_names_what_exists(name: str) -> None:
    mutant = MUTANTS[name]
    assert mutant.requirement in requirements()
    assert set(mutant.killed_by) <= set(all_checks())
    assert set(mutant.seen_in) <= set(scenarios())
    assert mutant.fault
    assert mutant.field


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_killed_by_a_check_of_its_own_clause(name: str) -> None:
    mutant = MUTANTS[name]
    judged = {
        name
        for check in map(info_of, mutant.killed_by)
        for name in (check.requirement, *check.also)
    }
    clauses = {clause for name in judged for clause in requirements()[name].clauses}
    assert clauses & set(requirements()[mutant.requirement].clauses)


def test_the_registry_keeps_every_kind_apart() -> None:
    assert {one.kind for one in subjects().values()} == set(Kind)
