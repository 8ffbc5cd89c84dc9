"""No seed brings a false alarm: everything that a default run generates, over many seeds.

WORKER_CONFORMANCE_THOROUGH=1 plays SEEDS seeds, which makes over 10,000 worlds and takes an hour of
one core; every monitor of privacy watches each of them.
"""

from __future__ import annotations

import os

import pytest

from worker_conformance.port.locate import locate
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.engine import WORLDS
from worker_conformance.suite.properties.catalogue import PROPERTIES
from worker_conformance.suite.properties.judging import judge
from worker_conformance.suite.properties.theatre import Theatre

THOROUGH = os.environ.get("WORKER_CONFORMANCE_THOROUGH") == "1"
SEEDS = 40
FIRST = 17


@pytest.mark.long
@pytest.mark.skipif(not THOROUGH, reason="takes an hour: WORKER_CONFORMANCE_THOROUGH is not 1")
@pytest.mark.parametrize("seed", range(FIRST, FIRST + SEEDS))
def test_a_lawful_worker_meets_no_failure(seed: int) -> None:
    amiss = []
    with Bench(locate("reference_worker:factory")) as bench:
        theatre = Theatre(bench, seed)
        for info in PROPERTIES:
            judged = judge(info, theatre, WORLDS)
            if judged.found is not None:
                amiss.append((info.check_id, judged.found.expected, judged.found.observed))
            amiss += [
                (one.check_id, one.failure.expected, one.failure.observed)
                for one in judged.sightings
                if one.failure is not None
            ]
    assert amiss == []
