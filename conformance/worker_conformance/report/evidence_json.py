"""What a report draws, as JSON members and back: timelines, views, windows of estimates.

The counterpart of `judge.evidence` for `json_report`, which says when. Members that say nothing are
left out, because every failure of a run carries these.
"""

from __future__ import annotations

from typing import cast

from worker_conformance.documents.json_types import (
    JsonObject,
    JsonValue,
    find,
    integer_at,
    list_at,
    text_at,
)
from worker_conformance.judge.evidence import (
    EstimateWindow,
    Mark,
    MarkKind,
    Timeline,
    ViewPair,
)


def write_timeline(timeline: Timeline) -> JsonObject:
    """Spell a timeline."""
    told: JsonObject = {
        "groups": list(timeline.groups),
        "slots": list(timeline.slots),
        "endsAt": timeline.ends_at,
        "leftOut": timeline.left_out,
        "leftOutAfter": timeline.left_out_after,
        "marks": [_write_mark(mark) for mark in timeline.marks],
    }
    if timeline.last_breaks:
        told["lastBreaks"] = True
    return told


def read_timeline(document: JsonValue) -> Timeline | None:
    """Read what `write_timeline` wrote; None where a result has none."""
    if document is None:
        return None
    return Timeline(
        groups=_texts(document, "groups"),
        slots=_texts(document, "slots"),
        marks=tuple(map(_read_mark, list_at(document, "marks"))),
        ends_at=_number(document, "endsAt"),
        left_out=integer_at(document, "leftOut"),
        left_out_after=integer_at(document, "leftOutAfter"),
        last_breaks=find(document, "lastBreaks") is True,
    )


def _write_mark(mark: Mark) -> JsonObject:
    told: JsonObject = {"at": mark.at, "kind": mark.kind.value, "who": mark.who, "text": mark.text}
    if mark.group:
        told["group"] = mark.group
    if mark.slot:
        told["slot"] = mark.slot
    if mark.times > 1:
        told["times"] = mark.times
    if mark.until > mark.at:
        told["until"] = mark.until
    return told


def _read_mark(document: JsonValue) -> Mark:
    at = _number(document, "at")
    return Mark(
        at=at,
        kind=MarkKind(text_at(document, "kind")),
        who=text_at(document, "who"),
        text=text_at(document, "text"),
        group=_text(document, "group"),
        slot=_text(document, "slot"),
        times=cast("int | None", find(document, "times")) or 1,
        until=cast("float | None", find(document, "until")) or at,
    )


def write_view(pair: ViewPair) -> JsonObject:
    """Spell one place of two views."""
    return {
        "what": pair.what,
        "at": list(pair.at),
        "plain": pair.plain,
        "varied": pair.varied,
        "before": pair.before,
        "after": pair.after,
    }


def read_view(document: JsonValue) -> ViewPair:
    """Read what `write_view` wrote."""
    plain, varied = cast("list[float | None]", list_at(document, "at"))
    return ViewPair(
        what=text_at(document, "what"),
        at=(plain, varied),
        plain=cast("str | None", find(document, "plain")),
        varied=cast("str | None", find(document, "varied")),
        before=integer_at(document, "before"),
        after=integer_at(document, "after"),
    )


def write_window(window: EstimateWindow) -> JsonObject:
    """Spell one estimate and what became of it."""
    told: JsonObject = {
        "work": window.work,
        "published": window.published,
        "earliest": window.earliest,
        "latest": window.latest,
        "confidence": window.confidence,
        "started": window.started,
    }
    if window.scene:
        told["scene"] = window.scene
    return told


def read_window(document: JsonValue) -> EstimateWindow:
    """Read what `write_window` wrote."""
    return EstimateWindow(
        work=text_at(document, "work"),
        published=_number(document, "published"),
        earliest=_number(document, "earliest"),
        latest=_number(document, "latest"),
        confidence=cast("float | None", find(document, "confidence")),
        started=cast("float | None", find(document, "started")),
        scene=_text(document, "scene"),
    )


def _number(document: JsonValue, member: str) -> float:
    return cast(float, find(document, member))


def _text(document: JsonValue, member: str) -> str:
    return "" if find(document, member) is None else text_at(document, member)


def _texts(document: JsonValue, member: str) -> tuple[str, ...]:
    return tuple(str(each) for each in list_at(document, member))
