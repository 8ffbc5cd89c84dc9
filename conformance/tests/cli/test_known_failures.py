"""Baselines on the command line: written, refused, filled, held against a run."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from worker_conformance.cli import today


@pytest.fixture(autouse=True)
def _on_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(today, "today", lambda: date(2027, 1, 1))


def filled(path: Path, expires: str = "2027-06-30") -> None:
    text = path.read_text("utf-8").replace("TODO: say why", "because")
    path.write_text(text.replace("# write here", f'expires: "{expires}"\n    #'), "utf-8")


def test_from_a_failing_run_to_one_without_a_surprise(command, an_engine, tmp_path: Path) -> None:
    engine = an_engine("failing")
    outcome = command("run", "--write-baseline", "known.yaml", engine=engine)
    assert outcome.code == 1
    assert "known.yaml, 4 known failures; 4 of them need a reason" in outcome.err
    refused = command("run", "--baseline", "known.yaml", engine=engine)
    assert (refused.code, len(engine.asked)) == (2, 1)
    assert "has no reason yet" in refused.err
    assert command("lint", "known.yaml").code == 1
    filled(tmp_path / "known.yaml")
    linted = command("lint", "known.yaml")
    assert (linted.code, linted.out) == (0, "0 findings in 1 baseline\n")
    known = command("run", "--baseline", "known.yaml", engine=engine)
    assert "EXPECTED FAIL  REPLAY-0007" in known.out
    assert "exit code 0" in known.out or "not judged" in known.out
    document = json.loads((tmp_path / "conformance-report/result.json").read_bytes())
    assert document["baseline"]["troubles"] == []
    assert document["baseline"]["entries"] == 4


def test_an_expired_entry_is_told_and_breaks_the_run(command, an_engine, tmp_path: Path) -> None:
    engine = an_engine("failing")
    command("run", "--write-baseline", "known.yaml", engine=engine)
    filled(tmp_path / "known.yaml", "2026-12-31")
    outcome = command("run", "--baseline", "known.yaml", engine=engine)
    assert outcome.code == 1
    told = " ".join(outcome.out.split())
    assert "Baseline entry REPLAY-0007 is expired: its last day was 2026-12-31" in told


def test_a_result_makes_a_baseline_too(command, an_engine, tmp_path: Path) -> None:
    command("run", engine=an_engine("failing"))
    outcome = command("baseline", "conformance-report/result.json", engine=an_engine("failing"))
    assert outcome.code == 0
    assert "REPLAY-0007:" in (tmp_path / "conformance-baseline.yaml").read_text("utf-8")


def test_what_cannot_be_written_is_told(command, an_engine, tmp_path: Path) -> None:
    command("run", engine=an_engine("failing"))
    (tmp_path / "file").write_text("")
    arguments = ("baseline", "conformance-report/result.json", "-o", "file/b.yaml")
    outcome = command(*arguments, engine=an_engine("failing"))
    assert outcome.code == 2
    assert "file/b.yaml" in outcome.err
