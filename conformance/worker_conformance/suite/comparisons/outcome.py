"""What came of a check over several worlds, before it becomes a result."""

from __future__ import annotations

from attrs import frozen

from worker_conformance.judge.evidence import EstimateWindow
from worker_conformance.judge.trace import Trace
from worker_conformance.judge.verdicts import Failure, Measurement, Verdict
from worker_conformance.suite.play import Played, Sighting


@frozen
class Outcome:
    """A verdict with its evidence."""

    verdict: Verdict
    witness: int = 0
    reason: str = ""
    failure: Failure | None = None
    measurements: tuple[Measurement, ...] = ()
    estimates: tuple[EstimateWindow, ...] = ()

    @classmethod
    def of(
        cls,
        failure: Failure | None,
        broken: Verdict,
        witness: int,
        reached: str,
        measurements: tuple[Measurement, ...] = (),
    ) -> Outcome:
        """`broken` where there is a failure, inconclusive without a witness, else a pass."""
        if failure is not None:
            return cls(broken, witness, "", failure, measurements)
        if not witness:
            reason = f"never reached: {reached}"
            return cls(Verdict.INCONCLUSIVE, 0, reason, None, measurements)
        return cls(Verdict.PASS, witness, "", None, measurements)

    def played(self, check_id: str, seed: int, sightings: tuple[Sighting, ...]) -> Played:
        """As one scenario would have ended."""
        return Played(
            self.verdict,
            self.witness,
            self.reason,
            self.failure,
            self.measurements,
            sightings,
            Trace(check_id, seed),
            self.estimates,
        )
