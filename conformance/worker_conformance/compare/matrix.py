"""Several Workers side by side as one self-contained HTML page, for a public site.

Opens offline, in light and dark, on a phone, by keyboard, and without scripts. Everything that came
out of a Worker is escaped. Never compares by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from attrs import frozen

from worker_conformance.compare.comparing import Comparison, FigureChange, Row
from worker_conformance.compare.telling import moved_most, told, word
from worker_conformance.judge.verdicts import RunResult, Standing, Verdict
from worker_conformance.report.pages import own_file, policy_hash, templates
from worker_conformance.report.telling import MEANINGS, visible
from worker_conformance.scenario.model import Profile


@frozen
class Cell:
    """How one Worker stands in one area."""

    standing: str
    told: str


def to_html(comparison: Comparison) -> str:
    """Spell a comparison as HTML."""
    environment = templates(shown=visible, word=word, told=told, slug=_slug)
    style = own_file("matrix.css")
    return environment.get_template("matrix.html.j2").render(
        comparison=comparison,
        style=style,
        style_hash=policy_hash(style),
        standings=list(_standings(comparison)),
        differing=[row for row in comparison.rows if row.differs],
        areas=_by_area(comparison.rows),
        figures=list(_figures(comparison)),
        verdicts=_present(comparison.rows),
        meanings=MEANINGS,
    )


def _standings(comparison: Comparison) -> Iterator[tuple[str, list[Cell]]]:
    found = {area.profile for one in comparison.columns for area in one.result.areas()}
    order = [str(one) for one in Profile]
    for name in sorted(
        found, key=lambda one: (one not in order, one in order and order.index(one))
    ):
        yield name, [_cell(one.result, name) for one in comparison.columns]


def _cell(result: RunResult, profile: str) -> Cell:
    area = next((one for one in result.areas() if one.profile == profile), None)
    if area is None:
        return Cell("not judged", "")
    if area.standing is Standing.NOT_CLAIMED:
        return Cell(area.standing.value, "")
    return Cell(area.standing.value, f"{area.counts.get(Verdict.PASS, 0)} of {area.executed}")


def _by_area(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    ordered = sorted(rows, key=lambda row: (row.profile, row.check_id))
    return [(name, list(some)) for name, some in groupby(ordered, key=lambda row: row.profile)]


def _figures(comparison: Comparison) -> Iterator[tuple[str, list[FigureChange]]]:
    for change in comparison.changes:
        if change.figures:
            yield change.label, moved_most(change.figures)


def _present(rows: Sequence[Row]) -> list[Verdict]:
    found = {verdict for row in rows for verdict in row.verdicts}
    return [verdict for verdict in Verdict if verdict in found]


def _slug(text: str) -> str:
    return text.replace(" ", "-")
