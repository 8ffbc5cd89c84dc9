"""The skeleton of a vector is one already: it loads, and the reference Worker passes it."""

from pathlib import Path

import pytest

from worker_conformance import resources
from worker_conformance.cli.entry import call
from worker_conformance.port.locate import locate
from worker_conformance.resources import vectors_path
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


def test_a_skeleton_never_overwrites(tmp_path: Path) -> None:
    assert call(["new-vector", "WRK-029.c", "--into", str(tmp_path)]) == 0
    (path,) = tmp_path.rglob("*.yaml")
    path.write_text("mine", "utf-8")
    assert call(["new-vector", "WRK-029.c", "--into", str(tmp_path)]) == 0
    assert path.read_text("utf-8") == "mine"
    assert len(list(tmp_path.rglob("*.yaml"))) == 2


def test_a_skeleton_that_cannot_be_written_is_no_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert call(["new-vector", "WRK-029.c", "--into", str(tmp_path / "file" / "x")]) == 2
    assert "choose another place with --into" in capsys.readouterr().err


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite as from a wheel: its vectors lie inside its package."""
    monkeypatch.setattr(resources, "_PACKAGE", vectors_path().parent)


@pytest.mark.usefixtures("installed")
def test_an_installed_suite_writes_into_the_checkout_that_it_is_called_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "requirements.yaml").write_text("")
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path / "docs")
    assert call(["new-vector", "WRK-029.c"]) == 0
    (path,) = (tmp_path / "vectors" / "replay").iterdir()
    assert path.name.startswith("REPLAY-")


@pytest.mark.usefixtures("installed")
def test_an_installed_suite_writes_nothing_where_there_is_no_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(["new-vector", "WRK-029.c"]) == 2
    assert "call it inside a checkout" in capsys.readouterr().err


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
