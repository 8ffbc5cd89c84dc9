"""What a baseline says, as values. Never reads a file and never judges a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from attrs import field, frozen

from worker_conformance.judge.excuses import Excuse
from worker_conformance.judge.verdicts import CheckResult, Verdict

BASELINE_VERSION = 1

PLACEHOLDER = "TODO"
"""How a reason begins that nobody has written yet; `lint` and `run` refuse it."""

EXCUSABLE = (Verdict.FAIL, Verdict.INCONCLUSIVE)
"""What a baseline may excuse. A broken adapter or suite is never a known failure."""


@frozen
class Entry:
    """One known failure. `observed` may hold `*` for any text; white space counts as one space.

    `where` is `file:line:column`, for messages.
    """

    check_id: str
    verdict: Verdict
    observed: str
    excuse: Excuse
    where: str = field(default="", eq=False)

    @property
    def is_filled(self) -> bool:
        """Whether somebody has said why the failure is known, and how long that counts."""
        return not self.excuse.reason.startswith(PLACEHOLDER) and bool(
            self.excuse.expires or self.excuse.issue
        )

    def expired(self, today: date) -> bool:
        """Whether its last day lies before `today`."""
        return self.excuse.expires is not None and date.fromisoformat(self.excuse.expires) < today

    def fits(self, check: CheckResult) -> bool:
        """Whether `check` fails just as this entry says."""
        if check.verdict is not self.verdict:
            return False
        pieces = (re.escape(_one_line(each)) for each in self.observed.split("*"))
        pattern = r".*".join(each.strip() for each in pieces)
        return re.fullmatch(r"\s*" + pattern + r"\s*", observed(check)) is not None


@frozen
class Baseline:
    """All known failures, by check ID. `digest` is over the file's bytes."""

    file: str
    digest: str
    entries: Mapping[str, Entry]


def observed(check: CheckResult) -> str:
    """What a failure or an inconclusive check showed, on one line: what signatures compare."""
    return _one_line(check.failure.observed if check.failure else check.reason)


def _one_line(text: str) -> str:
    return " ".join(text.split())
