"""The page of requirements says what is so, and a new clause cannot go unnoticed."""

import json
from collections import Counter
from pathlib import Path

from worker_conformance.report.clause_pages import clause_link
from worker_conformance.scenario.requirements import Catalogue
from worker_conformance.selftest.traceability import (
    COMMAND,
    Trace,
    clause_digest,
    data,
    page,
    published,
)

PAGE = Path(__file__).parents[3] / "docs" / "requirements.md"
CLAUSES = 157
CLAUSE_LIST = "sha256:e982e09ec987eb0da8c4327cb97a1dafafee31af0f53ce165b1280d66e0b8c2e"


def test_the_published_page_is_up_to_date() -> None:
    is_so = PAGE.read_text("utf-8") == page(published())
    assert is_so, f"print it anew: {COMMAND} > docs/requirements.md"


def test_every_clause_of_the_protocol_has_a_row() -> None:
    rows = Counter(line[2:15] for line in page(published()).splitlines() if "[MWP-" in line[:8])
    clauses = {name.strip("[]") for name in rows if name.startswith("[MWP-")}
    assert len(clauses) == CLAUSES
    assert clause_digest(published()) == CLAUSE_LIST, "the clauses of the protocol have changed"


def test_the_data_say_the_same_as_the_page() -> None:
    told = json.loads(data(published()))
    text = page(published())
    assert all(f"### {one['requirement']}\n" in text for one in told["requirements"])
    open_ones = [one for one in told["requirements"] if not one["covered"] and not one["unjudged"]]
    assert text.count("*Not covered:*") == len(open_ones)


def test_a_check_that_notices_nothing_covers_nothing() -> None:
    assert not Trace("WRK-001.a", ("MWP-WRK-001",), "MUST", {"SCHED-0001": ()}, None).covered
    assert Trace("WRK-001.a", ("MWP-WRK-001",), "MUST", {"SCHED-0001": ("x",)}, None).covered


def test_the_digest_of_the_clauses_is_that_of_their_ids() -> None:
    assert clause_digest(Catalogue({}, {})) != CLAUSE_LIST


def test_a_clause_is_found_on_its_own_page() -> None:
    address = clause_link("MWP-WRK-010")
    assert address is not None
    assert address.endswith("/work-scheduling-and-recovery/#mwp-wrk-010")
    assert clause_link("section 16") is None
