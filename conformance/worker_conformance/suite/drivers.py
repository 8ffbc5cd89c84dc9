"""The drivers: closed-loop loads played against a Worker over its Port (step `drive`).

Responsible for offering work, for watching what is dispatched, and for running exactly as long as
a judgement needs. Never judges. A driver that the Worker does not follow (nothing accepted,
nothing started) stops; the conditions then find too little and say so.

Everything that could stop an obedient Worker for another reason lies far beyond the run: offers,
start-by times, ownership, deadlines, and Execution Leases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from attrs import define, field, frozen

from worker_conformance.errors import VectorError
from worker_conformance.judge.conditions_fairness import SHARE_ERROR
from worker_conformance.judge.fairness import Allowance, Flow, run_length
from worker_conformance.judge.service import MICROSECONDS
from worker_conformance.judge.service_trace import driven_name
from worker_conformance.judge.starvation import SERVED_BY, Horizon
from worker_conformance.judge.trace import EntryKind, NoteKind
from worker_conformance.scenario.model import (
    DAY_SECONDS,
    FAR_SECONDS,
    Act,
    ActKind,
    Drive,
    GroupPlan,
    WorkPlan,
)
from worker_conformance.suite.loads import (
    ITEM_SECONDS,
    MIXED_SECONDS,
    VICTIM,
    Deep,
    Flood,
    Load,
    Offer,
    Pulse,
    Reaction,
    Starve,
)
from worker_conformance.suite.world import World

REFILL = 12
"""Items offered to a queue at a time: few deliveries, and queues that stay far from full."""

DISPATCHES_MAX = 5_000
"""No run is longer, whatever the formulas ask for: the condition then says it was too short."""

STALLED_APPOINTMENTS = 300
"""Moves of the clock without a dispatch after which the Worker is taken to follow no longer."""

NEAR_SECONDS = 30 * DAY_SECONDS
"""The nearest deadline that `inflate` claims: near beside the others', and never missed."""

FLOOD_HELD = 64
"""Items that each other Group of a `flood` holds, by default."""

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
    player = _Player(world, step.driver)
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

    @property
    def low(self) -> int:
        """The number of waiting items below which a queue is filled up again."""
        return max(1, self.depth - REFILL)

    def queues(self, makers: Mapping[str, Iterable[Offer]]) -> Deep:
        return Deep(makers, low=self.low, high=self.depth)


@frozen
class _Plan:
    """A load, and when it has run long enough."""

    load: Load
    enough: Callable[[_Player], bool]


# --- the drivers ----------------------------------------------------------------------


def _share(settings: _Settings) -> _Plan:
    """Equal items, deep queues."""
    makers = {name: [Offer(name)] for name in settings.names}
    return _Plan(settings.queues(makers), _service(settings, [ITEM_SECONDS]))


def _mixed_sizes(settings: _Settings) -> _Plan:
    """Each Group with lengths of its own, 0.5 to 6 ordinary items."""
    makers = {
        name: [Offer(name, seconds) for seconds in MIXED_SECONDS[place % len(MIXED_SECONDS)]]
        for place, name in enumerate(settings.names)
    }
    longest = [max(MIXED_SECONDS[i % len(MIXED_SECONDS)]) for i in range(len(makers))]
    return _Plan(settings.queues(makers), _service(settings, longest))


def _pulse(settings: _Settings) -> _Plan:
    """The first Group's queue empties every time."""
    first, *others = settings.names
    makers = {name: [Offer(name)] for name in others}
    load = Pulse(makers, settings.low, settings.depth, pulsing=first)
    return _Plan(load, _service(settings, [ITEM_SECONDS]))


def _inflate(settings: _Settings) -> _Plan:
    """The last Group's Coordinator claims top urgency and the nearest deadline for everything."""
    makers = {name: [Offer(name)] for name in settings.names}
    last = settings.names[-1]
    makers[last] = [Offer(last, urgency="critical", deadline_seconds=NEAR_SECONDS)]
    return _Plan(settings.queues(makers), _service(settings, [ITEM_SECONDS]))


def _flood(settings: _Settings) -> _Plan:
    """Others hold `held` items each; then the victim's Group offers a single item."""
    victim = settings.text("victim", settings.names[-1])
    room = settings.world.parameters.queue_capacity // max(1, len(settings.names) - 1) - 1
    held = max(1, min(settings.number("held", FLOOD_HELD), room))
    makers = {name: [Offer(name)] for name in settings.names}
    return _Plan(Flood(makers, victim=victim, held=held), lambda player: player.victim_served)


def _starve(settings: _Settings) -> _Plan:
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
    return _Plan(load, lambda player: player.elders_served or player.waited_beyond(limit))


DRIVERS: Mapping[str, Callable[[_Settings], _Plan]] = {
    "share": _share,
    "mixed-sizes": _mixed_sizes,
    "pulse": _pulse,
    "inflate": _inflate,
    "flood": _flood,
    "starve": _starve,
}
"""The drivers by name, as vectors call them."""


def _weights(groups: Sequence[GroupPlan]) -> dict[str, float]:
    return {group.name: group.weight for group in groups}


def _service(settings: _Settings, longest: Sequence[int]) -> Callable[[_Player], bool]:
    """Long enough: so much service that a share wrong by the agreed error would have shown."""
    world = settings.world
    allowance = Allowance.of(world.parameters, world.scenario.agent.slots, randomness_shown=True)
    flows = [
        Flow(group.weight, allowance.quantum(longest[place % len(longest)]))
        for place, group in enumerate(settings.groups)
    ]
    needed = run_length(flows, allowance, SHARE_ERROR)
    return lambda player: player.service(allowance) >= needed


# --- playing --------------------------------------------------------------------------


@define(eq=False)
class _Player:
    """Plays one load: keeps count of what is offered, waits, runs and has ended."""

    world: World
    driver: str
    dispatches: int = 0
    victim_served: bool = False
    victim_since: int | None = None
    _ordinal: int = 0
    _offers: dict[str, Offer] = field(factory=dict)
    _waiting: dict[str, set[str]] = field(factory=dict)
    _elders: set[str] | None = None
    _acts: dict[str, list[Act]] = field(factory=dict)
    _results: list[tuple[str, Act]] = field(factory=list)
    _seconds: int = 0
    _read: int = 0

    def depth(self) -> int:
        """Items a queue is filled to: enough for every slot, within the declared capacity."""
        scenario = self.world.scenario
        room = self.world.parameters.queue_capacity // max(1, len(scenario.groups)) - 1
        return max(1, min(scenario.agent.slots + 2 + REFILL, room))

    def play(self, plan: _Plan) -> None:
        """Until it has run long enough, or the Worker does not follow."""
        self._read = len(self.world.trace)
        for group in self.world.scenario.groups:
            self._waiting[group.name] = set()
        self._offer_all(plan.load.begin(self))
        self._publish()
        idle = 0
        while idle < STALLED_APPOINTMENTS and self.dispatches < DISPATCHES_MAX:
            before = self.dispatches
            self._answer(plan.load)
            if plan.enough(self):
                return
            idle = 0 if self.dispatches > before else idle + 1
            soonest = self.world.next_appointment()
            if soonest is None:
                return
            self.world.advance_to(soonest)

    # --- what a load sees -------------------------------------------------------------

    def waiting(self, group: str) -> int:
        """Items offered or accepted and not dispatched yet."""
        return len(self._waiting[group])

    # --- when it is enough ------------------------------------------------------------

    def service(self, allowance: Allowance) -> float:
        """What has been dispatched so far, in the Worker's unit of service."""
        return self._seconds if allowance.unit == "slotTime" else self.dispatches

    @property
    def elders_served(self) -> bool:
        """Whether the victim has ended, and everything offered before it been dispatched."""
        return self.victim_served and not self._elders

    def waited_beyond(self, limit_seconds: float) -> bool:
        """Whether the victim was offered longer ago than that."""
        if self.victim_since is None:
            return False
        return self.world.now - self.victim_since > limit_seconds * MICROSECONDS

    # --- the loop ---------------------------------------------------------------------

    def _answer(self, load: Load) -> None:
        """Let the load answer everything that has happened at this instant."""
        while True:
            for name, kind in self._news():
                offer = self._offers[name]
                if kind == "work.started":
                    self._dispatched(name, offer)
                    self._offer_all(load.after_dispatch(self, offer))
                elif kind == "work.checkpointed":
                    self._waiting[offer.group].add(name)  # paused: back in its queue
                elif kind == "work.submitted":
                    # A dispatch that is paused again at once has served nobody; an end has.
                    self.victim_served = self.victim_served or name == VICTIM
                    self._results.append((offer.group, Act(ActKind.ACCEPT_RESULT, name)))
                    self._offer_all(load.after_end(self, offer))
            if not self._acts:
                return
            self._publish()

    def _publish(self) -> None:
        """What is new is offered, and with it the results since the last time are accepted.

        Nobody waits for the results, so that they are not worth a delivery of their own.
        """
        acts, self._acts = self._acts, {}
        results, self._results = self._results, []
        for group, act in results:
            acts.setdefault(group, []).append(act)
        self.world.publish(acts)

    def _news(self) -> Iterator[tuple[str, str]]:
        """WorkItems of this driver that the Authority appended something about, and what."""
        entries = list(self.world.trace.since(self._read))
        self._read = len(self.world.trace)
        for entry in entries:
            name = entry.body.get("work")
            appended = entry.kind is EntryKind.NOTE and entry.body.get("note") == NoteKind.APPENDED
            if appended and isinstance(name, str) and name in self._offers:
                yield name, str(entry.body["kind"])

    def _dispatched(self, name: str, offer: Offer) -> None:
        self.dispatches += 1
        self._seconds += offer.seconds
        self._waiting[offer.group].discard(name)
        if self._elders is not None:
            self._elders.discard(name)

    def _offer_all(self, reactions: Iterable[Reaction]) -> None:
        """Plan each offer before the load says the next, so that it sees its own offers wait."""
        for reaction in reactions:
            if isinstance(reaction, Offer):
                name = self._plan(reaction)
                new = (Act(ActKind.AUTHORIZE, name), Act(ActKind.OFFER, name))
                self._acts.setdefault(reaction.group, []).extend(new)

    def _plan(self, offer: Offer) -> str:
        """Make the WorkItem known, with every limit far away."""
        self._ordinal += 1
        name = driven_name(offer.group, self.driver, self._ordinal, offer.seconds)
        if offer.label:
            name = offer.label
            self.victim_since = self.world.now
            self._elders = {waiting for group in self._waiting.values() for waiting in group}
        self._offers[name] = offer
        self._waiting[offer.group].add(name)
        now_seconds = self.world.now // MICROSECONDS
        near = offer.deadline_seconds
        self.world.add_work(
            WorkPlan(
                name,
                offer.group,
                duration_seconds=offer.seconds,
                urgency=offer.urgency,
                deadline_seconds=FAR_SECONDS if near is None else now_seconds + near,
                offer_seconds=FAR_SECONDS,
                lease_seconds=FAR_SECONDS,
            )
        )
        return name
