"""`worker-conformance bench`: what a person may type, and what is left behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from worker_conformance.cli.bench import read_backlogs
from worker_conformance.suite.measuring import rounds
from worker_conformance.suite.measuring.rounds import Plan, Round
from worker_conformance.suite.measuring.scene import Scene
from worker_conformance.suite.measuring.stopwatch import Lap


def test_backlogs_are_numbers_from_small_to_large() -> None:
    assert read_backlogs("1000, 10,100") == (10, 100, 1_000)
    assert read_backlogs(None) == ()


def test_figures_are_printed_and_written(command, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Plan] = []

    def played(_: object, plan: Plan, heard: object) -> list[Round]:
        assert callable(heard)
        asked.append(plan)
        lap = Lap(seconds=0.5, calls=10, events=4)
        scenes = {n: Scene(n, n, 2, lap, 1.0, 50, lap, lap, None, 1.0) for n in plan.backlogs}
        return [Round(scenes)]

    monkeypatch.setattr(rounds, "play_rounds", played)
    told = command("bench", "--backlog", "7,70", "--rounds", "1", "--report", "out", "--seed", "4")
    assert told.code == 0
    assert asked == [Plan((7, 70), 1, seed=4)]
    assert "Cost of a decision" in told.out
    assert "250" in told.out
    assert "Real time" in told.out
    assert json.loads(Path("out/bench.json").read_text())["seed"] == 4
    assert Path("out/bench.html").read_text().startswith("<!doctype html>")


def test_a_place_that_cannot_be_written_is_said_before_anything_is_measured(
    command, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    told = command("bench", "--report", "file/x")
    assert told.code == 2
    assert "cannot be written" in told.err


def test_an_interrupted_measurement_leaves_the_figures_of_an_earlier_one(
    command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(*_: object) -> list[Round]:
        raise KeyboardInterrupt

    monkeypatch.setattr(rounds, "play_rounds", interrupted)
    (tmp_path / "bench.json").write_text("older")
    assert command("bench", "--report", str(tmp_path)).code == 130
    assert (tmp_path / "bench.json").read_text() == "older"
    assert not (tmp_path / "bench.html").exists()
