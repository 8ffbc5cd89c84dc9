"""The conditions `fair` and `served_within`: what a vector asks of a whole schedule.

Responsible for choosing the judge that a condition means and for saying in words and figures what
it found. Never measures anything itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from attrs import frozen

from worker_conformance.judge.fairness import (
    Allowance,
    FairnessFinding,
    PairFinding,
    judge_fairness,
)
from worker_conformance.judge.sequential import FALSE_FAILURE, MISSED, SharesFinding, judge_shares
from worker_conformance.judge.service import MICROSECONDS, ServiceHistory
from worker_conformance.judge.service_trace import history_of
from worker_conformance.judge.starvation import (
    Horizon,
    StarvationFinding,
    Wait,
    Waited,
    judge_flood,
    judge_starvation,
    waits,
)
from worker_conformance.judge.trace import Trace
from worker_conformance.judge.verdicts import Measurement
from worker_conformance.port.declaration import Parameters
from worker_conformance.scenario.model import Delivery, Drive, Link, Scenario

SHARE_ERROR = 0.25
"""The error of a share that a run over the Port must be long enough to catch, by default."""

ERROR_MEMBER = "percent"
"""The setting of a driver that asks for another error, in percent."""

HORIZON = "horizon"


@frozen
class ScheduleFinding:
    """One answer. `holds` is None where the Trace cannot decide it; `observed` then says why.

    `fairness` is the whole measurement, the series for a picture included.
    """

    expected: str
    holds: bool | None
    observed: str
    measurements: tuple[Measurement, ...] = ()
    fairness: FairnessFinding | None = None


# --- fair -----------------------------------------------------------------------------


def fair(trace: Trace, scenario: Scenario, parameters: Parameters) -> ScheduleFinding:
    """MWP-WRK-010: no Group ran ahead of a backlogged one of its class beyond the bound.

    Judged twice: by accepted work, and by demand, which an offer not taken is as well. A Worker
    that refuses one Group's offers is as unfair as one that never starts its work.
    """
    expected = "every backlogged Group gets its weighted share, within the declared bound"
    blind = _blind(scenario)
    if blind:
        return ScheduleFinding(expected, None, blind)
    allowance = Allowance.of(parameters, scenario.agent.slots, randomness_shown=True)
    history = history_of(trace, scenario)
    started = judge_fairness(history, allowance)
    demanded = judge_fairness(history_of(trace, scenario, offers_count=True), allowance)
    worst = demanded if demanded.ratio > started.ratio else started
    error = share_error_of(scenario)
    if allowance.random_factor:
        shares = judge_shares(history, error)
        holds, observed = _verdict_by_lots(worst, shares)
        figures = (*_lag_figure(worst), _test_figure(shares, error), *_ceiling_notes(parameters))
    else:
        holds, observed = _verdict(started, worst, error)
        figures = (*_share_figures(worst), *_ceiling_notes(parameters))
    return ScheduleFinding(expected, holds, observed, figures, worst)


def share_error_of(scenario: Scenario) -> float:
    """The error of a share that this scenario's run has to be long enough to catch."""
    drives = [step.action for step in scenario.steps if isinstance(step.action, Drive)]
    asked = [drive.members.get(ERROR_MEMBER) for drive in drives]
    percents = [percent for percent in asked if isinstance(percent, int) and percent > 0]
    return min((percent / 100 for percent in percents), default=SHARE_ERROR)


def _verdict_by_lots(worst: FairnessFinding, shares: SharesFinding) -> tuple[bool | None, str]:
    """A Scheduler that draws lots: the bound with its allowance, and the test of shares."""
    if not worst.holds:
        return False, _story(worst)
    return shares.holds, f"{shares.says}, after {shares.witness} draws"


def _test_figure(shares: SharesFinding, share_error: float) -> Measurement:
    note = (
        f"{shares.says}, after {shares.witness} draws; chance of failing a lawful Scheduler "
        f"{FALSE_FAILURE:g}, of missing such an error {MISSED:g}"
    )
    return Measurement("share error that is tested", share_error, None, "fraction", note)


def _verdict(
    started: FairnessFinding, worst: FairnessFinding, share_error: float
) -> tuple[bool | None, str]:
    if not worst.holds:
        return False, _story(worst)
    if not started.witness:
        return None, f"{started.dispatches} dispatches, none while another Group was backlogged"
    if started.detectable > share_error:
        return None, (
            f"{started.dispatches} dispatches would not have shown a share that is wrong by "
            f"{share_error:.0%}, only one by {started.detectable:.0%}"
        )
    return True, f"at most {worst.ratio:.0%} of the bound over {started.dispatches} dispatches"


def _blind(scenario: Scenario) -> str:
    """Why eligibility cannot be read from this scenario's Trace, or an empty text."""
    manual = Delivery("manual")
    by_hand = scenario.delivery == "manual" or any(s.action == manual for s in scenario.steps)
    if by_hand:
        return "Events are delivered by hand here, so what the Worker knew when is not judged"
    if any(isinstance(step.action, Link) for step in scenario.steps):
        return "a link is cut here, so what the Worker could start when is not judged"
    return ""


def _story(finding: FairnessFinding) -> str:
    """The interval, the two Groups, and the few dispatches that show it."""
    worst = finding.worst
    if worst is None:
        return "nothing was measured"
    listed = "; ".join(f"{_clock(d.at)} {d.item}" for d in finding.story)
    return (
        f"{worst.ahead} ran ahead of {worst.behind}, which was backlogged all the while, by "
        f"{worst.lag:.2f} per unit of weight (bound {worst.bound:.2f}) from {_clock(worst.since)} "
        f"to {_clock(worst.until)}; dispatches: {listed}"
    )


def _share_figures(finding: FairnessFinding) -> Iterator[Measurement]:
    yield from _lag_figure(finding)
    if math.isfinite(finding.detectable):
        yield Measurement(
            "share error that this run would catch",
            round(finding.detectable, 4),
            None,
            "fraction",
            f"{finding.dispatches} dispatches",
        )


def _lag_figure(finding: FairnessFinding) -> Iterator[Measurement]:
    worst = finding.worst
    allowance = finding.allowance
    if worst is not None:
        yield Measurement(
            "backlogged lag",
            round(worst.lag, 6),
            round(worst.bound, 6),
            _lag_unit(finding),
            _interval(worst, allowance),
            tuple((point.at // MICROSECONDS, round(point.ratio, 4)) for point in finding.series),
        )


def _lag_unit(finding: FairnessFinding) -> str:
    service = "seconds of slot time" if finding.allowance.unit == "slotTime" else "dispatches"
    return f"{service} per unit of weight"


def _interval(worst: PairFinding, allowance: Allowance) -> str:
    return (
        f"{worst.ahead} ahead of {worst.behind}, {_clock(worst.since)} to {_clock(worst.until)}; "
        f"lagQuanta {allowance.lag_quanta:g}, frameFactor {allowance.frame_factor:g}"
    )


def _ceiling_notes(parameters: Parameters) -> Iterator[Measurement]:
    """Say it where a generous declaration was held to its ceiling."""
    held, _ = parameters.effective()
    for name in ("lag_quanta", "frame_factor"):
        declared, used = getattr(parameters, name), getattr(held, name)
        if declared > used:
            note = f"declared {declared:g}, held to the ceiling {used:g}"
            yield Measurement(name, float(declared), float(used), "quanta", note)


# --- served_within --------------------------------------------------------------------


def served_within(
    trace: Trace, scenario: Scenario, parameters: Parameters, value: object
) -> tuple[ScheduleFinding, ...]:
    """MWP-WRK-010: each named item was dispatched within its time after it became eligible.

    `horizon` means the declared bound: that of a flood where a `flood` was driven, else the
    anti-starvation horizon, under which every other item of the run is looked at as well.
    """
    limits = value if isinstance(value, Mapping) else {}
    blind = _blind(scenario)
    if blind:
        return (ScheduleFinding("everything named is served in time", None, blind),)
    history = history_of(trace, scenario)
    if not any(True for _ in history.dispatches()):
        return (ScheduleFinding("the named items are served", None, "nothing was dispatched"),)
    return tuple(
        _by_horizon(history, scenario, parameters, str(item))
        if limit == HORIZON
        else _by_seconds(history, str(item), float(limit))
        for item, limit in limits.items()
    )


def _by_seconds(history: ServiceHistory, item: str, limit: float) -> ScheduleFinding:
    expected = f"{item} is served within {limit:g} s of becoming eligible"
    wait = next((wait for wait in waits(history) if wait.item == item), None)
    if wait is None:
        return ScheduleFinding(expected, None, f"{item} never became eligible")
    figure = Measurement(f"wait of {item}", wait.seconds, limit, "seconds", _served(wait))
    if not wait.served and wait.seconds < limit:
        return ScheduleFinding(expected, None, f"the run ended before {limit:g} s", (figure,))
    holds = wait.served and wait.seconds <= limit
    return ScheduleFinding(expected, holds, _told(wait), (figure,))


def _by_horizon(
    history: ServiceHistory, scenario: Scenario, parameters: Parameters, item: str
) -> ScheduleFinding:
    length = max(history.largest.values(), default=0.0)
    known = any(wait.item == item for wait in waits(history))
    if not known:
        expected = f"{item} is served within the declared bound"
        return ScheduleFinding(expected, None, f"{item} never became eligible")
    if _driven(scenario, "flood"):
        allowance = Allowance.of(parameters, scenario.agent.slots, randomness_shown=True)
        return _waited("flood bound", item, judge_flood(history, allowance, item, length))
    found = judge_starvation(history, Horizon.of(parameters), length, item)
    return _waited("anti-starvation bound", item, found)


def _waited(bound: str, item: str, found: StarvationFinding) -> ScheduleFinding:
    expected = f"{item} and what waits beside it are served within the {bound}"
    if found.worst is None:
        return ScheduleFinding(expected, None, "nothing waited")
    figure = Measurement(
        f"wait of {found.worst.item}",
        found.worst.seconds,
        round(found.limit_seconds, 6),
        "seconds",
        f"{found.waited}; {bound}; {_served(found.worst)}",
    )
    observed = f"{_told(found.worst)}; {found.waited}, the limit is {found.limit_seconds:.0f} s"
    holds = None if found.waited is Waited.UNDECIDED else found.holds
    return ScheduleFinding(expected, holds, observed, (figure,))


def _told(wait: Wait) -> str:
    return f"{wait.item} of {wait.group} waited {wait.seconds:.0f} s and was {_served(wait)}"


def _served(wait: Wait) -> str:
    return "served" if wait.served else "not served"


def _driven(scenario: Scenario, driver: str) -> bool:
    return any(isinstance(s.action, Drive) and s.action.driver == driver for s in scenario.steps)


def _clock(at: int) -> str:
    seconds = at // MICROSECONDS
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
