"""What each transition does to a WorkItem: its state, its owner and its leases.

Pure: takes an item and gives the next one with every lease that was opened, renewed or closed.
Never checks who asks, and never appends an Event; the table of `transitions` is the only law here.
"""

from __future__ import annotations

from attrs import evolve, frozen

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.errors import SuiteError
from worker_conformance.organization.contracts import capability
from worker_conformance.organization.items import Item, Offer, Owner
from worker_conformance.organization.leases import BLOCKED, EXECUTION, OWNERSHIP, Lease
from worker_conformance.organization.moments import SECOND
from worker_conformance.organization.transitions import State, Transition
from worker_conformance.scenario.model import DAY_SECONDS

BLOCKED_SECONDS = DAY_SECONDS
"""Length of a blocked lease; the specification asks only that it be bounded."""


@frozen
class Moved:
    """An item after a transition, and the leases that the transition touched."""

    item: Item
    leases: tuple[Lease, ...] = ()


@frozen
class Holder:
    """An Agent that accepts or executes work, under one Session Epoch."""

    agent_id: str
    card_version: int
    session_epoch: int


def offer(item: Item, offers: tuple[Offer, ...], basis: JsonObject, now: int) -> Moved:
    """Make, replace or extend offers; an owner whose time is over is fenced first."""
    if item.owner is not None and item.owner.is_live(now):
        raise SuiteError(
            "live-owner",
            f"{item.name} is {item.state} and has an owner whose leases still run",
            "let a lease or the start-by time pass, or fail the work, before offering it again",
        )
    closed = tuple(lease.revoked(now, "reassigned") for lease in _open_leases(item.owner))
    changed = evolve(
        item.moved(Transition.OFFER, now),
        offers=offers,
        owner=None,
        selection_basis=basis,
    )
    return Moved(changed, closed)


def accept_offer(item: Item, accepted: Offer, holder: Holder, lease_id: str, now: int) -> Moved:
    """A new Ownership Epoch begins; every other pending offer has lost the race."""
    lease = Lease(
        lease_id=lease_id,
        lease_type=OWNERSHIP,
        place=item.place,
        holder=holder.agent_id,
        session_epoch=holder.session_epoch,
        ownership_epoch=item.epoch + 1,
        issued_at=now,
        expires_at=now + item.plan.ownership_seconds * SECOND,
        start_by=now + item.plan.start_by_seconds * SECOND,
    )
    pins = (capability(item.plan.capability),)
    changed = evolve(
        item.moved(Transition.ACCEPT_OFFER, now),
        offers=tuple(_settled(one, accepted) for one in item.offers),
        owner=Owner(holder.agent_id, holder.card_version, pins, lease, now),
        epoch=item.epoch + 1,
        leases_made=item.leases_made + 1,
    )
    return Moved(changed, (lease,))


def start(item: Item, holder: Holder, lease_id: str, seconds: float, now: int) -> Moved:
    """Grant the Execution Lease, never beyond the ownership lease."""
    owner, delay = owner_of(item), item.plan.lease_delay_seconds * SECOND
    lease = Lease(
        lease_id=lease_id,
        lease_type=EXECUTION,
        place=item.place,
        holder=holder.agent_id,
        session_epoch=holder.session_epoch,
        ownership_epoch=owner.epoch,
        issued_at=now,
        expires_at=_expiry(owner, seconds, now),
        starts_at=now + delay if delay else None,
    )
    changed = evolve(
        item.moved(Transition.START, now),
        owner=evolve(owner, execution=lease, started=True),
        leases_made=item.leases_made + 1,
        lease_ids=(*item.lease_ids, lease_id),
        unseated=None,
    )
    return Moved(changed, (lease,))


def renew(item: Item, seconds: float, now: int) -> Moved:
    """Let the Execution Lease run longer under the same Lease ID."""
    owner, lease = owner_of(item), execution_of(item)
    renewed = lease.renewed(now, max(lease.expires_at, _expiry(owner, seconds, now)))
    changed = evolve(
        item.moved(Transition.RENEW, now),
        owner=evolve(owner, execution=renewed),
    )
    return Moved(changed, (renewed,))


def checkpoint(item: Item, recorded: JsonObject, now: int) -> Moved:
    """Release the execution; ownership goes on."""
    owner, released = owner_of(item), execution_of(item).released(now, "checkpointed")
    changed = evolve(
        item.moved(Transition.CHECKPOINT, now),
        owner=evolve(owner, execution=None),
        checkpoint=recorded,
    )
    return Moved(changed, (released, owner.lease))


def block(item: Item, recorded: JsonObject, lease_id: str, now: int) -> Moved:
    """Release the execution and open a bounded blocked lease (MWP-WRK-017)."""
    owner, released = owner_of(item), execution_of(item).released(now, "blocked")
    blocked = Lease(
        lease_id=lease_id,
        lease_type=BLOCKED,
        place=item.place,
        holder=owner.agent_id,
        session_epoch=released.session_epoch,
        ownership_epoch=owner.epoch,
        issued_at=now,
        expires_at=_expiry(owner, BLOCKED_SECONDS, now),
    )
    changed = evolve(
        item.moved(Transition.BLOCK, now),
        owner=evolve(owner, execution=None, blocked=blocked),
        checkpoint=recorded,
        leases_made=item.leases_made + 1,
    )
    return Moved(changed, (released, blocked))


def unblock(item: Item, now: int) -> Moved:
    """Back to the owner's queue, or open again where ownership has ended meanwhile."""
    owner = owner_of(item)
    if item.promoted:
        raise SuiteError(
            "promoted", f"{item.name} waits for its child Mission", "do not unblock it"
        )
    if not owner.is_live(now):
        closed = tuple(lease.revoked(now, "ownership expired") for lease in _open_leases(owner))
        return Moved(
            evolve(
                item.moved(Transition.UNBLOCK_UNOWNED, now),
                owner=None,
            ),
            closed,
        )
    changed = evolve(
        item.moved(Transition.UNBLOCK, now),
        owner=evolve(owner, blocked=None),
    )
    released = () if owner.blocked is None else (owner.blocked.released(now, "unblocked"),)
    return Moved(changed, (*released, owner.lease))


def submit(item: Item, submission: JsonObject, now: int) -> Moved:
    """Release the execution; the owner still answers for the result."""
    owner, released = owner_of(item), execution_of(item).released(now, "submitted")
    changed = evolve(
        item.moved(Transition.SUBMIT, now),
        owner=evolve(owner, execution=None),
        submission=submission,
    )
    return Moved(changed, (released,))


def accept_result(item: Item, now: int) -> Moved:
    """The work is verified; nobody owns it any more."""
    owner = owner_of(item)
    released = owner.lease.released(now, "verified")
    changed = evolve(
        item.moved(Transition.ACCEPT_RESULT, now),
        owner=evolve(owner, lease=released),
    )
    return Moved(changed, (released,))


def end(item: Item, move: Transition, reason: str, now: int) -> Moved:
    """Failure, cancellation or the Mission's end: every lease is revoked."""
    closed = tuple(lease.revoked(now, reason) for lease in _open_leases(item.owner))
    offers = tuple(retired(one, now) for one in item.offers)
    return Moved(
        evolve(
            item.moved(move, now),
            owner=None,
            offers=offers,
        ),
        closed,
    )


def promote(item: Item, coordinator: Holder, lease_id: str, basis: JsonObject, now: int) -> Moved:
    """Fence the owner while a child Mission runs (MWP-WRK-003).

    A blocked WorkItem's document needs an owner, so the Parent Coordinator, who is the child's
    MissionOwner, takes it under the next Ownership Epoch.
    """
    closed = tuple(lease.revoked(now, "promoted") for lease in _open_leases(item.owner))
    lease = Lease(
        lease_id=lease_id,
        lease_type=OWNERSHIP,
        place=item.place,
        holder=coordinator.agent_id,
        session_epoch=coordinator.session_epoch,
        ownership_epoch=item.epoch + 1,
        issued_at=now,
        expires_at=now + item.plan.ownership_seconds * SECOND,
        start_by=now + item.plan.start_by_seconds * SECOND,
    )
    pins = (capability(item.plan.capability),)
    changed = evolve(
        item.moved(Transition.CREATE_CHILD, now),
        offers=tuple(retired(one, now) for one in item.offers),
        owner=Owner(coordinator.agent_id, coordinator.card_version, pins, lease, now),
        epoch=item.epoch + 1,
        leases_made=item.leases_made + 1,
        selection_basis=item.selection_basis or basis,
        promoted=True,
    )
    return Moved(changed, (*closed, lease))


def child_approved(item: Item, submission: JsonObject, now: int) -> Moved:
    """The child Mission's approval becomes Evidence of its parent WorkItem (section 14)."""
    owner = _promoted(item)
    released = owner.lease.released(now, "verified")
    changed = evolve(
        item.moved(Transition.CHILD_APPROVED, now),
        owner=evolve(owner, lease=released),
        submission=submission,
        promoted=False,
    )
    return Moved(changed, (released,))


def child_failed(item: Item, now: int) -> Moved:
    """The Parent Coordinator decides what becomes of the work; it stays blocked until then."""
    owner = _promoted(item)
    return Moved(item.moved(Transition.CHILD_FAILED, now), (owner.lease,))


def _promoted(item: Item) -> Owner:
    if not item.promoted:
        raise SuiteError("no-child", f"{item.name} has no child Mission", "promote it first")
    return owner_of(item)


def unseat(item: Item, now: int) -> Item:
    """A new session took the Worker's place: its execution is revoked, the work queued again.

    v0.1 has no Event for this, so the revision stays (MWP-WRK-014).
    """
    owner = owner_of(item)
    revoked = execution_of(item).revoked(now, "session replaced")
    owner = evolve(owner, execution=None)
    return evolve(item, state=State.QUEUED, owner=owner, unseated=revoked, updated_at=now)


def checkpoint_offline(item: Item, recorded: JsonObject, now: int) -> Moved:
    """Record a Checkpoint that was buffered under a lease revoked since (MWP-WRK-021)."""
    changed = evolve(
        item.moved(Transition.CHECKPOINT_OFFLINE, now),
        checkpoint=recorded,
        unseated=None,
    )
    closed = () if item.unseated is None else (item.unseated,)
    return Moved(changed, (*closed, owner_of(item).lease))


def retired(one: Offer, now: int) -> Offer:
    """An offer that another takes the place of."""
    if one.status != "pending":
        return one
    return evolve(one, status="withdrawn" if now < one.expires_at else "expired")


def owner_of(item: Item) -> Owner:
    """The owner of an item that must have one by its state."""
    if item.owner is None:
        raise SuiteError("no-owner", f"{item.name} is {item.state} without an owner")
    return item.owner


def execution_of(item: Item) -> Lease:
    """The Execution Lease of an active item."""
    lease = owner_of(item).execution
    if lease is None:
        raise SuiteError("no-lease", f"{item.name} is {item.state} without an Execution Lease")
    return lease


def _settled(one: Offer, accepted: Offer) -> Offer:
    if one.offer_id == accepted.offer_id:
        return evolve(one, status="accepted")
    return evolve(one, status="lost_race") if one.status == "pending" else one


def _open_leases(owner: Owner | None) -> tuple[Lease, ...]:
    if owner is None:
        return ()
    leases = (owner.execution, owner.blocked, owner.lease)
    return tuple(lease for lease in leases if lease is not None and lease.state == "active")


def _expiry(owner: Owner, seconds: float, now: int) -> int:
    return min(now + round(seconds * SECOND), owner.lease.expires_at)
