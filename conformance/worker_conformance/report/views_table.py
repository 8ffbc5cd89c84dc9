"""Two views of one Group side by side: which of their bytes differ.

Splits texts into what is the same and what is not; the HTML template marks the latter. Never
decides how bad a difference is.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, takewhile

from attrs import frozen

from worker_conformance.judge.evidence import ViewPair
from worker_conformance.report.telling import visible
from worker_conformance.report.timeline_words import clock

NOTHING = "nothing"


@frozen
class Piece:
    """A part of a text, and whether it differs from the other view."""

    text: str
    differs: bool


@frozen
class Side:
    """What one world shows at a place: when, and in pieces; no pieces where it shows nothing."""

    when: str
    pieces: tuple[Piece, ...]


@frozen
class Place:
    """One place at which the views differ."""

    what: str
    plain: Side
    varied: Side
    before: int
    after: int


def places_of(views: tuple[ViewPair, ...]) -> tuple[Place, ...]:
    """Every place, with the differing characters apart."""
    return tuple(map(_place, views))


def _place(pair: ViewPair) -> Place:
    one, other = pair.plain, pair.varied
    times = [NOTHING if at is None else clock(at) for at in pair.at]
    if one is None or other is None:
        pieces = [
            tuple([Piece(visible(text), differs=True)] if text else []) for text in (one, other)
        ]
    else:
        marks = list(_marks(one, other))
        pieces = [tuple(_pieces(text, marks, side)) for side, text in enumerate((one, other))]
    return Place(
        pair.what, Side(times[0], pieces[0]), Side(times[1], pieces[1]), pair.before, pair.after
    )


def _marks(one: str, other: str) -> Iterator[tuple[bool, bool]]:
    """For each character of both texts whether it differs."""
    if len(one) == len(other):
        yield from ((a != b, a != b) for a, b in zip(one, other, strict=True))
        return
    head = _shared(one, other)
    tail = _shared(one[head:][::-1], other[head:][::-1])
    for at in range(max(len(one), len(other))):
        yield (head <= at < len(one) - tail, head <= at < len(other) - tail)


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _pieces(text: str, marks: list[tuple[bool, bool]], side: int) -> Iterator[Piece]:
    rows = zip(text, (mark[side] for mark in marks), strict=False)
    for differs, many in groupby(rows, key=lambda row: row[1]):
        yield Piece(visible("".join(character for character, _ in many)), differs)
