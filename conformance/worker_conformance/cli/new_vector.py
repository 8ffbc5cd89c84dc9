"""`worker-conformance new-vector`: write the skeleton of a vector, with the next ID of its area.

What is written loads and plays; what it is to show is a person's work, and marked. Never
overwrites anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from worker_conformance.cli.options import (
    color_option,
    console_for,
    folder_of_vectors,
    into_option,
    near,
)
from worker_conformance.errors import UsageError

if TYPE_CHECKING:  # `--help` answers without loading the whole suite
    from worker_conformance.scenario.requirements import Requirement

SKELETON = """\
# {summary}
# ({clauses}; every act, action and condition is described in vectors/README.md)
id: {id}
title: TODO what the Worker does, as a sentence
stake: >
  TODO what goes wrong where this is not kept, in two or three lines.
requirement: {requirement}
level: {level}
# The vector that shows the other side: the same scene, where the deed is right (or wrong).
# twin: {prefix}-0000
groups: {{A: {{}}}}
# What stands in each Group's history before the Worker starts.
log:
  A: [created, member, {{authorize: a1}}, {{offer: a1}}]
delivery: auto
steps:
  - start
  # A precondition: where it does not come true the vector is inconclusive, and nobody is blamed.
  - given: {{accept: a1}}
  - advance: 2m
  # TODO the deed that the requirement demands, or `never:` what it forbids.
  - expect: {{submit: a1}}
"""


@click.command("new-vector", short_help="Write the skeleton of a vector, with the next ID.")
@into_option
@color_option
@click.argument("requirement")
def new_vector(
    into: Path | None,
    no_color: bool | None,  # noqa: FBT001 - click hands flags over by name
    requirement: str,
) -> int:
    """Write the skeleton of a vector that judges REQUIREMENT (such as WRK-029.c)."""
    from worker_conformance.suite.promotion import next_id, write_new

    known = _requirement(requirement)
    folder = folder_of_vectors(into)
    check_id = next_id(known.profile, folder)
    text = _skeleton(known, check_id)
    path = write_new(check_id, known.profile, text, folder)
    console = console_for(no_color=no_color)
    console.print(Text(f"{check_id}  {near(path)}", "bold green"), soft_wrap=True)
    console.print(
        f"Still to do: what is marked TODO, its twin, and a mutant that it fails. "
        f"`worker-conformance replay {near(path)}` plays it, `worker-conformance lint` reads it.",
        soft_wrap=True,
        markup=False,
    )
    return 0


def _requirement(name: str) -> Requirement:
    from worker_conformance.scenario.requirements import unknown_requirement
    from worker_conformance.suite.checks import requirements

    known = requirements()
    found = known.get(name)
    if found is None:
        raise UsageError("no-such-requirement", *unknown_requirement(name, known))
    return found


def _skeleton(requirement: Requirement, check_id: str) -> str:
    return SKELETON.format(
        id=check_id,
        prefix=check_id.partition("-")[0],
        requirement=requirement.id,
        level=requirement.level.value,
        summary=" ".join(requirement.summary.split()),
        clauses=", ".join(requirement.clauses),
    )
