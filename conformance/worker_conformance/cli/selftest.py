"""`worker-conformance selftest`: the suite against Workers whose worth is known beforehand.

Shows how far it is, names what is amiss, and writes the kill matrix. Never changes a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from worker_conformance.cli.destinations import make_room
from worker_conformance.cli.options import (
    color_option,
    console_for,
    counted,
    did_you_mean,
    jobs_option,
    seed_option,
)
from worker_conformance.errors import UsageError

if TYPE_CHECKING:  # `--help` answers without loading the whole suite
    from worker_conformance.selftest.matrix import Matrix, Row, Subject

FOLDER = Path("conformance-selftest")

QUICK_LEAST = 0.9
"""Of all mutants, the part that a quick run notices at least."""

AMISS = {
    "survivingMutants": "Mutants that survive",
    "failingVariants": "Lawful variants that fail",
    "passingNullWorkers": "Null Workers that pass",
    "idleChecks": "Checks that notice no mutant",
}


@click.command(short_help="Judge the suite: mutants, lawful variants, Workers that do nothing.")
@seed_option
@jobs_option("Processes to share the Workers.")
@click.option("--full", is_flag=True, help="Every vector against every Worker: takes hours.")
@click.option("--quick", is_flag=True, help="How many mutants `run --quick` notices.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, file_okay=False),
    default=FOLDER,
    show_default=True,
    metavar="DIR",
    help="Folder for matrix.json and matrix.html.",
)
@click.option(
    "--markdown",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The matrix as Markdown here as well, as in docs/kill-matrix.md.",
)
@color_option
@click.argument("workers", nargs=-1, metavar="[WORKER|GLOB]...")
def selftest(
    seed: int,
    jobs: int,
    full: bool,  # noqa: FBT001 - click hands flags over by name
    quick: bool,  # noqa: FBT001 - as above
    report: Path,
    markdown: Path | None,
    no_color: bool | None,  # noqa: FBT001 - as above
    workers: tuple[str, ...],
) -> int:
    """Play the suite against Workers known to be wrong, lawful, or nothing.

    All of them, which takes some twenty minutes, or those named: a mutant, a variant, a null
    Worker, with `*` and `?`. Exit code 1 where a mutant survives the check that should notice it, a
    lawful variant fails, a Worker that does nothing passes, or (of all Workers) a check notices
    nothing. With `--quick`: where less than nine mutants in ten are noticed.
    """
    from worker_conformance.selftest import files, page
    from worker_conformance.selftest.matrix import all_checks, kill_matrix, widened
    from worker_conformance.selftest.naming import refuse_misnamed

    if quick and (full or markdown is not None):
        cause = "--quick counts what a short run notices, and makes no matrix of everything"
        raise UsageError("quick", cause, "leave out --full and --markdown")
    chosen = _chosen(workers)
    refuse_misnamed(chosen)
    if quick:
        return _quick(chosen, seed, jobs, no_color=no_color)
    if full:
        chosen = [widened(one) for one in chosen]
    make_room((report / "matrix.json", report / "matrix.html"), "the matrix", "--report")
    make_room([markdown] if markdown else [], "the matrix", "--markdown")
    with _Progress(console_for(no_color=no_color, stderr=True), len(chosen)) as progress:
        matrix = kill_matrix(chosen, all_checks(), seed, jobs=jobs, heard=progress.finished)
    (report / "matrix.json").write_bytes(files.to_json(matrix))
    found = dict(files.amiss(matrix))
    if workers:
        found.pop("idleChecks")  # a few Workers say nothing about all checks
        matrix = matrix.of_what_was_played()
    (report / "matrix.html").write_bytes(files.to_html(matrix, found))
    if markdown is not None:
        markdown.write_text(page.render(matrix), encoding="utf-8")
    console = console_for(no_color=no_color)
    _print(console, matrix, found, files.dearest(matrix))
    console.print(Text(f"Matrix: {report / 'matrix.html'}"))
    return 1 if any(found.values()) else 0


def _quick(chosen: Sequence[Subject], seed: int, jobs: int, *, no_color: bool | None) -> int:
    """Count the mutants that a quick run notices, and name those that it lets live."""
    from worker_conformance.selftest.matrix import Kind, hurried, kill_matrix, quick_checks

    mutants = [hurried(one) for one in chosen if one.kind is Kind.MUTANT]
    if not mutants:
        cause = "a quick run is measured by mutants, and none of these Workers is one"
        raise UsageError("quick", cause, "docs/kill-matrix.md names them all")
    with _Progress(console_for(no_color=no_color, stderr=True), len(mutants)) as progress:
        matrix = kill_matrix(mutants, quick_checks(), seed, jobs=jobs, heard=progress.finished)
    noticed = set(matrix.noticed())
    console = console_for(no_color=no_color)
    unnoticed = [one.name for one in mutants if one.name not in noticed]
    if unnoticed:
        console.print(Text(f"Left to the ordinary run: {', '.join(unnoticed)}"))
    enough = len(noticed) >= QUICK_LEAST * len(mutants)
    console.print(Text(f"A quick run notices {len(noticed)} of {counted(len(mutants), 'mutant')}"))
    console.print(Text(f"seed {seed} · exit code {0 if enough else 1}"))
    return 0 if enough else 1


def _chosen(patterns: Sequence[str]) -> list[Subject]:
    """The Workers that any pattern names; all of them without a pattern."""
    from worker_conformance.selftest.matrix import subjects

    known = subjects()
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            cause = f"the self-test has no Worker '{pattern}'"
            hint = did_you_mean(pattern, known).replace(
                "'worker-conformance list' names all checks and areas",
                "docs/kill-matrix.md names them all",
            )
            raise UsageError("no-such-worker", cause, hint)
    return [
        one
        for name, one in known.items()
        if not patterns or any(fnmatchcase(name, each) for each in patterns)
    ]


class _Progress:
    """A live line on a terminal; elsewhere a line for each tenth."""

    def __init__(self, console: Console, total: int) -> None:
        self._console, self._total, self._done = console, total, 0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task("Workers", total=total)

    def __enter__(self) -> _Progress:
        """Begin to show."""
        self._bar.start()
        if not self._console.is_terminal:
            self._console.print(Text(f"{counted(self._total, 'Worker')} to judge"))
        return self

    def __exit__(self, *_: object) -> None:
        """End the line."""
        self._bar.stop()

    def finished(self, row: Row) -> None:
        """Count a Worker that has been judged."""
        self._done += 1
        self._bar.update(self._task, advance=1, description=row.name)
        is_tenth = self._done * 10 // self._total > (self._done - 1) * 10 // self._total
        if is_tenth and not self._console.is_terminal:
            self._console.print(Text(f"{self._done} of {self._total} Workers judged"))


def _print(
    console: Console,
    matrix: Matrix,
    amiss: dict[str, tuple[str, ...]],
    dearest: Sequence[tuple[str, int, float]],
) -> None:
    for name, found in amiss.items():
        if found:
            console.print(Text(f"{AMISS[name]}: {', '.join(found)}", style="bold red"))
    from worker_conformance.selftest.matrix import Kind

    table = Table(box=None, pad_edge=False)
    for heading in ("Workers", "judged", "as they should"):
        table.add_column(heading, justify="left" if heading == "Workers" else "right")
    wrong = {
        Kind.MUTANT: amiss["survivingMutants"],
        Kind.VARIANT: amiss["failingVariants"],
        Kind.NULL: amiss["passingNullWorkers"],
    }
    for kind, bad in wrong.items():
        judged = len(matrix.of(kind))
        if judged:
            table.add_row(f"{kind.value}s", str(judged), f"{judged - len(bad)} of {judged}")
    console.print(table)
    shown = ", ".join(f"{check} {mean:.1f} s" for check, _, mean in dearest[:5])
    if shown:
        console.print(Text(f"Dearest checks: {shown}"))
    console.print(
        Text(f"Noticed by one check only: {counted(len(matrix.killed_once()), 'mutant')}")
    )
    console.print(Text(f"seed {matrix.seed} · exit code {1 if any(amiss.values()) else 0}"))
