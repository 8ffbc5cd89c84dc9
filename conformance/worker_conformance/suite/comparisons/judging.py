"""Running one check over several worlds, from its ID to what came of it.

Takes care of what is no matter of the comparison: abstentions, hooks that are not supported, a
Worker that never rests, an adapter that breaks.
"""

from __future__ import annotations

from worker_conformance.errors import AdapterError
from worker_conformance.judge.verdicts import Failure, Verdict
from worker_conformance.suite.abstention import abstained
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.comparisons.catalogue import BY_ID
from worker_conformance.suite.comparisons.outcome import Outcome
from worker_conformance.suite.comparisons.registry import JUDGES
from worker_conformance.suite.comparisons.stage import Stage
from worker_conformance.suite.play import Played


def judge(check_id: str, bench: Bench, seed: int) -> Played:
    """Judge one check."""
    stage = Stage(bench, seed)
    try:
        outcome = _judged(check_id, stage)
    except AdapterError as broken:
        told = Failure("an adapter that keeps the Worker Port", f"{broken} {broken.hint}")
        outcome = Outcome(Verdict.ADAPTER_ERROR, reason=broken.cause, failure=told)
    return outcome.played(check_id, seed, tuple(stage.sightings))


def _judged(check_id: str, stage: Stage) -> Outcome:
    outcome = JUDGES[check_id](stage)
    free = abstained(BY_ID[check_id].needs, stage.parameters)
    if outcome.verdict is Verdict.INCONCLUSIVE and free:
        reason = f"the Worker declares that it never produces {' and '.join(free)}"
        return Outcome(Verdict.ABSTAINED, reason=reason)
    return outcome
