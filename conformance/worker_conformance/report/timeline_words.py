"""The words of a timeline: what a mark means, what is written beside it, what all of it says.

Never lays anything out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from worker_conformance.judge.evidence import Mark, MarkKind, Timeline
from worker_conformance.judge.reading import WORDS_OF_COMMANDS
from worker_conformance.scenario.clock import SECOND, elapsed

LABEL_CHARACTERS_MAX = 16

TIMES = "\N{MULTIPLICATION SIGN}"
TO = "\N{EN DASH}"

SYMBOLS: Mapping[MarkKind, tuple[str, str]] = {
    MarkKind.START: ("start", "a session is opened"),
    MarkKind.EVENT: ("event", "Events are delivered"),
    MarkKind.COMMAND: ("command", "a Command of the Worker"),
    MarkKind.REFUSED: ("refused", "a Command is refused"),
    MarkKind.POSITION: ("position", "ACK or SUBSCRIBE, with the position"),
    MarkKind.ESTIMATE: ("estimate", "an estimate is published"),
    MarkKind.SLOT: ("slot", "the executor and the Worker about a slot"),
    MarkKind.OTHER: ("other", "anything else that was said"),
    MarkKind.CRASH: ("crash", "the Worker is killed or stopped"),
}
"""The symbol of each kind that has one, and what it means; bars and bands have their own."""


def clock(seconds: float) -> str:
    """Spell virtual time as transcripts do."""
    return elapsed(round(seconds * SECOND))


def title_of(mark: Mark) -> str:
    """All of a mark, in a line."""
    times = ""
    if mark.times > 1 and mark.until > mark.at:
        times = f" ({mark.times} times, until {clock(mark.until)})"
    return f"{clock(mark.at)} {mark.who}: {told_of(mark)}{times}"


def told_of(mark: Mark) -> str:
    """What happened, as the history says it."""
    if mark.kind is MarkKind.GRANTED:
        return f"{mark.text} is granted"
    return f"{mark.text} ends" if mark.kind is MarkKind.ENDED else mark.text


def label_of(mark: Mark) -> str:
    """A word or number beside a symbol."""
    write = _LABELS.get(mark.kind)
    told = write(mark) if write else ""
    if mark.times > 1 and mark.kind is not MarkKind.EVENT:
        told = f"{told} {TIMES}{mark.times}".strip()
    return told if len(told) <= LABEL_CHARACTERS_MAX else f"{told[: LABEL_CHARACTERS_MAX - 1]}…"


def _event_label(mark: Mark) -> str:
    """The sequence numbers: `4`, `1-3`, and as far as they are told where they have gaps."""
    numbers = re.findall(r"EVENT \S+/(\d+)", mark.text)
    if len(numbers) < 2:
        return "".join(numbers)
    together = int(numbers[-1]) - int(numbers[0]) == mark.times - 1
    return f"{numbers[0]}{TO}{numbers[-1]}" if together else ",".join(numbers)


def _command_label(mark: Mark) -> str:
    _, kind, *work = [*mark.text.split(), ""][:3]
    name = WORDS_OF_COMMANDS.get(kind) or re.split(r"[.…]", kind)[-1]
    told = " ".join([name, *work]).strip()
    return told if len(told) <= LABEL_CHARACTERS_MAX else _last_words(name, " ".join(["", *work]))


def _last_words(name: str, work: str) -> str:
    """The end of a long kind, where its verb stands: `…lease_renew c1`."""
    words = name.split("_")
    ends = (f"…{'_'.join(words[start:])}{work}" for start in range(1, len(words)))
    return next((end for end in ends if len(end) <= LABEL_CHARACTERS_MAX), name)


def _slot_label(mark: Mark) -> str:
    words = mark.text.split()
    return words[-1] if words and words[0] == "execution" else "".join(words[:1])


def _position_label(mark: Mark) -> str:
    what, _, sequence = mark.text.rpartition(":")
    return sequence if what.startswith("ACK") else f"from {sequence}"


def _other_label(mark: Mark) -> str:
    rounds = re.search(r"round (\d+) times more", mark.text)
    if rounds:
        return f"{TIMES}{rounds[1]} more"
    return "" if mark.text.startswith("(") else " ".join(mark.text.split()[:2])


_LABELS: Mapping[MarkKind, Callable[[Mark], str]] = {
    MarkKind.START: lambda _: "start",
    MarkKind.EVENT: _event_label,
    MarkKind.COMMAND: _command_label,
    MarkKind.POSITION: _position_label,
    MarkKind.SLOT: _slot_label,
    MarkKind.CRASH: lambda mark: mark.text.strip("()"),
    MarkKind.OTHER: _other_label,
}


def description_of(timeline: Timeline) -> str:
    """What the picture shows, for those who do not see it; the table beside it says the rest."""
    counted = [
        _counted(timeline, MarkKind.EVENT, "delivery of Events", "deliveries of Events"),
        _counted(timeline, MarkKind.COMMAND, "Command", "Commands"),
        _counted(timeline, MarkKind.GRANTED, "Execution Lease", "Execution Leases"),
        _counted(timeline, MarkKind.RUN, "run in a Capacity Slot", "runs in Capacity Slots"),
        _counted(timeline, MarkKind.CRASH, "crash or stop", "crashes or stops"),
        _counted(timeline, MarkKind.CUT, "cut link", "cut links"),
    ]
    lanes = f"Groups {', '.join(timeline.groups) or 'none'}"
    slots = f"Capacity Slots {', '.join(timeline.slots) or 'none'}"
    told = ", ".join(one for one in counted if one)
    return (
        f"{lanes}; {slots}. {told or 'Nothing was said'}. "
        f"The requirement is violated at {clock(timeline.ends_at)}, at the right end. "
        "The table of the history tells the same."
    )


def _counted(timeline: Timeline, kind: MarkKind, one: str, many: str) -> str:
    number = sum(1 for mark in timeline.marks if mark.kind is kind)
    return "" if not number else f"{number} {one if number == 1 else many}"
