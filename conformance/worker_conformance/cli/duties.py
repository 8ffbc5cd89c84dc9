"""The requirements as a reviewer asks for them: what judges which clause, and which nothing does.

Joins the catalogue of requirements with the checks there are. Never judges whether that is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import frozen
from rich.console import Console
from rich.table import Table
from rich.text import Text

from worker_conformance.resources import vectors_path
from worker_conformance.scenario.requirements import (
    Catalogue,
    Reason,
    Requirement,
    load_catalogue,
)

if TYPE_CHECKING:  # `--help` answers without loading the whole suite
    from worker_conformance.suite.checks import CheckInfo

REASONS: Mapping[Reason, str] = {
    Reason.ANOTHER_ROLE: "binds another role",
    Reason.NOT_OBSERVABLE: "not observable at the Worker Port",
    Reason.LATER_PROFILE: "needs a profile that 0.1 lacks",
    Reason.UNDECIDED: "undecided in the text",
}


@frozen
class Duty:
    """A requirement and the checks that judge it."""

    requirement: Requirement
    checks: tuple[str, ...]

    @property
    def told(self) -> str:
        """Say what judges it, or why nothing does."""
        if self.checks:
            return ", ".join(self.checks)
        if self.requirement.unjudged is not None:
            return f"not judged: {REASONS[self.requirement.unjudged]}"
        return "no check so far"


def load_duties(checks: Sequence[CheckInfo]) -> tuple[Catalogue, tuple[Duty, ...]]:
    """Return the catalogue, and each requirement in its order with its checks."""
    catalogue = load_catalogue(vectors_path() / "requirements.yaml")
    duties = (
        Duty(one, tuple(check.check_id for check in checks if _judges(check, one)))
        for one in catalogue.requirements.values()
    )
    return catalogue, tuple(duties)


def _judges(check: CheckInfo, one: Requirement) -> bool:
    return one.id in (check.requirement, *check.also)


def print_duties(console: Console, checks: Sequence[CheckInfo]) -> None:
    """Print every requirement with what judges it, then the clauses that hold none."""
    catalogue, duties = load_duties(checks)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for heading in ("Requirement", "level", "clauses"):
        table.add_column(heading, no_wrap=heading != "clauses")
    table.add_column("judged by", overflow="fold")
    for duty in duties:
        one = duty.requirement
        table.add_row(
            one.id,
            Text(one.level.value, "dim"),
            Text(" ".join(one.clauses), "dim"),
            Text(duty.told, "" if duty.checks else "yellow"),
        )
    console.print(table)
    for reason, words in REASONS.items():
        clauses = [clause for clause, why in catalogue.others.items() if why is reason]
        if clauses:
            console.print(
                Text(f"\nNo requirement, {words}: ", "bold").append_text(_joined(clauses))
            )
    judged = sum(bool(duty.checks) for duty in duties)
    console.print(Text(f"\n{judged} of {len(duties)} requirements are judged by a check", "dim"))


def print_duty(console: Console, name: str, checks: Sequence[CheckInfo]) -> bool:
    """Print the requirements that `name` (of a requirement or a clause) means; False if none."""
    catalogue, duties = load_duties(checks)
    wanted = name.upper()
    found = [
        duty
        for duty in duties
        if wanted in (duty.requirement.id.upper(), *map(str.upper, duty.requirement.clauses))
    ]
    for duty in found:
        one = duty.requirement
        console.print(Text(f"{one.id}  ", "bold").append(f"{one.level.value}", "dim"))
        clauses = ", ".join(one.clauses) or "outside any clause"
        console.print(Text(f"  {clauses}, section {one.section}", "dim"))
        for told in (one.summary, one.argument, f"Judged by: {duty.told}"):
            if told:
                console.print(Text("  ").append(" ".join(told.split())))
        console.print()
    for clause, reason in catalogue.others.items():
        if clause.upper() == wanted:
            console.print(Text(clause, "bold").append(f"  holds no requirement: {REASONS[reason]}"))
            return True
    return bool(found)


def _joined(names: Sequence[str]) -> Text:
    return Text(", ".join(names), "not bold")
