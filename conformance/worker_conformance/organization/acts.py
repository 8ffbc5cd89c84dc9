"""What the Organization itself does in a Group: Coordinator, MissionOwner, approver, another Agent.

One function for each ActKind, in a table. An act that the specification does not allow in the
present state is a fault of the scenario and raises SuiteError. Never answers a Worker's Command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from attrs import evolve

from worker_conformance.documents.canonical import sha256_bytes
from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.documents.schemas import DocumentKind
from worker_conformance.errors import SuiteError
from worker_conformance.organization import asides, contracts, missions, moves, payloads
from worker_conformance.organization.appending import append
from worker_conformance.organization.forging import altered_signature
from worker_conformance.organization.items import Grant, Item, Offer
from worker_conformance.organization.ledger import Ledger
from worker_conformance.organization.memberships import Membership
from worker_conformance.organization.moments import SECOND, text
from worker_conformance.organization.moves import Holder, Moved
from worker_conformance.organization.outcomes import Appended
from worker_conformance.organization.signatures import signed
from worker_conformance.organization.transitions import Transition
from worker_conformance.scenario.model import DAY_SECONDS, MISFILED, Act, ActKind

GRANT_SECONDS = 7 * DAY_SECONDS
"""How long an execution approval holds where the scenario does not say."""

OTHER_EPOCH = 7
"""Of another Agent's Membership: higher than the Worker's ever gets."""

EXTENSION_KIND = "ext.acme.audit.noted"

_Done = tuple[Appended, ...]
_Doing = Callable[[Ledger, Act, int], _Done]


def perform(ledger: Ledger, act: Act, now: int) -> _Done:
    """Bring about one fact and return the Event(s) that say so."""
    return ACTS[act.kind](ledger, act, now)


# --- the Mission and its members ----------------------------------------------------------


def _create(ledger: Ledger, act: Act, now: int) -> _Done:
    mission = ledger.mission()
    payload: JsonObject = {"mission": mission, "missionId": mission["missionId"]}
    return append(ledger, act, now, "mission.created", payload, role="owner")


def _member(ledger: Ledger, act: Act, now: int) -> _Done:
    # The first fact about a provisional Membership shows it as it is; the next one activates it.
    announced = ledger.membership.state == "provisional" and not _membership_was_shown(ledger)
    if ledger.membership.state != "active" and not announced:
        ledger.membership = ledger.membership.activated(now)
    return append(ledger, act, now, "membership.changed", membership_payload(ledger))


def _move_membership(ledger: Ledger, act: Act, now: int) -> _Done:
    ledger.membership = ledger.membership.moved(now)
    return append(ledger, act, now, "membership.changed", membership_payload(ledger))


def _end_membership(ledger: Ledger, act: Act, now: int) -> _Done:
    if ledger.membership.state == "ended":
        raise SuiteError("no-membership", f"the Membership in {ledger.name} has already ended")
    ledger.membership = ledger.membership.ended(now)
    return append(ledger, act, now, "membership.ended", membership_payload(ledger))


def _other_member(ledger: Ledger, act: Act, now: int) -> _Done:
    return _of_other(ledger, act, now, "membership.changed", Membership("active", OTHER_EPOCH, now))


def _end_other_member(ledger: Ledger, act: Act, now: int) -> _Done:
    membership = Membership("active", OTHER_EPOCH, 0).ended(now)
    return _of_other(ledger, act, now, "membership.ended", membership)


def _of_other(ledger: Ledger, act: Act, now: int, kind: str, membership: Membership) -> _Done:
    """Say something of another Agent's Membership, which is no matter of the Worker's."""
    document: JsonObject = {
        **membership.document(ledger.plan, ledger.names),
        "membershipId": ledger.names.numbered("membership", ledger.name, ledger.name, 2),
        "member": {"type": "agent", "id": ledger.names.other_agent_id},
    }
    return _without_effect(ledger, append(ledger, act, now, kind, {"membership": document}))


def _without_effect(ledger: Ledger, done: _Done) -> _Done:
    """Note of these Events that nothing follows from them for the Worker."""
    ledger.misfiled.update(one.sequence for one in done)
    return tuple(evolve(one, misfiled=True) for one in done)


def membership_payload(ledger: Ledger) -> JsonObject:
    """The payload of a Membership's change."""
    return {"membership": ledger.membership.document(ledger.plan, ledger.names)}


def _membership_was_shown(ledger: Ledger) -> bool:
    return any(event["kind"] == "membership.changed" for event in ledger.events)


def _message(ledger: Ledger, act: Act, now: int) -> _Done:
    item = ledger.item(act.work) if act.work else None
    number = len(ledger.events) + 1
    names, group = ledger.names, ledger.name
    said = contracts.message_text(_text(act, "text", "Please have a look."), group, names)
    conversation = item.conversation_id if item else names.conversation_id(group)
    message: JsonObject = {
        "messageId": names.numbered("message", group, group, number),
        "missionId": names.mission_id(group),
        "groupId": ledger.group_id,
        "conversationId": conversation,
        "author": ledger.coordinator(),
        "kind": "message",
        "authority": False,
        "content": [{"type": "text", "text": said}],
        "committedAt": text(now),
    }
    return append(ledger, act, now, "message.posted", {"message": message}, item=item)


def _extension(ledger: Ledger, act: Act, now: int) -> _Done:
    item = ledger.item(act.work) if act.work else None
    note = contracts.message_text("Audited.", ledger.name, ledger.names)
    return append(ledger, act, now, EXTENSION_KIND, {"note": note}, item=item)


def _misfiled(ledger: Ledger, act: Act, now: int) -> _Done:
    """Say something of another Group that would hold, were it said there (MWP-WRK-008)."""
    what = str(act.args.get("what", MISFILED[0]))
    others = [name for name in ledger.shared.items_of if name != ledger.name]
    owned = next(
        (
            (name, item)
            for name in others
            for item in ledger.shared.items_of[name].values()
            if item.owner is not None
        ),
        None,
    )
    if owned is None:
        raise SuiteError("nothing-to-misfile", f"no Group but {ledger.name} has work that is owned")
    home, item = owned
    if what == "membership":
        plan = evolve(ledger.plan, name=home)
        document = ledger.first_membership.ended(now).document(plan, ledger.names)
        done = append(ledger, act, now, "membership.ended", {"membership": document})
    elif what == "approval":
        done = _misfiled_approval(ledger, act, home, item, now)
    else:
        reason = "Filed in the wrong Group."
        moved = moves.end(item, Transition.CANCEL, reason, now)
        payload = payloads.changed(moved, reason)
        if what == "claim":
            payload = _claimed(payload, home, ledger)
        done = append(ledger, act, now, "work.cancelled", payload, item=moved.item)
    return _without_effect(ledger, done)


def _misfiled_approval(ledger: Ledger, act: Act, home: str, item: Item, now: int) -> _Done:
    """An Approval of another Group's work, in this log; that Group's Authority is deceived too."""
    expires_at = now + GRANT_SECONDS * SECOND
    approval = _signed_approval(ledger, _approval(ledger, item, now), "")
    payload = payloads.approval_granted(approval, item, item.epoch, expires_at)
    kind = "approval.execution.granted"
    done = append(ledger, act, now, kind, payload, item=item, role="approver")
    granted = evolve(item, grants=(*item.grants, Grant(item.epoch, expires_at)))
    ledger.shared.items_of[home][item.name] = granted
    return done


def _claimed(payload: JsonObject, home: str, ledger: Ledger) -> JsonObject:
    """The same payload, whose documents name this Group as their own."""
    names = ledger.names
    ours = {
        names.group_id(home): ledger.group_id,
        names.mission_id(home): names.mission_id(ledger.name),
    }

    def told(value: JsonValue) -> JsonValue:
        if isinstance(value, dict):
            return {name: told(member) for name, member in value.items()}
        if isinstance(value, list):
            return [told(member) for member in value]
        return ours.get(value, value) if isinstance(value, str) else value

    return {name: told(member) for name, member in payload.items()}


# --- offers -------------------------------------------------------------------------------


def _authorize(ledger: Ledger, act: Act, now: int) -> _Done:
    missions.must_be_active(ledger)
    item = evolve(
        ledger.item(act.work).moved(Transition.AUTHORIZE, now),
        created_at=now,
    )
    return append(ledger, act, now, "work.authorized", payloads.authorized(item), item=item)


def _offer(ledger: Ledger, act: Act, now: int) -> _Done:
    return _offer_to(ledger, act, now, (ledger.shared.worker(),))


def _offer_both(ledger: Ledger, act: Act, now: int) -> _Done:
    return _offer_to(ledger, act, now, (ledger.shared.worker(), ledger.shared.rival()))


def _offer_other(ledger: Ledger, act: Act, now: int) -> _Done:
    return _offer_to(ledger, act, now, (ledger.shared.rival(),))


def _withdraw(ledger: Ledger, act: Act, now: int) -> _Done:
    _pending(ledger, ledger.item(act.work), ledger.names.agent_id)
    return _offer_to(ledger, act, now, (ledger.shared.rival(),))


def _offer_to(ledger: Ledger, act: Act, now: int, candidates: tuple[Holder, ...]) -> _Done:
    """New offers in place of those still pending (MWP-WRK-004: nothing is reserved by them)."""
    missions.must_be_active(ledger)
    item = ledger.item(act.work)
    new = tuple(
        Offer(
            offer_id=ledger.next_offer_id(item, ahead),
            agent_id=candidate.agent_id,
            card_version=candidate.card_version,
            expires_at=now + item.plan.offer_seconds * SECOND,
        )
        for ahead, candidate in enumerate(candidates, start=1)
    )
    offers = (*(moves.retired(one, now) for one in item.offers), *new)
    return _offered(ledger, act, now, moves.offer(item, offers, _basis(item, now), now))


def _latest_checkpoint(ledger: Ledger, act: Act, item: Item) -> JsonObject | None:
    """What an offer carries: the item's own, or by mistake that of the item which the act names."""
    if "checkpoint" not in act.args:
        return item.checkpoint
    whose = str(act.args["checkpoint"])
    items = (one.get(whose) for one in ledger.shared.items_of.values())
    found = next((one.checkpoint for one in items if one is not None), None)
    if found is None:
        raise SuiteError("no-checkpoint", f"{whose} has no Checkpoint that an offer could carry")
    return found


def _extend_offer(ledger: Ledger, act: Act, now: int) -> _Done:
    item = ledger.item(act.work)
    present = _pending(ledger, item, ledger.names.agent_id)
    later = max(now, present.expires_at) + item.plan.offer_seconds * SECOND
    offers = tuple(evolve(one, expires_at=later) if one == present else one for one in item.offers)
    return _offered(ledger, act, now, moves.offer(item, offers, _basis(item, now), now))


def _offered(ledger: Ledger, act: Act, now: int, moved: Moved) -> _Done:
    payload = payloads.offer_created(moved, _latest_checkpoint(ledger, act, moved.item))
    return append(ledger, act, now, "work.offer.created", payload, item=moved.item)


def _taken(ledger: Ledger, act: Act, now: int) -> _Done:
    item, rival = ledger.item(act.work), ledger.shared.rival()
    present = _pending(ledger, item, rival.agent_id)
    moved = moves.accept_offer(item, present, rival, ledger.next_lease_id(item), now)
    payload = payloads.offer_accepted(moved)
    return append(ledger, act, now, "work.offer.accepted", payload, item=moved.item, role="rival")


def _pending(ledger: Ledger, item: Item, agent_id: str) -> Offer:
    for one in reversed(item.offers):
        if one.agent_id == agent_id and one.status == "pending":
            return one
    raise SuiteError(
        "no-offer",
        f"{item.name} is {item.state} without a pending offer to {agent_id}",
        f"Group {ledger.name} must offer it first",
    )


def _basis(item: Item, now: int) -> JsonObject:
    return contracts.selection_basis(item.plan, now)


# --- contracts, approvals, ends -----------------------------------------------------------


def _revise(ledger: Ledger, act: Act, now: int) -> _Done:
    """A revised contract needs renewed acceptance, so that pending offers of the old one go."""
    item = ledger.item(act.work)
    changes = cast("Mapping[str, Any]", act.args.get("changes", {}))  # members of a WorkPlan
    plan = evolve(item.plan, **changes)
    version = item.contract_version + 1
    revised = evolve(
        item.moved(Transition.REVISE, now),
        plan=plan,
        contract_version=version,
        contract=contracts.contract(plan, version, ledger.names),
        offers=tuple(moves.retired(one, now) for one in item.offers),
    )
    payload = payloads.contract_revised(revised)
    return append(ledger, act, now, "work.contract.revised", payload, item=revised)


def _grant(ledger: Ledger, act: Act, now: int) -> _Done:
    item = ledger.item(act.work)
    epoch = _number(act, "epoch", item.epoch)
    expires_at = now + _number(act, "expires_seconds", GRANT_SECONDS) * SECOND
    how = str(act.args.get("how", ""))
    is_believed = act.args.get("believed") is True
    grant = Grant(item.epoch if is_believed else epoch, expires_at)
    granted = evolve(
        item.moved(Transition.GRANT_EXECUTION, now),
        grants=(*item.grants, grant) if is_believed or not how else item.grants,
    )
    approval = _signed_approval(ledger, _approval(ledger, granted, now), how)
    payload = payloads.approval_granted(approval, granted, epoch, expires_at)
    kind = "approval.execution.granted"
    return append(ledger, act, now, kind, payload, item=granted, role="approver")


def _signed_approval(ledger: Ledger, draft: JsonObject, how: str) -> JsonObject:
    """The Approval, with one thing wrong where the act asks for it."""
    signer = "outsider" if how == "approver" else "approver"
    decision = "denied" if how == "decision" else draft["decision"]
    draft = {**draft, "decision": decision, "approver": ledger.shared.keys.actor(signer)}
    approval = signed(DocumentKind.APPROVAL, draft, ledger.shared.keys[signer])
    return altered_signature(approval) if how == "signature" else approval


def _approval(ledger: Ledger, item: Item, now: int) -> JsonObject:
    number = len(ledger.events) + 1
    return {
        "approvalId": ledger.names.numbered("approval", item.name, ledger.name, number),
        "kind": "work_execution",
        "decision": "approved",
        "missionId": item.place.mission_id,
        "groupId": item.place.group_id,
        "workItemId": item.work_item_id,
        "missionRevision": ledger.mission_revision,
        "artifactHashes": [],
        "acceptancePolicyVersion": "1.0.0",
        "approver": ledger.shared.keys.actor("approver"),
        "comments": "",
        "conditions": [],
        "occurredAt": text(now),
    }


def _unblock(ledger: Ledger, act: Act, now: int) -> _Done:
    moved = moves.unblock(ledger.item(act.work), now)
    return append(ledger, act, now, "work.unblocked", payloads.changed(moved), item=moved.item)


def _accept_result(ledger: Ledger, act: Act, now: int) -> _Done:
    moved = moves.accept_result(ledger.item(act.work), now)
    payload = payloads.changed(moved)
    return append(ledger, act, now, "work.result.accepted", payload, item=moved.item)


def _fail(ledger: Ledger, act: Act, now: int) -> _Done:
    return _end(ledger, act, now, Transition.FAIL, "work.failed")


def _cancel(ledger: Ledger, act: Act, now: int) -> _Done:
    return _end(ledger, act, now, Transition.CANCEL, "work.cancelled")


def _end(ledger: Ledger, act: Act, now: int, move: Transition, kind: str) -> _Done:
    reason = _text(act, "reason", f"The Coordinator decided: {kind}.")
    moved = moves.end(ledger.item(act.work), move, reason, now)
    payload = payloads.changed(moved, reason)
    return append(ledger, act, now, kind, payload, item=moved.item)


def _promote(ledger: Ledger, act: Act, now: int) -> _Done:
    item = ledger.item(act.work)
    lease_id, basis = ledger.next_lease_id(item), _basis(item, now)
    coordinator = ledger.shared.coordinator(ledger.coordinator_epoch)
    moved = moves.promote(item, coordinator, lease_id, basis, now)
    payload = payloads.many_changed([moved], "The work became a child Mission.")
    return append(ledger, act, now, "mission.child.created", payload, item=moved.item)


def _child_approved(ledger: Ledger, act: Act, now: int) -> _Done:
    """The Coordinator accepts the child's result as the WorkItem's (section 14)."""
    item = ledger.item(act.work)
    artifact = ledger.names.numbered("child-artifact", item.name, ledger.name, item.epoch)
    submission: JsonObject = {
        "artifactHashes": [sha256_bytes(artifact.encode())],
        "evidenceIds": [ledger.names.numbered("child-approval", item.name, ledger.name, 1)],
        "submittedAt": text(now),
    }
    moved = moves.child_approved(item, submission, now)
    payload = payloads.changed(moved)
    return append(ledger, act, now, "work.result.accepted", payload, item=moved.item)


def _child_failed(ledger: Ledger, act: Act, now: int) -> _Done:
    """A failed child fails its parent WorkItem only if it was indispensable."""
    reason = "The child Mission failed."
    if act.args.get("indispensable"):
        moved = moves.end(ledger.item(act.work), Transition.CHILD_FAILED_INDISPENSABLE, reason, now)
        payload = payloads.changed(moved, reason)
        return append(ledger, act, now, "work.failed", payload, item=moved.item)
    moved = moves.child_failed(ledger.item(act.work), now)
    return append(ledger, act, now, "work.progressed", payloads.changed(moved), item=moved.item)


# --- helpers ------------------------------------------------------------------------------


def _text(act: Act, name: str, default: str) -> str:
    return str(act.args.get(name, default))


def _number(act: Act, name: str, default: int) -> int:
    value = cast(JsonValue, act.args.get(name, default))
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise SuiteError("act", f"{act.kind.value}: {name} is no whole number")


ACTS: Mapping[ActKind, _Doing] = {
    ActKind.CREATED: _create,
    ActKind.MEMBER: _member,
    ActKind.AUTHORIZE: _authorize,
    ActKind.OFFER: _offer,
    ActKind.EXTEND_OFFER: _extend_offer,
    ActKind.WITHDRAW: _withdraw,
    ActKind.OFFER_BOTH: _offer_both,
    ActKind.OFFER_OTHER: _offer_other,
    ActKind.TAKEN: _taken,
    ActKind.MESSAGE: _message,
    ActKind.REVISE: _revise,
    ActKind.GRANT: _grant,
    ActKind.UNBLOCK: _unblock,
    ActKind.ACCEPT_RESULT: _accept_result,
    ActKind.FAIL: _fail,
    ActKind.CANCEL: _cancel,
    ActKind.PROMOTE: _promote,
    ActKind.CHILD_APPROVED: _child_approved,
    ActKind.CHILD_FAILED: _child_failed,
    ActKind.MOVE_MEMBERSHIP: _move_membership,
    ActKind.END_MEMBERSHIP: _end_membership,
    ActKind.OTHER_MEMBER: _other_member,
    ActKind.END_OTHER_MEMBER: _end_other_member,
    ActKind.EXTENSION: _extension,
    ActKind.ASIDE: asides.aside,
    ActKind.MISFILED: _misfiled,
    **missions.ACTS,
}
"""Every ActKind; a test keeps this complete."""
