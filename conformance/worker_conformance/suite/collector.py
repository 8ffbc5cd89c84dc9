"""What a run has heard so far: the results of its checks, and what its monitors saw.

Hears every report of pytest as a plugin of it, and unpacks the parcels that ride on them. Never
plays a check and never prints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import pytest
from attrs import define, field

from worker_conformance.judge.verdicts import CheckResult, Verdict
from worker_conformance.port.declaration import Parameters
from worker_conformance.suite import checks
from worker_conformance.suite.checks import CheckInfo
from worker_conformance.suite.parcel import Parcel
from worker_conformance.suite.plugin import PARCEL
from worker_conformance.suite.results import Rerun, Tallies, not_claimed


class ProgressListener(Protocol):
    """Who wants to hear how a run goes."""

    def planned(self, total: int) -> None:
        """So many checks will be played."""

    def started(self, check_id: str, title: str) -> None:
        """A check begins."""

    def finished(self, result: CheckResult) -> None:
        """A check has come to its result."""


class Unheard:
    """Nobody listens."""

    def planned(self, total: int) -> None:
        """Say nothing."""

    def started(self, check_id: str, title: str) -> None:
        """Say nothing."""

    def finished(self, result: CheckResult) -> None:
        """Say nothing."""


@define(eq=False)
class Collector:
    """A pytest plugin that hears every report and keeps what came of the checks."""

    listener: ProgressListener
    rerun: Rerun
    results: dict[str, CheckResult] = field(factory=dict)
    trouble: str = ""
    coverages: list[Mapping[str, int]] = field(factory=list)
    _tallies: Tallies = field(factory=Tallies)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A check begins."""
        check_id = nodeid.partition("[")[2].rstrip("]")
        self.listener.started(check_id, checks.info_of(check_id).title)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A check is over; its parcel rides on the report."""
        for name, value in report.user_properties:
            if name == PARCEL and report.when == "call":
                self.take(Parcel.unwrap(str(value)))
                return
        if report.failed:
            self.trouble = self.trouble or str(report.longrepr)[-2_000:]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Collecting our own folder does not fail, unless something of ours is broken."""
        if report.failed:
            self.trouble = self.trouble or str(report.longrepr)[-2_000:]

    def skip(self, infos: Sequence[CheckInfo]) -> None:
        """Checks of profiles that are not claimed: listed, never counted as passed."""
        for info in infos:
            self.results[info.check_id] = not_claimed(info, self.rerun)

    def sum_up(self, monitors: Sequence[CheckInfo], parameters: Parameters) -> None:
        """The monitors' results, once every Trace has been seen."""
        for info in monitors:
            result = self._tallies.result_of(info, self.rerun, parameters)
            self.results[info.check_id] = result
            self.listener.finished(result)

    def unreached(
        self, monitors: Sequence[CheckInfo], parameters: Parameters
    ) -> tuple[CheckInfo, ...]:
        """The monitors that have had nothing to judge, though they should."""
        results = ((one, self._tallies.result_of(one, self.rerun, parameters)) for one in monitors)
        return tuple(one for one, result in results if result.verdict is Verdict.INCONCLUSIVE)

    def borrow(self, other: Collector, monitors: Sequence[CheckInfo]) -> None:
        """Take over what these monitors saw in another play."""
        for info in monitors:
            self._tallies.take_over(other._tallies, info.check_id)

    def take(self, parcel: Parcel) -> None:
        """Keep one played check."""
        self.results[parcel.result.check_id] = parcel.result
        self._tallies.add(parcel.result.check_id, parcel.sightings)
        self.coverages.append(parcel.coverage)
        self.listener.finished(parcel.result)
