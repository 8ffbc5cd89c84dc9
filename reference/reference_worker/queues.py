"""One Work queue: the eligible WorkItems of one Group in one priority class, in order.

Responsible for the order inside a Group. Never compares items of different Groups; that is the
Scheduler's part.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

from reference_worker.instants import MICROS

HORIZON = 3600 * MICROS  # the most that urgency and deadline together are worth, in waiting time
_URGENCY_PENALTY = {"critical": 0, "high": 1, "normal": 2, "routine": 3}


class Place(NamedTuple):
    """Where an item stands. Smaller is earlier; a plain tuple, for it is compared all the time.

    `key` is the time at which the item began to wait plus a penalty below HORIZON. A fixed key is
    ageing without a clock: an item that has waited a horizon longer than another is ahead of it,
    whatever the two claim, and nothing saturates or has to be recomputed as time passes
    (MWP-WRK-010; the classic reduction of linear ageing to a static priority).
    """

    key: int
    sequence: int
    work_item_id: str


def place(work_item_id: str, since: int, deadline: int, urgency: str, sequence: int) -> Place:
    """The place of an item that waits since `since` (Instants in microseconds)."""
    slack = max(0, deadline - since)
    # Strictly increasing in the slack and always below half a horizon: a nearer deadline is always
    # better, and the farthest one still ages past any newcomer.
    lateness = HORIZON // 2 * slack // (slack + HORIZON)
    claim = HORIZON // 2 * _URGENCY_PENALTY[urgency] // 4
    return Place(since + lateness + claim, sequence, work_item_id)


class WorkQueue:
    """A heap of places with lazy removal: entering, leaving and choosing cost O(log n)."""

    def __init__(self) -> None:
        self._heap: list[Place] = []
        self._places: dict[str, Place] = {}

    def __len__(self) -> int:
        """How many items wait here."""
        return len(self._places)

    def put(self, place: Place) -> None:
        """Enter, or move to another place."""
        if self._places.get(place.work_item_id) != place:
            self._places[place.work_item_id] = place
            heapq.heappush(self._heap, place)

    def drop(self, work_item_id: str) -> None:
        """Leave; its heap entry is passed over later."""
        self._places.pop(work_item_id, None)

    def head(self) -> Place | None:
        """The item that is next in this queue."""
        while self._heap:
            first = self._heap[0]
            if self._places.get(first.work_item_id) == first:
                return first
            heapq.heappop(self._heap)
        return None
