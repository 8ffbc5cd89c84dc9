"""The result of a run as one self-contained HTML file.

Opens offline, in light and dark, on a phone, by keyboard, and without scripts. Everything that came
out of a Worker is escaped, and the page's own policy lets no other script or style run. Never
decides a verdict.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from attrs import frozen
from jinja2 import Environment
from markupsafe import Markup

from worker_conformance.documents.json_types import JsonValue
from worker_conformance.judge.verdicts import (
    CheckKind,
    CheckResult,
    Measurement,
    RunResult,
    Verdict,
)
from worker_conformance.report.clause_pages import clause_link
from worker_conformance.report.estimate_picture import estimate_pictures
from worker_conformance.report.history_table import history_of, vector_lines, vector_name
from worker_conformance.report.pages import own_file, policy_hash, templates
from worker_conformance.report.picture import picture_of
from worker_conformance.report.telling import (
    MEANINGS,
    WORDS,
    figure,
    measured,
    own_reason,
    unexpected,
    unexpected_first,
    verdicts_present,
    visible,
)
from worker_conformance.report.timeline_picture import timeline_picture
from worker_conformance.report.timeline_words import clock
from worker_conformance.report.views_table import places_of

LISTED_MAX = 6
"""Names that a line still holds."""

OPENED_MAX = 10
"""Failures that stand open; more would hide what follows them."""

STYLES = ("report.css", "pictures.css")

KINDS: Mapping[CheckKind, str] = {
    CheckKind.VECTOR: "a vector",
    CheckKind.MONITOR: "a monitor of every scenario",
    CheckKind.FAIRNESS: "a measured schedule",
    CheckKind.PROPERTY: "a property of several worlds",
}


def write(result: RunResult, path: Path, *, timing: bool = True) -> None:
    """Write `result` to `path`."""
    path.write_bytes(to_bytes(result, timing=timing))


def to_bytes(result: RunResult, *, timing: bool) -> bytes:
    """Spell `result` as HTML; `timing` adds how long the checks took."""
    style = Markup("").join(map(own_file, STYLES))
    script = own_file("report.js")
    text = (
        _environment()
        .get_template("report.html.j2")
        .render(
            result=result,
            checks=unexpected_first(result.checks),
            unexpected=unexpected(result),
            opened=_opened(result),
            matrix=_matrix(result),
            verdicts=verdicts_present(result),
            verdict_pass=Verdict.PASS,
            figures=_figures(result),
            parameters=_parameters(result),
            selection=_selection(result),
            trace_command=_trace_command(result),
            seconds=figure(sum(check.seconds for check in result.checks)) if timing else "",
            words=WORDS,
            meanings=MEANINGS,
            kinds=KINDS,
            style=style,
            style_hash=policy_hash(style),
            script=script,
            script_hash=policy_hash(script),
        )
    )
    return text.encode()


@cache
def _environment() -> Environment:
    return templates(
        shown=visible,
        figure=figure,
        clause_link=clause_link,
        picture=picture_of,
        timeline_picture=timeline_picture,
        estimate_pictures=estimate_pictures,
        places=places_of,
        history=history_of,
        vector_lines=vector_lines,
        vector_name=vector_name,
        clock=clock,
        own_reason=own_reason,
    )


def _opened(result: RunResult) -> set[str]:
    """The checks that stand open: the worst of those that have something to show."""
    told = [c.check_id for c in unexpected(result) if c.verdict is not Verdict.INCONCLUSIVE]
    return set(told[:OPENED_MAX])


@frozen
class RequirementRow:
    """One requirement: the clauses it is of, its checks, and the worst verdict on it."""

    name: str
    clauses: tuple[str, ...]
    level: str
    verdict: Verdict
    checks: tuple[CheckResult, ...]


def _matrix(result: RunResult) -> list[RequirementRow]:
    return [
        RequirementRow(name, checks[0].clauses, checks[0].level.value, verdict, checks)
        for name, verdict in result.requirements().items()
        if (checks := tuple(c for c in result.checks if c.requirement == name))
    ]


def _trace_command(result: RunResult) -> str:
    """The command that writes every message down; the ID of a vector goes behind it."""
    worker = shlex.quote(result.worker.adapter)
    seed = f"--seed {result.seed}"
    return f"worker-conformance replay --worker {worker} {seed} --save-trace trace.jsonl"


def _listed(names: Sequence[str]) -> str:
    """All of a few names; of many the first and the last, and how many there are."""
    if len(names) <= LISTED_MAX:
        return ", ".join(names)
    return f"{len(names)}, from {names[0]} to {names[-1]}"


def _figures(result: RunResult) -> list[tuple[CheckResult, Measurement]]:
    rows = [(check, each) for check in result.checks for each in measured(check)]
    return sorted(rows, key=lambda row: -(row[1].share_of_bound or 0))


def _parameters(result: RunResult) -> list[tuple[str, str, str]]:
    declared, effective = result.declaration.declared, result.declaration.effective
    names = sorted({*declared, *effective})
    return [(name, _spelled(declared.get(name)), _spelled(effective.get(name))) for name in names]


def _spelled(value: JsonValue) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _selection(result: RunResult) -> str:
    chosen = result.selection
    parts = ["the quick run"] if chosen.quick else []
    if chosen.profiles:
        areas = "area" if len(chosen.profiles) == 1 else "areas"
        parts.append(f"only the {areas} {', '.join(chosen.profiles)}")
    if chosen.checks:
        parts.append(f"chosen checks only ({_listed(chosen.checks)})")
    return visible(", ".join(parts) or "everything that the Worker claims")
