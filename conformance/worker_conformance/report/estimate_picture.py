"""Published estimates as a picture: each start window, and the start that followed.

Turns windows into coordinates and words; the HTML template draws them. Never decides whether an
estimate was good.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from attrs import frozen

from worker_conformance.judge.evidence import EstimateWindow
from worker_conformance.report.axis import Scale, Tick, nice_ticks
from worker_conformance.report.timeline_words import clock

# In the picture's own units; a page scales it.
WIDTH = 480
LEFT_MIN, LEFT_MAX = 40, 120  # for the names of WorkItems
CHARACTER = 6.6  # of a name
RIGHT = 34  # for half of the last time on the axis
ROW = 18
TOP = 6
AXIS = 24
BAR = 8


@frozen
class Row:
    """One estimate: from `published_x` its work waited, the window, and the start."""

    name: str
    y: float
    published_x: float
    window_x: float
    window_width: float
    started_x: float | None
    came_true: bool | None
    title: str


@frozen
class EstimatePicture:
    """The windows of one scene."""

    scene: str
    width: float
    height: float
    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]
    axis_y: float
    description: str
    windows: tuple[EstimateWindow, ...]


def estimate_pictures(windows: Sequence[EstimateWindow]) -> tuple[EstimatePicture, ...]:
    """One picture for each scene, in the order in which they were played."""
    return tuple(_picture(scene, list(many)) for scene, many in groupby(windows, lambda w: w.scene))


def _picture(scene: str, windows: list[EstimateWindow]) -> EstimatePicture:
    first = min(min(one.published, one.earliest) for one in windows)
    last = max(max(one.latest, one.started or 0.0, one.published) for one in windows)
    span = max(last - first, 1.0)
    longest = max(len(one.work) for one in windows)
    left = min(LEFT_MAX, max(LEFT_MIN, 12 + longest * CHARACTER))

    def x(at: float) -> float:
        return round(left + (at - first) / span * (WIDTH - left - RIGHT), 1)

    rows = tuple(_rows(windows, x))
    axis_y = TOP + len(rows) * ROW + 4
    return EstimatePicture(
        scene=scene,
        width=WIDTH,
        height=axis_y + AXIS,
        rows=rows,
        ticks=tuple(Tick(x(at), clock(at)) for at in nice_ticks(first, last)),
        axis_y=axis_y,
        description=_description(windows),
        windows=tuple(windows),
    )


def _rows(windows: Sequence[EstimateWindow], x: Scale) -> Iterator[Row]:
    before = ""
    for place, one in enumerate(windows):
        yield Row(
            name="" if one.work == before else one.work,
            y=TOP + place * ROW + ROW / 2,
            published_x=x(one.published),
            window_x=x(one.earliest),
            window_width=max(2.0, round(x(one.latest) - x(one.earliest), 1)),
            started_x=None if one.started is None else x(one.started),
            came_true=one.came_true,
            title=_told(one),
        )
        before = one.work


def _told(one: EstimateWindow) -> str:
    window = f"{one.work}: start between {clock(one.earliest)} and {clock(one.latest)}"
    told = f"{window}, said at {clock(one.published)}"
    if one.confidence is not None:
        told += f" with confidence {one.confidence:.2f}"
    if one.started is None:
        return f"{told}; it did not start meanwhile"
    where = "within" if one.came_true else "outside"
    return f"{told}; started at {clock(one.started)}, {where} the window"


def _description(windows: Sequence[EstimateWindow]) -> str:
    came = [one.came_true for one in windows]
    never = came.count(None)
    told = (
        f"{len(windows)} start windows: {came.count(True)} came true, {came.count(False)} did not"
    )
    return f"{told}, {never} of work that did not start meanwhile." if never else f"{told}."
