"""No lawful habit is taken for a fault in a world that nobody wrote by hand.

One world for each property; WORKER_CONFORMANCE_THOROUGH=1 makes it as many as a default run plays.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import pytest

from worker_conformance.judge.verdicts import Verdict
from worker_conformance.port.declaration import Declaration
from worker_conformance.port.locate import locate
from worker_conformance.scenario.model import Level
from worker_conformance.selftest.variants import VARIANTS
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import info_of
from worker_conformance.suite.engine import WORLDS
from worker_conformance.suite.play import Sighting
from worker_conformance.suite.properties.catalogue import PROPERTIES
from worker_conformance.suite.properties.judging import judge, judge_world
from worker_conformance.suite.properties.theatre import Theatre

THOROUGH = os.environ.get("WORKER_CONFORMANCE_THOROUGH") == "1"
SEED = 11


def breaches(sightings: Iterable[Sighting], declared: Declaration) -> Iterator[tuple[str, ...]]:
    """What broke a rule that has to be kept; advice counts for nothing here."""
    for seen in sightings:
        info, failure = info_of(seen.check_id), seen.failure
        if failure is not None and info.level is Level.MUST and declared.claims(info.profile):
            yield seen.check_id, failure.expected, failure.observed


@pytest.mark.long
@pytest.mark.parametrize("name", VARIANTS)
def test_a_lawful_habit_fails_in_no_generated_world(name: str) -> None:
    amiss: list[tuple[str, ...]] = []
    with Bench(locate(VARIANTS[name].factory)) as bench:
        theatre, declared = Theatre(bench, SEED), bench.declaration()
        for info in PROPERTIES:
            if not declared.claims(info.profile):
                continue
            judged = judge(info, theatre, WORLDS) if THOROUGH else judge_world(info, theatre)
            assert judged.verdict is not Verdict.INCONCLUSIVE or not THOROUGH, info.check_id
            if judged.found is not None:
                amiss.append((info.check_id, judged.found.expected, judged.found.observed))
            amiss += breaches(judged.sightings, declared)
    assert amiss == []
