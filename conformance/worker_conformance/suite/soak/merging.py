"""From the sums of a campaign to the ordinary result of a run, and so to every report.

Each property becomes one check, judged over all its worlds. Never plays and never writes.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from attrs import evolve

from worker_conformance.judge.verdicts import CheckResult, Failure, Measurement, RunResult, Verdict
from worker_conformance.port.declaration import Declaration
from worker_conformance.suite import checks
from worker_conformance.suite.engine import RunOptions, result_over
from worker_conformance.suite.results import DEFAULT_WORKER, Rerun
from worker_conformance.suite.soak.campaign import Campaign
from worker_conformance.suite.soak.outcome import name_of
from worker_conformance.suite.soak.store import COUNTEREXAMPLES
from worker_conformance.suite.soak.tally import CheckTally, Found, Tally


def merged(
    campaign: Campaign, tally: Tally, declaration: Declaration, transport: str, folder: Path
) -> RunResult:
    """The result of all worlds played so far; `folder` is the store.

    Its selection names the properties that had a world: a campaign says nothing of an area, for
    nobody played the vectors. Without a single world no check is executed.
    """
    results = tuple(
        _result(campaign, check_id, tally.checks[check_id], folder)
        for check_id in campaign.checks
        if check_id in tally.checks
    )
    options = RunOptions(worker=campaign.worker, seed=campaign.seed, select=campaign.checks)
    if results:
        options = evolve(options, select=tuple(result.check_id for result in results))
    result = result_over(options, declaration, transport, results)
    return evolve(result, coverage=dict(sorted(tally.coverage.items())))


def again(campaign: Campaign, number: int, folder: Path) -> str:
    """The command that plays one world of a campaign again, as a user types it."""
    chosen = (
        "" if campaign.worker == DEFAULT_WORKER else f"--worker {shlex.quote(campaign.worker)} "
    )
    place = f"--store {shlex.quote(str(folder))}"
    return f"worker-conformance soak {chosen}--seed {campaign.seed} {place} --world {number}"


def _result(campaign: Campaign, check_id: str, tally: CheckTally, folder: Path) -> CheckResult:
    info = checks.info_of(check_id)
    found = tally.shortest
    verdict = _verdict(tally)
    return CheckResult(
        check_id=check_id,
        title=info.title,
        summary=info.summary,
        requirement=info.requirement,
        clauses=info.clauses,
        level=info.level,
        profile=info.profile,
        kind=info.kind,
        verdict=verdict,
        reason=_reason(verdict, tally),
        failure=None if found is None else _failure(check_id, found, folder),
        witness=tally.witness,
        measurements=_measurements(tally),
        rerun=_rerun(campaign, check_id, verdict, tally, folder),
        seconds=tally.seconds,
    )


def _verdict(tally: CheckTally) -> Verdict:
    """The worst of all worlds; a pass needs a witness in one of them."""
    for verdict in (Verdict.SUITE_ERROR, Verdict.ADAPTER_ERROR, Verdict.FAIL):
        if tally.verdicts[verdict]:
            return verdict
    return Verdict.PASS if tally.witness else Verdict.INCONCLUSIVE


def _reason(verdict: Verdict, tally: CheckTally) -> str:
    if verdict in (Verdict.FAIL, Verdict.PASS):
        return ""
    number, reason = tally.reasons.get(verdict, (0, "nothing was reached"))
    return reason if verdict is Verdict.INCONCLUSIVE else f"world {number}: {reason}"


def _failure(check_id: str, found: Found, folder: Path) -> Failure:
    path = folder / COUNTEREXAMPLES / name_of(check_id, found.flaw.signature)
    return evolve(found.flaw.failure, step=str(path))


def _measurements(tally: CheckTally) -> tuple[Measurement, ...]:
    bad = tally.worlds - tally.verdicts[Verdict.PASS] - tally.verdicts[Verdict.INCONCLUSIVE]
    figures = [Measurement("worlds", tally.worlds, None, "worlds")]
    if bad:
        figures.append(Measurement("worlds that failed", bad, None, "worlds"))
        figures.append(Measurement("different failures", len(tally.found), None, "failures"))
    return tuple(figures)


def _rerun(
    campaign: Campaign, check_id: str, verdict: Verdict, tally: CheckTally, folder: Path
) -> str:
    found = tally.shortest
    if verdict is Verdict.FAIL and found is not None:
        path = folder / COUNTEREXAMPLES / name_of(check_id, found.flaw.signature)
        return Rerun(campaign.worker, campaign.seed_of(found.number)).replay(path)
    number, _ = tally.reasons.get(verdict, (campaign.checks.index(check_id), ""))
    return again(campaign, number, folder)
