"""The examination of an adapter: what is fine is said, what is not is named with a hint."""

import io
import sys
from pathlib import Path

import pytest
from rich.console import Console

from worker_conformance.documents.json_types import object_at
from worker_conformance.documents.schemas import DocumentKind, problems
from worker_conformance.port import messages, probe
from worker_conformance.port.doctor import DoctorReport, Outcome, render_doctor, run_doctor


def spec_of(adapters: Path, name: str) -> str:
    return f"stdio:{sys.executable} -S -E {adapters / name}.py"


def problems_of(report: DoctorReport) -> dict[str, str]:
    return {
        finding.name: f"{finding.detail} {finding.hint}"
        for finding in report.findings
        if finding.outcome is Outcome.PROBLEM
    }


def test_a_good_adapter_is_healthy_over_stdio(adapters: Path) -> None:
    report = run_doctor(spec_of(adapters, "well_behaved"))
    assert problems_of(report) == {}
    assert report.healthy
    assert report.declaration is not None
    assert report.declaration.name == "Port test Worker"
    assert "exits at the end of its input" in [finding.name for finding in report.findings]


@pytest.mark.usefixtures("adapters")
def test_a_good_adapter_is_healthy_in_process() -> None:
    report = run_doctor("well_behaved:Worker")
    assert report.healthy
    assert "exits at the end of its input" not in [finding.name for finding in report.findings]


WAITS = {"buffered": 1.0, "stays_after_shutdown": 1.0}
"""Seconds for the adapters whose illness is to let us wait."""

ILL = [
    ("banner", "stdout carries JSON only", "stdout line 1 is 'Example Worker"),
    ("exits_at_once", "starts", "configuration missing"),
    ("other_port_version", "declaration is valid", "version '2'"),
    ("two_answers", "'start' is answered", "stdout line 3"),
    ("buffered", "answers in time", "flush stdout after each"),
    ("knows_everything", "an unknown stimulus is refused", "-32001"),
    ("knows_everything", "'start' is answered", "SUBSCRIBE for every Group"),
    ("leaves_children", "leaves no process behind", "1 other process"),
    ("exits_badly_at_shutdown", "'shutdown' is answered", "exited with status 7"),
    ("stays_after_shutdown", "'shutdown' is answered", "was still there"),
]


@pytest.mark.parametrize(("name", "point", "says"), ILL)
def test_an_ill_adapter_is_told_what_is_wrong_at_the_right_point(
    name: str, point: str, says: str, adapters: Path
) -> None:
    report = run_doctor(spec_of(adapters, name), timeout=WAITS.get(name, 10.0))
    assert says in problems_of(report)[point]
    assert report.exit_code == 3


def test_an_adapter_that_is_not_there_is_a_usage_error() -> None:
    report = run_doctor("stdio:no-such-command")
    assert report.exit_code == 2
    assert list(problems_of(report)) == ["is found"]


def test_the_report_reads_well_and_cannot_steer_the_terminal(adapters: Path) -> None:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(render_doctor(run_doctor(spec_of(adapters, "banner"))))
    text = console.export_text()
    assert "problem" in text
    assert "hint: stdout line 1" in text
    assert "\x1b" not in text


def test_a_stack_trace_is_told_from_its_error_on_and_only_once(adapters: Path) -> None:
    console = Console(width=200, record=True, file=io.StringIO())
    report = run_doctor(spec_of(adapters, "throws_deep_down"))
    console.print(render_doctor(report))
    text = console.export_text()
    assert text.count("TypeError: there is no member 'deadline'") == 1
    assert "hint: as above" in text
    assert "at frame40" in text
    assert "at frame2 " not in text


def test_the_examiners_start_is_complete() -> None:
    start = probe.start("/state", 1)
    messages.check_stimulus(start)
    membership = object_at(start, "groups", 0, "membership")
    assert problems(DocumentKind.MEMBERSHIP, membership) == ()
