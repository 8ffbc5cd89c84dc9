"""`worker-conformance claim`, `verify`, `badge`: what may be said of a Worker, and does it hold.

Writes and compares documents; what may be said is decided in `worker_conformance.claim`.
"""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from worker_conformance.claim import document, markdown, verifying
from worker_conformance.claim.document import Knowledge, Refusal
from worker_conformance.claim.verifying import Difference
from worker_conformance.cli import today
from worker_conformance.cli.engine import Engine, engine_of
from worker_conformance.cli.options import color_option, console_for, jobs_option, near, read_seed
from worker_conformance.documents.json_types import JsonObject, find, integer_at, list_at, text_at
from worker_conformance.errors import UsageError
from worker_conformance.judge.verdicts import EXIT_NOT_PASSED, RunResult
from worker_conformance.port.contract import TIMEOUT_SECONDS
from worker_conformance.port.locate import TCP
from worker_conformance.report import badge as svg
from worker_conformance.report import json_report
from worker_conformance.report.progress import PlainProgress
from worker_conformance.report.telling import visible

EXIT_REFUSED = 1
EXIT_DIFFERS = 1
EXIT_OTHER_SUITE = 5


@click.command(short_help="Write what a result allows to be said of the Worker, and no more.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The claim as JSON; beside it as Markdown (.md). By default claim.json beside RESULT.",
)
@color_option
@click.argument("result", type=click.Path(path_type=Path))
@click.pass_context
def claim(
    context: click.Context,
    output: Path | None,
    no_color: bool | None,  # noqa: FBT001 - click hands flags over by name
    result: Path,
) -> int:
    """Write the claim that RESULT (a result.json) allows: the words, and all that belongs to them.

    A run that did not pass as a whole allows the narrower claim of the areas that did; a quick run,
    single checks or a broken adapter allow none, and the reason is told.

    Exit codes: 0 written, 1 refused, 2 called wrongly.
    """
    judged = json_report.read(result)
    made = document.claim_of(judged, knowledge(engine_of(context), judged))
    if isinstance(made, Refusal):
        click.echo(f"no claim: {visible(made.reason)}", err=True)
        click.echo(f"  hint: {made.hint}", err=True)
        return EXIT_REFUSED
    target = output or result.parent / "claim.json"
    _write(target, document.to_bytes(made))
    _write(target.with_suffix(".md"), markdown.to_text(made).encode())
    console = console_for(no_color=no_color)
    console.print(Text(text_at(made, "words"), "bold"), soft_wrap=True)
    for note in list_at(made, "qualifications"):
        console.print(Text(f"  {visible(str(note))}", "dim"), soft_wrap=True)
    console.print(Text(f"Claim: {near(target)}, {near(target.with_suffix('.md'))}"), soft_wrap=True)
    return 0


@click.command(short_help="Repeat the run behind a claim, and say what differs.")
@click.option(
    "--worker",
    "-w",
    metavar="SPEC",
    help="Where the Worker is to be found here, if not where the claim says.",
)
@jobs_option("Processes to share the checks.")
@color_option
@click.argument("claim_file", metavar="CLAIM", type=click.Path(path_type=Path))
@click.pass_context
def verify(
    context: click.Context,
    worker: str | None,
    jobs: int,
    no_color: bool | None,  # noqa: FBT001 - click hands flags over by name
    claim_file: Path,
) -> int:
    """Repeat the run behind CLAIM with its seed and options, and say exactly what differs.

    Exit codes: 0 it holds, 1 something differs, 2 called wrongly, 3 adapter broken, 4 suite error,
    5 this is another suite, requirement set or vector set than the claim's (nothing is run).
    """
    console, engine = console_for(no_color=no_color), engine_of(context)
    claimed = document.read(claim_file)
    strange = verifying.other_suite(claimed, knowledge(engine, None))
    if strange:
        _print(console, strange)
        console.print(Text("Not verified: install the suite that the claim names", "bold red"))
        return EXIT_OTHER_SUITE
    result = _repeat(claimed, worker, jobs, engine, no_color=no_color)
    found = document.claim_of(result, knowledge(engine, result))
    if isinstance(found, Refusal):
        console.print(Text(f"Not verified: {visible(found.reason)}", "bold red"), soft_wrap=True)
        return max(result.exit_code(), EXIT_DIFFERS)
    told = verifying.differences(claimed, found, moved=worker is not None)
    _print(console, told)
    if any(one.counts for one in told):
        console.print(Text("Not verified: the repeated run says otherwise", "bold red"))
        return EXIT_DIFFERS
    console.print(Text(f"Verified: {text_at(claimed, 'words')}", "bold green"), soft_wrap=True)
    return 0


@click.command(short_help="Write a badge (SVG) that says no more than the claim.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The badge. By default badge.svg beside RESULT.",
)
@click.argument("result", type=click.Path(path_type=Path))
@click.pass_context
def badge(context: click.Context, output: Path | None, result: Path) -> int:
    """Write a badge for RESULT (a result.json): an SVG that says no more than its claim does.

    A result that allows no claim gets a badge that says so.
    """
    judged = json_report.read(result)
    made = document.claim_of(judged, knowledge(engine_of(context), judged))
    if isinstance(made, Refusal):
        failed = judged.exit_code() == EXIT_NOT_PASSED
        message, color = ("not passed", svg.RED) if failed else ("no claim", svg.GREY)
        words = judged.claim() if failed else f"No claim: {made.reason}."
    else:
        areas = list(map(str, list_at(made, "areas")))
        message = svg.message_of(text_at(made, "scope"), areas, judged.suite.version)
        color = svg.GREEN if judged.exit_code() == 0 else svg.GREY
        words = text_at(made, "words")
    target = output or result.parent / "badge.svg"
    _write(target, svg.to_svg(message, color, words).encode("utf-8", "backslashreplace"))
    click.echo(f"Badge: {near(target)} ({message})")
    return 0


def knowledge(engine: Engine, result: RunResult | None) -> Knowledge:
    """What this suite knows of itself; `result` says whether long checks belong to its run."""
    from worker_conformance import __version__
    from worker_conformance.judge.verdicts import SuiteIdentity
    from worker_conformance.port.contract import SUITE_NAME
    from worker_conformance.suite import checks

    thorough = result is not None and result.selection.thorough
    return Knowledge(
        suite=SuiteIdentity(SUITE_NAME, __version__),
        requirement_digest=checks.requirement_digest(),
        vector_digest=checks.vector_digest(),
        checks={
            info.check_id: info.profile
            for info in engine.catalogue()
            if thorough or checks.THOROUGH not in info.needs
        },
    )


def _repeat(
    claimed: JsonObject, worker: str | None, jobs: int, engine: Engine, *, no_color: bool | None
) -> RunResult:
    from worker_conformance.baseline.matching import held_against
    from worker_conformance.suite.engine import RunOptions

    spec = worker or text_at(claimed, "worker", "adapter")
    timeout = find(claimed, "run", "timeoutSeconds")
    options = RunOptions(
        worker=spec,
        profiles=tuple(map(str, list_at(claimed, "run", "profiles"))),
        seed=read_seed(str(integer_at(claimed, "run", "seed"))),
        jobs=1 if spec.startswith(TCP) else jobs,
        timeout_seconds=float(timeout) if isinstance(timeout, int | float) else TIMEOUT_SECONDS,
        thorough=find(claimed, "run", "thorough") is True,
    )
    with PlainProgress(console_for(no_color=no_color, stderr=True)) as display:
        result = engine.run(options, display)
    baseline = verifying.baseline_of(claimed)
    if baseline is None:
        return result
    known = {check.check_id for check in engine.catalogue()}
    return held_against(result, baseline, known, today.today())


def _print(console: Console, told: tuple[Difference, ...]) -> None:
    for one in told:
        line = Text("differs  " if one.counts else "note     ", "red" if one.counts else "yellow")
        console.print(line.append(one.line(), "default"), soft_wrap=True)


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        cause = f"a file cannot be written: {error.strerror or error}"
        raise UsageError("claim", cause, "choose another place with -o", str(path)) from None
