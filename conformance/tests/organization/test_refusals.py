"""Every error code with which the Organization answers a Command, and what it leaves unchanged."""

import pytest
from attrs import evolve

from worker_conformance.documents.schemas import DocumentKind, problems
from worker_conformance.documents.signing import SigningKey, sign
from worker_conformance.organization.outcomes import Accepted, Refused, Repeated, Silent
from worker_conformance.scenario.model import ActKind, Answer, SetPolicy, WorkPlan

UNKNOWN_EXTENSION = {"urn:x:profile": {"version": "1.0.0", "critical": True, "data": {}}}


def refused(desk, outcome, code: str) -> dict:
    """Assert a refusal with this code, and return its error document."""
    assert isinstance(outcome, Refused), outcome
    assert outcome.code == code
    error = outcome.error
    assert error["code"] == code
    assert problems(DocumentKind.ERROR, error) == ()
    assert error["groupId"] == desk.group.group_id
    assert error["relatedActionId"] == outcome.about.action_id
    frame = desk.organization.error_frame(error)
    assert problems(DocumentKind.FRAME, frame) == ()
    return error


# --- the envelope -----------------------------------------------------------------------------


def test_a_command_that_breaks_its_schema_is_refused(desk) -> None:
    desk.reach("queued")
    outcome = desk.send("work.start", desk.payload(), sessionEpoch=None)
    refused(desk, outcome, "SCHEMA_VALIDATION_FAILED")


def test_a_command_changed_after_signing_is_refused(desk) -> None:
    desk.reach("queued")
    frame = desk.command("work.start", desk.payload())
    frame["command"]["payload"]["note"] = "changed"
    refused(desk, desk.receive(frame), "AUTH_INVALID_SIGNATURE")


def test_a_command_signed_with_another_key_is_refused(desk) -> None:
    desk.reach("queued")
    frame = desk.command("work.start", desk.payload())
    stranger = SigningKey.from_seed(bytes(32), desk.key.key_id, desk.key.principal)
    frame["command"] = sign(DocumentKind.COMMAND, frame["command"], stranger)
    refused(desk, desk.receive(frame), "AUTH_INVALID_SIGNATURE")


def test_another_agents_command_is_refused(desk) -> None:
    desk.reach("queued")
    rival = desk.organization.shared.keys["rival"]
    frame = desk.command("work.start", desk.payload(), actor=rival.principal.to_json())
    frame["command"] = sign(DocumentKind.COMMAND, frame["command"], rival)
    refused(desk, desk.receive(frame), "AUTH_FORBIDDEN")


def test_a_group_that_does_not_exist_is_not_disclosed(desk) -> None:
    outcome = desk.organization.receive(
        desk.command("work.start", {}, groupId="urn:x:group:nowhere"), 0
    )
    assert isinstance(outcome, Refused)
    assert outcome.code == "GROUP_NOT_FOUND"


@pytest.mark.parametrize("shift", [-1, 1])
def test_a_session_epoch_that_is_not_the_current_one_is_stale(desk, shift) -> None:
    desk.organization.reopen_session(0)
    desk.reach("queued")
    epoch = desk.organization.session_epoch + shift
    refused(desk, desk.send("work.start", desk.payload(), sessionEpoch=epoch), "AUTH_STALE_SESSION")


def test_an_ended_membership_authorizes_nothing(desk) -> None:
    desk.reach("queued")
    desk.act(ActKind.END_MEMBERSHIP)
    refused(desk, desk.do("work.start"), "MEMBERSHIP_REQUIRED")


def test_a_provisional_membership_authorizes_nothing_once_it_has_expired(open_desk) -> None:
    desk = open_desk(provisional_seconds=60)
    desk.act(ActKind.AUTHORIZE, "a1")
    desk.act(ActKind.OFFER, "a1")
    desk.now = 60
    refused(desk, desk.do("work.accept_offer"), "MEMBERSHIP_REQUIRED")


def test_an_old_membership_epoch_is_stale(desk) -> None:
    desk.reach("queued")
    desk.act(ActKind.MOVE_MEMBERSHIP)
    outcome = desk.send("work.start", desk.payload(), membershipEpoch=1)
    refused(desk, outcome, "MEMBERSHIP_STALE")


def test_a_critical_extension_that_is_not_known_stops_a_command(desk) -> None:
    desk.reach("queued")
    outcome = desk.send("work.start", desk.payload(), extensions=UNKNOWN_EXTENSION)
    refused(desk, outcome, "UNKNOWN_CRITICAL_EXTENSION")


def test_an_extension_that_is_not_critical_is_tolerated(desk) -> None:
    desk.reach("queued")
    tolerable = {"urn:x:profile": {**UNKNOWN_EXTENSION["urn:x:profile"], "critical": False}}
    outcome = desk.send("work.start", desk.payload(), extensions=tolerable)
    assert isinstance(outcome, Accepted)


def test_another_revision_is_a_conflict_that_names_the_current_one(desk) -> None:
    desk.reach("queued")
    current = desk.view().revision
    outcome = desk.send("work.start", desk.payload(), expectedRevision=current - 1)
    error = refused(desk, outcome, "REVISION_CONFLICT")
    assert error["currentRevision"] == current
    assert error["expectedRevision"] == current - 1
    again = desk.send("work.start", desk.payload(), expectedRevision=current)
    assert isinstance(again, Accepted)


# --- Action IDs -------------------------------------------------------------------------------


def test_a_repeated_command_gets_its_events_again_and_changes_nothing(desk) -> None:
    desk.reach("offered")
    frame = desk.command("work.accept_offer", desk.payload_of("work.accept_offer"))
    first = desk.receive(frame)
    events = len(desk.group.events)
    second = desk.receive(frame)
    assert isinstance(first, Accepted)
    assert isinstance(second, Repeated)
    assert second.events == tuple(one.event for one in first.appended)
    assert len(desk.group.events) == events


def test_a_command_repeated_in_a_later_session_still_gets_its_receipt(desk) -> None:
    desk.reach("offered")
    frame = desk.command("work.accept_offer", desk.payload_of("work.accept_offer"))
    desk.receive(frame)
    desk.organization.open_session(0)
    assert isinstance(desk.receive(frame), Repeated)


def test_an_action_id_reused_with_other_content_collides(desk) -> None:
    desk.reach("queued")
    first = desk.command("work.start", desk.payload())
    assert isinstance(desk.receive(first), Accepted)
    other = desk.send("work.checkpoint", {}, actionId=first["command"]["actionId"])
    refused(desk, other, "ACTION_ID_COLLISION")


def test_an_action_id_of_a_refused_command_collides_as_well(desk) -> None:
    desk.reach("queued")
    first = desk.command("work.start", desk.payload(), expectedRevision=0)
    refused(desk, desk.receive(first), "REVISION_CONFLICT")
    other = desk.send("work.start", desk.payload(), actionId=first["command"]["actionId"])
    refused(desk, other, "ACTION_ID_COLLISION")


def test_after_a_bad_signature_the_action_id_may_be_used_again(desk) -> None:
    desk.reach("queued")
    good = desk.command("work.start", desk.payload())
    signature = {**good["command"]["signature"], "value": "A" * 86}
    bad = desk.frame({**good["command"], "signature": signature})
    refused(desk, desk.receive(bad), "AUTH_INVALID_SIGNATURE")
    assert isinstance(desk.receive(good), Accepted)


# --- authority --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        "work.authorize",
        "work.offer",
        "work.cancel",
        "work.unblock",
        "mission.cancel",
        "membership.change",
        "message.redact",
        "approval.grant_execution",
    ],
)
def test_a_worker_has_no_authority_for_commands_of_others(desk, kind) -> None:
    desk.reach("queued")
    refused(desk, desk.send(kind, desk.payload()), "AUTH_FORBIDDEN")


@pytest.mark.parametrize("kind", ["work.accept_result", "mission.create_child"])
def test_a_coordinators_command_is_refused_with_and_without_its_epoch(desk, kind) -> None:
    desk.reach("submitted")
    refused(desk, desk.send(kind, desk.payload()), "SCHEMA_VALIDATION_FAILED")
    refused(desk, desk.send(kind, desk.payload(), coordinatorEpoch=1), "AUTH_FORBIDDEN")


def test_an_unknown_extension_command_is_invalid(desk) -> None:
    refused(desk, desk.send("ext.acme.work.hurry", {}), "INVALID_COMMAND")


def test_without_the_scope_no_offer_is_accepted(open_desk) -> None:
    desk = open_desk(scopes=())
    desk.reach("offered")
    refused(desk, desk.do("work.accept_offer"), "AUTH_FORBIDDEN")


def test_a_worker_that_is_not_eligible_accepts_nothing(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A", authorization_eligible=False))
    desk.reach("offered")
    refused(desk, desk.do("work.accept_offer"), "AUTH_FORBIDDEN")


# --- offers -----------------------------------------------------------------------------------


def test_an_offer_is_expired_at_the_very_instant_of_its_expiry(open_desk) -> None:
    for now, expected in ((59, Accepted), (60, Refused)):
        desk = open_desk(WorkPlan("a1", "A", offer_seconds=60))
        desk.reach("offered")
        desk.now = now
        assert isinstance(desk.do("work.accept_offer"), expected)
    refused(desk, desk.do("work.accept_offer"), "WORK_OFFER_EXPIRED")


def test_an_extended_offer_keeps_its_id_and_lives_longer(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A", offer_seconds=60))
    desk.reach("offered")
    offer_id = desk.offer_id()
    desk.act(ActKind.EXTEND_OFFER, "a1")
    assert desk.offer_id() == offer_id
    desk.now = 60
    desk.done("work.accept_offer")


def test_a_withdrawn_offer_cannot_be_accepted(desk) -> None:
    desk.reach("offered")
    desk.act(ActKind.WITHDRAW, "a1")
    refused(desk, desk.do("work.accept_offer"), "WORK_OFFER_EXPIRED")


def test_a_revised_contract_needs_a_new_offer(desk) -> None:
    desk.reach("offered")
    desk.act(ActKind.REVISE, "a1", changes={"goal": "Something else."})
    refused(desk, desk.do("work.accept_offer"), "WORK_OFFER_EXPIRED")
    desk.act(ActKind.OFFER, "a1")
    desk.done("work.accept_offer")


def test_an_offer_to_somebody_else_cannot_be_accepted(desk) -> None:
    desk.act(ActKind.AUTHORIZE, "a1")
    desk.act(ActKind.OFFER_OTHER, "a1")
    foreign = desk.group.ledger.item("a1").offers[0].offer_id
    outcome = desk.send("work.accept_offer", {"workItemId": desk.work_id(), "offerId": foreign})
    refused(desk, outcome, "AUTH_FORBIDDEN")


def test_the_loser_of_a_race_learns_that_the_work_is_owned(desk) -> None:
    desk.act(ActKind.AUTHORIZE, "a1")
    desk.act(ActKind.OFFER_BOTH, "a1")
    desk.act(ActKind.TAKEN, "a1")
    refused(desk, desk.do("work.accept_offer"), "WORK_ALREADY_OWNED")


# --- ownership and leases ---------------------------------------------------------------------


def reassigned(desk) -> None:
    """Work that this Worker had, and that another Agent owns now."""
    desk.reach("active")
    desk.now = 1_000
    desk.act(ActKind.OFFER_OTHER, "a1")


LEASED = ("work.checkpoint", "work.block", "artifact.publish", "work.submit", "work.fail")


@pytest.mark.parametrize("kind", ["work.start", *LEASED])
@pytest.mark.parametrize("taken", [False, True], ids=["offered", "taken"])
def test_a_fenced_owner_changes_nothing(desk, kind, taken) -> None:
    reassigned(desk)
    if taken:
        desk.act(ActKind.TAKEN, "a1")
    payload = desk.payload_of(kind) | {"ownershipEpoch": 1}
    refused(desk, desk.send(kind, payload), "WORK_STALE_OWNERSHIP")


def test_a_former_ownership_epoch_is_fenced_even_for_the_new_owner(desk) -> None:
    desk.reach("failed")
    desk.act(ActKind.OFFER, "a1")
    desk.done("work.accept_offer")
    outcome = desk.send("work.start", desk.payload() | {"ownershipEpoch": 1})
    refused(desk, outcome, "WORK_STALE_OWNERSHIP")


@pytest.mark.parametrize("kind", LEASED)
def test_an_expired_lease_carries_nothing(desk, kind) -> None:
    desk.reach("active")
    desk.now = 300
    refused(desk, desk.do(kind), "WORK_LEASE_EXPIRED")


@pytest.mark.parametrize("kind", LEASED)
def test_an_older_lease_is_refused_although_the_ownership_epoch_is_the_same(desk, kind) -> None:
    desk.reach("active")
    old = desk.view().current_lease_id
    desk.done("work.checkpoint", "work.start")
    outcome = desk.send(kind, desk.payload_of(kind) | {"executionLeaseId": old})
    refused(desk, outcome, "WORK_LEASE_EXPIRED")


@pytest.mark.parametrize("kind", LEASED)
def test_a_command_for_running_work_names_a_lease(desk, kind) -> None:
    desk.reach("active")
    payload = desk.payload_of(kind)
    del payload["executionLeaseId"]
    refused(desk, desk.send(kind, payload), "INVALID_COMMAND")


def test_a_lease_is_found_wherever_the_payload_has_it(desk) -> None:
    desk.reach("active")
    payload = desk.payload_of("work.checkpoint")
    payload["under"] = {"lease": payload.pop("executionLeaseId")}
    assert isinstance(desk.send("work.checkpoint", payload), Accepted)


def test_numbers_are_found_where_the_worker_declares_them(desk) -> None:
    desk.organization.payload_paths = {"ownershipEpoch": "/fence/owner~1epoch"}
    desk.reach("offered")
    desk.done("work.accept_offer")
    here = {"workItemId": desk.work_id(), "fence": {"owner/epoch": 1}}
    assert isinstance(desk.send("work.start", here), Accepted)


def test_work_does_not_start_once_its_ownership_lease_has_run_out(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A", ownership_seconds=60))
    desk.reach("queued")
    desk.now = 60
    refused(desk, desk.do("work.start"), "WORK_LEASE_EXPIRED")


def test_a_start_after_the_start_by_time_is_not_forbidden(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A", start_by_seconds=60))
    desk.reach("queued")
    desk.now = 100
    desk.done("work.start")


def test_renewal_extends_the_very_same_lease(desk) -> None:
    desk.reach("active")
    lease_id = desk.view().current_lease_id
    desk.now = 299
    desk.done(desk.organization.renewal_kind)
    assert desk.last["kind"] == "work.progressed"
    assert desk.last["payload"]["leases"][0]["renewalCount"] == 1
    desk.now = 598
    assert desk.view().current_lease_id == lease_id


def test_renewal_has_the_kind_that_the_worker_declares(desk) -> None:
    desk.organization.renewal_kind = "ext.acme.core.renew"
    desk.reach("active")
    desk.done("ext.acme.core.renew")
    former = "ext.missionweaveprotocol.core.work_execution_lease_renew"
    refused(desk, desk.send(former, desk.lease_payload()), "INVALID_COMMAND")


# --- gates ------------------------------------------------------------------------------------


def test_gated_work_starts_only_with_an_approval_for_its_epoch(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A", approval="human_required"))
    desk.reach("queued")
    refused(desk, desk.do("work.start"), "APPROVAL_REQUIRED")
    desk.act(ActKind.GRANT, "a1", epoch=7)
    refused(desk, desk.do("work.start"), "APPROVAL_REQUIRED")
    desk.act(ActKind.GRANT, "a1", expires_seconds=60)
    assert desk.view().eligible
    desk.now = 60
    assert not desk.view().eligible
    refused(desk, desk.do("work.start"), "APPROVAL_REQUIRED")
    desk.now = 59
    desk.done("work.start")


@pytest.mark.parametrize("fault", [{"how": "decision"}, {"how": "signature"}, {"epoch": 7}])
def test_a_deceived_authority_lets_work_start_that_nobody_has_approved(open_desk, fault) -> None:
    desk = open_desk(WorkPlan("a1", "A", approval="human_required"))
    desk.reach("queued")
    desk.act(ActKind.GRANT, "a1", **fault)
    refused(desk, desk.do("work.start"), "APPROVAL_REQUIRED")
    desk.act(ActKind.GRANT, "a1", believed=True, **fault)
    desk.done("work.start")


def test_policy_decides_where_the_contract_leaves_the_gate_to_it(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A", approval="policy_required"))
    desk.reach("queued")
    desk.organization.set_policy(SetPolicy(work={"a1": {"approval": "required"}}))
    refused(desk, desk.do("work.start"), "APPROVAL_REQUIRED")
    desk.organization.set_policy(SetPolicy(work={"a1": {"approval": None}}))
    desk.done("work.start")


def test_work_waits_for_what_it_depends_on(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A"), WorkPlan("a2", "A", depends_on=("a1",)))
    desk.reach("submitted")
    desk.reach("queued", "a2")
    assert not desk.view("a2").eligible
    refused(desk, desk.do("work.start", "a2"), "INVALID_STATE_TRANSITION")
    desk.act(ActKind.ACCEPT_RESULT, "a1")
    desk.done("work.start", work="a2")


# --- payloads ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "kind", "missing"),
    [
        ("offered", "work.accept_offer", "offerId"),
        ("queued", "work.start", "ownershipEpoch"),
        ("active", "work.checkpoint", "checkpoint"),
        ("active", "work.block", "checkpoint"),
        ("active", "work.block", "reason"),
        ("active", "artifact.publish", "artifact"),
        ("active", "work.submit", "artifactIds"),
        ("active", "work.submit", "evidence"),
        ("active", "work.fail", "evidence"),
        ("queued", "work.fail", "evidence"),
    ],
)
def test_an_incomplete_command_is_invalid(desk, state, kind, missing) -> None:
    desk.reach(state)
    if kind == "work.submit":
        desk.done("artifact.publish")
    payload = desk.payload_of(kind)
    del payload[missing]
    refused(desk, desk.send(kind, payload), "INVALID_COMMAND")


def test_a_command_about_no_work_of_this_group_is_invalid(desk) -> None:
    refused(desk, desk.send("work.start", {"ownershipEpoch": 1}), "INVALID_COMMAND")


def test_every_acceptance_criterion_needs_evidence(desk) -> None:
    desk.reach("active")
    desk.done("artifact.publish")
    payload = desk.payload_of("work.submit") | {"evidence": desk.evidence(criteria=("tested",))}
    refused(desk, desk.send("work.submit", payload), "INVALID_COMMAND")


def test_evidence_must_be_signed_by_its_producer(desk) -> None:
    desk.reach("active")
    desk.done("artifact.publish")
    payload = desk.payload_of("work.submit")
    payload["evidence"][0]["method"] = "changed after signing"
    refused(desk, desk.send("work.submit", payload), "AUTH_INVALID_SIGNATURE")


def test_a_failure_needs_evidence_about_the_work_that_failed(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A"), WorkPlan("a2", "A"))
    desk.reach("active")
    payload = desk.payload_of("work.fail") | {"evidence": desk.evidence("a2")}
    refused(desk, desk.send("work.fail", payload), "INVALID_COMMAND")


def test_an_artifact_of_another_group_is_not_published_here(desk) -> None:
    desk.reach("active")
    artifact = desk.artifact(groupId=desk.organization.group("B").group_id)
    payload = desk.payload_of("artifact.publish") | {"artifact": artifact}
    refused(desk, desk.send("artifact.publish", payload), "INVALID_COMMAND")


def test_an_artifact_never_changes(desk) -> None:
    desk.reach("active")
    desk.done("artifact.publish")
    artifact = desk.artifact(contentHash="sha256:" + "1" * 64)
    payload = desk.payload_of("artifact.publish") | {"artifact": artifact}
    refused(desk, desk.send("artifact.publish", payload), "INVALID_COMMAND")


def test_an_incomplete_artifact_manifest_breaks_its_schema(desk) -> None:
    desk.reach("active")
    artifact = {name: value for name, value in desk.artifact().items() if name != "sizeBytes"}
    payload = desk.payload_of("artifact.publish") | {"artifact": artifact}
    refused(desk, desk.send("artifact.publish", payload), "SCHEMA_VALIDATION_FAILED")


# --- scripted answers -------------------------------------------------------------------------


def test_a_scripted_code_answers_the_next_command_of_its_kind_only(desk) -> None:
    desk.reach("queued")
    desk.organization.script_answer(Answer("work.start", "BACKPRESSURE", retryable=True))
    frame = desk.command("work.start", desk.payload())
    error = refused(desk, desk.receive(frame), "BACKPRESSURE")
    assert error["retryable"] is True
    assert isinstance(desk.receive(frame), Accepted)


def test_two_copies_of_a_command_get_one_scripted_answer_at_one_instant(desk) -> None:
    desk.reach("queued")
    desk.organization.script_answer(Answer("work.start", "APPROVAL_REQUIRED"))
    frame = desk.command("work.start", desk.payload())
    refused(desk, desk.receive(frame), "APPROVAL_REQUIRED")
    refused(desk, desk.receive(frame), "APPROVAL_REQUIRED")
    desk.now += 1
    assert isinstance(desk.receive(frame), Accepted)


def test_a_silenced_command_has_not_happened(desk) -> None:
    desk.reach("queued")
    desk.organization.script_answer(Answer("work.start", "silence"))
    frame = desk.command("work.start", desk.payload())
    assert isinstance(desk.receive(frame), Silent)
    assert desk.state() == "queued"
    assert isinstance(desk.receive(frame), Accepted)


def test_waiting_work_is_failed_while_it_is_owned(open_desk) -> None:
    for now, in_time in ((59, True), (60, False)):
        desk = open_desk(WorkPlan("a1", "A", ownership_seconds=60))
        desk.reach("queued")
        desk.now = now
        outcome = desk.do("work.fail")
        if in_time:
            assert isinstance(outcome, Accepted)
        else:
            refused(desk, outcome, "WORK_LEASE_EXPIRED")


def test_blocked_work_is_failed_while_its_blocked_lease_runs(desk) -> None:
    desk.reach("blocked")
    desk.now = desk.group.ledger.item("a1").owner.blocked.expires_at // 1_000_000
    refused(desk, desk.do("work.fail"), "WORK_LEASE_EXPIRED")


def test_a_reassignment_ends_the_former_owners_leases(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A", ownership_seconds=60))
    desk.reach("queued")
    desk.now = 60
    desk.act(ActKind.OFFER, "a1")
    (lease,) = desk.last["payload"]["leases"]
    assert lease["state"] == "expired"


def test_the_gate_is_asked_for_before_the_lease(open_desk) -> None:
    """MWP-EVT-004: role, delegation, budget, policy, and lease."""
    desk = open_desk(WorkPlan("a1", "A", ownership_seconds=60, approval="human_required"))
    desk.reach("queued")
    desk.now = 60
    refused(desk, desk.do("work.start"), "APPROVAL_REQUIRED")


def test_renewal_can_be_scripted_whatever_its_kind(desk) -> None:
    desk.organization.renewal_kind = "ext.acme.core.renew"
    desk.reach("active")
    desk.organization.script_answer(Answer("renew", "WORK_LEASE_EXPIRED"))
    refused(desk, desk.do("ext.acme.core.renew"), "WORK_LEASE_EXPIRED")
    desk.done("ext.acme.core.renew")


# --- order of the checks ----------------------------------------------------------------------


def test_checks_come_in_the_order_of_section_15_1(desk) -> None:
    """Everything is wrong at once; mended one by one, the next fault shows."""
    reassigned(desk)
    desk.act(ActKind.MOVE_MEMBERSHIP)
    frame = desk.command(
        "work.submit",
        {"ownershipEpoch": 1, "workItemId": desk.work_id()},
        sessionEpoch=9,
        membershipEpoch=1,
        expectedRevision=0,
        signature=None,
    )
    wrong = frame["command"]
    wrong["signature"] = {**wrong["signature"], "value": "A" * 86}
    mending = (
        ("AUTH_INVALID_SIGNATURE", {}),
        ("AUTH_STALE_SESSION", {"sessionEpoch": 1}),
        ("MEMBERSHIP_STALE", {"membershipEpoch": 2}),
        ("REVISION_CONFLICT", {"expectedRevision": desk.view().revision}),
        ("WORK_STALE_OWNERSHIP", {}),
    )
    refused(desk, desk.receive(desk.frame(wrong)), mending[0][0])
    command = wrong
    for number, (code, mended) in enumerate(mending[1:]):
        action = {"actionId": f"urn:worker:mended:{number}"}
        command = sign(DocumentKind.COMMAND, {**command, **action}, desk.key)
        refused(desk, desk.receive(desk.frame(command)), code)
        command = {**command, **mended}


def test_views_are_values(desk) -> None:
    desk.reach("queued")
    view = desk.view()
    assert evolve(view) == desk.view()
