"""How Missions end, Groups are archived, and child Missions return to their WorkItem."""

import pytest

from worker_conformance.errors import SuiteError
from worker_conformance.organization import snapshots
from worker_conformance.organization.outcomes import Refused
from worker_conformance.scenario.model import ActKind


def kinds(desk) -> list[str]:
    return [event["kind"] for event in desk.group.events]


def test_a_finished_mission_is_submitted_and_approved(desk, check_event) -> None:
    desk.reach("verified")
    desk.act(ActKind.APPROVE_MISSION)
    assert kinds(desk)[-2:] == ["mission.submitted_for_approval", "mission.approved"]
    desk.act(ActKind.ARCHIVE)
    assert kinds(desk)[-1] == "group.archived"
    for event in desk.group.events:
        check_event(event, desk.registry)


def test_a_mission_with_unfinished_work_is_not_approved(desk) -> None:
    desk.reach("queued")
    with pytest.raises(SuiteError, match="unfinished work: a1"):
        desk.act(ActKind.APPROVE_MISSION)


def test_a_mission_that_runs_is_not_archived(desk) -> None:
    desk.reach("verified")
    with pytest.raises(SuiteError, match="is active"):
        desk.act(ActKind.ARCHIVE)


@pytest.mark.parametrize(
    "again", [ActKind.APPROVE_MISSION, ActKind.CANCEL_MISSION, ActKind.TERMINATE_MISSION]
)
def test_an_approved_mission_ends_once(desk, again: ActKind) -> None:
    desk.reach("verified")
    desk.act(ActKind.APPROVE_MISSION)
    with pytest.raises(SuiteError, match="is approved"):
        desk.act(again)


def test_nothing_begins_in_a_mission_that_has_ended(desk, open_desk) -> None:
    desk.reach("open")
    desk.act(ActKind.CANCEL_MISSION)
    for act in (ActKind.AUTHORIZE, ActKind.OFFER):
        with pytest.raises(SuiteError, match="is cancelled"):
            desk.act(act, "a1")
    proposed = open_desk()
    proposed.reach("offered")
    proposed.group.ledger.mission_state = "cancelled"
    outcome = proposed.do("work.accept_offer")
    assert isinstance(outcome, Refused)
    assert outcome.code == "INVALID_STATE_TRANSITION"


@pytest.mark.parametrize(
    ("act", "state"),
    [
        (ActKind.CANCEL_MISSION, "cancelled"),
        (ActKind.TERMINATE_MISSION, "failed"),
        (ActKind.APPROVE_MISSION, "approved"),
    ],
)
def test_a_snapshot_shows_how_the_mission_ended(desk, act: ActKind, state: str) -> None:
    desk.reach("verified")
    desk.act(act)
    told = snapshots.state_at(desk.group.ledger, len(desk.group.events))
    assert told["mission"]["state"] == state
    assert told["mission"]["revision"] == desk.group.ledger.mission_revision


def test_the_approval_of_a_child_verifies_its_work_item(desk, check_event) -> None:
    desk.reach("active")
    desk.act(ActKind.PROMOTE, "a1")
    assert desk.state() == "blocked"
    desk.act(ActKind.CHILD_APPROVED, "a1")
    assert desk.state() == "verified"
    check_event(desk.last, desk.registry)


def test_a_failed_child_leaves_its_work_item_blocked(desk, check_event) -> None:
    desk.reach("active")
    desk.act(ActKind.PROMOTE, "a1")
    desk.act(ActKind.CHILD_FAILED, "a1")
    assert desk.state() == "blocked"
    check_event(desk.last, desk.registry)
    with pytest.raises(SuiteError, match="child Mission"):
        desk.act(ActKind.UNBLOCK, "a1")


def test_an_indispensable_child_fails_its_work_item(desk, check_event) -> None:
    desk.reach("active")
    desk.act(ActKind.PROMOTE, "a1")
    desk.act(ActKind.CHILD_FAILED, "a1", indispensable=True)
    assert desk.state() == "failed"
    check_event(desk.last, desk.registry)


@pytest.mark.parametrize("act", [ActKind.CHILD_APPROVED, ActKind.CHILD_FAILED])
def test_only_promoted_work_has_a_child(desk, act: ActKind) -> None:
    desk.reach("blocked")
    with pytest.raises(SuiteError, match="no child Mission"):
        desk.act(act, "a1")


def test_who_was_fenced_by_a_promotion_submits_nothing(desk) -> None:
    desk.reach("active")
    payload = desk.payload_of("work.submit")
    desk.act(ActKind.PROMOTE, "a1")
    assert desk.send("work.submit", payload).code == "WORK_STALE_OWNERSHIP"
