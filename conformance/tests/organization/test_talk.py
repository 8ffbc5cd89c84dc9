"""Messages, Work Proposals and resource usage: Commands that move no WorkItem."""

import pytest

from worker_conformance.organization.doors import USAGE_KIND
from worker_conformance.organization.outcomes import Accepted


def message(desk, **members: object) -> dict:
    names = desk.organization.names
    return {
        "messageId": "urn:worker:message:1",
        "missionId": names.mission_id("A"),
        "groupId": desk.group.group_id,
        "conversationId": names.conversation_id("A"),
        "author": {"type": "agent", "id": names.agent_id},
        "kind": "message",
        "authority": False,
        "content": [{"type": "text", "text": "I see."}],
        "committedAt": "2026-07-15T00:00:00Z",
        **members,
    }


def test_a_message_is_posted(desk, check_event) -> None:
    outcome = desk.send("message.post", {"message": message(desk)})
    assert isinstance(outcome, Accepted)
    assert desk.last["kind"] == "message.posted"
    check_event(desk.last, desk.registry)


def test_a_correction_names_what_it_corrects(desk, check_event) -> None:
    members = {"kind": "correction", "targetMessageId": "urn:x:1", "reason": "A slip."}
    outcome = desk.send("message.correct", {"message": message(desk, **members)})
    assert isinstance(outcome, Accepted)
    assert desk.last["kind"] == "message.corrected"
    check_event(desk.last, desk.registry)


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"authority": True}, "SCHEMA_VALIDATION_FAILED"),
        ({"groupId": "urn:x:group"}, "INVALID_COMMAND"),
        ({"author": {"type": "human", "id": "urn:x:somebody"}}, "INVALID_COMMAND"),
        ({"kind": "retraction", "targetMessageId": "urn:x:1", "reason": "x"}, "INVALID_COMMAND"),
    ],
)
def test_a_message_that_is_not_ours_to_post_is_refused(desk, members, code) -> None:
    assert desk.send("message.post", {"message": message(desk, **members)}).code == code


def test_without_a_message_there_is_nothing_to_post(desk) -> None:
    assert desk.send("message.post", {}).code == "INVALID_COMMAND"


def test_anybody_may_propose_work(desk, check_event) -> None:
    assert isinstance(desk.send("work.propose", {"goal": "Clean up."}), Accepted)
    assert desk.last["kind"] == "work.proposed"
    check_event(desk.last, desk.registry)


def test_usage_adds_up_and_leaves_the_revision_alone(desk, check_event) -> None:
    desk.reach("active")
    revision = desk.view().revision
    for total in (3, 6):
        outcome = desk.send(USAGE_KIND, desk.lease_payload(usageDelta={"toolCalls": 3}))
        assert isinstance(outcome, Accepted)
        assert desk.last["payload"]["cumulativeUsage"]["toolCalls"] == total
    assert desk.view().revision == revision
    check_event(desk.last, desk.registry)


@pytest.mark.parametrize(
    ("delta", "code"),
    [
        ({"toolCalls": 0}, "INVALID_COMMAND"),
        ({}, "INVALID_COMMAND"),
        ({"externalSideEffects": 1}, "BUDGET_EXCEEDED"),
        ({"toolCalls": 1, "modelTokens": 10**9}, "BUDGET_EXCEEDED"),
    ],
)
def test_usage_beyond_the_budget_is_refused_as_a_whole(desk, delta, code) -> None:
    desk.reach("active")
    assert desk.send(USAGE_KIND, desk.lease_payload(usageDelta=delta)).code == code
    assert not desk.group.ledger.item("a1").usage
