"""What the tests of the judge share: Workers on a bench without a name that could be imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from worker_conformance.scenario.model import Scenario
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.play import Played

Play = Callable[[Any, Scenario], Played]


@pytest.fixture
def play(bench_of: Callable[[Any], Bench]) -> Play:
    """Plays a scenario with the Workers that a function makes."""

    def played(worker: Any, scenario: Scenario) -> Played:
        with bench_of(worker) as bench:
            return bench.play(scenario, 1)

    return played
