"""Findings on the specification can be cited: permanent IDs, working links, real requirements."""

import re
from pathlib import Path

import pytest
from attrs import frozen

from worker_conformance.resources import vectors_path
from worker_conformance.scenario.requirements import load_requirements

PAGE = Path(__file__).parents[3] / "docs" / "spec-findings.md"
TEXT = PAGE.read_text(encoding="utf-8")
HEADING = re.compile(r'^<a id="(sf-\d{3})"></a>\n### (SF-\d{3}): (.+)$', re.MULTILINE)
REQUIREMENT = re.compile(r"`([A-Z]+[0-9]*-[0-9A-Z]+\.[a-z]+)`")
PARTS = ("**Place.**", "*Kind:*", "**Finding.**", "**Suite.**", "**A later version**")
KINDS = {"silent", "contradiction", "gap", "editorial"}


@frozen
class Finding:
    """One finding: its anchor, ID, title and text."""

    anchor: str
    number: str
    title: str
    text: str

    def __str__(self) -> str:
        return self.number


def findings() -> tuple[Finding, ...]:
    found = list(HEADING.finditer(TEXT))
    ends = [one.start() for one in found[1:]] + [len(TEXT)]
    return tuple(
        Finding(one[1], one[2], one[3], TEXT[one.end() : end])
        for one, end in zip(found, ends, strict=True)
    )


FINDINGS = findings()


def test_ids_run_from_one_without_a_gap_and_anchors_repeat_them() -> None:
    assert [one.number for one in FINDINGS] == [f"SF-{n:03}" for n in range(1, len(FINDINGS) + 1)]
    assert [one.anchor for one in FINDINGS] == [one.number.lower() for one in FINDINGS]
    assert TEXT.count("\n### ") == len(FINDINGS)


def test_titles_are_told_apart() -> None:
    assert len({one.title for one in FINDINGS}) == len(FINDINGS)


def test_the_ranges_at_the_top_cover_every_finding_once() -> None:
    rows = re.findall(r"^\| \[SF-(\d{3})\]\S* . \[SF-(\d{3})\]", TEXT, re.MULTILINE)
    covered = [n for first, last in rows for n in range(int(first), int(last) + 1)]
    assert covered == list(range(1, len(FINDINGS) + 1))


@pytest.mark.parametrize("finding", FINDINGS, ids=str)
def test_every_finding_has_its_parts_in_order(finding: Finding) -> None:
    places = [finding.text.find(part) for part in PARTS]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.parametrize("finding", FINDINGS, ids=str)
def test_every_finding_names_a_kind_and_a_place(finding: Finding) -> None:
    kind = re.search(r"\*Kind:\*\s+(\w+)\.", finding.text)
    assert kind is not None
    assert kind[1] in KINDS
    place = finding.text.partition("**Finding.**")[0]
    assert re.search(r"\d+(\.\d+)?", place)
    assert re.search(r"MWP-[A-Z]{3}-\d{3}|\brow\b|without clause ID", place)


def test_requirements_that_findings_cite_exist() -> None:
    known = load_requirements(vectors_path() / "requirements.yaml")
    cited = set(REQUIREMENT.findall(TEXT))
    assert "WRK-010.a" in cited
    assert cited <= set(known)
