"""A measured series as a line drawing: the share of the bound over time, and the bound itself.

Turns numbers into coordinates and words; the HTML template draws them. Never decides a verdict.
"""

from __future__ import annotations

from attrs import frozen

from worker_conformance.judge.verdicts import Measurement

WIDTH, HEIGHT = 240, 56  # in the drawing's own units; a page scales it
MARGIN = 2  # so that the line is not cut at the edges
HEADROOM = 1.15  # the bound stays visible above a run that kept far below it


@frozen
class Picture:
    """A drawing of WIDTH by HEIGHT: the points of the line, the height of the bound, the words."""

    points: str
    bound_y: str
    over: bool
    label: str
    width: int = WIDTH
    height: int = HEIGHT


def picture_of(measurement: Measurement) -> Picture | None:
    """Draw a figure's series; None where it has none."""
    series = measurement.series
    if not series:
        return None
    peak = max(share for _, share in series)
    top = max(1.0, peak) * HEADROOM
    first, last = series[0][0], series[-1][0]
    span = max(last - first, 1.0)
    points = " ".join(f"{_x((at - first) / span)},{_y(share / top)}" for at, share in series)
    label = (
        f"{measurement.name} as a share of its bound, over {_hours(span)}: "
        f"at most {peak:.2f}; the dashed line is the bound"
    )
    return Picture(points, _y(1 / top), peak > 1, label)


def _x(part: float) -> str:
    return f"{MARGIN + part * (WIDTH - 2 * MARGIN):.1f}"


def _y(part: float) -> str:
    return f"{HEIGHT - MARGIN - part * (HEIGHT - 2 * MARGIN):.1f}"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.1f} hours" if seconds >= 3600 else f"{seconds / 60:.1f} minutes"
