"""A sweep over the backlog of others: what a Group can read of it.

The worlds differ only in how many items another Group has waiting. Measures as well as judges: no
honest estimate tells nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import log2
from weakref import WeakKeyDictionary

from attrs import define, field, frozen

from worker_conformance.judge.privacy.positions import (
    Following,
    Numbers,
    bits,
    following,
    numbers_of,
    ordering,
)
from worker_conformance.judge.privacy.views import Glimpse, view_of
from worker_conformance.judge.trace import Trace
from worker_conformance.judge.verdicts import Failure, Measurement, Verdict
from worker_conformance.organization.names import Names
from worker_conformance.scenario.loader import load_text
from worker_conformance.scenario.model import Scenario
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.comparisons.outcome import Outcome
from worker_conformance.suite.comparisons.stage import Stage, accepted

BACKLOGS = (0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64)

ITEM_SECONDS = 437
"""No multiple of it reads like a count in seconds or fractions of one."""

REACHED = "work of a Group was accepted beside another Group's backlog, at every length of it"
PRESENCE = frozenset({"queuedItems"})


def scene(backlog: int) -> Scenario:
    """One Group's item arrives, and another of it is declined, while `backlog` items wait in B."""
    names = [f"b{number}" for number in range(backlog + 1)]
    offered = ", ".join(f"{{authorize: {one}}}, {{offer: {one}}}" for one in names)
    work = ", ".join(f"{one}: {{duration: {ITEM_SECONDS}}}" for one in names)
    return load_text(
        f"""
id: SWEEP-{backlog:04}
title: One Group waits behind another
stake: >
  Scenery of the sweep over backlogs: what the waiting Group can read of the length of the queue.
requirement: WRK-012.g
level: MUST
profile: disclosure
groups: {{A: {{}}, B: {{}}}}
work: {{a1: {{duration: {ITEM_SECONDS}}}, a2: {{deadline: 1m}}, {work}}}
log:
  A: [created, member, {{authorize: a1}}, {{authorize: a2}}]
  B: [created, member, {offered}]
delivery: auto
steps:
  - start
  - advance: 2m
  - publish: {{A: [{{offer: a1}}]}}
  - publish: {{A: [{{offer: a2}}]}}
  - ping
  - advance: 30m
""",
        f"sweep-{backlog}",
    )


@frozen
class Point:
    """One world of the sweep."""

    backlog: int
    view: tuple[Glimpse, ...]
    reached: bool


@define(slots=False)
class Sweep:
    """All worlds of a sweep, played once for the checks that look at them."""

    stage: Stage
    backlogs: Sequence[int] = BACKLOGS
    _group_id: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        """The Group that looks."""
        self._group_id = Names(self.stage.seed).group_id("A")

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """Every world's view of Group A."""
        return tuple(self._point(backlog) for backlog in self.backlogs)

    def _point(self, backlog: int) -> Point:
        trace: Trace = self.stage.play(scene(backlog))
        return Point(backlog, view_of(trace, self._group_id), {"A", "B"} <= accepted(trace))

    @property
    def witness(self) -> int:
        """Worlds in which both Groups were served; 0 unless it is all of them."""
        reached = sum(point.reached for point in self.points)
        return reached if reached == len(self.points) else 0

    def numbers(self, exempt: frozenset[str]) -> Mapping[int, Numbers]:
        """Every number that Group A saw, by backlog."""
        return {one.backlog: numbers_of(one.view, exempt=exempt) for one in self.points}


_PLAYED: WeakKeyDictionary[Bench, dict[int, Sweep]] = WeakKeyDictionary()


def of(stage: Stage) -> Sweep:
    """The sweep of this process's Worker: three checks look at the same worlds."""
    by_seed = _PLAYED.setdefault(stage.bench, {})
    return by_seed.setdefault(stage.seed, Sweep(stage))


def judge_positions(sweep: Sweep) -> Outcome:
    """No number that a Group sees is the position in the global queue (MWP-WRK-012)."""
    found = following(sweep.numbers(PRESENCE))
    failure = None
    if found is not None:
        failure = Failure(
            expected="no number that follows the backlog of another Group one for one",
            observed=str(found),
            transcript=tuple(_series(sweep, found)),
        )
    return Outcome.of(failure, Verdict.FAIL, sweep.witness, REACHED)


def _series(sweep: Sweep, found: Following) -> list[str]:
    numbers = sweep.numbers(PRESENCE)
    return [
        f"{point.backlog:>4} items of B waiting: {numbers[point.backlog].get(found.place, '-')}"
        for point in sweep.points
    ]


# --- Presence -------------------------------------------------------------------------


def judge_presence(sweep: Sweep) -> Outcome:
    """The count that Presence must carry does not tell the backlog either, if it can be helped."""
    swept = {
        point.backlog: {
            place: number
            for place, number in numbers_of(point.view, exempt=frozenset()).items()
            if place.endswith("queuedItems")
        }
        for point in sweep.points
    }
    found, failure = following(swept), None
    if found is not None:
        failure = Failure(
            expected="a count that satisfies the schema and tells no backlog: zero, a coarse one, "
            "or one made for each receiving Group",
            observed=str(found),
        )
    witness = sweep.witness if all(swept.values()) else 0
    return Outcome.of(failure, Verdict.ADVICE, witness, "Presence was sent in answer to a PING")


# --- inference ------------------------------------------------------------------------


def judge_inference(sweep: Sweep) -> Outcome:
    """How much of the backlog can be inferred from estimates: measured; advice if all of it.

    The bits are an upper bound: what a Worker draws at random tells nothing, and counts here.
    """
    first = [_estimates(point)[:1] for point in sweep.points]
    every = [_estimates(point) for point in sweep.points]
    most = log2(len(sweep.points))
    allowed = bits([_ideal(sweep, backlog) for backlog in sweep.backlogs])
    note = (
        f"of {most:.2f} bits; a window as exact as the declared "
        f"{sweep.stage.parameters.estimate_granularity_seconds:g} s allows {allowed:.2f}"
    )
    measured = (
        Measurement("backlog readable on acceptance", bits(first), most, "bits", note),
        Measurement("backlog readable in the end", bits(every), most, "bits"),
    )
    failure = None
    place = ordering({point.backlog: numbers_of(_disclosed(point)[:1]) for point in sweep.points})
    if place is not None and all(first):
        failure = Failure(
            expected="estimates from which the backlog of others cannot be read off exactly",
            observed=f"{place} moves with every one of {len(sweep.points)} backlogs "
            f"({bits(first):.2f} of {most:.2f} bits)",
        )
    witness = sweep.witness if all(first) else 0
    reached = "an estimate was published beside every backlog"
    return Outcome.of(failure, Verdict.ADVICE, witness, reached, measured)


def _ideal(sweep: Sweep, backlog: int) -> int:
    """The step of the declared granularity in which an exact estimate would fall."""
    granularity = sweep.stage.parameters.estimate_granularity_seconds
    return int(backlog * ITEM_SECONDS // granularity) if granularity else backlog


def _disclosed(point: Point) -> tuple[Glimpse, ...]:
    return tuple(one for one in point.view if one.what.endswith(": disclose"))


def _estimates(point: Point) -> tuple[str, ...]:
    """What estimates say about the time of the waiting item, apart from when they say it."""
    return tuple(one.timeless for one in _disclosed(point))
