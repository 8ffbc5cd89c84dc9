"""A measured series as a chart: the share of the bound over virtual time, and the bound itself.

Turns numbers into coordinates and words; the HTML template draws them. Never decides a verdict.
"""

from __future__ import annotations

from attrs import frozen

from worker_conformance.judge.verdicts import Measurement
from worker_conformance.report.axis import Tick, nice_ticks
from worker_conformance.report.telling import figure
from worker_conformance.report.timeline_words import clock

# In the drawing's own units; a page scales it.
WIDTH, HEIGHT = 480, 160
LEFT, RIGHT, TOP, BOTTOM = 44, 34, 12, 24
HEADROOM = 1.15  # the bound stays visible above a run that kept far below it


@frozen
class Picture:
    """A drawing of `width` by `height`: the line, the bound, the axes, the words.

    `bound_y` is where the bound lies, `over` whether the line crosses it. `peak` is the highest
    point: its coordinates and what is written there.
    """

    points: str
    bound_y: str
    bound_label: str
    over: bool
    label: str
    peak: tuple[str, str, str]
    ticks: tuple[Tick, ...]
    levels: tuple[Tick, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def picture_of(measurement: Measurement) -> Picture | None:
    """Draw a figure's series; None where it has none."""
    series = measurement.series
    if not series:
        return None
    peak_at, peak = max(series, key=lambda point: point[1])
    top = max(1.0, peak) * HEADROOM
    first, last = series[0][0], series[-1][0]
    span = max(last - first, 1.0)

    def x(at: float) -> float:
        return LEFT + (at - first) / span * (WIDTH - LEFT - RIGHT)

    def y(share: float) -> float:
        return HEIGHT - BOTTOM - share / top * (HEIGHT - TOP - BOTTOM)

    return Picture(
        points=" ".join(f"{x(at):.1f},{y(share):.1f}" for at, share in series),
        bound_y=f"{y(1):.1f}",
        bound_label=f"bound {figure(measurement.bound)}" if measurement.bound else "bound",
        over=peak > 1,
        label=(
            f"{measurement.name} as a share of its bound, over {_length(span)}: "
            f"at most {peak:.2f}, at {clock(peak_at)}; the dashed line is the bound"
        ),
        peak=(f"{x(peak_at):.1f}", f"{y(peak):.1f}", f"{peak:.2f}"),
        ticks=tuple(Tick(round(x(at), 1), clock(at)) for at in nice_ticks(first, last)),
        levels=tuple(Tick(round(y(level), 1), f"{level:g}") for level in _levels(top)),
    )


def _levels(top: float) -> list[float]:
    """Shares that are written beside the axis: quarters, halves, or whole bounds."""
    step = next(step for step in (0.25, 0.5, 1, 2, 5, 10, 25, 100, 1e9) if top / step < 6)
    return [step * number for number in range(int(top / step) + 1)]


def _length(seconds: float) -> str:
    return f"{seconds / 3600:.1f} hours" if seconds >= 3600 else f"{seconds / 60:.1f} minutes"
