"""The rules of a good vector: each is broken once, and only it is found."""

from pathlib import Path

import pytest
from attrs import evolve

from worker_conformance.resources import vectors_path
from worker_conformance.scenario.lint import MAX_LINES, Finding, lint
from worker_conformance.scenario.loader import load, load_all, load_text
from worker_conformance.scenario.model import Level, Scenario
from worker_conformance.scenario.requirements import (
    Basis,
    Judged,
    Requirement,
    RetiredId,
    load_requirements,
    load_retired,
)

GOOD = """\
id: REPLAY-0001
title: A gap holds the Cursor
stake: A Worker that lets time carry its Cursor over a missing Event never learns what it said.
requirement: WRK-029.c
level: MUST
twin: REPLAY-0002
groups: {A: {}}
log: {A: [created, member, {authorize: a1}, {offer: a1}]}
steps:
  - start
  - deliver: {A: 1-2}
  - deliver: {A: 4}
  - expect: {ack: {A: 2}}
  - never: {accept: a1}
"""
REQUIREMENTS = {
    name: Requirement(
        id=name,
        clauses=(f"MWP-{name[:7]}",),
        section="16",
        level=Level.MUST,
        basis=Basis.KEYWORD,
        profile=loaded_profile,
        summary="A duty.",
        judged=(Judged.VECTOR,),
    )
    for loaded_profile in [load_text(GOOD, "vectors/replay/REPLAY-0001.yaml").profile]
    for name in ("WRK-029.c", "WRK-029.b", "WRK-008.a")
}


def vector(text: str = GOOD, name: str = "REPLAY-0001") -> Scenario:
    return load_text(text, f"vectors/replay/{name}.yaml")


TWIN = vector(
    GOOD.replace("REPLAY-0001", "X")
    .replace("REPLAY-0002", "REPLAY-0001")
    .replace(": X", ": REPLAY-0002"),
    "REPLAY-0002",
)


def found(*scenarios: Scenario, retired: tuple[RetiredId, ...] = ()) -> list[Finding]:
    return list(lint(scenarios, REQUIREMENTS, retired))


def test_two_good_twins_are_found_good() -> None:
    assert found(vector(), TWIN) == []


BROKEN = {
    "a stake that is too short": (
        "A Worker that lets time carry its Cursor over a missing Event never learns what it said.",
        "Too short.",
        "the stake has 10 characters",
    ),
    "a title that is not written yet": ("title: A gap", "title: TODO A gap", "the title is still"),
    "a stake that is not written yet": ("stake: A Worker", "stake: TODO A W", "the stake is still"),
    "a clause": ("requirement: WRK-029.c", "requirement: MWP-WRK-029", "is a clause, not"),
    "an unknown requirement": ("WRK-029.c", "WRK-029.z", "no requirement WRK-029.z"),
    "a level that is not the requirement's": ("MUST", "SHOULD", "but WRK-029.c is a MUST"),
    "an unknown requirement besides": (
        "level: MUST",
        "also: WRK-029.z\nlevel: MUST",
        "no requirement WRK-029.z",
    ),
    "its own requirement besides": (
        "level: MUST",
        "also: WRK-029.c\nlevel: MUST",
        "WRK-029.c is cited twice",
    ),
    "no start": ("  - start\n", "", "never started"),
    "a never that nothing precedes": (
        "  - expect: {ack: {A: 2}}\n",
        "",
        "nothing before this `never` is proved",
    ),
    "a never whose proof is in another window": (
        "  - never",
        "  - mark\n  - never",
        "nothing before this `never` is proved",
    ),
    "a mark before anything was looked for": (
        "  - expect",
        "  - mark\n  - expect",
        "nothing is looked for before this mark",
    ),
    "an end that judges nothing": (
        "  - never: {accept: a1}\n",
        "  - never: {accept: a1}\n  - mark\n  - given: {ack: {A: 2}}\n",
        "nothing is judged at the end",
    ),
    "a Group that is never used": ("{A: {}}", "{A: {}, B: {}}", "Group B is never used"),
    "a WorkItem that is never used": (
        "steps:",
        "work: {a9: {group: A}}\nsteps:",
        "WorkItem a9 is never used",
    ),
    "no twin": ("twin: REPLAY-0002\n", "", "it has no twin"),
    "a twin that is not there": ("REPLAY-0002", "REPLAY-0003", "REPLAY-0003 is no other vector"),
    "the wrong folder": ("level: MUST", "level: MUST\nprofile: leases", "lies in replay/"),
}


@pytest.mark.parametrize(("old", "new", "cause"), BROKEN.values(), ids=BROKEN)
def test_a_broken_rule_is_found(old: str, new: str, cause: str) -> None:
    findings = found(vector(GOOD.replace(old, new, 1)), TWIN)
    mine = [finding for finding in findings if "REPLAY-0001" in finding.where]
    assert [cause in finding.cause for finding in mine] == [True]
    assert mine[0].hint


def test_a_step_that_breaks_a_rule_is_named_by_its_line() -> None:
    broken = vector(GOOD.replace("  - expect: {ack: {A: 2}}\n", ""))
    assert found(broken, TWIN)[0].where == "vectors/replay/REPLAY-0001.yaml:13"


def test_an_id_is_given_once() -> None:
    again = evolve(vector(), source="vectors/replay/copy/REPLAY-0001.yaml")
    assert any("given twice" in finding.cause for finding in found(vector(), again, TWIN))


def test_a_retired_id_never_comes_back() -> None:
    retired = RetiredId("REPLAY-0001", "It judged the clock.")
    causes = [finding.cause for finding in found(vector(), TWIN, retired=(retired,))]
    assert causes == ["the ID REPLAY-0001 may not be used again"]


def test_a_file_is_called_by_its_id() -> None:
    moved = evolve(vector(), source="vectors/replay/gap.yaml")
    assert [finding.hint for finding in found(moved, TWIN)] == ["call it REPLAY-0001.yaml"]


def test_twins_name_each_other() -> None:
    alone = evolve(TWIN, twin="REPLAY-0009")
    causes = [finding.cause for finding in found(vector(), alone)]
    assert causes[0] == "its twin REPLAY-0002 names REPLAY-0009, not this one"


def test_a_vector_is_not_suggested_as_its_own_twin() -> None:
    (finding,) = found(vector(GOOD.replace("REPLAY-0002", "REPLAY-00001")))
    assert finding.hint == "name the vector that shows the other side"
    wrong, _ = found(vector(GOOD.replace("REPLAY-0002", "REPLAY-0009")), TWIN)
    assert wrong.hint == "did you mean 'REPLAY-0002'?"


def test_twins_share_a_clause_or_a_profile() -> None:
    text = GOOD.replace("id: REPLAY-0001", "id: REPLAY-0002").replace(
        "twin: REPLAY-0002", "twin: REPLAY-0001"
    )
    same_clause = load_text(text.replace("029.c", "029.b"), "vectors/offline/REPLAY-0002.yaml")
    other = load_text(text.replace("WRK-029.c", "WRK-008.a"), "vectors/offline/REPLAY-0002.yaml")
    same_profile = vector(text.replace("WRK-029.c", "WRK-008.a"), "REPLAY-0002")
    for twin, expected in ((same_clause, 0), (other, 2), (same_profile, 0)):
        findings = [one for one in found(vector(), twin) if "another profile" in one.cause]
        assert len(findings) == expected


def test_a_driver_uses_every_group_and_plan() -> None:
    driven = GOOD.replace("{A: {}}", "{A: {}, B: {}}").replace(
        "  - expect", "  - drive: share\n  - expect"
    )
    assert found(vector(driven), TWIN) == []


def test_a_vector_is_read_on_one_screen(tmp_path: Path) -> None:
    folder = tmp_path / "replay"
    folder.mkdir()
    path = folder / "REPLAY-0001.yaml"
    path.write_text(GOOD + "# a comment\n" * MAX_LINES)
    assert any("at most 70" in finding.hint for finding in found(load(path), TWIN))


def test_the_vectors_of_this_suite_keep_every_rule() -> None:
    folder = vectors_path()
    assert (
        lint(
            load_all(folder),
            load_requirements(folder / "requirements.yaml"),
            load_retired(folder / "retired-ids.yaml"),
        )
        == ()
    )
