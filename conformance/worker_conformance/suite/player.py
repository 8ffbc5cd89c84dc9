"""Playing one closed-loop load against a Worker over its Port.

Responsible for offering what the load says, for watching what is dispatched, and for stopping: when
the run has been long enough, or when the Worker does not follow (nothing accepted, nothing
started). Never judges, and never decides how long is enough.

Everything that could stop an obedient Worker for another reason lies far beyond the run: offers,
start-by times, ownership, deadlines, and Execution Leases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from attrs import define, field, frozen

from worker_conformance.errors import SuiteError
from worker_conformance.judge.fairness import Allowance
from worker_conformance.judge.sequential import SharesTest
from worker_conformance.judge.service import MICROSECONDS
from worker_conformance.judge.service_trace import driven_name
from worker_conformance.judge.trace import EntryKind, NoteKind
from worker_conformance.scenario.model import (
    FAR_SECONDS,
    Act,
    ActKind,
    SetPolicy,
    WorkPlan,
)
from worker_conformance.scenario.surroundings import Join, Leave
from worker_conformance.suite.loads import (
    VICTIM,
    CancelOne,
    Enter,
    Load,
    Offer,
    OpenGates,
    Reaction,
    Rejoin,
    Reweigh,
)
from worker_conformance.suite.surroundings import surround
from worker_conformance.suite.world import World

REFILL = 12
"""Items offered to a queue at a time: few deliveries, and queues that stay far from full."""

DISPATCHES_MAX = 20_000
"""No run is longer, whatever the formulas ask for: the condition then says it was too short."""

STALLED_APPOINTMENTS = 300
"""Moves of the clock without a dispatch after which the Worker is taken to follow no longer."""


@frozen
class Plan:
    """A load, and when it has run long enough."""

    load: Load
    enough: Callable[[Player], bool]


@define(eq=False)
class Player:
    """Plays one load: keeps count of what is offered, waits, runs and has ended."""

    world: World
    driver: str
    dispatches: int = 0
    draws: SharesTest | None = None
    victim_served: bool = False
    victim_since: int | None = None
    _ordinal: int = 0
    _offers: dict[str, Offer] = field(factory=dict)
    _waiting: dict[str, dict[str, Offer]] = field(factory=dict)
    _weights: dict[str, dict[str, object]] = field(factory=dict)
    _comings: list[Rejoin | Enter] = field(factory=list)
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

    def play(self, plan: Plan) -> None:
        """Until it has run long enough, or the Worker does not follow."""
        self._read = len(self.world.trace)
        for group in self.world.scenario.groups:
            self._waiting[group.name] = {}
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
                    self._waiting[offer.group][name] = offer  # paused: back in its queue
                elif kind == "work.submitted":
                    # A dispatch that is paused again at once has served nobody; an end has.
                    self.victim_served = self.victim_served or name == VICTIM
                    self._results.append((offer.group, Act(ActKind.ACCEPT_RESULT, name)))
                    self._offer_all(load.after_end(self, offer))
            self._rearrange()
            if not self._acts:
                return
            self._publish()

    def _rearrange(self) -> None:
        """Change weights and subscriptions as the load says."""
        if self._weights:
            self.world.organization.set_policy(SetPolicy(groups=self._weights))
            self._weights = {}
            self.world.send_policy()
        comings, self._comings = self._comings, []
        for coming in comings:
            if isinstance(coming, Rejoin):
                surround(self.world, Leave((coming.group,)))
            surround(self.world, Join((coming.group,)))

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
        if self.draws is not None:
            wanting = {g.name: g.weight for g in self.world.scenario.groups if self.waiting(g.name)}
            self.draws.take(offer.group, wanting)
        self._seconds += offer.seconds
        self._waiting[offer.group].pop(name, None)
        if self._elders is not None:
            self._elders.discard(name)

    def _offer_all(self, reactions: Iterable[Reaction]) -> None:
        """Plan each offer before the load says the next, so that it sees its own offers wait."""
        for reaction in reactions:
            match reaction:
                case Offer(group=group):
                    name = self._plan(reaction)
                    new = (Act(ActKind.AUTHORIZE, name), Act(ActKind.OFFER, name))
                    self._acts.setdefault(group, []).extend(new)
                case CancelOne(group=group) if self._waiting[group]:
                    oldest = next(iter(self._waiting[group]))
                    del self._waiting[group][oldest]
                    self._acts.setdefault(group, []).append(Act(ActKind.CANCEL, oldest))
                case OpenGates(group=group):
                    gated = [name for name, o in self._waiting[group].items() if o.gated]
                    grants = [
                        Act(ActKind.GRANT, n, {"expires_seconds": FAR_SECONDS}) for n in gated
                    ]
                    self._acts.setdefault(group, []).extend(grants)
                case Reweigh(group=group, weight=weight):
                    self._weights[group] = {"weight": weight}
                case Rejoin() | Enter():
                    self._comings.append(reaction)
                case _:
                    raise SuiteError("driver", f"no driver over the Port does {reaction}")

    def _plan(self, offer: Offer) -> str:
        """Make the WorkItem known, with every limit far away."""
        self._ordinal += 1
        name = driven_name(
            offer.group, self.driver, self._ordinal, offer.seconds, gated=offer.gated
        )
        if offer.label:
            name = offer.label
            self.victim_since = self.world.now
            self._elders = {waiting for group in self._waiting.values() for waiting in group}
        self._offers[name] = offer
        self._waiting[offer.group][name] = offer
        now_seconds = self.world.now // MICROSECONDS
        near = offer.deadline_seconds
        self.world.add_work(
            WorkPlan(
                name,
                offer.group,
                duration_seconds=offer.seconds,
                urgency=offer.urgency,
                approval="human_required" if offer.gated else "not_required",
                deadline_seconds=FAR_SECONDS if near is None else now_seconds + near,
                offer_seconds=FAR_SECONDS,
                lease_seconds=FAR_SECONDS,
            )
        )
        return name
