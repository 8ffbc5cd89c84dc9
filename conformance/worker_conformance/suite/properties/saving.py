"""Saving: a counterexample as a vector that opens with what went wrong.

The file is a whole vector: `replay` plays it, `promote` makes it permanent. Comments at its head
say how it was found. Never judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import evolve, frozen

from worker_conformance.errors import UsageError
from worker_conformance.scenario.dump import to_yaml
from worker_conformance.scenario.model import Scenario
from worker_conformance.suite.properties.catalogue import PropertyInfo
from worker_conformance.suite.properties.finding import Finding

COMMENT_WIDTH = 96


@frozen
class Origin:
    """Which Worker a counterexample was found in, and with which seed."""

    worker: str
    seed: int


def vector_of(info: PropertyInfo, found: Finding) -> Scenario:
    """The counterexample as a vector of the property's area."""
    return evolve(
        found.scenario,
        id=info.check_id,
        title=info.title,
        stake=info.stake,
        requirement=info.requirement,
        level=info.level,
        profile=info.profile,
    )


def text_of(info: PropertyInfo, found: Finding, origin: Origin) -> str:
    """The counterexample's file: how it was found, as comments, and the vector as YAML."""
    head = "".join(f"# {line}\n" for line in _head(found, origin))
    return head + to_yaml(vector_of(info, found))


def save(info: PropertyInfo, found: Finding, origin: Origin, folder: Path) -> Path:
    """Write a counterexample; raise UsageError where the folder cannot be written."""
    path = folder / f"{info.check_id}.yaml"
    text = text_of(info, found, origin)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        cause = f"a counterexample cannot be written: {error.strerror}"
        raise UsageError("report", cause, "choose another place with --report", str(path)) from None
    return path


def _head(found: Finding, origin: Origin) -> Sequence[str]:
    told = (
        f"expected: {found.expected}",
        f"observed: {found.observed}",
        f"found in: {origin.worker}, with seed {origin.seed}",
    )
    return [_one_line(line) for line in told]


def _one_line(text: str) -> str:
    """Comments stay comments, whatever a Worker has put into what is told."""
    plain = "".join(one if one.isprintable() else " " for one in text)
    return plain if len(plain) <= COMMENT_WIDTH else f"{plain[: COMMENT_WIDTH - 1]}…"
