"""The kill matrix as files: JSON for programs, one self-contained HTML page for people.

Never plays anything and never judges; what is amiss is asked of the matrix.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from worker_conformance import __version__
from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.verdicts import Verdict
from worker_conformance.port.contract import SUITE_NAME
from worker_conformance.report.pages import own_file, policy_hash, templates
from worker_conformance.selftest.matrix import Kind, Matrix, Row
from worker_conformance.selftest.mutants import MUTANTS, NOT_COVERED
from worker_conformance.selftest.page import LETTERS, grid_line
from worker_conformance.selftest.variants import VARIANTS
from worker_conformance.suite.checks import info_of, requirement_digest, vector_digest

FORMAT = 1
"""Version of the JSON form: raised when a member changes its meaning or goes."""

DEAREST = 10
"""Checks whose time is worth a line."""

TEMPLATES = Path(__file__).parent


def to_json(matrix: Matrix) -> bytes:
    """The matrix and what is amiss with it, as JSON.

    `checks` are in the order of the catalogue, with the mutants that each notices and the seconds
    that it took in all; `workers` have a verdict for each check that was played against them.
    """
    document: JsonObject = {
        "format": FORMAT,
        "suite": {"name": SUITE_NAME, "version": __version__},
        "seed": matrix.seed,
        "requirementSet": requirement_digest(),
        "vectorSet": vector_digest(),
        "amiss": {name: list(found) for name, found in amiss(matrix).items()},
        "noticedByOneCheckOnly": list(matrix.killed_once()),
        "checks": [
            {
                "id": check,
                "level": info_of(check).level.value,
                "requirement": info_of(check).requirement,
                "notices": list(matrix.killers_of(check)),
                "seconds": round(seconds_of(matrix).get(check, 0.0), 3),
            }
            for check in matrix.checks
        ],
        "workers": [_worker(row) for row in matrix.rows],
    }
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def to_html(matrix: Matrix, found: Mapping[str, tuple[str, ...]]) -> bytes:
    """The matrix as a page that opens offline; `found` is what is said to be amiss with it."""
    style = own_file("report.css")
    width = max((len(row.name) for row in matrix.rows), default=0) + 1
    page = (
        templates(TEMPLATES)
        .get_template("matrix.html.j2")
        .render(
            matrix=matrix,
            suite=f"{SUITE_NAME} {__version__}",
            vector_set=vector_digest(),
            amiss=found,
            dearest=dearest(matrix),
            info_of=info_of,
            mutants=MUTANTS,
            variants=VARIANTS,
            kinds=Kind,
            verdicts=Verdict,
            grid="\n".join(grid_line(matrix, row, width) for row in matrix.rows),
            letters=LETTERS,
            style=style,
            style_hash=policy_hash(style),
        )
    )
    return page.encode()


def amiss(matrix: Matrix) -> Mapping[str, tuple[str, ...]]:
    """What breaks a self-test, by kind: names of Workers, or of checks that notice no mutant.

    A check is not amiss whose faulty Workers are known to stand elsewhere (`NOT_COVERED`).
    """
    return {
        "survivingMutants": matrix.survivors(),
        "failingVariants": matrix.failed_variants(),
        "passingNullWorkers": matrix.passing_nulls(),
        "idleChecks": tuple(one for one in matrix.idle_checks() if one not in NOT_COVERED),
    }


def seconds_of(matrix: Matrix) -> Mapping[str, float]:
    """How long each check took against all Workers together, in real seconds."""
    total: dict[str, float] = {}
    for row in matrix.rows:
        for check, seconds in row.seconds.items():
            total[check] = total.get(check, 0.0) + seconds
    return total


def dearest(matrix: Matrix) -> tuple[tuple[str, int, float], ...]:
    """The checks that take longest for one Worker: ID, how often played, mean seconds."""
    total = seconds_of(matrix)
    played = {check: sum(check in row.seconds for row in matrix.rows) for check in total}
    found = [(check, played[check], total[check] / played[check]) for check in total]
    return tuple(sorted(found, key=lambda one: -one[2])[:DEAREST])


def _worker(row: Row) -> JsonObject:
    told: JsonObject = {
        "name": row.name,
        "kind": row.kind.value,
        "verdicts": {check: verdict.value for check, verdict in row.verdicts.items()},
        "seconds": {check: round(seconds, 4) for check, seconds in row.seconds.items()},
    }
    if row.name in MUTANTS:
        one = MUTANTS[row.name]
        told |= {"breaks": one.requirement, "expectedBy": list(one.killed_by), "field": one.field}
    return told
