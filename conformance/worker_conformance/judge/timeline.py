"""From a Trace to the marks of a timeline: what happened when, in whose lane.

Sorts what crossed the Port, and what the suite noted, into lanes of Groups and rows of Capacity
Slots. Never judges: that the last mark is where it went wrong is known to whoever asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from attrs import define, evolve, field

from worker_conformance.documents.json_types import JsonObject, JsonValue, find
from worker_conformance.judge.evidence import Mark, MarkKind, Timeline
from worker_conformance.judge.folding import Rounds, folded, without_numbers
from worker_conformance.judge.reading import command_of, frames_in, positions_in
from worker_conformance.judge.trace import Entry, EntryKind, NoteKind
from worker_conformance.judge.transcript import (
    Short,
    told_of_effect,
    told_of_frame,
    told_of_note,
    told_of_stimulus,
    without_silence,
)
from worker_conformance.scenario.clock import SECOND

MARKS_MAX = 120
"""Marks of a timeline: what a wide picture still shows apart."""

FOLDED_FROM = 48
"""Marks from which what comes round again and again is shown at both ends only."""

MARKS_FIRST = 24
"""Of those, how many tell how it began where the middle is left out."""

TEXT_MAX = 160
"""Characters of a mark's text."""

EVENTS_TOLD = 3

SLOTS_MAX = 16
"""Rows of Capacity Slots: a Worker that makes names up gets no row for each of them."""

_KINDS_OF_EFFECTS = {
    "run": MarkKind.RUN,
    "release": MarkKind.RELEASED,
    "disclose": MarkKind.ESTIMATE,
}
_LOST = frozenset({NoteKind.CRASHED, NoteKind.STOPPED, NoteKind.WIPED})


def timeline_of(
    entries: Sequence[Entry],
    name_of: Callable[[str], str | None],
    *,
    last_breaks: bool = False,
) -> Timeline:
    """The marks of a history that ends with the last of `entries`.

    `last_breaks`: this last entry is what broke a requirement, if it is something the Worker did.
    """
    teller = _Teller(name_of)
    merged = _merged(mark for entry in without_silence(entries) for mark in teller.take(entry))
    marks = merged if len(merged) <= FOLDED_FROM else list(_without_rounds(merged))
    left_out = max(0, len(marks) - MARKS_MAX)
    if left_out:
        marks = [*marks[:MARKS_FIRST], *marks[MARKS_FIRST + left_out :]]
    return Timeline(
        groups=tuple(sorted(teller.groups)),
        slots=tuple(sorted(teller.slots)),
        marks=tuple(marks),
        ends_at=entries[-1].at / SECOND if entries else 0.0,
        left_out=left_out,
        left_out_after=MARKS_FIRST if left_out else 0,
        last_breaks=last_breaks and entries[-1].kind is EntryKind.EFFECT,
    )


def _without_rounds(marks: Sequence[Mark]) -> Iterator[Mark]:
    """Marks that come round again and again are shown once at the beginning and once at the end."""
    before: Mark | None = None
    for one in folded(marks, _shape_of):
        if not isinstance(one, Rounds):
            before = one[1]
            yield before
        elif before is not None:
            told = f"(the {one.items} before come round {one.rounds} times more)"
            if one.items == 1:
                told = f"(the one before comes round {one.rounds} times more)"
            yield Mark(before.at, MarkKind.OTHER, "suite", told, before.group, until=before.at)


def _shape_of(mark: Mark) -> str:
    return without_numbers(f"{mark.kind} {mark.group} {mark.slot} {mark.text}")


def _merged(marks: Iterable[Mark]) -> list[Mark]:
    """Equal marks in a row become one: a Command sent forty times is one thing to look at."""
    merged: list[Mark] = []
    for mark in marks:
        last = merged[-1] if merged else None
        if last is not None and _alike(last, mark):
            merged[-1] = evolve(last, times=last.times + mark.times, until=mark.at)
        else:
            merged.append(mark)
    return merged


def _alike(one: Mark, other: Mark) -> bool:
    return (one.kind, one.who, one.group, one.slot, one.text) == (
        other.kind,
        other.who,
        other.group,
        other.slot,
        other.text,
    )


@define(eq=False)
class _Teller:
    """Follows a Trace; knows which leases are open and which lanes there are."""

    name_of: Callable[[str], str | None]
    groups: set[str] = field(factory=set)
    slots: set[str] = field(factory=set)
    _leases: dict[str, str] = field(factory=dict)  # WorkItem to Group, while one is open

    def take(self, entry: Entry) -> Iterator[Mark]:
        """The marks of one entry."""
        at = entry.at / SECOND
        if entry.kind is EntryKind.STIMULUS:
            marks = self._stimulus(at, entry.body)
        elif entry.kind is EntryKind.EFFECT:
            marks = self._effect(at, entry.body)
        else:
            marks = self._note(at, entry.body)
        for mark in marks:
            self.groups |= {mark.group} - {""}
            self.slots |= {mark.slot} - {""}
            yield evolve(mark, text=_cut(mark.text), until=mark.at)

    def _short(self, uri: str) -> str:
        return self.name_of(uri) or uri

    def _group(self, uri: JsonValue) -> str:
        """The name of a Group that there is; what a Worker makes up gets no lane."""
        return self.name_of(uri) or "" if isinstance(uri, str) else ""

    def _slot(self, effect: JsonObject) -> str:
        slot = str(effect.get("slotId") or "")
        return slot if slot in self.slots or len(self.slots) < SLOTS_MAX else ""

    # --- what the suite said ----------------------------------------------------------

    def _stimulus(self, at: float, body: JsonObject) -> Iterator[Mark]:
        kind = body.get("type")
        if kind == "frames":
            yield from _frames(at, body, self._short)
            return
        if "sessionEpoch" in body:  # a new session revokes the leases of the old one
            yield from self._ended(at, tuple(self._leases))
        told = " ".join(told_of_stimulus(body, self._short))
        if kind == "tick":
            return  # the marks that answer it stand at its time
        if kind == "start":
            rows = body.get("groups")
            uris = [find(row, "groupId") for row in rows] if isinstance(rows, list) else []
            self.groups |= {self._group(uri) for uri in uris} - {""}
            yield Mark(at, MarkKind.START, "suite", told)
        elif kind == "execution":
            yield Mark(at, MarkKind.SLOT, "suite", told, slot=self._slot(body))
        elif kind == "link":
            yield from self._link(at, body, told)
        else:
            yield Mark(at, MarkKind.OTHER, "suite", told, self._group(body.get("groupId")))

    def _link(self, at: float, body: JsonObject, told: str) -> Iterator[Mark]:
        kind = MarkKind.CUT if body.get("state") == "down" else MarkKind.HEALED
        named = body.get("groupIds")
        for uri in named if isinstance(named, list) and named else [""]:
            yield Mark(at, kind, "suite", told, self._group(uri))

    # --- what the Worker did ----------------------------------------------------------

    def _effect(self, at: float, body: JsonObject) -> Iterator[Mark]:
        command = command_of(body)
        told = told_of_effect(body, self._short)
        if command is not None:
            group = self._group(command.get("groupId"))
            yield Mark(at, MarkKind.COMMAND, "Worker", told, group)
            return
        positions = list(positions_in(body))
        for frame_type, group, sequence in positions:
            told = f"{frame_type} {self._short(group)}:{sequence}"
            yield Mark(at, MarkKind.POSITION, "Worker", told, self._group(group))
        if positions:
            return
        slot = self._slot(body)
        kind = _KINDS_OF_EFFECTS.get(
            str(body.get("type")), MarkKind.SLOT if slot else MarkKind.OTHER
        )
        yield Mark(at, kind, "Worker", told, self._group(body.get("groupId")), slot)

    # --- what the suite noted ---------------------------------------------------------

    def _note(self, at: float, body: JsonObject) -> Iterator[Mark]:
        kind, group = body.get("note"), str(body.get("group") or "")
        if kind == NoteKind.APPENDED:
            yield from self._appended(at, body, group)
            return
        for told in told_of_note(body):
            if kind in _LOST:
                yield Mark(at, MarkKind.CRASH, "suite", told)
            elif kind == NoteKind.REFUSED:
                yield Mark(at, MarkKind.REFUSED, "suite", told, group)
            else:
                yield Mark(at, MarkKind.OTHER, "suite", told, group)

    def _appended(self, at: float, body: JsonObject, group: str) -> Iterator[Mark]:
        work = body.get("work")
        if not isinstance(work, str):
            return
        if body.get("lease") is not None and work not in self._leases:
            self._leases[work] = group
            yield Mark(at, MarkKind.GRANTED, "suite", f"Execution Lease of {work}", group)
        elif body.get("state") != "active":
            yield from self._ended(at, (work,))

    def _ended(self, at: float, works: Iterable[str]) -> Iterator[Mark]:
        for work in works:
            group = self._leases.pop(work, None)
            if group is not None:
                yield Mark(at, MarkKind.ENDED, "suite", f"Execution Lease of {work}", group)


def _frames(at: float, body: JsonObject, short: Short) -> Iterator[Mark]:
    """One mark for neighbouring Events of one Group, and one for any other frame."""
    told: list[str] = []
    of = ""
    for frame in frames_in(body):
        is_event = frame.get("frameType") == "EVENT"
        uri = find(frame, "event", "groupId")
        group = short(uri) if is_event and isinstance(uri, str) else ""
        if told and (not is_event or group != of):
            yield _events(at, told, of)
            told = []
        if is_event:
            told, of = [*told, told_of_frame(frame, short)], group
        else:
            yield Mark(at, MarkKind.OTHER, "suite", told_of_frame(frame, short))
    if told:
        yield _events(at, told, of)


def _events(at: float, told: Sequence[str], group: str) -> Mark:
    shown = ", ".join(told)
    if len(told) > EVENTS_TOLD:
        shown = f"{told[0]}, … {told[-1]} ({len(told)} Events)"
    return Mark(at, MarkKind.EVENT, "suite", shown, group, times=len(told))


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_MAX else f"{text[: TEXT_MAX - 1]}…"
