from __future__ import annotations

from worker_conformance.judge.exact import (
    Pause,
    determinism_breaches,
    idle_breaches,
    liveness_breaches,
    monotony_breaches,
    pause_breaches,
    pauses_of,
    quota_breaches,
    reorder_breaches,
    safety_breaches,
    shows_randomness,
)
from worker_conformance.judge.service import MICROSECONDS, HistoryBuilder, Item

from .histories import played

TWO = {"A": 1.0, "B": 1.0}


def stocked(slots: int = 2, quota: int | None = None) -> HistoryBuilder:
    builder = HistoryBuilder(slots)
    builder.group("A", 1.0, quota)
    for number in range(1, 5):
        builder.offered(Item(f"a{number}", "A"))
        builder.ready(0, f"a{number}")
    builder.rest(0)
    return builder


def test_a_dispatch_beyond_the_quota_is_a_breach():
    builder = stocked(quota=1)
    builder.dispatched(0, "a1")
    builder.dispatched(0, "a2")
    assert [breach.item for breach in quota_breaches(builder.build())] == ["a2"]


def test_a_quota_lowered_under_running_work_is_none():
    builder = stocked(quota=2)
    builder.dispatched(0, "a1")
    builder.dispatched(0, "a2")
    builder.group("A", 1.0, 1)
    builder.rest(10)
    assert quota_breaches(builder.build()) == ()


def test_something_started_twice_is_unsafe():
    builder = stocked()
    builder.dispatched(0, "a1")
    builder.dispatched(1, "a1")
    assert [breach.item for breach in safety_breaches(builder.build())] == ["a1"]


def test_more_running_than_slots_is_unsafe():
    builder = stocked(slots=1)
    builder.dispatched(0, "a1")
    builder.dispatched(0, "a2")
    assert [breach.observed for breach in safety_breaches(builder.build())] == [
        "2 running, 1 slots"
    ]


def test_a_free_slot_beside_startable_work_is_not_prompt_unless_reserved():
    builder = stocked(slots=2)
    builder.dispatched(0, "a1")
    builder.rest(0)
    history = builder.build()
    assert [breach.at for breach in idle_breaches(history, reserved_slots=1)] == [0]
    assert len(idle_breaches(history)) == 2  # the rest before the dispatch as well


def test_what_is_never_dispatched_after_arrivals_stop_is_not_live():
    builder = stocked(slots=1)
    builder.rest(200 * MICROSECONDS)
    breaches = liveness_breaches(builder.build(), 0, remaining_seconds=100)
    assert [breach.item for breach in breaches] == ["a1", "a2", "a3", "a4"]


def test_a_run_that_ends_before_the_remaining_time_says_nothing():
    builder = stocked(slots=1)
    builder.rest(50 * MICROSECONDS)
    assert liveness_breaches(builder.build(), 0, remaining_seconds=100) == ()


def test_the_raised_item_is_the_next_of_its_group():
    builder = stocked(slots=1)
    for at, name in enumerate(("a1", "a4", "a2")):
        builder.dispatched(at, name)
        builder.stopped(at + 1, name)
    history = builder.build()
    assert reorder_breaches(history, "a4", raised_at=1, latency=0) == ()
    late = reorder_breaches(history, "a2", raised_at=1, latency=0)
    assert [breach.observed for breach in late] == ["1 items of its Group went before it"]
    assert reorder_breaches(history, "a2", raised_at=1, latency=1) == ()


def test_an_improvement_must_not_make_the_item_later():
    early, late = played("AB" * 4, weights=TWO), played("BA" * 4, weights=TWO)
    item = next(d.item for d in early.dispatches() if d.group == "A")
    assert monotony_breaches(late, early, item) == ()
    assert [breach.item for breach in monotony_breaches(early, late, item)] == [item]


def test_two_runs_are_compared_dispatch_by_dispatch():
    one, other = played("ABAB", weights=TWO), played("ABBA", weights=TWO)
    assert determinism_breaches(one, one) == ()
    assert [breach.at for breach in determinism_breaches(one, other)] == [120 * MICROSECONDS]
    assert determinism_breaches(one, played("ABA", weights=TWO))


def test_randomness_is_shown_by_seeds_that_matter():
    one, other = played("ABAB", weights=TWO), played("ABBA", weights=TWO)
    assert shows_randomness(one, one, other)
    assert not shows_randomness(one, one, one)
    assert not shows_randomness(one, other, other)


def test_a_pause_needs_progress_and_a_cause():
    fine = [Pause(0, "A", "a1", 10.0), Pause(1, "A", "a2", 10.0)]
    assert pause_breaches(fine, per_item=3, causes=2, slots=1) == ()
    assert pause_breaches(fine, per_item=3, causes=1, slots=1)
    assert pause_breaches([Pause(0, "A", "a1", 0.0)], per_item=3, causes=9, slots=1)
    assert pause_breaches(fine[:1] * 4, per_item=3, causes=9, slots=1)


def test_pauses_are_read_from_a_history():
    builder = stocked(slots=1)
    for begin, end in ((0, 20), (30, 30), (40, 50)):
        builder.dispatched(begin * MICROSECONDS, "a1")
        builder.stopped(end * MICROSECONDS, "a1")
        if end < 50:
            builder.ready(end * MICROSECONDS, "a1")
    pauses = pauses_of(builder.build())
    assert [(pause.item, pause.progress_seconds) for pause in pauses] == [("a1", 20), ("a1", 0)]
    (breach,) = pause_breaches(pauses, per_item=3, causes=9, slots=1)
    assert breach.observed == "paused without any progress"
