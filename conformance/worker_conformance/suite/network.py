"""A network that delays, reorders, doubles and loses what travels, and cuts links; per Group.

Decides when an Event that was sent arrives, how often, and whether a Command arrives at all. Every
decision is drawn from the seed by Group and running number, so that a run repeats. Never holds an
Event and never delivers one: `delivery` asks what has arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b

from attrs import define, field, frozen

from worker_conformance.scenario.clock import SECOND
from worker_conformance.scenario.surroundings import CALM, Disturbance

RETRANSMIT_SECONDS = 20
"""When a lost Event is sent again: delivery is at least once."""

DOUBLE_SECONDS = 1
"""How much later the second copy of an Event arrives."""


@frozen(order=True)
class Flight:
    """One copy of an Event on its way; ties arrive in the order in which they were sent."""

    at: int
    number: int
    sequence: int


@define
class Path:
    """What is on the way to the Worker in one Group, and what happens to it there."""

    disturbance: Disturbance = CALM
    since: int = 0
    launched: int = 0
    numbers: int = 0
    moments: int = 0
    sent_at: int = -1
    losing: bool = False
    in_flight: list[Flight] = field(factory=list)
    cut: bool = False


@define
class Network:
    """The paths of all Groups. Times are microseconds since the scenario's epoch."""

    seed: int
    _paths: dict[str, Path] = field(factory=dict)

    def disturb(self, group: str, disturbance: Disturbance, now: int) -> None:
        """From now on this happens to what is sent; what is under way still arrives."""
        path = self._paths.setdefault(group, Path())
        path.disturbance, path.since = disturbance, now

    def is_calm(self, group: str) -> bool:
        """Whether everything in a Group arrives at once, and nothing is on its way."""
        path = self._paths.get(group)
        return path is None or (path.disturbance == CALM and not path.in_flight)

    def restart(self, group: str, after: int) -> None:
        """A new subscription: sending begins anew; what is on its way still arrives."""
        path = self._paths.get(group)
        if path is not None:
            path.launched = after

    def lose(self, group: str) -> None:
        """The link is gone, and what was on its way with it."""
        path = self._paths.get(group)
        if path is not None:
            path.in_flight.clear()

    def send(self, group: str, sequences: Iterable[int], now: int) -> None:
        """Send each Event that was not sent yet in this subscription."""
        path = self._paths[group]
        for sequence in sequences:
            if sequence > path.launched:
                path.launched = sequence
                self._launch(group, path, sequence, now)

    def arrived(self, group: str, now: int) -> tuple[int, ...]:
        """Sequences that have arrived by now, in order of arrival; each copy once."""
        path = self._paths[group]
        here = sorted(flight for flight in path.in_flight if flight.at <= now)
        path.in_flight = [flight for flight in path.in_flight if flight.at > now]
        return tuple(flight.sequence for flight in here)

    def loses_commands(self, group: str, now: int) -> bool:
        """Whether the Commands that are sent to a Group at this moment are lost on the way.

        One connection keeps their order, so that none overtakes another: what is sent at one moment
        arrives as a whole or not at all.
        """
        path = self._paths.get(group)
        if path is None or not path.disturbance.lose:
            return False
        if path.sent_at != now:
            path.sent_at, path.moments = now, path.moments + 1
            path.losing = self._draw("lose", group, path.moments) < path.disturbance.lose
        return path.losing

    def next_due(self, now: int) -> int | None:
        """When something arrives next, or a link changes."""
        arrivals = (flight.at for path in self._paths.values() for flight in path.in_flight)
        turns = (self._next_turn(path, now) for path in self._paths.values())
        return min((*arrivals, *(at for at in turns if at is not None)), default=None)

    def turns(self, now: int) -> Iterator[tuple[str, str]]:
        """Links that go down or come up now: Group and new state."""
        for group, path in self._paths.items():
            cut = self._is_cut(path, now)
            if cut != path.cut:
                path.cut = cut
                yield group, "down" if cut else "up"

    # --- inside -----------------------------------------------------------------------

    def _launch(self, group: str, path: Path, sequence: int, now: int) -> None:
        told, number = path.disturbance, path.numbers + 1
        at = now + told.delay_seconds * SECOND
        at += told.reorder_seconds * SECOND * self._draw("reorder", group, number) // 100
        if self._draw("drop", group, number) < told.drop:
            at += RETRANSMIT_SECONDS * SECOND
        path.in_flight.append(Flight(at, number, sequence))
        path.numbers = number
        if self._draw("duplicate", group, number) < told.duplicate:
            path.numbers += 1
            path.in_flight.append(Flight(at + DOUBLE_SECONDS * SECOND, path.numbers, sequence))

    def _draw(self, what: str, group: str, number: int) -> int:
        """0 to 99, by seed, Group and running number."""
        text = f"{self.seed} {what} {group} {number}".encode()
        return int.from_bytes(blake2b(text, digest_size=8).digest()) % 100

    def _is_cut(self, path: Path, now: int) -> bool:
        """A link is up first, and cut for the last part of each round."""
        told = path.disturbance
        if not told.every_seconds:
            return False
        place = (now - path.since) % (told.every_seconds * SECOND)
        return place >= (told.every_seconds - told.cut_seconds) * SECOND

    def _next_turn(self, path: Path, now: int) -> int | None:
        told = path.disturbance
        if not told.every_seconds:
            return now if path.cut else None
        round_length = told.every_seconds * SECOND
        begun = now - (now - path.since) % round_length
        cut_at = begun + round_length - told.cut_seconds * SECOND
        return cut_at if now < cut_at else begun + round_length
