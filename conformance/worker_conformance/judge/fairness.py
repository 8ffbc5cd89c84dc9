"""Weighted fairness as an inequality: the one-sided backlogged lag (MWP-WRK-010).

Responsible for measuring, over a service history, how far any Group ran ahead of a Group of its
class that was backlogged all the while, and for the bound that a declared Scheduler is held to.
Never looks at a Trace, and never judges waiting times (`starvation` does) or single decisions
(`exact` does). docs/fairness.md derives the formulas.

For a Group h backlogged throughout an interval and any other Group g of its class:

    S_g/w_g - S_h/w_h  <=  (N - 1 + kappa) (L_g/w_g + L_h/w_h) + F L_max/w_min  [+ Z term]

The lag is one-sided: a Group that does not ask for service may fall behind without harm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import define, field, frozen

from worker_conformance.judge.service import Dispatch, Moment, ServiceHistory, Standing
from worker_conformance.port.declaration import Parameters

ServiceUnit = Literal["dispatch", "slotTime"]

RANDOM_FACTOR = 6.0
"""Z. By the reflection principle a lawful lottery's largest lag passes six standard deviations in
fewer than one of 10^8 runs, at whatever moment one looks: the test may stop early."""

SAFETY_FACTOR = 1.5
"""A run is long enough when a wrong share has grown to this multiple of the bound."""

STORY_DISPATCHES = 8
SERIES_POINTS = 100  # as many as a small picture shows


@frozen
class Allowance:
    """What a Scheduler is held to: the declared figures under their ceilings.

    `random_factor` is Z, and 0 unless randomness has been declared *and* shown.
    """

    slots: int
    lag_quanta: float = 2.0
    frame_factor: float = 2.0
    unit: ServiceUnit = "dispatch"
    random_factor: float = 0.0

    @classmethod
    def of(cls, parameters: Parameters, slots: int, *, randomness_shown: bool = False) -> Allowance:
        """Read a Worker's parameters; figures above a ceiling are held to it."""
        held, _ = parameters.effective()
        return cls(
            slots,
            held.lag_quanta,
            held.frame_factor,
            "slotTime" if held.fairness_unit == "slotTime" else "dispatch",
            RANDOM_FACTOR if held.randomised and randomness_shown else 0.0,
        )

    def charge(self, dispatch: Dispatch) -> float:
        """The service that one dispatch buys, in this Worker's unit."""
        return dispatch.seconds if self.unit == "slotTime" else 1.0

    def quantum(self, seconds: float) -> float:
        """The service of an item of that length, in this Worker's unit."""
        return seconds if self.unit == "slotTime" else 1.0


@frozen
class Flow:
    """One Group as the bound sees it: its weight, and its largest offered item in service units."""

    weight: float
    largest: float


@frozen
class PairFinding:
    """How far `ahead` ran ahead of the backlogged `behind`, in service per unit of weight.

    The interval is from just after moment `first` to moment `last` of the history, in virtual
    time from `since` to `until` (microseconds).
    """

    ahead: str
    behind: str
    lag: float
    bound: float
    first: int
    last: int
    since: int
    until: int

    @property
    def ratio(self) -> float:
        """Measured over bound: above 1 the Scheduler is unfair."""
        return self.lag / self.bound


@frozen
class SeriesPoint:
    """The worst measured/bound over all pairs at a dispatch, for the picture in a report."""

    at: int
    ratio: float


@frozen
class FairnessFinding:
    """What one history says about weighted fairness.

    `witness` counts the dispatches at which some other Group of the class was backlogged: without
    any, nothing has been shown. `detectable` is the smallest error of a share (as a fraction)
    that a run of this length would have caught.
    """

    allowance: Allowance
    worst: PairFinding | None
    dispatches: int
    witness: int
    detectable: float
    shares: Mapping[str, float]
    story: tuple[Dispatch, ...] = ()
    series: tuple[SeriesPoint, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether no lag went beyond its bound. Says nothing where `witness` is 0."""
        return self.worst is None or self.worst.ratio <= 1

    @property
    def ratio(self) -> float:
        """The worst measured/bound."""
        return 0.0 if self.worst is None else self.worst.ratio


def pair_bound(ahead: Flow, behind: Flow, allowance: Allowance, frame: float) -> float:
    """B(g, h) without its random term; `frame` is L_max/w_min, the length of one frame."""
    quanta = allowance.slots - 1 + allowance.lag_quanta
    per_weight = ahead.largest / ahead.weight + behind.largest / behind.weight
    return quanta * per_weight + allowance.frame_factor * frame


def frame_of(flows: Sequence[Flow]) -> float:
    """L_max/w_min over the Groups that offered anything."""
    if not flows:
        return 0.0
    return max(flow.largest for flow in flows) / min(flow.weight for flow in flows)


def largest_bound(flows: Sequence[Flow], allowance: Allowance) -> float:
    """The largest B(g, h) over the pairs of `flows`, without random terms."""
    frame = frame_of(flows)
    pairs = ((g, h) for i, g in enumerate(flows) for h in flows[i + 1 :])
    return max((pair_bound(g, h, allowance, frame) for g, h in pairs), default=0.0)


def run_length(
    flows: Sequence[Flow], allowance: Allowance, share_error: float, mean_service: float = 1.0
) -> int:
    """The dispatches after which a share that is wrong by `share_error` breaks the bound.

    A share that is wrong by the fraction d makes the lag grow by d/W with each unit of service.
    Without randomness that gives T >= 1.5 W max(B) / d; with it, the allowance grows as the root
    of T, and T >= 1.5 W (B + Z sigma sqrt(T)) / d is solved for T. `mean_service` is what one
    dispatch buys on average.
    """
    weights = sum(flow.weight for flow in flows) / mean_service
    fixed = SAFETY_FACTOR * weights * largest_bound(flows, allowance) / share_error
    if not allowance.random_factor or not flows:
        return math.ceil(fixed)
    least = min(flow.weight for flow in flows)
    sigma = max(flow.largest for flow in flows) * math.sqrt(2 / (least * weights * mean_service))
    drift = SAFETY_FACTOR * allowance.random_factor * sigma * weights / share_error
    root = (drift + math.sqrt(drift * drift + 4 * fixed)) / 2
    return math.ceil(root * root)


def judge_fairness(history: ServiceHistory, allowance: Allowance) -> FairnessFinding:
    """Measure the lag of every pair of Groups over the whole history, in one pass."""
    measure = _Measure(history, allowance, _variance(history, allowance))
    for index, moment in enumerate(history.moments):
        measure.take(index, moment)
    flows = measure.flows()
    return FairnessFinding(
        allowance,
        measure.worst,
        measure.dispatches,
        measure.witness,
        _detectable(flows, allowance, measure.service_total),
        _shares(measure.served),
        _story(history.moments, measure.worst),
        thinned(measure.series, SERIES_POINTS),
    )


def thinned(points: Sequence[SeriesPoint], most: int) -> tuple[SeriesPoint, ...]:
    """At most `most` points, each the worst of its stretch: a picture must not hide a peak."""
    if len(points) <= most:
        return tuple(points)
    stretch = math.ceil(len(points) / most)
    cuts = range(0, len(points), stretch)
    return tuple(max(points[i : i + stretch], key=lambda point: point.ratio) for i in cuts)


@define(eq=False)
class _Account:
    """One Group in the running measurement."""

    weight: float
    priority_class: str | None
    backlogged: bool
    served: float = 0.0  # service per unit of weight
    mark: int = 0  # the moment of its last service, or of the beginning of its present period
    mark_at: int = 0
    least: dict[str, tuple[float, int, int]] = field(factory=dict)
    """For each Group ahead: the running minimum of S_g/w_g - S_h/w_h, its moment and time."""


@define(eq=False)
class _Measure:
    history: ServiceHistory
    allowance: Allowance
    variance: float
    accounts: dict[str, _Account] = field(factory=dict, init=False)
    bounds: dict[tuple[str, str], float] = field(factory=dict, init=False)
    served: dict[str, float] = field(factory=dict, init=False)
    worst: PairFinding | None = field(default=None, init=False)
    dispatches: int = field(default=0, init=False)
    witness: int = field(default=0, init=False)
    service_total: float = field(default=0.0, init=False)
    series: list[SeriesPoint] = field(factory=list, init=False)

    def take(self, index: int, moment: Moment) -> None:
        if isinstance(moment, Dispatch):
            self._dispatch(index, moment)
        elif isinstance(moment, Standing):
            self._stand(index, moment)

    def flows(self) -> list[Flow]:
        return [self._flow(name) for name in self.accounts if name in self.history.largest]

    def _flow(self, name: str) -> Flow:
        seconds = self.history.largest.get(name, 0.0)
        return Flow(self.accounts[name].weight, self.allowance.quantum(seconds))

    def _stand(self, index: int, news: Standing) -> None:
        account = self.accounts.get(news.group)
        if account is None:
            account = _Account(news.weight, news.priority_class, backlogged=False)
            self.accounts[news.group] = account
        changed = (news.weight, news.priority_class) != (account.weight, account.priority_class)
        if changed:
            # What a Group bought at another weight, or in another class, measures nothing now.
            for other in self.accounts.values():
                other.least.pop(news.group, None)
        if changed or news.fresh or (news.backlogged and not account.backlogged):
            account.least.clear()
            account.mark, account.mark_at = index, news.at
        if account.weight != news.weight:
            self.bounds.clear()
        account.weight, account.priority_class = news.weight, news.priority_class
        account.backlogged = news.backlogged

    def _dispatch(self, index: int, dispatch: Dispatch) -> None:
        service = self.allowance.charge(dispatch)
        ahead = self.accounts[dispatch.group]
        before = ahead.served
        ahead.served += service / ahead.weight
        self.dispatches += 1
        self.service_total += service
        self.served[dispatch.group] = self.served.get(dispatch.group, 0.0) + service
        ratio = self._compare(index, dispatch, ahead, before)
        if ratio is not None:
            self.witness += 1
            self.series.append(SeriesPoint(dispatch.at, ratio))
        if ahead.backlogged:
            self._lower(index, dispatch, ahead)

    def _compare(
        self, index: int, dispatch: Dispatch, ahead: _Account, before: float
    ) -> float | None:
        """The worst ratio of the served Group against each backlogged one; None without any."""
        worst: float | None = None
        for name, behind in self.accounts.items():
            if behind is ahead or not behind.backlogged:
                continue
            if behind.priority_class is None or behind.priority_class != ahead.priority_class:
                continue
            low = behind.least.get(dispatch.group)
            if low is None:
                low = (before - behind.served, behind.mark, behind.mark_at)
                behind.least[dispatch.group] = low
            lag = ahead.served - behind.served - low[0]
            bound = self._bound(dispatch.group, name)
            if worst is None or lag > worst * bound:
                worst = lag / bound
            if self.worst is None or lag > self.worst.ratio * bound:
                self.worst = PairFinding(
                    dispatch.group, name, lag, bound, low[1], index, low[2], dispatch.at
                )
        return worst

    def _lower(self, index: int, dispatch: Dispatch, served: _Account) -> None:
        """The served Group was backlogged itself: each running minimum against it may sink."""
        served.mark, served.mark_at = index, dispatch.at
        for name, low in served.least.items():
            level = self.accounts[name].served - served.served
            if level <= low[0]:  # of equal ones the latest, which makes the shortest story
                served.least[name] = (level, index, dispatch.at)

    def _bound(self, ahead: str, behind: str) -> float:
        known = self.bounds.get((ahead, behind))
        if known is None:
            g, h = self._flow(ahead), self._flow(behind)
            flows = self.flows()
            known = pair_bound(g, h, self.allowance, frame_of(flows))
            if self.allowance.random_factor:
                spread = math.sqrt((1 / g.weight + 1 / h.weight) * self.variance)
                largest = max(flow.largest for flow in flows)
                known += self.allowance.random_factor * largest * spread
            self.bounds[ahead, behind] = known
        return known


def _variance(history: ServiceHistory, allowance: Allowance) -> float:
    """The sum over all dispatches of 1/W, with W the weight of the Groups backlogged just then.

    With every Group backlogged all the time it is T/W. Counting idle Groups in W would understate
    how far a lawful lottery between two light Groups strays while a heavy one is idle.
    """
    if not allowance.random_factor:
        return 0.0
    backlogged: dict[str, float] = {}
    total = 0.0
    for moment in history.moments:
        if isinstance(moment, Dispatch):
            total += 1 / sum(backlogged.values()) if backlogged else 0.0
        elif isinstance(moment, Standing):
            backlogged.pop(moment.group, None)
            if moment.backlogged:
                backlogged[moment.group] = moment.weight
    return total


def _detectable(flows: Sequence[Flow], allowance: Allowance, service: float) -> float:
    """The share error that a run with this much service catches; infinite for an empty run."""
    if not service or len(flows) < 2:
        return math.inf
    weights = sum(flow.weight for flow in flows)
    bound = largest_bound(flows, allowance)
    if allowance.random_factor:
        least = min(flow.weight for flow in flows)
        largest = max(flow.largest for flow in flows)
        sigma = largest * math.sqrt(2 / (least * weights))
        bound += allowance.random_factor * sigma * math.sqrt(service / largest)
    return SAFETY_FACTOR * weights * bound / service


def _shares(served: Mapping[str, float]) -> dict[str, float]:
    total = sum(served.values())
    return {name: amount / total for name, amount in served.items()} if total else {}


def _story(moments: Sequence[Moment], worst: PairFinding | None) -> tuple[Dispatch, ...]:
    """The few dispatches that show the worst interval: its first, and its last ones."""
    if worst is None:
        return ()
    both = (worst.ahead, worst.behind)
    inside = [
        moment
        for moment in moments[worst.first : worst.last + 1]
        if isinstance(moment, Dispatch) and moment.group in both
    ]
    if len(inside) <= STORY_DISPATCHES:
        return tuple(inside)
    half = STORY_DISPATCHES // 2
    return (*inside[:half], *inside[-half:])
