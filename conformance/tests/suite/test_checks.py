"""The catalogue: what stops it is told in the words of `lint`."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker_conformance.errors import VectorError
from worker_conformance.resources import vectors_path
from worker_conformance.scenario.lint import lint
from worker_conformance.scenario.loader import load_all
from worker_conformance.suite.checks import read_scenarios, requirements

ORIGINAL = vectors_path() / "replay" / "REPLAY-0001.yaml"


def written(folder: Path, name: str, old: str = "", new: str = "") -> None:
    text = ORIGINAL.read_text("utf-8")
    assert old in text
    path = folder / "replay" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.replace(old, new, 1) if old else text, "utf-8")


def refusal_of(folder: Path) -> VectorError:
    with pytest.raises(VectorError) as caught:
        read_scenarios(folder, requirements())
    told = [(one.where, one.cause, one.hint) for one in lint(load_all(folder), requirements(), ())]
    assert (caught.value.where, caught.value.cause, caught.value.hint) in told
    return caught.value


def test_an_id_that_is_given_twice_stops_a_run(tmp_path: Path) -> None:
    written(tmp_path, "REPLAY-0001")
    written(tmp_path, "REPLAY-0002")
    refused = refusal_of(tmp_path)
    assert refused.cause == "the ID REPLAY-0001 is given twice"
    assert str(refused.where).endswith("REPLAY-0002.yaml")
    assert "REPLAY-0001.yaml has it already" in refused.hint


@pytest.mark.parametrize(
    ("new", "cause"),
    [
        ("requirement: WRK-029.zz", "there is no requirement WRK-029.zz"),
        ("requirement: MWP-WRK-029", "MWP-WRK-029 is a clause, not a requirement"),
        ("also: WRK-29.b\nrequirement: WRK-029.b", "there is no requirement WRK-29.b"),
    ],
)
def test_a_requirement_that_there_is_not_stops_a_run(tmp_path: Path, new: str, cause: str) -> None:
    cited = next(x for x in ORIGINAL.read_text("utf-8").splitlines() if x.startswith("requirement"))
    written(tmp_path, "REPLAY-0001", cited, new)
    refused = refusal_of(tmp_path)
    assert refused.cause == cause
    assert "WRK-029." in refused.hint
