"""Timestamps of the protocol's timestamp profile: texts, and the instants they name.

A timestamp's text is evidence and stays as it is; its instant is what is compared, with every digit
of the fraction (MWP-FND-004, MWP-FND-005). Never asks what time it is.
"""

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from attrs import frozen

from .errors import TimestampError

_FORM = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?"
    r"(?:[Zz]|([+-])(\d\d):(\d\d))",
    re.ASCII,
)
_UNIX_EPOCH_DAY = date(1970, 1, 1).toordinal()
_DAY_SECONDS = 86_400
_MICROSECONDS = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@frozen(order=True)
class Instant:
    """A point in time, exact to any precision; instants compare by time.

    `seconds` counts from 1970-01-01T00:00:00Z. `fraction` holds the decimal digits after the point
    without trailing zeros, so that digits compare as the numbers they spell.
    """

    seconds: int
    fraction: str = ""

    def microseconds(self) -> int:
        """Return whole microseconds since 1970-01-01T00:00:00Z, rounded down."""
        return self.seconds * _MICROSECONDS + int(self.fraction[:6].ljust(6, "0"))


def parse(text: str) -> Instant:
    """Return the instant that `text` names; raise TimestampError outside the profile.

    The profile: years 0001 to 9999, real Gregorian dates, seconds 00 to 59, no `-00:00`
    (MWP-FND-004); case-insensitive `T` and `Z` and every numerical offset are fine.
    """
    found = _instant(text)
    if isinstance(found, Instant):
        return found
    raise TimestampError("timestamp", f"{text!r}: {found}", "write e.g. 2026-07-15T00:00:00Z")


def conforms(text: str) -> bool:
    """Tell whether `text` is a timestamp of the profile."""
    return isinstance(_instant(text), Instant)


def is_protected_form(text: str) -> bool:
    """Tell whether `text` is in the profile and ends in upper-case `Z` (MWP-SDV-002)."""
    return text.endswith("Z") and conforms(text)


def to_text(when: int | datetime | Instant) -> str:
    """Spell an instant the canonical way: UTC, upper-case `T` and `Z`, no trailing zeros.

    `when` is microseconds since 1970-01-01T00:00:00Z, an aware datetime, or an Instant.
    """
    if isinstance(when, datetime):
        when = (when - _EPOCH) // timedelta(microseconds=1)
    if isinstance(when, int):
        seconds, microseconds = divmod(when, _MICROSECONDS)
        when = Instant(seconds, f"{microseconds:06d}".rstrip("0"))
    moment = _EPOCH + timedelta(seconds=when.seconds)
    whole = moment.replace(tzinfo=None).isoformat(timespec="seconds")
    return f"{whole}.{when.fraction}Z" if when.fraction else f"{whole}Z"


def microseconds_of(text: str) -> int:
    """Return whole microseconds since 1970-01-01T00:00:00Z, rounded down; raise as `parse`."""
    return parse(text).microseconds()


@lru_cache(maxsize=8192)  # a run's timestamps recur: every Event's occurredAt is its createdAt
def _instant(text: str) -> Instant | str:
    form = _FORM.fullmatch(text)
    if form is None:
        return "not an RFC 3339 date-time"
    year, month, day, hour, minute, second = (int(form[group]) for group in range(1, 7))
    if hour > 23 or minute > 59 or second > 59:
        return "no such time of day (leap seconds are not supported)"
    try:
        days = date(year, month, day).toordinal() - _UNIX_EPOCH_DAY
    except ValueError:
        return "no such date in the years 0001 to 9999"
    offset_seconds = _offset_seconds(form[8], form[9], form[10])
    if isinstance(offset_seconds, str):
        return offset_seconds
    seconds = days * _DAY_SECONDS + hour * 3600 + minute * 60 + second - offset_seconds
    return Instant(seconds, (form[7] or "").rstrip("0"))


def _offset_seconds(sign: str | None, hours: str | None, minutes: str | None) -> int | str:
    if sign is None or hours is None or minutes is None:
        return 0
    if int(hours) > 23 or int(minutes) > 59:
        return "no such offset"
    size = int(hours) * 3600 + int(minutes) * 60
    if sign == "-" and size == 0:
        return "the offset -00:00 says that the time zone is unknown"
    return size if sign == "+" else -size
