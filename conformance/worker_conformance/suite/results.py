"""From what was played to results: one for each check, monitors summed over all Traces.

Knows how a check is named, run again and counted. Never plays anything.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from worker_conformance.judge.verdicts import CheckKind, CheckResult, Failure, Verdict
from worker_conformance.port.declaration import Parameters
from worker_conformance.scenario.model import Level
from worker_conformance.suite.abstention import abstained, fallen_away
from worker_conformance.suite.checks import CheckInfo
from worker_conformance.suite.play import Played, Sighting

if TYPE_CHECKING:
    from worker_conformance.suite.properties.check import PropertyRun

DEFAULT_WORKER = "reference_worker:factory"


@frozen
class Rerun:
    """How to run one check again: the Worker and the seed of this run."""

    worker: str
    seed: int

    def command(self, *check_ids: str) -> str:
        """The command line, as a user types it."""
        chosen = "" if self.worker == DEFAULT_WORKER else f"--worker {shlex.quote(self.worker)} "
        return f"worker-conformance run {chosen}--seed {self.seed} {' '.join(check_ids)}"

    def replay(self, path: Path) -> str:
        """The command line for a vector file outside the catalogue."""
        chosen = "" if self.worker == DEFAULT_WORKER else f"--worker {shlex.quote(self.worker)} "
        return f"worker-conformance replay {chosen}--seed {self.seed} {shlex.quote(str(path))}"


def result_of(info: CheckInfo, played: Played, rerun: Rerun, seconds: float) -> CheckResult:
    """The result of a vector."""
    return _result(
        info,
        played.verdict,
        rerun.command(info.check_id),
        reason=played.reason,
        failure=played.failure,
        witness=played.witness,
        measurements=played.measurements,
        seconds=seconds,
        scenario=info.check_id,
        estimates=played.estimates,
    )


def result_of_property(
    info: CheckInfo, run: PropertyRun, rerun: Rerun, seconds: float
) -> CheckResult:
    """The result of a property; a saved counterexample is what to run again."""
    again = rerun.replay(run.saved) if run.saved else rerun.command(info.check_id)
    return _result(
        info,
        run.verdict,
        again,
        reason=run.reason,
        failure=run.failure,
        witness=run.witness,
        measurements=run.measurements,
        seconds=seconds,
    )


def not_claimed(info: CheckInfo, rerun: Rerun) -> CheckResult:
    """The result of a check whose profile the Worker does not claim."""
    reason = f"the Worker does not claim the profile {info.profile}"
    return _result(info, Verdict.NOT_CLAIMED, rerun.command(info.check_id), reason=reason)


@define
class MonitorTally:
    """What one monitor saw over all Traces: the shortest failure is the one to show."""

    witness: int = 0
    failure: Failure | None = None
    scenario: str | None = None

    def add(self, scenario_id: str, sighting: Sighting) -> None:
        """Take in one Trace."""
        self.witness += sighting.witness
        shown = self.failure
        if sighting.failure is None:
            return
        if shown is None or len(sighting.failure.transcript) < len(shown.transcript):
            self.failure, self.scenario = sighting.failure, scenario_id


@define
class Tallies:
    """Every monitor's tally of a run."""

    _by_id: dict[str, MonitorTally] = field(factory=dict)

    def add(self, scenario_id: str, sightings: Iterable[Sighting]) -> None:
        """Take in one Trace's sightings."""
        for sighting in sightings:
            tally = self._by_id.setdefault(sighting.check_id, MonitorTally())
            tally.add(scenario_id, sighting)

    def take_over(self, other: Tallies, check_id: str) -> None:
        """One monitor's tally of another play becomes its tally here."""
        if check_id in other._by_id:
            self._by_id[check_id] = other._by_id[check_id]

    def reached(self, check_id: str) -> bool:
        """Whether the monitor's precondition occurred at all, or it saw a breach."""
        tally = self._by_id.get(check_id)
        return tally is not None and bool(tally.witness or tally.failure)

    def result_of(self, info: CheckInfo, rerun: Rerun, parameters: Parameters) -> CheckResult:
        """The result of a monitor."""
        tally = self._by_id.get(info.check_id, MonitorTally())
        verdict, reason = Verdict.PASS, ""
        if tally.failure is not None:
            verdict = Verdict.FAIL if info.level is Level.MUST else Verdict.ADVICE
        elif tally.witness == 0:
            free = fallen_away(info.needs, parameters) or abstained(info.needs, parameters)
            verdict = Verdict.ABSTAINED if free else Verdict.INCONCLUSIVE
            reason = f"never reached: {_reached(info)}"
        return _result(
            info,
            verdict,
            rerun.command(*([tally.scenario] if tally.scenario else []), info.check_id),
            reason=reason,
            failure=tally.failure,
            witness=tally.witness,
            scenario=tally.scenario,
        )


def _reached(info: CheckInfo) -> str:
    return info.stake.partition("counts when ")[2].rstrip(".")


def ordered(
    results: Mapping[str, CheckResult], infos: Sequence[CheckInfo]
) -> tuple[CheckResult, ...]:
    """Results in the order of the catalogue, whichever process finished first."""
    return tuple(results[info.check_id] for info in infos if info.check_id in results)


def _result(
    info: CheckInfo,
    verdict: Verdict,
    rerun: str,
    **members: object,
) -> CheckResult:
    return CheckResult(
        check_id=info.check_id,
        title=info.title,
        summary=info.summary,
        requirement=info.requirement,
        clauses=info.clauses,
        level=info.level,
        profile=info.profile,
        kind=CheckKind(info.kind),
        verdict=verdict,
        rerun=rerun,
        **members,  # type: ignore[arg-type]  # the callers above pass CheckResult's own members
    )
