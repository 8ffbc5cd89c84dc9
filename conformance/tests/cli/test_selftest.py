"""`worker-conformance selftest`: the suite against Workers whose worth is known beforehand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve

from worker_conformance.cli.entry import EXIT_INTERRUPTED, call
from worker_conformance.errors import EXIT_USAGE
from worker_conformance.judge.verdicts import Verdict
from worker_conformance.selftest import files, matrix
from worker_conformance.selftest.matrix import Kind, Matrix, Row
from worker_conformance.selftest.mutants import MUTANTS


def test_chosen_workers_are_judged_and_written_down(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["selftest", "--seed", "1", "--jobs", "1", "--report", str(tmp_path), "no-dedupe"]
    assert call(arguments) == 0
    told = capsys.readouterr()
    assert "1 of 1" in told.out
    assert "1 of 1 Workers judged" in told.err
    document = json.loads((tmp_path / "matrix.json").read_text("utf-8"))
    assert document["format"] == files.FORMAT
    (worker,) = document["workers"]
    assert worker["name"] == "no-dedupe"
    assert set(worker["expectedBy"]) <= {
        check for check, verdict in worker["verdicts"].items() if verdict in ("fail", "advice")
    }
    page = (tmp_path / "matrix.html").read_text("utf-8")
    assert "no-dedupe" in page
    assert "REPLAY-0003" in page
    assert "SCHED-0001" not in page  # which was not played
    assert "notice nothing" not in page


def test_a_quick_run_is_told_by_what_it_notices_and_what_it_leaves(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["selftest", "--quick", "--seed", "1", "--jobs", "1"]
    assert call([*arguments, "no-dedupe", "silent"]) == 0
    assert "A quick run notices 1 of 1 mutant" in capsys.readouterr().out
    assert call([*arguments, "no-dedupe", "weights-read-once"]) == 1
    told = capsys.readouterr().out
    assert "Left to the ordinary run: weights-read-once" in told
    assert "A quick run notices 1 of 2 mutants" in told


def test_a_quick_run_makes_no_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["selftest", "--quick", "--full", "no-dedupe"]) == EXIT_USAGE
    assert "leave out --full and --markdown" in capsys.readouterr().err


def test_a_quick_run_without_a_mutant_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["selftest", "--quick", "silent"]) == EXIT_USAGE
    assert "none of these Workers is one" in capsys.readouterr().err


def test_a_worker_that_does_not_exist_is_answered_with_the_nearest(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert call(["selftest", "--report", str(tmp_path), "no-dedup"]) == EXIT_USAGE
    assert "did you mean 'no-dedupe'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("member", "value", "cause", "hint"),
    [
        ("killed_by", ("REPLAY-00030",), "killed_by names REPLAY-00030", "did you mean 'REPLAY-0"),
        ("killed_by", ("zzz",), "killed_by names zzz", "worker-conformance list"),
        ("seen_in", ("REPLAY-03",), "seen_in names REPLAY-03", "did you mean 'REPLAY-0"),
        ("requirement", "WRK-29.c", "there is no requirement WRK-29.c", "did you mean 'WRK-029.c'"),
    ],
)
def test_a_mutant_that_names_what_is_not_there_is_refused_before_it_is_played(
    member: str,
    value: object,
    cause: str,
    hint: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    wrong = evolve(MUTANTS["no-dedupe"], **{member: value})
    monkeypatch.setitem(MUTANTS, "no-dedupe", wrong)  # type: ignore[arg-type]  # a dict it is
    assert call(["selftest", "--report", str(tmp_path), "no-dedupe"]) == EXIT_USAGE
    told = capsys.readouterr().err
    assert f"the mutant no-dedupe: {cause}" in told
    assert hint in told
    assert "judge" not in told


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_played(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    assert call(["selftest", "--report", str(tmp_path / "file" / "x"), "silent"]) == EXIT_USAGE
    assert "cannot be written" in capsys.readouterr().err


def test_a_page_that_cannot_be_written_is_said_before_anything_is_played(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    page = tmp_path / "file" / "x.md"
    arguments = ["selftest", "--report", str(tmp_path / "out"), "--markdown", str(page), "silent"]
    assert call(arguments) == EXIT_USAGE
    told = capsys.readouterr().err
    assert "choose another place with --markdown" in told
    assert "judge" not in told


def test_missing_folders_are_made_and_an_interrupted_play_leaves_older_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(*_: object, **__: object) -> Matrix:
        raise KeyboardInterrupt

    page = tmp_path / "new" / "x.md"
    older = tmp_path / "matrix.json"
    older.write_text("older")
    arguments = ["selftest", "--report", str(tmp_path), "--markdown", str(page), "silent"]
    monkeypatch.setattr(matrix, "kill_matrix", interrupted)
    assert call(arguments) == EXIT_INTERRUPTED
    assert older.read_text() == "older"
    assert not (tmp_path / "matrix.html").exists()
    rows = (Row("silent", Kind.NULL, {"REPLAY-0003": Verdict.INCONCLUSIVE}),)
    played = Matrix(1, ("REPLAY-0003",), rows)
    monkeypatch.setattr(matrix, "kill_matrix", lambda *_, **__: played)
    assert call(arguments) == 0
    assert page.read_text("utf-8").startswith("# ")


def test_what_is_amiss_is_told_by_kind() -> None:
    rows = (
        Row("no-dedupe", Kind.MUTANT, {"REPLAY-0003": Verdict.PASS}),
        Row("takes-its-time", Kind.VARIANT, {"REPLAY-0003": Verdict.FAIL}),
        Row("silent", Kind.NULL, {"REPLAY-0003": Verdict.PASS}),
    )
    assert files.amiss(Matrix(1, ("REPLAY-0003",), rows)) == {
        "survivingMutants": ("no-dedupe",),
        "failingVariants": ("takes-its-time",),
        "passingNullWorkers": ("silent",),
        "idleChecks": ("REPLAY-0003",),
    }


def test_the_dearest_checks_are_means_over_the_workers() -> None:
    rows = tuple(
        Row(name, Kind.NULL, {}, {"REPLAY-0003": seconds, "SIGN-0001": 0.5})
        for name, seconds in (("silent", 1.0), ("echo", 3.0))
    )
    assert files.dearest(Matrix(1, (), rows)) == (("REPLAY-0003", 2, 2.0), ("SIGN-0001", 2, 0.5))
