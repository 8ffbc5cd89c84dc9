"""Estimates as a picture."""

from __future__ import annotations

from worker_conformance.judge.evidence import EstimateWindow
from worker_conformance.report.axis import nice_ticks
from worker_conformance.report.estimate_picture import estimate_pictures

TRUE = EstimateWindow("a1", 0, 60, 300, 0.5, 120)
FALSE = EstimateWindow("a2", 0, 60, 300, 0.5, 600)
OPEN = EstimateWindow("a3", 0, 60, 300, None, None)


def test_a_start_lies_inside_its_window_or_outside() -> None:
    (picture,) = estimate_pictures((TRUE, FALSE, OPEN))
    inside, outside, never = picture.rows
    assert inside.window_x <= (inside.started_x or 0) <= inside.window_x + inside.window_width
    assert (outside.started_x or 0) > outside.window_x + outside.window_width
    assert never.started_x is None
    assert [row.came_true for row in picture.rows] == [True, False, None]


def test_everything_lies_inside_the_picture() -> None:
    (picture,) = estimate_pictures((TRUE, FALSE, OPEN))
    for row in picture.rows:
        assert 0 <= row.published_x <= row.window_x + row.window_width <= picture.width
        assert 0 <= row.y <= picture.axis_y <= picture.height


def test_the_words_count_what_came_true() -> None:
    (picture,) = estimate_pictures((TRUE, FALSE, OPEN))
    assert picture.description == (
        "3 start windows: 1 came true, 1 did not, 1 of work that did not start meanwhile."
    )
    assert "started at 00:10:00, outside the window" in picture.rows[1].title


def test_each_scene_is_a_picture_of_its_own() -> None:
    one = EstimateWindow("a1", 0, 60, 300, 0.5, 120, "one slot")
    other = EstimateWindow("a1", 0, 60, 300, 0.5, 120, "two slots")
    assert [picture.scene for picture in estimate_pictures((one, one, other))] == [
        "one slot",
        "two slots",
    ]


def test_ticks_stand_on_steps_that_people_read() -> None:
    assert nice_ticks(0, 7200) == (0, 3600, 7200)
    assert nice_ticks(100, 400) == (120, 240, 360)
    assert nice_ticks(5, 5) == (5,)
    assert len(nice_ticks(0, 1e9)) <= 4
