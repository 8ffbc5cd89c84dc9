"""The campaign of automatic mutants: which there are, and how its results are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import asdict

from worker_conformance.errors import UsageError
from worker_conformance.selftest import automatic, automatic_page
from worker_conformance.selftest.automatic import Campaign, Outcome, Place

PLACE = Place("leases", "core/AddNot", 0)


def outcome(name: str, by: str) -> Outcome:
    return Outcome(name, bool(by), by, "fail" if by else "pass", 1, "a", "b", 0.1)


def test_a_change_touches_one_place_of_a_copy() -> None:
    before, after = automatic.mutated(PLACE)
    assert before == (automatic.source_folder() / "leases.py").read_text("utf-8")
    changed = [
        pair
        for pair in zip(before.splitlines(), after.splitlines(), strict=True)
        if len(set(pair)) == 2
    ]
    assert len(changed) == 1
    assert "not" in changed[0][1]


def test_nothing_is_changed_where_types_stand() -> None:
    source = "def pick(one: int | None) -> str | None:\n    return one | 1\n"
    (first, last), *rest = sorted(automatic.annotations_in(source))
    assert source.splitlines()[0][first[1] : last[1]] == "int | None"
    assert len(rest) == 1


def test_a_campaign_goes_on_where_it_ended(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    kept = [outcome("leases:AddNot:0", "LEASE-0001"), outcome("leases:AddNot:1", "")]
    lines = [json.dumps(asdict(one)) for one in kept]
    Campaign(1, results).load()
    with results.open("a", encoding="utf-8") as file:
        file.write("\n".join([*lines, lines[0][:20]]))
    campaign = Campaign(1, results)
    campaign.load()
    assert set(campaign.done) == {"leases:AddNot:0", "leases:AddNot:1"}
    assert campaign.order("leases")[0] == "LEASE-0001"
    campaign.run([PLACE], jobs=1)  # it is judged already: nothing is played
    assert len(campaign.done) == 2


def test_results_of_other_code_are_not_mixed(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    Campaign(1, results).load()
    with pytest.raises(UsageError, match="another seed"):
        Campaign(2, results).load()


def a_campaign(folder: Path, excuses: str) -> Path:
    found = [outcome("leases:AddNot:0", "LEASE-0001"), outcome("leases:AddNot:1", "")]
    lines = [json.dumps({"seed": 1, "code": "0" * 64}), *(json.dumps(asdict(one)) for one in found)]
    (folder / automatic_page.RESULTS).write_text("\n".join(lines), encoding="utf-8")
    (folder / automatic_page.EXCUSES.name).write_text(excuses, encoding="utf-8")
    return folder


def test_a_survivor_is_a_hole_until_a_reason_is_given(tmp_path: Path) -> None:
    holed = automatic_page.read(a_campaign(tmp_path, ""))
    assert "Without one: 1, so 50.0 % of the faults" in automatic_page.render(holed)
    told = automatic_page.read(a_campaign(tmp_path, "leases:AddNot:1: It means the same.\n"))
    assert "Without one: 0, so 100.0 % of the faults" in automatic_page.render(told)


def test_a_reason_for_what_is_noticed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not survive"):
        automatic_page.read(a_campaign(tmp_path, "leases:AddNot:0: It means the same.\n"))


def test_the_published_page_says_what_the_campaign_found() -> None:
    folder = Path(__file__).parents[3]
    page = automatic_page.render(automatic_page.read(folder / automatic_page.FOLDER))
    assert (folder / "docs" / "automatic-mutants.md").read_text("utf-8") == page
