"""The frozen values that the Worker's projections are made of.

Responsible for what is remembered of a Group, a WorkItem and a Command, and for writing it as a
row of the journal and reading it back. Never keeps a contract's text, a Message or a credential:
what is not remembered cannot leak.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, TypeVar, cast

import attrs
from attrs import field, frozen

from reference_worker.documents import Document
from reference_worker.instants import NEVER

R = TypeVar("R", bound=attrs.AttrsInstance)
S = TypeVar("S")
_SHARED: dict[str, Any] = {}
SHARED_MAX = 10_000  # then it starts afresh: what is rare is not worth sharing


def shared(value: S) -> S:
    """One instance of a value that many records repeat: a hundred thousand items fit in memory.

    Keyed by spelling, not by equality: 1 and 1.0 are equal, and yet one Group must not get the
    other's spelling.
    """
    if len(_SHARED) >= SHARED_MAX:
        _SHARED.clear()
    found: S = _SHARED.setdefault(repr(value), value)
    return found


def _text(value: str) -> str:
    return shared(value)


def _texts(value: tuple[str, ...]) -> tuple[str, ...]:
    return shared(value)


def _pair(value: tuple[str, str]) -> tuple[str, str]:
    return shared(value)


def _pairs(value: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return shared(value)


def _limits(
    value: tuple[tuple[str, int | float | str], ...],
) -> tuple[tuple[str, int | float | str], ...]:
    return shared(value)


@frozen
class Contract:
    """What scheduling, gates and submission need of a Work Contract; Instants in microseconds."""

    version: int
    deadline: int
    urgency: str = field(converter=_text)
    risk: str = field(converter=_text)
    approval: str = field(converter=_text)
    capabilities: tuple[tuple[str, str], ...] = field(converter=_pairs)
    dependencies: tuple[str, ...]
    budget: tuple[tuple[str, int | float | str], ...] = field(converter=_limits)
    criteria: tuple[str, ...] = field(converter=_texts)
    attempts_max: int
    backoff: str = field(converter=_text)
    delay_max: int
    retryable: tuple[str, ...] = field(converter=_texts)
    inputs: tuple[str, ...]
    deliverable: tuple[str, str] = field(converter=_pair)
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

    agent_id: str = field(converter=_text)
    epoch: int
    lease_id: str
    card_version: int
    pins: tuple[tuple[str, str], ...] = field(converter=_pairs)
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
    group_id: str = field(converter=_text)
    mission_id: str = field(converter=_text)
    revision: int
    state: str = field(converter=_text)
    contract: Contract = field(metadata={"record": Contract})
    sequence: int = 0
    authorized: bool = True
    offer: Offer | None = field(default=None, metadata={"record": Offer})
    answered_offer: str = ""
    ownership: Ownership | None = field(default=None, metadata={"record": Ownership})
    lease: ExecutionLease | None = field(default=None, metadata={"record": ExecutionLease})
    checkpoint: Checkpoint | None = field(default=None, metadata={"record": Checkpoint})
    approvals: tuple[Approval, ...] = field(default=(), metadata={"records": Approval})
    failures: int = 0
    not_before: int = 0
    waiting_retry: bool = False
    pauses: int = 0
    runs: int = 0
    refusals: int = 0
    suspended: bool = False
    side_effects: tuple[str, ...] = ()
    published: str = ""


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


def to_row(record: attrs.AttrsInstance) -> str:
    """A record as the text of a journal row."""
    return json.dumps(_plain(record), separators=(",", ":"))


@cache
def _parts(record: type[attrs.AttrsInstance]) -> tuple[tuple[str, Any, Any], ...]:
    """Name, nested record and list of records of each field."""
    return tuple(
        (part.name, part.metadata.get("record"), part.metadata.get("records"))
        for part in attrs.fields(record)
    )


def _plain(record: attrs.AttrsInstance) -> list[object]:
    values: list[object] = []
    for name, nested, many in _parts(type(record)):
        value = getattr(record, name)
        if nested is not None and value is not None:
            value = _plain(value)
        elif many is not None:
            value = [_plain(member) for member in value]
        values.append(value)
    return values


def from_row(record: type[R], row: str) -> R:
    """The record that `to_row` wrote."""
    return cast("R", _build(record, json.loads(row)))


def _build(record: type[attrs.AttrsInstance], row: list[Any]) -> attrs.AttrsInstance:
    values: list[object] = []
    for (_, nested, many), value in zip(_parts(record), row, strict=True):
        if nested is not None and value is not None:
            values.append(_build(nested, value))
        elif many is not None:
            values.append(tuple(_build(many, member) for member in value))
        else:
            values.append(_frozen(value) if type(value) is list else value)
    return record(*values)


def _frozen(value: list[Any]) -> tuple[Any, ...]:
    return tuple(_frozen(part) if type(part) is list else part for part in value)
