"""Sections 11.3 to 11.5 and 12: preemption, blocking, retries, gates, operations, isolation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_worker.documents import sha256
from reference_worker.instants import MICROS, micros, spell

Make = Callable[..., Any]
A, B = "urn:test:group:A", "urn:test:group:B"
POINT = {"checkpointId": "urn:test:checkpoint", "checkpointHash": sha256(b"state")}


def names(effects: list[dict[str, Any]]) -> list[str]:
    return [
        e["frame"].get("command", {}).get("kind", e["frame"]["frameType"])
        if e["type"] == "frame"
        else e["type"]
        for e in effects
        if e["type"] != "disclose" and e.get("frame", {}).get("frameType") != "ACK"
    ]


def raise_class(org: Any, name: str, to: str) -> list[dict[str, Any]]:
    org.policy["workItems"][f"urn:test:item:{name}"] = {"priorityClass": to}
    before = len(org.effects)
    org.handle("policy", policy=org.policy)
    org.advance(1)  # a run gets some time before it is asked for a safe point
    effects: list[dict[str, Any]] = org.effects[before:]
    return effects


def test_preemption_takes_its_five_steps(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    org.give("b1", group="B")
    org.effects.clear()
    raise_class(org, "b1", "urgent")
    assert names(org.effects) == ["preempt"]
    run = {"slotId": "s1", "workItemId": "urn:test:item:a1"}
    org.effects.insert(
        0, {"type": "run", **run, "leaseId": org.leases["urn:test:item:a1"]["leaseId"]}
    )
    org.report("a1", "safe_point", **POINT)
    assert names(org.effects)[1:] == [
        "preempt",
        "work.checkpoint",
        "pause",
        "release",
        "work.start",
        "run",
    ]
    org.complete("b1")
    resumed = org.running()["urn:test:item:a1"]
    assert resumed["resumeFrom"] == POINT


def test_a_preemption_is_withdrawn_when_its_cause_is_gone(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    org.give("b1", group="B")
    raise_class(org, "b1", "urgent")
    assert names(raise_class(org, "b1", "background")) == ["continue"]


def test_a_run_is_not_preempted_by_what_was_waiting_when_it_began(organization: Make) -> None:
    org = organization()
    org.policy["groups"][B]["priorityClass"] = "urgent"
    org.policy["groups"][A]["priorityClass"] = "background"
    org.open()
    org.give("b1", "b2", group="B")
    org.give("a1")
    org.complete("b1")
    org.advance(10)
    assert "preempt" not in names(org.effects)
    assert "urn:test:item:a1" in org.running()


def test_work_of_equal_class_is_never_preempted(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1", requestedUrgency="routine")
    org.give("b1", group="B", requestedUrgency="critical", deadline=spell(org.now + 60 * MICROS))
    assert "preempt" not in names(org.effects)


def test_blocked_work_gives_its_slot_back_and_returns_when_unblocked(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    org.give("b1", group="B")
    effects = org.report("a1", "blocked", **POINT, requiredResolution="an answer")
    assert names(effects) == ["work.block"]
    assert list(org.running()) == ["urn:test:item:b1"]
    org.complete("b1")
    assert org.running() == {}
    org.deliver(org.fact("a1", "work.unblocked", "queued"))
    assert org.running()["urn:test:item:a1"]["resumeFrom"] == POINT


def test_a_retry_waits_for_its_place_in_the_quota_of_its_group(organization: Make) -> None:
    """MWP-WRK-010: the place went to other work of the Group, and to no other Group's loss."""
    org = organization(slots=2)
    org.open()
    org.policy["groups"]["urn:test:group:A"]["slotQuota"] = 1
    org.handle("policy", policy=org.policy)
    org.give("a1")
    org.give("a2")
    org.report("a1", "failed", code="TRANSIENT", evidence=[])
    assert list(org.running()) == ["urn:test:item:a2"]
    org.advance(60)
    assert list(org.running()) == ["urn:test:item:a2"]
    org.give("b1", group="B")
    assert list(org.running()) == ["urn:test:item:a2", "urn:test:item:b1"]
    org.complete("a2")
    assert set(org.running()) == {"urn:test:item:a1", "urn:test:item:b1"}


def test_nothing_runs_again_under_the_lease_of_a_refused_result(organization: Make) -> None:
    """MWP-WRK-029: not even when a new policy asks for another look at what was refused."""
    org = organization()
    org.open()
    org.give("a1")
    lease = org.running()["urn:test:item:a1"]["leaseId"]
    org.answering = False
    effects = org.report("a1", "failed", code="BROKEN", evidence=[])
    (fail,) = [e["frame"]["command"] for e in effects if e["type"] == "frame"]
    org.error(fail, "INVALID_STATE_TRANSITION")
    before = len(org.effects)
    org.handle("policy", policy=org.policy)
    org.advance(60)
    runs = [e for e in org.effects[before:] if e["type"] == "run"]
    assert all(run["leaseId"] != lease for run in runs)


def test_a_retryable_failure_is_tried_again_under_the_same_lease(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    lease = org.running()["urn:test:item:a1"]["leaseId"]
    assert names(org.report("a1", "failed", code="TRANSIENT", evidence=[])) == ["release"]
    org.advance(1)
    assert org.running()["urn:test:item:a1"]["leaseId"] == lease


def test_exhausted_attempts_fail_with_evidence_also_across_a_crash(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    org.report("a1", "failed", code="TRANSIENT", evidence=[])
    org.advance(10)
    org.report("a1", "failed", code="TRANSIENT", evidence=[])
    org.effects.clear()
    org.restart()
    org.advance(10)
    assert names(org.report("a1", "failed", code="TRANSIENT", evidence=[])) == ["work.fail"]
    assert org.running() == {}


def test_a_permanent_failure_is_reported_at_once(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    effects = org.report("a1", "failed", code="BROKEN", evidence=[])
    assert names(effects) == ["work.fail"]
    (command,) = [e["frame"]["command"] for e in effects if e.get("frame", {}).get("command")]
    assert command["payload"]["evidence"][0]["type"] == "failure_report"


def test_completion_without_evidence_for_every_criterion_is_a_failure(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    artifact = {"contentHash": sha256(b"x"), "uri": "urn:test:content:x", "sizeBytes": 1}
    evidence = {
        "type": "deterministic_test",
        "method": "ran",
        "result": "passed",
        "criterionIds": ["another"],
    }
    effects = org.report("a1", "completed", artifacts=[artifact], evidence=[evidence])
    assert names(effects) == ["work.fail"]


def approve(org: Any, name: str, epoch: int = 1, seconds: int = 3600, **over: Any) -> None:
    item = f"urn:test:item:{name}"
    approval = {
        "approvalId": f"urn:test:approval:{org.counter}",
        "kind": "work_execution",
        "decision": "approved",
        "missionId": "urn:test:mission:A",
        "groupId": A,
        "workItemId": item,
        "missionRevision": 1,
        "artifactHashes": [],
        "acceptancePolicyVersion": "1.0.0",
        "approver": {"type": "human", "id": "urn:test:human:owner"},
        "comments": "",
        "conditions": [],
        "occurredAt": spell(org.now),
        **over,
    }
    org.counter += 1
    approval = org.sign(approval, "owner", approval["occurredAt"])
    payload = {
        "approval": approval,
        "workItemId": item,
        "ownershipEpoch": epoch,
        "expiresAt": spell(org.now + seconds * MICROS),
    }
    org.deliver(org.event(A, "approval.execution.granted", payload))


def test_a_gate_holds_no_slot_and_opens_for_its_own_epoch_only(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1", executionApproval="human_required")
    org.give("b1", group="B")
    assert list(org.running()) == ["urn:test:item:b1"]
    org.complete("b1")
    approve(org, "a1", epoch=2)
    approve(org, "a1", decision="denied")
    approve(org, "a1", workItemId="urn:test:item:other")
    assert org.running() == {}
    approve(org, "a1")
    assert list(org.running()) == ["urn:test:item:a1"]


def test_an_approval_that_ends_between_start_and_run_holds_the_work_but_no_slot(
    organization: Make,
) -> None:
    org = organization()
    org.open()
    org.give("a1", executionApproval="human_required")
    org.answering = False
    approve(org, "a1", seconds=5)
    (start,) = [c for c in commands_of(org) if c["kind"] == "work.start"]
    org.now += 5 * MICROS
    org.answering = True
    org.accept(start)
    assert org.running() == {}
    org.give("b1", group="B")
    assert list(org.running()) == ["urn:test:item:b1"]
    org.complete("b1")
    approve(org, "a1")
    assert list(org.running()) == ["urn:test:item:a1"]


def commands_of(org: Any) -> list[dict[str, Any]]:
    frames = [e["frame"] for e in org.effects if e["type"] == "frame"]
    return [frame["command"] for frame in frames if frame["frameType"] == "COMMAND"]


def test_policy_decides_what_policy_required_means(organization: Make) -> None:
    org = organization(slots=2)
    org.policy["workItems"]["urn:test:item:a1"] = {"executionApproval": "required"}
    org.open()
    org.give("a1", "a2", executionApproval="policy_required")
    assert list(org.running()) == ["urn:test:item:a2"]


def test_a_dependency_gates_until_it_is_verified(organization: Make) -> None:
    org = organization(slots=2)
    org.open()
    org.give("a1")
    org.give("a2", dependencyWorkItemIds=["urn:test:item:a1"])
    assert list(org.running()) == ["urn:test:item:a1"]
    org.complete("a1")
    assert list(org.running()) == ["urn:test:item:a2"]


def token(org: Any, name: str, **over: Any) -> None:
    lease = org.running()[f"urn:test:item:{name}"]["leaseId"]
    document = {
        "tokenId": "urn:test:token",
        "leaseId": lease,
        "agentId": "urn:test:agent:w",
        "sessionEpoch": org.session,
        "workItemId": f"urn:test:item:{name}",
        "ownershipEpoch": 1,
        "operations": ["op", "reversible", "external"],
        "budget": {"externalSideEffectLimit": 1},
        "expiresAt": spell(org.now + 300 * MICROS),
        **over,
    }
    org.handle("token", token=document, secret="hush")  # noqa: S106 - a test's secret


def operate(org: Any, name: str, operation: str = "op", effect: str = "external") -> Any:
    (answer,) = org.report(name, "operation", operationId=operation, effect=effect)[:1]
    return answer


def test_an_operation_needs_a_token_that_is_bound_to_everything(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    assert "refused" in operate(org, "a1")
    for broken in ({"leaseId": "urn:x:y"}, {"sessionEpoch": 9}, {"ownershipEpoch": 2}):
        token(org, "a1", **broken)
        assert "refused" in operate(org, "a1")
    token(org, "a1")
    first = operate(org, "a1")
    assert first["tokenId"] == "urn:test:token"
    assert operate(org, "a1")["idempotencyKey"] == first["idempotencyKey"]
    assert "refused" in operate(org, "a1", "another")


def test_a_slot_sees_its_own_group_only(organization: Make) -> None:
    org = organization(slots=2)
    org.open()
    org.give("a1")
    org.give("b1", group="B")
    one, two = org.running().values()
    assert one["context"]["credentials"] == {"repository": f"secret of {A}"}
    assert two["context"]["credentials"] == {"repository": f"secret of {B}"}
    assert one["context"]["sideEffectScope"] != two["context"]["sideEffectScope"]


def test_credentials_and_secrets_never_reach_the_disk(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    token(org, "a1")
    operate(org, "a1")
    stored = b"".join(path.read_bytes() for path in org.directory.iterdir())
    assert b"secret of" not in stored
    assert b"hush" not in stored


def test_offers_are_declined_with_the_reason(organization: Make) -> None:
    org = organization()
    org.policy["limits"]["maxQueuedItemsPerGroup"] = 2
    org.open()
    org.give("late", deadline=spell(org.now))
    org.give("able", requiredCapabilities=[{"id": "acme.fly", "version": "1.0.0"}])
    org.give("dear", sideEffectRisk="external", budget={"externalSideEffectLimit": 0})
    for name in ("one", "two", "three", "four"):
        org.give(name)
    declined = [(e["workItemId"][14:], e["reason"]) for e in org.effects if e["type"] == "decline"]
    assert declined == [
        ("late", "deadline"),
        ("able", "capability"),
        ("dear", "budget"),
        ("four", "capacity"),
    ]


def test_an_incomplete_contract_is_not_accepted_and_holds_nothing_up(organization: Make) -> None:
    org = organization()
    org.open()
    event = org.offer("a1")
    del event["signature"], event["payload"]["workItem"]["contract"]["budget"]
    org.deliver(org.sign(event, "authority", event["occurredAt"]))
    org.give("a2")
    assert list(org.running()) == ["urn:test:item:a2"]


def test_a_ping_is_answered_with_its_nonce(organization: Make) -> None:
    org = organization(slots=2)
    org.open()
    org.give("a1")
    frame = {
        "protocolVersion": "0.1",
        "frameId": "urn:test:ping",
        "frameType": "PING",
        "nonce": "bm9uY2U",
        "sentAt": spell(org.now),
    }
    (effect,) = org.handle("frames", frames=[frame])
    assert effect["frame"]["replyToNonce"] == "bm9uY2U"
    assert effect["frame"]["presence"]["capacity"] == {
        "maxSlots": 2,
        "activeSlots": 1,
        "availableSlots": 1,
        "queuedItems": 0,
    }


def test_a_window_that_is_over_is_replaced_and_not_before(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1", executionApproval="human_required")
    (first,) = [e for e in org.effects if e["type"] == "disclose"][-1:]
    until = micros(first["estimatedStartLatest"]) - org.now
    before = len(org.effects)
    org.advance(until // MICROS)
    assert org.effects[before:] == []
    org.advance(1)
    assert [e["type"] for e in org.effects[before:]] == ["disclose"]


def test_estimates_are_coarse_windows_of_the_present(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1", "a2")
    for effect in org.effects:
        if effect["type"] == "disclose":
            estimate = effect["estimate"]
            assert estimate["estimatedStart"] <= effect["estimatedStartLatest"]
            assert effect["estimatedStartLatest"] <= estimate["estimatedCompletion"]
            assert micros(estimate["estimatedStart"]) % (300 * MICROS) == 0
            assert estimate["lastCalculatedAt"] == spell(org.now)
