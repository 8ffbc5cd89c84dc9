"""The sums over all worlds of a campaign, in whatever order these come in.

Never keeps an outcome whole: a campaign may have millions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from attrs import define, evolve, field, frozen

from worker_conformance.judge.verdicts import Verdict
from worker_conformance.suite.soak.outcome import Flaw, Outcome


@frozen
class Found:
    """The shortest failure of one signature, and the number of the world that showed it."""

    number: int
    flaw: Flaw

    @property
    def rank(self) -> tuple[tuple[int, int], int]:
        """The lowest is the one to keep, whichever came first."""
        return (self.flaw.length, self.number)


@define
class CheckTally:
    """What the worlds of one property came to together.

    `found` holds failures by signature, `reasons` the first reason for each verdict that is neither
    pass nor failure, by the number of its world.
    """

    verdicts: Counter[Verdict] = field(factory=Counter)
    witness: int = 0
    seconds: float = 0.0
    found: dict[str, Found] = field(factory=dict)
    reasons: dict[Verdict, tuple[int, str]] = field(factory=dict)

    @property
    def worlds(self) -> int:
        """How many worlds were played."""
        return self.verdicts.total()

    @property
    def shortest(self) -> Found | None:
        """The failure to show."""
        return min(self.found.values(), key=lambda one: one.rank, default=None)

    def add(self, outcome: Outcome) -> bool:
        """Take in one world; returns whether it shows a failure better than was known."""
        self.verdicts[outcome.verdict] += 1
        self.witness += outcome.witness
        self.seconds += outcome.seconds
        if outcome.reason:
            reason = (outcome.number, outcome.reason)
            self.reasons[outcome.verdict] = min(reason, self.reasons.get(outcome.verdict, reason))
        if outcome.flaw is None:
            return False
        new = Found(outcome.number, evolve(outcome.flaw, text=""))
        known = self.found.get(outcome.flaw.signature)
        if known is not None and known.rank <= new.rank:
            return False
        self.found[outcome.flaw.signature] = new
        return True


@define
class Numbers:
    """Which numbers have been played: all below one, and some `above` it."""

    below: int = 0
    above: set[int] = field(factory=set)

    def __contains__(self, number: int) -> bool:
        """Whether this one has been played."""
        return number < self.below or number in self.above

    def __len__(self) -> int:
        """How many have been played."""
        return self.below + len(self.above)

    def add(self, number: int) -> None:
        """Note one; it may be known already."""
        if number >= self.below:
            self.above.add(number)
        while self.below in self.above:
            self.above.remove(self.below)
            self.below += 1


@define
class Tally:
    """What a whole campaign came to so far. `coverage` sums what the worlds reached."""

    checks: dict[str, CheckTally] = field(factory=dict)
    coverage: Counter[str] = field(factory=Counter)
    numbers: Numbers = field(factory=Numbers)

    @property
    def worlds(self) -> int:
        """How many worlds were played."""
        return len(self.numbers)

    def add(self, outcome: Outcome) -> bool:
        """Take in one world that is not known yet; returns as `CheckTally.add` does."""
        if outcome.number in self.numbers:
            raise ValueError(f"world {outcome.number} is counted already")
        self.numbers.add(outcome.number)
        self.coverage.update(outcome.coverage)
        return self.checks.setdefault(outcome.check_id, CheckTally()).add(outcome)

    def reached(self, kind: str) -> int:
        """How many different `state`s, `transition`s, … were reached (see `Coverage`)."""
        return sum(name.startswith(f"{kind}:") for name in self.coverage)

    def failures(self) -> Mapping[str, int]:
        """How many worlds failed, by property; those alone that saw a failure."""
        counts = {
            check_id: sum(count for verdict, count in tally.verdicts.items() if verdict in _FAILING)
            for check_id, tally in sorted(self.checks.items())
        }
        return {check_id: count for check_id, count in counts.items() if count}


_FAILING = frozenset({Verdict.FAIL, Verdict.ADAPTER_ERROR, Verdict.SUITE_ERROR})
