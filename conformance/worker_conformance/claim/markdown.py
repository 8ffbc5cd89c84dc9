"""A claim for people: Markdown that can stand in a README or a release note.

Says what the document says, in its order. Everything that came out of a Worker is harmless text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from worker_conformance.claim.document import DISCLAIMER
from worker_conformance.documents.json_types import (
    JsonObject,
    JsonValue,
    find,
    list_at,
    object_at,
    text_at,
)
from worker_conformance.report.telling import figure
from worker_conformance.report.words import code, escaped


def to_text(claim: JsonObject) -> str:
    """Spell a claim as Markdown."""
    return "\n".join(_lines(claim)) + "\n"


def _lines(claim: JsonObject) -> Iterator[str]:
    yield from ("# Claim", "", f"> {escaped(text_at(claim, 'words'))}", "", DISCLAIMER, "")
    yield from _table(("what", "which"), _facts(claim))
    yield from _deviations(claim)
    yield from _parameters(claim)
    yield from _section(
        "Requirements",
        ("requirement", "verdict"),
        [(code(name), str(told)) for name, told in object_at(claim, "requirements").items()],
    )
    yield "`worker-conformance verify` repeats the run behind this claim, and says what differs."


def _facts(claim: JsonObject) -> list[tuple[str, str]]:
    worker, run = object_at(claim, "worker"), object_at(claim, "run")
    facts = [
        ("Worker", escaped(f"{worker['name']} {worker['version']} ({worker['language']})")),
        ("areas", ", ".join(map(str, list_at(claim, "areas")))),
        ("suite", f"{find(claim, 'suite', 'name')} {find(claim, 'suite', 'version')}"),
        ("requirement set", code(text_at(claim, "suite", "requirementDigest"))),
        ("vectors", code(text_at(claim, "suite", "vectorDigest"))),
        ("adapter", code(str(worker["adapter"]))),
        ("adapter digest", _digest(worker["adapterDigest"])),
        ("seed", str(run["seed"])),
        ("judged", ", ".join(map(str, list_at(run, "profiles"))) or "everything that is claimed"),
    ]
    if run["baselineDigest"]:
        facts.append(("baseline", _digest(run["baselineDigest"])))
    return facts


def _digest(digest: JsonValue) -> str:
    return code(str(digest)) if digest else "none: the locator names no file"


def _deviations(claim: JsonObject) -> Iterator[str]:
    yield from ("## Deviations", "")
    notes = [escaped(str(each)) for each in list_at(claim, "qualifications")]
    not_passed = list_at(claim, "deviations", "notPassed")
    notes += [
        f"Judged and not passed: {find(each, 'area')} "
        f"({', '.join(map(str, list_at(each, 'checks')))})."
        for each in not_passed
    ]
    yield from (f"* {note}" for note in notes) if notes else ("None.",)
    yield ""
    yield from _section(
        "Known failures",
        ("check", "requirement", "reason", "until"),
        [
            (*_named(each), escaped(str(find(each, "reason"))), _limit(each))
            for each in list_at(claim, "deviations", "knownFailures")
        ],
    )
    for title, member in (("Advice not followed", "advice"), ("Abstentions", "abstained")):
        rows = list_at(claim, "deviations", member)
        shown = [(*_named(each), escaped(str(find(each, "told")))) for each in rows]
        yield from _section(title, ("check", "requirement", "told"), shown)


def _named(each: JsonValue) -> tuple[str, str]:
    return code(text_at(each, "checkId")), code(text_at(each, "requirement"))


def _limit(each: JsonValue) -> str:
    told = [find(each, "expires"), find(each, "issue")]
    return ", ".join(escaped(str(one)) for one in told if one)


def _parameters(claim: JsonObject) -> Iterator[str]:
    declared = object_at(claim, "parameters", "declared")
    effective = object_at(claim, "parameters", "effective")
    rows = [
        (code(name), _value(declared.get(name)), _value(effective.get(name)))
        for name in sorted({*declared, *effective})
    ]
    yield from _section("Parameters", ("parameter", "declared", "held to"), rows)
    figures = [each for each in list_at(claim, "figures") if find(each, "bound") is not None]
    shown = [
        (
            code(text_at(each, "checkId")),
            escaped(f"{find(each, 'name')} ({find(each, 'unit')})"),
            figure(cast(float, find(each, "value"))),
            figure(cast(float, find(each, "bound"))),
        )
        for each in figures
    ]
    yield from _section(
        "Figures against their bounds", ("check", "figure", "value", "bound"), shown
    )


def _value(value: JsonValue) -> str:
    if isinstance(value, list):
        return escaped(", ".join(map(str, value)))
    return "" if value is None else escaped(str(value))


def _section(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield from (f"## {title}", "")
        yield from _table(head, rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
