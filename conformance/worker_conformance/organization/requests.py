"""Reads a Worker's Command: which WorkItem, offer, lease, epoch and documents it names.

Payloads of v0.1 are open: identifiers and documents are found anywhere in a payload, only numbers
need the path that the Worker declared. Never judges what it finds.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from worker_conformance.documents.json_types import JsonObject, JsonValue, find
from worker_conformance.organization.items import Item, Offer
from worker_conformance.organization.ledger import Ledger

OFFLINE_EXTENSION = "urn:missionweaveprotocol:extension:bounded-offline-execution"


@frozen
class Request:
    """One authentic Command, read against the Group's present state."""

    command: JsonObject
    kind: str
    action_id: str
    payload: JsonObject
    item: Item | None
    texts: frozenset[str]
    ownership_epoch: int | None

    def offer(self) -> Offer | None:
        """The offer that the Command names, if the WorkItem has it."""
        offers = self.item.offers if self.item else ()
        return next((one for one in offers if one.offer_id in self.texts), None)

    def lease_id(self, current: str | None) -> str | None:
        """The Execution Lease that the Command names.

        The member `executionLeaseId` decides; without it any lease of the WorkItem that occurs
        in the payload, the current one before older ones.
        """
        flat = self.payload.get("executionLeaseId")
        if isinstance(flat, str):
            return flat
        if current is not None and current in self.texts:
            return current
        known = self.item.lease_ids if self.item else ()
        return next((one for one in known if one in self.texts), None)

    def documents(self, *members: str) -> list[JsonObject]:
        """Every object in the payload that has all these members, outermost first."""
        return [one for one in _objects(self.payload) if all(name in one for name in members)]

    def document(self, *members: str) -> JsonObject | None:
        """The first of `documents`."""
        return next(iter(self.documents(*members)), None)

    def offline_binding(self) -> JsonObject | None:
        """The data of the bounded-offline-execution extension."""
        data = find(self.command, "extensions", OFFLINE_EXTENSION, "data")
        return data if isinstance(data, dict) else None


def read(command: JsonObject, ledger: Ledger) -> Request:
    """Read a schema-valid Command."""
    payload = command["payload"]
    members = payload if isinstance(payload, dict) else {}
    texts = frozenset(_strings(members))
    return Request(
        command=command,
        kind=str(command["kind"]),
        action_id=str(command["actionId"]),
        payload=members,
        item=_item(command, members, texts, ledger),
        texts=texts,
        ownership_epoch=_number(members, ledger.shared.payload_paths.get("ownershipEpoch")),
    )


def work_of(command: JsonValue, ledger: Ledger) -> str | None:
    """The local name of the WorkItem that a Command is about, whatever else is wrong with it."""
    if not isinstance(command, dict):
        return None
    payload = command.get("payload")
    members = payload if isinstance(payload, dict) else {}
    item = _item(command, members, frozenset(_strings(members)), ledger)
    return item.name if item else None


def _item(
    command: JsonObject, payload: JsonObject, texts: frozenset[str], ledger: Ledger
) -> Item | None:
    for direct in (command.get("workItemId"), payload.get("workItemId")):
        if isinstance(direct, str):
            name = ledger.by_id.get(direct)
            return ledger.items[name] if name else None
    found = sorted(ledger.by_id[text] for text in texts if text in ledger.by_id)
    return ledger.items[found[0]] if found else None


def _number(payload: JsonObject, pointer: str | None) -> int | None:
    if pointer is None:
        return None
    path = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    value = find(payload, *path)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _strings(member)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


def _objects(value: JsonValue) -> Iterator[JsonObject]:
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from _objects(member)
    elif isinstance(value, list):
        for one in value:
            yield from _objects(one)
