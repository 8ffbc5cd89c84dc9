"""Draws what `scale.py` measured: both axes logarithmic, a line for each cost.

    python benchmarks/scale.py > scale.jsonl
    python benchmarks/plot.py scale.jsonl docs/assets/scale.svg

A line as steep as the dashed ones grows as n does. Never measures.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

Point = tuple[float, float]

WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 250, 52, 34, 40
COLOURS = {
    "worker": "#1565c0",
    "suite": "#6d4c41",
    "judge": "#c62828",
    "keep": "#00796b",
    "read": "#7b1fa2",
}
TITLES = {
    "groups": "Groups, one WorkItem in each",
    "lives": "WorkItems in four Groups",
    "messages": "Messages in one Group",
    "slots": "Capacity Slots, 1,000 WorkItems",
    "worlds": "worlds of a campaign",
}


class Panel:
    """One part: its rows by size, and where a value stands."""

    def __init__(self, part: str, rows: Sequence[dict[str, float]], place: int) -> None:
        self.part, self.rows = part, sorted(rows, key=lambda row: row["n"])
        self.costs = [name for name in COLOURS if name in self.rows[0]]
        values = [row[name] for row in rows for name in self.costs if row[name] > 0]
        self.low = (self._floor(self.rows[0]["n"]), self._floor(min(values)))
        self.high = (self._ceil(self.rows[-1]["n"]), self._ceil(max(values)))
        self.x = LEFT + place % 3 * (WIDTH + LEFT + GAP)
        self.y = TOP + place // 3 * (HEIGHT + TOP + GAP)

    def _floor(self, value: float) -> float:
        return math.floor(math.log10(value))

    def _ceil(self, value: float) -> float:
        return math.ceil(math.log10(value) - 1e-9)

    def at(self, n: float, seconds: float) -> Point:
        """Where a measurement is drawn."""
        across = (math.log10(n) - self.low[0]) / (self.high[0] - self.low[0])
        up = (math.log10(seconds) - self.low[1]) / (self.high[1] - self.low[1])
        return self.x + across * WIDTH, self.y + (1 - up) * HEIGHT

    def draw(self) -> Iterator[str]:
        """The panel's elements."""
        title = escape(TITLES.get(self.part, self.part))
        yield f'<text x="{self.x}" y="{self.y - 12}" class="title">{title}</text>'
        yield f'<rect x="{self.x}" y="{self.y}" width="{WIDTH}" height="{HEIGHT}" class="frame"/>'
        yield from self._axes()
        for row, name in enumerate(self.costs):
            points = [self.at(one["n"], one[name]) for one in self.rows if one[name] > 0]
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            yield f'<polyline points="{line}" stroke="{COLOURS[name]}" class="line"/>'
            for x, y in points:
                yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[name]}"/>'
            y = self.y + 18 + row * 16
            yield f'<text x="{self.x + 10}" y="{y}" style="fill:{COLOURS[name]}">{name}</text>'

    def _axes(self) -> Iterator[str]:
        for power in range(int(self.low[0]), int(self.high[0]) + 1):
            x, y = self.at(10.0**power, 10.0 ** self.low[1])
            yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{self.y}" y2="{y:.1f}" class="grid"/>'
            yield f'<text x="{x:.1f}" y="{y + 16:.1f}" class="across">{10**power:,}</text>'
        for power in range(int(self.low[1]), int(self.high[1]) + 1):
            x, y = self.at(10.0 ** self.low[0], 10.0**power)
            across = f'x1="{x:.1f}" x2="{x + WIDTH:.1f}" y1="{y:.1f}" y2="{y:.1f}"'
            yield f'<line {across} class="grid"/>'
            yield f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" class="up">{10.0**power:g} s</text>'
        yield from self._as_steep_as_n()

    def _as_steep_as_n(self) -> Iterator[str]:
        for power in range(int(self.low[1]), int(self.high[1])):
            reach = min(self.high[0] - self.low[0], self.high[1] - power)
            x, y = self.at(10.0 ** self.low[0], 10.0**power)
            far, high = self.at(10.0 ** (self.low[0] + reach), 10.0 ** (power + reach))
            yield (
                f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{far:.1f}" y2="{high:.1f}" class="linear"/>'
            )


STYLE = (
    "text{font:12px sans-serif;fill:#444}.title{font-weight:bold;fill:#111}"
    ".across{text-anchor:middle}.up{text-anchor:end}.frame{fill:none;stroke:#888}"
    ".grid{stroke:#ddd}.linear{stroke:#999;stroke-dasharray:4 4}"
    ".line{fill:none;stroke-width:2}"
)


def drawn(rows: Sequence[dict[str, float | str]]) -> str:
    """The picture of all parts that were measured at more than one size."""
    by_part: dict[str, list[dict[str, float]]] = {}
    for row in rows:
        if "n" in row:
            numbers = {name: value for name, value in row.items() if not isinstance(value, str)}
            by_part.setdefault(str(row["part"]), []).append(numbers)
    parts = [(name, many) for name, many in by_part.items() if len(many) > 1]
    panels = [Panel(name, many, place) for place, (name, many) in enumerate(parts)]
    columns, lines = min(3, len(panels)), -(-len(panels) // 3)
    width = columns * (WIDTH + LEFT + GAP) + 10
    height = lines * (HEIGHT + TOP + GAP) + 4
    body = "\n".join(element for panel in panels for element in panel.draw())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Seconds of processor time by size, both axes logarithmic">\n'
        f'<style>{STYLE}</style>\n<rect width="{width}" height="{height}" fill="#fff"/>\n'
        f"{body}\n</svg>\n"
    )


def main(source: str, target: str) -> None:
    """Read JSON lines, write an SVG."""
    lines = Path(source).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    Path(target).write_text(drawn(rows), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
