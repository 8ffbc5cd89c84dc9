"""`worker-conformance replay`: one vector, wherever it lies, played and judged, or shown in full.

Writes no report: what it prints is for the person who looks for a fault.
"""

import json
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from worker_conformance.cli.engine import engine_of
from worker_conformance.cli.options import (
    color_option,
    console_for,
    did_you_mean,
    restart_option,
    seed_option,
    timeout_option,
    worker_option,
)
from worker_conformance.errors import UsageError
from worker_conformance.judge.trace import EntryKind, Trace
from worker_conformance.port.locate import locate, with_restart
from worker_conformance.report.telling import visible
from worker_conformance.report.terminal import Detail, print_result
from worker_conformance.resources import vectors_path
from worker_conformance.scenario.loader import load, vector_files

VECTOR = ".yaml"
TRACE = ".jsonl"
NAMES_FILES = "'worker-conformance explain ID' names the file of a check"

_SPEAKERS = {EntryKind.STIMULUS: "suite", EntryKind.EFFECT: "worker", EntryKind.NOTE: "note"}


@click.command(short_help="Play one vector and judge it, or judge a saved Trace again.")
@worker_option
@restart_option
@seed_option
@timeout_option
@click.option("--show", is_flag=True, help="Show every message in full instead of judging.")
@click.option(
    "--save-trace",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write every message to FILE (.jsonl) instead of judging.",
)
@color_option
@click.argument("file", type=click.Path(path_type=Path))
@click.pass_context
def replay(
    context: click.Context,
    worker: str,
    restart: str,
    seed: int,
    timeout: float,
    show: bool,  # noqa: FBT001 - click hands flags over by name
    save_trace: Path | None,
    no_color: bool | None,  # noqa: FBT001 - as above
    file: Path,
) -> int:
    """Play a vector (.yaml) against a Worker and judge it; or judge a Trace (.jsonl) again.

    A vector of the suite may be named by its ID instead.
    """
    worker = with_restart(worker, restart)
    file = _file_of(file)
    _refuse_other_files(file)
    console = console_for(no_color=no_color)
    if file.suffix == TRACE and not show and not save_trace:
        result = engine_of(context).rejudge(_read(file), file)
        print_result(console, result, (), Detail.VERBOSE)
        return result.exit_code()
    if show or save_trace:
        trace = _read(file) if file.suffix == TRACE else _play(file, worker, seed, timeout)
        if save_trace:
            _save(trace, save_trace)
        if show or not save_trace:
            _print_trace(console, trace)
        return 0
    from worker_conformance.suite.engine import RunOptions

    options = RunOptions(worker=worker, seed=seed, timeout_seconds=timeout)
    result = engine_of(context).replay(file, options)
    print_result(console, result, (), Detail.VERBOSE)
    return result.exit_code()


def _file_of(named: Path) -> Path:
    """The file itself, or that of the suite's vector with this ID."""
    if named.suffix or named.exists():
        return named
    known = {file.stem: file for file in vector_files(vectors_path())}
    found = known.get(str(named).upper())
    if found is None:
        near = did_you_mean(str(named), known)
        hint = near if near.startswith("did") else NAMES_FILES
        raise UsageError("no-such-file", "there is no such file or vector", hint, str(named))
    return found


def _refuse_other_files(file: Path) -> None:
    if not file.is_file():
        raise UsageError("no-such-file", "there is no such file", NAMES_FILES, str(file))
    if file.suffix not in (VECTOR, TRACE):
        hint = f"a vector ends in {VECTOR}, a Trace in {TRACE}"
        raise UsageError("file-kind", "this is neither a vector nor a Trace", hint, str(file))


def _play(file: Path, worker: str, seed: int, timeout: float) -> Trace:
    """Play a vector for its messages; what the Worker did is shown, not judged."""
    from worker_conformance.suite.bench import Bench

    scenario = load(file)
    with Bench(locate(worker, timeout)) as bench:
        bench.declaration()
        return bench.play(scenario, seed).trace


def _read(file: Path) -> Trace:
    try:
        return Trace.from_lines(file.read_text("utf-8").splitlines())
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
        cause = f"this is no Trace: {type(error).__name__} {error}".rstrip()
        hint = "'replay VECTOR --save-trace FILE' writes one"
        raise UsageError("not-a-trace", cause, hint, str(file)) from None


def _save(trace: Trace, file: Path) -> None:
    try:
        file.write_text("".join(f"{line}\n" for line in trace.to_lines()), "utf-8")
    except OSError as error:
        cause = f"the Trace cannot be written: {error.strerror}"
        raise UsageError("trace", cause, where=str(file)) from None


def _print_trace(console: Console, trace: Trace) -> None:
    from worker_conformance.scenario.clock import elapsed

    for entry in trace:
        line = Text(f"{elapsed(entry.at):>11}  {_SPEAKERS[entry.kind]:<6}  ", "dim")
        console.print(line.append(f"call {entry.call}"), soft_wrap=True)
        body = json.dumps(entry.body, indent=2, ensure_ascii=False)
        console.print(Text(visible(body)), soft_wrap=True)
