"""Every HTML page: a browser applies a style or script only where the page's policy names it."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

import worker_conformance
from worker_conformance.compare import matrix
from worker_conformance.compare.comparing import compared
from worker_conformance.judge.verdicts import RunResult, Verdict, WorkerIdentity
from worker_conformance.report import figures, html, json_report
from worker_conformance.selftest import files
from worker_conformance.selftest.matrix import Kind, Matrix, Row
from worker_conformance.suite.measuring.figures import Figure, Measured, Point

PACKAGE = Path(worker_conformance.__file__).parent
TEMPLATES = PACKAGE / "report" / "templates"


def stored() -> RunResult:
    return json_report.read(Path(__file__).parent / "data" / "result-2-passing.json")


def report() -> str:
    return html.to_bytes(stored(), timing=False).decode()


def bench() -> str:
    points = (Point(10, 1.0, 0.5, 2.0), Point(100, 3.0, 3.0, 3.0))
    figure = Figure("decision", "Cost of a decision", "ms", "WorkItems waiting", "About.", points)
    worker = WorkerIdentity("A Worker", "1.0", "Python", None, "a:b", "object")
    return figures.to_html(Measured(worker, 1, 3, (figure,), ())).decode()


def comparison() -> str:
    return matrix.to_html(compared([("a.json", stored()), ("b.json", stored())]))


def kill_matrix() -> str:
    row = Row("no-dedupe", Kind.MUTANT, {"REPLAY-0003": Verdict.FAIL})
    played = Matrix(1, ("REPLAY-0003",), (row,))
    return files.to_html(played, files.amiss(played)).decode()


PAGES: dict[Path, Callable[[], str]] = {
    TEMPLATES / "report.html.j2": report,
    TEMPLATES / "figures.html.j2": bench,
    TEMPLATES / "matrix.html.j2": comparison,
    PACKAGE / "selftest" / "matrix.html.j2": kill_matrix,
}
"""How to make a page of each template that is one."""


def test_every_page_is_looked_at() -> None:
    found = [path for path in PACKAGE.rglob("*.j2") if "<!doctype" in path.read_text("utf-8")]
    assert sorted(found) == sorted(PAGES)


@pytest.mark.parametrize("make", PAGES.values(), ids=lambda make: make.__name__)
def test_the_policy_names_the_styles_and_scripts_that_are_in_the_page(
    make: Callable[[], str],
) -> None:
    page = make()
    for tag in ("style", "script"):
        named = re.findall(rf"{tag}-src '(sha256-[^']+)'", page)
        assert named == [_hash(one) for one in re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)]
    assert "style=" not in page  # the policy lets in no style of a single element


def _hash(content: str) -> str:
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode()}"
