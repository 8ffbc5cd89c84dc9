"""A timeline as coordinates."""

from __future__ import annotations

from itertools import pairwise

import pytest
from attrs import evolve

from worker_conformance.judge.evidence import Mark, MarkKind, Timeline
from worker_conformance.report.timeline_picture import timeline_picture
from worker_conformance.report.timeline_words import TIMES, TO

MARKS = (
    Mark(0, MarkKind.START, "suite", "start, Session Epoch 1, 1 slot(s), Groups A B"),
    Mark(0, MarkKind.EVENT, "suite", "EVENT A/1 k, EVENT A/2 k", "A", times=2),
    Mark(0, MarkKind.COMMAND, "Worker", "COMMAND work.start a1", "A", times=39, until=1200),
    Mark(1200, MarkKind.GRANTED, "suite", "Execution Lease of a1", "A"),
    Mark(1200, MarkKind.RUN, "Worker", "run s1 A a1", "A", "s1"),
    Mark(1260, MarkKind.CUT, "suite", "link down B", "B"),
    Mark(1300, MarkKind.CRASH, "suite", "SIGKILL"),
    Mark(1310, MarkKind.ENDED, "suite", "Execution Lease of a1", "A"),
    Mark(1320, MarkKind.POSITION, "Worker", "ACK A:2", "A"),
)
TIMELINE = Timeline(("A", "B"), ("s1",), MARKS, ends_at=1400)


def test_groups_are_lanes_and_capacity_slots_are_rows() -> None:
    lanes = timeline_picture(TIMELINE).lanes
    assert [lane.label for lane in lanes] == ["Session", "Group A", "Group B", "Slot s1"]
    assert [lane.is_slot for lane in lanes] == [False, False, False, True]
    assert all(one.y + one.height <= other.y + 0.1 for one, other in pairwise(lanes))


def test_bars_last_from_their_first_mark_to_what_ends_them() -> None:
    picture = timeline_picture(TIMELINE)
    bars = {bar.css: bar for bar in picture.bars}
    (crash,) = picture.crashes
    assert bars["run"].x + bars["run"].width == pytest.approx(crash)
    assert bars["lease"].x + bars["lease"].width > crash
    assert bars["cut"].x + bars["cut"].width == pytest.approx(picture.end_x)
    assert bars["lease"].label == bars["run"].label == "a1"


def test_leases_at_the_same_time_lie_in_rows_of_their_own() -> None:
    marks = tuple(
        Mark(number, MarkKind.GRANTED, "suite", f"Execution Lease of a{number}", "A")
        for number in range(3)
    )
    picture = timeline_picture(Timeline(("A",), (), marks, ends_at=9))
    assert len({bar.y for bar in picture.bars}) == 3


def test_time_never_runs_backwards_and_ends_at_the_violation() -> None:
    picture = timeline_picture(TIMELINE)
    xs = [shape.x for shape in picture.shapes]
    assert xs == sorted(xs)
    assert max(xs) < picture.end_x <= picture.width
    assert picture.end_label == "00:23:20"
    assert all(0 <= shape.y <= picture.height for shape in picture.shapes)


def test_labels_of_one_line_do_not_touch() -> None:
    marks = tuple(
        Mark(0, MarkKind.COMMAND, "Worker", f"COMMAND work.accept_offer a{number}", "A")
        for number in range(30)
    )
    shapes = timeline_picture(Timeline(("A",), (), marks, ends_at=0)).shapes
    for one, other in pairwise(shapes):
        assert one.x + 9 + len(one.label) * 6 < other.x - 5


@pytest.mark.parametrize(
    ("mark", "label"),
    [
        (Mark(0, MarkKind.EVENT, "suite", "EVENT A/4 k", "A"), "4"),
        (
            Mark(0, MarkKind.EVENT, "suite", "EVENT A/1 k, … EVENT A/9 k (9 Events)", "A", "", 9),
            f"1{TO}9",
        ),
        (Mark(0, MarkKind.EVENT, "suite", "EVENT A/1 k, EVENT A/4 k", "A", "", 2), "1,4"),
        (Mark(0, MarkKind.COMMAND, "Worker", "COMMAND work.accept_offer a1", "A"), "accept a1"),
        (
            Mark(0, MarkKind.COMMAND, "Worker", "COMMAND work.start a1", "A", "", 9, 9),
            f"start a1 {TIMES}9",
        ),
        (
            Mark(0, MarkKind.COMMAND, "Worker", "COMMAND ext…work_execution_lease_renew a1", "A"),
            "…lease_renew a1",
        ),
        (Mark(0, MarkKind.POSITION, "Worker", "ACK A:5", "A"), "5"),
        (Mark(0, MarkKind.POSITION, "Worker", "SUBSCRIBE A:0", "A"), "from 0"),
        (Mark(0, MarkKind.SLOT, "suite", "execution s1 a1 completed", "", "s1"), "completed"),
        (Mark(0, MarkKind.CRASH, "suite", "(the disk is lost)"), "the disk is lost"),
        (Mark(0, MarkKind.COMMAND, "Worker", "COMMAND", "A"), ""),
        (
            Mark(0, MarkKind.OTHER, "suite", "(the 3 before come round 18 times more)", "A"),
            f"{TIMES}18 more",
        ),
    ],
)
def test_a_word_stands_beside_a_symbol(mark: Mark, label: str) -> None:
    (shape,) = timeline_picture(Timeline(("A",), ("s1",), (mark,), ends_at=0)).shapes
    assert shape.label == label


def test_what_is_left_out_is_a_gap() -> None:
    picture = timeline_picture(evolve(TIMELINE, left_out=7, left_out_after=3))
    assert picture.gap_x is not None
    assert picture.shapes[2].x < picture.gap_x < picture.bars[0].x


def test_the_words_say_what_the_picture_shows() -> None:
    picture = timeline_picture(TIMELINE)
    for part in (
        "Groups A, B",
        "Capacity Slots s1",
        "1 Command,",
        "1 Execution Lease,",
        "00:23:20",
    ):
        assert part in picture.description
    assert "a cut link" in dict(picture.legend).values()
    assert "an estimate is published" not in dict(picture.legend).values()


def test_a_history_without_a_mark_can_be_drawn() -> None:
    picture = timeline_picture(Timeline((), (), (), ends_at=0))
    assert "Nothing was said" in picture.description
    assert picture.width > 0
