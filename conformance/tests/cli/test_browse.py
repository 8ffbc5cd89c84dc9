"""`list` and `explain`."""

import json
from pathlib import Path

from attrs import evolve


def test_all_checks_are_listed_by_area(command, an_engine) -> None:
    outcome = command("list", engine=an_engine())
    assert outcome.code == 0
    assert outcome.out.index("replay\n") < outcome.out.index("REPLAY-0007")
    assert outcome.out.endswith("13 checks\n")


def test_the_list_can_be_narrowed(command, an_engine) -> None:
    out = command("list", "--profile", "replay", engine=an_engine()).out
    assert "REPLAY-0001" in out
    assert "LEASES-0001" not in out
    assert "SCHEDULING-0002" in command("list", "WRK-010.a", engine=an_engine()).out


def test_programs_get_json(command, an_engine) -> None:
    (row,) = json.loads(command("list", "--json", "REPLAY-0007", engine=an_engine()).out)
    assert row["requirement"] == "WRK-029.c"
    assert row["clauses"] == ["MWP-WRK-029"]


def test_an_explanation_says_what_a_reviewer_wants_to_cite(
    command, an_engine, tmp_path: Path
) -> None:
    engine = an_engine()
    file = tmp_path / "REPLAY-0007.yaml"
    file.write_text("id: REPLAY-0007\nsteps: [start]\n")
    infos = [i for i in engine.infos if i.check_id == "REPLAY-0007"]
    engine.infos = (evolve(infos[0], source=str(file)),)
    out = command("explain", "REPLAY-0007", engine=engine).out
    for told in (
        "A gap holds the Cursor for as long as it lasts",
        "MWP-WRK-029",
        "WRK-029.c, MUST",
        "What is at stake is said here.",
        "steps: [start]",
        "worker-conformance run REPLAY-0007",
    ):
        assert told in out


def test_the_steps_can_be_copied_as_they_are(command, an_engine, tmp_path: Path) -> None:
    engine = an_engine()
    file = tmp_path / "REPLAY-0007.yaml"
    line = f"  - start  # {'a comment that is long ' * 6}"
    file.write_text(f"id: REPLAY-0007\nsteps:\n{line}\n")
    infos = [i for i in engine.infos if i.check_id == "REPLAY-0007"]
    engine.infos = (evolve(infos[0], source=str(file)),)
    assert line.rstrip() in command("explain", "REPLAY-0007", engine=engine).out


def test_a_requirement_explains_every_check_that_judges_it(command, an_engine) -> None:
    out = command("explain", "WRK-001.a", engine=an_engine()).out
    assert "REPLAY-0001" in out
    assert "LEASES-0001" in out


def test_requirements_are_listed_with_what_judges_them_or_why_nothing_does(
    command, an_engine
) -> None:
    out = command("list", "--requirements", engine=an_engine()).out
    assert "REPLAY-0007" in out
    assert "no check so far" in out
    assert "binds another role" in out
    assert "requirements are judged by a check" in out


def test_the_requirements_can_be_narrowed(command, an_engine) -> None:
    out = command("list", "--requirements", "WRK-029.c", engine=an_engine()).out
    assert "REPLAY-0007" in out
    assert "WRK-029.a" not in out
    assert "1 of 1 requirement is judged by a check" in out
    of_clause = command("list", "--requirements", "mwp-wrk-029", engine=an_engine()).out
    assert "WRK-029.a" in of_clause
    assert "WRK-029.c" in of_clause
    assert "WRK-010.a" not in of_clause
    assert "binds another role" not in of_clause
    other = command("list", "--requirements", "MWP-WRK-006", engine=an_engine()).out
    assert "MWP-WRK-006" in other
    of_area = command("list", "--requirements", "-p", "scheduling", engine=an_engine()).out
    assert "WRK-029.c" not in of_area
    assert "WRK-010.a" in of_area


def test_programs_get_requirements_as_json(command, an_engine) -> None:
    arguments = ("list", "--requirements", "--json", "WRK-029.c")
    (row,) = json.loads(command(*arguments, engine=an_engine()).out)
    assert row["requirement"] == "WRK-029.c"
    assert row["checks"] == ["REPLAY-0007"]
    assert row["unjudged"] is None


def test_a_requirement_that_there_is_not_is_answered_with_the_nearest(command, an_engine) -> None:
    outcome = command("list", "--requirements", "WRK-29.c", engine=an_engine())
    assert outcome.code == 2
    assert "did you mean 'WRK-029.c'?" in outcome.err


def test_a_clause_that_nothing_judges_is_explained_too(command, an_engine) -> None:
    outcome = command("explain", "MWP-WRK-006", engine=an_engine())
    assert outcome.code == 0
    assert "MWP-WRK-006" in outcome.out


def test_a_requirement_is_told_before_its_checks(command, an_engine) -> None:
    out = command("explain", "wrk-029.c", engine=an_engine()).out
    assert out.index("Judged by: REPLAY-0007") < out.index("worker-conformance run REPLAY-0007")
