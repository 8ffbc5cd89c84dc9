"""`worker-conformance compare`: results side by side, for a person, a program, or a public site.

Reads results and writes what `worker_conformance.compare` says of them.
"""

from __future__ import annotations

from pathlib import Path

import click
from rich.text import Text

from worker_conformance.cli.options import color_option, console_for
from worker_conformance.compare.comparing import Comparison, compared
from worker_conformance.errors import UsageError
from worker_conformance.report import json_report

EXIT_NEW_FAILURES = 1
FORMATS = ("terminal", "json", "markdown", "html")


@click.command(short_help="Put results side by side: new failures, fixed, changed figures.")
@click.option(
    "--format",
    "-f",
    "form",
    type=click.Choice(FORMATS),
    default="terminal",
    show_default=True,
    help="What to write; html is one self-contained page with a matrix.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where to write it, if not on the terminal.",
)
@click.option("--exit-code", is_flag=True, help="Exit with 1 if something fails that did not.")
@color_option
@click.argument("results", nargs=-1, type=click.Path(path_type=Path), metavar="RESULT RESULT...")
def compare(
    form: str,
    output: Path | None,
    exit_code: bool,  # noqa: FBT001 - click hands flags over by name
    no_color: bool | None,  # noqa: FBT001 - as above
    results: tuple[Path, ...],
) -> int:
    """Compare results (result.json) with the first: of one Worker over time, or of several Workers.

    Results that were not judged alike (another suite, requirement set, vector set or selection) are
    compared check by check, and it is said first.

    Exit codes: 0 compared, 1 with --exit-code and a new failure, 2 called wrongly.
    """
    if len(results) < 2:
        hint = "name the result.json of two runs or more"
        raise UsageError("compare", "there is nothing to compare", hint, *map(str, results))
    comparison = compared([(str(path), json_report.read(path)) for path in results])
    text = _spelled(comparison, form)
    if output is None:
        console_for(no_color=no_color).print(Text(text.rstrip("\n")), soft_wrap=True)
    else:
        _write(output, text)
    return EXIT_NEW_FAILURES if exit_code and comparison.has_new_failures else 0


def _spelled(comparison: Comparison, form: str) -> str:
    from worker_conformance.compare import matrix, telling

    if form == "json":
        return telling.to_json(comparison)
    if form == "markdown":
        return telling.to_markdown(comparison)
    if form == "html":
        return matrix.to_html(comparison)
    return "".join(f"{line}\n" for line in telling.to_lines(comparison))


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        cause = f"a comparison cannot be written: {error.strerror or error}"
        raise UsageError("compare", cause, "choose another place with -o", str(path)) from None
