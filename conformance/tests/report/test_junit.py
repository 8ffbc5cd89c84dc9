"""JUnit XML, as CI systems read it."""

from xml.etree import ElementTree

import pytest

from worker_conformance.judge.verdicts import RunResult
from worker_conformance.report import junit

OUTCOMES = {
    "REPLAY-0007": "failure",
    "REPLAY-0003": "failure",
    "LEASES-0005": "skipped",
    "PREEMPTION-0006": "skipped",
    "OFFLINE-0001": "skipped",
    "SCHEDULING-0004": None,
    "REPLAY-0001": None,
}


def _cases(result: RunResult) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(junit.to_bytes(result, timing=True))  # noqa: S314 - our own text
    return {case.attrib["name"].split()[0]: case for case in root.iter("testcase")}


@pytest.mark.parametrize("check_id", OUTCOMES)
def test_each_verdict_has_its_junit_outcome(check_id: str, failing: RunResult) -> None:
    case = _cases(failing)[check_id]
    found = [kind for kind in ("failure", "error", "skipped") if case.find(kind) is not None]
    assert found == ([OUTCOMES[check_id]] if OUTCOMES[check_id] else [])


def test_an_inconclusive_check_is_never_green(silent: RunResult) -> None:
    assert all(case.find("failure") is not None for case in _cases(silent).values())


def test_a_failure_carries_all_that_a_terminal_shows(failing: RunResult) -> None:
    failure = _cases(failing)["REPLAY-0007"].find("failure")
    assert failure is not None
    assert failure.attrib["type"] == "fail"
    for told in ("MWP-WRK-029", "expected: ACK {A: 3}", "observed: ACK {A: 5}", "00:10:00"):
        assert told in (failure.text or "")
    assert "again: worker-conformance run" in (failure.text or "")


def test_what_is_not_claimed_says_why(failing: RunResult) -> None:
    skipped = _cases(failing)["OFFLINE-0001"].find("skipped")
    assert skipped is not None
    assert skipped.attrib == {"message": "a reason", "type": "not-claimed"}


def test_advice_stands_in_the_output_of_a_passed_case(failing: RunResult) -> None:
    out = _cases(failing)["SCHEDULING-0004"].find("system-out")
    assert out is not None
    assert "advice" in (out.text or "")


def test_control_characters_of_a_worker_do_not_break_the_xml(failing: RunResult) -> None:
    error = _cases(failing)["REPLAY-0007"].find("system-err")
    assert error is not None
    assert "\\x1b[31m" in (error.text or "")


def test_areas_are_suites_with_counts(failing: RunResult) -> None:
    root = ElementTree.fromstring(junit.to_bytes(failing, timing=True))  # noqa: S314 - our own text
    replay = next(suite for suite in root if suite.attrib["name"] == "replay")
    assert (replay.attrib["tests"], replay.attrib["failures"]) == ("3", "2")


def test_without_timing_no_duration_is_told(failing: RunResult) -> None:
    assert b'time="2.5"' in junit.to_bytes(failing, timing=True)
    assert b'time="2.5"' not in junit.to_bytes(failing, timing=False)
