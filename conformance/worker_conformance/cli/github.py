"""A run inside GitHub Actions: when its form is used, and where its parts go.

Prints and appends what `report.github` says. Reads two variables of the environment, and nothing
else of it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click

from worker_conformance.errors import UsageError
from worker_conformance.judge.verdicts import RunResult
from worker_conformance.report import github

ACTIONS, SUMMARY = "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"

Command = TypeVar("Command", bound=Callable[..., object])


def format_option(command: Command) -> Command:
    """Add `--format`."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(("auto", "terminal", "github")),
        default="auto",
        show_default=True,
        help="github adds annotations and a job summary; auto does where GITHUB_ACTIONS is true.",
    )(command)


def wanted(form: str) -> bool:
    """Whether the run is to speak to GitHub Actions too."""
    return form == "github" or (form == "auto" and os.environ.get(ACTIONS) == "true")


@contextmanager
def guarded(*, active: bool) -> Iterator[None]:
    """While this holds, nothing that is printed is taken for a workflow command."""
    if not active:
        yield
        return
    before, after = github.stopped(secrets.token_hex(16))  # a Worker must not be able to know it
    click.echo(before)
    try:
        yield
    finally:
        click.echo(after)


def speak(result: RunResult) -> None:
    """Print the annotations, and append the summary where the environment asks for one."""
    for line in github.annotation_lines(result):
        click.echo(line)
    place = os.environ.get(SUMMARY)
    if not place:
        return
    try:
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(github.summary(result))
    except OSError as error:
        cause = f"the job summary cannot be written: {error.strerror or error}"
        raise UsageError("summary", cause, f"look at {SUMMARY}", place) from None
