"""Admission control: whether an offer is accepted (MWP-WRK-005).

Responsible for accepting what this Worker can credibly commit to and for declining the rest with a
structured reason. Never starts work; acceptance is a commitment, not a start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reference_worker import disclosure, eligibility, outbox
from reference_worker.instants import MICROS
from reference_worker.records import Offer, WorkItem
from reference_worker.turn import Turn

OWED_FOR = 3600 * MICROS  # after that a Group that was turned away is not waited for any more
ACCEPT_SCOPE = "work.accept_offer"
LOST_DEPENDENCIES = frozenset({"cancelled", "failed"})


def review(turn: Turn, item: WorkItem) -> None:
    """Answer a pending offer, once."""
    offer = item.offer
    group = turn.group(item.group_id)
    if offer is None or group is None or not turn.is_live(item.group_id):
        return
    if group.membership_state == "stale":
        return
    if turn.now >= offer.expires_at or item.answered_offer == _name(offer):  # MWP-WRK-004
        return
    turn.runtime.timers.set(offer.expires_at, item.work_item_id)
    if outbox.has_outstanding(turn, item, outbox.ACCEPT):
        return
    reason = decline_reason(turn, item, offer)
    if reason is None:
        turn.runtime.owed.pop(item.group_id, None)
        outbox.propose(turn, item, outbox.ACCEPT, {"offerId": offer.offer_id})
        disclosure.publish(turn, item)
    else:
        _decline(turn, item, offer, reason)


def note_answer(turn: Turn, item: WorkItem) -> None:
    """The offer has had its answer; an extended or a new one is another question."""
    if item.offer is not None:
        turn.change(item, answered_offer=_name(item.offer))


def _name(offer: Offer) -> str:
    return f"{offer.offer_id} {offer.expires_at}"


def _decline(turn: Turn, item: WorkItem, offer: Offer, reason: str) -> None:
    note_answer(turn, item)
    if reason == "capacity":
        turn.runtime.owed[item.group_id] = turn.now + OWED_FOR
    turn.emit(
        {
            "type": "decline",
            "groupId": item.group_id,
            "workItemId": item.work_item_id,
            "offerId": offer.offer_id,
            "reason": reason,
        }
    )


def decline_reason(turn: Turn, item: WorkItem, offer: Offer) -> str | None:
    """The first obstacle to a credible commitment, or None."""
    if offer.card_version > _card_version(turn):
        return "capability"  # offered to a version of the card that this runtime does not have
    return next((reason for reason, stands in OBSTACLES.items() if stands(turn, item)), None)


def _card_version(turn: Turn) -> int:
    return max(turn.runtime.agent.card_version, turn.projection.session.card_version)


def _not_authorized(turn: Turn, item: WorkItem) -> bool:
    group = turn.group(item.group_id)
    if group is None or not item.authorized or ACCEPT_SCOPE not in group.scopes:
        return True
    if group.membership_state == "provisional":  # MWP-WRK-004: not used past its expiry
        return turn.now >= group.provisional_until
    return group.membership_state != "active"


def _not_capable(turn: Turn, item: WorkItem) -> bool:
    own = dict(turn.runtime.agent.capabilities)
    return any(
        identifier not in own
        or not _satisfies(own[identifier], version)
        or not turn.runtime.policy.is_available(identifier)
        for identifier, version in item.contract.capabilities
    )


def _satisfies(own: str, required: str) -> bool:
    """The same major version, and not an older one."""
    have, want = _numbers(own), _numbers(required)
    return have[0] == want[0] and have >= want


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("+")[0].split("-")[0].split("."))


def _too_late(turn: Turn, item: WorkItem) -> bool:
    return turn.now >= item.contract.deadline


def _hopeless(turn: Turn, item: WorkItem) -> bool:
    standing = turn.projection.standing
    return any(
        standing(item.group_id, other) in LOST_DEPENDENCIES for other in item.contract.dependencies
    )


def _full(turn: Turn, item: WorkItem) -> bool:
    policy, waiting = turn.runtime.policy, turn.runtime.waiting
    places = policy.queued_max() - len(waiting)
    is_group_full = waiting.in_group(item.group_id) >= policy.queued_max_per_group()
    return is_group_full or places <= _owed_to_others(turn, item)


def _owed_to_others(turn: Turn, item: WorkItem) -> int:
    """Places kept for Groups that were turned away and have less waiting than this one.

    MWP-WRK-010: turning one Group away for ever while taking another's offers would be the same
    fault as never starting its work.
    """
    waiting = turn.runtime.waiting
    own = waiting.in_group(item.group_id)
    return sum(
        group_id != item.group_id and turn.now < until and waiting.in_group(group_id) < own
        for group_id, until in turn.runtime.owed.items()
    )


def _not_understood(turn: Turn, item: WorkItem) -> bool:
    del turn
    return item.critical_extension  # MWP-EXT-002


OBSTACLES: Mapping[str, Callable[[Turn, WorkItem], bool]] = {
    "authorization": _not_authorized,
    "capability": _not_capable,
    "dependency": _hopeless,
    "deadline": _too_late,
    "budget": eligibility.is_unaffordable,
    "other": _not_understood,
    "capacity": _full,
}
