"""`run` inside GitHub Actions, `badge`, and `compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def test_github_is_spoken_to_where_it_listens(
    command, an_engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    assert "::error" not in command("run", engine=an_engine("failing")).out
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    told = command("run", engine=an_engine("failing")).out
    assert "\n::error title=FAIL REPLAY-0007" in told
    assert (tmp_path / "summary.md").read_text("utf-8").startswith("## Worker conformance")
    assert "::error" not in command("run", "--format", "terminal", engine=an_engine("failing")).out
    monkeypatch.delenv("GITHUB_ACTIONS")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert "::error" in command("run", "--format", "github", engine=an_engine("failing")).out


def test_commands_are_stopped_while_the_result_is_printed(command, an_engine) -> None:
    outs = [command("run", "--format", "github", engine=an_engine("failing")).out for _ in "ab"]
    tokens = [out.splitlines()[0].removeprefix("::stop-commands::") for out in outs]
    assert tokens[0] != tokens[1]
    before, _, after = outs[0].partition(f"\n::{tokens[0]}::\n")
    assert "exit code 1" in before
    assert after.startswith("::error")


def test_a_summary_that_cannot_be_written_is_told(
    command, an_engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "no" / "where"))
    outcome = command("run", "--format", "github", engine=an_engine())
    assert outcome.code == 2
    assert "the job summary cannot be written" in outcome.err


def test_a_badge_says_no_more_than_the_result_allows(command, an_engine, tmp_path: Path) -> None:
    command("run", engine=an_engine("failing"))
    outcome = command("badge", "conformance-report/result.json", engine=an_engine("failing"))
    assert outcome.out == "Badge: conformance-report/badge.svg (not passed)\n"
    # Another suite judged than this one, so there is nothing that this one can say.
    command("run", engine=an_engine())
    arguments = ("badge", "conformance-report/result.json", "-o", "b.svg")
    assert command(*arguments, engine=an_engine()).out == "Badge: b.svg (no claim)\n"
    assert (tmp_path / "b.svg").read_text("utf-8").startswith("<svg ")


def test_results_are_compared_in_every_form(command, an_engine, tmp_path: Path) -> None:
    command("run", "--report", "old", engine=an_engine())
    command("run", "--report", "new", engine=an_engine("failing"))
    files = ("old/result.json", "new/result.json")
    plain = command("compare", *files)
    assert (plain.code, command("compare", "--exit-code", *files).code) == (0, 1)
    assert "NEW FAILURE  REPLAY-0007  pass -> fail" in plain.out
    for form, name in (("json", "c.json"), ("markdown", "c.md"), ("html", "c.html")):
        assert command("compare", *files, "-f", form, "-o", name).code == 0
    assert json.loads((tmp_path / "c.json").read_bytes())["comparisonVersion"] == "1"
    assert (tmp_path / "c.html").read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("files", [(), ("one.json",)])
def test_one_result_cannot_be_compared(files, command) -> None:
    outcome = command("compare", *files)
    assert outcome.code == 2
    assert "there is nothing to compare" in outcome.err
