"""What an examination of a bare Scheduler is made of: cases, outcomes, and the judging of one run.

The judges are those that judge a Worker over the Port; nothing here decides what is fair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import frozen

from worker_conformance.judge.exact import (
    Breach,
    idle_breaches,
    liveness_breaches,
    quota_breaches,
    safety_breaches,
)
from worker_conformance.judge.fairness import (
    RANDOM_FACTOR,
    Allowance,
    Flow,
    judge_fairness,
    run_length,
)
from worker_conformance.selftest.harness import Run, Setting
from worker_conformance.selftest.schedulers import Scheduler

SHARE_ERROR = 0.10
"""The error of a share that a run on the bare harness must be long enough to catch."""

Factory = Callable[[int, int], Scheduler]
"""From slots and seed to a Scheduler."""

WEIGHTS: Mapping[str, tuple[float, ...]] = {
    "equal": (1, 1, 1),
    "1:2:4": (1, 2, 4),
    "16:1:1": (16, 1, 1),
    "fractional": (1.5, 0.5, 3.2),
}


@frozen
class Outcome:
    """What one judge said of one run. `ratio` is measured over bound where there is a bound."""

    check: str
    holds: bool
    ratio: float = 0.0
    detail: str = ""


@frozen
class Case:
    """One world in which a Scheduler is examined."""

    scheduler: type[Scheduler]
    slots: int
    weights: tuple[float, ...]
    seed: int = 7
    share_error: float = SHARE_ERROR

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the Groups: A, B, C, …"""
        return tuple(_name(place) for place in range(len(self.weights)))

    @property
    def setting(self) -> Setting:
        """The harness's view of it."""
        return Setting(self.slots, dict(zip(self.groups, self.weights, strict=True)))

    def make(self) -> Scheduler:
        """A fresh Scheduler."""
        return self.scheduler(self.slots, self.seed)

    def allowance(self) -> Allowance:
        """The default declaration, in the family's unit."""
        factor = RANDOM_FACTOR if self.scheduler.randomised else 0.0
        return Allowance(self.slots, unit=self.scheduler.unit, random_factor=factor)

    def length(self, lengths: Sequence[Sequence[int]]) -> int:
        """Dispatches that a run with items of these lengths (one row a Group) needs."""
        allowance = self.allowance()
        flows = [
            Flow(weight, allowance.quantum(max(row)))
            for weight, row in zip(self.weights, lengths, strict=True)
        ]
        means = [allowance.quantum(sum(row) / len(row)) for row in lengths]
        per_dispatch = sum(self.weights) / sum(
            weight / mean for weight, mean in zip(self.weights, means, strict=True)
        )
        return run_length(flows, allowance, self.share_error, per_dispatch)


Trial = Callable[[Case], Iterator[Outcome]]


def _name(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"G{place}"


# --- judging one run ------------------------------------------------------------------


def judged(check: str, case: Case, run: Run) -> Iterator[Outcome]:
    """The fairness judge under the load's name, and the exact judges under their own."""
    finding = judge_fairness(run.history, case.allowance())
    worst = finding.worst
    detail = "" if worst is None else f"{worst.ahead} ahead of {worst.behind} by {worst.lag:.2f}"
    yield Outcome(check, finding.holds and finding.witness > 0, finding.ratio, detail)
    yield from exact(run)


def exact(run: Run) -> Iterator[Outcome]:
    """The exact judges that apply to every run."""
    history = run.history
    yield from_breaches("safe", safety_breaches(history))
    yield from_breaches("quota", quota_breaches(history))
    yield from_breaches("prompt", idle_breaches(history))
    late = liveness_breaches(history, run.stopped_at, run.remaining_seconds)
    yield from_breaches("live", late)


def from_breaches(check: str, breaches: Sequence[Breach]) -> Outcome:
    """A check that finds single breaches; the first of them is what is told."""
    if not breaches:
        return Outcome(check, holds=True)
    first = breaches[0]
    return Outcome(check, holds=False, detail=f"{first.item or first.group}: {first.observed}")
