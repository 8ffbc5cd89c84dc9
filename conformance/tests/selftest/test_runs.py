"""Whole runs under many seeds: what is kept of them, and what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker_conformance.errors import UsageError
from worker_conformance.selftest import runs, seeds_page
from worker_conformance.selftest.runs import Campaign, Run
from worker_conformance.selftest.seeds_page import Recorded

CLEAN = Run(1, 0, 300, 300, {}, 50.0)
ALARMED = Run(2, 1, 300, 299, {"LEASE-0001": "fail"}, 60.0)


def result(**verdicts: str) -> dict[str, object]:
    checks = [{"checkId": name.replace("_", "-"), "verdict": one} for name, one in verdicts.items()]
    counts = {"pass": sum(one == "pass" for one in verdicts.values())}
    outcome = {"executed": len(checks), "counts": counts}
    return {"checks": checks, "outcome": outcome}


@pytest.mark.parametrize("verdict", ["fail", "inconclusive", "advice", "adapter-error"])
def test_whatever_is_not_a_pass_is_an_alarm(verdict: str) -> None:
    run = runs.read(result(LEASE_0001=verdict, LEASE_0002="pass"), 7, 1, 50.0)
    assert (run.executed, run.passed, run.alarms) == (2, 1, {"LEASE-0001": verdict})


def test_a_campaign_goes_on_where_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[int] = []
    monkeypatch.setattr(runs, "play", lambda seed: played.append(seed) or CLEAN)
    for last in (1, 2):
        campaign = Campaign(tmp_path / "runs.jsonl")
        campaign.load()
        campaign.run(range(1, last + 1))
    assert played == [1, 2]


def test_runs_of_other_code_are_not_mixed(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text('{"code": "c", "suite": "s", "vectors": "v"}\n', "utf-8")
    with pytest.raises(UsageError, match="another code and another suite and another vectors"):
        Campaign(file).load()


@pytest.mark.parametrize("arguments", [[], ["f"], ["f", "1"], ["f", "one", "2"]])
def test_wrong_arguments_are_told(arguments: list[str]) -> None:
    with pytest.raises(UsageError, match="no arguments of a campaign"):
        runs.main(arguments)


def test_the_page_counts_clean_runs_and_names_alarms() -> None:
    of = {"code": "c", "suite": "s", "vectors": "v"}
    page = seeds_page.render(Recorded("c", {}, (), runs_of=of, runs=(ALARMED, CLEAN)))
    assert "1 of 2 runs, seeds 1 to 2, came to nothing but passes" in page
    assert "599 of 600 executed checks" in page
    assert "* Seed 2, exit code 1: LEASE-0001 (fail)" in page
