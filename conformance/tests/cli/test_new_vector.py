"""The skeleton of a vector is one already: it loads, and the reference Worker passes it."""

from pathlib import Path

import pytest

from worker_conformance.cli.entry import call
from worker_conformance.port.locate import locate
from worker_conformance.scenario.loader import load
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import scenarios


def test_a_skeleton_has_the_next_id_and_can_be_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["new-vector", "WRK-029.c", "--into", str(tmp_path)]) == 0
    (path,) = tmp_path.rglob("*.yaml")
    assert path.stem in capsys.readouterr().out
    scenario = load(path)
    assert scenario.id == path.stem
    assert scenario.id not in scenarios()
    assert scenario.requirement == "WRK-029.c"
    with Bench(locate("reference_worker:factory")) as bench:
        assert bench.play(scenario, 1).verdict == "pass"


def test_a_skeleton_is_not_good_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(["new-vector", "WRK-029.c", "--into", str(tmp_path)])
    assert call(["lint", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "the title is still to be written" in told
    assert "the stake is still to be written" in told


def test_a_skeleton_never_overwrites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["new-vector", "WRK-029.c", "--into", str(tmp_path)]) == 0
    (path,) = tmp_path.rglob("*.yaml")
    path.write_text("mine", "utf-8")
    assert call(["new-vector", "WRK-029.c", "--into", str(tmp_path)]) == 2
    assert path.read_text("utf-8") == "mine"
    assert "--into" in capsys.readouterr().err


def test_an_unknown_requirement_is_answered_with_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(["new-vector", "WRK-29.c"]) == 2
    assert "did you mean 'WRK-029.c'?" in capsys.readouterr().err


def test_a_clause_is_answered_with_its_requirements(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["new-vector", "MWP-WRK-029"]) == 2
    told = capsys.readouterr().err
    assert "MWP-WRK-029 is a clause, not a requirement" in told
    assert "it holds WRK-029.a, WRK-029.b" in told
