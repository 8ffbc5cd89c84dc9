"""Virtual time: microseconds since the scenario's epoch, and their RFC 3339 texts."""

from __future__ import annotations

from worker_conformance.documents import timestamps
from worker_conformance.documents.errors import TimestampError
from worker_conformance.scenario.model import EPOCH

SECOND = 1_000_000
"""Microseconds in a second: the unit in which the suite's clock counts."""

_EPOCH_MICROSECONDS = timestamps.microseconds_of(EPOCH)


def text_of(now: int) -> str:
    """Spell a moment, e.g. `2026-07-15T00:00:05Z`."""
    return timestamps.to_text(_EPOCH_MICROSECONDS + now)


def moment_of(text: str) -> int | None:
    """Return the moment that an RFC 3339 text names, or None where it names none."""
    try:
        return timestamps.microseconds_of(text) - _EPOCH_MICROSECONDS
    except TimestampError:
        return None


def elapsed(now: int) -> str:
    """Spell time since the epoch for people: `00:01:30`, `2d 00:00:00`, `00:00:00.5`."""
    seconds, micros = divmod(now, SECOND)
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, seconds = divmod(rest, 60)
    fraction = f".{micros:06d}".rstrip("0") if micros else ""
    head = f"{days}d " if days else ""
    return f"{head}{hours:02d}:{minutes:02d}:{seconds:02d}{fraction}"
