"""Facts: what a verified Event changes in the Worker's projections.

Responsible for one table from Event kind to projection. Never sends anything; whatever follows
from a fact is decided afterwards, from the projections alone, so that Replay and live delivery end
in the same state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reference_worker import outbox
from reference_worker.contracts import (
    has_critical_extension,
    read_checkpoint,
    read_contract,
    read_execution_lease,
    read_offer,
    read_ownership,
)
from reference_worker.documents import Document, DocumentError, is_valid
from reference_worker.instants import NEVER, is_timestamp, micros
from reference_worker.records import Approval, Contract, Group, Ownership, WorkItem, evolve, shared
from reference_worker.turn import Turn

HELD_STATES = frozenset({"queued", "active", "blocked"})  # in which an owner has duties
ENDED_STATES = frozenset({"verified", "cancelled", "failed"})


def apply(turn: Turn, group: Group, event: Document) -> None:
    """Change the projections by one Group Event; unknown kinds change nothing."""
    if event["cause"]["type"] == "command":
        outbox.answered(turn, group.group_id, event["cause"]["id"])
    fact = FACTS.get(event["kind"])
    if fact is not None:
        fact(turn, group, event)


def _work_fact(turn: Turn, group: Group, event: Document) -> None:
    payload = event["payload"]
    document = payload.get("workItem")
    if (
        belongs(turn, document, group)
        and event.get("workItemId", document["workItemId"]) == (document["workItemId"])
    ):
        absorb(turn, group, document, payload, event)


def belongs(turn: Turn, document: object, group: Group) -> bool:
    """True for a WorkItem document that this Group's log may speak of (MWP-WRK-008).

    An item that is known is its own Group's, whatever another Group's document claims.
    """
    if not is_valid("workItem", document) or not isinstance(document, dict):
        return False
    known = turn.item(document["workItemId"])
    return (
        document["groupId"] == group.group_id
        and document["missionId"] == group.mission_id
        and (known is None or known.group_id == group.group_id)
    )


def absorb(
    turn: Turn, group: Group, document: Document, payload: Document, event: Document
) -> None:
    """Take a WorkItem document over, or forget the item if it is no concern of ours any more."""
    work_item_id, me = document["workItemId"], turn.projection.session.agent_id
    known = turn.item(work_item_id)
    offer, owner = read_offer(document, me), document.get("owner")
    held = owner is not None and owner["agentId"] == me and document["state"] in HELD_STATES
    if offer is None and not held:
        forget(turn, group.group_id, work_item_id, document["state"])
        return
    contract = _contract(document["contract"], known)
    leases = [lease for lease in payload.get("leases", ()) if is_valid("lease", lease)]
    before = known or WorkItem(work_item_id, group.group_id, group.mission_id, 0, "open", contract)
    ownership = read_ownership(document, leases, contract.terms, before.ownership) if held else None
    opens = event["kind"] in ("work.started", "group.snapshot.created")
    lease = read_execution_lease(document, leases, before.lease, opens=opens) if held else None
    critical = contract.critical_extension or has_critical_extension(document, event)
    checkpoint = read_checkpoint(
        payload.get("checkpoint") or payload.get("latestCheckpoint"), work_item_id
    )
    turn.change(
        before,
        **_afresh(before, ownership, event),
        revision=document["revision"],
        state=shared(document["state"]),
        contract=contract,
        critical_extension=critical,
        authorized=document.get("selectionBasis", {}).get("authorizationEligible", True),
        offer=offer,
        ownership=ownership,
        lease=lease,
        checkpoint=checkpoint or before.checkpoint,
        started=(before.started and not _is_another(before, ownership))
        or _has_begun(ownership, leases, work_item_id),
        suspended=False,
        refusals=0,
    )
    _index_dependencies(turn, work_item_id, contract.dependencies)


def _afresh(item: WorkItem, ownership: Ownership | None, event: Document) -> dict[str, object]:
    """The counts at zero where a new Ownership Epoch begins."""
    if not _is_another(item, ownership):
        # Whoever unblocks work has seen what it used, and lets it use more.
        is_unblocked = event["kind"] == "work.unblocked"
        return {"spent": (), "spending": ()} if is_unblocked else {}
    return {
        "sequence": event.get("sequence", 0),
        "failures": 0,
        "pauses": 0,
        "runs": 0,
        "not_before": 0,
        "failed_under": "",
        "side_effects": (),
        "spent": (),
        "spending": (),
    }


def _is_another(item: WorkItem, ownership: Ownership | None) -> bool:
    """True if a new Ownership Epoch begins."""
    known = item.ownership
    return ownership is not None and (known is None or known.epoch != ownership.epoch)


def _has_begun(ownership: Ownership | None, leases: list[Document], work_item_id: str) -> bool:
    """True if the facts show an Execution Lease under this ownership, in whichever session."""
    return ownership is not None and any(
        lease["leaseType"] == "execution"
        and lease.get("workItemId") == work_item_id
        and lease["ownershipEpoch"] == ownership.epoch
        for lease in leases
    )


def _contract(document: Document, known: WorkItem | None) -> Contract:
    """The contract, read anew only if it was revised: a revision has a version of its own."""
    if known is not None and known.contract.version == document["contractVersion"]:
        return known.contract
    return read_contract(document)


def _index_dependencies(turn: Turn, work_item_id: str, dependencies: tuple[str, ...]) -> None:
    for dependency in dependencies:
        turn.runtime.dependents.setdefault(dependency, {})[work_item_id] = None


def forget(turn: Turn, group_id: str, work_item_id: str, state: str) -> None:
    """Keep only how the item stands, for those that depend on it."""
    turn.projection.items.drop(work_item_id)
    turn.projection.new_standings[group_id, work_item_id] = state  # MWP-WRK-008: by this log
    turn.touch(work_item_id)
    for dependent in turn.runtime.dependents.get(work_item_id, ()):
        turn.touch(dependent)


def _mission_created(turn: Turn, group: Group, event: Document) -> None:
    del turn, group, event  # the Mission's documents arrive with `start`; its text is not kept


def _mission_fact(turn: Turn, group: Group, event: Document) -> None:
    payload = event["payload"]
    for document in payload.get("workItems", ()):
        if belongs(turn, document, group):
            absorb(turn, group, document, payload, event)


def _mission_ended(turn: Turn, group: Group, event: Document) -> None:
    _mission_fact(turn, group, event)  # MWP-AUT-006, MWP-MSN-002
    current = turn.group(group.group_id)
    assert current is not None, "the Group of an Event is known"
    turn.change_group(current, mission_ended=True)
    for item in turn.projection.items.of_group(group.group_id):
        forget(turn, group.group_id, item.work_item_id, "cancelled")


def _membership_fact(turn: Turn, group: Group, event: Document) -> None:
    document = event["payload"].get("membership")
    if is_valid("membership", document) and document["groupId"] == group.group_id:
        absorb_membership(turn, group, document)


def absorb_membership(turn: Turn, group: Group, document: Document) -> None:
    """Take over this Agent's own Membership; the largest epoch seen is the current one."""
    if document["member"] != {"type": "agent", "id": turn.projection.session.agent_id}:
        return
    current = turn.group(group.group_id) or group
    if document["membershipEpoch"] < current.membership_epoch:  # MWP-MSN-010
        return
    provisional = document["state"] == "provisional"
    turn.change_group(
        current,
        membership_epoch=document["membershipEpoch"],
        membership_state=document["state"],
        scopes=tuple(document["scopes"]),
        provisional_until=micros(document["provisionalExpiresAt"]) if provisional else NEVER,
    )
    turn.touch_groups(group.group_id)


def _approval_fact(turn: Turn, group: Group, event: Document) -> None:
    payload = event["payload"]
    approval, item = payload.get("approval"), turn.item(str(payload.get("workItemId")))
    epoch, expires_at = payload.get("ownershipEpoch"), payload.get("expiresAt")
    if item is None or item.group_id != group.group_id:
        return
    item = turn.change(item, revision=max(item.revision, event["aggregateRevision"]))
    if not is_timestamp(expires_at):
        return
    grants = isinstance(approval, dict) and approval.get("decision") == "approved"
    if grants and has_critical_extension(event):  # MWP-EXT-002: what it is bound to is unknown
        return
    if isinstance(epoch, int) and is_genuine(turn, approval, item):
        absorb_approval(turn, item, approval, epoch, micros(str(expires_at)))


def is_genuine(turn: Turn, approval: object, item: WorkItem) -> bool:
    """True for an execution Approval of this item, signed by an authorized approver."""
    if not is_valid("approval", approval) or not isinstance(approval, dict):
        return False
    approver = (approval["approver"]["type"], approval["approver"]["id"])
    try:
        turn.runtime.keys.verify(approval, approval["occurredAt"], approver)
    except DocumentError:
        return False
    return (
        approval["kind"] == "work_execution"
        and approval["workItemId"] == item.work_item_id
        and approval["groupId"] == item.group_id
        and approval["missionId"] == item.mission_id
        and turn.runtime.may("approvers", approver)
    )


def absorb_approval(
    turn: Turn, item: WorkItem, approval: Document, epoch: int, expires_at: int
) -> None:
    """Grant the execution gate for one Ownership Epoch, or take it back (MWP-AUT-003)."""
    kept = tuple(
        known
        for known in item.approvals
        if known.approval_id not in (approval["approvalId"], approval.get("revokesApprovalId"))
        and not (approval["decision"] == "denied" and known.ownership_epoch == epoch)
    )
    if approval["decision"] == "approved":
        kept = (*kept, Approval(approval["approvalId"], epoch, expires_at))
    turn.change(item, approvals=kept, suspended=False, refusals=0)


def apply_organization_fact(turn: Turn, event: Document) -> None:
    """Facts without a Group: a session was opened, an Agent Card was registered."""
    payload, session = event["payload"], turn.projection.session
    if event["kind"] == "ext.missionweaveprotocol.identity.session_opened":
        epoch = payload.get("sessionEpoch")
        if payload.get("agentId") == session.agent_id and isinstance(epoch, int):
            fence(turn, epoch)
        return
    card = payload.get("agentCard")
    if not is_valid("agentCard", card) or card["agentId"] != session.agent_id:
        return
    try:
        issuer, _ = turn.runtime.keys.verify(card, card["issuedAt"], None)
    except DocumentError:
        return
    if turn.runtime.may("cardIssuer", ("service", issuer)):
        version = max(session.card_version, card["cardVersion"])
        turn.projection.session = evolve(session, card_version=version)
        turn.touch_all()


def fence(turn: Turn, epoch: int) -> None:
    """A higher Session Epoch is known: this runtime is over (MWP-IDN-008)."""
    session = turn.projection.session
    if epoch > session.session_epoch:
        turn.projection.session = evolve(session, fenced_by=max(epoch, session.fenced_by))
        turn.touch_all()


FACTS: Mapping[str, Callable[[Turn, Group, Document], None]] = {
    "mission.created": _mission_created,
    "membership.changed": _membership_fact,
    "membership.ended": _membership_fact,
    "work.authorized": _work_fact,
    "work.offer.created": _work_fact,
    "work.offer.accepted": _work_fact,
    "work.contract.revised": _work_fact,
    "work.started": _work_fact,
    "work.progressed": _work_fact,
    "work.checkpointed": _work_fact,
    "work.blocked": _work_fact,
    "work.unblocked": _work_fact,
    "work.submitted": _work_fact,
    "work.result.accepted": _work_fact,
    "work.failed": _work_fact,
    "work.cancelled": _work_fact,
    "approval.execution.granted": _approval_fact,
    "mission.child.created": _mission_fact,
    "mission.cancelled": _mission_ended,
    "mission.terminated": _mission_ended,
    "mission.approved": _mission_ended,
    "group.archived": _mission_ended,
}
