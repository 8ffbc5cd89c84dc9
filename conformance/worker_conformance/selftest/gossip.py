"""A Worker that gossips: it keeps what it was told of every Group and can tell of a neighbour.

The base of leaky Workers. Tells nothing unless a subclass does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from worker_conformance.documents.json_types import JsonObject, JsonValue, find, text_at
from worker_conformance.judge.reading import command_of
from worker_conformance.selftest.interposer import Interposer, says
from worker_conformance.selftest.speaker import events_in

WAITING = frozenset({"offered", "queued", "active", "blocked"})


class Gossip(Interposer):
    """Keeps what it is told; a subclass says in `leak` what it tells, to whom."""

    def _begin(self) -> None:
        super()._begin()
        self._items: dict[str, JsonObject] = {}
        self._missions: dict[str, JsonObject] = {}
        self._entries: dict[str, JsonObject] = {}
        self._hashes: dict[str, str] = {}
        self._secrets: list[str] = []

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        groups = stimulus.get("groups")
        for group in groups if isinstance(groups, list) else ():
            self._entries[text_at(group, "groupId")] = cast(JsonObject, group)
        if stimulus["type"] == "token":
            self._secrets.append(text_at(stimulus, "secret"))
        for event in events_in(stimulus):
            self._learn(event)
        checkpoint = find(stimulus, "report", "checkpointHash")
        if isinstance(checkpoint, str):
            item = self._items.get(text_at(stimulus, "workItemId"), {})
            self._hashes[str(item.get("groupId"))] = checkpoint
        return stimulus

    def _learn(self, event: JsonObject) -> None:
        item, mission = find(event, "payload", "workItem"), find(event, "payload", "mission")
        if isinstance(item, dict):
            self._items[text_at(item, "workItemId")] = item
        if isinstance(mission, dict):
            self._missions[text_at(event, "groupId")] = mission
        content = find(event, "payload", "contentHash")
        if isinstance(content, str):
            self._hashes[text_at(event, "groupId")] = content

    # --- what is known of others ------------------------------------------------------

    def neighbour(self, group_id: object) -> JsonObject | None:
        """The latest WorkItem of another Group."""
        others = [one for one in self._items.values() if one.get("groupId") != group_id]
        return others[-1] if others else None

    def ahead(self, group_id: object) -> int:
        """How many items of other Groups are waiting or running."""
        return sum(
            one.get("groupId") != group_id and one.get("state") in WAITING
            for one in self._items.values()
        )

    def other(self, known: Mapping[str, Any], group_id: object) -> Any:
        """What is known of another Group; None where nothing is."""
        return next((value for group, value in known.items() if group != group_id), None)

    # --- saying it --------------------------------------------------------------------

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        command = command_of(effect)
        group_id = find(command, "groupId") if command else effect.get("groupId")
        if group_id is None:
            work = self._items.get(str(effect.get("workItemId")), {})
            group_id = work.get("groupId")
        return self.leak(effect, str(group_id))

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """What becomes of an effect that is bound for a Group."""
        del group_id
        return (effect,)

    def adding(self, effect: JsonObject, kind: str, **members: JsonValue) -> Iterable[JsonObject]:
        """The effect, with members added where it is a Command of this kind."""
        if not says(effect, kind) or any(value is None for value in members.values()):
            return (effect,)
        return (self.speaker.with_payload(effect, **members),)

    def name_of_neighbour(self, group_id: str) -> str | None:
        """The neighbour's WorkItem ID."""
        item = self.neighbour(group_id)
        return text_at(item, "workItemId") if item else None
