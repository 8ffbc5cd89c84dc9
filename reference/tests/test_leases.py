"""Sections 11.3 and 19: leases, fencing, renewals, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reference_worker.documents import sha256
from reference_worker.instants import spell

Make = Callable[..., Any]
A = "urn:test:group:A"
RENEW = "ext.missionweaveprotocol.core.work_execution_lease_renew"


def commands(effects: list[dict[str, Any]], kind: str = "") -> list[dict[str, Any]]:
    found = [
        e["frame"]["command"]
        for e in effects
        if e["type"] == "frame" and e["frame"]["frameType"] == "COMMAND"
    ]
    return [c for c in found if not kind or c["kind"] == kind]


def types(effects: list[dict[str, Any]]) -> list[str]:
    return [e["type"] for e in effects if e["type"] != "frame"]


def test_another_groups_event_answers_no_command(organization: Make) -> None:
    """MWP-EVT-010: the Action ID that another Group's Event names as its cause is not ours."""
    org = organization()
    org.open()
    org.answering = False
    (accept,) = commands(org.deliver(org.offer("a1")))
    event = org.event("urn:test:group:B", "message.posted", {})
    org.logs["urn:test:group:B"].pop()
    del event["signature"]
    event["cause"] = {"type": "command", "id": accept["actionId"]}
    effects = org.deliver(org.sign(event, "authority", event["occurredAt"]))
    assert commands(effects) == []


@pytest.mark.parametrize(
    "broken",
    [
        {"holderAgentId": "urn:test:agent:other"},
        {"sessionEpoch": 2},
        {"ownershipEpoch": 7},
        {"workItemId": "urn:test:item:other"},
        {"groupId": "urn:test:group:B"},
        {"missionId": "urn:test:mission:B"},
        {"leaseType": "blocked"},
        {"expiresAt": "2026-07-15T00:00:00Z"},
        {"startsAt": "2026-07-16T00:00:00Z", "expiresAt": "2026-07-17T00:00:00Z"},
        {"state": "revoked", "closedAt": "2026-07-15T00:00:00Z", "closureReason": "x"},
    ],
)
def test_nothing_runs_without_a_lease_that_binds_everything(
    organization: Make, broken: dict[str, Any]
) -> None:
    org = organization()
    org.open()
    org.answering = False
    (accept,) = commands(org.deliver(org.offer("a1")))
    item = org.items["urn:test:item:a1"]
    (start,) = commands(org.deliver(org.transition(accept, item)))
    org.transition(start, item)
    started = org.logs[A].pop()
    del started["signature"]
    started["payload"]["leases"][0] |= broken
    effects = org.deliver(org.sign(started, "authority", started["occurredAt"]))
    assert types(effects) == []


def test_a_lease_is_renewed_at_half_its_time_and_survives_a_lost_answer(organization: Make) -> None:
    org = organization()
    org.lease_seconds = 60
    org.open()
    org.give("a1")
    org.answering = False
    org.advance(30)
    (first,) = commands(org.effects, RENEW)
    assert first["payload"]["executionLeaseId"] == org.leases["urn:test:item:a1"]["leaseId"]
    org.advance(10)
    again = commands(org.effects, RENEW)
    assert again == [first, first]
    org.answering = True
    org.accept(first)
    org.advance(3600)
    assert list(org.running()) == ["urn:test:item:a1"]


def test_an_expired_lease_ends_the_run_and_is_never_named_again(organization: Make) -> None:
    org = organization()
    org.lease_seconds = 60
    org.open()
    org.give("a1")
    run = org.running()["urn:test:item:a1"]
    org.answering = False
    org.advance(61)
    assert types(org.effects)[-2:] == ["cancel", "release"]
    org.effects.clear()
    org.handle(
        "execution",
        slotId=run["slotId"],
        workItemId=run["workItemId"],
        leaseId=run["leaseId"],
        report={"kind": "completed", "artifacts": [], "evidence": []},
    )
    org.advance(3600)
    assert commands(org.effects) == []


def test_a_unanswered_command_is_sent_again_byte_for_byte(organization: Make) -> None:
    org = organization()
    org.open()
    org.answering = False
    org.give("a1")
    first = [e for e in org.effects if e["type"] == "frame" and "command" in e["frame"]]
    org.advance(60)
    again = [e for e in org.effects if e["type"] == "frame" and "command" in e["frame"]]
    assert again == first * 3


def test_a_refused_start_frees_its_slot_at_once(organization: Make) -> None:
    org = organization()
    org.open()
    org.answering = False
    (accept_a,) = commands(org.deliver(org.offer("a1")))
    (start,) = commands(org.deliver(org.transition(accept_a, org.items["urn:test:item:a1"])))
    (accept_b,) = commands(org.deliver(org.offer("b1", "B")))
    assert commands(org.deliver(org.transition(accept_b, org.items["urn:test:item:b1"]))) == []
    org.effects.clear()
    org.error(start, "INVALID_STATE_TRANSITION")
    assert org.starts() == ["b1"]


def test_a_revision_conflict_is_answered_with_a_new_command(organization: Make) -> None:
    org = organization()
    org.open()
    org.answering = False
    (accept,) = commands(org.deliver(org.offer("a1")))
    org.effects.clear()
    org.error(accept, "REVISION_CONFLICT", currentRevision=9, retryable=True)
    (again,) = commands(org.effects)
    assert again["actionId"] != accept["actionId"]
    assert again["expectedRevision"] == 9


def test_an_approval_error_waits_for_a_new_fact(organization: Make) -> None:
    org = organization()
    org.open()
    org.answering = False
    (accept,) = commands(org.deliver(org.offer("a1")))
    (start,) = commands(org.deliver(org.transition(accept, org.items["urn:test:item:a1"])))
    org.effects.clear()
    org.error(start, "APPROVAL_REQUIRED")
    org.advance(86_000)
    assert commands(org.effects) == []


def test_back_pressure_pauses_its_own_group_only(organization: Make) -> None:
    org = organization(slots=2)
    org.open()
    org.answering = False
    (accept,) = commands(org.deliver(org.offer("a1")))
    org.effects.clear()
    org.error(accept, "BACKPRESSURE", retryable=True, retryAfterMs=5000)
    org.deliver(org.offer("a2"))
    assert commands(org.effects) == []
    org.deliver(org.offer("b1", "B"))
    assert [c["workItemId"] for c in commands(org.effects)] == ["urn:test:item:b1"]
    org.effects.clear()
    org.advance(5)
    assert {c["workItemId"][14:] for c in commands(org.effects)} == {"a1", "a2"}
    assert accept in commands(org.effects)


def test_reassignment_fences_the_former_owner(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    item = org.items["urn:test:item:a1"]
    org.own(item, 2, "urn:test:agent:v")
    effects = org.deliver(org.fact("a1", "work.offer.accepted", "queued"))
    assert types(effects) == ["cancel", "release"]


def test_nothing_leaves_after_the_membership_ended(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    membership = {**org.memberships[A], "state": "ended", "endedAt": spell(org.now)}
    effects = org.deliver(org.event(A, "membership.ended", {"membership": membership}))
    assert types(effects) == ["cancel", "release"]
    assert commands(org.deliver(org.offer("a2"))) == []


def test_commands_carry_a_new_membership_epoch_at_once(organization: Make) -> None:
    org = organization()
    org.open()
    org.answering = False
    (accept,) = commands(org.deliver(org.offer("a1")))
    membership = {**org.memberships[A], "membershipEpoch": 2}
    effects = org.deliver(org.event(A, "membership.changed", {"membership": membership}))
    (again,) = commands(effects)
    assert (accept["membershipEpoch"], again["membershipEpoch"]) == (1, 2)
    assert accept["actionId"] != again["actionId"]


@pytest.mark.parametrize("kind", ["mission.cancelled", "mission.terminated", "group.archived"])
def test_the_end_of_the_mission_stops_everything_in_its_group(
    organization: Make, kind: str
) -> None:
    org = organization(slots=2)
    org.open()
    org.give("a1")
    org.give("b1", group="B")
    effects = org.deliver(org.event(A, kind, {"workItems": [], "leases": []}))
    assert types(effects) == ["cancel", "release"]
    assert list(org.running()) == ["urn:test:item:b1"]


def test_a_new_connection_revokes_old_leases_and_starts_anew(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    old = org.running()["urn:test:item:a1"]["leaseId"]
    org.handle("link", state="down")
    org.session = 2
    item = org.items["urn:test:item:a1"]
    item["state"] = "queued"
    item["revision"] += 1
    memberships = [{"groupId": g, "membershipEpoch": 1} for g in org.logs]
    effects = org.handle("link", state="up", sessionEpoch=2, memberships=memberships)
    assert types(effects) == ["cancel", "release"]
    for group, log in org.logs.items():
        org.handle("caught_up", groupId=group, sequence=len(log))
    org.tick()
    assert org.running()["urn:test:item:a1"]["leaseId"] != old


def test_a_stale_membership_holds_everything_until_the_epoch_is_known(organization: Make) -> None:
    org = organization()
    org.open()
    org.answering = False
    (accept,) = commands(org.deliver(org.offer("a1")))
    before = len(org.effects)
    org.error(accept, "MEMBERSHIP_STALE")
    org.deliver(org.offer("a2"))
    org.advance(100)
    assert [e for e in org.effects[before:] if e.get("frame", {}).get("frameType") != "ACK"] == []
    membership = {**org.memberships[A], "membershipEpoch": 2}
    effects = org.deliver(org.event(A, "membership.changed", {"membership": membership}))
    found = {c["workItemId"][14:]: c["membershipEpoch"] for c in commands(effects)}
    assert found == {"a1": 2, "a2": 2}
    assert accept["actionId"] not in {c["actionId"] for c in commands(effects)}


def test_an_exhausted_budget_pauses_the_work_and_says_so(organization: Make) -> None:
    org = organization()
    org.lease_seconds = 60
    org.open()
    org.give("a1")
    org.answering = False
    org.advance(30)
    (renewal,) = commands(org.effects, RENEW)
    before = len(org.effects)
    org.error(renewal, "BUDGET_EXCEEDED")
    assert [e["type"] for e in org.effects[before:]] == ["preempt"]
    point = {"checkpointId": "urn:test:checkpoint", "checkpointHash": "sha256:" + "0" * 64}
    (block,) = commands(org.report("a1", "safe_point", **point), "work.block")
    assert "budget" in block["payload"]["reason"]


def test_a_lease_that_cannot_outlast_the_ownership_is_not_renewed(organization: Make) -> None:
    """Whoever renews it all the same is granted nothing, and asks again for ever."""
    org = organization()
    org.lease_seconds = org.ownership_seconds = 60
    org.open()
    org.give("a1")
    org.advance(60)
    assert commands(org.effects, RENEW) == []


def test_a_submission_whose_artifact_was_lost_is_made_again_after_it(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    org.answering = False
    artifact = {"contentHash": sha256(b"x"), "uri": "urn:test:content:x", "sizeBytes": 1}
    evidence = {"type": "deterministic_test", "method": "ran", "result": "passed"}
    sent = commands(org.report("a1", "completed", artifacts=[artifact], evidence=[evidence]))
    assert [command["kind"] for command in sent] == ["artifact.publish", "work.submit"]
    before = len(org.effects)
    org.error(sent[1], "INVALID_COMMAND")
    assert commands(org.effects[before:]) == []
    org.advance(30)
    (again,) = commands(org.effects[before:], "artifact.publish")
    assert again == sent[0]
    org.accept(again)
    (submission,) = commands(org.effects[before:], "work.submit")
    assert submission["actionId"] != sent[1]["actionId"]
    assert submission["payload"] == sent[1]["payload"]
