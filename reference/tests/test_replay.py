"""Section 16: order, duplicates, gaps, conflicts, Snapshots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reference_worker.documents import digest
from reference_worker.instants import spell

Make = Callable[..., Any]
A = "urn:test:group:A"


def acks(org: Any, group: str = A) -> list[int]:
    return [
        entry["sequence"]
        for effect in org.effects
        if effect["type"] == "frame" and effect["frame"]["frameType"] == "ACK"
        for entry in effect["frame"]["acknowledgements"]
        if entry["groupId"] == group
    ]


def rejects(org: Any) -> list[str]:
    return [effect["code"] for effect in org.effects if effect["type"] == "reject"]


def test_a_gap_holds_the_cursor_and_its_closing_drains_the_buffer(organization: Make) -> None:
    org = organization()
    org.open()
    org.answering = False
    events = [org.event(A, "message.posted", {}) for _ in range(5)]
    org.deliver(*events[:2], *events[3:])
    org.advance(600)
    assert acks(org)[-1] == 2
    org.deliver(events[2])
    assert acks(org)[-1] == 5


def test_an_event_delivered_again_has_no_second_effect(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    org.complete("a1")
    before = len(org.effects)
    org.deliver(*org.logs[A])
    org.restart()
    again = [e for e in org.effects[before:] if e["type"] in ("run", "disclose", "decline")]
    assert again == []
    assert org.starts() == ["a1"]


@pytest.mark.parametrize("change", ["content", "sequence", "identifier"])
def test_a_conflicting_duplicate_is_refused_and_the_cursor_stays(
    organization: Make, change: str
) -> None:
    org = organization()
    org.open()
    first = org.event(A, "message.posted", {})
    org.deliver(first)
    forged = {name: member for name, member in first.items() if name != "signature"}
    if change == "content":
        forged["payload"] = {"other": 1}
    elif change == "sequence":
        forged["sequence"] = 2
    else:
        forged["eventId"] = "urn:test:event:other"
    org.deliver(org.sign(forged, "authority", forged["occurredAt"]))
    assert rejects(org) == ["PROTOCOL_VIOLATION"]
    assert acks(org)[-1] == 1


def test_two_events_with_one_sequence_in_one_batch_count_once(organization: Make) -> None:
    org = organization()
    org.open()
    offer = org.offer("a1")
    twin = {**offer, "eventId": "urn:test:event:twin"}
    del twin["signature"]
    org.deliver(offer, org.sign(twin, "authority", twin["occurredAt"]))
    assert rejects(org) == ["PROTOCOL_VIOLATION"]
    assert org.starts() == ["a1"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"acceptedBy": {"type": "service", "id": "urn:test:service:archive"}}, "AUTH"),
        ({"occurredAt": "2019-01-01T00:00:00Z"}, "AUTH"),
        ({"occurredAt": "2026-07-15T00:00:00.0z"}, "AUTH"),
        ({"occurredAt": "2026-02-30T00:00:00Z"}, "SCHEMA"),
        ({"unknown": 1}, "SCHEMA"),
        ({"sequence": 0}, "SCHEMA"),
        ({"kind": "work.stolen"}, "SCHEMA"),
    ],
)
def test_a_bad_event_changes_nothing(organization: Make, change: Any, code: str) -> None:
    org = organization()
    org.open()
    event = {**org.event(A, "message.posted", {}), **change}
    del event["signature"]
    org.deliver(org.sign(event, "authority", event["occurredAt"]))
    assert rejects(org)[0].startswith(code)
    assert acks(org) == []
    org.deliver(org.logs[A][0])
    assert acks(org) == [1]


def test_raw_bytes_are_read_strictly(organization: Make) -> None:
    org = organization()
    org.open()
    for raw in (
        b'{"a":1,"a":2}',
        b"\xff",
        b"\xef\xbb\xbf{}",
        b'{"a":1e999}',
        b"{} {}",
        b"[" * 9999,
    ):
        from reference_worker.documents import encode_base64url

        org.handle("frames", frames=[{"bytes": encode_base64url(raw)}])
    assert rejects(org) == ["PROTOCOL_VIOLATION"] * 6


def test_unknown_extension_kinds_and_foreign_work_just_advance(organization: Make) -> None:
    org = organization()
    org.open()
    org.deliver(org.event(A, "ext.acme.tools.something_happened", {"x": 1}))
    assert acks(org) == [1]


def snapshot_of(org: Any, **forged: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    state = {
        "mission": {"state": "active"},
        "workItems": list(org.items.values()),
        "leases": list(org.leases.values()),
        "memberships": list(org.memberships.values()),
        "approvals": [],
        "checkpoints": [],
        "artifacts": [],
    }
    time = spell(org.now)
    snapshot = {
        "snapshotId": "urn:test:snapshot",
        "groupId": A,
        "throughSequence": len(org.logs[A]),
        "eventIds": [e["eventId"] for e in org.logs[A]],
        "stateHash": digest(state),
        "policyLog": [
            {
                "entryId": "urn:test:entry",
                "decision": "archive",
                "actor": {"type": "service", "id": "urn:test:service:archive"},
                "occurredAt": time,
                "details": {},
            }
        ],
        "createdBy": {"type": "service", "id": "urn:test:service:archive"},
        "createdAt": time,
    } | forged.get("snapshot", {})
    return org.sign(snapshot, forged.get("signer", "archive"), time), state


def refuse_cursor(org: Any, snapshot: dict[str, Any]) -> None:
    error = {
        "code": "CURSOR_TOO_OLD",
        "message": "old",
        "retryable": False,
        "groupId": A,
        "snapshotArtifactHash": digest(snapshot),
        "occurredAt": spell(org.now),
    }
    frame = {
        "protocolVersion": "0.1",
        "frameId": "urn:test:e",
        "frameType": "ERROR",
        "error": error,
    }
    org.handle("frames", frames=[frame])


def test_a_snapshot_restores_a_group_and_is_not_applied_twice(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    org.give("a2")
    snapshot, state = snapshot_of(org)
    org.directory = org.directory.with_name("fresh")
    org.port.shutdown()
    org.effects.clear()
    org.start()
    refuse_cursor(org, snapshot)
    effects = org.handle("snapshot", snapshot=snapshot, state=state)
    assert effects[0]["frame"]["groups"] == [{"groupId": A, "afterSequence": len(org.logs[A])}]
    org.deliver(org.logs[A][-1])
    for group in org.logs:
        org.handle("caught_up", groupId=group, sequence=len(org.logs[group]))
    org.tick()
    assert list(org.running()) == ["urn:test:item:a1"]
    assert rejects(org) == []


@pytest.mark.parametrize(
    "forgery",
    [
        {"signer": "authority"},
        {"snapshot": {"createdBy": {"type": "service", "id": "urn:test:service:authority"}}},
        {"snapshot": {"stateHash": "sha256:" + "0" * 64}},
        {"snapshot": {"throughSequence": 99}},
    ],
)
def test_a_forged_snapshot_changes_nothing(organization: Make, forgery: Any) -> None:
    org = organization()
    org.start()
    genuine, _ = snapshot_of(org) if org.logs[A] else (None, None)
    del genuine
    org.event(A, "message.posted", {})
    snapshot, state = snapshot_of(org)
    forged, _ = snapshot_of(org, **forgery)
    refuse_cursor(org, snapshot)
    effects = org.handle("snapshot", snapshot=forged, state=state)
    assert [e["type"] for e in effects] == ["reject"]
    assert [e["type"] for e in org.handle("snapshot", snapshot=snapshot, state=state)] == ["frame"]


def test_a_higher_session_silences_the_old_runtime(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1")
    event = org.event(
        A,
        "ext.missionweaveprotocol.identity.session_opened",
        {"agentId": "urn:test:agent:w", "sessionEpoch": 2},
    )
    org.logs[A].pop()
    for name in ("groupId", "sequence", "aggregateRevision", "signature"):
        del event[name]
    effects = org.deliver(org.sign(event, "authority", event["occurredAt"]))
    assert [e["type"] for e in effects] == ["cancel", "release"]
    assert org.deliver(org.offer("a2")) == []


@pytest.mark.parametrize(("known", "given", "said"), [(3, 2, set()), (3, 3, {"frame"})])
def test_a_handshake_under_a_session_that_is_over_wakes_nobody(
    organization: Make, known: int, given: int, said: set[str]
) -> None:
    """MWP-IDN-008: only an epoch that is not lower than the highest known one ends the silence."""
    org = organization()
    org.open()
    event = org.event(
        A,
        "ext.missionweaveprotocol.identity.session_opened",
        {"agentId": "urn:test:agent:w", "sessionEpoch": known},
    )
    org.logs[A].pop()
    for name in ("groupId", "sequence", "aggregateRevision", "signature"):
        del event[name]
    org.deliver(org.sign(event, "authority", event["occurredAt"]))
    org.handle("link", state="down")
    memberships = [{"groupId": A, "membershipEpoch": 1}]
    effects = org.handle("link", state="up", sessionEpoch=given, memberships=memberships)
    assert {e["type"] for e in effects} == said


@pytest.mark.parametrize("claimed", [{}, {"groupId": A, "missionId": "urn:test:mission:A"}])
def test_another_groups_event_changes_nothing_of_a_work_item(
    organization: Make, claimed: dict[str, str]
) -> None:
    """MWP-WRK-008: not even where it claims the WorkItem for its own Group."""
    org = organization()
    org.open()
    org.give("b1", group="B")
    item = dict(org.items["urn:test:item:b1"])
    item |= {"state": "cancelled", "revision": item["revision"] + 1}
    item.pop("owner", None)
    payload = {"workItem": {**item, **claimed}, "leases": [], "reason": "none"}
    org.deliver(org.event(A, "work.cancelled", payload))
    assert list(org.running()) == ["urn:test:item:b1"]
    org.complete("b1")
    assert org.starts() == ["b1"]
