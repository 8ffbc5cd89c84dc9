"""The result of a run for a person at a terminal.

Shows what was unexpected first and in full, then how each area stands, then what may be said of
the Worker. Reads well at 80 columns, without colour, and in a log file. Never decides a verdict,
and never lets text that came out of a Worker act on the terminal: all of it goes through `_said`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from worker_conformance.judge.verdicts import (
    EXIT_PASSED,
    Area,
    CheckResult,
    Failure,
    RunResult,
    Standing,
    Verdict,
)
from worker_conformance.report.telling import (
    WORDS,
    Consequences,
    clause_line,
    cut_middle,
    figure,
    last_lines,
    measured,
    own_reason,
    unexpected,
    unexpected_first,
    visible,
)
from worker_conformance.report.terminal_history import history_grid
from worker_conformance.report.timeline_words import clock

BLOCKS_MAX = 12  # failures told in full; --verbose and the report tell all of them
BRIEF_MAX = 12  # checks that never reached their point, a line each; what follows is counted
BRIEF_CHARACTERS_MAX = 150  # of what one of these observed
NAMES_MAX = 4  # checks named in a line about many
FIGURES_MAX = 8  # the figures nearest to their bounds; --verbose shows all
LABEL_WIDTH = 9  # "expected ", the longest label of a failure

STYLES: Mapping[Verdict, str] = {
    Verdict.SUITE_ERROR: "bold magenta",
    Verdict.ADAPTER_ERROR: "bold magenta",
    Verdict.FAIL: "bold red",
    Verdict.INCONCLUSIVE: "bold yellow",
    Verdict.ADVICE: "cyan",
    Verdict.EXPECTED_FAIL: "yellow",
    Verdict.PASS: "green",
    Verdict.ABSTAINED: "dim",
    Verdict.NOT_CLAIMED: "dim",
}

STANDING_STYLES: Mapping[Standing, str] = {
    Standing.PASSED: "green",
    Standing.NOT_PASSED: "bold red",
    Standing.KNOWN_FAILURES: "yellow",
    Standing.NOTHING_PASSED: "yellow",
    Standing.NOT_CLAIMED: "dim",
}

COLUMNS: tuple[tuple[str, tuple[Verdict, ...]], ...] = (
    ("fail", (Verdict.FAIL,)),
    ("inconclusive", (Verdict.INCONCLUSIVE,)),
    ("error", (Verdict.ADAPTER_ERROR, Verdict.SUITE_ERROR)),
    ("advice", (Verdict.ADVICE,)),
    ("known", (Verdict.EXPECTED_FAIL,)),
    ("abstained", (Verdict.ABSTAINED,)),
    ("not claimed", (Verdict.NOT_CLAIMED,)),
)
"""What the table of areas counts beside the passes; a column without a count is left out."""


class Detail(Enum):
    """How much a person wants to read."""

    QUIET = "quiet"
    """One line for each unexpected check, and the claim."""
    NORMAL = "normal"
    VERBOSE = "verbose"
    """Advice and known failures in full too, every check by name, every figure."""


def print_result(
    console: Console, result: RunResult, reports: Iterable[Path], detail: Detail
) -> None:
    """Print `result`, naming the files in `reports` as where to read on."""
    consequences = Consequences()
    own = unexpected(result)
    if detail is not Detail.VERBOSE:
        own = [check for check in own if not consequences.contain(check)]
    if detail is Detail.QUIET:
        for check in own:
            print_headline(console, check)
        _print_consequences(console, consequences)
        _print(console, _said(result.claim()))
        return
    full = _told_in_full(result, own, detail)
    for check in full:
        _print_block(console, check)
    _print_consequences(console, consequences)
    brief = [] if detail is Detail.VERBOSE else _told_in_brief(result, own, full)
    _print_briefs(console, brief)
    if brief or consequences:
        console.print()
    if detail is Detail.VERBOSE:
        _print_every_check(console, result)
    _print_figures(console, result, detail)
    _print_areas(console, result)
    _print_claim(console, result)
    _print_last_lines(console, result, reports)


def print_headline(console: Console, check: CheckResult, more: str = "") -> None:
    """Print the verdict, the name and the title of a check, a long title under itself."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column(overflow="fold")
    title = _said(check.title)
    if more:
        title.append(f"  ({visible(more)})", "dim")
    grid.add_row(Text(WORDS[check.verdict], STYLES[check.verdict]), check.check_id, title)
    _print(console, grid)


def _told_in_full(result: RunResult, own: list[CheckResult], detail: Detail) -> list[CheckResult]:
    if detail is Detail.VERBOSE:
        checks = unexpected_first(result.checks)
        return [c for c in checks if c.failure or c.verdict.breaks_the_run]
    # One that never reached its point has no history to show: its reason in a line says all.
    return [c for c in own if c.verdict is not Verdict.INCONCLUSIVE][:BLOCKS_MAX]


def _told_in_brief(
    result: RunResult, own: list[CheckResult], full: list[CheckResult]
) -> list[CheckResult]:
    lawful = [c for c in result.checks if c.failure and not c.verdict.breaks_the_run]
    return [c for c in unexpected_first([*own, *lawful]) if c not in full]


def _print_consequences(console: Console, consequences: Consequences) -> None:
    """Say in a line each what would only repeat what was told."""
    for first, others in consequences.same.items():
        line = Text(WORDS[Verdict.ADAPTER_ERROR], STYLES[Verdict.ADAPTER_ERROR])
        line.append(f"  {first}  ", "bold")
        _print(console, line.append(f"and the same in {len(others)} more: {_some(others)}"))
    if consequences.monitors:
        line = Text(WORDS[Verdict.INCONCLUSIVE], STYLES[Verdict.INCONCLUSIVE])
        monitors = consequences.monitors
        told = f"{len(monitors)} had nothing to watch, after such errors: {_some(monitors)}"
        _print(console, line.append("  monitors  ", "bold").append(told))


def _some(names: list[str]) -> str:
    """Name the first few; `--verbose` and the report name them all."""
    return ", ".join(names[:NAMES_MAX]) + (", …" if len(names) > NAMES_MAX else "")


def _print_block(console: Console, check: CheckResult) -> None:
    print_headline(console, check)
    grid = Table.grid(padding=(0, 1))
    grid.add_column(min_width=LABEL_WIDTH, style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("clause", _said(clause_line(check)))
    grid.add_row("demands", _said(check.summary))
    if check.scenario not in (None, check.check_id):
        grid.add_row("scenario", _said(str(check.scenario)))
    if own_reason(check):
        grid.add_row("reason", _said(check.reason, STYLES[check.verdict]))
    if check.failure is not None:
        _add_failure(grid, check.failure)
    _print(console, _indented(grid))
    if check.rerun:
        # Not wrapped: a command that is broken into lines cannot be copied.
        command = Text(f"  {'again':{LABEL_WIDTH}} ", "dim").append(
            visible(check.rerun), "not dim bold"
        )
        console.print(command, soft_wrap=True)
    console.print()


def _add_failure(grid: Table, failure: Failure) -> None:
    grid.add_row("expected", _said(failure.expected, "green"))
    grid.add_row("observed", _said(failure.observed, "red"))
    if failure.step:
        grid.add_row("step", _said(failure.step))
    if failure.transcript:
        ended = clock(failure.timeline.ends_at) if failure.timeline else ""
        grid.add_row("history", history_grid(cut_middle(failure.transcript), ended))
    stderr = last_lines(failure.stderr)
    if stderr:
        grid.add_row("stderr", Text("\n".join(stderr), "dim"))


def _print_briefs(console: Console, brief: list[CheckResult]) -> None:
    """A line or two each; of the many that never reached their point only the first."""
    unreached = [check for check in brief if check.verdict is Verdict.INCONCLUSIVE]
    counted = unreached[BRIEF_MAX:]
    for check in brief:
        if check not in counted:
            _print_brief(console, check)
        elif check is counted[-1]:
            areas = Counter(each.profile for each in counted)
            where = ", ".join(f"{number} in {area}" for area, number in areas.items())
            line = Text(WORDS[Verdict.INCONCLUSIVE], STYLES[Verdict.INCONCLUSIVE])
            line.append(f"  and {len(counted)} more", "bold")
            _print(console, line.append(f" that never reached their point: {where}"))
    if any(check.verdict is Verdict.FAIL for check in brief) or counted:
        hint = "with --verbose, and in the report: all of these in full"
        _print(console, _indented(Text(hint, "dim")))


def _print_brief(console: Console, check: CheckResult) -> None:
    print_headline(console, check)
    observed = check.failure.observed if check.failure else ""
    told = "; ".join(each for each in (check.reason, observed) if each)
    if len(told) > BRIEF_CHARACTERS_MAX:
        told = f"{told[: BRIEF_CHARACTERS_MAX - 1]}…"
    _print(console, _indented(_said(f"{check.requirement}: {told}", "dim")))


def _print_every_check(console: Console, result: RunResult) -> None:
    for check in result.checks:
        witness = f"witness {check.witness}" if check.verdict is Verdict.PASS else ""
        print_headline(console, check, witness or check.reason)
    console.print()


def _print_figures(console: Console, result: RunResult, detail: Detail) -> None:
    rows = [(check, each) for check in result.checks for each in measured(check)]
    if not rows:
        return
    rows.sort(key=lambda row: -(row[1].share_of_bound or 0))
    shown = rows if detail is Detail.VERBOSE else [r for r in rows if r[1].bound][:FIGURES_MAX]
    if not shown:
        return
    table = _plain_table()
    table.add_column("Measured", no_wrap=True)
    table.add_column("")
    for heading in ("value", "bound", "ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    for check, each in shown:
        share = each.share_of_bound
        over = "bold red" if share is not None and share > 1 else ""
        table.add_row(
            check.check_id,
            _said(f"{each.name} ({each.unit})" if each.unit else each.name),
            Text(figure(each.value), over),
            "" if each.bound is None else figure(each.bound),
            "" if share is None else Text(f"{share:.2f}", over),
        )
    _print(console, table)
    if len(shown) < len(rows):
        _print(console, Text(f"  with --verbose: all {len(rows)} figures", "dim"))
    console.print()


def _print_areas(console: Console, result: RunResult) -> None:
    areas = result.areas()
    columns = [(name, which) for name, which in COLUMNS if any(_count(a, which) for a in areas)]
    table = _plain_table()
    table.add_column("Area", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("passed", justify="right", no_wrap=True)
    for name, _ in columns:
        table.add_column(name, justify="right")
    for area in areas:
        style = STANDING_STYLES[area.standing]
        table.add_row(
            _said(area.profile),
            Text(area.standing.value, style),
            f"{area.counts.get(Verdict.PASS, 0)} of {area.executed}" if area.executed else "",
            *(str(_count(area, which) or "") for _, which in columns),
        )
    if areas:
        _print(console, table)
        console.print()


def _count(area: Area, verdicts: tuple[Verdict, ...]) -> int:
    return sum(area.counts.get(verdict, 0) for verdict in verdicts)


def _print_claim(console: Console, result: RunResult) -> None:
    style = "bold green" if result.exit_code() == EXIT_PASSED else "bold red"
    _print(console, _said(result.claim(), style))
    for note in result.qualifications():
        _print(console, _indented(_said(note, "dim")))
    hint = _way_on(result)
    if hint:
        _print(console, _said(f"hint: {hint}", "italic"))
    console.print()


def _way_on(result: RunResult) -> str:
    """Say what to change so that a run that judged nothing judges something."""
    if any(check.verdict is not Verdict.NOT_CLAIMED for check in result.checks):
        return ""
    claimed = result.declaration.profiles
    if not claimed:
        return 'the Worker claims no profile; name one in its declaration: "profiles": ["replay"]'
    wanted = sorted({check.profile for check in result.checks})
    return (
        f"the Worker claims {', '.join(claimed)}, and the checks of this run belong to "
        f"{', '.join(wanted) or 'nothing'}; claim that, or choose other checks"
    )


def _print_last_lines(console: Console, result: RunResult, reports: Iterable[Path]) -> None:
    counts = result.counts()
    facts = [
        f"{counts[Verdict.PASS]} of {result.executed()} executed checks passed",
        f"seed {result.seed}",
        f"exit code {result.exit_code()}",
    ]
    console.print(Text(" · ".join(facts)))
    for path in reports:
        console.print(Text(f"Report: {path}"), soft_wrap=True)


def _print(console: Console, block: Table | Text | Padding) -> None:
    """Print a block without the spaces that fill its lines up: they get in the way of copying."""
    for segments in console.render_lines(block, pad=False):
        told = [(part.text, part.style or "") for part in segments if not part.control]
        line = Text.assemble(*told)
        line.rstrip()
        console.print(line, soft_wrap=True)


def _plain_table() -> Table:
    return Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)


def _said(text: str, style: str = "") -> Text:
    """Make text that cannot act on the terminal: no control characters, and no markup of rich."""
    return Text(visible(text), style)


def _indented(block: Table | Text) -> Padding:
    return Padding(block, (0, 0, 0, 2), expand=False)
