"""What keeps a Command waiting or out: backpressure, freshness, guidance, budgets, contracts."""

import pytest

from worker_conformance.documents.schemas import DocumentKind, problems
from worker_conformance.organization.outcomes import Accepted
from worker_conformance.scenario.clock import text_of
from worker_conformance.scenario.model import Answer, SetPolicy, WorkPlan
from worker_conformance.scenario.plans import PARTS

SECOND = 1_000_000
USAGE = "ext.missionweaveprotocol.core.resource_usage_record"


def test_a_group_under_backpressure_takes_nothing_until_it_is_over(desk) -> None:
    desk.reach("offered")
    error = desk.organization.press_back("A", 30 * SECOND, 0)
    assert problems(DocumentKind.ERROR, error) == ()
    assert (error["code"], error["retryAfterMs"], error["retryable"]) == (
        "BACKPRESSURE",
        30_000,
        True,
    )
    desk.now = 10
    refused = desk.do("work.accept_offer")
    assert (refused.code, refused.error["retryAfterMs"]) == ("BACKPRESSURE", 20_000)
    assert problems(DocumentKind.ERROR, refused.error) == ()
    desk.now = 30
    assert isinstance(desk.do("work.accept_offer"), Accepted)


def test_the_same_bytes_succeed_after_backpressure(desk) -> None:
    desk.reach("offered")
    desk.organization.press_back("A", 30 * SECOND, 0)
    frame = desk.command("work.accept_offer", desk.payload_of("work.accept_offer"))
    assert desk.receive(frame).code == "BACKPRESSURE"
    desk.now = 30
    assert isinstance(desk.receive(frame), Accepted)


@pytest.mark.parametrize(("issued", "fresh"), [(40, True), (39, False), (160, True), (161, False)])
def test_a_new_command_is_issued_within_the_window(desk, issued: int, fresh: bool) -> None:  # noqa: FBT001 - a table's column
    desk.reach("offered")
    desk.organization.set_freshness(60 * SECOND)
    desk.now = 100
    payload = desk.payload_of("work.accept_offer")
    outcome = desk.send("work.accept_offer", payload, issuedAt=text_of(issued * SECOND))
    assert isinstance(outcome, Accepted) is fresh
    if not fresh:
        assert outcome.code == "AUTH_INVALID_SIGNATURE"


def test_freshness_goes_by_the_wall_clock(desk) -> None:
    desk.reach("offered")
    desk.organization.set_freshness(60 * SECOND)
    desk.organization.set_clock(3_600 * SECOND)
    payload = desk.payload_of("work.accept_offer")
    assert desk.send("work.accept_offer", payload).code == "AUTH_INVALID_SIGNATURE"
    stamped = desk.send("work.accept_offer", payload, issuedAt=text_of(3_600 * SECOND))
    assert isinstance(stamped, Accepted)


def test_an_accepted_command_may_be_repeated_however_old(desk) -> None:
    desk.reach("offered")
    desk.organization.set_freshness(60 * SECOND)
    frame = desk.command("work.accept_offer", desk.payload_of("work.accept_offer"))
    first = desk.receive(frame)
    desk.now = 1_000
    assert desk.receive(frame).events == tuple(one.event for one in first.appended)


@pytest.mark.parametrize(
    ("answer", "retryable", "after"),
    [
        (Answer("work.start", "RATE_LIMITED"), True, 1_000),
        (Answer("work.start", "INTERNAL_ERROR"), True, 1_000),
        (Answer("work.start", "BACKPRESSURE", retry_after_seconds=30), True, 30_000),
        (Answer("work.start", "INVALID_COMMAND", retryable=True), True, 1_000),
        (Answer("work.start", "AUTH_STALE_COORDINATOR"), False, None),
        (Answer("work.start", "INVALID_STATE_TRANSITION"), False, None),
    ],
    ids=lambda value: getattr(value, "code", None),
)
def test_a_scripted_refusal_carries_its_guidance(desk, answer, retryable, after) -> None:
    desk.reach("queued")
    desk.organization.script_answer(answer)
    refused = desk.do("work.start")
    assert refused.code == answer.code
    assert refused.error["retryable"] is retryable
    assert refused.error.get("retryAfterMs") == after
    assert problems(DocumentKind.ERROR, refused.error) == ()


@pytest.mark.parametrize("part", PARTS)
def test_a_contract_that_lacks_a_part_cannot_be_accepted(open_desk, part: str) -> None:
    desk = open_desk(WorkPlan("a1", "A", lacks=part))
    desk.reach("offered")
    contract = desk.last["payload"]["workItem"]["contract"]
    assert problems(DocumentKind.WORK_CONTRACT, contract) != ()
    assert problems(DocumentKind.EVENT, desk.last) == ()
    assert desk.do("work.accept_offer").code == "WORK_CONTRACT_INCOMPLETE"


def test_usage_is_charged_to_the_mission_as_well(open_desk) -> None:
    plans = (WorkPlan("a1", "A", budget={"tool_calls": 5}), WorkPlan("a2", "A"))
    desk = open_desk(*plans, budget={"tool_calls": 6})
    for work in ("a1", "a2"):
        desk.reach("active", work)
    policy = desk.organization.policy()["remainingBudget"]
    assert policy == {desk.group.group_id: {"toolCallLimit": 6}}
    first = desk.send(USAGE, desk.lease_payload("a1", usageDelta={"toolCalls": 4}))
    assert first.appended[0].event["payload"]["remainingBudget"]["toolCalls"] == 1
    over = desk.send(USAGE, desk.lease_payload("a2", usageDelta={"toolCalls": 3}))
    assert over.code == "BUDGET_EXCEEDED"
    rest = desk.send(USAGE, desk.lease_payload("a2", usageDelta={"toolCalls": 2}))
    assert isinstance(rest, Accepted)
    none = desk.send(USAGE, desk.lease_payload("a1", usageDelta={"toolCalls": 1}))
    assert none.code == "BUDGET_EXCEEDED"


def test_policy_says_cards_capabilities_and_what_is_left(desk) -> None:
    policy = desk.organization.set_policy(
        SetPolicy(
            cards={"4": "incompatible"},
            capabilities={"acme.build": "unavailable"},
            remaining={"A": {"tool_calls": 0}},
        )
    )
    assert policy["cardUpgrades"] == {"4": "incompatible"}
    assert policy["capabilityAvailability"] == {"acme.build": "unavailable"}
    assert policy["remainingBudget"] == {desk.group.group_id: {"toolCallLimit": 0}}
