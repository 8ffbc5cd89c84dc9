"""Telling a Trace to a person: one short line for each thing that was said.

`00:05:00  suite   EVENT A/4 work.offer.created a1`: virtual time, who speaks, what. Never judges
and never leaves out a line without saying how many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from worker_conformance.documents.json_types import JsonObject, JsonValue, find
from worker_conformance.judge.folding import Rounds, folded, without_numbers
from worker_conformance.judge.reading import command_of, kind_of, positions_in, strings_in
from worker_conformance.judge.trace import Entry, EntryKind, NoteKind
from worker_conformance.scenario.clock import elapsed, moment_of

LINES_MAX = 24
"""Lines of a transcript in a report: less than a screen."""

_HEAD = 5
_EVENTS_PER_LINE = 3

Short = Callable[[str], str]


def tell(entries: Sequence[Entry], name_of: Callable[[str], str | None]) -> tuple[str, ...]:
    """The entries as lines, the middle left out where there are too many."""

    def short(uri: str) -> str:
        return name_of(uri) or uri

    told = [line for entry in without_silence(entries) for line in _lines(entry, short)]
    if len(told) <= LINES_MAX:
        return tuple(told)
    lines = [_folded_line(one) for one in folded(told, without_numbers)]
    if len(lines) <= LINES_MAX:
        return tuple(lines)
    dropped = len(lines) - LINES_MAX + 1
    tail = LINES_MAX - _HEAD - 1
    return (*lines[:_HEAD], f"{'':>11}  …       {dropped} lines left out", *lines[-tail:])


def _folded_line(one: tuple[int, str] | Rounds) -> str:
    if isinstance(one, Rounds):
        lines = "the line before" if one.items == 1 else f"these {one.items} lines"
        return f"{'':>11}  …       {lines} {one.rounds} times more, with other numbers; the last:"
    return one[1]


def without_silence(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Drop ticks that nothing answered."""
    answered = {entry.call for entry in entries if entry.kind is EntryKind.EFFECT}
    for entry in entries:
        silent_tick = entry.body.get("type") == "tick" and entry.call not in answered
        if not silent_tick:
            yield entry


def _lines(entry: Entry, short: Short) -> Iterator[str]:
    who, texts = "suite", list(told_of_stimulus(entry.body, short))
    if entry.kind is EntryKind.EFFECT:
        who, texts = "Worker", [told_of_effect(entry.body, short)]
    elif entry.kind is EntryKind.NOTE:
        who, texts = "suite", list(told_of_note(entry.body))
    for text in texts:
        yield f"{elapsed(entry.at):>11}  {who:<6}  {text}"


def told_of_stimulus(stimulus: JsonObject, short: Short) -> Iterator[str]:
    """A message to the Worker, in a line or more."""
    kind = str(stimulus.get("type"))
    match kind:
        case "frames":
            yield from _frames(stimulus.get("frames"), short)
        case "start":
            groups = stimulus.get("groups")
            names = [short(str(find(one, "groupId"))) for one in _list(groups)]
            epoch, slots = stimulus.get("sessionEpoch"), find(stimulus, "agent", "maxConcurrency")
            yield f"start, Session Epoch {epoch}, {slots} slot(s), Groups {' '.join(names)}"
        case "caught_up":
            yield f"caught_up {short(str(stimulus.get('groupId')))} {stimulus.get('sequence')}"
        case "execution":
            report, work = find(stimulus, "report", "kind"), short(str(stimulus.get("workItemId")))
            yield f"execution {stimulus.get('slotId')} {work} {report}"
        case "snapshot":
            group = short(str(find(stimulus, "snapshot", "groupId")))
            yield f"snapshot {group} through {find(stimulus, 'snapshot', 'throughSequence')}"
        case "link":
            groups = " ".join(short(str(one)) for one in _list(stimulus.get("groupIds")))
            yield f"link {stimulus.get('state')} {groups}".rstrip()
        case _:
            yield kind


def _frames(frames: JsonValue, short: Short) -> Iterator[str]:
    told = [told_of_frame(frame, short) for frame in _list(frames) if isinstance(frame, dict)]
    for first in range(0, len(told), _EVENTS_PER_LINE):
        yield ", ".join(told[first : first + _EVENTS_PER_LINE])


def told_of_frame(frame: JsonObject, short: Short) -> str:
    """A frame to the Worker, in some words."""
    kind = str(frame.get("frameType", "bytes"))
    if kind == "EVENT":
        event = frame.get("event")
        group = short(str(find(event, "groupId")))
        work = _work_in(event, short)
        return f"EVENT {group}/{find(event, 'sequence')} {find(event, 'kind')}{work}"
    if kind == "ERROR":
        return f"ERROR {find(frame, 'error', 'code')}"
    return kind


def _work_in(event: JsonValue, short: Short) -> str:
    direct = find(event, "workItemId") or find(event, "payload", "workItemId")
    return f" {short(direct)}" if isinstance(direct, str) else ""


def told_of_effect(effect: JsonObject, short: Short) -> str:
    """What the Worker did, in a line."""
    command = command_of(effect)
    if command is not None:
        work = find(command, "workItemId") or find(command, "payload", "workItemId")
        named = short(work) if isinstance(work, str) else _known_in(command, short)
        return f"COMMAND {_short_kind(kind_of(command))} {named}".rstrip()
    positions = [f"{short(group)}:{sequence}" for _, group, sequence in positions_in(effect)]
    if effect.get("type") == "frame":
        return f"{find(effect, 'frame', 'frameType')} {' '.join(positions)}".rstrip()
    return _plain_effect(effect, short)


def _plain_effect(effect: JsonObject, short: Short) -> str:
    words = [str(effect.get("type"))]
    words += [str(effect[member]) for member in ("slotId",) if member in effect]
    words += [short(str(effect[one])) for one in ("groupId", "workItemId") if one in effect]
    words += [str(effect[one]) for one in ("reason", "refused", "code") if one in effect]
    if "resumeFrom" in effect:
        words.append("resuming")
    if isinstance(effect.get("estimate"), dict):
        start, end = (
            _moment(find(effect, "estimate", one))
            for one in ("estimatedStart", "estimatedCompletion")
        )
        words.append(f"start {start} completion {end}")
    return " ".join(words)


def _moment(value: JsonValue) -> str:
    """A time as the transcript tells its own, or whatever stands in its place."""
    moment = moment_of(value) if isinstance(value, str) else None
    return str(value) if moment is None or moment < 0 else elapsed(moment)


def _short_kind(kind: str) -> str:
    """A kind without the name space of an extension, which is longer than a line can hold."""
    head, _, name = kind.rpartition(".")
    return f"ext…{name}" if head.startswith("ext.") else kind


def _known_in(command: JsonObject, short: Short) -> str:
    found = (text for text in strings_in(command.get("payload")) if short(text) != text)
    return next((short(text) for text in found), "")


def told_of_note(note: JsonObject) -> Iterator[str]:
    """A note of the suite, as far as a reader needs it."""
    match note.get("note"):
        case NoteKind.REFUSED:
            yield f"(refused: {note.get('kind')} {note.get('work') or ''}, {note.get('code')})"
        case NoteKind.SWALLOWED:
            yield f"(nobody receives this: {note.get('reason')})"
        case NoteKind.CRASHED:
            yield "SIGKILL"
        case NoteKind.STOPPED:
            yield "(stopped)"
        case NoteKind.WIPED:
            yield "(the disk is lost)"
        case NoteKind.FORGED:
            yield f"(the next is forged: {note.get('how')})"
        case _:
            return


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
