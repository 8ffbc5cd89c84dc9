"""Tells whether an adapter is ready to be judged, and what to change where it is not.

The points themselves stand in `examination`. Says nothing about conformance, and never raises for
anything the adapter does.
"""

import tempfile
from pathlib import Path

from attrs import frozen
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from worker_conformance.errors import SuiteFailure, printable
from worker_conformance.port.declaration import Declaration
from worker_conformance.port.examination import Finding, Outcome, examine
from worker_conformance.port.locate import locate

DOCTOR_SECONDS = 10.0  # a person waits; a Worker that needs longer to start will be told so
EXIT_HEALTHY = 0
MARK_WIDTH = 9  # "problem", the longest mark, and two spaces


@frozen
class DoctorReport:
    """All findings about one adapter, in the order of the examination.

    `exit_code` is that of the command: 0 without a problem, 2 where nothing was found under `spec`,
    3 where the adapter breaks the Port.
    """

    spec: str
    findings: tuple[Finding, ...]
    declaration: Declaration | None
    exit_code: int

    @property
    def healthy(self) -> bool:
        """Whether no problem was found."""
        return self.exit_code == EXIT_HEALTHY


def run_doctor(spec: str, timeout: float = DOCTOR_SECONDS) -> DoctorReport:
    """Examine the adapter `spec`; `timeout` is the longest wait for one answer, in seconds."""
    try:
        factory = locate(spec, timeout)
    except SuiteFailure as failure:
        finding = Finding("is found", Outcome.PROBLEM, failure.cause, failure.hint)
        return DoctorReport(spec, (finding,), None, failure.exit_code)
    with tempfile.TemporaryDirectory(prefix="worker-conformance-") as folder:
        examined = examine(factory, Path(folder))
    found = Finding("is found", Outcome.OK, factory.describe())
    return DoctorReport(spec, (found, *examined.findings), examined.declaration, examined.exit_code)


def render_doctor(report: DoctorReport) -> RenderableType:
    """Lay the report out for a terminal. A hint that was given before is not given again."""
    rows: list[RenderableType] = [Text(f"Examination of {report.spec}", "bold")]
    width = max(len(finding.name) for finding in report.findings)
    given: set[str] = set()
    for finding in report.findings:
        rows.append(_row(finding, width))
        if finding.hint:
            hint = "as above" if finding.hint in given else _unindented(finding.hint)
            rows.append(Padding(Text(f"hint: {hint}", "italic"), (0, 0, 0, MARK_WIDTH)))
            given.add(finding.hint)
    return Group(*rows, _verdict(report))


def _unindented(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def _row(finding: Finding, width: int) -> RenderableType:
    mark, style = _MARKS[finding.outcome]
    row = Table.grid(padding=(0, 2))
    row.add_column(width=MARK_WIDTH - 2)
    row.add_column(width=width)
    row.add_column()
    row.add_row(Text(mark, style), Text(finding.name), Text(printable(finding.detail)))
    return row


def _verdict(report: DoctorReport) -> Text:
    if report.healthy:
        return Text("The adapter keeps the Worker Port, as far as was examined.", "bold green")
    return Text("The adapter does not keep the Worker Port.", "bold red")


_MARKS = {
    Outcome.OK: ("ok", "green"),
    Outcome.PROBLEM: ("problem", "bold red"),
    Outcome.NOTE: ("note", "yellow"),
    Outcome.SKIPPED: ("skipped", "dim"),
}
