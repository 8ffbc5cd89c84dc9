"""A history at a terminal: three columns, so that a long message goes on under itself.

Lays lines of a transcript out and marks, in two views that had to be the same, the bytes that
differ. Never leaves anything out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from attrs import frozen
from rich.table import Table
from rich.text import Text

from worker_conformance.report.telling import TRANSCRIPT_LINE

# Around the bytes that differ, so that they stand out without colour as well.
OPENS = "\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK}"
CLOSES = "\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}"


@frozen
class _Row:
    """One line: its columns, and where in the line the last of them begins."""

    when: str
    who: str
    what: str
    begins: int
    carets: str = ""


def history_grid(lines: Iterable[str], ended: str = "") -> Table:
    """Lay out a transcript, whose lines are harmless already.

    `ended` is when the verdict was reached: often long after the last word was said, and then told.
    """
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim", justify="right")
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    rows = _rows(lines)
    for row in rows:
        grid.add_row(row.when, row.who, _marked(row))
    if ended and ended != next((row.when for row in reversed(rows) if row.when), ended):
        grid.add_row(ended, "suite", "(judged, with nothing more said until here)")
    return grid


def _rows(lines: Iterable[str]) -> list[_Row]:
    rows: list[_Row] = []
    for line in lines:
        parts = TRANSCRIPT_LINE.fullmatch(line)
        if parts:
            rows.append(_Row(parts[1], parts[2], parts[3], parts.start(3)))
        elif line.strip() and not line.strip(" ^"):  # it points at bytes of the two lines before
            rows[-2:] = [_Row(one.when, one.who, one.what, one.begins, line) for one in rows[-2:]]
        else:
            rows.append(_Row("", "", " ".join(line.split()), 0))
    return rows


def _marked(row: _Row) -> Text:
    text = Text()
    carets = row.carets[row.begins :].ljust(len(row.what))
    for differs, piece in _pieces(row.what, carets):
        text.append(f"{OPENS}{piece}{CLOSES}" if differs else piece, "bold" if differs else "")
    return text


def _pieces(text: str, carets: str) -> Iterator[tuple[bool, str]]:
    pairs = zip(text, carets, strict=False)
    for differs, many in groupby(pairs, key=lambda pair: pair[1] == "^"):
        yield differs, "".join(character for character, _ in many)
