"""The HTML report: self-contained, escaped, complete."""

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from attrs import evolve

from worker_conformance.judge.evidence import (
    EstimateWindow,
    Mark,
    MarkKind,
    Timeline,
    ViewPair,
)
from worker_conformance.judge.verdicts import CheckResult, Failure, RunResult, Verdict
from worker_conformance.report import html
from worker_conformance.report.clause_pages import SITE

VOID = {"meta", "input", "br"}
RUNS = ["passing", "failing", "partial", "silent", "drawn"]


class _Page(HTMLParser):
    """Collects tags and refuses unbalanced ones."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


def page_of(result: RunResult) -> str:
    return html.to_bytes(result, timing=False).decode()


@pytest.mark.parametrize("name", RUNS)
def test_the_page_is_well_formed_and_holds_every_check(
    name: str, request: pytest.FixtureRequest
) -> None:
    result: RunResult = request.getfixturevalue(name)
    page = _Page(page_of(result))
    shown = [attrs["id"] for tag, attrs in page.tags if attrs.get("class") == "check"]
    assert sorted(map(str, shown)) == sorted(check.check_id for check in result.checks)


@pytest.mark.parametrize("name", RUNS)
def test_the_page_loads_nothing(name: str, request: pytest.FixtureRequest) -> None:
    text = page_of(request.getfixturevalue(name))
    page = _Page(text)
    links = [attrs for _, attrs in page.tags if "src" in attrs or "href" in attrs]
    assert all(str(attrs.get("href")).startswith(("#", SITE)) for attrs in links)
    assert not any("src" in attrs for attrs in links)
    assert not any("style" in attrs or "onclick" in attrs for _, attrs in page.tags)
    assert "default-src 'none'" in text


@pytest.mark.parametrize("name", RUNS)
def test_every_reference_inside_the_page_has_its_target_and_every_id_is_one(
    name: str, request: pytest.FixtureRequest
) -> None:
    page = _Page(page_of(request.getfixturevalue(name)))
    ids = [str(attrs["id"]) for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    wanted = [str(attrs.get("href")) for _, attrs in page.tags]
    wanted = [address[1:] for address in wanted if address.startswith("#")]
    labels = [str(attrs["aria-labelledby"]) for _, attrs in page.tags if "aria-labelledby" in attrs]
    assert {*wanted, *" ".join(labels).split()} <= set(ids)


def test_what_a_worker_says_stays_text(
    passing: RunResult, a_check: Callable[..., CheckResult]
) -> None:
    attack = "</pre><script>alert(1)</script>\x1b[0m\" onload='x'"
    failure = Failure(attack, attack, (attack,), stderr=attack)
    mark = Mark(0, MarkKind.COMMAND, "Worker", attack, attack, attack)
    failure = evolve(
        failure,
        timeline=Timeline((attack,), (attack,), (mark,), ends_at=0),
        views=(ViewPair(attack, (0.0, 0.0), attack, f"{attack}!"),),
        vector=attack,
        step=attack,
    )
    window = EstimateWindow(attack, 0, 1, 2, 0.5, 1, attack)
    bad = evolve(
        a_check("replay", 1, Verdict.FAIL),
        failure=failure,
        title=attack,
        reason=attack,
        estimates=(window,),
    )
    worker = evolve(passing.worker, name=attack, version=attack, adapter=attack)
    text = page_of(evolve(passing, checks=(bad,), worker=worker))
    assert len(re.findall("<script", text)) == 1
    assert "\x1b" not in text
    _Page(text)


def test_failures_stand_open_and_first(failing: RunResult) -> None:
    page = _Page(page_of(failing))
    checks = [attrs for _, attrs in page.tags if attrs.get("class") == "check"]
    assert [("open" in attrs) for attrs in checks] == [True, True] + [False] * 11


def test_a_parameter_above_its_ceiling_stands_out(failing: RunResult) -> None:
    assert re.search(r"lagQuanta</code></th><td>50</td><td class=\"over\">8</td>", page_of(failing))


def test_equal_runs_give_equal_pages(passing: RunResult) -> None:
    slower = evolve(passing, checks=tuple(evolve(c, seconds=c.seconds + 9) for c in passing.checks))
    assert page_of(passing) == page_of(slower)


def test_a_failure_leads_to_its_clause_command_vector_and_trace(drawn: RunResult) -> None:
    text = page_of(drawn)
    failed = text[text.index('id="REPLAY-0007"') :]
    for part in (
        f'href="{SITE}/work-scheduling-and-recovery/#mwp-wrk-029"',
        "<span>1</span> <span>REPLAY-0007</span></pre><button",
        "<summary>Vector REPLAY-0007 as YAML</summary>",
        "<summary>Trace: the history in 14 lines</summary>",
        "<span>trace.jsonl</span> <span>REPLAY-0007</span></pre>",
    ):
        assert part in failed


def test_the_line_of_the_vector_that_failed_is_marked(drawn: RunResult) -> None:
    assert "<mark>  - expect: {ack: {A: 3}}   # ◀ here</mark>" in page_of(drawn)


def test_a_timeline_has_words_and_a_table_beside_it(drawn: RunResult) -> None:
    text = page_of(drawn)
    assert '<title id="REPLAY-0007-t">What led to the failure of REPLAY-0007</title>' in text
    assert "The requirement is violated at 00:10:00" in text
    assert '<td class="what">COMMAND work.start a1 (3 times, until 00:01:00)</td>' in text
    assert "… 12 left out …" in text
    assert 'class="ring"' in text


def test_two_views_stand_side_by_side_with_the_bytes_marked(drawn: RunResult) -> None:
    text = page_of(drawn)
    assert "<mark>42</mark>" in text
    assert "<mark>57</mark>" in text
    assert "(nothing is seen here)" in text


def test_estimates_are_drawn_and_listed_for_passing_checks_as_well(drawn: RunResult) -> None:
    text = page_of(drawn)
    passed = text[text.index('id="DISCLOSURE-0003"') :]
    assert '<svg class="windows"' in passed
    assert "<summary>3 estimates as a table</summary>" in passed


def test_each_requirement_names_its_clause_and_its_checks(failing: RunResult) -> None:
    text = page_of(failing)
    row = text[text.index('<th scope="row">WRK-029.c</th>') :]
    row = row[: row.index("</tr>")]
    assert "#mwp-wrk-029" in row
    assert 'href="#REPLAY-0007"' in row


def test_of_many_failures_only_the_first_stand_open(
    passing: RunResult, a_check: Callable[..., CheckResult]
) -> None:
    many = tuple(a_check("replay", number, Verdict.FAIL) for number in range(1, 40))
    page = _Page(page_of(evolve(passing, checks=many)))
    checks = [attrs for _, attrs in page.tags if attrs.get("class") == "check"]
    assert sum("open" in attrs for attrs in checks) == html.OPENED_MAX


def test_an_adapter_error_says_once_why_and_shows_what_the_worker_wrote(
    passing: RunResult, a_check: Callable[..., CheckResult]
) -> None:
    reason = "no answer within 2 s"
    failure = Failure(
        expected="an adapter",
        observed=f"{reason}; flush stdout",
        stderr="Traceback",
        transcript=("00:00:00  suite   start",),
    )
    error = evolve(a_check("replay", 1, Verdict.ADAPTER_ERROR), reason=reason, failure=failure)
    text = page_of(evolve(passing, checks=(error,)))
    assert text.count(reason) == 1
    assert '<details class="more" open><summary>Stderr' in text
    assert "the history in 1 line<" in text


def test_every_check_can_be_cited_and_no_command_is_broken_within_a_word(
    passing: RunResult, a_check: Callable[..., CheckResult]
) -> None:
    check = evolve(a_check("replay", 1), rerun="worker-conformance run --seed 7 REPLAY-0001")
    text = page_of(evolve(passing, checks=(check,)))
    assert f'href="#{check.check_id}">#{check.check_id}<' in text
    assert "<span>run</span> <span>--seed</span> <span>7</span>" in text


def test_a_run_over_chosen_areas_says_so(partial: RunResult) -> None:
    assert "only the areas replay, leases" in page_of(partial)
    one = evolve(partial, selection=evolve(partial.selection, profiles=("replay",)))
    assert "only the area replay" in page_of(one)
