"""Section 11.5: what goes on while the Group service is away, and how it is reconciled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_worker.documents import sha256
from reference_worker.instants import MICROS, spell

Make = Callable[..., Any]
A = "urn:test:group:A"
BINDING = "urn:missionweaveprotocol:extension:bounded-offline-execution"
POINT = {"checkpointId": "urn:test:checkpoint", "checkpointHash": sha256(b"state")}


def types(effects: list[dict[str, Any]]) -> list[str]:
    return [e["type"] for e in effects]


def reconnect(org: Any) -> None:
    org.session += 1
    for item in org.items.values():
        if item["state"] == "active":
            item["state"] = "queued"
            item["revision"] += 1
    memberships = [{"groupId": g, "membershipEpoch": 1} for g in org.logs]
    org.handle("link", state="up", sessionEpoch=org.session, memberships=memberships)
    for group, log in org.logs.items():
        org.handle("caught_up", groupId=group, sequence=len(log))
    org.tick()


def test_nothing_new_starts_and_nothing_is_sent_while_the_link_is_down(organization: Make) -> None:
    org = organization(slots=2)
    org.open()
    org.give("a1", executionApproval="human_required")
    org.give("a2")
    org.handle("link", state="down")
    org.effects.clear()
    org.policy["limits"]["maxQueuedItems"] = 5
    org.handle("policy", policy=org.policy)
    org.advance(30)
    assert org.effects == []


def test_work_goes_on_until_the_grace_ends_and_not_longer(organization: Make) -> None:
    org = organization()
    org.lease_seconds = 10
    org.open()
    org.give("a1")
    org.handle("link", state="down")
    before = len(org.effects)
    org.advance(44)
    assert types(org.effects[before:]) == []
    org.advance(1)
    assert types(org.effects[before:]) == ["preempt"]
    org.advance(15)
    assert types(org.effects[before:]) == ["preempt", "cancel", "release"]


def test_only_reversible_operations_pass_on_the_strength_of_the_grace(organization: Make) -> None:
    org = organization()
    org.lease_seconds = 10
    org.open()
    org.give("a1")
    give_token(org)
    org.handle("link", state="down")
    (early,) = org.report("a1", "operation", operationId="op", effect="external")
    assert "refused" not in early
    org.advance(11)
    (late,) = org.report("a1", "operation", operationId="op", effect="external")
    assert "refused" in late
    (reversible,) = org.report("a1", "operation", operationId="op", effect="reversible")
    assert "refused" not in reversible


def test_nothing_takes_effect_between_a_links_return_and_the_end_of_the_replay(
    organization: Make,
) -> None:
    org = organization()
    org.open()
    org.give("a1")
    give_token(org)
    org.handle("link", state="down", groupIds=[A])
    org.handle("link", state="up", groupIds=[A])
    for effect in ("external", "reversible"):
        (refused,) = org.report("a1", "operation", operationId="op", effect=effect)
        assert refused["refused"] == "not reconciled"
    org.handle("caught_up", groupId=A, sequence=len(org.logs[A]))
    org.tick()
    (done,) = org.report("a1", "operation", operationId="op", effect="external")
    assert "refused" not in done


def give_token(org: Any) -> None:
    """A token of ten seconds for the operation `op` of a1's present run."""
    document = {
        "tokenId": "urn:test:token",
        "leaseId": org.running()["urn:test:item:a1"]["leaseId"],
        "agentId": "urn:test:agent:w",
        "sessionEpoch": 1,
        "workItemId": "urn:test:item:a1",
        "ownershipEpoch": 1,
        "operations": ["op"],
        "budget": {},
        "expiresAt": spell(org.now + 10 * MICROS),
    }
    org.handle("token", token=document, secret="hush")  # noqa: S106 - a test's secret


def test_a_buffered_checkpoint_carries_the_binding_and_comes_before_anything_else(
    organization: Make,
) -> None:
    org = organization()
    org.open()
    org.give("a1")
    lease = org.running()["urn:test:item:a1"]["leaseId"]
    org.handle("link", state="down")
    org.advance(5)
    org.report("a1", "safe_point", **POINT, usage={"modelTokens": 7})
    before = len(org.effects)
    org.answering = False
    reconnect(org)
    commands = [
        e["frame"]["command"]
        for e in org.effects[before:]
        if e["type"] == "frame" and e["frame"]["frameType"] == "COMMAND"
    ]
    assert [c["kind"] for c in commands] == ["work.checkpoint"]
    data = commands[0]["extensions"][BINDING]["data"]
    assert commands[0]["sessionEpoch"] == 2
    assert data["sessionEpoch"] == 1
    assert data["executionLeaseId"] == lease
    assert data["graceDeadline"] == spell(org.now - 5 * MICROS + 60 * MICROS)
    assert data["resourceUsageDelta"]["modelTokens"] == 7
    org.answering = True
    org.accept(commands[0])
    assert org.running()["urn:test:item:a1"]["resumeFrom"] == POINT


def test_one_groups_cut_leaves_the_others_alone(organization: Make) -> None:
    org = organization(slots=2)
    org.open()
    org.give("a1")
    org.handle("link", state="down", groupIds=[A])
    org.give("b1", group="B")
    assert "urn:test:item:b1" in org.running()
    org.handle("link", state="up", groupIds=[A])
    org.handle("caught_up", groupId=A, sequence=len(org.logs[A]))
    org.tick()
    org.complete("a1")
    assert org.items["urn:test:item:a1"]["state"] == "verified"


def test_a_start_that_a_cut_left_unanswered_keeps_no_slot(organization: Make) -> None:
    org = organization()
    start = cut_off_before_the_answer(org)
    org.answering = True
    org.give("b1", group="B")
    assert list(org.running()) == ["urn:test:item:b1"]
    granted = org.transition(start, org.items["urn:test:item:a1"])  # it had arrived after all
    org.handle("link", state="up", groupIds=[A])
    org.deliver(granted)
    org.handle("caught_up", groupId=A, sequence=len(org.logs[A]))
    org.tick()
    org.complete("b1")
    assert list(org.running()) == ["urn:test:item:a1"]
    assert org.starts() == ["a1", "b1"]


def test_a_start_that_a_cut_left_unanswered_goes_out_again_as_it_was(organization: Make) -> None:
    """MWP-EVT-003: nothing has changed, so that it is the same Command."""
    org = organization()
    start = cut_off_before_the_answer(org)
    before = len(org.effects)
    org.handle("link", state="up", groupIds=[A])
    org.handle("caught_up", groupId=A, sequence=len(org.logs[A]))
    org.tick()
    assert commands(org.effects[before:]) == [start]


def cut_off_before_the_answer(org: Any) -> dict[str, Any]:
    """Cut the Group's link once a1 was asked to be started; returns that Command."""
    org.open()
    org.answering = False
    org.give("a1")
    (accept,) = commands(org.effects)
    org.accept(accept)
    start = commands(org.effects)[-1]
    assert start["kind"] == "work.start"
    org.handle("link", state="down", groupIds=[A])
    return start


def commands(effects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    frames = [e["frame"] for e in effects if e["type"] == "frame"]
    return [frame["command"] for frame in frames if frame["frameType"] == "COMMAND"]


def test_work_whose_buffered_checkpoint_is_refused_starts_again(organization: Make) -> None:
    """Its lease went with the session; the Checkpoint was the only thing that named it still."""
    org = organization()
    org.open()
    org.give("a1")
    lease = org.running()["urn:test:item:a1"]["leaseId"]
    org.handle("link", state="down")
    org.advance(5)
    org.report("a1", "safe_point", **POINT)
    before = len(org.effects)
    org.answering = False
    reconnect(org)
    frames = [e["frame"] for e in org.effects[before:] if e["type"] == "frame"]
    (checkpoint,) = [f["command"] for f in frames if f["frameType"] == "COMMAND"]
    org.answering = True
    org.error(checkpoint, "WORK_LEASE_EXPIRED")
    assert org.running()["urn:test:item:a1"]["leaseId"] != lease
