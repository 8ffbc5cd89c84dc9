"""Every leaky Worker is noticed by the right check; discreet ones by none."""

from collections.abc import Iterable

import pytest

from worker_conformance.judge.verdicts import Verdict
from worker_conformance.port.locate import locate
from worker_conformance.scenario.model import Level
from worker_conformance.selftest.discreet import DISCREET, Discreet
from worker_conformance.selftest.leaky import LEAKY
from worker_conformance.selftest.mutants import Mutant
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import info_of, requirements, scenarios
from worker_conformance.suite.comparisons import sweep
from worker_conformance.suite.comparisons.catalogue import BY_ID
from worker_conformance.suite.comparisons.judging import judge
from worker_conformance.suite.comparisons.stage import Stage
from worker_conformance.suite.comparisons.sweep import Sweep
from worker_conformance.suite.results import Rerun, Tallies

SEED = 7

MONITORS = tuple(f"MON-{number:04}" for number in (15, 16, 17, 18, *range(30, 38)))
SWEEPS = {
    "PRIV-0006": sweep.judge_positions,
    "PRIV-0007": sweep.judge_inference,
    "PRIV-0008": sweep.judge_presence,
}
SHORT_SWEEP = (0, 1, 2, 3, 4, 5, 6)
"""As many backlogs as a number has to follow, and one more."""

SCENES = ("DISC-0003", "DISC-0011", "DISC-0012", "ISOL-0003", "ISOL-0010", "ISOL-0022")


def verdicts(
    factory: str, played: Iterable[str], monitors: Iterable[str], worlds: Iterable[str]
) -> dict[str, Verdict]:
    """What checks come to: monitors over some vectors, and checks over several worlds."""
    tallies, found = Tallies(), {}
    with Bench(locate(factory)) as bench:
        parameters = bench.declaration().parameters
        for vector in played:
            tallies.add(vector, bench.play(scenarios()[vector], SEED).sightings)
        for check in worlds:
            if check in SWEEPS:
                found[check] = SWEEPS[check](Sweep(Stage(bench, SEED), SHORT_SWEEP)).verdict
                continue
            done = judge(check, bench, SEED)
            tallies.add(check, done.sightings)
            found[check] = done.verdict
    for check in monitors:
        result = tallies.result_of(info_of(check), Rerun(factory, SEED), parameters)
        found[check] = result.verdict
    return found


@pytest.mark.parametrize("leaky", LEAKY, ids=lambda one: one.name)
def test_a_leak_is_noticed_by_the_right_check(leaky: Mutant) -> None:
    worlds = [check for check in leaky.killed_by if check in BY_ID]
    monitors = [check for check in leaky.killed_by if check not in BY_ID]
    found = verdicts(leaky.factory, leaky.seen_in, monitors, worlds)
    for check in leaky.killed_by:
        broken = Verdict.FAIL if info_of(check).level is Level.MUST else Verdict.ADVICE
        assert found[check] is broken


def test_there_are_leaks_of_every_kind() -> None:
    assert len(LEAKY) >= 20
    assert {check for one in LEAKY for check in one.killed_by} >= {
        "MON-0015", "MON-0016", "MON-0017", "MON-0030", "MON-0031", "MON-0032", "MON-0033",
        "PRIV-0001", "PRIV-0005", "PRIV-0006", "PRIV-0007", "PRIV-0008", "PRIV-0009",
    }  # fmt: skip


@pytest.mark.parametrize("leaky", LEAKY, ids=lambda one: one.name)
def test_a_leak_names_what_exists(leaky: Mutant) -> None:
    assert leaky.requirement in requirements()
    assert set(leaky.seen_in) <= set(scenarios())
    assert all(info_of(check).requirement in requirements() for check in leaky.killed_by)
    assert leaky.fault
    assert leaky.field


@pytest.mark.parametrize("discreet", DISCREET, ids=lambda one: one.factory.rpartition(":")[2])
def test_a_lawful_worker_breaks_nothing(discreet: Discreet) -> None:
    worlds = ("PRIV-0001", "PRIV-0002", "PRIV-0005")
    found = verdicts(discreet.factory, SCENES, MONITORS, worlds)
    assert Verdict.FAIL not in found.values(), found
    assert Verdict.ADVICE not in found.values(), found
    assert all(found[check] is Verdict.PASS for check in worlds)


@pytest.mark.parametrize("check", sorted(BY_ID))
def test_the_reference_worker_passes_every_check_over_several_worlds(check: str) -> None:
    assert verdicts("reference_worker:factory", (), (), (check,)) == {check: Verdict.PASS}


def test_the_reference_worker_passes_the_whole_sweep() -> None:
    with Bench(locate("reference_worker:factory")) as bench:
        swept = Sweep(Stage(bench, SEED))
        assert {judged(swept).verdict for judged in SWEEPS.values()} == {Verdict.PASS}
        assert swept.witness == len(sweep.BACKLOGS)


@pytest.mark.parametrize("check", sorted(BY_ID))
def test_a_silent_worker_passes_none_of_them(check: str) -> None:
    silent = "worker_conformance.selftest.null_workers:silent"
    assert verdicts(silent, (), (), (check,)) == {check: Verdict.INCONCLUSIVE}
