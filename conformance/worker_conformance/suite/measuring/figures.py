"""Figures: what was measured, as medians over rounds, and how they are written as JSON.

Never measures and never draws.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import median
from typing import Self

from attrs import frozen

from worker_conformance import __version__
from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.judge.verdicts import WorkerIdentity
from worker_conformance.port.contract import SUITE_NAME

FORMAT = "worker-conformance-bench-1"

CAVEAT = (
    "Real time on a machine that may do other things meanwhile: absolute figures differ from run "
    "to run, by a factor where it is busy. Ratios are of what was measured side by side in one "
    "run. Each figure is the median of the rounds, with the least and the greatest beside it."
)

DIGITS = 4  # significant ones: more than any of these figures has


@frozen
class Point:
    """One value over all rounds, at `x` (None for a figure that depends on nothing)."""

    x: int | None
    median: float
    least: float
    greatest: float

    @classmethod
    def of(cls, x: int | None, values: Sequence[float]) -> Self:
        """Sum up one value a round; there is one at least."""
        return cls(x, median(values), min(values), max(values))


@frozen
class Figure:
    """What was measured: `unit` of the values, `over` what they were measured.

    `key` is a stable name for programs, `about` one sentence for people.
    """

    key: str
    title: str
    unit: str
    over: str
    about: str
    points: tuple[Point, ...]


@frozen
class Measured:
    """All figures of one Worker. `notes` tell what could not be measured, and why."""

    worker: WorkerIdentity
    seed: int
    rounds: int
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()

    def to_document(self) -> JsonObject:
        """As JSON members."""
        return {
            "format": FORMAT,
            "suite": {"name": SUITE_NAME, "version": __version__},
            "worker": {
                "name": self.worker.name,
                "version": self.worker.version,
                "language": self.worker.language,
                "adapter": self.worker.adapter,
                "transport": self.worker.transport,
            },
            "seed": self.seed,
            "rounds": self.rounds,
            "caveat": CAVEAT,
            "figures": [_figure(one) for one in self.figures],
            "notes": list(self.notes),
        }

    def to_json(self) -> bytes:
        """As a file."""
        text = json.dumps(self.to_document(), indent=2, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8", "backslashreplace") + b"\n"


def shown(value: float) -> str:
    """A value for people: significant digits, never an exponent."""
    if value == 0:
        return "0"
    text = f"{value:.{DIGITS}g}"
    return f"{float(text):,.0f}" if abs(value) >= 1_000 else text


def _figure(figure: Figure) -> JsonObject:
    points: list[JsonValue] = [
        {"x": one.x, "median": one.median, "least": one.least, "greatest": one.greatest}
        for one in figure.points
    ]
    return {
        "key": figure.key,
        "title": figure.title,
        "unit": figure.unit,
        "over": figure.over,
        "about": figure.about,
        "points": points,
    }
