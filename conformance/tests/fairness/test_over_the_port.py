"""Schedulers of other families, and unfair admission, behind the whole Worker.

By default the short ones; WORKER_CONFORMANCE_THOROUGH=1 plays the lotteries to their end.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from worker_conformance.judge.verdicts import Verdict
from worker_conformance.port.locate import locate
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import scenarios
from worker_conformance.suite.play import Played
from worker_conformance.suite.randomness import draws_lots

THOROUGH = os.environ.get("WORKER_CONFORMANCE_THOROUGH") == "1"
SEED = 1


def spec(name: str) -> str:
    return f"worker_conformance.selftest.families:{name}"


def played(name: str, check: str) -> Played:
    with Bench(locate(spec(name))) as bench:
        return bench.play(scenarios()[check], SEED)


def test_a_round_robin_behind_the_port_is_fair():
    assert played("weighted_round_robin", "SCHED-0002").verdict is Verdict.PASS


@pytest.mark.parametrize("name", ["RefusesOneGroup", "DelaysOneGroup"])
def test_unfair_admission_is_caught_as_unfair_service(name):
    found = played(name, "SCHED-0001")
    assert found.verdict is Verdict.FAIL
    assert found.failure is not None
    assert "ahead of C" in found.failure.observed


def shown(name: str, tmp_path: Path) -> bool:
    with Bench(locate(spec(name))) as bench:
        return bench.lend(1, lambda port, parameters, _: draws_lots(port, parameters, 1, tmp_path))


def test_a_lottery_by_its_seed_shows_its_lots(tmp_path):
    assert shown("Lottery", tmp_path)


@pytest.mark.parametrize("name", ["LotteryWithoutSeed", "NoLottery"])
def test_without_a_seed_or_without_lots_nothing_is_shown(name, tmp_path):
    assert not shown(name, tmp_path)


def test_who_shows_no_lots_is_held_to_the_bound_without_them():
    found = played("NoLottery", "SCHED-0001")
    assert found.verdict is Verdict.PASS
    assert found.measurements[0].bound == 6.0


@pytest.mark.skipif(not THOROUGH, reason="a lottery needs many draws")
@pytest.mark.parametrize(
    ("name", "verdict"), [("Lottery", Verdict.PASS), ("BiasedLottery", Verdict.FAIL)]
)
def test_a_lottery_behind_the_port_is_judged_by_its_shares(name, verdict):
    assert played(name, "SCHED-0001").verdict is verdict
