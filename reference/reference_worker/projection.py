"""The Worker's durable projections of the Groups' history, held in memory.

Responsible for being the one owner of every remembered value, and for knowing what changed since
the last commit. Never decides anything, and never writes to a disk: the journal does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, Protocol, TypeVar

import attrs
from attrs import define, field, frozen

from reference_worker import records

V = TypeVar("V", bound=attrs.AttrsInstance)


@frozen
class Receipt:
    """Proof that an Event was processed: where it stood and what its content was."""

    group_id: str
    sequence: int
    digest: str  # empty where a Snapshot vouched for the Event


class Recall(Protocol):
    """What the journal is asked about things that are no longer held in memory."""

    def receipt(self, event_id: str) -> Receipt | None:
        """The receipt of an Event processed and committed earlier."""

    def receipts(self, event_ids: Iterable[str]) -> dict[str, Receipt]:
        """The receipts of many Events at once, of those that have one."""

    def standing(self, group_id: str, work_item_id: str) -> str | None:
        """The last known state, by a Group's log, of a WorkItem that this Worker does not hold."""


class NothingRecalled:
    """The Recall of an empty journal."""

    def receipt(self, event_id: str) -> Receipt | None:  # noqa: ARG002 - the protocol's signature
        """No Event was ever processed."""
        return None

    def receipts(self, event_ids: Iterable[str]) -> dict[str, Receipt]:
        """No Event was ever processed."""
        del event_ids
        return {}

    def standing(self, group_id: str, work_item_id: str) -> str | None:  # noqa: ARG002 - the protocol's signature
        """No WorkItem was ever seen."""
        return None


class Table(Generic[V]):
    """Records by ID, in insertion order, remembering which IDs changed."""

    def __init__(self, name: str, record: type[V]) -> None:
        self.name, self.record = name, record
        self.changed: dict[str, None] = {}
        self._rows: dict[str, V] = {}

    def __iter__(self) -> Iterator[V]:
        """Over a copy, so that a loop may change the table."""
        return iter(list(self._rows.values()))

    def __len__(self) -> int:
        """How many records there are."""
        return len(self._rows)

    def __contains__(self, key: str) -> bool:
        """True if there is a record of that ID."""
        return key in self._rows

    def names(self) -> list[str]:
        """All IDs."""
        return list(self._rows)

    def get(self, key: str) -> V | None:
        """The record of that ID, if there is one."""
        return self._rows.get(key)

    def put(self, key: str, value: V) -> None:
        """Set a record."""
        if self._rows.get(key) != value:
            self._rows[key] = value
            self.changed[key] = None

    def drop(self, key: str) -> None:
        """Forget a record."""
        if self._rows.pop(key, None) is not None:
            self.changed[key] = None

    def load(self, rows: Mapping[str, V]) -> None:
        """Fill an empty table from the journal."""
        self._rows.update(rows)


class ItemTable(Table[records.WorkItem]):
    """The WorkItems, found by their Group as well."""

    def __init__(self) -> None:
        super().__init__("items", records.WorkItem)
        self._by_group: dict[str, dict[str, None]] = {}

    def of_group(self, group_id: str) -> list[records.WorkItem]:
        """All items of one Group, in insertion order."""
        return [self._rows[key] for key in self._by_group.get(group_id, ())]

    def put(self, key: str, value: records.WorkItem) -> None:
        """Set a record; an item never changes its Group."""
        super().put(key, value)
        self._by_group.setdefault(value.group_id, {})[key] = None

    def drop(self, key: str) -> None:
        """Forget a record."""
        item = self.get(key)
        super().drop(key)
        if item is not None:
            del self._by_group[item.group_id][key]

    def load(self, rows: Mapping[str, records.WorkItem]) -> None:
        """Fill an empty table from the journal."""
        super().load(rows)
        for key, item in rows.items():
            self._by_group.setdefault(item.group_id, {})[key] = None


@define
class Projection:
    """Everything that is rebuilt from the journal after a crash, or by Replay after its loss."""

    recall: Recall
    groups: Table[records.Group] = field(factory=lambda: Table("groups", records.Group))
    items: ItemTable = field(factory=ItemTable)
    commands: Table[records.Command] = field(factory=lambda: Table("commands", records.Command))
    flows: Table[records.Flow] = field(factory=lambda: Table("flows", records.Flow))
    sessions: Table[records.Session] = field(factory=lambda: Table("sessions", records.Session))
    new_receipts: dict[str, Receipt] = field(factory=dict)
    new_standings: dict[tuple[str, str], str] = field(factory=dict)
    recalled: dict[str, Receipt | None] = field(factory=dict)

    def tables(self) -> tuple[Table[attrs.AttrsInstance], ...]:
        """All tables, for the journal."""
        return (self.groups, self.items, self.commands, self.flows, self.sessions)  # type: ignore[return-value]  # read-only use

    def receipt(self, event_id: str) -> Receipt | None:
        """The receipt of an Event, in this stimulus or before."""
        found = self.new_receipts.get(event_id)
        if found is None and event_id in self.recalled:
            return self.recalled[event_id]
        return found or self.recall.receipt(event_id)

    def foresee(self, event_ids: list[str]) -> None:
        """Look the receipts of a batch up at once; one by one takes ten times as long."""
        self.recalled = {**dict.fromkeys(event_ids), **self.recall.receipts(event_ids)}

    def standing(self, group_id: str, work_item_id: str) -> str | None:
        """The last known state of any WorkItem, by its own Group's log and no other's."""
        held = self.items.get(work_item_id)
        if held is not None and held.group_id == group_id:
            return held.state
        key = (group_id, work_item_id)
        return self.new_standings.get(key) or self.recall.standing(*key)

    @property
    def session(self) -> records.Session:
        """The one session record, which `start` writes before anything else."""
        session = self.sessions.get("self")
        assert session is not None, "no stimulus is handled before `start`"
        return session

    @session.setter
    def session(self, value: records.Session) -> None:
        self.sessions.put("self", value)

    def is_changed(self) -> bool:
        """True if there is anything to commit."""
        return bool(self.new_receipts or self.new_standings) or any(
            table.changed for table in self.tables()
        )

    def committed(self) -> None:
        """The journal holds everything: nothing is changed any more."""
        for table in self.tables():
            table.changed.clear()
        self.new_receipts.clear()
        self.new_standings.clear()
        self.recalled.clear()
