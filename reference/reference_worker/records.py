"""The frozen values that the Worker's projections are made of.

Responsible for what is remembered of a Group, a WorkItem and a Command, and for writing it as a
row of the journal and reading it back. Never keeps a contract's text, a Message or a credential:
what is not remembered cannot leak.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from sys import intern
from typing import Any, TypeVar, cast

import attrs
import orjson
from attrs import field, frozen

from reference_worker.documents import Document
from reference_worker.instants import NEVER

R = TypeVar("R", bound=attrs.AttrsInstance)
S = TypeVar("S")
_SHARED: dict[str, Any] = {}
SHARED = {"shared": True}  # marks the fields whose values many records repeat
CLOSED = 0  # the expiry of a lease that the Authority has called over, whatever was granted
SHARED_MAX = 10_000  # then it starts afresh: what is rare is not worth sharing


def shared(value: S) -> S:
    """One instance of a value that many records repeat: a hundred thousand items fit in memory.

    Keyed by spelling, not by equality: 1 and 1.0 are equal, and yet one Group must not get the
    other's spelling.
    """
    if type(value) is str:
        return cast("S", intern(str(value)))
    return shared_as(repr(value), value)


def shared_as(spelling: str, value: S) -> S:
    """The one instance of that spelling, which is `value` if there is none yet."""
    if len(_SHARED) >= SHARED_MAX:
        _SHARED.clear()
    found: S = _SHARED.setdefault(spelling, value)
    return found


@frozen
class Contract:
    """What scheduling, gates and submission need of a Work Contract; Instants in microseconds."""

    version: int
    deadline: int
    urgency: str = field(metadata=SHARED)
    risk: str = field(metadata=SHARED)
    approval: str = field(metadata=SHARED)
    capabilities: tuple[tuple[str, str], ...] = field(metadata=SHARED)
    dependencies: tuple[str, ...]
    budget: tuple[tuple[str, int | float | str], ...] = field(metadata=SHARED)
    criteria: tuple[str, ...] = field(metadata=SHARED)
    attempts_max: int
    backoff: str = field(metadata=SHARED)
    delay_max: int
    retryable: tuple[str, ...] = field(metadata=SHARED)
    inputs: tuple[str, ...]
    deliverable: tuple[str, str] = field(metadata=SHARED)
    terms: str
    critical_extension: bool

    def limits(self) -> Document:
        """The budget as the contract wrote it."""
        return dict(self.budget)


@frozen
class Offer:
    """A pending offer to this Agent."""

    offer_id: str
    card_version: int
    expires_at: int


@frozen
class Ownership:
    """An ownership grant, whoever holds it."""

    agent_id: str = field(metadata=SHARED)
    epoch: int
    lease_id: str
    card_version: int
    pins: tuple[tuple[str, str], ...] = field(metadata=SHARED)
    accepted_at: int
    terms: str
    expires_at: int = NEVER
    start_by: int = NEVER


@frozen
class ExecutionLease:
    """An Execution Lease that was granted to this Agent and is not known to be closed."""

    lease_id: str
    session_epoch: int
    ownership_epoch: int
    starts_at: int
    renewed_at: int
    expires_at: int


@frozen
class Checkpoint:
    """A safe point that the Group's history records."""

    checkpoint_id: str
    checkpoint_hash: str


@frozen
class Approval:
    """A granted execution gate: for one Ownership Epoch, until it expires."""

    approval_id: str
    ownership_epoch: int
    expires_at: int


@frozen
class WorkItem:
    """One WorkItem as far as this Worker is concerned with it."""

    work_item_id: str
    group_id: str = field(metadata=SHARED)
    mission_id: str = field(metadata=SHARED)
    revision: int
    state: str = field(metadata=SHARED)
    contract: Contract = field(metadata={"record": Contract})
    sequence: int = 0
    authorized: bool = True
    critical_extension: bool = False
    offer: Offer | None = field(default=None, metadata={"record": Offer})
    answered_offer: str = ""
    ownership: Ownership | None = field(default=None, metadata={"record": Ownership})
    lease: ExecutionLease | None = field(default=None, metadata={"record": ExecutionLease})
    checkpoint: Checkpoint | None = field(default=None, metadata={"record": Checkpoint})
    approvals: tuple[Approval, ...] = field(default=(), metadata={"records": Approval})
    failures: int = 0
    not_before: int = 0
    failed_under: str = ""  # the lease of the latest run, if it failed and is to be tried again
    pauses: int = 0
    runs: int = 0
    started: bool = False
    refusals: int = 0
    suspended: bool = False
    side_effects: tuple[str, ...] = ()
    published: str = ""
    published_until: int = 0
    spent: tuple[tuple[str, float], ...] = ()  # by the runs before, in this ownership
    spending: tuple[tuple[str, float], ...] = ()  # by the latest run, from its beginning


@frozen
class Group:
    """One Group: its Cursor, this Agent's Membership in it, and how its Mission stands."""

    group_id: str
    mission_id: str
    conversation_id: str
    cursor: int
    membership_epoch: int
    membership_state: str
    scopes: tuple[str, ...]
    provisional_until: int = NEVER
    full_history: bool = True
    mission_ended: bool = False
    paused_until: int = 0
    awaited_snapshot: str = ""
    identifiers: int = 0


@frozen
class Command:
    """A Command that was decided and is not answered; `frame` is empty until it was first sent."""

    action_id: str
    group_id: str
    work_item_id: str
    kind: str
    session_epoch: int
    membership_epoch: int
    ownership_epoch: int
    lease_id: str
    payload: Document
    frame: Document
    sent_at: int
    due_at: int
    resend_after: int
    conflicts: int = 0
    binding: Document | None = None


@frozen
class Flow:
    """The Scheduler's memory of one Group in one class: the virtual time of its next dispatch."""

    start: int
    cost: int


@frozen
class Session:
    """What survives of the runtime: the epochs it knows and the Scheduler's virtual time."""

    agent_id: str
    session_epoch: int
    fenced_by: int = 0
    card_version: int = 0
    virtual_time: int = 0
    identifiers: int = 0


# For what the quick encoder refuses: whole numbers beyond 64 bits, and half a surrogate pair.
_ENCODE = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def to_row(record: attrs.AttrsInstance) -> str:
    """A record as the text of a journal row."""
    values = _plain(record)
    try:
        return orjson.dumps(values).decode()
    except orjson.JSONEncodeError:
        return _ENCODE(values)


@cache
def _parts(record: type[attrs.AttrsInstance]) -> tuple[tuple[str, Any, Any, bool], ...]:
    """Name, nested record, list of records, and whether it is shared, of each field."""
    return tuple(
        (
            part.name,
            part.metadata.get("record"),
            part.metadata.get("records"),
            part.metadata.get("shared", False),
        )
        for part in attrs.fields(record)
    )


@cache
def _reader(record: type[attrs.AttrsInstance]) -> Callable[[object], tuple[object, ...]]:
    """Reads all fields of such a record at once."""
    return cast(
        "Callable[[object], tuple[object, ...]]",
        attrgetter(*(part.name for part in attrs.fields(record))),
    )


@cache
def _places(record: type[attrs.AttrsInstance]) -> dict[str, int]:
    return {part.name: place for place, part in enumerate(attrs.fields(record))}


@cache
def _composite(record: type[attrs.AttrsInstance]) -> tuple[tuple[int, bool], ...]:
    """Where records stand inside records, and whether it is a list of them."""
    return tuple(
        (place, many is not None)
        for place, (_, nested, many, _) in enumerate(_parts(record))
        if nested is not None or many is not None
    )


def _plain(record: attrs.AttrsInstance) -> list[Any]:
    kind = type(record)
    values: list[Any] = list(_reader(kind)(record))
    for place, is_list in _composite(kind):
        value = values[place]
        if is_list:
            values[place] = [_plain(member) for member in value]
        elif value is not None:
            values[place] = _plain(value)
    return values


def evolve(record: R, **members: Any) -> R:
    """What `attrs.evolve` does, for records: many times as fast, and done for every Event."""
    kind = type(record)
    values, places = list(_reader(kind)(record)), _places(kind)
    for name, value in members.items():
        values[places[name]] = value
    return kind(*values)


def from_row(record: type[R], row: str) -> R:
    """The record that `to_row` wrote."""
    return cast("R", _build(record, json.loads(row)))


@cache
def _steps(record: type[attrs.AttrsInstance]) -> tuple[tuple[int, Any, Any, bool], ...]:
    """Which places of a row JSON does not give back as they were, and what to make of them."""
    return tuple(
        (place, nested, many, is_shared)
        for place, (part, (_, nested, many, is_shared)) in enumerate(
            zip(attrs.fields(record), _parts(record), strict=True)
        )
        if nested or many or is_shared or "tuple" in str(part.type)
    )


def _build(record: type[attrs.AttrsInstance], row: list[Any]) -> attrs.AttrsInstance:
    for place, nested, many, is_shared in _steps(record):
        value = row[place]
        if nested is not None:
            if value is not None:
                row[place] = _build(nested, value)
        elif many is not None:
            row[place] = tuple([_build(many, member) for member in value])
        elif type(value) is list:
            row[place] = _shared_list(value) if is_shared else _frozen(value)
        elif is_shared:
            row[place] = shared(value)
    return record(*row)


def _shared_list(value: list[Any]) -> tuple[Any, ...]:
    """As a tuple, made only once for all that are spelled alike."""
    spelling = repr(value)
    found: tuple[Any, ...] | None = _SHARED.get(spelling)
    return shared_as(spelling, _frozen(value)) if found is None else found


def _frozen(value: list[Any]) -> tuple[Any, ...]:
    return tuple([_frozen(part) if type(part) is list else part for part in value])
