"""`worker-conformance bench`: what a Worker costs behind its Port, and the suite beside it.

Measures, prints and writes down. Judges nothing: the exit code is 0 whatever the figures are.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from worker_conformance.cli.destinations import make_room
from worker_conformance.cli.options import (
    color_option,
    console_for,
    restart_option,
    seed_option,
    timeout_option,
    worker_option,
)
from worker_conformance.errors import UsageError
from worker_conformance.port.locate import locate, with_restart
from worker_conformance.report.telling import visible

if TYPE_CHECKING:  # `--help` answers without loading the whole suite
    from worker_conformance.suite.measuring.figures import Measured
    from worker_conformance.suite.measuring.rounds import Plan

FOLDER = Path("conformance-bench")
BACKLOGS = (100, 300, 1_000)
BACKLOGS_THOROUGH = (100, 1_000, 10_000, 100_000)
BACKLOG_MAX = 100_000  # the suite keeps every message of a scene
ROUNDS = 3


@click.command(short_help="Measure a Worker: decisions, Replay, restarts, memory.")
@worker_option
@restart_option
@click.option(
    "--backlog",
    "backlogs",
    metavar="N,N…",
    callback=lambda _, __, text: read_backlogs(text),
    help="WorkItems waiting: a scene is played over each (default 100,300,1000).",
)
@click.option("--thorough", is_flag=True, help="Backlogs up to 100,000: takes an hour or more.")
@click.option(
    "--rounds",
    type=click.IntRange(min=1, max=99),
    default=ROUNDS,
    show_default=True,
    metavar="N",
    help="How often each is played; figures are medians.",
)
@seed_option
@click.option(
    "--report",
    type=click.Path(path_type=Path, file_okay=False),
    default=FOLDER,
    show_default=True,
    metavar="DIR",
    help="Folder for bench.json and bench.html.",
)
@timeout_option
@color_option
def bench(
    worker: str,
    restart: str,
    backlogs: tuple[int, ...],
    thorough: bool,  # noqa: FBT001 - click hands flags over by name
    rounds: int,
    seed: int,
    report: Path,
    timeout: float,
    no_color: bool | None,  # noqa: FBT001 - as above
) -> int:
    """Measure what a Worker costs, and what the suite costs beside it.

    Figures are real time, so they hold for the machine and the moment; ratios are taken side by
    side. They judge nothing.
    """
    from worker_conformance.report import figures
    from worker_conformance.suite.measuring.rounds import Plan

    if thorough and backlogs:
        cause = "--thorough and --backlog exclude each other"
        raise UsageError("backlogs", cause, "give one")
    chosen = backlogs or (BACKLOGS_THOROUGH if thorough else BACKLOGS)
    files = (report / "bench.json", report / "bench.html")
    make_room(files, "the figures", "--report")
    plan = Plan(chosen, rounds, seed=seed)
    shown = console_for(no_color=no_color, stderr=True)
    measured = _measure(with_restart(worker, restart), timeout, plan, shown)
    files[0].write_bytes(measured.to_json())
    files[1].write_bytes(figures.to_html(measured))
    console = console_for(no_color=no_color)
    _print(console, measured)
    console.print(Text(f"Figures: {files[1]}"))
    return 0


def read_backlogs(text: str | None) -> tuple[int, ...]:
    """Return the backlogs that a person named, from small to large; none for None."""
    if text is None:
        return ()
    words = [word.strip() for word in text.split(",")]
    wanted = {int(word) for word in words if word.isascii() and word.isdigit() and len(word) < 9}
    in_range = all(1 <= one <= BACKLOG_MAX for one in wanted)
    if len(wanted) < len(words) or not in_range:
        hint = f"write numbers from 1 to {BACKLOG_MAX:,}, as in 100,1000"
        raise UsageError("backlog", f"'{text}' is no list of backlogs", hint)
    return tuple(sorted(wanted))


def _measure(spec: str, timeout: float, plan: Plan, shown: Console) -> Measured:
    from worker_conformance.suite.bench import Bench
    from worker_conformance.suite.measuring.catalogue import measured
    from worker_conformance.suite.measuring.rounds import play_rounds

    factory = locate(spec, timeout)
    with Bench(factory) as introduced:
        declaration, transport = introduced.declaration(), introduced.transport
    rounds = play_rounds(factory, plan, lambda told: shown.print(Text(told)))
    return measured(spec, declaration, transport, plan, rounds)


def _print(console: Console, measured: Measured) -> None:
    from worker_conformance.suite.measuring.figures import CAVEAT, shown

    table = Table(box=None, pad_edge=False)
    for heading in ("Figure", "over", "median", "least", "greatest", "unit"):
        right = heading in ("median", "least", "greatest")
        table.add_column(heading, justify="right" if right else "left")
    for figure in measured.figures:
        for place, point in enumerate(figure.points):
            table.add_row(
                "" if place else figure.title,
                "" if point.x is None else f"{point.x:,} {figure.over.split()[0]}",
                shown(point.median),
                shown(point.least),
                shown(point.greatest),
                figure.unit,
            )
    console.print(table)
    for note in measured.notes:
        console.print(Text(visible(note)))
    console.print(Text(CAVEAT, "dim"))
