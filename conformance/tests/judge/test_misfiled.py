"""What one Group's log says of another is no fact for the judge either, whichever way it comes."""

from __future__ import annotations

import pytest

from worker_conformance.port.locate import locate
from worker_conformance.scenario.loader import load_text
from worker_conformance.scenario.model import MISFILED
from worker_conformance.suite.bench import Bench

SCENE = """
id: ISOL-9000
title: Another Group is told of, and everything is replayed
stake: >
  A judge that believes what a lawful Worker does not would blame it for going on.
requirement: WRK-008.a
level: MUST
profile: isolation
twin: ISOL-9001
groups: {{A: {{}}, B: {{}}}}
work: {{b1: {{completes: false}}}}
log:
  A: [created, member]
  B: [created, member, {{authorize: b1}}, {{offer: b1}}]
delivery: auto
steps:
  - start
  - given: {{running: [b1]}}
  - publish: {{A: [{{misfiled: {{what: {what}}}}}]}}
  - advance: 1m
{between}
  - crash
  - wipe
  - start
  - advance: 10m
"""
REPLAYED, FROM_A_SNAPSHOT = "  - publish: {A: [message]}", "  - truncate: {A: 3}"


@pytest.mark.parametrize("between", [REPLAYED, FROM_A_SNAPSHOT], ids=["replayed", "snapshot"])
@pytest.mark.parametrize("what", MISFILED)
def test_a_lawful_worker_is_blamed_for_nothing(what: str, between: str) -> None:
    scenario = load_text(SCENE.format(what=what, between=between), "misfiled")
    with Bench(locate("reference_worker:factory")) as bench:
        played = bench.play(scenario, 1)
    assert [one.failure for one in played.sightings if one.failure is not None] == []
