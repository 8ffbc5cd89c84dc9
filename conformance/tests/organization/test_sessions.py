"""Sessions, the start stimulus, policy, and what the Organization does as time passes."""

import pytest

from worker_conformance.documents import signing
from worker_conformance.documents.schemas import DocumentKind, problems
from worker_conformance.documents.signing import Verified
from worker_conformance.errors import SuiteError
from worker_conformance.organization.outcomes import Refused
from worker_conformance.port.messages import check_stimulus
from worker_conformance.scenario.clock import SECOND
from worker_conformance.scenario.model import ActKind, SetPolicy

NOW = {"now": "2026-07-15T00:00:00Z"}


def test_what_start_carries_is_a_valid_stimulus(open_desk) -> None:
    for desk in (open_desk(), open_desk(provisional_seconds=60, slot_quota=1, weight=2.5)):
        check_stimulus({"type": "start", "stateDirectory": "/x", "seed": 1, **NOW, **desk.start})
        for group in desk.start["groups"]:
            assert problems(DocumentKind.MEMBERSHIP, group["membership"]) == ()


def test_the_registry_is_sound_evidence(desk) -> None:
    assert desk.registry.fault is None


def test_policy_links_and_snapshots_are_valid_stimuli(desk) -> None:
    desk.reach("submitted")
    snapshot, state = desk.group.snapshot(0)
    check_stimulus({"type": "policy", "policy": desk.organization.policy(), **NOW})
    check_stimulus({"type": "snapshot", "snapshot": snapshot, "state": state, **NOW})
    reopened = desk.organization.reopen_session(0)
    check_stimulus({"type": "link", "state": "up", **NOW, **reopened})
    group = desk.organization.group_entry("B")
    check_stimulus({"type": "join", "group": group, **NOW})


def test_each_session_has_the_next_epoch(desk) -> None:
    assert desk.start["sessionEpoch"] == desk.organization.session_epoch == 1
    assert desk.organization.open_session(0)["sessionEpoch"] == 2
    assert desk.organization.reopen_session(0)["sessionEpoch"] == 3


@pytest.mark.parametrize("how", ["open_session", "reopen_session"])
def test_a_new_session_revokes_executions_and_queues_their_work(desk, how) -> None:
    desk.reach("active")
    before, events = desk.view(), len(desk.group.events)
    getattr(desk.organization, how)(0)
    after = desk.view()
    assert (after.state, after.current_lease_id, after.ours) == ("queued", None, True)
    assert after.revision == before.revision  # v0.1 has no Event for it
    assert len(desk.group.events) == events
    outcome = desk.do("work.submit")
    assert isinstance(outcome, Refused)
    desk.done("work.start")
    assert desk.view().lease_ids[-1] not in before.lease_ids


@pytest.mark.parametrize("state", ["queued", "blocked", "submitted"])
def test_a_new_session_leaves_other_work_as_it_is(desk, state) -> None:
    desk.reach(state)
    before = desk.view()
    desk.organization.open_session(0)
    assert desk.view() == before


def test_an_ended_membership_is_not_part_of_a_new_session(desk) -> None:
    desk.act(ActKind.END_MEMBERSHIP)
    groups = desk.organization.open_session(0)["groups"]
    assert [group["groupId"] for group in groups] == [desk.organization.group("B").group_id]


def test_the_session_has_an_event_of_the_organization(desk) -> None:
    event = desk.organization.session_opened_event(0)
    assert problems(DocumentKind.EVENT, event) == ()
    assert isinstance(signing.verify(DocumentKind.EVENT, event, desk.registry), Verified)
    assert "groupId" not in event
    assert event["payload"] == {"agentId": desk.start["agent"]["agentId"], "sessionEpoch": 1}


def test_policy_changes_by_whole_versions(desk) -> None:
    group_id = desk.group.group_id
    step = SetPolicy(
        groups={"A": {"weight": 3, "slot_quota": 1}},
        work={"a1": {"priority_class": "urgent", "approval": "required"}},
        limits={"max_queued_items": 5},
    )
    policy = desk.organization.set_policy(step)
    assert policy["policyVersion"] == 2
    assert policy["groups"][group_id] == {
        "weight": 3,
        "slotQuota": 1,
        "priorityClass": "standard",
    }
    assert policy["workItems"] == {
        desk.work_id(): {"priorityClass": "urgent", "executionApproval": "required"}
    }
    assert policy["limits"]["maxQueuedItems"] == 5
    later = desk.organization.set_policy(
        SetPolicy(groups={"A": {"slot_quota": None, "priority_class": None}})
    )
    assert later["groups"][group_id] == {"weight": 3, "priorityClass": "standard"}
    assert policy["groups"][group_id]["slotQuota"] == 1  # documents already given stay


@pytest.mark.parametrize(
    "step",
    [
        SetPolicy(groups={"Z": {}}),
        SetPolicy(work={"z1": {}}),
        SetPolicy(limits={"hurry": 1}),
    ],
)
def test_policy_about_nothing_is_a_fault_of_the_scenario(desk, step) -> None:
    with pytest.raises(SuiteError):
        desk.organization.set_policy(step)


def test_the_organization_renews_leases_where_it_is_asked_to(desk) -> None:
    desk.organization.organization_renews = True
    assert desk.organization.next_due() is None
    desk.reach("active")
    assert desk.organization.next_due() == 150 * SECOND
    ((name, (appended,)),) = desk.organization.act_due(150 * SECOND)
    assert (name, appended.kind, appended.by) == ("A", "work.progressed", "organization")
    assert desk.organization.next_due() == 300 * SECOND
    assert desk.organization.act_due(150 * SECOND) == ()
    desk.now = 449
    assert desk.view().current_lease_id is not None


def test_without_being_asked_it_renews_nothing(desk) -> None:
    desk.reach("active")
    assert desk.organization.next_due() is None
    assert desk.organization.act_due(10**12) == ()
