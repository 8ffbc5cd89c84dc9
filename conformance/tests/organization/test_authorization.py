"""Capability tokens: when they are issued, what they are bound to, when they are revoked."""

import pytest

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.errors import SuiteError
from worker_conformance.organization.authorization import EFFECTS, allowed_effects
from worker_conformance.port.messages import check_stimulus
from worker_conformance.scenario.clock import text_of
from worker_conformance.scenario.model import ActKind, SetPolicy, WorkPlan
from worker_conformance.scenario.surroundings import ChangeToken

SECOND = 1_000_000


def news(desk, position: int | None = None) -> tuple[JsonObject, ...]:
    reached = len(desk.group.events) if position is None else position
    return desk.organization.token_news(lambda: {"A": reached}, desk.micros)


def external(**members: object) -> WorkPlan:
    return WorkPlan("a1", "A", risk="external", external_side_effect_limit=5, **members)


def test_work_without_effects_gets_no_token(desk) -> None:
    desk.reach("active")
    assert news(desk) == ()


def test_started_work_gets_one_token_bound_to_its_lease(open_desk) -> None:
    desk = open_desk(external())
    desk.reach("queued")
    assert news(desk) == ()
    desk.done("work.start")
    (told,) = news(desk)
    lease = desk.group.ledger.item("a1").owner.execution
    token = told["token"]
    assert token["leaseId"] == lease.lease_id
    assert token["agentId"] == desk.start["agent"]["agentId"]
    assert (token["sessionEpoch"], token["ownershipEpoch"]) == (1, 1)
    assert token["workItemId"] == desk.work_id()
    assert token["operations"] == ["reversible", "external"]
    assert token["budget"]["externalSideEffectLimit"] == 5
    assert token["expiresAt"] == text_of(lease.expires_at)
    check_stimulus({**told, "now": text_of(0)})
    assert news(desk) == ()


def test_a_token_follows_the_fact_of_its_lease(open_desk) -> None:
    desk = open_desk(external())
    desk.reach("active")
    started = len(desk.group.events)
    assert news(desk, started - 1) == ()
    assert desk.organization.token_news(dict, 0) == ()
    assert len(news(desk, started)) == 1


def test_a_renewed_lease_brings_a_further_token(open_desk) -> None:
    desk = open_desk(external())
    desk.reach("active")
    (first,) = news(desk)
    desk.now = 100
    desk.done(desk.organization.renewal_kind)
    (second,) = news(desk)
    assert second["token"]["expiresAt"] > first["token"]["expiresAt"]
    assert second["token"]["leaseId"] == first["token"]["leaseId"]
    assert second["token"]["tokenId"] != first["token"]["tokenId"]


def test_a_token_is_withheld_until_its_gate_is_open(open_desk) -> None:
    desk = open_desk(external(approval="policy_required"))
    desk.reach("active")
    desk.organization.set_policy(SetPolicy(work={"a1": {"approval": "required"}}))
    assert news(desk) == ()
    desk.organization.set_policy(SetPolicy(work={"a1": {"approval": "not_required"}}))
    assert len(news(desk)) == 1


@pytest.mark.parametrize("end", ["cancel", "fail", "promote"])
def test_a_token_is_revoked_with_its_lease(open_desk, end: str) -> None:
    desk = open_desk(external())
    desk.reach("active")
    (told,) = news(desk)
    desk.act(ActKind(end), "a1")
    assert news(desk) == ({"type": "token_revoked", "tokenId": told["token"]["tokenId"]},)
    assert news(desk) == ()


def test_a_token_that_ran_out_is_not_revoked(open_desk) -> None:
    desk = open_desk(external())
    desk.reach("active")
    news(desk)
    desk.now = 1_000
    desk.act(ActKind.CANCEL, "a1")
    assert news(desk) == ()


def test_nobody_tells_a_new_runtime_of_old_tokens(open_desk) -> None:
    desk = open_desk(external())
    desk.reach("active")
    news(desk)
    desk.organization.open_session(0)
    assert news(desk) == ()


def test_a_reconnect_revokes_what_the_runtime_still_holds(open_desk) -> None:
    desk = open_desk(external())
    desk.reach("active")
    (told,) = news(desk)
    desk.organization.reopen_session(0)
    assert [one["tokenId"] for one in news(desk)] == [told["token"]["tokenId"]]


def test_a_scenario_can_narrow_and_shorten_a_token(open_desk) -> None:
    desk = open_desk(external(token="manual"))  # noqa: S106 - who issues tokens, not a secret
    desk.reach("active")
    assert news(desk) == ()
    step = ChangeToken("a1", operations=("reversible",), expires_seconds=10)
    (told,) = desk.organization.change_token(step, 0)
    assert told["token"]["operations"] == ["reversible"]
    assert told["token"]["expiresAt"] == text_of(10 * SECOND)
    (gone,) = desk.organization.change_token(ChangeToken("a1", revoked=True), 0)
    assert gone == {"type": "token_revoked", "tokenId": told["token"]["tokenId"]}


MEMBERS = {
    "agent": "agentId",
    "session": "sessionEpoch",
    "work": "workItemId",
    "epoch": "ownershipEpoch",
    "lease": "leaseId",
}


@pytest.mark.parametrize(("wrong", "member"), MEMBERS.items())
def test_a_misfit_differs_in_one_binding(open_desk, wrong: str, member: str) -> None:
    desk = open_desk(external())
    desk.reach("active")
    (good,) = news(desk)
    (bad,) = desk.organization.change_token(ChangeToken("a1", wrong=wrong), 0)
    apart = {name for name in good["token"] if good["token"][name] != bad["token"][name]}
    assert apart == {"tokenId", member}
    check_stimulus({**bad, "now": text_of(0)})


def test_no_token_binds_to_work_that_does_not_run(open_desk) -> None:
    desk = open_desk(external())
    desk.reach("queued")
    with pytest.raises(SuiteError, match="no lease"):
        desk.organization.change_token(ChangeToken("a1"), 0)


def test_a_tokens_secret_is_among_what_must_never_leave(open_desk) -> None:
    desk = open_desk(external())
    desk.reach("active")
    (told,) = news(desk)
    assert any(secret in told["secret"] for secret in desk.organization.secrets()["A"])


def test_a_tokens_budget_is_what_contract_and_mission_leave(open_desk) -> None:
    desk = open_desk(external(budget={"tool_calls": 9}), budget={"tool_calls": 7})
    desk.reach("active")
    usage = desk.lease_payload(usageDelta={"toolCalls": 4})
    desk.send("ext.missionweaveprotocol.core.resource_usage_record", usage)
    (told,) = news(desk)
    assert told["token"]["budget"]["toolCallLimit"] == 3


def test_a_risk_allows_itself_and_what_is_less() -> None:
    assert [len(allowed_effects(risk)) for risk in EFFECTS] == [1, 2, 3, 4]
    assert allowed_effects("none") == ("reversible",)
