"""Known failures: what a baseline excuses in a run, and what is wrong with the baseline itself.

Holds values only. Reading a baseline and matching it with a run stands in `worker_conformance
.baseline`; nothing here reads a file or a clock.
"""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen


@frozen
class Excuse:
    """Why a failure is known, and how long that counts: until `expires` (ISO date), or an issue.

    `verdict` is what the check came to without the baseline: `fail` or `inconclusive`.
    """

    reason: str
    expires: str | None = None
    issue: str | None = None
    verdict: str = "fail"

    def told(self) -> str:
        """The reason and the limit in one line."""
        until = f"until {self.expires}" if self.expires else ""
        limits = ", ".join(each for each in (until, self.issue) if each)
        return f"{self.reason} ({limits})" if limits else self.reason


class Trouble(StrEnum):
    """What is wrong with an entry of a baseline. Each breaks the run."""

    STALE = "stale"
    """The check does not fail any more."""
    DIFFERENT = "different"
    """The check fails, but not as the entry says."""
    EXPIRED = "expired"
    """The entry's last day is over."""
    UNKNOWN = "unknown"
    """No check has this ID."""
    NOT_RUN = "not-run"
    """A run over everything did not judge the check."""


@frozen
class BaselineTrouble:
    """One entry that does not hold; `told` is a sentence that says what to do about it."""

    kind: Trouble
    check_id: str
    told: str

    def line(self) -> str:
        """As one line of a report."""
        return f"Baseline entry {self.check_id} is {_ADJECTIVES[self.kind]}: {self.told}"


@frozen
class BaselineRecord:
    """Which baseline a run was held against: its file, digest, size, and what is wrong with it."""

    file: str
    digest: str
    entries: int
    troubles: tuple[BaselineTrouble, ...] = ()


_ADJECTIVES = {
    Trouble.STALE: "stale",
    Trouble.DIFFERENT: "not met",
    Trouble.EXPIRED: "expired",
    Trouble.UNKNOWN: "unmatched",
    Trouble.NOT_RUN: "unmatched",
}
