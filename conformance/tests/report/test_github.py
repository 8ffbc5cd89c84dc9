"""Annotations and job summaries for GitHub Actions, and badges."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

from attrs import evolve

from worker_conformance.judge.verdicts import CheckResult, Failure, RunResult, Verdict
from worker_conformance.report import badge, github

MakeCheck = Callable[..., CheckResult]


def test_what_broke_the_run_comes_first(failing: RunResult) -> None:
    lines = list(github.annotation_lines(failing))
    assert lines[0].startswith("::error title=FAIL REPLAY-0007 A gap holds")
    assert "%0Aobserved: ACK {A: 5} at 00:10:00" in lines[0]
    assert [line.split(" ")[0] for line in lines] == [
        *["::error"] * 3,
        "::warning",
        "::notice",
    ]


def test_a_passing_run_has_no_annotation(passing: RunResult) -> None:
    assert list(github.annotation_lines(passing)) == []


def test_no_more_than_github_shows(passing: RunResult, a_check: MakeCheck) -> None:
    many = tuple(a_check("replay", number, Verdict.FAIL) for number in range(10, 40))
    lines = list(github.annotation_lines(evolve(passing, checks=many)))
    assert len(lines) == github.ERRORS_MAX
    assert "21 more in the job summary" in lines[-1]
    ten = list(github.annotation_lines(evolve(passing, checks=many[:10])))
    assert len(ten) == 10
    assert "more in" not in ten[-1]


def test_no_text_of_a_worker_is_a_command_or_markup(passing: RunResult, a_check: MakeCheck) -> None:
    odd = "x\n::error::gotcha\r\n%0A</details><script>`````|@all"
    bad = evolve(a_check("replay", 1, Verdict.FAIL), title=odd, failure=Failure(odd, odd))
    result = evolve(passing, checks=(bad,))
    (line,) = github.annotation_lines(result)
    assert "\n" not in line
    assert "%250A" in line
    told = github.summary(result)
    outside = re.sub(r"^(`{8,})text\n.*?^\1$", "", told, flags=re.M | re.S)
    assert "<script>" not in outside
    assert "@all" not in outside


def test_a_summary_says_claim_areas_and_failures(failing: RunResult) -> None:
    told = github.summary(failing)
    assert "Nothing is claimed for Example Worker" in told
    assert "| replay | not passed | 1 of 3 |" in told
    assert "worker-conformance run --worker" in told


def test_a_badge_is_well_formed_and_says_what_it_shows() -> None:
    message = badge.message_of("core-areas", ["replay"], "0.1.0")
    svg = ET.fromstring(badge.to_svg(message, badge.GREEN, 'W "1" <passes> & more'))  # noqa: S314 - our own
    assert svg.attrib["aria-label"] == 'W "1" <passes> & more'
    assert [each.text for each in svg.iter("{http://www.w3.org/2000/svg}text")] == [
        "Worker conformance",
        "core areas · 0.1.0",
    ]
    assert badge.message_of("narrower-areas", ["replay", "leases"], "1") == "replay, leases · 1"
    assert badge.message_of("narrower-areas", list("abc"), "1") == "3 areas · 1"
    assert badge.message_of("all-areas", [], "1") == "all areas · 1"
