"""Which checks and which effect belong to a Command kind: everything a Worker may ask for.

One table. A kind that is not in it is either somebody else's authority or unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attrs import frozen

from worker_conformance.organization import checks, commands, offline, talk
from worker_conformance.organization.checks import Check
from worker_conformance.organization.commands import Effect
from worker_conformance.organization.refusals import Refusal
from worker_conformance.organization.requests import Request
from worker_conformance.organization.transitions import Transition

USAGE_KIND = "ext.missionweaveprotocol.core.resource_usage_record"


@frozen
class Door:
    """The checks that a Command must pass, and what it then does."""

    checks: tuple[Check, ...]
    effect: Effect


_OWNED_WORK: tuple[Check, ...] = (checks.names_work, checks.not_fenced)
_UNDER_LEASE: tuple[Check, ...] = (checks.owned, checks.execution_lease)

RENEWAL = Door(
    (*_OWNED_WORK, checks.allowed(Transition.RENEW), *_UNDER_LEASE),
    commands.renew,
)
"""Renewal, under whatever kind the Worker declares."""

BUFFERED: Mapping[str, Door] = MappingProxyType(
    {
        "work.checkpoint": Door(offline.CHECKPOINT_CHECKS, offline.reconcile),
        "message.post": Door(offline.MESSAGE_CHECKS, offline.reconcile_message),
    }
)
"""What may have been buffered while a Group was out of reach (11.5), by Command kind."""

DOORS: Mapping[str, Door] = MappingProxyType(
    {
        "work.accept_offer": Door(
            (
                checks.names_work,
                checks.mission_runs,
                checks.may_accept,
                checks.allowed(Transition.ACCEPT_OFFER),
                checks.open_offer,
            ),
            commands.accept_offer,
        ),
        "work.start": Door(
            (
                *_OWNED_WORK,
                checks.allowed(Transition.START),
                checks.mission_runs,
                checks.owned,
                checks.dependencies,
                checks.approval,
                checks.ownership_lease,
            ),
            commands.start,
        ),
        "work.checkpoint": Door(
            (
                *_OWNED_WORK,
                checks.allowed(Transition.CHECKPOINT),
                *_UNDER_LEASE,
                checks.checkpoint,
            ),
            commands.checkpoint,
        ),
        "work.block": Door(
            (
                *_OWNED_WORK,
                checks.allowed(Transition.BLOCK),
                *_UNDER_LEASE,
                checks.checkpoint,
                checks.resolution,
            ),
            commands.block,
        ),
        "artifact.publish": Door(
            (
                checks.names_work,
                checks.still_owned,
                checks.allowed(Transition.PUBLISH),
                checks.execution_lease,
                checks.artifact,
            ),
            commands.publish,
        ),
        "work.submit": Door(
            (*_OWNED_WORK, checks.allowed(Transition.SUBMIT), *_UNDER_LEASE, checks.result),
            commands.submit,
        ),
        "work.fail": Door(
            (
                *_OWNED_WORK,
                checks.allowed(Transition.FAIL),
                checks.owned,
                checks.lease_to_fail_under,
                checks.failure_evidence,
            ),
            commands.fail,
        ),
        USAGE_KIND: Door(
            (*_OWNED_WORK, checks.allowed(Transition.PUBLISH), *_UNDER_LEASE, talk.usage),
            talk.record,
        ),
        **{kind: Door((talk.message,), talk.post) for kind in talk.MESSAGES},
        "work.propose": Door((), talk.propose),
    }
)
"""Everything else that a Worker may ask for, by Command kind."""


def door_of(request: Request, renewal_kind: str) -> Door | Refusal:
    """The door for a Command, or why a Worker has none (MWP-MSN-022, MWP-EVT-002)."""
    if request.kind == renewal_kind:
        return RENEWAL
    if request.kind in BUFFERED and request.offline_binding() is not None:
        return BUFFERED[request.kind]
    door = DOORS.get(request.kind)
    if door is not None:
        return door
    if request.kind.startswith("ext."):
        return Refusal("INVALID_COMMAND", "this Command kind is not known here")
    return Refusal("AUTH_FORBIDDEN", "a Worker has no authority for this Command")
