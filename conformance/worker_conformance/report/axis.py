"""Axes of pictures: where their ticks stand. Never draws."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

Scale = Callable[[float], float]
"""Turns seconds into a coordinate."""

# Steps at which people read time, in seconds.
_STEPS = (
    *(1, 2, 5, 10, 15, 30),
    *(60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 10800, 21600, 43200),
    *(86400, 172800, 432000, 864000),
)


@frozen
class Tick:
    """A moment on an axis and what is written at it."""

    x: float
    label: str


def nice_ticks(first: float, last: float, most: int = 4) -> tuple[float, ...]:
    """At most `most` moments, in seconds, on steps that people read."""
    step = next((one for one in _STEPS if (last - first) / one < most), _STEPS[-1])
    while (last - first) / step >= most:
        step *= 2
    at = -(-first // step) * step
    ticks = []
    while at <= last:
        ticks.append(at)
        at += step
    return tuple(ticks)
