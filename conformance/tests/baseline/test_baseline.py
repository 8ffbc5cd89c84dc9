"""Baselines: what they excuse, what they refuse to excuse, and how they are written and read."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import jsonschema_rs
import pytest
import yaml
from attrs import evolve

from worker_conformance.baseline import file as baseline_file
from worker_conformance.baseline.entries import Baseline, Entry
from worker_conformance.baseline.matching import held_against
from worker_conformance.errors import UsageError
from worker_conformance.judge.excuses import Excuse, Trouble
from worker_conformance.judge.verdicts import (
    CheckKind,
    CheckResult,
    DeclarationRecord,
    Failure,
    RunResult,
    Selection,
    Standing,
    SuiteIdentity,
    Verdict,
    WorkerIdentity,
)
from worker_conformance.report import json_report
from worker_conformance.resources import schemas_path
from worker_conformance.scenario.model import Level

TODAY = date(2027, 3, 1)
DIGEST = "sha256:" + "0" * 64
KNOWN = Excuse("the Cursor runs ahead", expires="2027-03-01", issue="https://example.org/7")


def check(
    check_id: str, verdict: Verdict, observed: str = "ACK A:5  over\n  the gap"
) -> CheckResult:
    needs_failure = verdict in (Verdict.FAIL, Verdict.ADVICE)
    return CheckResult(
        check_id=check_id,
        title="A gap holds the Cursor",
        summary="The Cursor never passes a gap.",
        requirement="WRK-029.c",
        clauses=("MWP-WRK-029",),
        level=Level.MUST,
        profile="replay",
        kind=CheckKind.VECTOR,
        verdict=verdict,
        reason="" if needs_failure or verdict is Verdict.PASS else observed,
        failure=Failure("ACK A:3", observed) if needs_failure else None,
        witness=1,
        rerun=f"worker-conformance run {check_id}",
    )


def run_over(*checks: CheckResult, **selection: object) -> RunResult:
    return RunResult(
        suite=SuiteIdentity("suite", "0.1.0"),
        worker=WorkerIdentity("W", "1", "Go", None, "stdio:./w", "stdio", DIGEST),
        declaration=DeclarationRecord(("replay",)),
        seed=1,
        selection=Selection(**selection),  # type: ignore[arg-type]  # a test names its members
        requirement_digest=DIGEST,
        vector_digest=DIGEST,
        checks=checks,
        timeout_seconds=30.0,
    )


def baseline_of(*entries: Entry) -> Baseline:
    return Baseline("b.yaml", DIGEST, {entry.check_id: entry for entry in entries})


def entry(observed: str = "ACK A:5 over the gap", **changes: object) -> Entry:
    made = Entry("REPLAY-0007", Verdict.FAIL, observed, KNOWN, "b.yaml:4:3")
    return evolve(made, **changes)  # type: ignore[arg-type]  # a test names the members


def held(result: RunResult, *entries: Entry, today: date = TODAY) -> RunResult:
    return held_against(result, baseline_of(*entries), {"REPLAY-0007", "REPLAY-0008"}, today)


def test_a_known_failure_is_no_surprise_and_no_pass() -> None:
    passed = check("REPLAY-0001", Verdict.PASS)
    result = held(
        run_over(passed, check("REPLAY-0007", Verdict.FAIL), profiles=("replay",)), entry()
    )
    known = result.checks[1]
    assert known.verdict is Verdict.EXPECTED_FAIL
    assert known.excuse == KNOWN
    assert known.failure is not None
    assert result.exit_code() == 0
    assert result.areas()[0].standing is Standing.KNOWN_FAILURES
    assert "passes no area as a whole" in result.claim()
    assert "The baseline excuses: REPLAY-0007." in result.qualifications()


def test_a_check_that_never_reaches_its_point_may_be_known_too() -> None:
    silent = check("REPLAY-0007", Verdict.INCONCLUSIVE, "no ACK ever came")
    foreseen = entry("no ACK *", verdict=Verdict.INCONCLUSIVE)
    assert held(run_over(silent), foreseen).checks[0].verdict is Verdict.EXPECTED_FAIL
    assert held(run_over(silent), entry("no ACK *")).checks[0].verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("observed", "fits"),
    [
        ("ACK A:5 over the gap", True),
        ("ACK   A:5 over\nthe gap", True),
        ("ACK A:* over the gap", True),
        ("*", True),
        ("ACK A:5", False),
        ("ACK A:. over the gap", False),
    ],
)
def test_a_signature_is_the_text_with_stars_for_what_varies(observed: str, fits: object) -> None:
    assert entry(observed).fits(check("REPLAY-0007", Verdict.FAIL)) is fits


@pytest.mark.parametrize(
    ("found", "of", "kind", "told"),
    [
        (check("REPLAY-0007", Verdict.PASS), entry(), Trouble.STALE, "passes now"),
        (check("REPLAY-0007", Verdict.FAIL), entry("other"), Trouble.DIFFERENT, "look into it"),
        (check("REPLAY-0007", Verdict.NOT_CLAIMED), entry(), Trouble.NOT_RUN, "does not claim"),
        (check("REPLAY-0007", Verdict.ADAPTER_ERROR), entry(), Trouble.DIFFERENT, "adapter-error"),
        (check("REPLAY-0001", Verdict.PASS), entry(), Trouble.NOT_RUN, "did not judge it"),
        (
            check("REPLAY-0001", Verdict.PASS),
            entry(check_id="REPLAY-9999"),
            Trouble.UNKNOWN,
            "no check has this ID",
        ),
    ],
    ids=["stale", "different", "not claimed", "adapter", "not run", "unknown"],
)
def test_an_entry_that_does_not_hold_breaks_the_run(
    found: CheckResult, of: Entry, kind: Trouble, told: str
) -> None:
    result = held(run_over(found, check("REPLAY-0009", Verdict.PASS), profiles=()), of)
    assert result.baseline is not None
    (trouble,) = result.baseline.troubles
    assert trouble.kind is kind
    assert told in trouble.told
    assert result.exit_code() != 0
    assert trouble.line() in result.qualifications()
    assert all(each.verdict is not Verdict.EXPECTED_FAIL for each in result.checks)


def test_an_entry_counts_through_its_last_day_and_not_beyond() -> None:
    failing = run_over(check("REPLAY-0007", Verdict.FAIL))
    assert held(failing, entry(), today=date(2027, 3, 1)).checks[0].verdict is Verdict.EXPECTED_FAIL
    late = held(failing, entry(), today=date(2027, 3, 2))
    assert late.checks[0].verdict is Verdict.FAIL
    assert late.baseline is not None
    assert [one.kind for one in late.baseline.troubles] == [Trouble.EXPIRED]
    assert "its last day was 2027-03-01" in late.qualifications()[0]


@pytest.mark.parametrize("narrowed", [{"checks": ("REPLAY-0001",)}, {"quick": True}])
def test_a_narrowed_run_says_nothing_of_what_it_did_not_judge(narrowed: dict[str, object]) -> None:
    result = held(run_over(check("REPLAY-0001", Verdict.PASS), **narrowed), entry())
    assert result.baseline is not None
    assert result.baseline.troubles == ()
    unknown = entry(check_id="REPLAY-9999")
    result = held(run_over(check("REPLAY-0001", Verdict.PASS), **narrowed), unknown)
    assert result.baseline is not None
    assert result.baseline.troubles


def test_the_baseline_survives_the_result_file(tmp_path: Path) -> None:
    stale = entry(check_id="REPLAY-0008")
    checks = (check("REPLAY-0007", Verdict.FAIL), check("REPLAY-0008", Verdict.PASS))
    result = held(run_over(*checks), entry(), stale)
    json_report.write(result, tmp_path / "result.json")
    assert json_report.read(tmp_path / "result.json") == result


# --- files --------------------------------------------------------------------------------


def written(
    tmp_path: Path, *checks: CheckResult, name: str = "b.yaml", **selection: object
) -> Path:
    path = tmp_path / name
    old = baseline_file.read(path) if path.exists() else None
    known = {"REPLAY-0007", "REPLAY-0008"}
    baseline_file.write(path, baseline_file.updated(old, run_over(*checks, **selection), known))
    return path


def test_what_is_written_fits_the_schema_and_is_refused_until_it_is_filled(tmp_path: Path) -> None:
    odd = 'he said "no": \u2028 \x07 \U0001f600 \udc80 tab\t* #'
    path = written(tmp_path, check("REPLAY-0007", Verdict.FAIL, odd))
    schema = json.loads((schemas_path() / "baseline.schema.json").read_bytes())
    jsonschema_rs.validate(schema, yaml.safe_load(path.read_text("utf-8")))
    with pytest.raises(UsageError, match="has no reason yet") as caught:
        baseline_file.load(path)
    assert caught.value.where == f"{path.as_posix()}:6:3"
    path.write_text(path.read_text("utf-8").replace("TODO: say", "because"), "utf-8")
    with pytest.raises(UsageError, match="counts for ever"):
        baseline_file.load(path)
    filled = path.read_text("utf-8").replace(
        '# write here: expires: "YYYY-MM-DD"', 'expires: "2030-01-01" #'
    )
    path.write_text(filled, "utf-8")
    (made,) = baseline_file.load(path).entries.values()
    assert made.fits(check("REPLAY-0007", Verdict.FAIL, odd.replace("\udc80", "?")))


def test_an_update_keeps_reasons_and_drops_what_passes(tmp_path: Path) -> None:
    fails = [check(f"REPLAY-000{n}", Verdict.FAIL, "seen *") for n in (7, 8)]
    path = written(tmp_path, *fails)
    text = path.read_text("utf-8").replace("TODO: say why this failure is known", "argued", 1)
    path.write_text(
        text.replace("    # write here", '    issue: "https://e.org/1"\n    # or', 1), "utf-8"
    )
    written(
        tmp_path, check("REPLAY-0007", Verdict.FAIL, "now this"), check("REPLAY-0008", Verdict.PASS)
    )
    (left,) = baseline_file.load(path).entries.values()
    assert left.excuse == Excuse("argued", None, "https://e.org/1")
    assert left.observed == "now this"


def test_an_update_from_a_narrowed_run_keeps_the_others(tmp_path: Path) -> None:
    path = written(tmp_path, check("REPLAY-0007", Verdict.FAIL))
    written(tmp_path, check("REPLAY-0008", Verdict.FAIL), checks=("REPLAY-0008",))
    assert list(baseline_file.read(path).entries) == ["REPLAY-0007", "REPLAY-0008"]
    written(tmp_path, check("REPLAY-0008", Verdict.FAIL))
    assert list(baseline_file.read(path).entries) == ["REPLAY-0008"]


def test_a_baseline_of_nothing_can_be_read(tmp_path: Path) -> None:
    assert baseline_file.load(written(tmp_path, check("REPLAY-0001", Verdict.PASS))).entries == {}


@pytest.mark.parametrize(
    ("text", "where", "told"),
    [
        ("", "1:1", "empty"),
        ("- 1\n", "1:1", "the document"),
        ("baseline: 2\nfailures: {}\n", "1:1", "baseline"),
        ("baseline: 1\n", "1:1", '"failures" is a required property'),
        ("baseline: 1\nfailures:\n  replay: {reason: r, observed: o}\n", "2:1", "failures"),
        ("baseline: 1\nfailures:\n  R-1:\n    reason: r\n", "3:3", "observed"),
        (
            "baseline: 1\nfailures:\n  R-1:\n    reason: r\n    observed: o\n    why: w\n",
            "3:3",
            "why",
        ),
        (
            "baseline: 1\nfailures:\n  R-1: {reason: r, observed: o, expires: 2027-01-01}\n",
            "3:42",
            "date",
        ),
        (
            'baseline: 1\nfailures:\n  R-1: {reason: r, observed: o, expires: "2027-02-30"}\n',
            "3:3",
            "no day of the calendar",
        ),
        ("baseline: 1\nbaseline: 1\n", "2:1", "baseline"),
        ("baseline: &a 1\n", "1:11", ""),
    ],
    ids=range(11),
)
def test_what_is_no_baseline_is_refused_with_its_place(
    text: str, where: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "b.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError) as caught:
        baseline_file.load(path)
    assert told in caught.value.cause
    assert (caught.value.where or "").endswith(where), caught.value.where


@pytest.mark.parametrize("make", [Path.mkdir, Path.exists], ids=["a folder", "nothing"])
def test_a_file_that_cannot_be_read_is_told(make: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "b.yaml"
    make(path)
    with pytest.raises(UsageError, match="cannot be read"):
        baseline_file.load(path)
