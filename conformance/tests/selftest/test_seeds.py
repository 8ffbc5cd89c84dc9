"""The same Workers over many seeds: what is played, how it is kept, and the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from worker_conformance.errors import UsageError
from worker_conformance.port.digest import adapter_digest
from worker_conformance.selftest import power, seeds, seeds_page
from worker_conformance.selftest.matrix import Kind, subjects
from worker_conformance.selftest.seeds import Campaign, Sort, Task, Trial
from worker_conformance.selftest.seeds_page import Recorded
from worker_conformance.suite.checks import THOROUGH, info_of
from worker_conformance.suite.results import DEFAULT_WORKER

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "many-seeds.md"


def test_a_mutant_is_noticed_by_a_check_of_its_own_and_a_variant_by_none() -> None:
    known = seeds.tasks()
    mutant, variant = known["no-dedupe"], known["takes-its-time"]
    trial = seeds.play(mutant, mutant.checks, 5)
    assert (trial.sort, trial.seed, len(trial.failed)) == (Sort.MUTANT, 5, 1)
    assert not seeds.play(variant, variant.checks[:20], 5).failed


@pytest.mark.parametrize(
    "name", ["TWIN-0002 classes-sorted-backwards", "PROP-0006 quota-counts-only-what-runs"]
)
def test_a_check_that_draws_is_put_to_a_worker_of_its_own(name: str) -> None:
    task = seeds.tasks()[name]
    assert seeds.play(task, task.checks, 5).failed == (name.split()[0],)


def test_every_mutant_is_played_but_those_that_a_thorough_run_alone_notices() -> None:
    played = {one.worker for one in seeds.tasks().values() if one.sort is not Sort.POWER}
    lawful = {one.name for one in subjects().values() if one.kind is Kind.VARIANT}
    mutants = {one.name for one in subjects().values() if one.kind is Kind.MUTANT}
    assert lawful <= played <= lawful | mutants
    assert len(mutants - played) <= 0.02 * len(mutants)


def test_a_pair_is_of_an_ordinary_run() -> None:
    assert len(power.pairs()) >= 40
    assert not any(THOROUGH in info_of(one.check).needs for one in power.pairs().values())


# --- how it is kept -------------------------------------------------------------------

MUTANT = Task("no-dedupe", Sort.MUTANT, ("REPLAY-0003", "REPLAY-0004"))
VARIANT = Task("takes-its-time", Sort.VARIANT, ("REPLAY-0003", "REPLAY-0004"))


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the checks are, for a campaign of two Workers of which nothing is really played."""
    states = {"REPLAY-0003": "3", "REPLAY-0004": "4"}
    monkeypatch.setattr(seeds, "present", lambda: dict(states))
    monkeypatch.setattr(seeds, "tasks", lambda: {one.worker: one for one in (MUTANT, VARIANT)})
    return states


def begun(file: Path, *trials: tuple[Task, tuple[str, ...]]) -> Campaign:
    campaign = Campaign(file)
    campaign.load()
    for task, failed in trials:
        campaign.keep(Trial(task.worker, task.sort, 1, failed, seeds.present()))
    return reopened(file)


def reopened(file: Path) -> Campaign:
    campaign = Campaign(file)
    campaign.load()
    return campaign


@pytest.mark.usefixtures("checks")
def test_a_campaign_goes_on_where_it_ended(tmp_path: Path) -> None:
    file = tmp_path / "trials.jsonl"
    begun(file, (MUTANT, ("REPLAY-0003",)))
    with file.open("a", encoding="utf-8") as stream:
        stream.write('{"worker": "half')
    campaign = reopened(file)
    assert campaign.done["no-dedupe", 1].failed == ("REPLAY-0003",)
    assert not campaign.waiting(MUTANT, 1)
    assert campaign.waiting(MUTANT, 2) == MUTANT.checks
    assert len(campaign.holding()) == 1


def test_what_has_changed_is_played_again(tmp_path: Path, checks: dict[str, str]) -> None:
    campaign = begun(tmp_path / "trials.jsonl", (MUTANT, ("REPLAY-0003",)), (VARIANT, ()))
    checks["REPLAY-0004"] = "other"
    assert campaign.waiting(MUTANT, 1) == MUTANT.checks
    assert campaign.waiting(VARIANT, 1) == ("REPLAY-0004",)
    assert not campaign.holding()


def test_a_variant_that_has_failed_meets_everything_again(
    tmp_path: Path, checks: dict[str, str]
) -> None:
    campaign = begun(tmp_path / "trials.jsonl", (VARIANT, ("MON-0009",)))
    checks["REPLAY-0004"] = "other"
    assert campaign.waiting(VARIANT, 1) == VARIANT.checks


def test_a_campaign_that_is_through_is_a_line_for_each_worker(
    tmp_path: Path, checks: dict[str, str]
) -> None:
    file = tmp_path / "trials.jsonl"
    campaign = begun(file, (MUTANT, ("REPLAY-0003",)), (VARIANT, ()))
    checks["ANOTHER"] = "new"  # concerns neither of them
    campaign.run([1], jobs=1)
    head, states, *trials = map(json.loads, file.read_text("utf-8").splitlines())
    assert head["code"] == adapter_digest(DEFAULT_WORKER)
    assert states == {"checks": checks}
    assert [(one["worker"], one["seeds"], one["failed"]) for one in trials] == [
        ("no-dedupe", [1], ["REPLAY-0003"]),
        ("takes-its-time", [1], []),
    ]
    assert len(reopened(file).holding()) == 2


def test_workers_that_are_gone_are_left_out_and_the_latest_come_last(
    tmp_path: Path, checks: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "trials.jsonl"
    begun(file, (MUTANT, ("REPLAY-0003",)))
    gone = Trial("gone", Sort.MUTANT, 1, ("REPLAY-0003",), seeds.present())
    late = Trial(VARIANT.worker, Sort.VARIANT, 2, ("MON-0009",), seeds.present())
    campaign = reopened(file)
    campaign.keep(gone)
    campaign.keep(late)  # of a seed that is not played now: it stays, as what it was
    checks["REPLAY-0004"] = "0"
    monkeypatch.setattr(seeds, "tasks", lambda: {VARIANT.worker: VARIANT})
    reopened(file).run([], jobs=1)
    assert set(reopened(file).done) == {(VARIANT.worker, 2)}
    campaign = reopened(file)
    campaign.keep(Trial(VARIANT.worker, Sort.VARIANT, 1, (), seeds.present()))
    campaign.run([], jobs=1)
    *_, last = seeds.trials_in(map(json.loads, file.read_text("utf-8").splitlines()[1:]))
    assert (last.seed, last.states) == (1, seeds.present())


def test_results_of_other_code_are_not_mixed(tmp_path: Path) -> None:
    file = tmp_path / "trials.jsonl"
    file.write_text('{"code": "sha256:c"}\n', "utf-8")
    with pytest.raises(UsageError, match="another code"):
        Campaign(file).load()


@pytest.mark.parametrize("arguments", [[], ["f"], ["f", "1"], ["f", "one", "2", "2"]])
def test_wrong_arguments_are_told(arguments: list[str]) -> None:
    with pytest.raises(UsageError, match="no arguments of a campaign"):
        seeds.main(arguments)


# --- the page -------------------------------------------------------------------------


def test_the_page_is_what_the_trials_say() -> None:
    recorded = seeds_page.read(ROOT / seeds_page.FOLDER)
    assert PAGE.read_text("utf-8") == seeds_page.render(recorded)


def test_the_page_is_of_this_code_and_these_checks() -> None:
    recorded = seeds_page.read(ROOT / seeds_page.FOLDER)
    if (recorded.code, recorded.states) != (adapter_digest(DEFAULT_WORKER), seeds.present()):
        pytest.skip(f"{PAGE.name} is out of date: play its campaign again")


def test_the_page_names_who_lived_and_who_failed() -> None:
    trials = (
        Trial("no-dedupe", Sort.MUTANT, 1, ("REPLAY-0003",)),
        Trial("no-dedupe", Sort.MUTANT, 2, ()),
        Trial("takes-its-time", Sort.VARIANT, 1, ()),
        Trial("takes-its-time", Sort.VARIANT, 2, ("MON-0009",)),
        Trial("PROP-0001 forgetful", Sort.POWER, 1, ("PROP-0001",)),
        Trial("PROP-0001 forgetful", Sort.POWER, 2, ()),
    )
    page = seeds_page.render(Recorded("sha256:c", {}, trials, older=3))
    assert "1 mutants over 2 seeds (1 to 2): noticed 1 of 2 times (50.00 %)" in page
    assert "| no-dedupe | 2 | 2 seeds |" in page
    assert "| takes-its-time | 2 | MON-0009 |" in page
    assert "| PROP-0001 | forgetful | 1 of 2 | 2 |" in page
    assert "not counted: 3" in page
