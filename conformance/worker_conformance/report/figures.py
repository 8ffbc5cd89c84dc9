"""Figures as one self-contained page: tables, and plots as line drawings.

Opens offline, in light and dark, without scripts. Never measures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from attrs import frozen
from markupsafe import Markup

from worker_conformance import __version__
from worker_conformance.port.contract import SUITE_NAME
from worker_conformance.report.pages import own_file, policy_hash, templates
from worker_conformance.report.telling import visible
from worker_conformance.suite.measuring.figures import CAVEAT, Figure, Measured, Point, shown

STYLES = ("report.css", "figures.css")
WIDTH, HEIGHT = 480, 200  # in the drawing's own units; a page scales it
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 12, 28  # room for the labels of both axes
HEADROOM = 1.1


@frozen
class Mark:
    """A label of an axis and where it stands."""

    at: str
    text: str


@frozen
class Plot:
    """A drawing of WIDTH by HEIGHT: `x` is logarithmic, `y` begins at 0.

    `line` joins the medians, `dots` are those, `bars` reach from the least to the greatest.
    """

    line: str
    dots: tuple[tuple[str, str], ...]
    bars: tuple[tuple[str, str, str], ...]
    across: tuple[Mark, ...]
    upwards: tuple[Mark, ...]
    label: str
    width: int = WIDTH
    height: int = HEIGHT


def to_html(measured: Measured) -> bytes:
    """The page."""
    environment = templates(shown=visible, number=shown, plot=plot_of)
    style = Markup("").join(map(own_file, STYLES))
    page = environment.get_template("figures.html.j2").render(
        measured=measured,
        suite=f"{SUITE_NAME} {__version__}",
        caveat=CAVEAT,
        style=style,
        style_hash=policy_hash(style),
    )
    return page.encode("utf-8", "backslashreplace")


def plot_of(figure: Figure) -> Plot | None:
    """Draw a figure; None where it has fewer than two points."""
    points = [(point.x, point) for point in figure.points if point.x is not None]
    if len(points) < 2:
        return None
    scale = _Scale.of([x for x, _ in points], [point for _, point in points])
    dots = tuple((scale.x(x), scale.y(point.median)) for x, point in points)
    return Plot(
        line=" ".join(f"{x},{y}" for x, y in dots),
        dots=dots,
        bars=tuple((scale.x(x), scale.y(p.least), scale.y(p.greatest)) for x, p in points),
        across=tuple(Mark(scale.x(x), f"{x:,}") for x, _ in points),
        upwards=tuple(scale.marks()),
        label=f"{figure.title} in {figure.unit} over {figure.over}: "
        + ", ".join(f"{shown(point.median)} at {x:,}" for x, point in points),
    )


@frozen
class _Scale:
    """From values to places."""

    first: float
    last: float
    top: float

    @classmethod
    def of(cls, xs: Sequence[int], points: Sequence[Point]) -> _Scale:
        top = max(point.greatest for point in points) * HEADROOM
        return cls(_log(min(xs)), _log(max(xs)), top or 1.0)

    def x(self, value: float) -> str:
        part = (_log(value) - self.first) / ((self.last - self.first) or 1.0)
        return f"{LEFT + part * (WIDTH - LEFT - RIGHT):.1f}"

    def y(self, value: float) -> str:
        part = value / self.top
        return f"{HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM):.1f}"

    def marks(self) -> Iterator[Mark]:
        for part in (0.0, 0.5, 1.0):
            value = self.top / HEADROOM * part
            yield Mark(self.y(value), shown(float(f"{value:.2g}")))


def _log(value: float) -> float:
    return math.log10(max(value, 1))
