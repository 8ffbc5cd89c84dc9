"""The day it is: the one thing that the command line takes from the system's clock."""

from datetime import UTC, date, datetime


def today() -> date:
    """Return the day in UTC; only whether an entry of a baseline has expired depends on it."""
    return datetime.now(UTC).date()  # noqa: TID251 - it enters here and is an argument below
