"""The examination of a bare Scheduler: every load, every judge.

Responsible for playing the loads at the lengths that the formulas ask for. The judging of a run
stands in `cases`, checks that compare two runs in `twin_runs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import evolve

from worker_conformance.judge.exact import pause_breaches, reorder_breaches
from worker_conformance.judge.starvation import Horizon, judge_flood, judge_starvation
from worker_conformance.port.declaration import Parameters
from worker_conformance.selftest import twin_runs
from worker_conformance.selftest.cases import Case, Outcome, Trial, exact, from_breaches, judged
from worker_conformance.selftest.harness import Raise, Setting, play
from worker_conformance.suite.loads import (
    ITEM_SECONDS,
    MIXED_SECONDS,
    Batch,
    Blocked,
    Cancelling,
    Flood,
    Hoard,
    Interrupting,
    Late,
    Load,
    Offer,
    Pieces,
    Pulse,
    Rejoining,
    Reweighing,
    Starve,
    Wall,
    equal,
    inflated,
    mixed,
    split,
)

# --- the trials -----------------------------------------------------------------------


def _deep(check: str, load: Callable[[Case], Load]) -> Trial:
    """A load whose items are all of ordinary length."""

    def trial(case: Case) -> Iterator[Outcome]:
        lengths = [[ITEM_SECONDS]] * len(case.weights)
        run = play(case.make(), load(case), case.setting, dispatches=case.length(lengths))
        yield from judged(check, case, run)

    return trial


def _mixed_sizes(case: Case) -> Iterator[Outcome]:
    rows = [MIXED_SECONDS[i % len(MIXED_SECONDS)] for i in range(len(case.weights))]
    run = play(case.make(), mixed(case.groups), case.setting, dispatches=case.length(rows))
    yield from judged("mixed-sizes", case, run)


def _makers(groups: Sequence[str]) -> dict[str, list[Offer]]:
    return {group: [Offer(group)] for group in groups}


def _pulse(case: Case) -> Load:
    return Pulse(_makers(case.groups[1:]), pulsing=case.groups[0])


def _hoard(case: Case) -> Load:
    return Hoard(_makers(case.groups[1:]), hoarding=case.groups[0])


def _blocked(case: Case) -> Load:
    return Blocked(_makers(case.groups[1:]), blocked=case.groups[0])


def _rejoin(case: Case) -> Load:
    return Rejoining(_makers(case.groups), rejoining=case.groups[0])


def _cancel(case: Case) -> Load:
    return Cancelling(_makers(case.groups), cancelling=case.groups[0])


def _reweigh(case: Case) -> Load:
    load = Reweighing(_makers(case.groups), weights=case.setting.weights)
    load.every_dispatches = max(50, case.length([[ITEM_SECONDS]] * len(case.weights)) // 3)
    return load


def _idle_group(case: Case) -> Iterator[Outcome]:
    """A Group that is known and never offers anything must not count in anybody's share."""
    setting = Setting(case.slots, {**case.setting.weights, "idle": max(case.weights)})
    length = case.length([[ITEM_SECONDS]] * len(case.weights))
    run = play(case.make(), equal(case.groups), setting, dispatches=length)
    yield from judged("share", case, run)


def _late(case: Case) -> Iterator[Outcome]:
    """A Group that was unknown is owed its share from its arrival on, and nothing before."""
    late = case.groups[0]
    load = Late(_makers(case.groups[1:]), late=late, absent_dispatches=60)
    setting = Setting(case.slots, case.setting.weights, late=frozenset({late}))
    length = case.length([[ITEM_SECONDS]] * len(case.weights))
    run = play(case.make(), load, setting, dispatches=length)
    yield from judged("late", case, run)


def _pieces(case: Case) -> Load:
    return Pieces(_makers(case.groups[:-1]), splitting=case.groups[-1])


def _quota(case: Case) -> Iterator[Outcome]:
    """The heaviest Group is held to one slot."""
    heaviest = max(case.groups, key=lambda group: case.setting.weights[group])
    setting = Setting(case.slots, case.setting.weights, {heaviest: 1})
    run = play(case.make(), equal(case.groups), setting, dispatches=200)
    yield from judged("share", case, run)


def _quota_wall(case: Case) -> Iterator[Outcome]:
    """One Group at its quota has a long queue of top-class work in front of everybody."""
    first = case.groups[0]
    setting = Setting(case.slots + 1, case.setting.weights, {first: 1})
    makers = _makers(case.groups)
    makers[first] = [Offer(first, priority_class="urgent", urgency="critical")]
    load = Wall(makers, walled=first)
    run = play(case.scheduler(case.slots + 1, case.seed), load, setting, dispatches=300)
    yield from exact(run)


def _flood(case: Case) -> Iterator[Outcome]:
    victim = case.groups[-1]
    for held in (16, 64, 256):
        load = Flood(_makers(case.groups), victim=victim, held=held)
        run = play(case.make(), load, case.setting, dispatches=held * (len(case.weights) - 1))
        item = next(d.item for d in run.history.dispatches() if d.group == victim)
        finding = judge_flood(run.history, case.allowance(), item, ITEM_SECONDS)
        yield Outcome("flood", finding.holds, finding.ratio, f"M={held}")
        yield from exact(run)


DISFAVOURED: Mapping[str, tuple[Offer, Offer]] = {
    "class": (Offer("", priority_class="urgent"), Offer("", priority_class="background")),
    "deadline": (Offer("", deadline_seconds=ITEM_SECONDS), Offer("")),
    "urgency": (Offer("", urgency="critical"), Offer("", urgency="routine")),
    "length": (Offer("", seconds=ITEM_SECONDS // 2), Offer("", seconds=ITEM_SECONDS)),
    "nothing": (Offer(""), Offer("")),
}
"""Starvation: what the endless stream has, and what the victim has instead."""


def _starve(attribute: str) -> Trial:
    def trial(case: Case) -> Iterator[Outcome]:
        favoured, disfavoured = DISFAVOURED[attribute]
        victim = case.groups[-1]
        makers = {g: [_in_group(favoured, g)] for g in case.groups}
        if attribute == "class":
            # Its own Group streams in the low class too, so that a share ratio between the
            # classes beyond what is declared makes the victim wait, and not only the first item.
            makers[victim] = [_in_group(disfavoured, victim)]
        load = Starve(makers, victim=_in_group(disfavoured, victim))
        horizon = Horizon(case.scheduler.horizon_seconds)
        weights = case.setting.weights
        base = horizon.base_seconds(case.slots, weights, victim, ITEM_SECONDS)
        most = round(2.2 * base * case.slots / favoured.seconds)
        run = play(case.make(), load, case.setting, dispatches=most, seconds=2.1 * base)
        finding = judge_starvation(run.history, horizon, ITEM_SECONDS)
        yield Outcome("starve", finding.holds, finding.ratio, f"{attribute}: {finding.waited}")

    return trial


def _in_group(offer: Offer, group: str) -> Offer:
    return evolve(offer, group=group)


def _reorder(case: Case) -> Iterator[Outcome]:
    if "priorityClass" not in case.scheduler.considers:
        return
    group = case.groups[0]
    setting = Setting(case.slots, {group: 1.0})
    load = Batch([Offer(group)] * (case.slots + 8))
    raises = Raise(1, group, "urgent")
    run = play(case.make(), load, setting, dispatches=case.slots + 8, raises=raises)
    item = f"{group}-{case.slots + 8}"
    breaches = reorder_breaches(run.history, item, 1_000_000, latency=0)
    yield from_breaches("reorder", breaches)


def _preempt(case: Case) -> Iterator[Outcome]:
    """Urgent work comes now and then; whoever preempts for it makes progress and ends."""
    load = Interrupting(_makers(case.groups), interrupting=case.groups[0])
    run = play(case.make(), load, case.setting, dispatches=300)
    breaches = pause_breaches(
        run.pauses,
        per_item=Parameters().max_preemptions_per_item,
        causes=run.arrivals,
        slots=case.slots,
    )
    yield from_breaches("preempt", breaches)
    yield from exact(run)


TRIALS: Mapping[str, Trial] = {
    "share": _deep("share", lambda case: equal(case.groups)),
    "mixed-sizes": _mixed_sizes,
    "pulse": _deep("pulse", _pulse),
    "hoard": _deep("hoard", _hoard),
    "blocked": _deep("blocked", _blocked),
    "inflate": _deep("inflate", lambda case: inflated(case.groups)),
    "rejoin": _deep("rejoin", _rejoin),
    "split": _deep("split", lambda case: split(case.groups)),
    "pieces": _deep("pieces", _pieces),
    "late": _late,
    "cancel": _deep("cancel", _cancel),
    "reweigh": _deep("reweigh", _reweigh),
    "idle Group": _idle_group,
    "quota": _quota,
    "quota wall": _quota_wall,
    "flood": _flood,
    "reorder": _reorder,
    "preempt": _preempt,
    "monotone": twin_runs.monotone,
    "deterministic": twin_runs.deterministic,
}
"""Loads and what judges them. `blocked` gives advice only: waiting time may count."""

STARVATION_TRIALS: Mapping[str, Trial] = {
    f"starve by {attribute}": _starve(attribute) for attribute in DISFAVOURED
}


def examine(case: Case, trials: Mapping[str, Trial]) -> Iterator[Outcome]:
    """Every outcome of every trial."""
    for trial in trials.values():
        yield from trial(case)


def failed_checks(outcomes: Iterator[Outcome]) -> tuple[str, ...]:
    """The names of the checks that failed, each once, in order."""
    return tuple(dict.fromkeys(o.check for o in outcomes if not o.holds))
