"""A run held against a baseline: which failures are known, and which entries do not hold.

Turns a failure that an entry foresees into an expected one, and nothing into a pass. The date comes
in as an argument; nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date

from attrs import evolve

from worker_conformance.baseline.entries import EXCUSABLE, Baseline, Entry, observed
from worker_conformance.judge.excuses import BaselineRecord, BaselineTrouble, Trouble
from worker_conformance.judge.verdicts import CheckResult, Failure, RunResult, Verdict

SHOWN_CHARACTERS = 200  # of what was observed, in a line about an entry


def held_against(
    result: RunResult, baseline: Baseline, known_ids: Collection[str], today: date
) -> RunResult:
    """Return `result` with its known failures marked, and the entries that do not hold.

    `known_ids` are all checks of the suite. A run over a part of them says nothing of the others'
    entries; a run over everything says that they are unmatched.
    """
    checks = tuple(excused(check, baseline, today) for check in result.checks)
    by_id = {check.check_id: check for check in result.checks}
    troubles = []
    for entry in baseline.entries.values():
        check = by_id.get(entry.check_id)
        if check is not None:
            trouble = _trouble(entry, check, today)
        else:
            trouble = _unmatched(entry, known_ids, narrowed=result.selection.narrowed)
        troubles += [trouble] if trouble else []
    record = BaselineRecord(baseline.file, baseline.digest, len(baseline.entries), tuple(troubles))
    return evolve(result, checks=checks, baseline=record)


def excused(check: CheckResult, baseline: Baseline, today: date) -> CheckResult:
    """Return `check`, as an expected failure if an entry that still counts foresees it."""
    entry = baseline.entries.get(check.check_id)
    if entry is None or entry.expired(today) or not entry.fits(check):
        return check
    never_reached = Failure("the check reaches its point", check.reason)
    return evolve(
        check,
        verdict=Verdict.EXPECTED_FAIL,
        reason=f"known: {entry.excuse.told()}",
        failure=check.failure or never_reached,
        excuse=entry.excuse,
    )


def _trouble(entry: Entry, check: CheckResult, today: date) -> BaselineTrouble | None:
    if check.verdict is Verdict.EXPECTED_FAIL:
        return None  # it was held against this baseline before
    if check.verdict not in EXCUSABLE:
        return _needless(entry, check)
    if not entry.fits(check):
        told = (
            f"expected {entry.verdict.value} with '{_short(entry.observed)}', "
            f"got {check.verdict.value} with '{_short(observed(check))}'; look into it, "
            "then change the entry"
        )
        return BaselineTrouble(Trouble.DIFFERENT, entry.check_id, told)
    if entry.expired(today):
        told = f"its last day was {entry.excuse.expires}; mend the Worker, or argue a new date"
        return BaselineTrouble(Trouble.EXPIRED, entry.check_id, told)
    return None


def _needless(entry: Entry, check: CheckResult) -> BaselineTrouble:
    words = {
        Verdict.PASS: (Trouble.STALE, "the check passes now; take the entry out"),
        Verdict.ADVICE: (Trouble.STALE, "advice breaks no run; take the entry out"),
        Verdict.ABSTAINED: (Trouble.NOT_RUN, "the Worker abstains; take the entry out"),
        Verdict.NOT_CLAIMED: (
            Trouble.NOT_RUN,
            f"the Worker does not claim {check.profile}; take the entry out",
        ),
    }
    kind, told = words.get(
        check.verdict,
        (Trouble.DIFFERENT, f"the check came to {check.verdict.value}, which nothing excuses"),
    )
    return BaselineTrouble(kind, entry.check_id, told)


def _unmatched(
    entry: Entry, known_ids: Collection[str], *, narrowed: bool
) -> BaselineTrouble | None:
    if entry.check_id not in known_ids:
        told = "no check has this ID; 'worker-conformance list' names all"
        return BaselineTrouble(Trouble.UNKNOWN, entry.check_id, told)
    if narrowed:
        return None
    told = "this run did not judge it; take the entry out, or run with --thorough"
    return BaselineTrouble(Trouble.NOT_RUN, entry.check_id, told)


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
