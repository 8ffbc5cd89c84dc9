"""What lives only as long as the runtime session: keys, policy, links, slots, secrets.

Responsible for holding what `start` brings anew each time and what a crash may lose. Nothing here
is ever written to the journal; credentials and token secrets in particular are not.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Self

from attrs import define, field, frozen

from reference_worker.documents import Document
from reference_worker.instants import NEVER, micros
from reference_worker.policy import Policy
from reference_worker.records import Checkpoint, Command
from reference_worker.scheduler import FlowId, Scheduler
from reference_worker.signatures import KeyRing, SigningKey


class Link(Enum):
    """How far a Group's subscription has come."""

    REPLAYING = "replaying"  # subscribed; Commands wait, for the history is not known to its end
    CAUGHT_UP = "caught_up"  # the replay has ended; the next tick makes it live
    LIVE = "live"
    CUT = "cut"  # the link is down


HISTORY_UNKNOWN = frozenset({Link.REPLAYING, Link.CAUGHT_UP})
"""Back in reach, and not yet reconciled (MWP-WRK-020)."""


class Phase(Enum):
    """What a Capacity Slot is doing, from `run` to `release`. The moves are in slots.MOVES."""

    RUNNING = "running"
    PREEMPTING = "preempting"  # a safe point was asked for
    CHECKPOINTING = "checkpointing"  # work.checkpoint is out, its Event is awaited
    CLOSING = "closing"  # work.submit, work.fail or work.block is out


@frozen
class Agent:
    """This Worker's identity, as `start` gives it."""

    agent_id: str
    key: SigningKey
    card_version: int
    capabilities: tuple[tuple[str, str], ...]
    slots_max: int

    @classmethod
    def read(cls, document: Document) -> Self:
        """From `start.agent`."""
        return cls(
            agent_id=document["agentId"],
            key=SigningKey.load(document["keyId"], document["privateKey"]),
            card_version=document["agentCardVersion"],
            capabilities=tuple((c["id"], c["version"]) for c in document["capabilities"]),
            slots_max=document["maxConcurrency"],
        )


@define
class Run:
    """One occupied slot."""

    slot_id: str
    group_id: str
    work_item_id: str
    lease_id: str
    ownership_epoch: int
    began_at: int
    occasion: int
    phase: Phase = Phase.RUNNING
    challenger: str = ""
    reported: Checkpoint | None = None
    escalation: str = ""


@frozen
class Token:
    """A capability token, bound to one Execution Lease."""

    token_id: str
    lease_id: str
    agent_id: str
    session_epoch: int
    work_item_id: str
    ownership_epoch: int
    operations: tuple[str, ...]
    budget: Document
    expires_at: int

    @classmethod
    def read(cls, document: Document) -> Self:
        """From the `token` stimulus. The secret is left out: the executor holds it, not we."""
        return cls(
            token_id=document["tokenId"],
            lease_id=document["leaseId"],
            agent_id=document["agentId"],
            session_epoch=document["sessionEpoch"],
            work_item_id=document["workItemId"],
            ownership_epoch=document["ownershipEpoch"],
            operations=tuple(document.get("operations", ())),
            budget=document.get("budget", {}),
            expires_at=micros(document["expiresAt"]),
        )


@frozen
class GroupContext:
    """What a slot of this Group may see besides the contract; from `start` or `join`."""

    mission_context: object
    credentials: object


class Timers:
    """The next time at which each key has to be looked at again.

    Looking at a key begins with `clear` and sets its times anew, so that nobody is woken for what
    was settled meanwhile; only the earliest of them is kept.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, str]] = []
        self._wanted: dict[str, int] = {}
        self._pushed: dict[str, int] = {}

    def set(self, when: int, key: str) -> None:
        """Remember to look at `key` at `when`, or before."""
        if when >= self._wanted.get(key, NEVER):
            return
        self._wanted[key] = when
        if self._pushed.get(key) != when:
            self._pushed[key] = when
            heapq.heappush(self._heap, (when, key))

    def clear(self, key: str) -> None:
        """Forget what was set for `key`."""
        self._wanted.pop(key, None)

    def due(self, now: int) -> list[str]:
        """Keys whose time has come."""
        keys: dict[str, None] = {}
        while (when := self.next()) is not None and when <= now:
            _, key = heapq.heappop(self._heap)
            del self._wanted[key]
            self._passed_over(when, key)
            keys[key] = None
        return list(keys)

    def next(self) -> int | None:
        """The earliest time that is still to come."""
        while self._heap:
            when, key = self._heap[0]
            if self._wanted.get(key) == when:
                return when
            heapq.heappop(self._heap)
            self._passed_over(when, key)
        return None

    def _passed_over(self, when: int, key: str) -> None:
        if self._pushed.get(key) == when:
            del self._pushed[key]


class Waiting:
    """The items that were accepted and wait, in all and by Group."""

    def __init__(self) -> None:
        self._home: dict[str, str] = {}
        self._by_group: dict[str, dict[str, None]] = {}

    def __len__(self) -> int:
        """How many wait in all Groups."""
        return len(self._home)

    def __iter__(self) -> Iterator[str]:
        """Those that wait, longest first."""
        return iter(self._home)

    def of_group(self, group_id: str) -> list[str]:
        """Those of one Group, longest first."""
        return list(self._by_group.get(group_id, ()))

    def in_group(self, group_id: str) -> int:
        """How many wait in one Group."""
        return len(self._by_group.get(group_id, ()))

    def put(self, group_id: str, work_item_id: str) -> None:
        """The item waits; it never changes its Group."""
        self._home[work_item_id] = group_id
        self._by_group.setdefault(group_id, {})[work_item_id] = None

    def drop(self, work_item_id: str) -> None:
        """The item waits no longer."""
        group_id = self._home.pop(work_item_id, None)
        if group_id is not None:
            del self._by_group[group_id][work_item_id]


@define
class Runtime:
    """One runtime session."""

    agent: Agent
    organization_id: str
    keys: KeyRing
    authorized: Mapping[str, frozenset[str]]
    policy: Policy
    scheduler: Scheduler
    contexts: dict[str, GroupContext] = field(factory=dict)
    links: dict[str, Link] = field(factory=dict)
    runs: dict[str, Run] = field(factory=dict)
    tokens: dict[str, Token] = field(factory=dict)
    buffers: dict[str, dict[int, tuple[Document, str]]] = field(factory=dict)
    timers: Timers = field(factory=Timers)
    challengers: dict[str, int] = field(factory=dict)  # with the occasion of the challenge
    occasions: int = 0  # counts runs and challenges, to tell which came first
    dependents: dict[str, dict[str, None]] = field(factory=dict)
    claims: dict[str, None] = field(factory=dict)
    owed: dict[str, int] = field(factory=dict)
    reservations: dict[str, FlowId] = field(factory=dict)
    renewals: dict[str, int] = field(factory=dict)
    waiting: Waiting = field(factory=Waiting)
    outstanding: dict[str, dict[str, None]] = field(factory=dict)
    cut_at: dict[str, int] = field(factory=dict)
    given_up: dict[str, Command] = field(factory=dict)  # starts that a cut left unanswered

    def occasion(self) -> int:
        """A number larger than any before."""
        self.occasions += 1
        return self.occasions

    def run_of(self, work_item_id: str) -> Run | None:
        """The slot in which an item runs."""
        return next((r for r in self.runs.values() if r.work_item_id == work_item_id), None)

    def may(self, role: str, principal: tuple[str, str]) -> bool:
        """True if policy authorizes the Principal for an Organization role."""
        return principal[1] in self.authorized.get(role, frozenset())


def read_authorized(document: Document) -> dict[str, frozenset[str]]:
    """Which Principals hold which Organization role."""
    return {role: frozenset(members) for role, members in document.items()}
