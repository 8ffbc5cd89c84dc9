"""`worker-conformance run`: options, reports, exit codes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from worker_conformance.errors import AdapterError, SuiteError

Command = Callable[..., object]


@pytest.mark.parametrize(("name", "code"), [("passing", 0), ("failing", 1), ("partial", 0)])
def test_the_exit_code_is_that_of_the_result(name, code, command, an_engine) -> None:
    assert command("run", engine=an_engine(name)).code == code


def test_the_bundled_worker_is_judged_by_default(command, an_engine) -> None:
    engine = an_engine()
    command("run", engine=engine)
    (options,) = engine.asked
    assert options.worker == "reference_worker:factory"
    assert (options.profiles, options.select, options.quick) == ((), (), False)
    assert options.jobs >= 1


def test_every_option_reaches_the_engine(command, an_engine) -> None:
    engine = an_engine()
    outcome = command(
        *("run", "--worker", "stdio:./w", "--profile", "replay", "-p", "leases", "--quick"),
        *("--seed", "7", "--jobs", "3", "--timeout", "2.5", "REPLAY-0007"),
        engine=engine,
    )
    assert outcome.err.startswith("13 checks") or outcome.code in (0, 1), outcome.err
    (options,) = engine.asked
    assert options.worker == "stdio:./w"
    assert options.profiles == ("replay", "leases")
    assert options.select == ("REPLAY-0007",)
    assert (options.seed, options.jobs, options.quick) == (7, 3, True)
    assert options.timeout_seconds == 2.5


@pytest.mark.parametrize(
    ("pattern", "chosen"),
    [
        ("REPLAY-*", ("REPLAY-0001", "REPLAY-0007")),
        ("replay-0007", ("REPLAY-0007",)),
        ("WRK-029.c", ("REPLAY-0007",)),
        ("MWP-WRK-010", ("SCHEDULING-0002",)),
    ],
)
def test_a_check_is_chosen_by_id_requirement_or_clause(pattern, chosen, command, an_engine) -> None:
    engine = an_engine()
    command("run", pattern, engine=engine)
    assert engine.asked[0].select == chosen


def test_three_reports_are_written(command, an_engine, tmp_path: Path) -> None:
    outcome = command("run", engine=an_engine("failing"))
    folder = tmp_path / "conformance-report"
    assert sorted(file.name for file in folder.iterdir()) == [
        "junit.xml",
        "report.html",
        "result.json",
    ]
    assert "Report: conformance-report/report.html" in outcome.out


def test_further_files_are_written_where_they_are_asked_for(
    command, an_engine, tmp_path: Path
) -> None:
    command(
        *("run", "--report", "deep/er", "--junit", "ci/j.xml", "--json", "r.json"),
        engine=an_engine(),
    )
    assert (tmp_path / "deep/er/report.html").exists()
    assert (tmp_path / "ci/j.xml").read_bytes() == (tmp_path / "deep/er/junit.xml").read_bytes()
    assert (tmp_path / "r.json").read_bytes() == (tmp_path / "deep/er/result.json").read_bytes()


def test_reproducible_reports_hold_no_time(command, an_engine, tmp_path: Path) -> None:
    command("run", "--reproducible", engine=an_engine())
    assert "timing" not in json.loads((tmp_path / "conformance-report/result.json").read_bytes())


def test_an_old_report_does_not_outlive_a_run_that_broke_off(
    command, an_engine, tmp_path: Path
) -> None:
    command("run", engine=an_engine())
    (tmp_path / "conformance-report" / "claim.json").write_text("of the run before")
    broken = an_engine(error=AdapterError("not-json", "line 1 is not JSON: 'hello'", "print less"))
    assert command("run", engine=broken).code == 3
    assert list((tmp_path / "conformance-report").iterdir()) == []


def test_a_place_that_cannot_be_written_is_told_before_the_run(
    command, an_engine, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    engine = an_engine()
    outcome = command("run", "--report", "file/below", engine=engine)
    assert (outcome.code, engine.asked) == (2, [])
    assert "--report" in outcome.err


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (
            AdapterError("not-json", "line 1 is not JSON", "print less"),
            3,
            "adapter error [not-json]",
        ),
        (SuiteError("bad-stimulus", "our own schema refuses it"), 4, "please report it"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ZeroDivisionError("oops"), 4, "suite error [unexpected]: ZeroDivisionError: oops"),
    ],
    ids=["adapter", "suite", "interrupt", "bug"],
)
def test_what_ends_a_run_early_has_its_own_exit_code(error, code, told, command, an_engine) -> None:
    outcome = command("run", engine=an_engine(error=error))
    assert outcome.code == code
    assert told in outcome.err
    assert "Traceback" not in outcome.err + outcome.out


def test_the_traceback_of_a_bug_is_in_the_file_that_is_named(command, an_engine) -> None:
    outcome = command("run", engine=an_engine(error=ZeroDivisionError("oops")))
    (line,) = [line for line in outcome.err.splitlines() if "traceback:" in line]
    file = Path(line.split(": ", 1)[1])
    assert "ZeroDivisionError: oops" in file.read_text()
    file.unlink()


def test_progress_goes_to_stderr_and_the_result_to_stdout(command, an_engine) -> None:
    outcome = command("run", engine=an_engine())
    assert "checks done" in outcome.err
    assert "checks done" not in outcome.out
    assert "passes the core Worker areas" in outcome.out.replace("\n", " ")


def test_quiet_is_quiet(command, an_engine) -> None:
    outcome = command("run", "-q", engine=an_engine())
    assert outcome.err == ""
    assert len(outcome.out.splitlines()) <= 2


def test_colour_is_off_when_it_is_not_wanted(
    command, an_engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    red = "\x1b[1;31m"
    assert red in command("run", engine=an_engine("failing")).out
    assert red not in command("run", "--no-color", engine=an_engine("failing")).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert red not in command("run", engine=an_engine("failing")).out


def test_colour_can_be_had_where_it_would_not_be(
    command, an_engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b[" not in command("run", engine=an_engine("failing")).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;31mFAIL" in command("run", "--color", engine=an_engine("failing")).out


def test_a_seed_is_drawn_where_none_is_given(command, an_engine) -> None:
    engine = an_engine()
    for _ in range(2):
        command("run", engine=engine)
    first, second = (options.seed for options in engine.asked)
    assert first != second
