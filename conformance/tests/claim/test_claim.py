"""Claims: their words, what allows none, how they are spelled, and what verifying tells."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import cast

import pytest
from attrs import evolve

from worker_conformance.baseline.matching import held_against
from worker_conformance.claim import document, markdown, verifying
from worker_conformance.claim.document import Knowledge, Refusal
from worker_conformance.documents.json_types import JsonObject
from worker_conformance.errors import UsageError
from worker_conformance.judge.verdicts import (
    CheckResult,
    Failure,
    Measurement,
    RunResult,
    Selection,
    Verdict,
)
from worker_conformance.report import json_report
from worker_conformance.scenario.model import CORE_PROFILES, Profile

RESULTS = Path(__file__).parents[1] / "report" / "data"
CORE = tuple(str(one) for one in Profile if one in CORE_PROFILES)


def stored(name: str = "passing") -> RunResult:
    return json_report.read(RESULTS / f"result-2-{name}.json")


def known_of(result: RunResult) -> Knowledge:
    return Knowledge(
        result.suite,
        result.requirement_digest,
        result.vector_digest,
        {check.check_id: check.profile for check in result.checks},
    )


def claim_of(result: RunResult) -> JsonObject:
    made = document.claim_of(result, known_of(result))
    assert not isinstance(made, Refusal), made
    return made


def refusal_of(result: RunResult, known: Knowledge | None = None) -> Refusal:
    made = document.claim_of(result, known or known_of(result))
    assert isinstance(made, Refusal)
    return made


def changed(result: RunResult, check_id: str, **members: object) -> RunResult:
    checks = [
        evolve(check, **members) if check.check_id == check_id else check  # type: ignore[arg-type]  # a test names the members
        for check in result.checks
    ]
    return evolve(result, checks=tuple(checks))


def test_the_core_is_claimed_in_the_words_of_the_design() -> None:
    result = stored()
    claim = claim_of(result)
    assert claim["words"] == (
        "Example Worker 1.4.0 passes the core Worker areas of suite "
        "missionweaveprotocol-worker-conformance 0.1.0, requirement set "
        f"{result.requirement_digest}."
    )
    assert claim["scope"] == "core-areas"
    assert claim["areas"] == list(CORE)


def test_with_every_area_all_are_claimed() -> None:
    result = stored()
    checks = [evolve(check, verdict=Verdict.PASS, reason="", witness=1) for check in result.checks]
    claim = claim_of(evolve(result, checks=tuple(checks)))
    assert "passes all Worker areas of suite" in str(claim["words"])
    assert claim["scope"] == "all-areas"


def test_no_words_say_that_a_worker_conforms() -> None:
    for name in ("passing", "partial"):
        claim = claim_of(stored(name))
        assert "conforms" not in str(claim["words"]).replace("worker-conformance", "")
        assert document.DISCLAIMER in markdown.to_text(claim)


def test_chosen_areas_are_the_narrower_claim() -> None:
    claim = claim_of(stored("partial"))
    assert "passes the narrower set of areas replay and leases of" in str(claim["words"])


def test_a_failing_run_allows_the_areas_that_passed_and_names_the_others() -> None:
    failure = Failure("one thing", "another")
    result = changed(stored(), "REPLAY-0007", verdict=Verdict.FAIL, failure=failure)
    claim = claim_of(result)
    assert "replay" not in cast("list[str]", claim["areas"])
    assert "the narrower set of areas" in str(claim["words"])
    assert str(claim["words"]).endswith("Judged and not passed: replay.")
    deviations = cast(JsonObject, claim["deviations"])
    assert deviations["notPassed"] == [{"area": "replay", "checks": ["REPLAY-0007"]}]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda run: evolve(run, selection=Selection(checks=("REPLAY-0007",))), "single checks"),
        (lambda run: evolve(run, selection=Selection(quick=True)), "quick run"),
        (
            lambda run: changed(run, "REPLAY-0007", verdict=Verdict.ADAPTER_ERROR, reason="dead"),
            "adapter broke",
        ),
        (
            lambda run: changed(run, "REPLAY-0007", verdict=Verdict.SUITE_ERROR, reason="ours"),
            "suite itself failed",
        ),
    ],
    ids=["checks", "quick", "adapter", "suite"],
)
def test_what_allows_no_claim_says_why(change: Callable[[RunResult], RunResult], told: str) -> None:
    refusal = refusal_of(change(stored()))
    assert told in refusal.reason
    assert refusal.hint


def test_a_result_that_lacks_checks_allows_no_claim() -> None:
    result = stored()
    cut = evolve(result, checks=tuple(c for c in result.checks if c.check_id != "REPLAY-0007"))
    assert "no verdict: REPLAY-0007" in refusal_of(cut, known_of(result)).reason


def test_a_result_of_another_suite_allows_no_claim_here() -> None:
    result = stored()
    other = evolve(known_of(result), vector_digest="sha256:" + "1" * 64)
    assert result.vector_digest in refusal_of(result, other).reason


def test_a_silent_worker_allows_no_claim() -> None:
    result = stored()
    silent = [evolve(c, verdict=Verdict.INCONCLUSIVE, reason="nothing came") for c in result.checks]
    assert "no area passed" in refusal_of(evolve(result, checks=tuple(silent))).reason


def test_a_claim_fits_its_schema_and_is_read_back(tmp_path: Path) -> None:
    for name in ("passing", "partial"):
        claim = claim_of(stored(name))
        (tmp_path / "claim.json").write_bytes(document.to_bytes(claim))
        assert document.read(tmp_path / "claim.json") == claim


def test_a_claim_lists_what_was_excused_advised_and_abstained_from() -> None:
    text = markdown.to_text(claim_of(stored("failing")))
    for told in ("Known failures", "Advice not followed", "Abstentions", "Parameters", "lagQuanta"):
        assert told in text


def test_hostile_text_is_harmless_in_markdown() -> None:
    result = stored()
    odd = "<script>|`x`](javascript:1)\n# \x1b[31m @all"
    claim = claim_of(evolve(result, worker=evolve(result.worker, name=odd, adapter=odd)))
    text = markdown.to_text(claim)
    assert "<script>|" not in text.replace("`<script>\\|", "")
    assert "\x1b" not in text
    assert "\n# \\x1b" not in text


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "cannot read a claim"),
        (b"\xff", "cannot read a claim"),
        (b"[" * 100_000, "cannot read a claim"),
        (b"[]", "version None"),
        (b'{"claimVersion": "2"}', "version '2'"),
        (b'{"claimVersion": "1"}', "required property"),
        ((RESULTS / "result-2-passing.json").read_bytes(), "version None"),
    ],
    ids=["no JSON", "no text", "deep", "no object", "newer", "half", "a result"],
)
def test_what_is_no_claim_is_refused(content: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "claim.json"
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        document.read(path)
    assert told in caught.value.cause
    assert caught.value.where == str(path)


# --- verifying ----------------------------------------------------------------------------


def told(claimed: RunResult, found: RunResult, *, moved: bool = False) -> list[str]:
    pair = claim_of(claimed), claim_of(found)
    return [one.line() for one in verifying.differences(*pair, moved=moved) if one.counts]


def test_the_same_run_again_differs_in_nothing() -> None:
    assert told(stored(), stored()) == []


def test_every_difference_is_named() -> None:
    failure = Failure("one thing", "another")
    found = changed(stored(), "REPLAY-0007", verdict=Verdict.FAIL, failure=failure)
    found = evolve(found, worker=evolve(found.worker, version="1.5.0", adapter="stdio:./other"))
    lines = told(stored(), found)
    assert "Worker version: claimed 1.4.0, found 1.5.0" in lines
    assert "Worker adapter: claimed stdio:./worker --port, found stdio:./other" in lines
    assert "check REPLAY-0007: claimed pass, found fail" in lines
    assert "requirement WRK-029.c: claimed pass, found fail" in lines
    assert any(line.startswith("passed areas: claimed replay, ") for line in lines)
    assert any(line.startswith("words: ") for line in lines)
    assert not any("adapter" in line for line in told(stored(), found, moved=True))


def test_figures_count_for_a_worker_that_declares_itself_deterministic() -> None:
    result = stored()
    figures = (Measurement("lag A over B", 4.0, 8.0, "service units"),)
    found = changed(result, "SCHEDULING-0002", measurements=figures)
    assert told(result, found) == []
    all_of_them = verifying.differences(claim_of(result), claim_of(found), moved=False)
    assert all_of_them[0].line() == (
        "figure SCHEDULING-0002 lag A over B: claimed 3.333 service units (bound 8), "
        "found 4 service units (bound 8)"
    )
    steady = evolve(result.declaration, declared={"deterministic": True})
    assert told(*(evolve(one, declaration=steady) for one in (result, found)))


def test_known_failures_of_a_claim_excuse_the_repeated_run_too() -> None:
    failing = stored("failing")
    claim = claim_of(failing)
    baseline = verifying.baseline_of(claim)
    assert baseline is not None
    assert list(baseline.entries) == ["LEASES-0005"]
    raw = changed(failing, "LEASES-0005", verdict=Verdict.FAIL)
    held = held_against(raw, baseline, {"LEASES-0005"}, date(2027, 1, 1))
    assert by_id(held)["LEASES-0005"].verdict is Verdict.EXPECTED_FAIL


def by_id(result: RunResult) -> dict[str, CheckResult]:
    return {check.check_id: check for check in result.checks}


def test_another_suite_is_told_by_version_and_digests() -> None:
    result = stored()
    claim = json.loads(json.dumps(claim_of(result)))
    known = evolve(
        known_of(result),
        suite=evolve(result.suite, version="0.2.0"),
        requirement_digest="sha256:" + "1" * 64,
    )
    lines = [one.what for one in verifying.other_suite(claim, known)]
    assert lines == ["suite version", "requirement set"]
    assert verifying.other_suite(claim, known_of(result)) == ()
