"""Instants: RFC 3339 text to exact time and back.

Responsible for the timestamp profile of section 2: which spellings are times, and how two of them
compare. Never asks for the current time: `now` always comes in with a stimulus.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

MICROS = 1_000_000  # one second; Instants are whole microseconds since 0001-01-01T00:00:00Z
NEVER = 1 << 62  # later than any year 9999; "no such boundary"

_SPELLING = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r"(?:\.([0-9]+))?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_DURATION = re.compile(
    r"P(?:([0-9]+)D)?(?:T(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]+)?)S)?)?"
)


@lru_cache(maxsize=65536)
def exact(text: str) -> tuple[int, str]:
    """Seconds since year 1 and the fraction's digits without trailing zeros, which compare exactly.

    Raises ValueError for anything outside the timestamp profile.
    """
    match = _SPELLING.fullmatch(text)  # MWP-FND-004: no leap second, no year 0
    if match is None:
        raise ValueError(f"not a timestamp of the profile: {text!r}")
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError(f"no such time of day: {text!r}")
    days = date(year, month, day).toordinal()
    seconds = ((days * 24 + hour) * 60 + minute) * 60 + second - _offset_seconds(match.group(8))
    return seconds, (match.group(7) or "").rstrip("0")


def _offset_seconds(zone: str) -> int:
    if zone in "Zz":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if zone == "-00:00" or hours > 23 or minutes > 59:
        raise ValueError(f"offset outside the timestamp profile: {zone!r}")
    return (hours * 60 + minutes) * (60 if zone[0] == "+" else -60)


def is_timestamp(text: object) -> bool:
    """True if `text` is a timestamp of the profile."""
    try:
        return isinstance(text, str) and bool(exact(text))
    except ValueError:
        return False


def micros(text: str) -> int:
    """The Instant in microseconds; finer digits are cut off, which only ever ends a lease early."""
    seconds, fraction = exact(text)
    return seconds * MICROS + int((fraction + "000000")[:6])


def spell(instant: int) -> str:
    """The one spelling this Worker uses: UTC, upper-case T and Z, no needless digits."""
    seconds, fraction = divmod(instant, MICROS)
    days, rest = divmod(seconds, 86_400)
    day = date.fromordinal(days)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    digits = f".{fraction:06}".rstrip("0") if fraction else ""
    return f"{day.year:04}-{day.month:02}-{day.day:02}T{clock}{digits}Z"


@lru_cache(maxsize=4096)
def duration(text: str) -> int:
    """Microseconds of an ISO 8601 duration of days, hours, minutes and seconds."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"not a duration: {text!r}")
    days, hours, minutes = (int(part or 0) for part in match.groups()[:3])
    seconds, _, fraction = (match.group(4) or "0").partition(".")
    whole = ((days * 24 + hours) * 60 + minutes) * 60 + int(seconds)
    return whole * MICROS + int((fraction + "000000")[:6])
