"""`worker-conformance lint`: are vectors and baselines well made, before any Worker sees them?

Shows what the loader and `scenario.lint` find in the files named. Exit code 0 where they find
nothing, else 1. Never runs a Worker, never changes a file.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from worker_conformance.baseline.file import is_baseline
from worker_conformance.cli.known_failures import baseline_findings
from worker_conformance.cli.options import color_option, console_for, counted, near
from worker_conformance.errors import UsageError, VectorError
from worker_conformance.report.telling import visible
from worker_conformance.resources import vectors_path
from worker_conformance.scenario import lint as rules
from worker_conformance.scenario.lint import Finding
from worker_conformance.scenario.loader import load, vector_files
from worker_conformance.scenario.model import Scenario
from worker_conformance.scenario.requirements import load_requirements, load_retired

EXIT_FINDINGS = 1
REQUIREMENTS = "requirements.yaml"
RETIRED = "retired-ids.yaml"
NAMED_MAX = 3  # files that a line still holds


@click.command(short_help="Check vectors and baselines for mistakes.")
@color_option
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
def lint(
    paths: tuple[Path, ...],
    no_color: bool | None,  # noqa: FBT001 - click hands flags over by name
) -> int:
    """Check vectors for mistakes: whole folders or single files, by default the suite's own.

    A baseline may be named too: every entry needs a reason, and a limit.
    """
    console = console_for(no_color=no_color)
    baselines = [near(path) for path in paths if is_baseline(path)]
    named = [path for path in paths if not is_baseline(path)]
    if not paths:
        named = [vectors_path()]
    files = [near(file) for path in named for file in _files_in(path)]
    _print_overlooked(console, named, files)
    findings = [*baseline_findings(baselines), *(_findings(files) if files else ())]
    for finding in findings:
        _print_finding(console, finding)
    parts = [counted(len(baselines), "baseline")] if baselines else []
    parts += [counted(len(files), "vector")] if files else []
    told = f"{counted(len(findings), 'finding')} in {' and '.join(parts)}"
    console.print(Text(told, "bold red" if findings else "bold green"))
    return EXIT_FINDINGS if findings else 0


def _files_in(path: Path) -> tuple[Path, ...]:
    if path.is_file():
        return (path,)
    files = vector_files(path) or tuple(sorted(path.glob("*.yaml")))
    if not files:
        hint = "name a vector, or a folder with one folder of vectors for each area"
        raise UsageError("no-vectors", "there are no vectors here", hint, str(path))
    return files


def _print_overlooked(console: Console, named: Iterable[Path], files: Iterable[Path]) -> None:
    """Say which YAML files of a folder were not looked at, so that silence is no praise of them."""
    seen = {file.resolve() for file in files}
    left = [
        f"{near(file)}"
        for folder in named
        for file in sorted(folder.rglob("*.y*ml"))
        if file.resolve() not in seen and not _is_other(file, folder)
    ]
    if left:
        some = ", ".join(left[:NAMED_MAX]) + (", …" if len(left) > NAMED_MAX else "")
        console.print(
            Text(f"not looked at: {counted(len(left), 'file')}: ", "yellow").append(visible(some)),
            soft_wrap=True,
        )
        console.print(Text("  hint: a vector lies in FOLDER/<area>/<ID>.yaml", "dim"))


def _is_other(file: Path, folder: Path) -> bool:
    """Whether a YAML file is none that anybody takes for a vector."""
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return hidden or file.name in (REQUIREMENTS, RETIRED) or is_baseline(file)


def _findings(files: Iterable[Path]) -> list[Finding]:
    asked = {file.resolve(): file for file in files}
    unread, scenarios = _load(asked.values())
    # Twins and IDs are judged among all vectors, also where only one is asked about.
    others = [file for file in vector_files(vectors_path()) if file.resolve() not in asked]
    _, rest = _load(others)
    found = rules.lint(
        (*rest, *scenarios),  # an ID given twice is then found in the later, which is the new one
        load_requirements(vectors_path() / REQUIREMENTS),
        load_retired(vectors_path() / RETIRED),
        _noticed()
        if any(file.is_relative_to(vectors_path().resolve()) for file in asked)
        else None,
    )
    shown = {file.as_posix() for file in asked.values()}
    told = [finding for finding in found if _file_of(finding.where) in shown]
    return sorted([*unread, *told], key=lambda finding: finding.where)


def _noticed() -> Mapping[str, Sequence[str]]:
    """By check: the mutants that it should notice. The suite's own vectors have at least one."""
    from worker_conformance.selftest.mutants import MUTANTS

    found: dict[str, list[str]] = {}
    for mutant in MUTANTS.values():
        for check in mutant.killed_by:
            found.setdefault(check, []).append(mutant.name)
    return found


def _load(files: Iterable[Path]) -> tuple[list[Finding], list[Scenario]]:
    unread, scenarios = [], []
    for file in files:
        try:
            scenarios.append(load(file))
        except VectorError as error:
            unread.append(Finding(error.where or str(file), error.cause, error.hint))
    return unread, scenarios


def _file_of(where: str) -> str:
    """Return the file of a place `file:line:column`, whatever stands behind the file."""
    head, colon, _ = where.partition(".yaml:")
    return f"{head}.yaml" if colon else where


def _print_finding(console: Console, finding: Finding) -> None:
    line = Text(f"{visible(finding.where)}: ", "bold").append(visible(finding.cause), "not bold")
    console.print(line, soft_wrap=True)
    if finding.hint:
        console.print(Text(f"  hint: {visible(finding.hint)}", "dim"), soft_wrap=True)
