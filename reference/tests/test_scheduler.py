"""Section 11.1: shares, bounds and order of the bare Scheduler, over long runs."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable

import pytest

from reference_worker.instants import MICROS
from reference_worker.policy import Policy
from reference_worker.queues import HORIZON, place
from reference_worker.scheduler import FairScheduler

CLASSES = ["background", "standard", "urgent"]
WEIGHTS = [(1, 1, 1), (1, 2, 4), (16, 1, 1), (1.5, 0.5, 3.2)]


def policy(weights: dict[str, float], classes: dict[str, str] | None = None) -> Policy:
    groups = {
        name: {"weight": weight, "priorityClass": (classes or {}).get(name, "standard")}
        for name, weight in weights.items()
    }
    return Policy.read({"priorityClasses": CLASSES, "groups": groups})


class Bench:
    """A Scheduler with slots and a clock, and the lag of every pair of backlogged Groups."""

    def __init__(self, weights: dict[str, float], slots: int = 1, **classes: str) -> None:
        self.scheduler = FairScheduler(0, {})
        self.policy = policy(weights, classes)
        self.scheduler.set_policy(self.policy)
        self.weights = {name: float(weight) for name, weight in weights.items()}
        self.slots, self.now, self.count = slots, 0, 0
        self.running: list[tuple[int, int, str, str]] = []
        self.served = dict.fromkeys(weights, 0)
        self.order: list[str] = []
        self.low: dict[tuple[str, str], float] = {}
        self.worst = 0.0

    def put(self, group: str, name: str = "", urgency: str = "normal", to: str = "") -> str:
        self.count += 1
        item = name or f"{group}-{self.count}"
        where = place(item, self.now, self.now + 10**15, urgency, self.count)
        self.scheduler.put(to or self.policy.class_of(group, item), group, where)
        return item

    def dispatch(self, length: Callable[[str], int]) -> None:
        while len(self.running) < self.slots and (chosen := self.scheduler.next()):
            group, _ = self.scheduler.charge(chosen[0])
            self.served[group] += 1
            self.order.append(chosen[0])
            self.count += 1
            entry = (self.now + length(group), self.count, group, chosen[0])
            heapq.heappush(self.running, entry)
            self._measure()

    def complete(self) -> str:
        self.now, _, group, _ = heapq.heappop(self.running)
        return group

    def _measure(self) -> None:
        """The one-sided lag of every Group that has work waiting, against every other."""
        for h in self.weights:
            for g in self.weights:
                if g == h or not self.scheduler.waiting(h):
                    self.low.pop((g, h), None)
                    continue
                lead = self.served[g] / self.weights[g] - self.served[h] / self.weights[h]
                low = self.low[g, h] = min(self.low.get((g, h), lead), lead)
                self.worst = max(self.worst, (lead - low) / self._bound(g, h))

    def _bound(self, g: str, h: str) -> float:
        smallest = min(self.weights.values())
        pair = 1 / self.weights[g] + 1 / self.weights[h]
        return (self.slots - 1 + 2) * pair + 2 / smallest


@pytest.mark.parametrize("slots", [1, 2, 4, 8])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("driver", ["share", "mixed", "pulse"])
def test_lag_stays_well_below_the_declared_bound(
    driver: str, weights: tuple[float, ...], slots: int
) -> None:
    names = dict(zip("abc", weights, strict=True))
    bench, rng = Bench(names, slots), random.Random(1)
    depth = {"share": 30, "mixed": 30, "pulse": 1}[driver]
    for group in names:
        for _ in range(depth):
            bench.put(group)
    for _ in range(1000):
        bench.dispatch(lambda _: rng.randint(1, 12) if driver == "mixed" else 2)
        bench.put(bench.complete())
    assert bench.worst < 0.85
    if driver == "share":
        total = sum(bench.served.values())
        for group, weight in bench.weights.items():
            expected = total * weight / sum(bench.weights.values())
            assert abs(bench.served[group] - expected) <= 2 + weight


def test_a_group_that_was_idle_gets_no_credit_and_is_not_starved() -> None:
    bench = Bench({"a": 1, "b": 1})
    for _ in range(300):
        bench.put("a")
    for _ in range(100):
        bench.dispatch(lambda _: 1)
        bench.complete()
    for _ in range(30):
        bench.put("b")
    for _ in range(40):
        bench.dispatch(lambda _: 1)
        bench.complete()
    late = [item[0] for item in bench.order[100:]]
    assert late[:4].count("b") == 2
    assert late.count("b") == 20


@pytest.mark.parametrize("backlog", [16, 256, 1024])
def test_a_flood_delays_a_single_item_by_a_bounded_time(backlog: int) -> None:
    names = {f"g{n}": 1.0 for n in range(10)} | {"victim": 0.5}
    bench = Bench(names)
    for group in names:
        for _ in range(backlog if group != "victim" else 0):
            bench.put(group)
    for _ in range(37):
        bench.dispatch(lambda _: 1)
        bench.complete()
    bench.put("victim", "it")
    while "it" not in bench.order:
        bench.dispatch(lambda _: 1)
        bench.complete()
    assert len(bench.order) - 37 <= 12


def test_the_lowest_class_is_served_beside_an_endless_stream_of_the_highest() -> None:
    bench = Bench({"high": 1, "low": 1}, high="urgent", low="background")
    for _ in range(5):
        bench.put("high")
        bench.put("low")
    for _ in range(900):
        bench.dispatch(lambda _: 1)
        bench.put(bench.complete())
    assert bench.served["high"] / bench.served["low"] == pytest.approx(8, rel=0.02)


def test_an_item_that_waited_a_horizon_is_ahead_of_any_newcomer() -> None:
    old = place("old", 0, 10**18, "routine", 1)
    new = place("new", HORIZON, HORIZON, "critical", 2)
    assert old < new


@pytest.mark.parametrize("better", [{"deadline": 50}, {"urgency": "critical"}, {"since": 1}])
def test_a_better_attribute_is_an_earlier_place(better: dict[str, int | str]) -> None:
    base = {"since": 10, "deadline": 10**12, "urgency": "high", "sequence": 5}
    assert place("x", **{**base, **better}) < place("x", **base)  # type: ignore[arg-type]  # a table


def test_a_raised_item_is_the_next_of_its_group() -> None:
    bench = Bench({"a": 1, "b": 1})
    items = [bench.put("a") for _ in range(5)]
    for _ in range(5):
        bench.put("b")
    bench.dispatch(lambda _: 1)
    bench.complete()
    bench.put("a", items[-1], to="urgent")
    for _ in range(3):
        bench.dispatch(lambda _: 1)
        bench.complete()
    assert next(item for item in bench.order[1:] if item[0] == "a") == items[-1]


def test_a_closed_group_is_passed_over_and_gains_no_credit() -> None:
    bench = Bench({"a": 1, "b": 1})
    for _ in range(50):
        bench.put("a")
        bench.put("b")
    bench.scheduler.set_open("a", is_open=False)
    for _ in range(20):
        bench.dispatch(lambda _: 1)
        bench.complete()
    assert bench.served == {"a": 0, "b": 20}
    bench.scheduler.set_open("a", is_open=True)
    for _ in range(20):
        bench.dispatch(lambda _: 1)
        bench.complete()
    assert abs(bench.served["a"] - 10) <= 1


def test_a_refused_start_is_no_service() -> None:
    bench = Bench({"a": 1, "b": 1})
    for _ in range(4):
        bench.put("a")
        bench.put("b")
    first = bench.scheduler.next()
    assert first is not None
    flow = bench.scheduler.charge(first[0])
    bench.scheduler.refund(flow)
    assert bench.scheduler.tag(flow)[0] == 0


def test_extreme_weights_neither_overflow_nor_starve() -> None:
    bench = Bench({"light": 1, "heavy": 10**7})
    for _ in range(2000):
        bench.put("heavy")
        bench.put("light")
    for _ in range(1000):
        bench.dispatch(lambda _: 1)
        bench.complete()
    assert bench.served["light"] == 1


def test_a_new_weight_reprices_a_debt() -> None:
    bench = Bench({"a": 1e-6, "b": 1})
    for _ in range(200):
        bench.put("a")
        bench.put("b")
    for _ in range(10):
        bench.dispatch(lambda _: 1)
        bench.complete()
    bench.scheduler.set_policy(policy({"a": 1, "b": 1}))
    for _ in range(20):
        bench.dispatch(lambda _: 1)
        bench.complete()
    assert bench.served["a"] >= 9


def test_tags_survive_a_restart() -> None:
    bench = Bench({"a": 1, "b": 1})
    for _ in range(9):
        bench.put("a")
        bench.put("b")
    bench.dispatch(lambda _: 1)
    tags = {name: bench.scheduler.tag(name) for name in [("a", "standard"), ("b", "standard")]}
    again = FairScheduler(bench.scheduler.virtual_time, tags)
    again.set_policy(bench.policy)
    for n, group in enumerate("ab"):
        again.put("standard", group, place(f"{group}x", n * MICROS, 10**15, "normal", n))
    chosen, expected = again.next(), bench.scheduler.next()
    assert chosen is not None
    assert expected is not None
    assert chosen[0][0] == expected[0][0]


def asked_at_the_head(scheduler: FairScheduler, shut: set[str]) -> tuple[str, str] | None:
    """What `slots.next_choice` does: a Group is asked about when it heads the others."""
    for group in scheduler.held_back():
        scheduler.set_open(group, is_open=group not in shut)
    while (chosen := scheduler.next()) is not None:
        group = chosen[0].partition("-")[0]
        if group not in shut:
            return chosen
        scheduler.set_open(group, is_open=False)
    return None


@pytest.mark.parametrize("seed", range(40))
def test_groups_may_be_asked_about_when_they_come_to_the_head(seed: int) -> None:
    """The order is that of a Scheduler which is told at once whenever a Group opens or shuts."""
    rng, groups = random.Random(seed), "abcdefg"
    told, asked = FairScheduler(0, {}), FairScheduler(0, {})
    weights = {group: rng.choice([0.5, 1, 2, 3.2]) for group in groups}
    shut: set[str] = set()
    for scheduler in (told, asked):
        scheduler.set_policy(policy(weights))
    for number in range(600):
        group = rng.choice(groups)
        move = rng.random()
        if move < 0.4:
            where = place(f"{group}-{number}", number, 10**15, "normal", number)
            class_name = rng.choice(CLASSES)
            for scheduler in (told, asked):
                scheduler.put(class_name, group, where)
        elif move < 0.6:
            shut ^= {group}
            told.set_open(group, is_open=group not in shut)
        else:
            expected, chosen = told.next(), asked_at_the_head(asked, shut)
            assert chosen == expected
            if expected is not None:
                told.charge(expected[0])
                asked.charge(expected[0])
    assert told.virtual_time == asked.virtual_time > 0
