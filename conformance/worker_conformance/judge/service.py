"""The service history: who was dispatched when, and who was backlogged meanwhile.

Responsible for turning facts about WorkItems (eligible, dispatched, stopped) into one ordered list
of moments that the fairness, starvation and exact checks read. Never judges, and never asks where
the facts come from: `service_trace` feeds it from a Trace, the self-test's bare Scheduler harness
feeds it directly, so both are judged by the very same oracles.

A Group is *backlogged* while it has an eligible item and runs below its quota. That is evaluated at
the end of each instant and just before each dispatch; a queue that empties in between ends the
period too. (Sampled only before dispatches, a round-robin Scheduler would look unfair to a Group
that refills at its own dispatch.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import define, evolve, field, frozen

MICROSECONDS = 1_000_000


@frozen
class Item:
    """What the judge knows of a WorkItem: its Group, its service time, its priority class."""

    name: str
    group: str
    seconds: float = 1.0
    priority_class: str = "standard"


@frozen
class Standing:
    """A Group's weight, class or backlog as it is from here on.

    `priority_class` is that of all its eligible items, or None while they differ: then the Group
    is compared with nobody. `fresh` says that an earlier backlogged period has ended even if
    another one begins at the same moment (the Group left and joined again, say).
    """

    at: int
    group: str
    weight: float
    priority_class: str | None
    backlogged: bool
    fresh: bool = False


@frozen
class Dispatch:
    """An accepted `work.start`, charged at the instant of the Command.

    `seconds` is the service time of the segment that begins here (as planned while it still runs:
    a resume is charged for its own segment only); `since` the time at which the item became
    eligible; `running` and `group_running` count this dispatch too. `eligible` is
    false when something gated, finished, cancelled or already running was dispatched.
    """

    at: int
    group: str
    item: str
    seconds: float
    since: int
    eligible: bool
    running: int
    group_running: int
    quota: int | None
    priority_class: str


@frozen
class Rest:
    """The end of an instant: free slots beside Groups that have something startable."""

    at: int
    free: int
    startable: tuple[str, ...]


Moment = Standing | Dispatch | Rest


@frozen
class Waiting:
    """An eligible item that had not been dispatched when the history ended."""

    item: str
    group: str
    since: int


@frozen(eq=False)
class ServiceHistory:
    """The moments in order, and what was offered.

    `largest` is the service time in seconds of the largest item that each Group offered; a Group
    that offered nothing is not in it. `weights` are those in force at the end. `ends_at` is the
    last instant seen.
    """

    slots: int
    moments: tuple[Moment, ...]
    weights: Mapping[str, float]
    largest: Mapping[str, float]
    waiting: tuple[Waiting, ...]
    ends_at: int

    def dispatches(self) -> Iterator[Dispatch]:
        """Only the dispatches, in order."""
        return (moment for moment in self.moments if isinstance(moment, Dispatch))


@define(eq=False)
class _GroupState:
    weight: float
    quota: int | None
    eligible: dict[str, int] = field(factory=dict)  # item to the time since which it is eligible
    classes: dict[str, int] = field(factory=dict)  # class to the number of eligible items in it
    running: int = 0
    last_class: str | None = None
    present: bool = True
    fresh: bool = False
    said: tuple[float, str | None, bool] | None = None

    def backlogged(self) -> bool:
        return bool(self.eligible) and self.below_quota()

    def below_quota(self) -> bool:
        return self.quota is None or self.running < self.quota

    def priority_class(self) -> str | None:
        """The one class of what it has to do; the last one known while it has nothing."""
        if len(self.classes) > 1:
            return None
        for only in self.classes:
            self.last_class = only
        return self.last_class


@define(eq=False)
class HistoryBuilder:
    """Collects facts in order; the one owner of a history that is still growing.

    Times are integers in microseconds and never go back.
    """

    slots: int
    _groups: dict[str, _GroupState] = field(factory=dict, init=False)
    _items: dict[str, Item] = field(factory=dict, init=False)
    _running: dict[str, int] = field(factory=dict, init=False)  # item to its dispatch's index
    _moments: list[Moment] = field(factory=list, init=False)
    _largest: dict[str, float] = field(factory=dict, init=False)
    _touched: dict[str, None] = field(factory=dict, init=False)  # a set that keeps its order
    _unprogressed: dict[str, int] = field(factory=dict, init=False)  # item to its old `since`
    _suspended: bool = field(default=False, init=False)
    _at: int = field(default=0, init=False)

    def group(self, name: str, weight: float, quota: int | None = None) -> None:
        """A Group's weight and quota from now on."""
        state = self._groups.get(name)
        if state is None:
            self._groups[name] = _GroupState(weight, quota)
        else:
            state.weight, state.quota = weight, quota
        self._touched[name] = None

    def leave(self, name: str) -> None:
        """The Group is out of reach (left, or its link is cut): nothing in it can be started."""
        self._groups[name].present = False
        self._restart(name)

    def join(self, name: str) -> None:
        """The Group is in reach again. Its earlier backlogged period has ended."""
        self._groups[name].present = True
        self._restart(name)

    def suspend(self) -> None:
        """The Worker is down: nobody is backlogged until the next rest."""
        self._suspended = True
        for name in self._groups:
            self._restart(name)

    def offered(self, item: Item) -> None:
        """An item was offered; `largest` counts it whether or not it is ever dispatched."""
        self._items[item.name] = item
        known = self._largest.get(item.group, 0.0)
        self._largest[item.group] = max(known, item.seconds)

    def reclassify(self, name: str, priority_class: str) -> None:
        """An item's priority class changed."""
        old = self._items[name]
        self._items[name] = Item(old.name, old.group, old.seconds, priority_class)
        state = self._groups[old.group]
        if name in state.eligible:
            _discount(state.classes, old.priority_class)
            state.classes[priority_class] = state.classes.get(priority_class, 0) + 1
            self._touched[old.group] = None

    def ready(self, at: int, name: str) -> None:
        """The item is eligible from now on; does nothing if it already was."""
        self._at = at
        item = self._items[name]
        state = self._groups[item.group]
        if name not in state.eligible:
            # A segment without any progress has not ended the wait that came before it.
            state.eligible[name] = self._unprogressed.pop(name, at)
            state.classes[item.priority_class] = state.classes.get(item.priority_class, 0) + 1
            self._touched[item.group] = None

    def unready(self, at: int, name: str) -> None:
        """The item is not eligible any more (gated, cancelled, out of reach)."""
        self._at = at
        item = self._items[name]
        state = self._groups[item.group]
        if state.eligible.pop(name, None) is not None:
            _discount(state.classes, item.priority_class)
            self._touched[item.group] = None
            if not state.eligible:
                # The Scheduler has seen an empty queue, and many forfeit their credit then: the
                # period has ended even if the queue is filled again at this very instant.
                state.fresh = True

    def dispatched(self, at: int, name: str) -> Dispatch:
        """An accepted `work.start`."""
        self._evaluate(at)
        item = self._items[name]
        state = self._groups[item.group]
        eligible = name in state.eligible
        since = state.eligible.get(name, at)
        self.unready(at, name)
        if name not in self._running:
            self._running[name] = len(self._moments)
            state.running += 1
            self._touched[item.group] = None
        dispatch = Dispatch(
            at,
            item.group,
            name,
            item.seconds,
            since,
            eligible,
            len(self._running),
            state.running,
            state.quota,
            item.priority_class,
        )
        self._moments.append(dispatch)
        return dispatch

    def stopped(self, at: int, name: str) -> None:
        """The item's segment ended, however; does nothing if it was not running."""
        self._at = at
        index = self._running.pop(name, None)
        if index is None:
            return
        group = self._items[name].group
        self._groups[group].running -= 1
        self._touched[group] = None
        dispatch = self._moments[index]
        used = (at - dispatch.at) / MICROSECONDS
        if isinstance(dispatch, Dispatch) and used != dispatch.seconds:
            self._moments[index] = evolve(dispatch, seconds=used)
            if not used:
                self._unprogressed[name] = dispatch.since

    def rest(self, at: int) -> None:
        """The end of an instant."""
        if self._suspended:
            self._suspended = False
            self._touched.update(dict.fromkeys(self._groups))
        self._evaluate(at)
        free = self.slots - len(self._running)
        startable: tuple[str, ...] = ()
        if free > 0:
            startable = tuple(n for n, s in self._groups.items() if s.present and s.backlogged())
        self._moments.append(Rest(at, free, startable))

    def build(self) -> ServiceHistory:
        """What has been collected so far."""
        waiting = [
            Waiting(item, name, since)
            for name, state in self._groups.items()
            for item, since in state.eligible.items()
        ]
        weights = {name: state.weight for name, state in self._groups.items()}
        return ServiceHistory(
            self.slots,
            tuple(self._moments),
            weights,
            dict(self._largest),
            tuple(waiting),
            self._at,
        )

    def _restart(self, name: str) -> None:
        self._groups[name].fresh = True
        self._touched[name] = None

    def _evaluate(self, at: int) -> None:
        """Say how each Group that changed stands now, where that is news."""
        self._at = at
        for name in self._touched:
            state = self._groups[name]
            backlogged = state.present and not self._suspended and state.backlogged()
            now = (state.weight, state.priority_class(), backlogged)
            if now != state.said or state.fresh:
                self._moments.append(Standing(at, name, *now, state.fresh))
                state.said, state.fresh = now, False
        self._touched.clear()


def _discount(counts: dict[str, int], key: str) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
