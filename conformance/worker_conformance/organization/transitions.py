"""The WorkItem state machine of PROTOCOL 10.2, as a table to lay beside the specification's.

Says which transition leads from which state to which. Never says who may ask for it or what else
must hold: `checks` does for Commands of the Worker, `acts` for the Organization's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class State(StrEnum):
    """The states of a WorkItem; `NONE` before it exists."""

    NONE = "none"
    OPEN = "open"
    OFFERED = "offered"
    QUEUED = "queued"
    ACTIVE = "active"
    BLOCKED = "blocked"
    SUBMITTED = "submitted"
    VERIFIED = "verified"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Transition(StrEnum):
    """What moves a WorkItem; most are Command kinds.

    Where the table names two outcomes for one cause, each outcome has its own member.
    """

    AUTHORIZE = "work.authorize"
    OFFER = "work.offer"
    ACCEPT_OFFER = "work.accept_offer"
    GRANT_EXECUTION = "approval.grant_execution"
    START = "work.start"
    CHECKPOINT = "work.checkpoint"
    BLOCK = "work.block"
    UNBLOCK = "work.unblock"
    UNBLOCK_UNOWNED = "work.unblock after ownership has ended"
    SUBMIT = "work.submit"
    ACCEPT_RESULT = "work.accept_result"
    FAIL = "work.fail"
    CANCEL = "work.cancel"
    CREATE_CHILD = "mission.create_child"
    CHILD_APPROVED = "child Mission approved"
    CHILD_FAILED = "child Mission failed"
    CHILD_FAILED_INDISPENSABLE = "indispensable child Mission failed"
    MISSION_CANCELLED = "Mission cancelled"
    MISSION_FAILED = "Mission failed"
    # Facts about a WorkItem that leave its state alone.
    RENEW = "Execution Lease renewal"
    PUBLISH = "artifact.publish"
    REVISE = "contract revision"
    CHECKPOINT_OFFLINE = "reconciliation of a buffered Checkpoint"


_UNFINISHED = (
    State.OPEN,
    State.OFFERED,
    State.QUEUED,
    State.ACTIVE,
    State.BLOCKED,
    State.SUBMITTED,
)
_UNSUBMITTED = _UNFINISHED[:-1]

_Row = tuple[tuple[State, ...], Transition, State]

_ROWS: tuple[_Row, ...] = (  # MWP-WRK-003
    ((State.NONE,), Transition.AUTHORIZE, State.OPEN),
    ((*_UNSUBMITTED, State.FAILED), Transition.OFFER, State.OFFERED),
    ((State.OFFERED,), Transition.ACCEPT_OFFER, State.QUEUED),
    ((State.QUEUED,), Transition.GRANT_EXECUTION, State.QUEUED),
    ((State.QUEUED,), Transition.START, State.ACTIVE),
    ((State.ACTIVE,), Transition.CHECKPOINT, State.QUEUED),
    ((State.ACTIVE,), Transition.BLOCK, State.BLOCKED),
    ((State.BLOCKED,), Transition.UNBLOCK, State.QUEUED),
    ((State.BLOCKED,), Transition.UNBLOCK_UNOWNED, State.OPEN),
    ((State.ACTIVE,), Transition.SUBMIT, State.SUBMITTED),
    ((State.SUBMITTED,), Transition.ACCEPT_RESULT, State.VERIFIED),
    (_UNFINISHED, Transition.FAIL, State.FAILED),
    (_UNFINISHED, Transition.CANCEL, State.CANCELLED),
    (_UNSUBMITTED, Transition.CREATE_CHILD, State.BLOCKED),
    ((State.BLOCKED,), Transition.CHILD_APPROVED, State.VERIFIED),
    ((State.BLOCKED,), Transition.CHILD_FAILED, State.BLOCKED),
    ((State.BLOCKED,), Transition.CHILD_FAILED_INDISPENSABLE, State.FAILED),
    (_UNFINISHED, Transition.MISSION_CANCELLED, State.CANCELLED),
    (_UNFINISHED, Transition.MISSION_FAILED, State.FAILED),
)

_BESIDE_THE_TABLE: tuple[tuple[tuple[State, ...], Transition], ...] = (  # sections 11.3, 11.5, 15.2
    ((State.ACTIVE,), Transition.RENEW),
    ((State.ACTIVE,), Transition.PUBLISH),
    ((*_UNSUBMITTED, State.FAILED), Transition.REVISE),
    ((State.QUEUED,), Transition.CHECKPOINT_OFFLINE),
)

ALLOWED: Mapping[tuple[State, Transition], State] = MappingProxyType(
    {(state, move): target for states, move, target in _ROWS for state in states}
    | {(state, move): state for states, move in _BESIDE_THE_TABLE for state in states}
)
"""The state after a transition; a pair that is not in here is refused."""

UNFINISHED = frozenset(_UNFINISHED)
"""States that the end of a Mission propagates to."""
