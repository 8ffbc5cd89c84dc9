"""Delivery: which Events the Worker gets next, over which links, and when a replay has ended.

Joins the Groups' logs, the mailboxes and the network. Never calls the Worker and never moves the
clock: the World does, with the frames that it gets here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.organization.authority import GroupAuthority
from worker_conformance.organization.organization import Organization
from worker_conformance.scenario.model import Scenario
from worker_conformance.suite.mailbox import Mailbox
from worker_conformance.suite.network import Network

FRAMES_MAX = 500
"""Frames in one call; the Port's line limit is never in danger."""


class Delivery:
    """What the Worker still gets. `automatic`: Events arrive by themselves."""

    def __init__(self, scenario: Scenario, organization: Organization, seed: int) -> None:
        self._organization = organization
        self.automatic = scenario.delivery == "auto"
        self.network = Network(seed)
        self.connected = True
        self.cut: set[str] = set()
        self._mailboxes = {group.name: Mailbox(group.name) for group in scenario.groups}
        self._arrived: dict[str, list[int]] = {name: [] for name in self._mailboxes}
        # The Groups that may owe something: to ask all of them every time takes n times as long.
        self._places = {name: place for place, name in enumerate(self._mailboxes)}
        self._lively: set[str] = set()
        self._replaying: set[str] = set()

    # --- links and subscriptions ------------------------------------------------------

    @property
    def group_names(self) -> Collection[str]:
        """All Groups of the scenario."""
        return self._mailboxes.keys()

    def connect(self) -> None:
        """Every link is up."""
        self.connected = True
        self.cut.clear()

    def subscribe(self, group: str, after: int) -> None:
        """A replay begins above a position."""
        after = min(after, self._last(group))
        self._mailboxes[group].subscribe(after)
        self._arrived[group].clear()
        self.network.restart(group, after)
        self._lively.add(group)
        self._replaying.add(group)

    def close(self, groups: Collection[str] | None = None) -> None:
        """Subscriptions are gone with their links: those of some Groups, or all."""
        for name in self._mailboxes if groups is None else groups:
            self._mailboxes[name].close()
            self.network.lose(name)
            self._arrived[name].clear()
            self._replaying.discard(name)

    def reaches(self, group: str) -> bool:
        """Whether Events of a Group reach the Worker now."""
        return self.connected and group not in self.cut and self._mailboxes[group].subscribed

    def reached(self) -> Mapping[str, int]:
        """The position delivered without a gap, of each Group that the Worker is reached by."""
        return {name: box.position for name, box in self._mailboxes.items() if self.reaches(name)}

    # --- Events -----------------------------------------------------------------------

    def frame(self, group: str, sequence: int) -> JsonObject:
        """The EVENT frame of one Event."""
        return self._organization.event_frame(self._authority(group).events[sequence - 1])

    def by_hand(self, group: str, sequences: Sequence[int]) -> list[JsonObject]:
        """The Events that a step names, noted as delivered; (-1,) stands for all that are owed."""
        last, mailbox = self._last(group), self._mailboxes[group]
        everything = tuple(sequences) == (-1,)
        wanted = mailbox.owed(last) if everything else [one for one in sequences if one <= last]
        mailbox.delivered(wanted)
        return [self.frame(group, sequence) for sequence in wanted]

    def due(self, now: int) -> list[JsonObject]:
        """What arrives by itself now, over all Groups, in one call; to be asked until empty."""
        frames: list[JsonObject] = []
        if not self.automatic:
            return frames
        self._lively |= self._organization.take_grown()
        for name in sorted(self._lively, key=self._places.__getitem__):
            frames.extend(self._due_of(name, now))
            if self._is_quiet(name):
                self._lively.discard(name)
        return frames

    def _is_quiet(self, group: str) -> bool:
        """Whether nothing arrives before the Group's log grows or it is subscribed to again."""
        mailbox = self._mailboxes[group]
        return not mailbox.subscribed or (
            self.network.is_calm(group) and not self._arrived[group] and not self._owes(mailbox)
        )

    def _due_of(self, group: str, now: int) -> Iterator[JsonObject]:
        if not self.reaches(group):
            return
        mailbox, arrived = self._mailboxes[group], self._arrived[group]
        owed = mailbox.owed(self._last(group))
        if not self.network.is_calm(group):
            self.network.send(group, owed, now)
            arrived.extend(self.network.arrived(group, now))
        elif not arrived:
            arrived.extend(owed[:FRAMES_MAX])
        while arrived:
            sequence = arrived.pop(0)
            yield self.frame(group, sequence)
            early = mailbox.delivered((sequence,))
            if early:
                # A Worker that discards what lies above a gap gets it again once the gap closed,
                # in another call: a copy in the same call may be dropped as a duplicate.
                arrived[:0] = early
                return

    # --- the end of a replay ----------------------------------------------------------

    def replayed(self) -> list[tuple[str, int]]:
        """Group IDs and positions whose replay has just ended."""
        names = sorted(self._replaying, key=self._places.__getitem__)
        ended = [box for box in map(self._mailboxes.__getitem__, names) if self._is_over(box)]
        self._replaying.difference_update(box.group for box in ended)
        return [(self._authority(box.group).group_id, box.position) for box in ended]

    def _is_over(self, mailbox: Mailbox) -> bool:
        return not self.automatic or self.network.is_calm(mailbox.group) or not self._owes(mailbox)

    def _owes(self, mailbox: Mailbox) -> bool:
        return mailbox.position < self._last(mailbox.group)

    def _last(self, group: str) -> int:
        return len(self._authority(group).events)

    def _authority(self, name: str) -> GroupAuthority:
        return self._organization.group(name)
