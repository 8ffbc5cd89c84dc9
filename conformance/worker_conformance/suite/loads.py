"""Closed-loop loads: what each Group offers, and how it answers a dispatch.

A load is the pressure under which a schedule is judged. It never knows who plays it: the drivers
play it over the Worker Port, the self-test plays it on a bare Scheduler, and both are judged by the
same oracles. A load reacts only to dispatches and ends of work, so it never overloads: an
open-loop stream faster than the slots would make correct ageing Schedulers fail.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import Protocol

from attrs import define, evolve, field, frozen

ITEM_SECONDS = 60
"""Length of an ordinary item."""

MIXED_SECONDS: tuple[tuple[int, ...], ...] = ((360,), (30, 60), (30,), (60, 360, 30, 120))
"""Lengths that successive Groups offer under `mixed-sizes`: 0.5 to 6 ordinary items."""

VICTIM = "victim"
"""Label of the one item that `flood` and `starve` are about."""

DEPTH = 4
"""Waiting items a backlogged Group is kept at, at least."""


@frozen
class Offer:
    """One new WorkItem.

    `conversation` is which of the Group's conversations offers it; `label` a name of its own,
    where somebody asks for this item later.
    """

    group: str
    seconds: int = ITEM_SECONDS
    priority_class: str = "standard"
    urgency: str = "normal"
    deadline_seconds: int | None = None
    gated: bool = False
    conversation: int = 0
    label: str = ""


@frozen
class OpenGates:
    """Every gate of the Group opens."""

    group: str


@frozen
class CancelOne:
    """The oldest waiting item of the Group is cancelled."""

    group: str


@frozen
class Rejoin:
    """The Group is left and joined again."""

    group: str


@frozen
class Reweigh:
    """Policy changes the Group's weight."""

    group: str
    weight: float


@frozen
class Enter:
    """A Group that was unknown so far is joined for the first time."""

    group: str


Reaction = Offer | OpenGates | CancelOne | Rejoin | Reweigh | Enter


class View(Protocol):
    """What a load may know of the run."""

    @property
    def dispatches(self) -> int:
        """How many there have been."""
        ...

    def waiting(self, group: str) -> int:
        """Items of the Group that are offered or accepted and not dispatched yet."""
        ...


class Load(Protocol):
    """A closed loop. All three answer with what the Organization does at that very instant."""

    def begin(self, view: View) -> Iterable[Reaction]:
        """The first offers."""
        ...

    def after_dispatch(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """An item was dispatched."""
        ...

    def after_end(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """An item's work ended."""
        ...


@define
class Deep:
    """Keeps every Group's queue filled: `share`, `mixed-sizes`, `many`, `inflate`, `split`.

    `makers` says what each Group offers next. A queue is refilled to `high` when fewer than `low`
    items wait in it: over the Port one larger delivery costs less than many small ones.
    """

    makers: Mapping[str, Iterable[Offer]]
    low: int = DEPTH
    high: int = DEPTH

    def __attrs_post_init__(self) -> None:
        """Make each maker an endless one."""
        self.makers = {group: cycle(offers) for group, offers in self.makers.items()}

    def begin(self, view: View) -> Iterable[Reaction]:
        """Fill every queue, the Groups in turn so that no arrival order favours one."""
        batches = [self.refill(view, group) for group in self.makers]
        for row in range(max(map(len, batches), default=0)):
            for batch in batches:
                yield from batch[row : row + 1]

    def after_dispatch(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """Refill the queue that was served."""
        return self.refill(view, offer.group)

    def after_end(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """Nothing: the queue was refilled at the dispatch."""
        del view, offer
        return ()

    def refill(self, view: View, group: str) -> Sequence[Offer]:
        """What is missing in one queue."""
        if group not in self.makers:
            return ()
        waiting = view.waiting(group)
        missing = self.high - waiting if waiting < self.low else 0
        return [offer for _, offer in zip(range(missing), self.makers[group], strict=False)]


@define
class Pulse(Deep):
    """One Group's queue empties every time: its next item comes when its last one has ended."""

    pulsing: str = ""

    def begin(self, view: View) -> Iterable[Reaction]:
        """Full queues, and one item in the pulsing Group."""
        yield from Deep.begin(self, view)
        yield Offer(self.pulsing)

    def after_end(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """The next pulse."""
        if offer.group == self.pulsing and not view.waiting(self.pulsing):
            yield Offer(self.pulsing)


@define
class Hoard(Deep):
    """One Group is idle for `idle_dispatches`, then floods."""

    hoarding: str = ""
    idle_dispatches: int = 100
    flood: int = 64
    _flooded: bool = field(default=False, init=False)

    def after_dispatch(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """Refill the others; flood once; then keep that queue filled too."""
        yield from self.refill(view, offer.group)
        if not self._flooded and view.dispatches >= self.idle_dispatches:
            self._flooded = True
            yield from (Offer(self.hoarding) for _ in range(self.flood))
        elif self._flooded and offer.group == self.hoarding:
            yield Offer(self.hoarding)


@define
class Blocked(Deep):
    """One Group's items are accepted and gated; after a while every gate opens."""

    blocked: str = ""
    closed_dispatches: int = 100
    held: int = 64
    _open: bool = field(default=False, init=False)

    def begin(self, view: View) -> Iterable[Reaction]:
        """Full queues, one of them behind gates."""
        yield from Deep.begin(self, view)
        yield from (Offer(self.blocked, gated=True) for _ in range(self.held))

    def after_dispatch(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """Refill the others, and open the gates once."""
        yield from self.refill(view, offer.group)
        if not self._open and view.dispatches >= self.closed_dispatches:
            self._open = True
            yield OpenGates(self.blocked)
        elif self._open and offer.group == self.blocked:
            yield Offer(self.blocked)


@define
class Late(Deep):
    """One Group is joined, and begins to offer, only after `absent_dispatches`."""

    late: str = ""
    absent_dispatches: int = 100
    _joined: bool = field(default=False, init=False)

    def after_dispatch(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """Refill the others; join once; then keep that queue filled too."""
        yield from self.refill(view, offer.group)
        if not self._joined and view.dispatches >= self.absent_dispatches:
            self._joined = True
            yield Enter(self.late)
            yield from (Offer(self.late) for _ in range(self.high))
        elif self._joined and offer.group == self.late:
            yield Offer(self.late)


@define
class Rejoining(Deep):
    """One Group leaves and joins again at each of its own dispatches."""

    rejoining: str = ""

    def after_dispatch(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """Refill, and leave and join where it was that Group."""
        yield from self.refill(view, offer.group)
        if offer.group == self.rejoining:
            yield Rejoin(self.rejoining)


@define
class Cancelling(Deep):
    """One Group's oldest waiting item is cancelled at each dispatch of another."""

    cancelling: str = ""

    def after_dispatch(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """Cancel one and refill."""
        if offer.group != self.cancelling and view.waiting(self.cancelling) > 1:
            yield CancelOne(self.cancelling)
        yield from self.refill(view, self.cancelling)
        yield from self.refill(view, offer.group)


@define
class Reweighing(Deep):
    """Weights rotate among the Groups every `every_dispatches`."""

    weights: Mapping[str, float] = field(factory=dict)
    every_dispatches: int = 200

    def after_dispatch(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """Refill, and rotate the weights when their time has come."""
        yield from self.refill(view, offer.group)
        if view.dispatches % self.every_dispatches == 0:
            names, weights = list(self.weights), list(self.weights.values())
            turn = view.dispatches // self.every_dispatches % len(names)
            for place, name in enumerate(names):
                yield Reweigh(name, weights[(place + turn) % len(names)])


@define
class Flood(Deep):
    """Others hold `held` items each; then one Group offers a single item."""

    victim: str = ""
    held: int = 64
    priority_class: str = "standard"
    _offered: bool = field(default=False, init=False)

    def begin(self, view: View) -> Iterable[Reaction]:
        """The full queues."""
        del view
        others = [group for group in self.makers if group != self.victim]
        for _ in range(self.held):
            yield from (Offer(group, priority_class=self.priority_class) for group in others)

    def after_dispatch(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """The single item comes once the flood is being worked on."""
        del view, offer
        if not self._offered:
            self._offered = True
            yield Offer(self.victim, label=VICTIM)


@define
class Wall(Deep):
    """One Group's long queue of favoured work is offered before everybody else's."""

    walled: str = ""
    height: int = 200

    def begin(self, view: View) -> Iterable[Reaction]:
        """The wall, then one queue after the other."""
        yield from itertools.islice(self.makers[self.walled], self.height)
        for group in self.makers:
            yield from self.refill(view, group)


@define
class Interrupting(Deep):
    """Every few dispatches one Group offers an item of the highest class."""

    interrupting: str = ""
    every_dispatches: int = 5

    def after_dispatch(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """Refill; interrupt now and then."""
        yield from self.refill(view, offer.group)
        if view.dispatches % self.every_dispatches == 0:
            yield Offer(self.interrupting, priority_class="urgent")


@define
class Batch:
    """Everything is offered at once, and nothing after it."""

    offers: Sequence[Offer]

    def begin(self, view: View) -> Iterable[Reaction]:
        """All of it."""
        del view
        return self.offers

    def after_dispatch(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """Nothing more."""
        del view, offer
        return ()

    def after_end(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """Nothing more."""
        del view, offer
        return ()


@define
class Starve(Deep):
    """An endless closed-loop stream of favoured work in every Group, and one disfavoured item."""

    victim: Offer = field(default=Offer(""))
    _offered: bool = field(default=False, init=False)

    def after_dispatch(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """Keep the stream going; the victim comes once it flows."""
        yield from self.refill(view, offer.group)
        if not self._offered:
            self._offered = True
            yield evolve(self.victim, label=VICTIM)


def equal(groups: Sequence[str], *, low: int = DEPTH, high: int = DEPTH) -> Deep:
    """`share`: equal items, deep queues."""
    return Deep({group: [Offer(group)] for group in groups}, low, high)


def mixed(groups: Sequence[str], *, low: int = DEPTH, high: int = DEPTH) -> Deep:
    """`mixed-sizes`: each Group with lengths of its own, 0.5 to 6 ordinary items."""
    lengths = dict(zip(groups, cycle(MIXED_SECONDS), strict=False))
    makers = {g: [Offer(g, seconds) for seconds in lengths[g]] for g in groups}
    return Deep(makers, low, high)


def inflated(groups: Sequence[str], *, low: int = DEPTH, high: int = DEPTH) -> Deep:
    """`inflate`: the last Group claims top urgency and the nearest deadline for everything."""
    makers = {group: [Offer(group)] for group in groups}
    last = groups[-1]
    makers[last] = [Offer(last, urgency="critical", deadline_seconds=ITEM_SECONDS)]
    return Deep(makers, low, high)


def split(groups: Sequence[str], conversations: int = 8) -> Deep:
    """`split`: the last Group offers through many conversations."""
    makers = {group: [Offer(group)] for group in groups}
    last = groups[-1]
    makers[last] = [Offer(last, conversation=number) for number in range(conversations)]
    return Deep(makers)


TINY_SECONDS = 5
"""Length of an item of the Group that offers its work in small pieces."""


@define
class Pieces(Deep):
    """One Group offers its work in tiny pieces, and keeps very many of them waiting."""

    splitting: str = ""
    pieces: int = 40

    def begin(self, view: View) -> Iterable[Reaction]:
        """The pieces first, so that no order of arrival speaks against them."""
        yield from (self._piece() for _ in range(self.pieces))
        yield from Deep.begin(self, view)

    def after_dispatch(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """Another piece for each that was started."""
        yield from self.refill(view, offer.group)
        if offer.group == self.splitting:
            yield self._piece()

    def _piece(self) -> Offer:
        return Offer(self.splitting, TINY_SECONDS)
