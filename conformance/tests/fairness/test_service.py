from __future__ import annotations

from worker_conformance.judge.service import (
    MICROSECONDS,
    HistoryBuilder,
    Item,
    Rest,
    Standing,
)


def builder_with(*items: Item, slots: int = 1, quota: int | None = None) -> HistoryBuilder:
    builder = HistoryBuilder(slots)
    builder.group("A", 1.0, quota)
    builder.group("B", 1.0)
    for item in items:
        builder.offered(item)
        builder.ready(0, item.name)
    return builder


def backlogs(builder: HistoryBuilder, group: str) -> list[bool]:
    moments = builder.build().moments
    return [m.backlogged for m in moments if isinstance(m, Standing) and m.group == group]


def test_a_queue_that_never_empties_stays_backlogged():
    builder = builder_with(Item("a1", "A"), Item("a2", "A"))
    builder.rest(0)
    builder.dispatched(0, "a1")
    builder.rest(0)
    assert backlogs(builder, "A") == [True]


def test_a_queue_that_empties_begins_a_new_period_even_when_refilled_at_once():
    builder = builder_with(Item("a1", "A"))
    builder.rest(0)
    builder.dispatched(0, "a1")
    builder.offered(Item("a2", "A"))
    builder.ready(0, "a2")
    builder.rest(0)
    moments = builder.build().moments
    assert [m.fresh for m in moments if isinstance(m, Standing) and m.group == "A"] == [False, True]


def test_a_queue_empty_at_the_end_of_an_instant_is_not_backlogged():
    builder = builder_with(Item("a1", "A"))
    builder.rest(0)
    builder.dispatched(0, "a1")
    builder.rest(0)
    assert backlogs(builder, "A") == [True, False]


def test_a_queue_empty_just_before_another_dispatch_is_not_backlogged():
    builder = builder_with(Item("a1", "A"), Item("b1", "B"), slots=2)
    builder.rest(0)
    builder.dispatched(0, "a1")
    builder.dispatched(0, "b1")
    builder.offered(Item("a2", "A"))
    builder.ready(0, "a2")
    builder.rest(0)
    assert backlogs(builder, "A") == [True, False, True]


def test_a_group_at_its_quota_is_not_backlogged():
    builder = builder_with(Item("a1", "A"), Item("a2", "A"), slots=2, quota=1)
    builder.rest(0)
    builder.dispatched(0, "a1")
    builder.rest(0)
    builder.stopped(60, "a1")
    builder.rest(60)
    assert backlogs(builder, "A") == [True, False, True]


def test_leaving_and_joining_ends_a_backlogged_period():
    builder = builder_with(Item("a1", "A"))
    builder.rest(0)
    builder.leave("A")
    builder.join("A")
    builder.rest(0)
    moments = builder.build().moments
    fresh = [m.fresh for m in moments if isinstance(m, Standing) and m.group == "A"]
    assert fresh == [False, True]


def test_nobody_is_backlogged_while_the_worker_is_down():
    builder = builder_with(Item("a1", "A"))
    builder.rest(0)
    builder.suspend()
    builder.dispatched(5, "a1")
    builder.rest(10)
    assert backlogs(builder, "A")[0]
    assert not any(backlogs(builder, "A")[1:])


def test_the_class_of_a_group_is_that_of_all_its_eligible_items():
    builder = builder_with(Item("a1", "A"), Item("a2", "A", priority_class="urgent"))
    builder.rest(0)
    builder.dispatched(0, "a1")
    builder.rest(0)
    moments = builder.build().moments
    classes = [m.priority_class for m in moments if isinstance(m, Standing) and m.group == "A"]
    assert classes == [None, "urgent"]


def test_a_segment_is_charged_for_the_time_it_really_took():
    builder = builder_with(Item("a1", "A", seconds=60))
    builder.dispatched(0, "a1")
    builder.stopped(20 * MICROSECONDS, "a1")
    builder.ready(20 * MICROSECONDS, "a1")
    builder.dispatched(30 * MICROSECONDS, "a1")
    builder.stopped(70 * MICROSECONDS, "a1")
    assert [dispatch.seconds for dispatch in builder.build().dispatches()] == [20, 40]


def test_a_start_paused_without_progress_does_not_end_the_wait():
    builder = builder_with(Item("a1", "A", seconds=60))
    builder.dispatched(100, "a1")
    builder.stopped(100, "a1")
    builder.ready(100, "a1")
    assert [waiting.since for waiting in builder.build().waiting] == [0]


def test_a_dispatch_of_something_ineligible_is_recorded_as_one():
    builder = builder_with(Item("a1", "A"))
    builder.unready(0, "a1")
    assert not builder.dispatched(0, "a1").eligible


def test_rest_names_the_groups_that_could_start_something():
    builder = builder_with(Item("a1", "A"), slots=2)
    builder.rest(0)
    rest = builder.build().moments[-1]
    assert rest == Rest(0, 2, ("A",))
