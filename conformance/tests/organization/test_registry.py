"""The registry around a Worker: keys that change, Agent Cards, sessions, subscriptions."""

import pytest

from worker_conformance.documents import base64url, signing
from worker_conformance.documents.ed25519 import (
    FIELD_PRIME,
    GROUP_ORDER,
    IDENTITY,
    decode_point,
    is_identity,
    multiply,
    public_key_fault,
)
from worker_conformance.documents.registry import KeyRegistry
from worker_conformance.documents.schemas import DocumentKind, problems
from worker_conformance.documents.signing import Refused, Verified
from worker_conformance.errors import SuiteError
from worker_conformance.organization.outcomes import Accepted
from worker_conformance.organization.points import POINTS
from worker_conformance.scenario import around
from worker_conformance.scenario.model import ActKind, Scenario
from worker_conformance.scenario.surroundings import ChangeKeys, RegisterCard

SECOND = 1_000_000
AUTHORITY = "group-authority"


def change(desk, what: str, role: str) -> KeyRegistry:
    """Change the registry, and read it as the Worker gets it."""
    told = desk.organization.change_keys(ChangeKeys(what, role), desk.micros)
    organization = {**desk.organization.organization(), **told}
    return KeyRegistry.from_port(organization)


def test_after_a_rotation_the_new_key_signs_and_the_old_one_no_longer(desk) -> None:
    desk.reach("open")
    before = desk.last
    desk.now = 10
    registry = change(desk, "rotate", AUTHORITY)
    desk.now = 20
    desk.act(ActKind.OFFER, "a1")
    assert before["signature"]["keyId"] != desk.last["signature"]["keyId"]
    for event in (before, desk.last):
        assert isinstance(signing.verify(DocumentKind.EVENT, event, registry), Verified)
    forged = desk.group.forge(len(desk.group.events), "retired_key")
    assert isinstance(signing.verify(DocumentKind.EVENT, forged, registry), Refused)


def test_a_key_rotates_more_than_once(desk) -> None:
    desk.reach("open")
    seen = {desk.last["signature"]["keyId"]}
    for second in (10, 20):
        desk.now = second
        registry = change(desk, "rotate", AUTHORITY)
        desk.act(ActKind.MESSAGE)
        seen.add(desk.last["signature"]["keyId"])
    assert len(seen) == 3
    for event in desk.group.events:
        assert isinstance(signing.verify(DocumentKind.EVENT, event, registry), Verified)


def test_without_a_rotation_there_is_no_retired_key(desk) -> None:
    desk.reach("open")
    with pytest.raises(SuiteError, match="never rotated"):
        desk.group.forge(1, "retired_key")


def test_a_revoked_key_is_good_for_what_came_before(desk) -> None:
    desk.now = 10
    desk.reach("queued")
    desk.act(ActKind.GRANT, "a1")
    early = desk.last["payload"]["approval"]
    desk.now = 20
    registry = change(desk, "revoke", "approver")
    desk.act(ActKind.GRANT, "a1")
    late = desk.last["payload"]["approval"]
    assert isinstance(signing.verify(DocumentKind.APPROVAL, early, registry), Verified)
    assert isinstance(signing.verify(DocumentKind.APPROVAL, late, registry), Refused)


def test_who_lost_a_role_is_no_longer_named(desk) -> None:
    told = desk.organization.change_keys(ChangeKeys("deauthorize", "archive"), 0)
    assert told["authorized"]["archival"] == []
    assert len(told["authorized"]["eventAuthority"]) == 1


def test_a_spoiled_registry_is_shown_to_the_worker_alone(desk) -> None:
    registry = change(desk, "spoil", "rival")
    assert registry.fault is not None
    desk.reach("offered")
    assert isinstance(desk.do("work.accept_offer"), Accepted)


@pytest.mark.parametrize("what", ["alias", "lend", "rebind"])
def test_what_is_unique_in_a_registry_can_be_broken_for_the_worker_alone(desk, what: str) -> None:
    assert change(desk, what, "coordinator").fault is not None
    desk.reach("offered")
    assert isinstance(desk.do("work.accept_offer"), Accepted)


def test_a_binding_that_is_declared_twice_is_one_binding(desk) -> None:
    assert change(desk, "repeat", AUTHORITY).fault is None


def told_of(desk, point: str) -> KeyRegistry:
    told = desk.organization.change_keys(ChangeKeys("bind", "rival", point), desk.micros)
    return KeyRegistry.from_port({**desk.organization.organization(), **told})


@pytest.mark.parametrize("point", POINTS)
def test_half_of_the_points_are_public_keys(desk, point: str) -> None:
    lawful = point in {"base_point", "negative_base_point", "largest", "smallest"}
    assert (told_of(desk, point).fault is None) is lawful
    octets = base64url.decode(POINTS[point])
    assert octets is not None
    assert (public_key_fault(octets) is None) is lawful


def test_a_point_breaks_one_part_of_the_rule() -> None:
    points = {name: decode_point(base64url.decode(text) or b"") for name, text in POINTS.items()}
    assert points["off_curve"] is points["unreduced_identity"] is None
    assert points["identity"] == IDENTITY
    mixed = points["mixed_order"]
    assert mixed is not None
    assert not is_identity(multiply(8, mixed))
    assert not is_identity(multiply(GROUP_ORDER, mixed))
    assert is_identity(multiply(2 * GROUP_ORDER, mixed))


def test_no_other_key_lies_beyond_the_largest_and_the_smallest() -> None:
    beyond = [*range(26), *(FIELD_PRIME - less for less in range(1, 9))]
    for y in beyond:
        for sign in (0, 1 << 255):
            assert public_key_fault((y | sign).to_bytes(32, "little")) is not None


def test_what_a_vector_can_name_is_what_there_is() -> None:
    assert tuple(POINTS) == around.POINTS


def test_a_change_in_one_world_does_not_reach_another_of_the_same_seed(open_desk) -> None:
    change(open_desk(), "rotate", AUTHORITY)
    desk = open_desk()
    desk.reach("open")
    assert isinstance(signing.verify(DocumentKind.EVENT, desk.last, desk.registry), Verified)


@pytest.mark.parametrize("signer", ["card-issuer", "outsider"])
def test_a_registered_card_is_a_signed_document_in_an_event(desk, signer: str) -> None:
    event = desk.organization.register_card(RegisterCard(4, signer), 0)
    assert problems(DocumentKind.EVENT, event) == ()
    assert isinstance(signing.verify(DocumentKind.EVENT, event, desk.registry), Verified)
    card = event["payload"]["agentCard"]
    assert problems(DocumentKind.AGENT_CARD, card) == ()
    outcome = signing.verify(DocumentKind.AGENT_CARD, card, desk.registry)
    assert isinstance(outcome, Verified)  # an outsider's key is good; it lacks the authority
    authorized = desk.organization.organization()["authorized"]["cardIssuer"]
    assert (outcome.key.principal.id in authorized) is (signer == "card-issuer")
    assert card["cardVersion"] == 4


def test_offers_and_sessions_after_a_new_card_name_it(desk) -> None:
    desk.organization.register_card(RegisterCard(4), 0)
    desk.reach("queued")
    assert desk.last["payload"]["workItem"]["owner"]["agentCardVersion"] == 4
    assert desk.organization.open_session(0)["agent"]["agentCardVersion"] == 4


def test_a_replaced_session_fences_the_one_at_hand(desk) -> None:
    desk.reach("active")
    desk.organization.replace_session(0)
    event = desk.organization.session_opened_event(0)
    assert problems(DocumentKind.EVENT, event) == ()
    assert event["payload"]["sessionEpoch"] == 2
    stale = desk.send("work.checkpoint", desk.payload_of("work.checkpoint"), sessionEpoch=1)
    assert stale.code == "AUTH_STALE_SESSION"
    assert desk.state() == "queued"


def test_a_group_that_is_not_joined_is_missing_until_it_is(open_desk) -> None:
    desk = open_desk(joined=False)
    assert [one["groupId"] for one in desk.start["groups"]] != [desk.group.group_id]
    assert len(desk.start["groups"]) == 1
    joined = desk.organization.join("A")
    assert joined["group"]["groupId"] == desk.group.group_id
    assert len(desk.organization.open_session(0)["groups"]) == 2
    assert desk.organization.leave("A") == {"groupId": desk.group.group_id}
    assert len(desk.organization.reopen_session(0)["memberships"]) == 1


def test_scenarios_are_untouched_by_what_happens_in_them(open_desk) -> None:
    desk = open_desk()
    desk.organization.register_card(RegisterCard(9), 0)
    scenario: Scenario = desk.scenario
    assert scenario.agent.card_version == 3
