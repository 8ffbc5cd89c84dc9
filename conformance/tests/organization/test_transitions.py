"""The transition table of PROTOCOL 10.2: every cell, as data and through the Group Authority."""

import pytest

from worker_conformance.errors import SuiteError
from worker_conformance.organization.outcomes import Accepted, Refused
from worker_conformance.organization.transitions import ALLOWED, State, Transition
from worker_conformance.scenario.model import ActKind, WorkPlan

STATES = tuple(state.value for state in State)

# A row is a transition, a column a state; a cell is the next state or nothing.
# none open offered queued active blocked submitted verified failed cancelled
GRID = """
AUTHORIZE       open .         .         .         .         .         .         .        .       .
OFFER           .    offered   offered   offered   offered   offered   .         .        offered .
ACCEPT_OFFER    .    .         queued    .         .         .         .         .        .       .
GRANT_EXECUTION .    .         .         queued    .         .         .         .        .       .
START           .    .         .         active    .         .         .         .        .       .
CHECKPOINT      .    .         .         .         queued    .         .         .        .       .
BLOCK           .    .         .         .         blocked   .         .         .        .       .
UNBLOCK         .    .         .         .         .         queued    .         .        .       .
UNBLOCK_UNOWNED .    .         .         .         .         open      .         .        .       .
SUBMIT          .    .         .         .         submitted .         .         .        .       .
ACCEPT_RESULT   .    .         .         .         .         .         verified  .        .       .
FAIL            .    failed    failed    failed    failed    failed    failed    .        .       .
CANCEL          .    cancelled cancelled cancelled cancelled cancelled cancelled .        .       .
CREATE_CHILD    .    blocked   blocked   blocked   blocked   blocked   .         .        .       .
CHILD_APPROVED  .    .         .         .         .         verified  .         .        .       .
CHILD_FAILED    .    .         .         .         .         blocked   .         .        .       .
CHILD_FAILED_INDISPENSABLE . . .         .         .         failed    .         .        .       .
MISSION_CANCELLED . cancelled cancelled cancelled cancelled cancelled cancelled . . .
MISSION_FAILED  .    failed    failed    failed    failed    failed    failed    .        .       .
"""
TABLE = {
    (state, row.split()[0]): target
    for row in GRID.strip().splitlines()
    for state, target in zip(STATES, row.split()[1:], strict=True)
}
SHORT_LIVED = WorkPlan("a1", "A", lease_seconds=60, ownership_seconds=120)
BESIDE_THE_TABLE = ("RENEW", "PUBLISH", "REVISE", "CHECKPOINT_OFFLINE")

WORKER_COMMANDS = {
    "work.accept_offer": "ACCEPT_OFFER",
    "work.start": "START",
    "work.checkpoint": "CHECKPOINT",
    "work.block": "BLOCK",
    "work.submit": "SUBMIT",
    "work.fail": "FAIL",
}
ACTS = {
    ActKind.AUTHORIZE: "AUTHORIZE",
    ActKind.GRANT: "GRANT_EXECUTION",
    ActKind.UNBLOCK: "UNBLOCK",
    ActKind.ACCEPT_RESULT: "ACCEPT_RESULT",
    ActKind.FAIL: "FAIL",
    ActKind.CANCEL: "CANCEL",
    ActKind.PROMOTE: "CREATE_CHILD",
}


@pytest.mark.parametrize("move", Transition, ids=lambda move: move.name)
@pytest.mark.parametrize("state", State, ids=lambda state: state.name)
def test_a_transition_leads_where_the_specification_says(state: State, move: Transition) -> None:
    target = ALLOWED.get((state, move))
    if move.name in BESIDE_THE_TABLE:
        assert target in (None, state)
    else:
        expected = TABLE[state.value, move.name]
        assert (target.value if target else ".") == expected


@pytest.mark.parametrize("kind", WORKER_COMMANDS)
@pytest.mark.parametrize("state", STATES)
def test_a_command_is_accepted_in_the_states_of_the_table_only(desk, state, kind) -> None:
    desk.reach(state)
    if kind == "work.submit" and state == "active":
        desk.done("artifact.publish")
    before, events = desk.view(), len(desk.group.events)
    outcome = desk.do(kind)
    target = TABLE[state, WORKER_COMMANDS[kind]]
    # An unowned item may fail only by the Coordinator's word.
    if target == "." or (kind == "work.fail" and state in ("open", "offered")):
        assert isinstance(outcome, Refused)
        assert desk.view() == before
        assert len(desk.group.events) == events
    else:
        assert isinstance(outcome, Accepted)
        assert desk.state() == target
        assert desk.view().revision == before.revision + 1


@pytest.mark.parametrize("kind", ACTS)
@pytest.mark.parametrize("state", STATES)
def test_an_act_happens_in_the_states_of_the_table_only(desk, state, kind) -> None:
    desk.reach(state)
    target = TABLE[state, ACTS[kind]]
    if target == ".":
        with pytest.raises(SuiteError, match=rf"a1 is {state}"):
            desk.act(kind, "a1")
    else:
        desk.act(kind, "a1")
        assert desk.state() == target


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", [ActKind.OFFER, ActKind.OFFER_BOTH, ActKind.OFFER_OTHER])
def test_work_is_offered_again_once_no_live_owner_is_left(open_desk, state, kind) -> None:
    desk = open_desk(SHORT_LIVED)
    desk.reach(state)
    desk.now = 1_000  # every lease of the plan has run out
    if TABLE[state, "OFFER"] == ".":
        with pytest.raises(SuiteError):
            desk.act(kind, "a1")
    else:
        desk.act(kind, "a1")
        assert desk.state() == "offered"
        assert "owner" not in desk.last["payload"]["workItem"]


@pytest.mark.parametrize("state", ["queued", "active", "blocked"])
def test_work_with_a_live_owner_cannot_be_offered(desk, state) -> None:
    desk.reach(state)
    with pytest.raises(SuiteError, match="owner whose leases still run"):
        desk.act(ActKind.OFFER_OTHER, "a1")


@pytest.mark.parametrize("kind", [ActKind.CANCEL_MISSION, ActKind.TERMINATE_MISSION])
@pytest.mark.parametrize("state", STATES[1:])
def test_the_end_of_a_mission_ends_unfinished_work(desk, state, kind) -> None:
    desk.reach(state)
    desk.act(kind)
    move = "MISSION_CANCELLED" if kind is ActKind.CANCEL_MISSION else "MISSION_FAILED"
    target = TABLE[state, move]
    changed = [item["workItemId"] for item in desk.last["payload"]["workItems"]]
    assert desk.state() == (state if target == "." else target)
    assert changed == ([] if target == "." else [desk.work_id()])


def test_unblocking_after_the_blocked_lease_has_run_out_opens_the_work_again(desk) -> None:
    desk.reach("blocked")
    desk.now = 2 * 86_400
    desk.act(ActKind.UNBLOCK, "a1")
    assert desk.state() == "open"
