"""The requirements as a reviewer asks for them: what judges which clause, and which nothing does.

Joins the catalogue of requirements with the checks there are. Never judges whether that is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from attrs import frozen
from rich.console import Console
from rich.table import Table
from rich.text import Text

from worker_conformance.cli.options import counted, did_you_mean
from worker_conformance.errors import UsageError
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


@frozen
class Chosen:
    """The duties that a person asks about, and the clauses that hold none, with the reason."""

    duties: tuple[Duty, ...]
    others: Mapping[str, Reason]


def choose_duties(
    checks: Sequence[CheckInfo], patterns: Sequence[str], profiles: Sequence[str]
) -> Chosen:
    """Return what `patterns` name and `profiles` hold; everything without either.

    A pattern is the ID of a requirement, of a clause or of a check, or any of these with `*`, `?`
    and `[…]`. Raises UsageError for one that names nothing, and where nothing is left.
    """
    catalogue, duties = load_duties(checks)
    by_name = [(_names(duty), duty) for duty in duties]
    for pattern in patterns:
        names = {*catalogue.others, *(name for names, _ in by_name for name in names)}
        if not _any_named(names, [pattern]):
            cause = f"no requirement is named by '{pattern}'"
            raise UsageError("no-such-requirement", cause, did_you_mean(pattern, names))
    chosen = Chosen(
        tuple(
            duty
            for names, duty in by_name
            if (not patterns or _any_named(names, patterns))
            and (not profiles or duty.requirement.profile in profiles)
        ),
        {
            clause: reason
            for clause, reason in catalogue.others.items()
            if not profiles and (not patterns or _any_named([clause], patterns))
        },
    )
    if not chosen.duties and not chosen.others:
        raise UsageError("no-such-requirement", "nothing is left to list", "leave out a filter")
    return chosen


def _names(duty: Duty) -> tuple[str, ...]:
    return (duty.requirement.id, *duty.requirement.clauses, *duty.checks)


def _any_named(names: Iterable[str], patterns: Iterable[str]) -> bool:
    wanted = [pattern.upper() for pattern in patterns]
    return any(fnmatchcase(name.upper(), pattern) for name in names for pattern in wanted)


def duties_as_json(chosen: Chosen) -> list[dict[str, object]]:
    """Return the requirements for programs; `unjudged` says why nothing judges one."""
    return [
        {
            "requirement": one.id,
            "clauses": list(one.clauses),
            "level": one.level.value,
            "profile": one.profile.value,
            "summary": " ".join(one.summary.split()),
            "checks": list(duty.checks),
            "unjudged": one.unjudged.value if one.unjudged and not duty.checks else None,
        }
        for duty in chosen.duties
        for one in [duty.requirement]
    ]


def print_duties(console: Console, chosen: Chosen) -> None:
    """Print each requirement with what judges it, then the clauses that hold none."""
    if chosen.duties:
        _print_table(console, chosen.duties)
    for reason, words in REASONS.items():
        clauses = [clause for clause, why in chosen.others.items() if why is reason]
        if clauses:
            console.print(
                Text(f"\nNo requirement, {words}: ", "bold").append_text(_joined(clauses))
            )
    if chosen.duties:
        judged = sum(bool(duty.checks) for duty in chosen.duties)
        told = f"{judged} of {counted(len(chosen.duties), 'requirement')}"
        verb = "is" if judged == 1 else "are"
        console.print(Text(f"\n{told} {verb} judged by a check", "dim"))


def _print_table(console: Console, duties: Sequence[Duty]) -> None:
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
