"""The requirement catalogue: every clause has a place, and every refusal a reason."""

from pathlib import Path

import pytest

from worker_conformance.errors import VectorError
from worker_conformance.resources import vectors_path
from worker_conformance.scenario.model import Level, Profile
from worker_conformance.scenario.requirements import (
    Basis,
    Judged,
    Reason,
    RetiredId,
    load_catalogue,
    load_requirements,
    load_retired,
)

CLAUSES = {
    "FND": 24,
    "IDN": 9,
    "SDV": 19,
    "ADM": 14,
    "MSN": 26,
    "WRK": 31,
    "AUT": 6,
    "EVT": 12,
    "EXT": 16,
}
"""The published clauses of version 0.1 by prefix, numbered from 1: 157."""

ENTRY = """\
requirements:
  - id: WRK-029.c
    clauses: [MWP-WRK-029]
    section: "16"
    level: MUST
    basis: keyword
    profile: replay
    judged: [vector, monitor]
    summary: The Cursor stays.
others:
  another_role: [MWP-FND-001]
"""


@pytest.fixture
def catalogue_file(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.yaml"
    path.write_text(ENTRY)
    return path


def test_every_published_clause_holds_a_requirement_or_has_a_reason() -> None:
    catalogue = load_catalogue(vectors_path() / "requirements.yaml")
    every = {f"MWP-{p}-{n:03d}" for p, last in CLAUSES.items() for n in range(1, last + 1)}
    cited = {clause for one in catalogue.requirements.values() for clause in one.clauses}
    assert len(every) == 157
    assert cited | set(catalogue.others) == every
    assert not cited & set(catalogue.others)


def test_a_requirements_id_is_that_of_a_clause_it_cites() -> None:
    for requirement in load_requirements(vectors_path() / "requirements.yaml").values():
        stem = requirement.id.partition(".")[0]
        if not stem.endswith(("-X", "-SNAP")):
            assert f"MWP-{stem}" in requirement.clauses, requirement.where


def test_every_profile_has_requirements_and_every_summary_is_one_sentence() -> None:
    requirements = load_requirements(vectors_path() / "requirements.yaml").values()
    assert {one.profile for one in requirements} == set(Profile)
    for one in requirements:
        assert one.summary.endswith("."), one.where
        assert ". " not in one.summary, one.where


def test_an_entry_is_read_as_it_is_written(catalogue_file: Path) -> None:
    catalogue = load_catalogue(catalogue_file)
    requirement = catalogue.requirements["WRK-029.c"]
    assert requirement.clauses == ("MWP-WRK-029",)
    assert requirement.level is Level.MUST
    assert requirement.basis is Basis.KEYWORD
    assert requirement.judged == (Judged.VECTOR, Judged.MONITOR)
    assert requirement.unjudged is None
    assert requirement.where == f"{catalogue_file.as_posix()}:2:5"
    assert catalogue.others == {"MWP-FND-001": Reason.ANOTHER_ROLE}


REFUSED = {
    "an unknown member": ("level:", "levle:", "unknown member 'levle'", "'level'"),
    "an unknown level": ("MUST", "MAY", "unknown level 'MAY'", "MUST"),
    "an unknown judge": ("monitor]", "monitr]", "unknown judge 'monitr'", "'monitor'"),
    "an unknown reason": ("another_role", "another_rule", "unknown reason", "'another_role'"),
    "a basis without its argument": ("keyword", "table", "'argument' is missing", "why it binds"),
    "no summary": ("    summary: The Cursor stays.\n", "", "'summary' is missing", "needed"),
    "neither judge nor reason": ("    judged: [vector, monitor]\n", "", "either 'judged'", "one"),
    "a clause that is none": ("MWP-WRK-029", "WRK-029", "not a clause ID", "MWP-WRK-029"),
    "a section that is a number": ('"16"', "16", "not text", "quotes"),
    "a clause with two reasons": (
        "[MWP-FND-001]",
        "[MWP-FND-001, MWP-FND-001]",
        "given twice",
        "one reason",
    ),
    "no requirements": ("requirements:", "requirement:", "unknown member", "'requirements'"),
}


@pytest.mark.parametrize(("old", "new", "cause", "hint"), REFUSED.values(), ids=REFUSED)
def test_a_faulty_catalogue_is_refused(
    catalogue_file: Path, old: str, new: str, cause: str, hint: str
) -> None:
    catalogue_file.write_text(ENTRY.replace(old, new, 1))
    with pytest.raises(VectorError) as caught:
        load_catalogue(catalogue_file)
    assert cause in caught.value.cause
    assert hint in caught.value.hint


def test_a_requirement_is_given_once(catalogue_file: Path) -> None:
    entry = ENTRY.partition("requirements:\n")[2].partition("others:")[0]
    catalogue_file.write_text(ENTRY.replace("others:", entry + "others:"))
    with pytest.raises(VectorError, match=r"WRK-029\.c is given twice"):
        load_catalogue(catalogue_file)


def test_the_ledger_of_retired_ids_is_read(tmp_path: Path) -> None:
    path = tmp_path / "retired-ids.yaml"
    path.write_text("retired:\n  - {id: REPLAY-0099, reason: It judged the clock.}\n")
    assert load_retired(path) == (RetiredId("REPLAY-0099", "It judged the clock."),)
    assert load_retired(vectors_path() / "retired-ids.yaml") == ()


def test_a_retired_id_says_why(tmp_path: Path) -> None:
    path = tmp_path / "retired-ids.yaml"
    path.write_text("retired:\n  - {id: REPLAY-0099}\n")
    with pytest.raises(VectorError, match="'id' and 'reason' are needed"):
        load_retired(path)
