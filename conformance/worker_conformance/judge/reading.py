"""Reading what crossed the Port: which Command, about which WorkItem, naming which lease.

The payloads of v0.1 are open, so identifiers are looked for anywhere in a payload; only numbers
need a path. Never judges.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from worker_conformance.documents.json_types import JsonObject, JsonValue, find

WORDS_OF_COMMANDS = {
    "work.accept_offer": "accept",
    "work.start": "start",
    "work.checkpoint": "checkpoint",
    "work.block": "block",
    "artifact.publish": "publish",
    "work.submit": "submit",
    "work.fail": "fail",
}
"""A Worker's Commands and the words that vectors use for them; renewal's kind is declared."""

WORDS_OF_EFFECTS = frozenset(
    {
        "run",
        "preempt",
        "continue",
        "pause",
        "cancel",
        "release",
        "decline",
        "disclose",
        "operation",
    }
)


def command_of(effect: JsonObject) -> JsonObject | None:
    """The Command inside a `frame` effect, or None for anything else."""
    frame = effect.get("frame") if effect.get("type") == "frame" else None
    if not isinstance(frame, dict) or frame.get("frameType") != "COMMAND":
        return None
    command = frame.get("command")
    return command if isinstance(command, dict) else None


def kind_of(command: JsonObject) -> str:
    """The Command's kind, or an empty text."""
    kind = command.get("kind")
    return kind if isinstance(kind, str) else ""


def strings_in(value: JsonValue) -> Iterator[str]:
    """Every string value inside `value`, at any depth; member names excluded."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from strings_in(member)
    elif isinstance(value, list):
        for item in value:
            yield from strings_in(item)


def frames_in(stimulus: JsonObject) -> Iterator[JsonObject]:
    """The wire frames of a stimulus, as far as they are given as JSON objects."""
    frames = stimulus.get("frames")
    for frame in frames if isinstance(frames, list) else ():
        if isinstance(frame, dict):
            yield frame


def objects_in(value: JsonValue) -> Iterator[JsonObject]:
    """Every object inside `value`, at any depth, `value` included."""
    if isinstance(value, dict):
        yield value
    members: Iterable[JsonValue] = value if isinstance(value, list) else ()
    for member in value.values() if isinstance(value, dict) else members:
        yield from objects_in(member)


def work_item_of(message: JsonObject, known: Container[str]) -> str | None:
    """The WorkItem that a Command, effect or report is about: the first known ID in it."""
    direct = message.get("workItemId")
    if isinstance(direct, str) and direct in known:
        return direct
    return next((text for text in strings_in(message.get("payload")) if text in known), None)


def epoch_of(command: JsonObject, pointer: str | None) -> int | None:
    """The number at a JSON Pointer in a Command's payload, or None."""
    if pointer is None:
        return None
    path = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    value = find(command.get("payload"), *path)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def positions_in(effect: JsonObject) -> Iterator[tuple[str, str, int]]:
    """`(frame type, groupId, sequence)` for each position that an ACK or SUBSCRIBE names."""
    frame = effect.get("frame") if effect.get("type") == "frame" else None
    if not isinstance(frame, dict):
        return
    rows, member = {
        "ACK": (frame.get("acknowledgements"), "sequence"),
        "SUBSCRIBE": (frame.get("groups"), "afterSequence"),
    }.get(str(frame.get("frameType")), (None, ""))
    for row in rows if isinstance(rows, list) else ():
        group, sequence = find(row, "groupId"), find(row, member)
        if isinstance(group, str) and isinstance(sequence, int):
            yield str(frame["frameType"]), group, sequence
