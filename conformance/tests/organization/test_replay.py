"""The log, its Snapshots, and what is forged of them."""

import pytest

from worker_conformance.documents import signing
from worker_conformance.documents.canonical import sha256_of
from worker_conformance.documents.schemas import DocumentKind, problems
from worker_conformance.documents.signing import Refused, Stage, Verified
from worker_conformance.errors import SuiteError
from worker_conformance.scenario.model import ActKind, WorkPlan


def verify(desk, document, kind=DocumentKind.EVENT):
    return signing.verify(kind, document, desk.registry)


def test_sequences_have_no_gap(desk) -> None:
    desk.reach("verified")
    assert [event["sequence"] for event in desk.group.events] == list(
        range(1, len(desk.group.events) + 1)
    )
    assert len({event["eventId"] for event in desk.group.events}) == len(desk.group.events)


def test_every_frame_has_its_own_id(desk) -> None:
    frames = [desk.organization.event_frame(desk.group.events[0]) for _ in range(3)]
    assert len({frame["frameId"] for frame in frames}) == 3
    assert problems(DocumentKind.FRAME, frames[0]) == ()


# --- Snapshots --------------------------------------------------------------------------------


def test_a_snapshot_covers_the_log_up_to_its_sequence(desk) -> None:
    desk.reach("submitted")
    desk.group.truncate(4)
    snapshot, state = desk.group.snapshot_for_replay(0)
    assert desk.group.online_from == 5
    assert not desk.group.snapshot_is_forged
    assert isinstance(verify(desk, snapshot, DocumentKind.GROUP_SNAPSHOT), Verified)
    assert snapshot["throughSequence"] == 4
    assert snapshot["eventIds"] == [event["eventId"] for event in desk.group.events[:4]]
    assert snapshot["stateHash"] == sha256_of(state)
    assert [item["state"] for item in state["workItems"]] == ["offered"]
    assert state["leases"] == []


def test_the_state_of_a_snapshot_holds_every_document_of_the_log(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A", approval="human_required"))
    desk.reach("queued")
    desk.act(ActKind.GRANT, "a1")
    desk.done("work.start", "work.checkpoint", "work.start", "artifact.publish", "work.submit")
    snapshot, state = desk.group.snapshot(0)
    assert snapshot["throughSequence"] == len(desk.group.events)
    assert [lease["state"] for lease in state["leases"]] == ["active", "released", "released"]
    assert len(state["artifacts"]) == len(state["checkpoints"]) == 1
    assert set(state["approvals"][0]) == {
        "approval",
        "workItemId",
        "ownershipEpoch",
        "expiresAt",
    }
    for member, kind in (
        ("workItems", DocumentKind.WORK_ITEM),
        ("leases", DocumentKind.LEASE),
        ("memberships", DocumentKind.MEMBERSHIP),
        ("artifacts", DocumentKind.ARTIFACT),
    ):
        for document in state[member]:
            assert problems(kind, document) == ()
    assert problems(DocumentKind.MISSION, state["mission"]) == ()


def test_the_end_of_a_mission_is_in_the_snapshot(desk) -> None:
    desk.act(ActKind.TERMINATE_MISSION)
    _, state = desk.group.snapshot(0)
    assert state["mission"]["state"] == "failed"


def test_the_error_names_the_snapshot_by_its_hash(desk) -> None:
    desk.group.truncate(2)
    frame = desk.group.cursor_too_old(0)
    snapshot, _ = desk.group.snapshot_for_replay(0)
    assert problems(DocumentKind.FRAME, frame) == ()
    assert frame["error"]["snapshotArtifactHash"] == sha256_of(snapshot)


@pytest.mark.parametrize("how", ["signature", "signer", "state_hash"])
def test_a_forged_snapshot_has_one_thing_wrong(desk, how) -> None:
    desk.group.truncate(2, how)
    snapshot, state = desk.group.snapshot_for_replay(0)
    outcome = verify(desk, snapshot, DocumentKind.GROUP_SNAPSHOT)
    archive = desk.start["organization"]["authorized"]["archival"]
    assert desk.group.snapshot_is_forged
    assert isinstance(outcome, Refused) == (how == "signature")
    assert (snapshot["createdBy"]["id"] not in archive) == (how == "signer")
    assert (snapshot["stateHash"] != sha256_of(state)) == (how == "state_hash")
    frame = desk.group.cursor_too_old(0)
    assert frame["error"]["snapshotArtifactHash"] == sha256_of(snapshot)


def test_an_unknown_forgery_is_a_fault_of_the_scenario(desk) -> None:
    for attempt in (
        lambda: desk.group.snapshot(0, "colour"),
        lambda: desk.group.forge(1, "colour"),
        lambda: desk.group.forge(99, "payload"),
    ):
        with pytest.raises(SuiteError):
            attempt()


# --- forged Events ----------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["payload", "signature", "signer", "sequence_twin", "id_twin"])
@pytest.mark.parametrize("sequence", [1, 2, 4])
def test_a_forged_event_is_schema_valid(desk, how, sequence) -> None:
    desk.reach("offered")
    forged = desk.group.forge(sequence, how)
    assert problems(DocumentKind.EVENT, forged) == ()
    assert forged != desk.group.events[sequence - 1]
    assert len(desk.group.events) == 4


@pytest.mark.parametrize("how", ["payload", "signature"])
def test_content_or_signature_that_was_changed_does_not_verify(desk, how) -> None:
    outcome = verify(desk, desk.group.forge(1, how))
    assert isinstance(outcome, Refused)
    assert outcome.stage is Stage.SIGNATURE


def test_a_foreign_signer_verifies_but_has_no_authority(desk) -> None:
    forged = desk.group.forge(1, "signer")
    assert isinstance(verify(desk, forged), Verified)
    allowed = desk.start["organization"]["authorized"]["eventAuthority"]
    assert forged["acceptedBy"]["id"] not in allowed


def test_twins_share_a_sequence_or_an_id_and_are_properly_signed(desk) -> None:
    true = desk.group.events[1]
    twin, moved = desk.group.forge(2, "sequence_twin"), desk.group.forge(2, "id_twin")
    assert isinstance(verify(desk, twin), Verified)
    assert isinstance(verify(desk, moved), Verified)
    assert (twin["sequence"], moved["sequence"]) == (true["sequence"], true["sequence"] + 1)
    assert twin["eventId"] != true["eventId"] == moved["eventId"]
