"""`worker-conformance list` and `explain`: what the suite checks, without running anything.

Shows what the catalogue knows. Never opens a Worker.
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from worker_conformance.cli.duties import choose_duties, duties_as_json, print_duties, print_duty
from worker_conformance.cli.engine import engine_of
from worker_conformance.cli.options import (
    choose,
    color_option,
    console_for,
    counted,
    near,
    profile_option,
)
from worker_conformance.errors import UsageError

if TYPE_CHECKING:  # `--help` answers without loading the whole suite
    from worker_conformance.suite.checks import CheckInfo

_JUDGES = {
    "vector": "vector",
    "monitor": "monitor over every run",
    "fairness": "run under load",
    "property": "property over generated worlds",
}
"""What a kind of check is called in a sentence."""


@click.command("list")
@profile_option
@click.option(
    "--requirements", is_flag=True, help="By requirement: what judges it, or why nothing does."
)
@click.option("--json", "as_json", is_flag=True, help="For programs: one JSON array.")
@color_option
@click.argument("checks", nargs=-1, metavar="[ID|GLOB]...")
@click.pass_context
def list_checks(
    context: click.Context,
    profiles: tuple[str, ...],
    requirements: bool,  # noqa: FBT001 - click hands flags over by name
    as_json: bool,  # noqa: FBT001 - as above
    no_color: bool | None,  # noqa: FBT001 - as above
    checks: tuple[str, ...],
) -> int:
    """List the checks, by area: ID, level, requirement, title."""
    catalogue = engine_of(context).catalogue()
    if requirements:
        duties = choose_duties(catalogue, checks, profiles)
        if as_json:
            click.echo(json.dumps(duties_as_json(duties), indent=2, ensure_ascii=False))
        else:
            print_duties(console_for(no_color=no_color), duties)
        return 0
    chosen = choose(catalogue, checks)
    chosen = tuple(c for c in chosen if not profiles or c.profile in profiles)
    if not chosen:
        raise UsageError("no-such-check", "nothing is left to list", "leave out a filter")
    if as_json:
        click.echo(json.dumps([_as_json(check) for check in chosen], indent=2, ensure_ascii=False))
    else:
        _print_list(console_for(no_color=no_color), chosen)
    return 0


@click.command(short_help="Explain a check: clause, stake, steps, command.")
@color_option
@click.argument("checks", nargs=-1, required=True, metavar="ID...")
@click.pass_context
def explain(
    context: click.Context,
    no_color: bool | None,  # noqa: FBT001 - click hands flags over by name
    checks: tuple[str, ...],
) -> int:
    """Explain a check: its clause, what is at stake, its steps, and how to run it.

    ID may also be a requirement or a clause: everything that judges it is explained.
    """
    console = console_for(no_color=no_color)
    catalogue = engine_of(context).catalogue()
    for name in checks:
        # A requirement or a clause is explained as such first: nothing may judge it.
        if not print_duty(console, name, catalogue) or _is_judged(name, catalogue):
            for check in choose(catalogue, [name]):
                _print_explanation(console, check)
    return 0


def _is_judged(name: str, catalogue: tuple[CheckInfo, ...]) -> bool:
    return any(
        name.upper() in (c.requirement.upper(), *map(str.upper, c.also), *c.clauses)
        for c in catalogue
    )


def _print_list(console: Console, checks: tuple[CheckInfo, ...]) -> None:
    by_area = sorted(checks, key=lambda check: (str(check.profile), check.check_id))
    for area, members in groupby(by_area, key=lambda check: str(check.profile)):
        console.print(Text(area, "bold"))
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
        for _ in range(3):
            table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for check in members:
            table.add_row(
                f"  {check.check_id}",
                Text(str(check.level), "dim"),
                Text(check.requirement, "dim"),
                Text(check.title),
            )
        console.print(table)
    console.print(Text(counted(len(checks), "check"), "dim"))


def _print_explanation(console: Console, check: CheckInfo) -> None:
    console.print(Text(check.check_id, "bold").append(f"  {check.title}", "not bold"))
    grid = Table.grid(padding=(0, 1))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    facts = (
        ("clause", ", ".join(check.clauses)),
        ("demands", f"{check.summary} ({check.requirement}, {check.level})"),
        ("judges too", ", ".join(check.also)),
        ("at stake", " ".join(check.stake.split())),
        ("area", f"{check.profile}, judged by a {_JUDGES[check.kind]}"),
        ("source", str(near(Path(check.source))) if check.source else ""),
    )
    for label, told in facts:
        if told:
            grid.add_row(f"{label:10}", Text(told))
    console.print(Padding(grid, (0, 0, 0, 2), expand=False))
    console.print(Text(f"  run        worker-conformance run {check.check_id}"), soft_wrap=True)
    if check.source is not None:
        _print_source(console, Path(check.source))
    console.print()


def _print_source(console: Console, source: Path) -> None:
    text = source.read_text("utf-8").rstrip()
    console.print()
    if not console.is_terminal:
        # Not wrapped: YAML whose comments are broken into lines cannot be read again.
        console.print(Text(text), soft_wrap=True)
        return
    steps = Syntax(
        text,
        "yaml",
        theme="ansi_dark",
        background_color="default",
        word_wrap=True,
    )
    console.print(steps)


def _as_json(check: CheckInfo) -> dict[str, object]:
    return {
        "checkId": check.check_id,
        "title": check.title,
        "summary": check.summary,
        "requirement": check.requirement,
        "also": list(check.also),
        "clauses": list(check.clauses),
        "level": str(check.level),
        "profile": str(check.profile),
        "kind": str(check.kind),
        "stake": check.stake,
    }
