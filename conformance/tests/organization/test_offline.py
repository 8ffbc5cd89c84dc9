"""Buffered Checkpoints: what a binding must say, and what reconciling them does."""

import pytest

from worker_conformance.organization.outcomes import Accepted, Refused
from worker_conformance.organization.requests import OFFLINE_EXTENSION
from worker_conformance.scenario.clock import text_of
from worker_conformance.scenario.model import ActKind, SetPolicy, WorkPlan

SECOND = 1_000_000
USED = {"toolCalls": 2, "financial": 1.5}


def cut(desk) -> dict:
    """Work that ran when the connection was lost, after the reconnect; returns a good binding."""
    desk.reach("active")
    lease = desk.group.ledger.item("a1").owner.execution
    desk.now = 100
    desk.organization.reopen_session(desk.micros)
    return {
        "agentId": desk.start["agent"]["agentId"],
        "groupId": desk.group.group_id,
        "workItemId": desk.work_id(),
        "sessionEpoch": 1,
        "ownershipEpoch": 1,
        "executionLeaseId": lease.lease_id,
        "disconnectedAt": text_of(20 * SECOND),
        "bufferedAt": text_of(30 * SECOND),
        "graceDeadline": text_of(80 * SECOND),
        "executionLeaseExpiresAt": text_of(lease.expires_at),
        "resourceUsageDelta": USED,
    }


def send(desk, binding: dict):
    extensions = {OFFLINE_EXTENSION: {"version": "1.0.0", "critical": True, "data": binding}}
    payload = desk.payload_of("work.checkpoint")
    return desk.send("work.checkpoint", payload, extensions=extensions)


def test_a_buffered_checkpoint_is_charged_and_recorded(desk, check_event) -> None:
    outcome = send(desk, cut(desk))
    assert isinstance(outcome, Accepted)
    usage, checkpointed = (one.event for one in outcome.appended)
    assert usage["kind"] == "ext.missionweaveprotocol.core.resource_usage_recorded"
    assert usage["payload"]["cumulativeUsage"]["toolCalls"] == 2
    assert usage["payload"]["remainingBudget"]["financial"] == 998.5
    assert checkpointed["kind"] == "work.checkpointed"
    assert desk.state() == "queued"
    for event in (usage, checkpointed):
        check_event(event, desk.registry)


def test_without_usage_there_is_nothing_to_charge(desk) -> None:
    outcome = send(desk, cut(desk) | {"resourceUsageDelta": {}})
    assert [one.kind for one in outcome.appended] == ["work.checkpointed"]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"bufferedAt": text_of(80 * SECOND)}, "WORK_LEASE_EXPIRED"),
        ({"bufferedAt": text_of(19 * SECOND)}, "WORK_LEASE_EXPIRED"),
        ({"bufferedAt": "soon"}, "INVALID_COMMAND"),
        ({"graceDeadline": text_of(90 * SECOND)}, "INVALID_COMMAND"),
        ({"executionLeaseExpiresAt": text_of(0)}, "INVALID_COMMAND"),
        ({"executionLeaseId": "urn:x:lease"}, "WORK_LEASE_EXPIRED"),
        ({"sessionEpoch": 2}, "INVALID_COMMAND"),
        ({"agentId": "urn:x:agent"}, "INVALID_COMMAND"),
        ({"resourceUsageDelta": {"financial": 10_000}}, "BUDGET_EXCEEDED"),
    ],
)
def test_a_wrong_binding_changes_nothing(desk, changed, code) -> None:
    binding = cut(desk) | changed
    events = len(desk.group.events)
    outcome = send(desk, binding)
    assert isinstance(outcome, Refused)
    assert outcome.code == code
    assert len(desk.group.events) == events


def test_an_incomplete_binding_is_invalid(desk) -> None:
    binding = cut(desk)
    del binding["disconnectedAt"]
    assert send(desk, binding).code == "INVALID_COMMAND"


def test_a_changed_owner_is_fenced_offline_too(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A", ownership_seconds=90))
    binding = cut(desk)
    desk.act(ActKind.OFFER_OTHER, "a1")
    assert send(desk, binding).code == "WORK_STALE_OWNERSHIP"


def test_a_lease_that_was_followed_by_another_reconciles_nothing(desk) -> None:
    binding = cut(desk)
    desk.done("work.start")
    assert send(desk, binding).code == "WORK_LEASE_EXPIRED"
    desk.done("work.checkpoint")
    assert send(desk, binding).code == "WORK_LEASE_EXPIRED"


def test_the_grace_is_the_policys(desk) -> None:
    binding = cut(desk) | {"graceDeadline": text_of(25 * SECOND)}
    desk.organization.set_policy(SetPolicy(limits={"offline_grace_seconds": 5}))
    assert send(desk, binding).code == "WORK_LEASE_EXPIRED"


# --- one Group's link, and Messages -------------------------------------------------------


def binding_of(desk) -> dict:
    """A good binding for work whose Group alone was out of reach: the session goes on."""
    lease = desk.group.ledger.item("a1").owner.execution
    return {
        "agentId": desk.start["agent"]["agentId"],
        "groupId": desk.group.group_id,
        "workItemId": desk.work_id(),
        "sessionEpoch": 1,
        "ownershipEpoch": 1,
        "executionLeaseId": lease.lease_id,
        "disconnectedAt": text_of(20 * SECOND),
        "bufferedAt": text_of(30 * SECOND),
        "graceDeadline": text_of(80 * SECOND),
        "executionLeaseExpiresAt": text_of(lease.expires_at),
        "resourceUsageDelta": USED,
    }


def test_a_checkpoint_buffered_under_a_lease_that_still_runs_puts_the_work_down(desk) -> None:
    desk.reach("active")
    binding = binding_of(desk)
    desk.now = 100
    outcome = send(desk, binding)
    assert [one.kind for one in outcome.appended][-1] == "work.checkpointed"
    assert desk.state() == "queued"


def test_a_checkpoint_buffered_in_time_counts_after_its_lease_ran_out(desk) -> None:
    desk.reach("active")
    binding = binding_of(desk)
    desk.now = 1_000
    assert isinstance(send(desk, binding), Accepted)


def test_what_the_organization_renewed_meanwhile_the_binding_cannot_know(desk) -> None:
    desk.reach("active")
    binding = binding_of(desk)
    desk.organization.organization_renews = True
    desk.now = 150
    desk.group.renew_due(desk.micros)
    assert isinstance(send(desk, binding), Accepted)


def test_a_renewal_whose_answer_the_outage_swallowed_is_not_asked_for(desk) -> None:
    desk.reach("active")
    binding = binding_of(desk)
    desk.now = 50
    desk.done("ext.missionweaveprotocol.core.work_execution_lease_renew")
    assert isinstance(send(desk, binding), Accepted)


def post(desk, binding: dict, **members: object):
    item = desk.group.ledger.item("a1")
    message = {
        "messageId": "urn:worker:message:1",
        "missionId": item.place.mission_id,
        "groupId": item.place.group_id,
        "conversationId": item.conversation_id,
        "author": {"type": "agent", "id": desk.start["agent"]["agentId"]},
        "kind": "message",
        "authority": False,
        "content": [{"type": "text", "text": "Half of it is done."}],
        "committedAt": text_of(desk.micros),
        **members,
    }
    extensions = {OFFLINE_EXTENSION: {"version": "1.0.0", "critical": True, "data": binding}}
    payload = {"message": message, "workItemId": desk.work_id()}
    return desk.send("message.post", payload, extensions=extensions)


def test_a_buffered_message_is_charged_and_posted(desk, check_event) -> None:
    binding = cut(desk)
    outcome = post(desk, binding)
    assert isinstance(outcome, Accepted)
    assert [one.kind for one in outcome.appended] == [
        "ext.missionweaveprotocol.core.resource_usage_recorded",
        "message.posted",
    ]
    for one in outcome.appended:
        check_event(one.event, desk.registry)
    assert isinstance(send(desk, binding | {"resourceUsageDelta": {}}), Accepted)


def test_a_buffered_message_stays_in_its_work_items_conversation(desk) -> None:
    elsewhere = desk.organization.names.conversation_id("A")
    outcome = post(desk, cut(desk), conversationId=elsewhere)
    assert isinstance(outcome, Refused)
    assert outcome.code == "INVALID_COMMAND"


def test_a_message_buffered_too_late_is_refused(desk) -> None:
    late = cut(desk) | {"bufferedAt": text_of(90 * SECOND)}
    assert post(desk, late).code == "WORK_LEASE_EXPIRED"
