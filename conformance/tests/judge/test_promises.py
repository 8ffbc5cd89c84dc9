"""Published estimates beside what then happened."""

from __future__ import annotations

import pytest

from worker_conformance.judge.promises import WINDOWS_MAX, windows_of
from worker_conformance.judge.trace import EntryKind, NoteKind, Trace
from worker_conformance.scenario.clock import SECOND, text_of


def trace_of(*entries: tuple[float, EntryKind, dict[str, object]]) -> Trace:
    trace = Trace("TEST-0001", 1)
    for call, (at, kind, body) in enumerate(entries):
        trace.append(call, round(at * SECOND), kind, body)  # type: ignore[arg-type]
    return trace


def disclosed(at: float, work: str, earliest: float, latest: float | None, sure: object = 0.5):
    estimate = {"estimatedStart": text_of(round(earliest * SECOND)), "confidence": sure}
    body: dict[str, object] = {"type": "disclose", "workItemId": work, "estimate": estimate}
    if latest is not None:
        body["estimatedStartLatest"] = text_of(round(latest * SECOND))
    return at, EntryKind.EFFECT, body


def appended(at: float, work: str, kind: str, state: str):
    body = {"note": NoteKind.APPENDED.value, "work": work, "kind": kind, "state": state}
    return at, EntryKind.NOTE, body


def windows(*entries):
    return windows_of(trace_of(*entries), lambda uri: uri)


def test_every_estimate_of_waiting_work_meets_the_start_that_followed() -> None:
    early, late = windows(
        disclosed(0, "a1", 10, 20),
        disclosed(15, "a1", 30, 60),
        appended(40, "a1", "work.started", "active"),
    )
    assert (early.published, early.earliest, early.latest) == (0, 10, 20)
    assert (early.started, early.came_true) == (40, False)
    assert (late.published, late.came_true) == (15, True)


def test_work_that_does_not_start_leaves_its_window_open() -> None:
    (window,) = windows(disclosed(0, "a1", 10, 20))
    assert window.started is None
    assert window.came_true is None


def test_an_estimate_of_work_that_runs_already_is_of_its_end_and_is_not_shown() -> None:
    shown = windows(
        appended(0, "a1", "work.started", "active"),
        disclosed(0, "a1", 0, None),
        appended(60, "a1", "work.submitted", "submitted"),
    )
    assert shown == ()


def test_an_estimate_without_a_window_is_one_instant_wide() -> None:
    (window,) = windows(disclosed(0, "a1", 10, None))
    assert window.earliest == window.latest


@pytest.mark.parametrize("sure", [True, "0.5", None, float("inf"), float("nan"), -1, 2])
def test_a_confidence_that_is_no_share_is_none(sure: object) -> None:
    (window,) = windows(disclosed(0, "a1", 10, 20, sure))
    assert window.confidence is None


def test_no_more_windows_than_a_picture_shows() -> None:
    assert len(windows(*(disclosed(0, f"a{n}", 10, 20) for n in range(99)))) == WINDOWS_MAX
