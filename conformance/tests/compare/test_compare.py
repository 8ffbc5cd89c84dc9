"""Results side by side: what is told, in four forms, and never mixed in silence."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import jsonschema_rs
from attrs import evolve

from worker_conformance.compare import matrix, telling
from worker_conformance.compare.comparing import Comparison, compared
from worker_conformance.judge.verdicts import Failure, Measurement, RunResult, Verdict
from worker_conformance.report import json_report
from worker_conformance.resources import schemas_path

RESULTS = Path(__file__).parents[1] / "report" / "data"
FAILURE = Failure("one thing", "another")


def stored(name: str = "passing") -> RunResult:
    return json_report.read(RESULTS / f"result-2-{name}.json")


def changed(result: RunResult, check_id: str, **members: object) -> RunResult:
    checks = [
        evolve(check, **members) if check.check_id == check_id else check  # type: ignore[arg-type]  # a test names the members
        for check in result.checks
    ]
    return evolve(result, checks=tuple(checks))


def broken(result: RunResult) -> RunResult:
    return changed(result, "REPLAY-0007", verdict=Verdict.FAIL, failure=FAILURE)


def pair(first: RunResult, other: RunResult) -> Comparison:
    return compared([("a.json", first), ("b.json", other)])


def text(comparison: Comparison) -> str:
    return "\n".join(telling.to_lines(comparison))


def test_the_same_result_twice_differs_in_nothing() -> None:
    comparison = pair(stored(), stored())
    assert "no verdict and no figure differs" in text(comparison)
    assert not comparison.has_new_failures
    assert [one.label for one in comparison.columns] == [
        "Example Worker 1.4.0 (a.json)",
        "Example Worker 1.4.0 (b.json)",
    ]


def test_a_new_failure_and_a_fixed_one_are_told() -> None:
    worse = pair(stored(), broken(stored()))
    assert worse.has_new_failures
    assert "NEW FAILURE  REPLAY-0007  pass -> fail" in text(worse)
    better = pair(broken(stored()), stored())
    assert not better.has_new_failures
    assert "FIXED        REPLAY-0007  fail -> pass" in text(better)


def test_what_fails_before_and_after_is_told_too() -> None:
    both = pair(broken(stored()), broken(stored()))
    assert not both.has_new_failures
    assert "NOT FIXED    REPLAY-0007" in text(both)
    assert "no verdict and no figure differs" in text(both)
    assert "### Not fixed\n\n`REPLAY-0007`" in telling.to_markdown(both)
    assert "NOT FIXED" not in text(pair(broken(stored()), stored()))


def test_a_failure_that_is_known_now_is_neither_new_nor_fixed() -> None:
    known = changed(
        stored(), "REPLAY-0007", verdict=Verdict.EXPECTED_FAIL, failure=FAILURE, reason="r"
    )
    assert "CHANGED      REPLAY-0007  fail -> expected fail" in text(pair(broken(stored()), known))
    assert not pair(stored(), known).has_new_failures


def test_figures_are_told_against_their_bounds() -> None:
    figures = (Measurement("lag A over B", 4.0, 6.0, "service units"),)
    told = text(pair(stored(), changed(stored(), "SCHEDULING-0002", measurements=figures)))
    assert "SCHEDULING-0002  lag A over B: 3.333 of 8 -> 4 of 6 service units" in told
    assert "smallest error this run detects: 0.25 -> — share" in told


def test_checks_of_one_result_only_are_told() -> None:
    cut = evolve(stored(), checks=stored().checks[1:])
    missing = stored().checks[0].check_id
    assert f"ONLY BEFORE  {missing}" in text(pair(stored(), cut))
    assert f"ONLY AFTER   {missing}" in text(pair(cut, stored()))


def test_another_suite_or_selection_is_said_in_every_form() -> None:
    other = evolve(
        stored("partial"),
        suite=evolve(stored().suite, version="0.2.0"),
        requirement_digest="sha256:" + "1" * 64,
    )
    comparison = pair(stored(), other)
    for told in (
        text(comparison),
        telling.to_markdown(comparison),
        matrix.to_html(comparison),
        telling.to_json(comparison),
    ):
        assert "0.2.0" in told
        assert "sha256:" + "1" * 64 in told
    assert "NOT JUDGED ALIKE  judged replay, leases, the first has everything" in text(comparison)
    assert json.loads(telling.to_json(comparison))["alike"] is False


def test_the_json_fits_its_schema() -> None:
    schema = json.loads((schemas_path() / "comparison.schema.json").read_bytes())
    for comparison in (pair(stored(), stored("failing")), pair(stored("partial"), stored())):
        jsonschema_rs.validate(schema, json.loads(telling.to_json(comparison)))


class _Page(HTMLParser):
    """Tags that were opened and closed, ids, and headings of table cells."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def hostile(result: RunResult) -> RunResult:
    name = "<script>alert(1)</script>\"'\x1b[31m\u202e"
    return evolve(result, worker=evolve(result.worker, name=name))


def test_the_matrix_is_one_page_that_loads_nothing_and_runs_nothing() -> None:
    comparison = compared(
        [("a", stored()), ("b", broken(stored())), ("c", hostile(stored("failing")))]
    )
    spelled = matrix.to_html(comparison)
    page = _Page()
    page.feed(spelled)
    assert page.open == []
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "img", "iframe", "object"}
    assert not any({"src", "onload", "onclick", "style"} & set(attrs) for _, attrs in page.tags)
    assert "\x1b" not in spelled
    assert "\u202e" not in spelled
    assert "default-src 'none'" in spelled


def test_the_matrix_can_be_read_without_seeing_it() -> None:
    page = _Page()
    page.feed(matrix.to_html(pair(stored(), broken(stored()))))
    headings = [attrs for tag, attrs in page.tags if tag == "th"]
    assert headings
    assert all(attrs.get("scope") in ("row", "col") for attrs in headings)
    assert ("html", {"lang": "en"}) in page.tags
    tables = sum(tag == "table" for tag, _ in page.tags)
    assert tables == sum(tag == "caption" for tag, _ in page.tags)
    regions = [attrs for _, attrs in page.tags if attrs.get("role") == "region"]
    assert all("aria-label" in one or "aria-labelledby" in one for one in regions)


def test_the_markdown_escapes_what_a_worker_says() -> None:
    told = telling.to_markdown(pair(stored(), hostile(broken(stored()))))
    assert "<script>" not in told
    assert "### New failures" in told
