"""The HTML report: self-contained, escaped, complete."""

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from attrs import evolve

from worker_conformance.judge.verdicts import CheckResult, Failure, RunResult, Verdict
from worker_conformance.report import html
from worker_conformance.report.clause_pages import SITE

VOID = {"meta", "input", "br"}


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


@pytest.mark.parametrize("name", ["passing", "failing", "partial", "silent"])
def test_the_page_is_well_formed_and_holds_every_check(
    name: str, request: pytest.FixtureRequest
) -> None:
    result: RunResult = request.getfixturevalue(name)
    page = _Page(page_of(result))
    shown = [attrs["id"] for tag, attrs in page.tags if attrs.get("class") == "check"]
    assert sorted(map(str, shown)) == sorted(check.check_id for check in result.checks)


def test_the_page_loads_nothing(failing: RunResult) -> None:
    page = _Page(page_of(failing))
    links = [attrs for _, attrs in page.tags if "src" in attrs or "href" in attrs]
    assert all(str(attrs.get("href")).startswith(("#", SITE)) for attrs in links)
    assert not any("src" in attrs for attrs in links)
    assert not any("style" in attrs or "onclick" in attrs for _, attrs in page.tags)
    assert "default-src 'none'" in page_of(failing)


def test_what_a_worker_says_stays_text(
    passing: RunResult, a_check: Callable[..., CheckResult]
) -> None:
    attack = "</pre><script>alert(1)</script>\x1b[0m\" onload='x'"
    failure = Failure(attack, attack, (attack,), stderr=attack)
    bad = evolve(a_check("replay", 1, Verdict.FAIL), failure=failure, title=attack, reason=attack)
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
