"""Published estimates beside what then happened.

Reads out of a Trace each start window that was published while its work waited, and the start that
followed. Measures nothing and judges nothing: `suite.comparisons.calibration` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import evolve

from worker_conformance.documents.json_types import JsonValue, find
from worker_conformance.judge.evidence import EstimateWindow
from worker_conformance.judge.trace import Entry, EntryKind, NoteKind
from worker_conformance.scenario.clock import SECOND, moment_of

WINDOWS_MAX = 24
"""Windows that a picture still shows apart."""


def windows_of(
    entries: Iterable[Entry],
    name_of: Callable[[str], str | None],
    scene: str = "",
    most: int | None = WINDOWS_MAX,
) -> tuple[EstimateWindow, ...]:
    """The first `most` windows of a history, in the order in which they were published.

    An estimate without an end of its window is one instant wide.
    """
    waiting: dict[str, list[EstimateWindow]] = {}  # published since the work last ran
    windows: list[EstimateWindow] = []
    for entry in entries:
        body = entry.body
        if entry.kind is EntryKind.EFFECT and body.get("type") == "disclose":
            work = name_of(str(body.get("workItemId"))) or str(body.get("workItemId"))
            window = _window(entry, work, scene)
            if window is not None:
                waiting.setdefault(work, []).append(window)
        elif entry.kind is EntryKind.NOTE and body.get("note") == NoteKind.APPENDED:
            work = str(body.get("work"))
            if body.get("kind") == "work.started":
                windows += [_started(one, entry.at) for one in waiting.pop(work, ())]
            elif body.get("state") not in _WAITING:
                waiting.pop(work, None)  # nothing waits any more: the estimate was of its end
    windows += [one for many in waiting.values() for one in many]
    windows.sort(key=lambda one: (one.published, one.work))
    return tuple(windows[:most])


_WAITING = frozenset({"offered", "queued", "blocked"})


def _window(entry: Entry, work: str, scene: str) -> EstimateWindow | None:
    earliest = moment_of(str(find(entry.body, "estimate", "estimatedStart")))
    if earliest is None:
        return None
    latest = moment_of(str(entry.body.get("estimatedStartLatest")))
    return EstimateWindow(
        work=work,
        published=entry.at / SECOND,
        earliest=earliest / SECOND,
        latest=(earliest if latest is None else max(earliest, latest)) / SECOND,
        confidence=_share(find(entry.body, "estimate", "confidence")),
        started=None,
        scene=scene,
    )


def _share(value: JsonValue) -> float | None:
    """A number from 0 to 1; whatever else a Worker puts in its place is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if 0 <= value <= 1 else None


def _started(window: EstimateWindow, at: int) -> EstimateWindow:
    return evolve(window, started=at / SECOND)
