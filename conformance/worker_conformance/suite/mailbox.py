"""What the network still owes the Worker in one Group.

Keeps which Events were delivered in this subscription and which come next. Never holds an Event
itself (the Group Authority's log does) and never decides when to deliver.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field


@define
class Mailbox:
    """The delivery state of one Group's subscription.

    `position` is the highest sequence up to which everything was delivered since the last
    SUBSCRIBE; a replay starts above its `afterSequence`.
    """

    group: str
    subscribed: bool = False
    position: int = 0
    _ahead: set[int] = field(factory=set)

    def subscribe(self, after_sequence: int) -> None:
        """Start a replay above `after_sequence`."""
        self.subscribed = True
        self.position = after_sequence
        self._ahead.clear()

    def close(self) -> None:
        """Forget the subscription: the runtime or the link is gone."""
        self.subscribed = False
        self._ahead.clear()

    def owed(self, last: int) -> range:
        """Sequences to deliver next, up to `last`.

        When a hole closes everything above it is delivered again, so that a Worker which
        discards out-of-order Events gets them too.
        """
        return range(self.position + 1, last + 1)

    def delivered(self, sequences: Iterable[int]) -> tuple[int, ...]:
        """Note that these sequences were handed to the Worker, in this order.

        Returns those that had come before their turn, above a gap that has closed now.
        """
        early: list[int] = []
        for sequence in sequences:
            if sequence == self.position + 1:
                self.position = sequence
                while self.position + 1 in self._ahead:
                    self.position += 1
                    self._ahead.discard(self.position)
                    early.append(self.position)
            elif sequence > self.position:
                self._ahead.add(sequence)
        return tuple(early)
