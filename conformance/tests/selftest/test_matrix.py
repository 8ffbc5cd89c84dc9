"""The matrix as data, and the page that is made of it."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from worker_conformance.errors import UsageError
from worker_conformance.judge.verdicts import Verdict
from worker_conformance.selftest.matrix import (
    Kind,
    Matrix,
    Row,
    all_checks,
    kill_matrix,
    named,
    quick_checks,
    subjects,
)
from worker_conformance.selftest.mutants import MUTANTS
from worker_conformance.selftest.null_workers import NULL_WORKERS
from worker_conformance.selftest.page import LETTERS, SEED, render
from worker_conformance.selftest.variants import VARIANTS
from worker_conformance.suite.checks import catalogue, info_of, vector_digest

PAGE = Path(__file__).parents[3] / "docs" / "kill-matrix.md"
FRESH = ("silent", "names-no-lease")
"""Workers whose rows are played again here; the whole page takes minutes."""


def grid() -> dict[str, str]:
    """The lines of the page's last table, by Worker."""
    block = PAGE.read_text("utf-8").rpartition("```text\n")[2].partition("```")[0]
    rows = (re.match(r"(\S+)\s", line) for line in block.splitlines() if line[:1].strip())
    return {row.group(1): row.string for row in rows if row}


def a_matrix() -> Matrix:
    killed = Row("no-dedupe", Kind.MUTANT, {"REPLAY-0003": Verdict.FAIL, "SIGN-0001": Verdict.PASS})
    nobody = Row("silent", Kind.NULL, {"REPLAY-0003": Verdict.INCONCLUSIVE})
    return Matrix(1, ("REPLAY-0003", "SIGN-0001"), (killed, nobody))


def test_a_quick_run_has_most_of_the_checks_that_mutants_were_made_for() -> None:
    """`selftest --quick` plays it, and counts those that are noticed by other checks too."""
    quick = set(quick_checks())
    assert sum(not quick.isdisjoint(one.killed_by) for one in MUTANTS.values()) >= 0.85 * len(
        MUTANTS
    )
    assert len(quick) < 0.7 * len(all_checks())


def test_the_page_is_of_these_vectors() -> None:
    if vector_digest() not in PAGE.read_text("utf-8"):
        pytest.skip(f"{PAGE.name} is out of date: play the self-test again")


def test_a_matrix_knows_who_kills_whom() -> None:
    matrix = a_matrix()
    assert matrix.killers_of("REPLAY-0003") == ("no-dedupe",)
    assert matrix.idle_checks() == ("SIGN-0001",)
    assert not matrix.survivors()


def test_nothing_is_said_of_checks_that_no_worker_has_met() -> None:
    verdicts = {
        "REPLAY-0003": Verdict.FAIL,
        "REPLAY-0006": Verdict.INCONCLUSIVE,
        "MON-0001": Verdict.PASS,
        "MON-0002": Verdict.INCONCLUSIVE,
        "SIGN-0001": Verdict.NOT_CLAIMED,
    }
    row = Row("no-dedupe", Kind.MUTANT, verdicts, {"REPLAY-0003": 1.0, "REPLAY-0006": 1.0})
    matrix = Matrix(1, (*verdicts, "SIGN-0002"), (row,)).of_what_was_played()
    assert matrix.checks == ("REPLAY-0003", "REPLAY-0006", "MON-0001")


def test_a_mutant_that_its_check_lets_live_is_a_survivor() -> None:
    alive = Row("no-dedupe", Kind.MUTANT, {"REPLAY-0003": Verdict.INCONCLUSIVE})
    assert Matrix(1, ("REPLAY-0003",), (alive,)).survivors() == ("no-dedupe",)


def test_a_profile_needs_a_pass_and_nothing_broken() -> None:
    passed = {"SIGN-0001": Verdict.PASS, "SIGN-0002": Verdict.ADVICE}
    broken = {"SIGN-0001": Verdict.PASS, "SIGN-0002": Verdict.INCONCLUSIVE}
    assert Row("x", Kind.NULL, passed).passed_profiles() == ("signatures",)
    assert Row("x", Kind.NULL, broken).passed_profiles() == ()


@pytest.mark.parametrize(
    ("name", "check", "may"),
    [
        ("silent", "MON-0022", False),
        ("recorded", "MON-0022", False),
        ("refuses_everything", "MON-0022", True),
        ("refuses_everything", "ADMIT-0001", False),
        ("accepts_and_never_starts", "REPLAY-0001", True),
        ("accepts_and_never_starts", "REPLAY-0003", False),
        ("speaks_at_random", "ADMIT-0001", True),
    ],
)
def test_a_null_worker_may_pass_what_it_does_and_nothing_else(
    name: str, check: str, *, may: bool
) -> None:
    profile = info_of(check).profile
    rest = [one.check_id for one in catalogue() if one.profile == profile]
    row = Row(name, Kind.NULL, {**dict.fromkeys(rest, Verdict.FAIL), check: Verdict.PASS})
    assert Matrix(1, (check,), (row,)).passing_nulls() == (() if may else (name,))


def test_no_two_workers_have_one_name() -> None:
    registries: tuple[Iterable[str], ...] = (MUTANTS, VARIANTS, NULL_WORKERS, ("reference",))
    assert sum(len(list(one)) for one in registries) == len(subjects())


def test_an_unknown_worker_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(UsageError, match="no Worker 'nobody'"):
        named(["nobody"])


def test_equal_matrices_make_equal_pages() -> None:
    assert render(a_matrix()) == render(a_matrix())


def test_the_published_page_knows_every_check_and_every_worker() -> None:
    text = PAGE.read_text("utf-8")
    assert set(re.findall(r"^\| ([A-Z]+-\d{4}) \|", text, re.MULTILINE)) == set(all_checks())
    assert set(grid()) == set(subjects())


@pytest.mark.parametrize("name", FRESH)
def test_the_published_page_says_what_is_played(name: str) -> None:
    matrix = kill_matrix(named([name]), all_checks(), SEED)
    (row,) = matrix.rows
    letters = "".join(LETTERS[row.verdicts.get(check)] for check in matrix.checks)
    assert grid()[name].removeprefix(name).strip() == letters.strip()
