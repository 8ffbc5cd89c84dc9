"""Whether a claim holds: what a repeated run says otherwise, point by point.

Compares two documents and nothing else; running the suite again is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from attrs import frozen

from worker_conformance.baseline.entries import Baseline, Entry
from worker_conformance.claim.document import Knowledge
from worker_conformance.documents.json_types import (
    JsonObject,
    JsonValue,
    find,
    list_at,
    object_at,
    text_at,
)
from worker_conformance.judge.excuses import Excuse
from worker_conformance.judge.verdicts import Verdict
from worker_conformance.report.telling import figure, visible

ABSENT = "nothing"


@frozen
class Difference:
    """One point in which the repeated run says something else. Both sides are text."""

    what: str
    claimed: str
    found: str
    counts: bool = True

    def line(self) -> str:
        """As one line for a person."""
        return visible(f"{self.what}: claimed {self.claimed}, found {self.found}")


def other_suite(claim: JsonObject, known: Knowledge) -> tuple[Difference, ...]:
    """In what this suite is not the one that the claim names; empty if it is the same."""
    pairs = (
        ("suite", text_at(claim, "suite", "name"), known.suite.name),
        ("suite version", text_at(claim, "suite", "version"), known.suite.version),
        (
            "requirement set",
            text_at(claim, "suite", "requirementDigest"),
            known.requirement_digest,
        ),
        ("vector set", text_at(claim, "suite", "vectorDigest"), known.vector_digest),
    )
    return tuple(Difference(*pair) for pair in pairs if pair[1] != pair[2])


def baseline_of(claim: JsonObject) -> Baseline | None:
    """The known failures that the claim lists, to hold the repeated run against."""
    entries = {}
    for each in list_at(claim, "deviations", "knownFailures"):
        verdict = text_at(each, "verdict")
        expires, issue = (cast("str | None", find(each, one)) for one in ("expires", "issue"))
        excuse = Excuse(text_at(each, "reason"), expires, issue, verdict)
        name = text_at(each, "checkId")
        entries[name] = Entry(name, Verdict(verdict), text_at(each, "told") or "*", excuse)
    digest = find(claim, "run", "baselineDigest")
    return Baseline("the claim", str(digest), entries) if entries else None


def differences(claimed: JsonObject, found: JsonObject, *, moved: bool) -> tuple[Difference, ...]:
    """All points in which `found`, the claim of the repeated run, is not `claimed`.

    `moved`: the Worker was reached by another locator than the claim's, so that neither the locator
    nor the digest over its files can be the same. Figures count where the Worker declares itself
    deterministic; else they are told only.
    """
    steady = find(claimed, "parameters", "declared", "deterministic") is True
    return (
        *_identity(claimed, found, moved=moved),
        *_listed("claims the areas", claimed, found, "claimedProfiles"),
        *_mappings("parameter", claimed, found, "parameters", "declared"),
        *_mappings("held to", claimed, found, "parameters", "effective"),
        *_mappings("check", claimed, found, "checks"),
        *_mappings("requirement", claimed, found, "requirements"),
        *_figures(claimed, found, counts=steady),
        *_listed("passed areas", claimed, found, "areas"),
        *_texts("words", claimed, found, "words"),
    )


def _identity(claimed: JsonObject, found: JsonObject, *, moved: bool) -> Iterator[Difference]:
    for member in ("name", "version", "language"):
        yield from _texts(f"Worker {member}", claimed, found, "worker", member)
    for member in () if moved else ("adapter", "adapterDigest", "transport"):
        yield from _texts(f"Worker {member}", claimed, found, "worker", member)


def _texts(what: str, claimed: JsonObject, found: JsonObject, *path: str) -> Iterator[Difference]:
    before, now = find(claimed, *path), find(found, *path)
    if before != now:
        yield Difference(what, _told(before), _told(now))


def _listed(what: str, claimed: JsonObject, found: JsonObject, member: str) -> Iterator[Difference]:
    before, now = (", ".join(map(str, list_at(one, member))) for one in (claimed, found))
    if before != now:
        yield Difference(what, before or ABSENT, now or ABSENT)


def _mappings(
    what: str, claimed: JsonObject, found: JsonObject, *path: str
) -> Iterator[Difference]:
    before, now = object_at(claimed, *path), object_at(found, *path)
    for name in sorted({*before, *now}):
        if before.get(name) != now.get(name):
            yield Difference(f"{what} {name}", _told(before.get(name)), _told(now.get(name)))


def _figures(claimed: JsonObject, found: JsonObject, *, counts: bool) -> Iterator[Difference]:
    before, now = _by_name(claimed), _by_name(found)
    for name in sorted({*before, *now}):
        if before.get(name) != now.get(name):
            was, is_now = _measured(before.get(name)), _measured(now.get(name))
            yield Difference(f"figure {' '.join(name)}", was, is_now, counts)


def _by_name(claim: JsonObject) -> Mapping[tuple[str, str], JsonValue]:
    return {
        (text_at(each, "checkId"), text_at(each, "name")): each
        for each in list_at(claim, "figures")
    }


def _measured(each: JsonValue) -> str:
    if each is None:
        return ABSENT
    value, bound = (cast("float | None", find(each, name)) for name in ("value", "bound"))
    told = f"{figure(value or 0)} {find(each, 'unit')}".strip()
    return told if bound is None else f"{told} (bound {figure(bound)})"


def _told(value: JsonValue) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return ABSENT if value is None else str(value)
