"""Faults of order and of limits: what goes first, and what a changed policy changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from secrets import randbits
from typing import Any

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.selftest.copies import Parts, altered, notes
from worker_conformance.selftest.interposer import Interposer
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.mutants.scheduling import next_is_least_by

SHARE_MIN = 1 / 1000


def _with_policy(stimulus: JsonObject, change: Callable[[Any], Any]) -> JsonObject:
    """The stimulus with another policy, wherever it carries one."""
    if stimulus["type"] == "policy":
        return {**stimulus, "policy": change(stimulus["policy"])}
    organization: Any = stimulus.get("organization")
    if stimulus["type"] != "start":
        return stimulus
    return {**stimulus, "organization": {**organization, "policy": change(organization["policy"])}}


# --- classes ------------------------------------------------------------------------------


def _without_classes(policy: Any) -> Any:
    groups = {
        group_id: {name: value for name, value in group.items() if name != "priorityClass"}
        for group_id, group in policy.get("groups", {}).items()
    }
    return {**policy, "groups": groups, "workItems": {}}


class RaisesUnread(Interposer):
    """Reads priority classes at its start, and no change of them."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        is_change = stimulus["type"] == "policy"
        return _with_policy(stimulus, _without_classes) if is_change else stimulus


class RaisesForgottenInARestart(Interposer):
    """Reads changes of priority classes, and not what holds when it starts again."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        is_later = stimulus["type"] == "start" and self.speaker.session_epoch > 1
        return _with_policy(stimulus, _without_classes) if is_later else stimulus


# --- order within a Group -----------------------------------------------------------------


def places(parts: Parts, key: Callable[[int, int, str], int]) -> None:
    """Order each Group's queue by a key made of time of acceptance, deadline and urgency."""
    place = parts.get("queues.Place")

    def placed(work_item_id: str, since: int, deadline: int, urgency: str, sequence: int) -> Any:
        return place(key(since, deadline, urgency), sequence, work_item_id)

    parts.replace("queues.place", placed)


@altered
def deadlines_unread(parts: Parts) -> None:
    """Orders by acceptance alone, and says that it considers deadlines."""
    places(parts, lambda since, _deadline, _urgency: since)


@altered
def newest_first(parts: Parts) -> None:
    """Takes from a Group's queue what was accepted last."""
    places(parts, lambda since, _deadline, _urgency: -since)


@altered
def urgency_above_everything(parts: Parts) -> None:
    """Orders by claimed urgency first, however long other work has waited."""
    ranks = {"critical": 0, "high": 1, "normal": 2, "routine": 3}
    places(parts, lambda since, _deadline, urgency: ranks[urgency] * 10**20 + since)


@altered
def deadlines_sorted_backwards(parts: Parts) -> None:
    """Takes the latest deadline first among what was accepted at one moment."""
    places(parts, lambda since, deadline, _urgency: since * 10**20 - deadline)


@altered
def classes_sorted_backwards(parts: Parts) -> None:
    """Serves the lowest class that waits."""
    next_is_least_by(parts, lambda _name, flow, _head: (flow.rank, flow.start))


@altered
def ties_by_chance(parts: Parts) -> None:
    """Declares to be deterministic, and breaks ties by what its runtime draws."""
    places(parts, lambda since, _deadline, _urgency: since * 2**32 + randbits(32))


# --- shares -------------------------------------------------------------------------------


@altered
def tiny_shares_are_nothing(parts: Parts) -> None:
    """Serves no Group whose share of all weights is below a thousandth."""
    is_below_quota = parts.get("slots._is_below_quota")

    def is_worth_it(turn: Any, group_id: str) -> bool:
        weight = turn.runtime.policy.weight
        total = sum(weight(group.group_id) for group in turn.projection.groups)
        return bool(weight(group_id) / total >= SHARE_MIN and is_below_quota(turn, group_id))

    parts.replace("slots._is_below_quota", is_worth_it)


@altered
def idle_time_earns_credit(parts: Parts) -> None:
    """Lets a Group that was idle catch up on what it did not ask for."""
    settle, make = parts.get("scheduler.FairScheduler._settle"), parts.get("scheduler._Flow")

    def unclamped(scheduler: Any, name: Any) -> None:
        scheduler._flows[name].awake = True  # noqa: SLF001 - a mutant is inside the part it alters
        settle(scheduler, name)

    parts.replace("scheduler.FairScheduler._settle", unclamped)
    parts.replace("scheduler._Flow", lambda _start, cost: make(0, cost))


@altered
def debt_forgotten_when_idle(parts: Parts) -> None:
    """Forgets what a Group owes as soon as its queue is empty."""
    drop = parts.get("scheduler.FairScheduler.drop")

    def forgiving(scheduler: Any, work_item_id: str) -> None:
        name = scheduler._of_item.get(work_item_id)  # noqa: SLF001 - as above
        drop(scheduler, work_item_id)
        flow = scheduler._flows.get(name)  # noqa: SLF001 - as above
        if flow is not None and flow.queue.head() is None:
            flow.start = min(flow.start, scheduler.virtual_time)

    parts.replace("scheduler.FairScheduler.drop", forgiving)


# --- limits -------------------------------------------------------------------------------


class OneSlotTooFew(Interposer):
    """Leaves its last slot empty, and does not say that it keeps one in reserve."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "start":
            return stimulus
        agent: Any = stimulus["agent"]
        fewer = max(1, agent["maxConcurrency"] - 1)
        return {**stimulus, "agent": {**agent, "maxConcurrency": fewer}}


class LoweredQuotaSticks(Interposer):
    """Holds every Group to the lowest quota that it ever had."""

    def _begin(self) -> None:
        self._lowest: dict[str, int] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        groups: Any = find(stimulus, "policy", "groups") or {}
        for group_id, group in groups.items():
            quota = group.get("slotQuota")
            if quota is not None:
                self._lowest[group_id] = min(quota, self._lowest.get(group_id, quota))
        return _with_policy(stimulus, self._held) if groups else stimulus

    def _held(self, policy: Any) -> Any:
        held = {
            group_id: {**group, "slotQuota": self._lowest[group_id]}
            if group_id in self._lowest
            else group
            for group_id, group in policy["groups"].items()
        }
        return {**policy, "groups": held}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return (effect,)


@altered
def reweighed_group_waits(parts: Parts) -> None:
    """Starts nothing of a Group whose weight was changed, until its next session."""
    is_below_quota = parts.get("slots._is_below_quota")

    def as_it_was(turn: Any, group_id: str) -> bool:
        weight = turn.runtime.policy.weight(group_id)
        first = notes(turn).setdefault(("weight", group_id), weight)
        return bool(first == weight and is_below_quota(turn, group_id))

    parts.replace("slots._is_below_quota", as_it_was)


MUTANTS = (
    mutant(
        deadlines_sorted_backwards,
        "WRK-010.e",
        "SCHED-0032 TWIN-0003",
        "A comparison that was written for a heap of the other kind.",
    ),
    mutant(
        classes_sorted_backwards,
        "WRK-010.d",
        "SCHED-0034 TWIN-0002",
        "Priority 1 is the highest here and the lowest there.",
    ),
    mutant(
        ties_by_chance,
        "WRK-010.a",
        "TWIN-0001",
        "The order of a hash set.",
    ),
    mutant(
        RaisesUnread,
        "WRK-015.a",
        "PREEMPT-0020 SCHED-0034",
        "The class is copied into the queue entry.",
    ),
    mutant(
        RaisesForgottenInARestart,
        "WRK-015.a",
        "PREEMPT-0021",
        "Changes are handled, the state they lead to is not read.",
    ),
    mutant(
        deadlines_unread,
        "WRK-010.e",
        "SCHED-0032",
        "A sort key that was taken out for an experiment.",
    ),
    mutant(
        newest_first,
        "WRK-010.f",
        "SCHED-0033 SCHED-0051 TWIN-0004",
        "A stack where a queue was meant.",
    ),
    mutant(
        urgency_above_everything,
        "WRK-010.b",
        "SCHED-0023",
        "Ageing that is added after the levels are compared.",
    ),
    mutant(
        tiny_shares_are_nothing,
        "WRK-010.b",
        "SCHED-0025",
        "Integer division of weights.",
    ),
    mutant(
        idle_time_earns_credit,
        "WRK-010.a",
        "SCHED-0021 SCHED-0044 SCHED-0045",
        "Virtual time that stands still while a queue sleeps.",
    ),
    mutant(
        debt_forgotten_when_idle,
        "WRK-010.a",
        "SCHED-0020",
        "An account that is deleted with its last entry.",
    ),
    mutant(
        OneSlotTooFew,
        "WRK-010.j",
        "SCHED-0028",
        "Off by one in a pool size, the other way round.",
    ),
    mutant(
        reweighed_group_waits,
        "WRK-020.a",
        "OFFLINE-0002",
        "A queue that is taken down for its reconfiguration and not put up again.",
    ),
    mutant(
        LoweredQuotaSticks,
        "WRK-010.b",
        "SCHED-0031",
        "A minimum over all settings ever seen.",
    ),
)
