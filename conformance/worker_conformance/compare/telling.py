"""A comparison as text: for a terminal, as Markdown, and as JSON for programs.

Says the same in all three. Never compares by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from worker_conformance.compare.comparing import (
    Changes,
    Column,
    Comparison,
    FigureChange,
    VerdictChange,
)
from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.judge.verdicts import Measurement, Verdict
from worker_conformance.report.telling import WORDS, figure, visible
from worker_conformance.report.words import code, escaped

COMPARISON_VERSION = "1"
FIGURES_MAX = 40  # a terminal shows those that moved most against their bound; JSON has all
ABSENT = "—"


def to_lines(comparison: Comparison) -> Iterator[str]:
    """The comparison for a terminal or a log, a line at a time; without colour or control."""
    yield from (visible(line) for line in _lines(comparison))


def to_markdown(comparison: Comparison) -> str:
    """The comparison as Markdown: a summary, each result against the first, all that differs."""
    return "\n".join(_markdown(comparison)) + "\n"


def to_json(comparison: Comparison) -> str:
    """The comparison in the layout of `schemas/comparison.schema.json`."""
    document: JsonObject = {
        "comparisonVersion": COMPARISON_VERSION,
        "alike": not comparison.not_alike,
        "results": [_column(one) for one in comparison.columns],
        "changes": [_change(one) for one in comparison.changes],
        "checks": [
            {
                "checkId": row.check_id,
                "title": row.title,
                "requirement": row.requirement,
                "profile": row.profile,
                "verdicts": [None if one is None else one.value for one in row.verdicts],
            }
            for row in comparison.rows
        ],
    }
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def word(verdict: Verdict | None) -> str:
    """A verdict in small letters; a dash where there is none."""
    return ABSENT if verdict is None else WORDS[verdict].lower()


def told(measurement: Measurement | None) -> str:
    """A figure against its bound: `3.2 of 8`."""
    if measurement is None:
        return ABSENT
    bound = "" if measurement.bound is None else f" of {figure(measurement.bound)}"
    return f"{figure(measurement.value)}{bound}"


def moved_most(figures: Sequence[FigureChange]) -> list[FigureChange]:
    """Figures, those first whose share of their bound moved most."""
    return sorted(figures, key=lambda one: -abs(_share(one.after) - _share(one.before)))


def _share(measurement: Measurement | None) -> float:
    return (measurement.share_of_bound or 0.0) if measurement else 0.0


# --- terminal -----------------------------------------------------------------------------


def _lines(comparison: Comparison) -> Iterator[str]:
    first = comparison.columns[0]
    yield f"first: {first.label}"
    yield f"  {first.result.claim()}"
    for column, change in zip(comparison.columns[1:], comparison.changes, strict=True):
        yield ""
        yield f"against it: {change.label}"
        yield f"  {column.result.claim()}"
        yield from (f"  NOT JUDGED ALIKE  {each}" for each in change.not_alike)
        yield from _verdict_lines(change)
        yield from _named("NOT FIXED", change.not_fixed)
        yield from _figure_lines(change)
        yield from _named("ONLY BEFORE", change.only_before)
        yield from _named("ONLY AFTER", change.only_after)
        if not any(_parts(change)):
            yield "  no verdict and no figure differs"


def _verdict_lines(change: Changes) -> Iterator[str]:
    for label, changes in (
        ("NEW FAILURE", change.new_failures),
        ("FIXED", change.fixed),
        ("CHANGED", change.other),
    ):
        for one in changes:
            turn = f"{word(one.before)} -> {word(one.after)}"
            yield f"  {label:11}  {one.check_id}  {turn}  {one.title}"


def _figure_lines(change: Changes) -> Iterator[str]:
    shown = moved_most(change.figures)[:FIGURES_MAX]
    for one in shown:
        turn = f"{told(one.before)} -> {told(one.after)} {one.unit}".rstrip()
        yield f"  {'FIGURE':11}  {one.check_id}  {one.name}: {turn}"
    if len(change.figures) > len(shown):
        yield f"  … {len(change.figures) - len(shown)} figures more, with --format json"


def _named(label: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"  {label:11}  {', '.join(names)}"


def _parts(change: Changes) -> Iterator[object]:
    yield from (change.new_failures, change.fixed, change.other, change.figures)
    yield from (change.only_before, change.only_after)


# --- Markdown -----------------------------------------------------------------------------


def _markdown(comparison: Comparison) -> Iterator[str]:
    yield from ("# Results side by side", "")
    yield from _table(
        ("Worker", "suite", "passed", "what may be said"),
        [
            (
                escaped(one.label),
                escaped(one.result.suite.version),
                f"{one.result.counts().get(Verdict.PASS, 0)} of {one.result.executed()}",
                escaped(one.result.claim()),
            )
            for one in comparison.columns
        ],
    )
    if comparison.not_alike:
        yield from ("**Not judged alike:**", "")
        yield from (f"* {escaped(each)}" for each in comparison.not_alike)
        yield ""
    for change in comparison.changes:
        yield from _markdown_of(change)


def _markdown_of(change: Changes) -> Iterator[str]:
    yield from (f"## {escaped(change.label)}", "")
    if not any(_parts(change)):
        yield from ("No verdict and no figure differs from the first result.", "")
    for title, changes in (
        ("New failures", change.new_failures),
        ("Fixed", change.fixed),
        ("Other verdicts", change.other),
    ):
        yield from _titled(title, ("check", "before", "after", "title"), changes, _verdict_row)
    figures = moved_most(change.figures)
    yield from _titled("Figures", ("check", "figure", "before", "after"), figures, _figure_row)
    for title, names in (
        ("Not fixed", change.not_fixed),
        ("Only in the first", change.only_before),
        ("Only here", change.only_after),
    ):
        if names:
            yield from (f"### {title}", "", ", ".join(map(code, names)), "")


def _titled(
    title: str,
    head: Sequence[str],
    changes: Sequence[VerdictChange] | Sequence[FigureChange],
    row: Callable[..., Sequence[str]],
) -> Iterator[str]:
    if changes:
        yield from (f"### {title}", "")
        yield from _table(head, [row(one) for one in changes])


def _verdict_row(one: VerdictChange) -> Sequence[str]:
    return code(one.check_id), word(one.before), word(one.after), escaped(one.title)


def _figure_row(one: FigureChange) -> Sequence[str]:
    return (
        code(one.check_id),
        escaped(f"{one.name} ({one.unit})"),
        told(one.before),
        told(one.after),
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


# --- JSON ---------------------------------------------------------------------------------


def _column(column: Column) -> JsonValue:
    result = column.result
    return {
        "label": column.label,
        "worker": {"name": result.worker.name, "version": result.worker.version},
        "suite": {
            "name": result.suite.name,
            "version": result.suite.version,
            "requirementDigest": result.requirement_digest,
            "vectorDigest": result.vector_digest,
        },
        "seed": result.seed,
        "exitCode": result.exit_code(),
        "claim": result.claim(),
    }


def _change(change: Changes) -> JsonValue:
    return {
        "label": change.label,
        "notAlike": list(change.not_alike),
        "newFailures": [_verdict_change(one) for one in change.new_failures],
        "fixed": [_verdict_change(one) for one in change.fixed],
        "otherVerdicts": [_verdict_change(one) for one in change.other],
        "figures": [_figure_change(one) for one in change.figures],
        "onlyInFirst": list(change.only_before),
        "onlyHere": list(change.only_after),
    }


def _verdict_change(one: VerdictChange) -> JsonValue:
    return {"checkId": one.check_id, "before": one.before.value, "after": one.after.value}


def _figure_change(one: FigureChange) -> JsonValue:
    return {
        "checkId": one.check_id,
        "name": one.name,
        "unit": one.unit,
        "before": _measured(one.before),
        "after": _measured(one.after),
    }


def _measured(one: Measurement | None) -> JsonValue:
    return None if one is None else {"value": one.value, "bound": one.bound}
