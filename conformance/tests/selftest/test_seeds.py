"""The same Workers over many seeds: what is played, how it is kept, and the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import asdict

from worker_conformance.errors import UsageError
from worker_conformance.port.digest import adapter_digest
from worker_conformance.selftest import seeds
from worker_conformance.selftest.matrix import Kind, subjects
from worker_conformance.selftest.seeds import Campaign, Trial
from worker_conformance.suite.checks import vector_digest
from worker_conformance.suite.results import DEFAULT_WORKER

PAGE = Path(__file__).parents[3] / "docs" / "many-seeds.md"
HEADER = {"code": "sha256:c", "vectors": "sha256:v"}


def test_a_mutant_is_noticed_by_a_check_of_its_own_and_a_variant_by_none() -> None:
    known = {one.name: one for one in seeds.wanted()}
    trial = seeds.play(known["no-dedupe"], 5)
    assert (trial.kind, trial.seed, len(trial.failed)) == ("mutant", 5, 1)
    assert not seeds.play(known["takes-its-time"], 5).failed


def test_every_mutant_is_played_but_those_that_a_thorough_run_alone_notices() -> None:
    played = {one.name for one in seeds.wanted()}
    lawful = {one.name for one in subjects().values() if one.kind is Kind.VARIANT}
    mutants = {one.name for one in subjects().values() if one.kind is Kind.MUTANT}
    assert lawful <= played <= lawful | mutants
    assert len(mutants - played) <= 0.02 * len(mutants)


def test_a_campaign_goes_on_where_it_ended(tmp_path: Path, monkeypatch) -> None:
    kept = Trial("no-dedupe", "mutant", 1, ("REPLAY-0003",))
    file = tmp_path / "trials.jsonl"
    Campaign(file).load()
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(asdict(kept)) + "\n" + '{"worker": "half')
    campaign = Campaign(file)
    campaign.load()
    assert campaign.done == {("no-dedupe", 1): kept}
    monkeypatch.setattr(seeds, "wanted", lambda: [subjects()["no-dedupe"]])
    campaign.run([1], jobs=1)
    assert file.read_text("utf-8").endswith("half\n")  # nothing was played


def test_results_of_other_vectors_are_not_mixed(tmp_path: Path) -> None:
    file = tmp_path / "trials.jsonl"
    file.write_text(json.dumps(HEADER) + "\n", "utf-8")
    with pytest.raises(UsageError, match="another code and another vectors"):
        Campaign(file).load()


@pytest.mark.parametrize("arguments", [[], ["f", "1"], ["f", "one", "2", "2"]])
def test_wrong_arguments_are_told(arguments: list[str]) -> None:
    with pytest.raises(UsageError, match="no arguments of a campaign"):
        seeds.main(arguments)


def test_the_page_is_of_this_code_and_these_vectors() -> None:
    page = PAGE.read_text("utf-8")
    if adapter_digest(DEFAULT_WORKER) not in page or vector_digest() not in page:
        pytest.skip(f"{PAGE.name} is out of date: play its campaign again")


def test_the_page_names_who_lived_and_who_failed() -> None:
    trials = [
        Trial("no-dedupe", "mutant", 1, ("REPLAY-0003",)),
        Trial("no-dedupe", "mutant", 2, ()),
        Trial("takes-its-time", "variant", 1, ()),
        Trial("takes-its-time", "variant", 2, ("MON-0009",)),
    ]
    page = seeds.render(HEADER, trials)
    assert "1 mutants over 2 seeds (1 to 2): noticed 1 of 2 times (50.00 %)" in page
    assert "| no-dedupe | 2 | 2 seeds |" in page
    assert "| takes-its-time | 2 | MON-0009 |" in page
