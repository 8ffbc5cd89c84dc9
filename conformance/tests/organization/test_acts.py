"""What the Organization does by itself, and the Events that say so."""

import pytest

from worker_conformance.documents.schemas import DocumentKind, problems
from worker_conformance.errors import SuiteError
from worker_conformance.organization.acts import ACTS
from worker_conformance.organization.snapshots import state_at
from worker_conformance.scenario.model import ASIDES, Act, ActKind, SetPolicy, WorkPlan

# Each act with the way to a state in which it may happen, and the kind of its Event.
EVENTS = {
    ActKind.CREATED: ("none", "mission.created"),
    ActKind.MEMBER: ("none", "membership.changed"),
    ActKind.AUTHORIZE: ("none", "work.authorized"),
    ActKind.OFFER: ("open", "work.offer.created"),
    ActKind.EXTEND_OFFER: ("offered", "work.offer.created"),
    ActKind.WITHDRAW: ("offered", "work.offer.created"),
    ActKind.OFFER_BOTH: ("open", "work.offer.created"),
    ActKind.OFFER_OTHER: ("open", "work.offer.created"),
    ActKind.TAKEN: ("offered", "work.offer.accepted"),
    ActKind.MESSAGE: ("none", "message.posted"),
    ActKind.REVISE: ("open", "work.contract.revised"),
    ActKind.GRANT: ("queued", "approval.execution.granted"),
    ActKind.UNBLOCK: ("blocked", "work.unblocked"),
    ActKind.ACCEPT_RESULT: ("submitted", "work.result.accepted"),
    ActKind.FAIL: ("active", "work.failed"),
    ActKind.CANCEL: ("active", "work.cancelled"),
    ActKind.PROMOTE: ("active", "mission.child.created"),
    ActKind.CHILD_APPROVED: ("active", "work.result.accepted"),
    ActKind.CHILD_FAILED: ("active", "work.progressed"),
    ActKind.APPROVE_MISSION: ("verified", "mission.approved"),
    ActKind.ARCHIVE: ("verified", "group.archived"),
    ActKind.CANCEL_MISSION: ("active", "mission.cancelled"),
    ActKind.TERMINATE_MISSION: ("active", "mission.terminated"),
    ActKind.REPLACE_COORDINATOR: ("none", "mission.coordinator.assigned"),
    ActKind.MOVE_MEMBERSHIP: ("none", "membership.changed"),
    ActKind.END_MEMBERSHIP: ("none", "membership.ended"),
    ActKind.OTHER_MEMBER: ("none", "membership.changed"),
    ActKind.END_OTHER_MEMBER: ("none", "membership.ended"),
    ActKind.EXTENSION: ("none", "ext.acme.audit.noted"),
}

# The Port's payload table: members of the payload, by Event kind.
PAYLOADS = {
    "mission.created": {"mission", "missionId"},
    "mission.coordinator.assigned": {"mission", "missionId"},
    "membership.changed": {"membership"},
    "membership.ended": {"membership"},
    "work.authorized": {"workItem", "workItemId"},
    "work.offer.created": {"workItem", "workItemId", "selectionBasis"},
    "work.offer.accepted": {
        "workItem",
        "leases",
        "workItemId",
        "assigneeId",
        "ownershipEpoch",
    },
    "work.contract.revised": {"workItem"},
    "approval.execution.granted": {"approval", "workItemId", "ownershipEpoch", "expiresAt"},
    "work.started": {"workItem", "leases", "ownershipEpoch", "executionLeaseId"},
    "work.progressed": {"workItem", "leases"},
    "work.checkpointed": {"workItem", "leases", "checkpoint"},
    "work.blocked": {"workItem", "leases", "checkpoint", "reason"},
    "work.unblocked": {"workItem", "leases"},
    "artifact.published": {"artifactId", "contentHash"},
    "work.submitted": {"workItem", "leases"},
    "work.result.accepted": {"workItem", "leases"},
    "work.failed": {"workItem", "leases", "reason"},
    "work.cancelled": {"workItem", "leases", "reason"},
    "mission.cancelled": {"workItems", "leases", "reason"},
    "mission.terminated": {"workItems", "leases", "reason"},
    "mission.submitted_for_approval": {"mission", "missionId"},
    "mission.approved": {"workItems", "leases", "reason"},
    "group.archived": {"workItems", "leases", "reason"},
    "mission.child.created": {"workItems", "leases", "reason"},
    "message.posted": {"message"},
    "ext.acme.audit.noted": {"note"},
}


def ready(desk, kind: ActKind) -> None:
    desk.reach(EVENTS[kind][0])
    if kind is ActKind.TAKEN:
        desk.act(ActKind.WITHDRAW, "a1")
    if kind in (ActKind.CHILD_APPROVED, ActKind.CHILD_FAILED):
        desk.act(ActKind.PROMOTE, "a1")
    if kind is ActKind.ARCHIVE:
        desk.act(ActKind.APPROVE_MISSION)


def test_every_kind_of_act_is_known() -> None:
    assert set(ACTS) == set(ActKind) == {*EVENTS, ActKind.ASIDE, ActKind.MISFILED}


@pytest.mark.parametrize("kind", ASIDES)
def test_an_event_between_others_is_true_to_the_form_and_changes_nothing(
    desk, check_event, kind
) -> None:
    desk.reach("active")
    before = dict(desk.group.ledger.items)
    desk.group.act(Act(ActKind.ASIDE, args={"kind": kind}), desk.micros)
    check_event(desk.last, desk.registry)
    assert desk.last["kind"] == kind
    assert desk.group.ledger.items == before


def test_what_is_filed_in_the_wrong_group_is_true_to_the_form_and_changes_nothing(
    desk, check_event
) -> None:
    other = desk.organization.group("B")
    with pytest.raises(SuiteError, match="work that is owned"):
        other.act(Act(ActKind.MISFILED), desk.micros)
    desk.reach("active")
    before = desk.view()
    other.act(Act(ActKind.MISFILED), desk.micros)
    event = other.events[-1]
    check_event(event, desk.registry)
    assert event["kind"] == "work.cancelled"
    assert event["groupId"] == other.group_id
    assert event["payload"]["workItem"]["groupId"] == desk.group.group_id
    assert event["payload"]["workItem"]["state"] == "cancelled"
    assert desk.view() == before


def test_another_groups_work_can_be_claimed(desk, check_event) -> None:
    other = desk.organization.group("B")
    desk.reach("active")
    before = desk.view()
    other.act(Act(ActKind.MISFILED, args={"what": "claim"}), desk.micros)
    event = other.events[-1]
    check_event(event, desk.registry)
    document = event["payload"]["workItem"]
    assert (document["workItemId"], document["groupId"]) == (desk.work_id(), other.group_id)
    assert document["missionId"] == desk.organization.names.mission_id(other.name)
    assert {lease["groupId"] for lease in event["payload"]["leases"]} == {other.group_id}
    assert desk.view() == before


def test_another_groups_membership_can_be_said_to_have_ended(desk, check_event) -> None:
    other = desk.organization.group("B")
    desk.reach("active")
    other.act(Act(ActKind.MISFILED, args={"what": "membership"}), desk.micros)
    event = other.events[-1]
    check_event(event, desk.registry)
    document = event["payload"]["membership"]
    assert (event["kind"], document["state"]) == ("membership.ended", "ended")
    assert document["groupId"] == desk.group.group_id
    assert desk.last["groupId"] == desk.group.group_id  # whose own log has not grown


@pytest.mark.parametrize("kind", EVENTS)
def test_an_act_appends_one_valid_signed_event(desk, check_event, kind) -> None:
    ready(desk, kind)
    before = len(desk.group.events)
    *earlier, appended = desk.act(kind, "a1" if kind not in _GROUP_ACTS else None)
    assert appended.event is desk.last
    assert appended.kind == desk.last["kind"] == EVENTS[kind][1]
    assert appended.sequence == desk.last["sequence"] == before + 1 + len(earlier)
    assert [one.kind for one in earlier] == FIRST.get(kind, [])
    assert (appended.by, appended.action_id) == ("organization", None)
    assert set(desk.last["payload"]) == PAYLOADS[desk.last["kind"]]
    for event in desk.group.events:
        check_event(event, desk.registry)


FIRST = {ActKind.APPROVE_MISSION: ["mission.submitted_for_approval"]}

_GROUP_ACTS = {
    ActKind.APPROVE_MISSION,
    ActKind.ARCHIVE,
    ActKind.CREATED,
    ActKind.MEMBER,
    ActKind.CANCEL_MISSION,
    ActKind.TERMINATE_MISSION,
    ActKind.REPLACE_COORDINATOR,
    ActKind.MOVE_MEMBERSHIP,
    ActKind.END_MEMBERSHIP,
}


@pytest.mark.parametrize("way", ["submitted", "blocked", "failed"])
def test_a_workers_commands_append_what_the_payload_table_says(desk, check_event, way) -> None:
    desk.reach(way)
    for event in desk.group.events:
        check_event(event, desk.registry)
        assert set(event["payload"]) == PAYLOADS[event["kind"]]


def test_a_checkpoint_travels_with_every_later_offer_and_acceptance(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A", ownership_seconds=60))
    desk.reach("active")
    desk.done("work.checkpoint")
    checkpoint = desk.last["payload"]["checkpoint"]
    assert set(checkpoint) == {
        "checkpointId",
        "workItemId",
        "ownershipEpoch",
        "executionLeaseId",
        "checkpointHash",
        "recordedAt",
    }
    desk.now = 60
    desk.act(ActKind.OFFER_OTHER, "a1")
    assert desk.last["payload"]["latestCheckpoint"] == checkpoint
    desk.act(ActKind.TAKEN, "a1")
    assert desk.last["payload"]["latestCheckpoint"] == checkpoint
    assert desk.last["payload"]["ownershipEpoch"] == 2


def test_leases_say_what_was_opened_renewed_and_closed(desk) -> None:
    def leases() -> list[tuple[str, str]]:
        return [(one["leaseType"], one["state"]) for one in desk.last["payload"]["leases"]]

    desk.reach("queued")
    assert leases() == [("ownership", "active")]
    desk.done("work.start")
    assert leases() == [("execution", "active")]
    desk.done("work.checkpoint")
    assert leases() == [("execution", "released"), ("ownership", "active")]
    desk.done("work.start", "work.block")
    assert leases() == [("execution", "released"), ("blocked", "active")]
    desk.act(ActKind.UNBLOCK, "a1")
    assert leases() == [("blocked", "released"), ("ownership", "active")]
    desk.done("work.start", "artifact.publish", "work.submit")
    assert leases() == [("execution", "released")]
    desk.act(ActKind.ACCEPT_RESULT, "a1")
    assert leases() == [("ownership", "released")]


def test_an_offer_carries_the_checkpoint_that_it_is_told_to(open_desk, check_event) -> None:
    desk = open_desk(WorkPlan("a1", "A"), WorkPlan("a2", "A"))
    desk.reach("blocked")
    desk.act(ActKind.AUTHORIZE, "a2")
    desk.act(ActKind.OFFER, "a2")
    assert "latestCheckpoint" not in desk.last["payload"]
    desk.act(ActKind.OFFER, "a2", checkpoint="a1")
    check_event(desk.last, desk.registry)
    assert desk.last["payload"]["latestCheckpoint"]["workItemId"] == desk.work_id("a1")
    assert desk.last["payload"]["workItemId"] == desk.work_id("a2")


def test_no_offer_carries_what_is_not_there(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A"), WorkPlan("a2", "A"))
    desk.reach("open")
    with pytest.raises(SuiteError, match="a2 has no Checkpoint"):
        desk.act(ActKind.OFFER, "a1", checkpoint="a2")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "PT0S"),
        (30, "PT30S"),
        (90, "PT1M30S"),
        (3600, "PT1H"),
        (5400, "PT1H30M"),
        (86_400, "P1D"),
        (90_061, "P1DT1H1M1S"),
    ],
)
def test_a_longest_delay_is_said_in_the_largest_units(open_desk, seconds, said) -> None:
    desk = open_desk(WorkPlan("a1", "A", max_delay_seconds=seconds))
    desk.reach("open")
    item = desk.last["payload"]["workItem"]
    assert item["contract"]["retryPolicy"]["maxDelay"] == said
    assert problems(DocumentKind.WORK_ITEM, item) == ()


@pytest.mark.parametrize("kind", [ActKind.FAIL, ActKind.CANCEL, ActKind.PROMOTE])
def test_every_end_revokes_execution_and_ownership(desk, kind) -> None:
    desk.reach("active")
    (appended,) = desk.act(kind, "a1")
    closed = [
        (one["leaseType"], one["state"])
        for one in desk.last["payload"]["leases"]
        if one["holderAgentId"] == desk.start["agent"]["agentId"]
    ]
    assert closed == [("execution", "revoked"), ("ownership", "revoked")]
    assert not appended.ours


def test_promoted_work_is_fenced_and_waits_for_its_child(desk) -> None:
    desk.reach("active")
    desk.act(ActKind.PROMOTE, "a1")
    view = desk.view()
    assert (view.state, view.ours, view.ownership_epoch) == ("blocked", False, 2)
    with pytest.raises(SuiteError, match="child Mission"):
        desk.act(ActKind.UNBLOCK, "a1")


def test_messages_change_no_revision(desk) -> None:
    desk.reach("queued")
    before = desk.view()
    desk.act(ActKind.MESSAGE, "a1", text="Start now!")
    assert desk.view() == before
    assert desk.last["aggregateRevision"] == before.revision
    assert desk.last["payload"]["message"]["authority"] is False


def test_a_revision_raises_the_contract_version_and_changes_the_plan(desk) -> None:
    desk.reach("queued")
    desk.act(ActKind.REVISE, "a1", changes={"deadline_seconds": 60, "goal": "Faster."})
    contract = desk.last["payload"]["workItem"]["contract"]
    assert contract["contractVersion"] == 2
    assert contract["deadline"] == "2026-07-15T00:01:00Z"
    assert contract["goal"].startswith("Faster.")
    assert desk.view().plan.deadline_seconds == 60


@pytest.mark.parametrize("critical", [True, False])
def test_any_act_can_carry_data_of_an_unknown_profile(desk, check_event, critical) -> None:
    desk.act(ActKind.AUTHORIZE, "a1", critical=critical)
    (entry,) = desk.last["extensions"].values()
    assert entry["critical"] is critical
    check_event(desk.last, desk.registry)


def test_a_provisional_membership_is_shown_and_becomes_active_by_acceptance(open_desk) -> None:
    desk = open_desk(provisional_seconds=600)
    assert desk.start["groups"][0]["membership"]["state"] == "provisional"
    assert desk.last["payload"]["membership"]["state"] == "provisional"
    desk.reach("offered")
    outcome = desk.do("work.accept_offer")
    kinds = [one.kind for one in outcome.appended]
    assert kinds == ["membership.changed", "work.offer.accepted"]
    membership = outcome.appended[0].event["payload"]["membership"]
    assert (membership["state"], membership["membershipEpoch"]) == ("active", 1)


def test_a_membership_that_begins_again_has_a_higher_epoch(desk) -> None:
    desk.act(ActKind.END_MEMBERSHIP)
    with pytest.raises(SuiteError):
        desk.act(ActKind.END_MEMBERSHIP)
    desk.act(ActKind.MEMBER)
    assert desk.last["payload"]["membership"]["membershipEpoch"] == 2
    desk.act(ActKind.MOVE_MEMBERSHIP)
    assert desk.last["payload"]["membership"]["membershipEpoch"] == 3


def test_a_mission_ends_once(desk) -> None:
    desk.act(ActKind.CANCEL_MISSION)
    with pytest.raises(SuiteError, match="cancelled"):
        desk.act(ActKind.TERMINATE_MISSION)


def test_an_act_on_work_that_nobody_planned_names_what_there_is(desk) -> None:
    with pytest.raises(SuiteError, match="no WorkItem 'a9'") as caught:
        desk.group.act(Act(ActKind.AUTHORIZE, "a9"), 0)
    assert "a1" in caught.value.hint


@pytest.mark.parametrize(
    ("plan", "seconds"),
    [
        (WorkPlan("a9", "A", duration_seconds=5), 5),
        (WorkPlan("a9", "A", duration_seconds=5, attempts=3), 15),
        (WorkPlan("a9", "A", duration_seconds=5, attempts=3, running_time_seconds=40), 40),
        (WorkPlan("a9", "A", duration_seconds=5, completes=False), 2 * 86_400),
    ],
)
def test_a_contract_bounds_the_running_time(desk, plan, seconds) -> None:
    desk.organization.add_work(plan)
    desk.reach("active", "a9")
    contract = desk.last["payload"]["workItem"]["contract"]
    assert contract["budget"]["wallClockSecondsLimit"] == seconds


def test_work_can_be_added_at_run_time(desk) -> None:
    desk.organization.add_work(WorkPlan("a9", "A", duration_seconds=5))
    desk.reach("active", "a9")
    contract = desk.last["payload"]["workItem"]["contract"]
    assert contract["budget"]["wallClockSecondsLimit"] == 5
    desk.organization.set_policy(SetPolicy(work={"a9": {"priority_class": "urgent"}}))
    assert desk.organization.policy()["workItems"] == {
        desk.work_id("a9"): {"priorityClass": "urgent"}
    }


@pytest.mark.parametrize(
    "plan",
    [
        WorkPlan("a1", "A"),
        WorkPlan(
            "a1",
            "A",
            approval="human_required",
            risk="destructive",
            attempts=3,
            backoff="exponential",
            max_delay_seconds=90,
            retryable=("TOOL_UNAVAILABLE",),
            urgency="critical",
            external_side_effect_limit=2,
            goal="Move the house.",
        ),
    ],
)
def test_contracts_are_complete(open_desk, plan) -> None:
    desk = open_desk(plan)
    desk.reach("open")
    contract = desk.last["payload"]["workItem"]["contract"]
    assert problems(DocumentKind.WORK_CONTRACT, contract) == ()
    assert contract["executionApproval"] == plan.approval
    assert contract["retryPolicy"]["maxAttempts"] == plan.attempts


def test_a_replaced_coordinator_is_another_agent_in_a_higher_epoch(desk) -> None:
    """MWP-MSN-004 and MWP-MSN-005: one at a time, and what the former one did remains."""

    def coordinator() -> dict[str, object]:
        return desk.last["payload"]["mission"]["coordinator"]

    desk.reach("offered")
    first = desk.last["actor"]
    before = desk.group.ledger.mission_revision
    desk.act(ActKind.REPLACE_COORDINATOR)
    assert desk.group.ledger.mission_revision == before + 1
    assert coordinator()["coordinatorEpoch"] == 2
    second = coordinator()["agentId"]
    assert second != first["id"]
    desk.done("work.accept_offer")
    assert desk.last["payload"]["workItem"]["createdBy"] == first
    desk.act(ActKind.MESSAGE)
    assert desk.last["actor"]["id"] == second
    assert desk.last["payload"]["message"]["author"]["id"] == second
    desk.act(ActKind.REPLACE_COORDINATOR)
    assert coordinator()["coordinatorEpoch"] == 3
    assert coordinator()["agentId"] == first["id"]


def test_a_snapshot_knows_of_a_lease_that_a_coordinator_has_renewed(desk) -> None:
    renewed = Act(ActKind.ASIDE, args={"kind": "mission.coordinator.renewed"})
    desk.group.act(renewed, desk.micros)
    shown = state_at(desk.group.ledger, len(desk.group.events))["mission"]
    assert shown == desk.last["payload"]["mission"]


def test_a_snapshot_says_who_coordinates(desk) -> None:
    desk.act(ActKind.REPLACE_COORDINATOR)
    through = len(desk.group.events)
    shown = state_at(desk.group.ledger, through)["mission"]
    assert shown == desk.last["payload"]["mission"]
    earlier = state_at(desk.group.ledger, through - 1)["mission"]
    assert earlier["coordinator"]["coordinatorEpoch"] == 1


def test_nobody_coordinates_a_mission_that_is_over(desk) -> None:
    desk.act(ActKind.CANCEL_MISSION)
    with pytest.raises(SuiteError, match="cancelled"):
        desk.act(ActKind.REPLACE_COORDINATOR)
