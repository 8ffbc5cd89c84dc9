"""Bounded waiting: flood, and starvation over a doubling horizon (MWP-WRK-010).

Responsible for how long an eligible item may wait under continuing arrivals of others, and for
finding the item that waited longest. Never judges shares (`fairness` does). Times are in seconds
unless a name says otherwise; docs/fairness.md derives the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from enum import StrEnum

from attrs import frozen

from worker_conformance.judge.fairness import Allowance, Flow, frame_of, pair_bound
from worker_conformance.judge.service import MICROSECONDS, ServiceHistory
from worker_conformance.port.declaration import Parameters

SERVED_BY = 2
"""Served within this multiple of the base: no starvation."""

STARVED_AT = 8
"""Not served within this multiple: starvation, whatever was declared."""

CLASS_TURNS = 3
SLACK_SLOTS = 5
SLACK_ITEMS = 60


class Waited(StrEnum):
    """How the longest wait of a run compares with the horizon."""

    SERVED = "served"
    HORIZON_EXCEEDED = "declared horizon exceeded"
    STARVED = "starved"
    UNDECIDED = "undecided"
    """Still waiting when the run ended, and the run was too short to say anything."""


@frozen
class Wait:
    """One item's wait: from when it became eligible (virtual time, microseconds) for `seconds`.

    `served` is false while it was still waiting when the history ended.
    """

    item: str
    group: str
    since: int
    seconds: float
    served: bool


@frozen
class StarvationFinding:
    """The wait that came nearest to its limit (or went farthest beyond it), beside that limit.

    `witness` counts the waits that were looked at.
    """

    waited: Waited
    worst: Wait | None
    limit_seconds: float
    witness: int

    @property
    def holds(self) -> bool:
        """Whether everybody was served in time. An undecided run has shown nothing."""
        return self.waited is Waited.SERVED

    @property
    def ratio(self) -> float:
        """Measured over limit."""
        if self.worst is None or not self.limit_seconds:
            return 0.0
        return self.worst.seconds / self.limit_seconds


@frozen
class Horizon:
    """The declared anti-starvation figures, under their ceilings."""

    horizon_seconds: float = 3600.0
    class_ratio: float = 8.0

    @classmethod
    def of(cls, parameters: Parameters) -> Horizon:
        """Read a Worker's parameters; figures above a ceiling are held to it."""
        held, _ = parameters.effective()
        return cls(held.starvation_horizon_seconds, held.class_share_ratio)

    def base_seconds(
        self, slots: int, weights: Mapping[str, float], victim: str, item_seconds: float
    ) -> float:
        """A + 3 CW (N + 5) W / (w_v N) L + 60 L: the time a fair Scheduler stays well below."""
        turns = sum(weights.values()) / (weights[victim] * slots)
        by_class = CLASS_TURNS * self.class_ratio * (slots + SLACK_SLOTS) * turns * item_seconds
        return self.horizon_seconds + by_class + SLACK_ITEMS * item_seconds


def waits(history: ServiceHistory) -> Iterator[Wait]:
    """Every wait of the history: those that ended in a dispatch, then those that did not end.

    A dispatch that ended without progress (paused at once) has served nobody: the wait goes on.
    """
    for dispatch in history.dispatches():
        if not dispatch.seconds:
            continue
        seconds = (dispatch.at - dispatch.since) / MICROSECONDS
        yield Wait(dispatch.item, dispatch.group, dispatch.since, seconds, served=True)
    for waiting in history.waiting:
        seconds = (history.ends_at - waiting.since) / MICROSECONDS
        yield Wait(waiting.item, waiting.group, waiting.since, seconds, served=False)


def judge_starvation(
    history: ServiceHistory, horizon: Horizon, item_seconds: float, victim: str | None = None
) -> StarvationFinding:
    """Compare every wait with its Group's limit; `victim` must have been served as well.

    Every item is looked at, not only the victim: a newest-first Scheduler serves each victim at
    once and lets the oldest item wait for ever.
    """
    bases = {
        group: horizon.base_seconds(history.slots, history.weights, group, item_seconds)
        for group in history.largest
    }
    worst: Wait | None = None
    unserved: Wait | None = None
    count = 0
    for wait in waits(history):
        count += 1
        if worst is None or wait.seconds / bases[wait.group] > worst.seconds / bases[worst.group]:
            worst = wait
        if wait.item == victim and not wait.served:
            unserved = wait
    if worst is None:
        return StarvationFinding(Waited.UNDECIDED, None, 0.0, 0)
    multiple = worst.seconds / bases[worst.group]
    waited = _waited(multiple)
    if waited is Waited.SERVED and unserved is not None:
        waited, worst = Waited.UNDECIDED, unserved
    return StarvationFinding(waited, worst, SERVED_BY * bases[worst.group], count)


def _waited(multiple: float) -> Waited:
    if multiple <= SERVED_BY:
        return Waited.SERVED
    return Waited.HORIZON_EXCEEDED if multiple < STARVED_AT else Waited.STARVED


def flood_bound_seconds(
    history: ServiceHistory, allowance: Allowance, victim: str, item_seconds: float
) -> float:
    """The wait of a single item beside full queues of others, however full they are.

    (sum of w_g B(g, v) over the others + N L) / N + L: each other Group may run ahead of the
    victim's by its bound, the slots are busy when the item comes, and one item is its own.
    """
    flows = {
        name: Flow(history.weights[name], allowance.quantum(seconds))
        for name, seconds in history.largest.items()
    }
    frame = frame_of(list(flows.values()))
    own = flows[victim]
    others = [flow for name, flow in flows.items() if name != victim]
    ahead = sum(
        flow.weight
        * (pair_bound(flow, own, allowance, frame) + _spread(flow, own, flows, history, allowance))
        for flow in others
    )
    # A service unit is a second of slot time, or one item of this length.
    seconds = ahead if allowance.unit == "slotTime" else ahead * item_seconds
    return (seconds + history.slots * item_seconds) / history.slots + item_seconds


def _spread(
    ahead: Flow,
    behind: Flow,
    flows: Mapping[str, Flow],
    history: ServiceHistory,
    allowance: Allowance,
) -> float:
    """The statistical part of B for a randomised Scheduler over this run."""
    if not allowance.random_factor:
        return 0.0
    weights = sum(flow.weight for flow in flows.values())
    dispatches = sum(1 for _ in history.dispatches())
    per_dispatch = (1 / ahead.weight + 1 / behind.weight) / weights
    largest = max(flow.largest for flow in flows.values())
    return allowance.random_factor * largest * math.sqrt(per_dispatch * dispatches)


def judge_flood(
    history: ServiceHistory, allowance: Allowance, victim_item: str, item_seconds: float
) -> StarvationFinding:
    """Whether the single item was served within the flood bound."""
    wait = next((w for w in waits(history) if w.item == victim_item), None)
    if wait is None:
        return StarvationFinding(Waited.UNDECIDED, None, 0.0, 0)
    limit = flood_bound_seconds(history, allowance, wait.group, item_seconds)
    if wait.seconds >= limit:
        waited = Waited.STARVED
    else:
        waited = Waited.SERVED if wait.served else Waited.UNDECIDED
    return StarvationFinding(waited, wait, limit, 1)
