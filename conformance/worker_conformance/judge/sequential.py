"""The shares of a Scheduler that draws lots, judged by a sequential test (A. Wald, 1945).

Responsible for saying, as early as the stated error rates allow, whether a share is right or wrong
by a given error. Never measures lags (`fairness` does), and is asked only where randomness has been
declared and shown: for everybody else the bound holds without any chance in it.

For each Group two likelihood ratios run along with the dispatches at which it is backlogged: that
its share is too small by the error, and that it is too large, each against the share by weight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from attrs import define, field, frozen

from worker_conformance.judge.service import Dispatch, ServiceHistory, Standing

FALSE_FAILURE = 1e-6
"""The most that the chance may be of failing a lawful lottery, over all tests of one run."""

MISSED = 1e-3
"""The chance, for each test, of passing a share that is wrong by the error."""

HELD_DRAWS = 2
"""Evidence for a failure is divided by this: a draw may hold for two dispatches."""


@frozen
class SharesFinding:
    """Whether the shares are right: `holds` is None while the evidence is too little.

    `group` is the one that the finding is about: the one farthest on the way to a failure, or the
    one that is still undecided. `witness` counts the dispatches that more than one Group wanted.
    """

    holds: bool | None
    group: str
    says: str
    witness: int


@define(eq=False)
class SharesTest:
    """The running test. Feed it every dispatch in order."""

    share_error: float
    groups: int
    witness: int = 0
    _too_small: dict[str, float] = field(factory=dict)
    _too_large: dict[str, float] = field(factory=dict)
    _accepted: set[tuple[str, str]] = field(factory=set)
    _rejected: tuple[str, str] | None = None

    def take(self, served: str, wanting: Mapping[str, float]) -> None:
        """A dispatch of `served`; `wanting` are the weights of the Groups backlogged just then."""
        if served not in wanting or len(wanting) < 2:
            return
        self.witness += 1
        weights = sum(wanting.values())
        for name, weight in wanting.items():
            share = weight / weights
            small = share * (1 - self.share_error)
            # A share cannot grow beyond everything; half of the rest is already far too much.
            large = min(share * (1 + self.share_error), (1 + share) / 2)
            hit = name == served
            self._weigh(self._too_small, "too small", name, _evidence(small, share, hit=hit))
            self._weigh(self._too_large, "too large", name, _evidence(large, share, hit=hit))

    def _weigh(self, ratios: dict[str, float], side: str, name: str, evidence: float) -> None:
        ratios[name] = ratio = ratios.get(name, 0.0) + evidence
        if ratio <= self._accept_at:
            self._accepted.add((name, side))
        elif ratio >= self._reject_at and self._rejected is None:
            self._rejected = (name, side)

    @property
    def _accept_at(self) -> float:
        return math.log(MISSED)

    @property
    def _reject_at(self) -> float:
        tests = 2 * self.groups
        return HELD_DRAWS * math.log((1 - MISSED) * tests / FALSE_FAILURE)

    def finding(self) -> SharesFinding:
        """What the test says by now."""
        percent = f"{self.share_error:.0%}"
        if self._rejected is not None:
            name, side = self._rejected
            says = f"the share of {name} is {side}, by {percent} or more"
            return SharesFinding(holds=False, group=name, says=says, witness=self.witness)
        for side, ratios in (("too small", self._too_small), ("too large", self._too_large)):
            for name in ratios:
                if (name, side) not in self._accepted:
                    says = f"whether the share of {name} is {side} by {percent} is not decided"
                    return SharesFinding(None, name, says, self.witness)
        if not self.witness:
            return SharesFinding(None, "", "no two Groups ever wanted the same slot", 0)
        says = f"no share is wrong by {percent}"
        return SharesFinding(holds=True, group="", says=says, witness=self.witness)


def _evidence(claimed: float, lawful: float, *, hit: bool) -> float:
    """The logarithm of the likelihood ratio that one draw adds."""
    if hit:
        return math.log(claimed / lawful)
    return math.log((1 - claimed) / (1 - lawful))


def judge_shares(history: ServiceHistory, share_error: float) -> SharesFinding:
    """Run the test over a whole history: the backlogged Groups of one class draw for each slot."""
    test = SharesTest(share_error, len(history.largest))
    standings: dict[str, Standing] = {}
    for moment in history.moments:
        if isinstance(moment, Standing):
            standings[moment.group] = moment
        elif isinstance(moment, Dispatch):
            test.take(moment.group, _wanting(standings, moment.group))
    return test.finding()


def _wanting(standings: Mapping[str, Standing], served: str) -> dict[str, float]:
    own = standings.get(served)
    if own is None:
        return {}
    return {
        name: standing.weight
        for name, standing in standings.items()
        if standing.backlogged and standing.priority_class == own.priority_class is not None
    }
