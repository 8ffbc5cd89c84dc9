"""What all reports for people have in common: order, words and harmless text.

Decides in which order checks are shown and how figures are written, and makes text that came out
of a Worker safe to show. Never lays anything out and never decides a verdict.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from attrs import define, field

from worker_conformance.judge.verdicts import (
    CheckKind,
    CheckResult,
    Measurement,
    RunResult,
    Verdict,
)

TRANSCRIPT_LINE = re.compile(r"\s*((?:\d+d )?\d\d:\d\d:\d\d(?:\.\d+)?)\s+(\w+)\s+(.*)")
"""Virtual time since the scenario's epoch, speaker, and what is said."""

STDERR_LINES_MAX = 20  # the end of a log explains a failure; all of it hides the failure
TRANSCRIPT_LINES_MAX = 40  # more than a screen is read in the HTML report

WORDS: Mapping[Verdict, str] = {
    Verdict.SUITE_ERROR: "SUITE ERROR",
    Verdict.ADAPTER_ERROR: "ADAPTER ERROR",
    Verdict.FAIL: "FAIL",
    Verdict.INCONCLUSIVE: "INCONCLUSIVE",
    Verdict.ADVICE: "ADVICE",
    Verdict.EXPECTED_FAIL: "EXPECTED FAIL",
    Verdict.PASS: "PASS",
    Verdict.ABSTAINED: "ABSTAINED",
    Verdict.NOT_CLAIMED: "NOT CLAIMED",
}

MEANINGS: Mapping[Verdict, str] = {
    Verdict.SUITE_ERROR: "a fault of the suite, not of the Worker",
    Verdict.ADAPTER_ERROR: "the adapter broke the Worker Port; nothing was judged",
    Verdict.FAIL: "a MUST is broken",
    Verdict.INCONCLUSIVE: "the check never reached its point; not counted as passed",
    Verdict.ADVICE: "a SHOULD is not followed; no effect on the exit code",
    Verdict.EXPECTED_FAIL: "fails as the baseline says; no effect on the exit code",
    Verdict.PASS: "judged, and nothing to object",
    Verdict.ABSTAINED: "the Worker declares that it never does what this judges",
    Verdict.NOT_CLAIMED: "the Worker does not claim this area; not counted as passed",
}


def unexpected_first(checks: Iterable[CheckResult]) -> list[CheckResult]:
    """Order checks by verdict, worst first, then by ID; monitors after what has a scene of its own.

    A monitor mostly repeats what a vector has shown, in fewer words.
    """
    order = {verdict: place for place, verdict in enumerate(Verdict)}

    def key(check: CheckResult) -> tuple[int, bool, str]:
        return order[check.verdict], check.kind is CheckKind.MONITOR, check.check_id

    return sorted(checks, key=key)


def unexpected(result: RunResult) -> list[CheckResult]:
    """Return the checks that keep the run from passing, worst first."""
    return [c for c in unexpected_first(result.checks) if c.verdict.breaks_the_run]


@define
class Consequences:
    """What follows from adapter errors that were told already, and needs no telling of its own.

    The same error in another check, and monitors that reached nothing because of it.
    """

    told: dict[str, str] = field(factory=dict)  # the reason of an error, and the check that told it
    same: dict[str, list[str]] = field(factory=dict)  # that check, and those that met the same
    monitors: list[str] = field(factory=list)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.same or self.monitors)

    def contain(self, check: CheckResult) -> bool:
        """Take in the next check; return whether it is only a consequence of earlier ones."""
        if check.verdict is Verdict.ADAPTER_ERROR:
            first = self.told.setdefault(check.reason, check.check_id)
            if first != check.check_id:
                self.same.setdefault(first, []).append(check.check_id)
            return first != check.check_id
        silent = check.verdict is Verdict.INCONCLUSIVE and check.kind is CheckKind.MONITOR
        if silent and self.told:
            self.monitors.append(check.check_id)
            return True
        return False


def verdicts_present(result: RunResult) -> list[Verdict]:
    """Return the verdicts that occur in the run, worst first."""
    counts = result.counts()
    return [verdict for verdict in Verdict if counts.get(verdict)]


def own_reason(check: CheckResult) -> str:
    """Return the reason of a verdict, or nothing where what was observed says the same in full."""
    told = check.failure is not None and check.reason in check.failure.observed
    return "" if told else check.reason


def clause_line(check: CheckResult) -> str:
    """Name what a check judges: its clauses, its requirement, and how strong the demand is."""
    return " · ".join([*check.clauses, check.requirement, check.level.value])


def measured(check: CheckResult) -> list[Measurement]:
    """Return a check's figures, those nearest to their bound first."""
    return sorted(check.measurements, key=lambda m: -(m.share_of_bound or 0))


def figure(value: float) -> str:
    """Write a number with four significant digits and without an exponent."""
    if value == int(value):
        return f"{int(value):,}"
    digits = max(0, 3 - len(f"{int(abs(value))}") + (abs(value) < 1))
    return f"{value:,.{digits + 1}f}".rstrip("0").rstrip(".")


def visible(text: str) -> str:
    """Escape control and unpaired characters; keep line breaks, and widen tabs.

    What a Worker wrote must not move a cursor, change a colour, or be refused by XML.
    """
    text = text.replace("\r\n", "\n").expandtabs(4)
    return _HARMFUL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def last_lines(text: str, most: int = STDERR_LINES_MAX) -> list[str]:
    """Return the end of `text` as harmless lines, saying how many were left out."""
    lines = visible(text).rstrip("\n").split("\n") if text.strip() else []
    left_out = len(lines) - most
    return [f"… {left_out} lines before", *lines[-most:]] if left_out > 0 else lines


def cut_middle(lines: Sequence[str], most: int = TRANSCRIPT_LINES_MAX) -> list[str]:
    """Return `lines`, shortened in the middle: how it began and how it ended tell most."""
    if len(lines) <= most:
        return [visible(line) for line in lines]
    head, tail = most // 4, most - most // 4 - 1
    cut = f"… {len(lines) - head - tail} lines left out; all of them are in the report"
    return [visible(line) for line in (*lines[:head], cut, *lines[-tail:])]


# C0 and C1 controls but for the line break, surrogates, the two noncharacters that XML refuses, and
# the marks that turn the direction of writing.
_HARMFUL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)
