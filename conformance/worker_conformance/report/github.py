"""The result of a run for GitHub Actions: annotations in the log, and a job summary.

Writes workflow commands and Markdown. What a Worker wrote can be neither: commands in other output
are stopped while it is printed, and everything in ours is escaped. Never decides a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator

from worker_conformance.judge.verdicts import CheckResult, RunResult, Standing, Verdict
from worker_conformance.report.story import story
from worker_conformance.report.telling import WORDS, clause_line, unexpected_first, visible
from worker_conformance.report.words import escaped

ERRORS_MAX = 10  # GitHub shows ten annotations of a kind for a step, and drops the others
STORIES_MAX = 20  # told in full in a summary, which may hold 1 MiB
STORY_CHARACTERS_MAX = 8_000

_LEVELS = {
    Verdict.FAIL: "error",
    Verdict.INCONCLUSIVE: "error",
    Verdict.ADAPTER_ERROR: "error",
    Verdict.SUITE_ERROR: "error",
    Verdict.EXPECTED_FAIL: "warning",
    Verdict.ADVICE: "notice",
}


def annotation_lines(result: RunResult) -> Iterator[str]:
    """Workflow commands, a line each: what broke the run first, then what is only worth knowing."""
    for level in ("error", "warning", "notice"):
        checks = [c for c in unexpected_first(result.checks) if _LEVELS.get(c.verdict) == level]
        troubles = result.baseline.troubles if result.baseline and level == "error" else ()
        lines = [_command(level, "Baseline", one.line()) for one in troubles]
        lines += [_command(level, _title(check), _message(check)) for check in checks]
        yield from lines[: ERRORS_MAX - 1]
        rest = len(lines) - (ERRORS_MAX - 1)
        if rest > 0:
            told = f"{rest} more in the job summary and in the report"
            yield _command(level, "Worker conformance", told) if rest > 1 else lines[-1]


def stopped(token: str) -> tuple[str, str]:
    """What to print before and after output of others, so that nothing in it is a command."""
    return f"::stop-commands::{token}", f"::{token}::"


def summary(result: RunResult) -> str:
    """The job summary: what may be said, how the areas stand, what went wrong."""
    return "\n".join(_summary(result)) + "\n"


def _command(level: str, title: str, message: str) -> str:
    return f"::{level} title={_property(title)}::{_data(message)}"


def _title(check: CheckResult) -> str:
    return f"{WORDS[check.verdict]} {check.check_id} {check.title}"


def _message(check: CheckResult) -> str:
    lines = [clause_line(check)]
    if check.failure is not None:
        lines += [f"expected: {check.failure.expected}", f"observed: {check.failure.observed}"]
    lines += [check.reason] if check.reason else []
    lines += [f"again: {check.rerun}"] if check.rerun else []
    return "\n".join(lines)


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _summary(result: RunResult) -> Iterator[str]:
    yield from ("## Worker conformance", "", f"**{escaped(result.claim())}**", "")
    notes = result.qualifications()
    if notes:
        yield from (*(f"* {escaped(note)}" for note in notes), "")
    yield from ("| area | standing | passed |", "|---|---|---|")
    for area in result.areas():
        if area.standing is not Standing.NOT_CLAIMED:
            passed = f"{area.counts.get(Verdict.PASS, 0)} of {area.executed}"
            yield f"| {escaped(area.profile)} | {area.standing.value} | {passed} |"
    yield ""
    bad = [check for check in unexpected_first(result.checks) if check.verdict.breaks_the_run]
    for check in bad[:STORIES_MAX]:
        yield from _story(check)
    if len(bad) > STORIES_MAX:
        yield from (f"{len(bad) - STORIES_MAX} more are in the report.", "")
    yield f"seed {result.seed} · exit code {result.exit_code()}"


def _story(check: CheckResult) -> Iterator[str]:
    title = f"{WORDS[check.verdict]} {check.check_id}"
    told = story(check)[:STORY_CHARACTERS_MAX]
    fence = "`" * (_longest_run(told) + 3)
    yield f"<details><summary>{escaped(title)} {escaped(check.title)}</summary>"
    yield from ("", f"{fence}text", told, fence, "", "</details>", "")


def _longest_run(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest
