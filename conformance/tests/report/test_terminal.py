"""What a person reads at a terminal."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from rich.console import Console

from worker_conformance.judge.evidence import Timeline
from worker_conformance.judge.verdicts import (
    CheckKind,
    CheckResult,
    DeclarationRecord,
    Failure,
    RunResult,
    Verdict,
)
from worker_conformance.report.progress import LiveProgress, PlainProgress
from worker_conformance.report.terminal import Detail, print_result


def told(result: RunResult, detail: Detail = Detail.NORMAL, width: int = 80) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False)
    print_result(console, result, [Path("conformance-report/report.html")], detail)
    return out.getvalue()


def test_the_unexpected_comes_first_and_the_claim_last(failing: RunResult) -> None:
    text = told(failing)
    order = [
        text.index(part)
        for part in ("FAIL  REPLAY-0007", "INCONCLUSIVE", "ADVICE", "Area", "Nothing is claimed")
    ]
    assert order == sorted(order)
    assert order[0] == 0


def test_a_failure_is_told_with_everything_that_explains_it(failing: RunResult) -> None:
    text = told(failing)
    for part in (
        "MWP-WRK-029 · WRK-029.c · MUST",
        "The durable Cursor never passes a gap",
        "ACK {A: 3} for as long as A/4 is missing",
        "ACK {A: 5} at 00:10:00, over the missing A/4",
        "vectors/replay/REPLAY-0007.yaml:22",
        "00:00:00  worker  frame SUBSCRIBE {A: 0}",
        "worker: gap at 4, waited 600 s, going on",
    ):
        assert part in text


def test_the_command_that_runs_it_again_is_one_line(failing: RunResult) -> None:
    command = 'worker-conformance run --worker "stdio:./worker --port" --seed 1 REPLAY-0007'
    assert any(line.endswith(command) for line in told(failing).splitlines())


@pytest.mark.parametrize("width", [80, 120])
def test_no_other_line_is_wider_than_the_terminal(width: int, failing: RunResult) -> None:
    lines = [line for line in told(failing, width=width).splitlines() if "again" not in line]
    assert max(map(len, lines)) <= width


def test_a_log_file_gets_no_escape_sequence(failing: RunResult) -> None:
    assert "\x1b" not in told(failing, Detail.VERBOSE)


def test_what_a_worker_says_neither_acts_on_the_terminal_nor_is_markup(
    passing: RunResult, a_check: Callable[..., CheckResult]
) -> None:
    failure = Failure(
        "[bold]nothing[/bold]",
        "\x1b[2J\x07 [link=x]y[/link] :smile:",
        ("00:00:01  worker  [red]x[/red]\x1b[0m",),
        stderr="\x1b]0;title\x07",
    )
    bad = evolve(a_check("replay", 1, Verdict.FAIL), failure=failure, title="[/]")
    text = told(evolve(passing, checks=(bad,)))
    for part in ("[bold]nothing[/bold]", r"\x1b[2J\x07 [link=x]y[/link] :smile:", "[red]x[/red]"):
        assert part in text


def test_figures_stand_beside_their_bounds(failing: RunResult) -> None:
    row = next(line for line in told(failing).splitlines() if "lag A over B" in line)
    assert row.split()[-3:] == ["61.5", "8", "7.69"]


def test_every_share_names_its_denominator(failing: RunResult) -> None:
    text = told(failing)
    assert "6 of 11 executed checks passed" in text
    assert "%" not in text


def test_quiet_says_only_what_is_unexpected_and_the_claim(
    failing: RunResult, passing: RunResult
) -> None:
    assert told(passing, Detail.QUIET, 200).splitlines() == [passing.claim()]
    assert len(told(failing, Detail.QUIET, 200).splitlines()) == 4


def test_verbose_names_every_check(passing: RunResult) -> None:
    text = told(passing, Detail.VERBOSE)
    assert all(check.check_id in text for check in passing.checks)


def test_a_history_ends_when_it_was_judged_however_long_nothing_was_said(
    a_check: Callable[..., CheckResult], a_run: Callable[..., RunResult]
) -> None:
    said = ("   00:00:00  Worker  SUBSCRIBE A:0", "   00:02:00  suite   SIGKILL")
    quiet = Timeline(groups=("A",), slots=(), marks=(), ends_at=165.0)
    failure = Failure("start a1", "nothing about a1", said, timeline=quiet)
    waited = evolve(a_check("replay", 1, Verdict.FAIL), failure=failure)
    assert "00:02:45  suite   (judged, with nothing more said" in told(a_run(waited))
    at_once = evolve(waited, failure=evolve(failure, timeline=evolve(quiet, ends_at=120.0)))
    assert "judged, with" not in told(a_run(at_once))


def test_many_failures_do_not_bury_the_rest(
    a_check: Callable[..., CheckResult], a_run: Callable[..., RunResult]
) -> None:
    run = a_run(*(a_check("replay", n, Verdict.FAIL) for n in range(1, 41)))
    text = told(run)
    assert text.count("expected ") == 12
    assert text.count("FAIL  REPLAY-") == 40


def test_a_silent_worker_is_told_why_in_a_line_each(silent: RunResult) -> None:
    assert "REPLAY-0001" in told(silent)
    assert len(told(silent).splitlines()) < 60


def test_progress_in_a_log_is_a_few_plain_lines(failing: RunResult) -> None:
    out = io.StringIO()
    with PlainProgress(Console(file=out, width=80)) as progress:
        progress.planned(len(failing.checks))
        for check in failing.checks:
            progress.started(check.check_id, check.title)
            progress.finished(check)
    lines = out.getvalue().splitlines()
    assert lines[0] == "13 checks to run"
    assert lines[-1] == "13 of 13 checks done, 3 not passed so far"
    assert len(lines) == 1 + 10 + 3


def test_progress_of_a_single_check_is_told_in_the_singular(failing: RunResult) -> None:
    out = io.StringIO()
    passed = next(check for check in failing.checks if check.verdict is Verdict.PASS)
    with PlainProgress(Console(file=out, width=80)) as progress:
        progress.planned(1)
        progress.finished(passed)
    assert out.getvalue().splitlines() == ["1 check to run", "1 of 1 check done"]


def test_progress_on_a_terminal_names_what_runs_and_keeps_failures(failing: RunResult) -> None:
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True, color_system=None)
    with LiveProgress(console) as progress:
        progress.planned(2)
        progress.started("REPLAY-0007", "[a] gap")
        progress.started("REPLAY-0008", "another")
        progress.finished(next(c for c in failing.checks if c.check_id == "REPLAY-0007"))
    assert "FAIL  REPLAY-0007" in out.getvalue()
    assert "1/2" in out.getvalue()


def broken(passing: RunResult, a_check: Callable[..., CheckResult]) -> RunResult:
    """A run whose adapter breaks in every vector, so that no monitor sees anything."""
    reason = "the process exited with status 1 before it answered 'handle' of 'start'"
    error = a_check("replay", 1, Verdict.ADAPTER_ERROR)
    monitor = evolve(a_check("replay", 1, Verdict.INCONCLUSIVE), kind=CheckKind.MONITOR)
    return evolve(
        passing,
        checks=(
            *(evolve(error, check_id=f"REPLAY-000{n}", reason=reason) for n in range(1, 10)),
            evolve(error, check_id="REPLAY-0010", reason="another one"),
            *(evolve(monitor, check_id=f"MON-000{n}") for n in range(1, 10)),
        ),
    )


def test_an_adapter_error_is_told_once_and_its_consequences_in_a_line(
    passing: RunResult, a_check: Callable[..., CheckResult]
) -> None:
    text = told(broken(passing, a_check))
    assert text.count("exited with status 1") == 1
    assert "another one" in text
    assert "REPLAY-0001  and the same in 8 more: REPLAY-0002" in text
    assert text.count("INCONCLUSIVE") == 1
    assert "9 had nothing to watch" in text
    assert "MON-0009" not in text
    assert told(broken(passing, a_check), Detail.VERBOSE).count("INCONCLUSIVE  MON-") >= 9


def test_quiet_and_progress_tell_an_adapter_error_once_too(
    passing: RunResult, a_check: Callable[..., CheckResult]
) -> None:
    result = broken(passing, a_check)
    assert len(told(result, Detail.QUIET).splitlines()) <= 8
    out = io.StringIO()
    with PlainProgress(Console(file=out, width=80)) as progress:
        progress.planned(len(result.checks))
        for check in result.checks:
            progress.finished(check)
    assert out.getvalue().count("ADAPTER ERROR") == 2
    assert "INCONCLUSIVE" not in out.getvalue()
    assert "19 not passed so far" in out.getvalue()


def test_monitors_that_reach_nothing_without_an_adapter_error_are_told_each(
    passing: RunResult, a_check: Callable[..., CheckResult]
) -> None:
    result = broken(passing, a_check)
    silent = [check for check in result.checks if check.verdict is Verdict.INCONCLUSIVE]
    assert told(evolve(result, checks=tuple(silent))).count("INCONCLUSIVE  MON-") == 9


def test_a_run_that_judged_nothing_says_what_to_claim(
    passing: RunResult, a_check: Callable[..., CheckResult]
) -> None:
    checks = (a_check("leases", 1, Verdict.NOT_CLAIMED),)
    nothing = evolve(passing, checks=checks, declaration=DeclarationRecord(()))
    assert '"profiles": ["replay"]' in " ".join(told(nothing).split())
    other = evolve(nothing, declaration=DeclarationRecord(("replay",)))
    assert "claims replay, and the checks of this run belong to leases" in " ".join(
        told(other).split()
    )
    assert '"profiles"' not in told(other)
    assert "hint:" not in told(passing)


def test_many_that_never_reached_their_point_are_counted_by_area(
    a_check: Callable[..., CheckResult], a_run: Callable[..., RunResult]
) -> None:
    checks = [a_check("leases", n, Verdict.INCONCLUSIVE) for n in range(1, 31)]
    run = a_run(*checks, *(a_check("replay", n, Verdict.INCONCLUSIVE) for n in range(1, 6)))
    text = told(run)
    assert text.count("INCONCLUSIVE  LEASES-") == 12
    assert "INCONCLUSIVE  and 23 more" in text
    assert "18 in leases, 5 in replay" in " ".join(text.split())
    assert told(run, Detail.VERBOSE).count("INCONCLUSIVE  LEASES-") >= 30


def test_no_line_ends_in_spaces(failing: RunResult) -> None:
    for detail in Detail:
        assert not any(line.endswith(" ") for line in told(failing, detail).splitlines())


def test_a_long_title_goes_on_under_itself(
    passing: RunResult, a_check: Callable[..., CheckResult]
) -> None:
    title = "A title that is longer than a narrow terminal has room for, and then some more words"
    long = evolve(a_check("replay", 1, Verdict.INCONCLUSIVE), title=title)
    first, second, *_ = told(evolve(passing, checks=(long,))).splitlines()
    assert second.index(second.strip()[0]) == first.index("A title")


def test_areas_that_are_not_claimed_are_counted_as_such(passing: RunResult) -> None:
    lines = told(passing).splitlines()
    heading = next(line for line in lines if line.startswith("Area"))
    row = next(line for line in lines if line.startswith("offline"))
    assert "not claimed" in heading
    assert row.split() == ["offline", "not", "claimed", "1"]


def test_the_bytes_that_differ_stand_out_without_colour(
    passing: RunResult, a_check: Callable[..., CheckResult]
) -> None:
    plain = "   00:00:00  plain   an estimate  …confidence:0.42,…"
    lines = (
        plain,
        "   00:00:00  varied  an estimate  …confidence:0.57,…",
        " " * plain.index("42") + "^^",
        "                …    3 more that differ",
    )
    failure = Failure("the same bytes", "a difference", lines)
    leak = evolve(a_check("disclosure", 1, Verdict.FAIL), failure=failure)
    text = told(evolve(passing, checks=(leak,)))
    assert "…confidence:0.»42«,…" in text
    assert "…confidence:0.»57«,…" in text
    assert "^" not in text
    assert "… 3 more that differ" in text


def test_a_reason_that_was_observed_in_full_is_not_told_twice(
    passing: RunResult, a_check: Callable[..., CheckResult]
) -> None:
    reason = "no answer within 2 s"
    failure = Failure(expected="an adapter", observed=f"{reason}; flush stdout")
    error = evolve(a_check("replay", 1, Verdict.ADAPTER_ERROR), reason=reason, failure=failure)
    assert told(evolve(passing, checks=(error,))).count(reason) == 1
    other = evolve(error, reason="the process exited")
    assert "reason    the process exited" in told(evolve(passing, checks=(other,)))
