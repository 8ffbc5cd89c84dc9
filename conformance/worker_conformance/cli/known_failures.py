"""Baselines on the command line: options of `run`, the command `baseline`, a part of `lint`.

Reads and writes the files; what is excused is decided in `worker_conformance.baseline`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import click
from rich.text import Text

from worker_conformance.baseline import file as baseline_file
from worker_conformance.baseline.entries import Baseline
from worker_conformance.baseline.matching import held_against
from worker_conformance.cli import today
from worker_conformance.cli.engine import Engine, engine_of
from worker_conformance.cli.options import color_option, console_for, counted, near
from worker_conformance.errors import UsageError
from worker_conformance.judge.verdicts import RunResult
from worker_conformance.report import json_report
from worker_conformance.scenario.lint import Finding

DEFAULT_FILE = Path("conformance-baseline.yaml")

Command = TypeVar("Command", bound=Callable[..., object])


def baseline_options(command: Command) -> Command:
    """Add `--baseline` and `--write-baseline`."""
    command = click.option(
        "--write-baseline",
        "write_baseline_to",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write the failures of this run as a baseline, or update one; reasons stay.",
    )(command)
    return click.option(
        "--baseline",
        "baseline",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Known failures (YAML): no surprise, and never a pass. An entry that does not hold "
        "breaks the run.",
    )(command)


def read_baseline(path: Path | None) -> Baseline | None:
    """Read the baseline that was named, if one was: before the run, which may take long."""
    return None if path is None else baseline_file.load(path)


def hold_against(result: RunResult, baseline: Baseline | None, engine: Engine) -> RunResult:
    """Mark the known failures of `result`."""
    if baseline is None:
        return result
    known = {check.check_id for check in engine.catalogue()}
    return held_against(result, baseline, known, today.today())


def write_baseline(path: Path, result: RunResult, engine: Engine) -> str:
    """Write or update a baseline; return what was done, as a line for a person."""
    old = baseline_file.read(path) if path.exists() else None
    known = {check.check_id for check in engine.catalogue()}
    entries = baseline_file.updated(old, result, known)
    baseline_file.write(path, entries)
    open_ones = sum(not entry.is_filled for entry in entries)
    told = f"Baseline: {near(path)}, {counted(len(entries), 'known failure')}"
    if open_ones:
        told += f"; {open_ones} of them need a reason and a limit before it can be used"
    return told


@click.command("baseline", short_help="Write the failures of a result as a baseline, to be argued.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    default=DEFAULT_FILE,
    show_default=True,
    metavar="FILE",
    help="The baseline to write, or to update.",
)
@color_option
@click.argument("result", type=click.Path(path_type=Path))
@click.pass_context
def baseline(
    context: click.Context,
    output: Path,
    no_color: bool | None,  # noqa: FBT001 - click hands flags over by name
    result: Path,
) -> int:
    """Write the failures of RESULT (a result.json) as a baseline, or bring one up to date.

    Reasons and limits that stand in it stay; entries of checks that pass go. New entries hold
    placeholders, which 'lint' and 'run --baseline' refuse until somebody has filled them.
    """
    told = write_baseline(output, json_report.read(result), engine_of(context))
    console_for(no_color=no_color).print(Text(told), soft_wrap=True)
    return 0


def baseline_findings(paths: Iterable[Path]) -> Iterator[Finding]:
    """What is wrong with baselines, for `lint`."""
    for path in paths:
        try:
            for where, cause, hint in baseline_file.unfilled(baseline_file.read(path)):
                yield Finding(where, cause, hint)
        except UsageError as error:
            yield Finding(error.where or str(path), error.cause, error.hint)
