"""Whether a Worker that declares a randomised Scheduler draws lots, and by its seed alone.

The statistical allowance of the fairness judge is given only after this was shown: equal seeds
give equal runs, and another seed gives another one. Never judges a share.
"""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.exact import shows_randomness
from worker_conformance.judge.service import ServiceHistory
from worker_conformance.judge.service_trace import history_of
from worker_conformance.port.contract import Answer, Port
from worker_conformance.port.declaration import Declaration, Parameters
from worker_conformance.scenario.model import (
    Act,
    ActKind,
    GroupPlan,
    Level,
    Profile,
    Scenario,
)
from worker_conformance.suite.loads import equal
from worker_conformance.suite.player import Plan, Player
from worker_conformance.suite.world import World

SHOWN_DISPATCHES = 40
"""Two lotteries over three equal Groups agree in so many draws once in 10^19 runs."""

_GROUPS = ("A", "B", "C")

_SCENE = Scenario(
    id="LOTS",
    title="Three equal Groups on one slot",
    stake="A Worker that claims an allowance for chance has to show that it leaves things to it.",
    requirement="WRK-010.a",
    level=Level.MUST,
    profile=Profile.SCHEDULING,
    steps=(),
    groups=tuple(GroupPlan(name) for name in _GROUPS),
    log={name: (Act(ActKind.CREATED), Act(ActKind.MEMBER)) for name in _GROUPS},
)


@frozen
class _Seeded:
    """A Port on which every session gets another `seed`, and everything else as it is.

    Another seed for the whole world would change identifiers and keys as well, and a Worker whose
    order depends on those would seem to draw lots.
    """

    port: Port
    seed: int

    @property
    def transport(self) -> str:
        return self.port.transport

    @property
    def copies_state_on_crash(self) -> bool:
        return self.port.copies_state_on_crash

    def initialize(self) -> Declaration:
        return self.port.initialize()

    def handle(self, stimulus: JsonObject) -> Answer:
        starts = stimulus.get("type") == "start"
        return self.port.handle({**stimulus, "seed": self.seed} if starts else stimulus)

    def crash(self) -> None:
        self.port.crash()

    def restart(self) -> None:
        self.port.restart()

    def shutdown(self) -> None:
        self.port.shutdown()

    def stderr_tail(self) -> str:
        return self.port.stderr_tail()


def draws_lots(port: Port, parameters: Parameters, seed: int, workspace: Path) -> bool:
    """Play one short scene three times: twice with `seed`, once with another."""
    runs = [
        _played(_Seeded(port, one), parameters, seed, workspace / f"lots-{place}")
        for place, one in enumerate((seed, seed, seed + 1))
    ]
    return shows_randomness(*runs)


def _played(port: Port, parameters: Parameters, seed: int, workspace: Path) -> ServiceHistory:
    workspace.mkdir()
    world = World(_SCENE, port, parameters, seed, workspace)
    world.start()
    Player(world, "lots").play(Plan(equal(_GROUPS), _long_enough))
    world.leave()
    return history_of(world.trace, _SCENE)


def _long_enough(player: Player) -> bool:
    return player.dispatches >= SHOWN_DISPATCHES
