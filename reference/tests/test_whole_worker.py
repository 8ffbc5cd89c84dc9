"""Section 11.1 again, through the whole Worker; and what changes under its feet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reference_worker import journal
from reference_worker.documents import sha256
from reference_worker.instants import MICROS, spell

Make = Callable[..., Any]
A, B = "urn:test:group:A", "urn:test:group:B"
POINT = {"checkpointId": "urn:test:checkpoint", "checkpointHash": sha256(b"state")}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    # The process lives on in these tests, so nothing that the disk would lose is at stake.
    monkeypatch.setattr(journal, "SYNCHRONOUS", "OFF")


def fill(org: Any, depth: int) -> None:
    """Keep `depth` items of each Group waiting."""
    for group in org.logs:
        name = group[-1]
        known = [i for i in org.items.values() if i["groupId"] == group]
        waiting = sum(i["state"] in ("offered", "queued") for i in known)
        org.give(*[f"{name}{len(known) + n}" for n in range(depth - waiting)], group=name)


def complete_oldest(org: Any) -> None:
    org.complete(min(org.running().values(), key=lambda run: run["leaseId"])["workItemId"][14:])


@pytest.mark.parametrize("slots", [1, 2, 4, 8])
def test_shares_follow_the_weights(organization: Make, slots: int) -> None:
    org = organization(slots=slots)
    org.policy["groups"][A]["weight"] = 3
    org.open()
    for _ in range(60):
        fill(org, 3)
        complete_oldest(org)
    starts = [name[0] for name in org.starts()]
    assert abs(starts[:60].count("A") - 45) <= 3


def test_a_coordinator_cannot_claim_a_larger_share(organization: Make) -> None:
    org = organization()
    org.open()
    org.give(
        *[f"A{n}" for n in range(20)], requestedUrgency="critical", deadline=spell(org.now + 1)
    )
    org.give(*[f"B{n}" for n in range(20)], group="B", requestedUrgency="routine")
    for _ in range(19):
        complete_oldest(org)
    starts = [name[0] for name in org.starts()]
    assert abs(starts.count("A") - starts.count("B")) <= 1


def test_quotas_hold_and_leave_the_slots_to_others(organization: Make) -> None:
    org = organization(slots=4)
    org.policy["groups"][A]["slotQuota"] = 1
    org.open()
    org.give(*[f"A{n}" for n in range(5)])
    org.give(*[f"B{n}" for n in range(3)], group="B")
    assert sorted(name[14:] for name in org.running()) == ["A0", "B0", "B1", "B2"]
    org.complete("A0")
    assert "urn:test:item:A1" in org.running()


def test_leaving_and_joining_again_washes_no_debt_off(organization: Make) -> None:
    org = organization()
    org.open()
    for turn in range(30):
        fill(org, 3)
        complete_oldest(org)
        if org.starts()[-1].startswith("A") and turn < 29:
            org.handle("leave", groupId=A)
            entry = {
                "groupId": A,
                "missionId": "urn:test:mission:A",
                "conversationId": "urn:test:conversation",
                "membership": org.memberships[A],
            }
            org.handle("join", group=entry)
            org.handle("caught_up", groupId=A, sequence=len(org.logs[A]))
            org.tick()
    starts = [name[0] for name in org.starts()]
    assert abs(starts.count("A") - starts.count("B")) <= 2


def test_a_materially_revised_contract_is_checkpointed_and_waits_for_acceptance(
    organization: Make,
) -> None:
    org = organization()
    org.open()
    org.give("a1")
    item = org.items["urn:test:item:a1"]
    item["contract"] = {**item["contract"], "contractVersion": 2, "goal": "Something else."}
    lease = org.leases["urn:test:item:a1"]
    effects = org.deliver(org.fact("a1", "work.contract.revised", "active", leases=[lease]))
    assert [e["type"] for e in effects if e["type"] != "frame"] == ["preempt"]
    org.report("a1", "safe_point", **POINT)
    assert org.running() == {}
    item["offers"] = [
        {
            "offerId": "urn:test:offer:again",
            "agentId": "urn:test:agent:w",
            "agentCardVersion": 3,
            "expiresAt": spell(org.now + 3600 * MICROS),
            "status": "pending",
        }
    ]
    del item["owner"]
    org.deliver(org.fact("a1", "work.offer.created", "offered"))
    assert list(org.running()) == ["urn:test:item:a1"]


def test_an_inserted_dependency_needs_no_renewed_acceptance(organization: Make) -> None:
    org = organization(slots=2)
    org.open()
    org.give("a0")
    org.give("a1", executionApproval="human_required")
    item = org.items["urn:test:item:a1"]
    contract = {**item["contract"], "contractVersion": 2, "executionApproval": "human_required"}
    item["contract"] = {**contract, "dependencyWorkItemIds": ["urn:test:item:a0"]}
    org.deliver(org.fact("a1", "work.contract.revised", "queued"))
    stored = org.port._worker.projection.items.get("urn:test:item:a1")
    assert stored.ownership.terms == stored.contract.terms


def test_an_incompatible_card_is_checkpointed(organization: Make) -> None:
    org = organization()
    org.policy["cardUpgrades"] = {"4": "incompatible"}
    org.open()
    org.give("a1")
    digest = sha256(b"x")
    card = {
        "agentId": "urn:test:agent:w",
        "organizationId": "urn:test:organization",
        "cardVersion": 4,
        "displayName": "W",
        "owner": {"type": "human", "id": "urn:test:human:owner"},
        "status": "active",
        "protocolVersions": ["0.1"],
        "endpoints": [{"transport": "wss", "uri": "wss://worker.test/"}],
        "publicKeys": [
            {
                "keyId": "urn:test:key:w",
                "algorithm": "Ed25519",
                "publicKey": "AAAA",
                "validFrom": spell(org.now),
            }
        ],
        "capabilities": [
            {
                "id": "acme.build",
                "version": "3.0.0",
                "inputSchema": "urn:x:y",
                "inputSchemaHash": digest,
                "outputSchema": "urn:x:y",
                "outputSchemaHash": digest,
                "constraints": {},
                "verifiedEvidence": ["urn:test:evidence"],
            }
        ],
        "maxConcurrency": 1,
        "issuedAt": spell(org.now),
    }
    card = org.sign(card, "authority", card["issuedAt"])
    event = org.event(
        A, "ext.missionweaveprotocol.registry.agent_card_registered", {"agentCard": card}
    )
    org.logs[A].pop()
    for name in ("groupId", "sequence", "aggregateRevision", "signature"):
        del event[name]
    effects = org.deliver(org.sign(event, "authority", event["occurredAt"]))
    assert [e["type"] for e in effects] == ["preempt"]


def test_unknown_critical_extensions_keep_us_out_of_the_transition(organization: Make) -> None:
    org = organization()
    org.open()
    extension = {"urn:acme:extension": {"version": "1.0.0", "critical": True, "data": 1}}
    event = org.offer("a1")
    del event["signature"]
    event["extensions"] = extension
    org.deliver(org.sign(event, "authority", event["occurredAt"]))
    assert [e["reason"] for e in org.effects if e["type"] == "decline"] == ["other"]
    extension["urn:acme:extension"]["critical"] = False
    event = org.offer("a2")
    del event["signature"]
    event["extensions"] = extension
    org.deliver(org.sign(event, "authority", event["occurredAt"]))
    assert list(org.running()) == ["urn:test:item:a2"]


def test_what_a_group_sees_does_not_depend_on_the_content_of_another(organization: Make) -> None:
    def seen(secret: str) -> list[dict[str, Any]]:
        org = organization(slots=2)
        org.open()
        org.give("b1", "b2", "b3", group="B", goal=f"{secret} goal", businessImpact=secret)
        org.deliver(org.event(B, "message.posted", {"text": secret}))
        org.give("a1", "a2")
        org.complete("b1")
        org.complete("a1")
        return [e for e in org.effects if B not in str(e) and "item:b" not in str(e)]

    first, second = seen("alpha"), seen("omega")
    assert len(first) > 15
    assert first == second
    assert "alpha" not in str(first)


def test_the_executor_that_reports_late_is_not_believed(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    old = org.running()["urn:test:item:a1"]
    org.restart()
    answer = org.handle(
        "execution",
        slotId="s1",
        workItemId="urn:test:item:a1",
        leaseId=old["leaseId"],
        report={"kind": "failed", "code": "TRANSIENT", "evidence": []},
    )
    assert answer == []


def test_used_up_budget_is_escalated_at_a_safe_point(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1", budget={"modelTokenLimit": 100, "wallClockSecondsLimit": 600})
    progress = {
        "currentPhase": "x",
        "completedMilestones": [],
        "nextCheckpoint": "y",
        "blockers": [],
        "updatedCompletionEstimate": spell(org.now),
        "evidenceIds": [],
    }
    org.report("a1", "progress", **progress, usage={"modelTokens": 100})
    org.report("a1", "safe_point", **POINT)
    assert org.items["urn:test:item:a1"]["state"] == "blocked"
    assert org.running() == {}


def test_a_group_that_was_turned_away_gets_the_next_place(organization: Make) -> None:
    org = organization()
    org.policy["limits"]["maxQueuedItems"] = 3
    org.open()
    for name in ("a0", "a1", "a2", "a3"):
        org.give(name)
    org.give("b1", group="B")
    org.complete("a0")
    org.give("a5")
    assert [e["workItemId"][14:] for e in org.effects if e["type"] == "decline"][-2:] == [
        "b1",
        "a5",
    ]
    org.give("b2", group="B")
    assert org.items["urn:test:item:b2"]["state"] == "queued"
