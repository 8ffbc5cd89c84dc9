"""The JSON result: its schema, its stability, and reading it back."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from attrs import evolve

from worker_conformance.errors import SuiteError, UsageError
from worker_conformance.judge.verdicts import CheckResult, Failure, RunResult, Verdict
from worker_conformance.report import json_report

DATA = Path(__file__).parent / "data"
STORED = ("passing", "failing", "partial")
FROZEN_1 = "447a3556988fb452d98f4679a9f8e5d7a4714ed45721f4b0461dd192632c03d9"


@pytest.mark.parametrize("name", STORED)
def test_a_stored_result_of_this_version_is_still_written_and_read_the_same(
    name: str, request: pytest.FixtureRequest
) -> None:
    stored = DATA / f"result-2-{name}.json"
    result: RunResult = request.getfixturevalue(name)
    assert json_report.read(stored) == result
    written = json_report.to_bytes(json_report.to_document(result, timing=True))
    assert written == stored.read_bytes()


def test_what_a_report_draws_survives_reading(drawn: RunResult, tmp_path: Path) -> None:
    json_report.write(drawn, tmp_path / "result.json")
    assert json_report.read(tmp_path / "result.json") == drawn


@pytest.mark.parametrize("name", STORED)
def test_a_frozen_result_of_version_1_is_read_as_one_of_today(
    name: str, request: pytest.FixtureRequest
) -> None:
    result: RunResult = request.getfixturevalue(name)
    assert json_report.read(DATA / f"result-1-{name}.json") == evolve(result, timeout_seconds=None)


def test_the_frozen_results_of_version_1_have_not_been_touched() -> None:
    spelled = b"".join((DATA / f"result-1-{name}.json").read_bytes() for name in STORED)
    assert sha256(spelled).hexdigest() == FROZEN_1


def test_durations_survive_reading(failing: RunResult) -> None:
    again = json_report.read(DATA / "result-2-failing.json")
    assert [c.seconds for c in again.checks] == pytest.approx(
        [c.seconds for c in failing.checks], abs=0.001
    )


def test_without_timing_equal_runs_give_equal_bytes(passing: RunResult) -> None:
    slower = evolve(passing, checks=tuple(evolve(c, seconds=c.seconds + 9) for c in passing.checks))
    spelled = [
        json_report.to_bytes(json_report.to_document(run, timing=False))
        for run in (passing, slower)
    ]
    assert spelled[0] == spelled[1]
    assert b"checkSeconds" not in spelled[0]


def test_only_timing_differs_between_equal_runs(passing: RunResult) -> None:
    slower = evolve(passing, checks=tuple(evolve(c, seconds=c.seconds + 9) for c in passing.checks))
    one, other = (json_report.to_document(run, timing=True) for run in (passing, slower))
    assert one.pop("timing") != other.pop("timing")
    assert one == other


def test_text_that_is_no_unicode_survives(
    tmp_path: Path, passing: RunResult, a_check: Callable[..., CheckResult]
) -> None:
    failure = Failure("é", "\udc80 \x00 \u202e", ("line",), stderr="\ud800")
    odd = evolve(passing, checks=(evolve(a_check("replay", 1, Verdict.FAIL), failure=failure),))
    json_report.write(odd, tmp_path / "result.json")
    assert json_report.read(tmp_path / "result.json") == odd


def test_a_result_that_the_schema_refuses_is_a_suite_error(passing: RunResult) -> None:
    nameless = evolve(passing, requirement_digest="unknown")
    with pytest.raises(SuiteError, match="/suite/requirementDigest"):
        json_report.to_bytes(json_report.to_document(nameless, timing=False))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "cannot read a result"),
        (b"[]", "version None is unknown"),
        (b'{"schemaVersion": "99"}', "version '99' is unknown"),
        (b'{"schemaVersion": "1"}', "is a required property"),
        (b'{"schemaVersion": "2", "checks": 3}', "is a required property"),
        (b'{"schemaVersion": []}', "version [] is unknown"),
        (b"[" * 100_000, "cannot read a result"),
        (b"\xff\xfe", "cannot read a result"),
    ],
    ids=[
        "no JSON",
        "no object",
        "a later version",
        "half a result of version 1",
        "half a result",
        "an odd version",
        "nested without end",
        "no text",
    ],
)
def test_what_is_no_result_is_refused_in_words(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "result.json"
    file.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        json_report.read(file)
    assert told in caught.value.cause
    assert caught.value.where == str(file)


def test_a_missing_file_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        json_report.read(tmp_path / "nothing.json")


def test_a_pass_without_a_witness_is_refused_by_the_schema_too(tmp_path: Path) -> None:
    document = json.loads((DATA / "result-2-passing.json").read_bytes())
    passed = next(check for check in document["checks"] if check["verdict"] == "pass")
    passed["witness"] = 0
    file = tmp_path / "result.json"
    file.write_text(json.dumps(document))
    with pytest.raises(UsageError, match="/witness"):
        json_report.read(file)


def test_a_check_told_twice_is_refused(tmp_path: Path) -> None:
    document = json.loads((DATA / "result-2-passing.json").read_bytes())
    document["checks"].append(document["checks"][0])
    file = tmp_path / "result.json"
    file.write_text(json.dumps(document))
    with pytest.raises(UsageError, match="more than one verdict"):
        json_report.read(file)


def test_who_waits_for_ever_names_no_limit(tmp_path: Path, passing: RunResult) -> None:
    patient = evolve(passing, timeout_seconds=float("inf"))
    json_report.write(patient, tmp_path / "result.json")
    assert json_report.read(tmp_path / "result.json").timeout_seconds is None
