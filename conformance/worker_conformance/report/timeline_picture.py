"""A timeline as coordinates: Groups are lanes, Capacity Slots are rows, leases and work are bars.

Lays the marks of a history out from left to right; the HTML template draws them. What happened at
one instant stands side by side in its order, and waits are shortened, so that both can be read.
Never decides what went wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log10

from attrs import define, field, frozen

from worker_conformance.judge.evidence import Mark, MarkKind, Timeline
from worker_conformance.report.timeline_words import (
    SYMBOLS,
    clock,
    description_of,
    label_of,
    title_of,
)

# All lengths are CSS pixels: the picture is scrolled where it is too wide, never shrunk.
STEP = 15  # from one mark to the next
CHARACTER = 6.4  # of a label
LINE = 19  # a line of marks
BAR = 15  # a bar, with the space below it
PAD = 8
GAP_LEFT_OUT = 44
WIDTH_WANTED = 860  # a short history is stretched towards it
STRETCH_MAX = 2.5
LABEL_ROOM = 20  # a symbol, the space behind it, and the one before the next
BAR_ROWS_MAX = 6  # leases side by side in one lane; more share the last row
TICK_APART = 74  # so that two times do not touch
FLAG_ROOM = 20  # above the lanes, for the words at the violation
FLAG_WIDTH = 110  # of these words

SESSION = "Session"

_BANDS = {MarkKind.CUT, MarkKind.HEALED}


@frozen
class Lane:
    """A Group, a Capacity Slot, or the session."""

    label: str
    y: float
    height: float
    is_slot: bool = False


@frozen
class Bar:
    """A lease, work in a slot, or a cut link (`css` says which)."""

    x: float
    y: float
    width: float
    height: float
    css: str
    title: str
    label: str = ""


@frozen
class Shape:
    """One mark: a symbol, a word beside it, and all of it as a title."""

    symbol: str
    x: float
    y: float
    title: str
    label: str = ""


@frozen
class Tick:
    """A moment on the axis; without a label where there is no room for one."""

    x: float
    label: str = ""


@frozen
class TimelinePicture:
    """Everything there is to draw, and the words that say the same."""

    width: float
    height: float
    lanes: tuple[Lane, ...]
    bars: tuple[Bar, ...]
    shapes: tuple[Shape, ...]
    crashes: tuple[float, ...]
    ticks: tuple[Tick, ...]
    end_x: float
    end_label: str
    gap_x: float | None
    description: str
    legend: tuple[tuple[str, str], ...]


def timeline_picture(timeline: Timeline) -> TimelinePicture:
    """Lay a timeline out."""
    places = _places(timeline)
    lanes = _Lanes.of(timeline, places)
    bars = tuple(_bars(timeline, places, lanes))
    shapes = tuple(_shapes(timeline, places.xs, lanes))
    used = {mark.kind for mark in timeline.marks}
    drawn = [*zip(timeline.marks, places.xs, strict=True)]
    return TimelinePicture(
        width=round(places.end + PAD + 2),
        height=lanes.height + FLAG_ROOM + 8,
        lanes=tuple(lanes.all),
        bars=bars,
        shapes=shapes,
        crashes=tuple(x for mark, x in drawn if mark.kind is MarkKind.CRASH),
        ticks=tuple(_ticks(timeline, places)),
        end_x=places.end,
        end_label=clock(timeline.ends_at),
        gap_x=places.gap,
        description=description_of(timeline),
        legend=tuple(_legend(used, bars)),
    )


# --- from left to right ---------------------------------------------------------------


@frozen
class _Places:
    """The place of each mark, of the end, and of what is left out."""

    xs: tuple[float, ...]
    end: float
    gap: float | None


def _places(timeline: Timeline) -> _Places:
    xs: list[float] = []
    gap = None
    taken: dict[tuple[str, str, str], float] = {}  # where the last label of a line ends
    x, before = float(PAD), 0.0
    for index, mark in enumerate(timeline.marks):
        x += _wait(mark.at - before) + (STEP if xs else 0)
        if timeline.left_out and index == timeline.left_out_after:
            gap, x = x + GAP_LEFT_OUT / 2, x + GAP_LEFT_OUT
        line = (mark.group, mark.slot, mark.who)
        if mark.kind in SYMBOLS:
            x = max(x, taken.get(line, 0.0))
            taken[line] = x + _room(mark)
        xs.append(round(x, 1))
        before = max(mark.until, mark.at)
    end = max([x + STEP + _wait(timeline.ends_at - before), *taken.values()])
    stretch = min(STRETCH_MAX, max(1.0, (WIDTH_WANTED - PAD) / (end - PAD)))

    def stretched(place: float) -> float:
        return round(PAD + (place - PAD) * stretch, 1)

    gap = None if gap is None else stretched(gap)
    return _Places(tuple(map(stretched, xs)), stretched(end), gap)


def _room(mark: Mark) -> float:
    label = label_of(mark)
    return LABEL_ROOM + len(label) * CHARACTER if label else STEP


def _wait(seconds: float) -> float:
    """The room for a wait: more for a longer one, and never in proportion."""
    return 0.0 if seconds <= 0 else min(12 + 14 * log10(1 + seconds), 80)


def _ticks(timeline: Timeline, places: _Places) -> Iterator[Tick]:
    last_at, last_x = -1.0, -float(TICK_APART)
    for mark, x in zip(timeline.marks, places.xs, strict=True):
        if mark.at <= last_at:
            continue
        last_at = mark.at
        if x - last_x >= TICK_APART and places.end - x >= FLAG_WIDTH + TICK_APART:
            last_x = x
            yield Tick(x, clock(mark.at))
        else:
            yield Tick(x)


# --- from top to bottom ---------------------------------------------------------------


@define
class _Lanes:
    """Where each lane lies, and the bars in it."""

    all: list[Lane] = field(factory=list)
    height: float = FLAG_ROOM
    rows: dict[int, int] = field(factory=dict)  # by the index of the mark that begins a bar

    @classmethod
    def of(cls, timeline: Timeline, places: _Places) -> _Lanes:
        lanes = cls()
        kinds = {mark.kind for mark in timeline.marks if not mark.group and not mark.slot}
        if kinds - _BANDS:
            lanes._add(SESSION, 2 * LINE)
        for group in dict.fromkeys(
            (*timeline.groups, *(m.group for m in timeline.marks if m.group))
        ):
            rows = lanes._stack(timeline, places, group)
            lanes._add(f"Group {group}", 2 * LINE + rows * BAR)
        for slot in dict.fromkeys((*timeline.slots, *(m.slot for m in timeline.marks if m.slot))):
            lanes._add(f"Slot {slot}", 2 * LINE + BAR, is_slot=True)
        return lanes

    def _add(self, label: str, height: float, *, is_slot: bool = False) -> None:
        self.all.append(Lane(label, self.height, height + 4, is_slot))
        self.height += height + 4

    def _stack(self, timeline: Timeline, places: _Places, group: str) -> int:
        """Give each lease of a Group a row of its own while it lasts; returns how many rows."""
        ends: list[float] = []
        for index, mark in enumerate(timeline.marks):
            if mark.kind is not MarkKind.GRANTED or mark.group != group:
                continue
            end = _end_of(timeline, places, index)
            row = next((r for r, free in enumerate(ends) if free <= places.xs[index]), len(ends))
            row = min(row, BAR_ROWS_MAX - 1)
            ends[row : row + 1] = [end]
            self.rows[index] = row
        return max(len(ends), 1 if any(m.group == group for m in timeline.marks) else 0)

    def lane_of(self, mark: Mark) -> Lane:
        group = f"Group {mark.group}" if mark.group else SESSION
        name = f"Slot {mark.slot}" if mark.slot else group
        return next(lane for lane in self.all if lane.label == name)


def _end_of(timeline: Timeline, places: _Places, begin: int) -> float:
    """Where a bar ends: at the mark that ends it, or at the end of all."""
    began = timeline.marks[begin]
    later = zip(timeline.marks[begin + 1 :], places.xs[begin + 1 :], strict=True)
    return next((x for mark, x in later if _ends(began, mark)), places.end)


def _ends(began: Mark, mark: Mark) -> bool:
    """Whether `mark` ends what `began` began."""
    if began.kind is MarkKind.RUN:
        same_slot = mark.slot == began.slot
        handed_on = mark.kind in {MarkKind.RELEASED, MarkKind.RUN}
        return mark.kind is MarkKind.CRASH or (same_slot and handed_on)
    if began.kind is MarkKind.CUT:
        return mark.kind is MarkKind.HEALED and mark.group in {"", began.group}
    same = (mark.group, mark.text) == (began.group, began.text)
    return mark.kind is MarkKind.ENDED and same


def _bars(timeline: Timeline, places: _Places, lanes: _Lanes) -> Iterator[Bar]:
    for index, mark in enumerate(timeline.marks):
        x = places.xs[index]
        if mark.kind is MarkKind.CUT:
            width = _end_of(timeline, places, index) - x
            for lane in lanes.all:
                whole = not mark.group and not lane.is_slot and lane.label != SESSION
                if whole or (mark.group and lane is lanes.lane_of(mark)):
                    yield Bar(x, lane.y, width, lane.height, "cut", title_of(mark), "cut")
        elif mark.kind in {MarkKind.GRANTED, MarkKind.RUN}:
            lane = lanes.lane_of(mark)
            width = max(4.0, round(_end_of(timeline, places, index) - x, 1))
            y = lane.y + 2 * LINE + lanes.rows.get(index, 0) * BAR
            work = _work_of(mark)
            css = "lease" if mark.kind is MarkKind.GRANTED else "run"
            fits = len(work) * CHARACTER + 6 <= width
            yield Bar(x, y, width, BAR - 3, css, title_of(mark), work if fits else "")


def _work_of(mark: Mark) -> str:
    """The WorkItem's name: of `Execution Lease of a1`, and of `run s1 A a1 …`."""
    words = mark.text.split()
    if mark.kind is MarkKind.GRANTED:
        return words[-1]
    return words[3] if len(words) > 3 else words[-1]


def _shapes(timeline: Timeline, xs: Sequence[float], lanes: _Lanes) -> Iterator[Shape]:
    for mark, x in zip(timeline.marks, xs, strict=True):
        if mark.kind not in SYMBOLS:
            continue
        lane = lanes.lane_of(mark)
        line = 0 if mark.who == "suite" else 1
        y = lane.y + line * LINE + LINE / 2 + 2
        yield Shape(SYMBOLS[mark.kind][0], x, y, title_of(mark), label_of(mark))


def _legend(used: set[MarkKind], bars: Sequence[Bar]) -> Iterator[tuple[str, str]]:
    yield from (told for kind, told in SYMBOLS.items() if kind in used)
    drawn = {bar.css for bar in bars}
    for css, meaning in (
        ("lease", "an Execution Lease"),
        ("run", "work in a Capacity Slot"),
        ("cut", "a cut link"),
    ):
        if css in drawn:
            yield css, meaning
