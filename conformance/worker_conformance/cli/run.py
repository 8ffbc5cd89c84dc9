"""`worker-conformance run`: judge a Worker, and write down what was found.

Asks the engine, then hands its result to every report. Decides nothing about verdicts: the exit
code is the result's own.
"""

from pathlib import Path

import click
from attrs import frozen

from worker_conformance.cli import github
from worker_conformance.cli.engine import engine_of
from worker_conformance.cli.github import format_option
from worker_conformance.cli.known_failures import (
    baseline_options,
    hold_against,
    read_baseline,
    write_baseline,
)
from worker_conformance.cli.options import (
    choose,
    color_option,
    console_for,
    jobs_option,
    profile_option,
    refuse_left_out,
    restart_option,
    seed_option,
    timeout_option,
    worker_option,
)
from worker_conformance.errors import UsageError
from worker_conformance.judge.verdicts import RunResult
from worker_conformance.port.locate import TCP, with_restart
from worker_conformance.report import html, json_report, junit
from worker_conformance.report.progress import LiveProgress, PlainProgress, QuietProgress
from worker_conformance.report.telling import visible
from worker_conformance.report.terminal import Detail, print_result

REPORT_FOLDER = Path("conformance-report")
MADE_OF_A_RESULT = ("claim.json", "claim.md", "badge.svg")
"""What `claim` and `badge` write beside a result, and what is no more true of the next one."""


@frozen
class _Destinations:
    """Where the reports of a run go."""

    folder: Path
    junit: Path | None
    json: Path | None

    @property
    def html_file(self) -> Path:
        return self.folder / "report.html"

    @property
    def counterexamples(self) -> Path:
        return self.folder / "counterexamples"

    @property
    def json_files(self) -> tuple[Path, ...]:
        return (self.folder / "result.json", *([self.json] if self.json else []))

    @property
    def junit_files(self) -> tuple[Path, ...]:
        return (self.folder / "junit.xml", *([self.junit] if self.junit else []))

    def prepare(self) -> None:
        """Make room before the run: a folder that cannot be written must not cost a whole run.

        Reports of an earlier run go, so that none is taken for this one's if this one breaks off.
        """
        for old in self.counterexamples.glob("PROP-*.yaml"):
            old.unlink(missing_ok=True)
        for file in (self.html_file, *self.json_files, *self.junit_files):
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.unlink(missing_ok=True)
                file.touch()
                file.unlink()
            except OSError as error:
                cause = f"a report cannot be written: {error.strerror or error}"
                raise UsageError(
                    "report", cause, "choose another place with --report", str(file)
                ) from None
        for name in MADE_OF_A_RESULT:
            (self.folder / name).unlink(missing_ok=True)

    def write(self, result: RunResult, *, timing: bool) -> None:
        for file in self.json_files:
            json_report.write(result, file, timing=timing)
        for file in self.junit_files:
            junit.write(result, file, timing=timing)
        html.write(result, self.html_file, timing=timing)


@click.command(short_help="Judge a Worker: all that it claims, or the checks named.")
@worker_option
@restart_option
@profile_option
@click.option("--quick", is_flag=True, help="The short run: for a first look, not for a claim.")
@click.option("--thorough", is_flag=True, help="Thousands of generated worlds: takes hours.")
@seed_option
@jobs_option("Processes to share the checks; the result does not depend on it.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, file_okay=False),
    default=REPORT_FOLDER,
    show_default=True,
    metavar="DIR",
    help="Folder for report.html, result.json, junit.xml and counterexamples.",
)
@click.option(
    "--junit",
    "junit_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="JUnit XML here as well.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The JSON result here as well.",
)
@click.option(
    "--reproducible", is_flag=True, help="No durations in the reports: equal runs, equal bytes."
)
@timeout_option
@baseline_options
@format_option
@click.option("--quiet", "-q", is_flag=True, help="Only what is unexpected, and the claim.")
@click.option("--verbose", "-v", is_flag=True, help="Every check, every figure, advice in full.")
@color_option
@click.argument("checks", nargs=-1, metavar="[CHECK_ID|GLOB]...")
@click.pass_context
def run(
    context: click.Context,
    worker: str,
    restart: str,
    profiles: tuple[str, ...],
    quick: bool,  # noqa: FBT001 - click hands flags over by name
    thorough: bool,  # noqa: FBT001 - as above
    seed: int,
    jobs: int,
    report: Path,
    junit_file: Path | None,
    json_file: Path | None,
    reproducible: bool,  # noqa: FBT001 - as above
    timeout: float,
    baseline: Path | None,
    write_baseline_to: Path | None,
    form: str,
    quiet: bool,  # noqa: FBT001 - as above
    verbose: bool,  # noqa: FBT001 - as above
    no_color: bool | None,  # noqa: FBT001 - as above
    checks: tuple[str, ...],
) -> int:
    """Judge a Worker: all that it claims, or just the checks named.

    A check is named by its own ID, or by a requirement or clause ID (all checks that judge it);
    `*` and `?` stand for other characters.
    """
    from worker_conformance.suite.engine import RunOptions

    if quick and thorough:
        raise UsageError("quick-thorough", "--quick and --thorough exclude each other", "give one")
    detail = _detail(quiet=quiet, verbose=verbose)
    known = read_baseline(baseline)
    engine = engine_of(context)
    chosen = tuple(check.check_id for check in choose(engine.catalogue(), checks)) if checks else ()
    if checks:
        refuse_left_out(engine.catalogue(), checks, profiles)
    destinations = _Destinations(report, junit_file, json_file)
    destinations.prepare()
    options = RunOptions(
        worker=with_restart(worker, restart),
        profiles=profiles,
        select=chosen,
        seed=seed,
        jobs=1 if worker.startswith(TCP) else jobs,  # one server cannot crash for one job alone
        quick=quick,
        timeout_seconds=timeout,
        thorough=thorough,
        failures=destinations.counterexamples,
    )
    with _display(detail, no_color=no_color) as display:
        result = hold_against(engine.run(options, display), known, engine)
    destinations.write(result, timing=not reproducible)
    _tell(result, destinations, detail, form, no_color=no_color)
    if write_baseline_to is not None:
        click.echo(write_baseline(write_baseline_to, result, engine), err=True)
    return result.exit_code()


def _tell(
    result: RunResult,
    destinations: _Destinations,
    detail: Detail,
    form: str,
    *,
    no_color: bool | None,
) -> None:
    with github.guarded(active=github.wanted(form)):
        print_result(console_for(no_color=no_color), result, [destinations.html_file], detail)
        if detail is Detail.QUIET and result.baseline is not None:
            for trouble in result.baseline.troubles:  # the longer forms tell them with the claim
                click.echo(visible(trouble.line()))
    if github.wanted(form):
        github.speak(result)


def _detail(*, quiet: bool, verbose: bool) -> Detail:
    if quiet and verbose:
        raise UsageError("quiet-verbose", "--quiet and --verbose exclude each other", "give one")
    if quiet:
        return Detail.QUIET
    return Detail.VERBOSE if verbose else Detail.NORMAL


def _display(detail: Detail, *, no_color: bool | None) -> QuietProgress:
    """Return what shows the progress: on stderr, so that stdout carries the result alone."""
    console = console_for(no_color=no_color, stderr=True)
    if detail is Detail.QUIET:
        return QuietProgress()
    # A colour that was asked for makes no terminal of a file.
    return LiveProgress(console) if console.file.isatty() else PlainProgress(console)
