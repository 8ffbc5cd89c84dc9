"""A history as rows of a table, the text beside the timeline; and a vector as lines.

Lays nothing out. Every failure has such a history, whether or not it can be drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

from worker_conformance.judge.evidence import Timeline
from worker_conformance.judge.verdicts import Failure
from worker_conformance.report.telling import TRANSCRIPT_LINE, visible
from worker_conformance.report.timeline_words import clock, told_of


@frozen
class HistoryRow:
    """Virtual time, who spoke, and what; the first two are empty where a line has none."""

    when: str
    who: str
    what: str


@frozen
class VectorLine:
    """One line of a vector, and whether it is where the Worker failed."""

    text: str
    failed: bool


def history_of(failure: Failure) -> tuple[HistoryRow, ...]:
    """The rows of a failure's history; none where it has none."""
    if failure.timeline is not None:
        return tuple(_rows(failure.timeline))
    return tuple(_row(line) for line in failure.transcript if line.strip(" ^"))


def _rows(timeline: Timeline) -> Iterator[HistoryRow]:
    for place, mark in enumerate(timeline.marks):
        if timeline.left_out and place == timeline.left_out_after:
            yield HistoryRow("", "", f"… {timeline.left_out} left out …")
        repeated = mark.times > 1 and mark.until > mark.at
        times = f" ({mark.times} times, until {clock(mark.until)})" if repeated else ""
        yield HistoryRow(clock(mark.at), mark.who, visible(told_of(mark)) + times)


def _row(line: str) -> HistoryRow:
    parts = TRANSCRIPT_LINE.fullmatch(visible(line))
    if parts:
        return HistoryRow(parts[1], parts[2], parts[3])
    return HistoryRow("", "", visible(line).rstrip())


def vector_name(failure: Failure) -> str:
    """The ID of the vector that was played."""
    told = re.search(r"^id: (\S+)", failure.vector, re.MULTILINE)
    return visible(told[1]) if told else "of the scenario"


def vector_lines(failure: Failure) -> tuple[VectorLine, ...]:
    """The lines of the vector that was played, the failed one marked."""
    place = re.search(r"\.yaml:(\d+)\b", failure.step or "")
    number = int(place[1]) if place else 0
    return tuple(
        VectorLine(visible(line), at == number)
        for at, line in enumerate(failure.vector.splitlines(), 1)
    )
