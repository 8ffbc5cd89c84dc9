"""The pytest side of judging: parametrizes the checks, owns the bench, attaches the results.

Loaded in every process that judges; with several jobs each has a Worker of its own. What the
process found out travels to the collecting process as a property of the test's report. What plays
generated worlds is brought in by the first check that asks for it: Hypothesis takes long to load,
and a quick run has no use for it.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pytest
from attrs import asdict, evolve, frozen

from worker_conformance.errors import AdapterError
from worker_conformance.judge.verdicts import CheckKind, CheckResult, Verdict
from worker_conformance.port.locate import locate
from worker_conformance.report.story import story
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import CheckInfo, info_of, scenario_of
from worker_conformance.suite.comparisons.catalogue import BY_ID as COMPARISONS
from worker_conformance.suite.comparisons.judging import judge as judge_comparison
from worker_conformance.suite.parcel import Parcel
from worker_conformance.suite.play import Played
from worker_conformance.suite.results import Rerun, not_claimed, result_of, result_of_property

if TYPE_CHECKING:
    from worker_conformance.suite.properties.theatre import Theatre

PARCEL = "worker-conformance"
OPTION = "--worker-conformance-orders"

GARBAGE_OBJECTS = 20_000
"""New objects between two looks for garbage; Python's own 700 cost some hundredths of a run."""

ORDERS = pytest.StashKey["Orders"]()
"""Where `pytest_side` puts the orders of a pytest run that a user started."""

EXCUSING = pytest.StashKey[Callable[[CheckResult], CheckResult]]()
"""Where it puts what marks known failures."""

Judge = Callable[[str], None]


@frozen
class Orders:
    """What every judging process has to know.

    `worlds` is how many each property makes, `failures` the folder for counterexamples (empty: they
    are not saved).
    """

    worker: str
    seed: int
    timeout_seconds: float
    checks: tuple[str, ...]
    worlds: int = 0
    failures: str = ""

    def to_text(self) -> str:
        """As an option's value."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Orders:
        """Read an option's value."""
        members = json.loads(text)
        return cls(**{**members, "checks": tuple(members["checks"])})


def pytest_addoption(parser: pytest.Parser) -> None:
    """The one option by which a run hands over its orders; xdist passes it on."""
    parser.addoption(OPTION, default="", help="orders of a run (internal)")


def _orders(config: pytest.Config) -> Orders:
    if ORDERS in config.stash:
        return config.stash[ORDERS]
    return Orders.from_text(str(config.getoption(OPTION)))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each check of the orders, under its ID."""
    config = metafunc.config
    # A user's run has parameters with marks, and they come from elsewhere.
    if "check_id" in metafunc.fixturenames and ORDERS not in config.stash:
        metafunc.parametrize("check_id", _orders(config).checks)


@pytest.fixture(scope="session")
def bench(pytestconfig: pytest.Config) -> Iterator[Bench]:
    """This process's Worker; gone when the session ends, however it ends."""
    orders = _orders(pytestconfig)
    with Bench(locate(orders.worker, orders.timeout_seconds)) as opened, _collecting_seldom():
        yield opened
    if ORDERS not in pytestconfig.stash and hasattr(pytestconfig, "workerinput"):
        gc.freeze()  # pytest looks for garbage once more, and this process is about to end


@contextmanager
def _collecting_seldom() -> Iterator[None]:
    """Look for garbage less often: Traces are large, live long, and hold hardly any cycles."""
    before = gc.get_threshold()
    gc.set_threshold(GARBAGE_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@pytest.fixture(scope="session")
def theatre(bench: Bench, pytestconfig: pytest.Config) -> Callable[[], Theatre]:
    """Where this process plays generated worlds; properties share those that they compare."""

    @cache
    def opened() -> Theatre:
        from worker_conformance.suite.properties.theatre import Theatre

        return Theatre(bench, _orders(pytestconfig).seed)

    return opened


@pytest.fixture
def judge(bench: Bench, theatre: Callable[[], Theatre], request: pytest.FixtureRequest) -> Judge:
    """Play one check and attach what came of it to the test's report."""
    orders = _orders(request.config)
    rerun = Rerun(orders.worker, orders.seed)
    excusing = request.config.stash.get(EXCUSING, None)

    def played_of(check_id: str) -> Played:
        if check_id in COMPARISONS:
            return judge_comparison(check_id, bench, orders.seed)
        return bench.play(scenario_of(check_id), orders.seed)

    def judge_scenario(info: CheckInfo) -> Parcel:
        began = perf_counter()
        played = played_of(info.check_id)
        result = result_of(info, played, rerun, perf_counter() - began)
        return Parcel(result, played.sightings)

    def judge_property(info: CheckInfo) -> Parcel:
        from worker_conformance.suite.properties.check import run_property
        from worker_conformance.suite.properties.saving import Origin

        began = perf_counter()
        folder = Path(orders.failures) if orders.failures else None
        origin = Origin(orders.worker, orders.seed)
        run = run_property(info.check_id, theatre(), orders.worlds, origin, folder)
        result = result_of_property(info, run, rerun, perf_counter() - began)
        return Parcel(result, run.sightings, run.coverage)

    def judge_claimed(info: CheckInfo) -> Parcel:
        generated = info.kind is CheckKind.PROPERTY and info.check_id not in COMPARISONS
        return judge_property(info) if generated else judge_scenario(info)

    def judge_one(check_id: str) -> None:
        info = info_of(check_id)
        if ORDERS in request.config.stash and _is_unclaimed(info, bench):
            parcel = Parcel(not_claimed(info, rerun), ())
        else:
            parcel = judge_claimed(info)
        if excusing is not None:
            parcel = evolve(parcel, result=excusing(parcel.result))
        request.node.user_properties.append((PARCEL, parcel.wrap()))
        _end(parcel.result)

    return judge_one


def _is_unclaimed(info: CheckInfo, bench: Bench) -> bool:
    """Whether the Worker says that it does not claim the check's area."""
    try:
        return not bench.declaration().claims(info.profile)
    except AdapterError:
        return False  # playing the check tells what is wrong with the adapter


def _end(result: CheckResult) -> None:
    """End a test as pytest names such ends. Advice passes: it has no effect on the exit code."""
    if result.verdict.breaks_the_run:
        pytest.fail(story(result), pytrace=False)
    if result.verdict is Verdict.EXPECTED_FAIL:
        pytest.xfail(result.reason)
    if result.verdict in (Verdict.ABSTAINED, Verdict.NOT_CLAIMED):
        pytest.skip(f"{result.verdict}: {result.reason}")
