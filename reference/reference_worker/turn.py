"""One turn: everything that one stimulus sees and causes.

Responsible for collecting effects in order and for remembering which WorkItems have to be looked
at again. Effects leave only after the journal's commit.
"""

from __future__ import annotations

import hashlib
from typing import Any

from attrs import define, field

from reference_worker.documents import Document
from reference_worker.instants import spell
from reference_worker.projection import Projection
from reference_worker.records import Group, WorkItem, evolve
from reference_worker.runtime import Link, Runtime

IDENTIFIER_PREFIX = "urn:missionweaveprotocol:worker"


@define
class Turn:
    """The present stimulus: `now` is elapsed time, `wall` is what Commands are stamped with."""

    projection: Projection
    runtime: Runtime
    now: int
    wall: int
    effects: list[Document] = field(factory=list)
    touched: dict[str, None] = field(factory=dict)
    acknowledge: dict[str, None] = field(factory=dict)

    def emit(self, effect: Document) -> None:
        """Add an effect."""
        self.effects.append(effect)

    def send(self, frame_type: str, group_id: str, **members: object) -> Document:
        """Emit a wire frame of this Worker's making and return it.

        A fenced runtime makes none (MWP-IDN-008).
        """
        frame: Document = {
            "protocolVersion": "0.1",
            "frameId": self.identifier("frame", group_id),
            "frameType": frame_type,
            **members,
        }
        if not self.projection.session.fenced_by:
            self.emit({"type": "frame", "frame": frame})
        return frame

    def touch(self, work_item_id: str) -> None:
        """Look at this item before the turn ends."""
        self.touched[work_item_id] = None

    def touch_groups(self, *group_ids: str) -> None:
        """Look at every item of some Groups."""
        for group_id in group_ids:
            for item in self.projection.items.of_group(group_id):
                self.touch(item.work_item_id)

    def touch_all(self) -> None:
        """Look at every item: something changed that any of them may depend on."""
        for item in self.projection.items:
            self.touch(item.work_item_id)

    def item(self, work_item_id: str) -> WorkItem | None:
        """The item, if this Worker is concerned with it."""
        return self.projection.items.get(work_item_id)

    def change(self, item: WorkItem, **members: Any) -> WorkItem:
        """Put a changed item back and look at it again."""
        changed = evolve(item, **members)
        self.projection.items.put(item.work_item_id, changed)
        self.touch(item.work_item_id)
        return changed

    def group(self, group_id: str) -> Group | None:
        """The Group, if this Agent ever was in it."""
        return self.projection.groups.get(group_id)

    def change_group(self, group: Group, **members: Any) -> Group:
        """Put a changed Group back."""
        changed = evolve(group, **members)
        self.projection.groups.put(group.group_id, changed)
        return changed

    def identifier(self, what: str, group_id: str) -> str:
        """A new identifier, unique also over the loss of the disk (MWP-FND-008).

        It is derived from the Agent, its Session Epoch and a count kept for each Group, hashed: one
        Group cannot read another's traffic off the identifiers that it sees.
        """
        session = self.projection.session
        group = self.group(group_id)
        if group is None:
            count = session.identifiers + 1
            self.projection.session = evolve(session, identifiers=count)
        else:
            count = group.identifiers + 1
            self.change_group(group, identifiers=count)
        parts = (session.agent_id, str(session.session_epoch), group_id, what, str(count))
        text = hashlib.sha256("\n".join((*parts, spell(self.now))).encode()).hexdigest()
        return f"{IDENTIFIER_PREFIX}:{what}:{text[:40]}"

    def is_live(self, group_id: str) -> bool:
        """True if Commands for the Group may leave now."""
        return (
            self.runtime.links.get(group_id) is Link.LIVE and not self.projection.session.fenced_by
        )

    def stamp(self) -> str:
        """The issue time of what is signed in this turn."""
        return spell(self.wall)
