"""The drivers: closed-loop loads played against a Worker over its Port (step `drive`).

Responsible for choosing the load and how long a judgement of it takes. Never judges, and leaves
the playing to `player`. A driver that the Worker does not follow stops; the conditions then find
too little and say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import frozen

from worker_conformance.errors import VectorError
from worker_conformance.judge.conditions_fairness import share_error_of
from worker_conformance.judge.fairness import Allowance, Flow, run_length
from worker_conformance.judge.sequential import SharesTest
from worker_conformance.judge.starvation import SERVED_BY, Horizon
from worker_conformance.scenario.model import (
    DAY_SECONDS,
    Drive,
    GroupPlan,
)
from worker_conformance.suite.loads import (
    ITEM_SECONDS,
    MIXED_SECONDS,
    Blocked,
    Cancelling,
    Deep,
    Flood,
    Hoard,
    Late,
    Offer,
    Pieces,
    Pulse,
    Rejoining,
    Reweighing,
    Starve,
)
from worker_conformance.suite.player import REFILL, Plan, Player
from worker_conformance.suite.world import World

NEAR_SECONDS = 30 * DAY_SECONDS
"""The nearest deadline that `inflate` claims: near beside the others', and never missed."""

FLOOD_HELD = 64
"""Items that each other Group of a `flood` holds, by default."""

IDLE_DISPATCHES = 30
"""Dispatches of the others during which a `hoard` is idle and a `blocked` Group gated."""

REWEIGH_DISPATCHES = 80
"""Dispatches between two changes of weight in a `reweigh`."""

LONGER = 1.1
"""How much longer a run of draws goes on than its driver's own count asks for."""

HORIZON_PARTS = 100
"""Items of a `starve` take at least this part of the declared horizon, so that runs stay short."""

CLASS_ORDER: Mapping[str, int] = {"background": 0, "standard": 1, "urgent": 2}


def drive(world: World, step: Drive) -> None:
    """Play one driver to its end."""
    make = DRIVERS.get(step.driver)
    if make is None:
        where = world.scenario.source or world.scenario.id
        known = ", ".join(sorted(DRIVERS))
        raise VectorError(where, f"unknown driver {step.driver!r}", f"known drivers: {known}")
    player = Player(world, step.driver)
    plan = make(_Settings(world, player.depth(), step.members))
    player.play(plan)


@frozen
class _Settings:
    """What a driver is made from: the world, the depth of its queues, its members."""

    world: World
    depth: int
    members: Mapping[str, object]

    @property
    def groups(self) -> tuple[GroupPlan, ...]:
        return self.world.scenario.groups

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(group.name for group in self.groups)

    def number(self, name: str, default: int) -> int:
        value = self.members.get(name, default)
        return value if isinstance(value, int) else default

    def text(self, name: str, default: str) -> str:
        value = self.members.get(name, default)
        return value if isinstance(value, str) else default

    def held(self) -> int:
        """Items that a flood holds, within the declared capacity over all Groups."""
        room = self.world.parameters.queue_capacity // len(self.names) - 1
        return max(1, min(self.number("held", FLOOD_HELD), room))

    @property
    def low(self) -> int:
        """The number of waiting items below which a queue is filled up again."""
        return max(1, self.depth - REFILL)

    def queues(self, makers: Mapping[str, Iterable[Offer]]) -> Deep:
        return Deep(makers, low=self.low, high=self.depth)


# --- the drivers ----------------------------------------------------------------------


def _share(settings: _Settings) -> Plan:
    """Equal items, deep queues."""
    makers = {name: [Offer(name)] for name in settings.names}
    return Plan(settings.queues(makers), _service(settings, [ITEM_SECONDS]))


def _mixed_sizes(settings: _Settings) -> Plan:
    """Each Group with lengths of its own, 0.5 to 6 ordinary items."""
    makers = {
        name: [Offer(name, seconds) for seconds in MIXED_SECONDS[place % len(MIXED_SECONDS)]]
        for place, name in enumerate(settings.names)
    }
    longest = [max(MIXED_SECONDS[i % len(MIXED_SECONDS)]) for i in range(len(makers))]
    return Plan(settings.queues(makers), _service(settings, longest))


def _pulse(settings: _Settings) -> Plan:
    """The first Group's queue empties every time."""
    first, *others = settings.names
    makers = {name: [Offer(name)] for name in others}
    load = Pulse(makers, settings.low, settings.depth, pulsing=first)
    return Plan(load, _service(settings, [ITEM_SECONDS]))


def _hoard(settings: _Settings) -> Plan:
    """The first Group is idle for a while, and then floods."""
    first, *others = settings.names
    load = Hoard(
        {name: [Offer(name)] for name in others},
        settings.low,
        settings.depth,
        hoarding=first,
        idle_dispatches=settings.number("idle", IDLE_DISPATCHES),
        flood=settings.held(),
    )
    return Plan(load, _service(settings, [ITEM_SECONDS]))


def _blocked(settings: _Settings) -> Plan:
    """The first Group's items are gated for a while, and then all gates open (advice only)."""
    first, *others = settings.names
    load = Blocked(
        {name: [Offer(name)] for name in others},
        settings.low,
        settings.depth,
        blocked=first,
        closed_dispatches=settings.number("closed", IDLE_DISPATCHES),
        held=settings.held(),
    )
    return Plan(load, _service(settings, [ITEM_SECONDS]))


def _cancel(settings: _Settings) -> Plan:
    """The first Group's oldest waiting item is cancelled at each dispatch of another."""
    makers = {name: [Offer(name)] for name in settings.names}
    load = Cancelling(makers, settings.low, settings.depth, cancelling=settings.names[0])
    return Plan(load, _service(settings, [ITEM_SECONDS]))


def _split(settings: _Settings) -> Plan:
    """The last Group offers its work in tiny pieces, very many at a time."""
    makers = {name: [Offer(name)] for name in settings.names[:-1]}
    load = Pieces(makers, settings.low, settings.depth, splitting=settings.names[-1])
    load.pieces = settings.held()
    return Plan(load, _service(settings, [ITEM_SECONDS]))


def _rejoin(settings: _Settings) -> Plan:
    """The first Group is left and joined again at each of its own dispatches."""
    makers = {name: [Offer(name)] for name in settings.names}
    load = Rejoining(makers, settings.low, settings.depth, rejoining=settings.names[0])
    return Plan(load, _service(settings, [ITEM_SECONDS]))


def _late(settings: _Settings) -> Plan:
    """The first Group is joined only after a while; it is not `joined` in the scenario."""
    first, *others = settings.names
    load = Late(
        {name: [Offer(name)] for name in others},
        settings.low,
        settings.depth,
        late=first,
        absent_dispatches=settings.number("absent", IDLE_DISPATCHES),
    )
    return Plan(load, _service(settings, [ITEM_SECONDS]))


def _reweigh(settings: _Settings) -> Plan:
    """Policy rotates the weights among the Groups, a few times in the run."""
    makers = {name: [Offer(name)] for name in settings.names}
    load = Reweighing(makers, settings.low, settings.depth, weights=_weights(settings.groups))
    load.every_dispatches = settings.number("every", REWEIGH_DISPATCHES)
    return Plan(load, _service(settings, [ITEM_SECONDS]))


def _inflate(settings: _Settings) -> Plan:
    """The last Group's Coordinator claims top urgency and the nearest deadline for everything."""
    makers = {name: [Offer(name)] for name in settings.names}
    last = settings.names[-1]
    makers[last] = [Offer(last, urgency="critical", deadline_seconds=NEAR_SECONDS)]
    return Plan(settings.queues(makers), _service(settings, [ITEM_SECONDS]))


def _flood(settings: _Settings) -> Plan:
    """Others hold `held` items each; then the victim's Group offers a single item."""
    victim = settings.text("victim", settings.names[-1])
    makers = {name: [Offer(name)] for name in settings.names}
    load = Flood(makers, victim=victim, held=settings.held())
    return Plan(load, lambda player: player.victim_served)


def _starve(settings: _Settings) -> Plan:
    """An endless stream of favoured work, and one disfavoured item of the lowest class.

    The victim's own Group streams as well. By default the classes of the Groups are what favours
    the others; `by` may be set to `urgency`, `deadline` or `nothing` instead.
    """
    lowest = min(settings.groups, key=lambda group: CLASS_ORDER.get(group.priority_class, 0))
    victim = settings.text("victim", lowest.name)
    horizon = Horizon.of(settings.world.parameters)
    seconds = max(ITEM_SECONDS, -(-round(horizon.horizon_seconds) // HORIZON_PARTS))
    by = settings.text("by", "class")
    urgency = "critical" if by == "urgency" else "normal"
    deadline = NEAR_SECONDS if by == "deadline" else None
    makers = {
        name: [Offer(name, seconds, urgency=urgency, deadline_seconds=deadline)]
        for name in settings.names
    }
    # Short queues: a deep one would make its own items wait long under any Scheduler.
    depth = settings.world.scenario.agent.slots + 1
    load = Starve(makers, depth, depth, victim=Offer(victim, seconds))
    slots, weights = settings.world.scenario.agent.slots, _weights(settings.groups)
    limit = SERVED_BY * horizon.base_seconds(slots, weights, victim, seconds)
    return Plan(load, lambda player: player.elders_served or player.waited_beyond(limit))


DRIVERS: Mapping[str, Callable[[_Settings], Plan]] = {
    "share": _share,
    "mixed-sizes": _mixed_sizes,
    "pulse": _pulse,
    "hoard": _hoard,
    "blocked": _blocked,
    "cancel": _cancel,
    "split": _split,
    "rejoin": _rejoin,
    "late": _late,
    "reweigh": _reweigh,
    "inflate": _inflate,
    "flood": _flood,
    "starve": _starve,
}
"""The drivers by name, as vectors call them."""


def _weights(groups: Sequence[GroupPlan]) -> dict[str, float]:
    return {group.name: group.weight for group in groups}


def _service(settings: _Settings, longest: Sequence[int]) -> Callable[[Player], bool]:
    """Long enough: so much service that a share wrong by the agreed error would have shown."""
    world = settings.world
    allowance = Allowance.of(world.parameters, world.scenario.agent.slots, randomness_shown=True)
    flows = [
        Flow(group.weight, allowance.quantum(longest[place % len(longest)]))
        for place, group in enumerate(settings.groups)
    ]
    error = share_error_of(world.scenario)
    if allowance.random_factor:
        return _draws(SharesTest(error, len(flows)))
    needed = run_length(flows, allowance, error)
    return lambda player: player.service(allowance) >= needed


def _draws(test: SharesTest) -> Callable[[Player], bool]:
    """Long enough for a Scheduler that draws lots: the sequential test has come to its end.

    The judge reads backlogs more exactly than a driver can, so the run goes on a little.
    """
    decided_at = math.inf

    def enough(player: Player) -> bool:
        nonlocal decided_at
        player.draws = test
        if math.isinf(decided_at) and test.finding().holds is not None:
            decided_at = player.dispatches
        return player.dispatches >= LONGER * decided_at

    return enough
