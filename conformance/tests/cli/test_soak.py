"""`worker-conformance soak`: what a person may type, and what is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from worker_conformance.cli.soak import read_budget
from worker_conformance.cli.soak_progress import LiveProgress, PlainProgress
from worker_conformance.errors import UsageError
from worker_conformance.judge.verdicts import Failure, Verdict
from worker_conformance.suite.soak import cluster
from worker_conformance.suite.soak.campaign import Campaign
from worker_conformance.suite.soak.cluster import Limits
from worker_conformance.suite.soak.outcome import Flaw, Outcome
from worker_conformance.suite.soak.store import Store
from worker_conformance.suite.soak.tally import Tally

REFERENCE = "reference_worker:factory"


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("15m", 900), ("1h30m", 5_400), ("7", 7), ("1h1s", 3_601)]
)
def test_a_budget_is_a_length_of_time(text: str, seconds: float) -> None:
    assert read_budget(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-1", "1d", "soon", "1.5h", "²", "9" * 30])
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no length of time"):
        read_budget(text)


def test_without_dask_the_extra_is_named(command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda _: None)
    told = command("soak", "--budget", "1s")
    assert told.code == 2
    assert "[cluster]'" in told.err
    assert not Path("conformance-soak").exists()


def test_one_world_is_played_again_without_dask(command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda _: None)
    told = command("soak", "--seed", "5", "--world", "1")
    assert told.code == 0
    assert "PROP-0002" in told.out
    assert "world 1 of campaign 5" in told.out
    again = command("soak", "--seed", "5", "--world", "1")
    assert again.out == told.out


def test_the_seed_of_a_store_is_taken_for_its_worlds(command, tmp_path: Path) -> None:
    told = command("soak", "--world", "1")
    assert told.code == 2
    assert "which campaign?" in told.err
    Store(tmp_path / "kept", Campaign(REFERENCE, "x", "1", 5, ("PROP-0001",))).close()
    told = command("soak", "--world", "1", "--store", "kept")
    assert "seed 5" in told.out


def test_a_store_that_cannot_be_written_is_said_before_anything_is_played(
    command, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    told = command("soak", "--store", "file/x", "--budget", "1s")
    assert told.code == 2
    assert "cannot be written" in told.err


def test_the_store_of_another_campaign_is_told_in_words(command, tmp_path: Path) -> None:
    Store(tmp_path / "kept", Campaign(REFERENCE, "x", "1", 5, ("PROP-0001",))).close()
    told = command("soak", "--store", "kept", "--seed", "6")
    assert told.code == 2
    assert "seed 5, not 6" in told.err


def test_a_server_is_not_played_with_from_many_nodes(command) -> None:
    told = command("soak", "-w", "tcp:127.0.0.1:1", "--cluster", "tcp://127.0.0.1:2")
    assert told.code == 2
    assert "leave out --cluster" in told.err


def a_world(number: int, flaw: Flaw | None = None) -> Outcome:
    verdict = Verdict.PASS if flaw is None else Verdict.FAIL
    return Outcome(number, "PROP-0001", verdict, 1, "", flaw, {"state:running": 1})


@pytest.mark.parametrize("kind", [PlainProgress, LiveProgress])
def test_progress_tells_worlds_failures_and_time_left(kind: type[PlainProgress]) -> None:
    console = Console(record=True, width=120, force_terminal=False, quiet=False)
    tally, time = Tally(), iter(range(1_000))
    flaw = Flaw("one", Failure("this", "that"), 1, 1, "x")
    with kind(
        console, tally, Limits(seconds=3_600.0, worlds=4), lambda: float(next(time))
    ) as shown:
        for number in range(4):
            one = a_world(number, flaw if number in (1, 2) else None)
            tally.add(one)
            shown.heard(one)
        told = shown.told()
    assert "4 worlds" in told
    assert "1 state, 0 transitions" in told
    assert "failed: PROP-0001 2" in told
    text = console.export_text()
    assert text.count("FAIL") == 1
    assert "expected this" in text
