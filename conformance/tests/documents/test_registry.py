"""Registry evidence: what makes it unusable, and which key it yields."""

import pytest
from attrs import evolve

from worker_conformance.documents.base64url import decode, encode
from worker_conformance.documents.registry import (
    Binding,
    KeyRefused,
    KeyRegistry,
    Principal,
    ResolvedKey,
    ValidityStatus,
    port_key,
)
from worker_conformance.documents.signing import SigningKey
from worker_conformance.documents.timestamps import parse

AGENT = Principal("agent", "urn:agent:1")
SERVICE = Principal("service", "urn:service:1")
FROM, MIDDLE, LATER = "2026-07-01T00:00:00Z", "2026-07-10T00:00:00Z", "2026-07-20T00:00:00Z"
ORGANIZATION = "urn:organization:1"


def binding(number: int, principal: Principal = AGENT, *history: ValidityStatus) -> Binding:
    key = SigningKey.from_seed(bytes([number]) * 32, f"urn:key:{number}", principal)
    return evolve(key.binding(FROM), history=history)


ONE, TWO = binding(1), binding(2, SERVICE)
UNUSABLE = [
    ("an Organization ID that is no URI", "organization", [ONE]),
    ("a key ID that is no URI", ORGANIZATION, [ONE, evolve(TWO, key_id="key")]),
    ("a key ID with a line feed", ORGANIZATION, [ONE, evolve(TWO, key_id="urn:key:2\n")]),
    ("a Principal that is no URI", ORGANIZATION, [evolve(TWO, principal=Principal("agent", "x"))]),
    ("a Principal of no type", ORGANIZATION, [evolve(TWO, principal=Principal("robot", "urn:x"))]),
    ("another algorithm", ORGANIZATION, [evolve(ONE, algorithm="Ed25519ph")]),
    ("a padded public key", ORGANIZATION, [evolve(ONE, public_key=ONE.public_key + "=")]),
    ("the identity as public key", ORGANIZATION, [evolve(ONE, public_key="AQ" + "A" * 41)]),
    ("a short public key", ORGANIZATION, [evolve(ONE, public_key="AQ")]),
    ("one key under two Principals", ORGANIZATION, [ONE, evolve(ONE, principal=SERVICE)]),
    ("one key ID with two keys", ORGANIZATION, [ONE, evolve(ONE, public_key=TWO.public_key)]),
    ("an alias", ORGANIZATION, [ONE, evolve(ONE, key_id="urn:key:alias")]),
    ("a later first validFrom", ORGANIZATION, [ONE, evolve(ONE, valid_from=MIDDLE)]),
    ("a validFrom outside the profile", ORGANIZATION, [evolve(ONE, valid_from="2026-07-01")]),
    ("a leap second", ORGANIZATION, [binding(1, AGENT, ValidityStatus(1, "2016-12-31T23:59:60Z"))]),
    (
        "a boundary moved later",
        ORGANIZATION,
        [binding(1, AGENT, ValidityStatus(1, FROM, MIDDLE), ValidityStatus(2, FROM, LATER))],
    ),
    (
        "a history out of order",
        ORGANIZATION,
        [binding(1, AGENT, ValidityStatus(2, FROM), ValidityStatus(1, FROM))],
    ),
]


@pytest.mark.parametrize(
    ("organization", "bindings"), [row[1:] for row in UNUSABLE], ids=[row[0] for row in UNUSABLE]
)
def test_one_bad_binding_anywhere_makes_every_key_fail(
    organization: str, bindings: list[Binding]
) -> None:
    registry = KeyRegistry(organization, (binding(9), *bindings))
    assert registry.fault
    assert registry.resolve("urn:key:9", AGENT, parse(MIDDLE)) == KeyRefused(registry.fault)


def test_the_same_binding_declared_again_is_the_same_binding() -> None:
    revoked = binding(1, AGENT, ValidityStatus(1, FROM, None, MIDDLE))
    registry = KeyRegistry(ORGANIZATION, (ONE, revoked, ONE))
    key = registry.resolve("urn:key:1", AGENT, parse(FROM))
    assert isinstance(key, ResolvedKey)
    assert key.revoked_at == parse(MIDDLE)


def test_a_key_is_resolved_for_its_own_principal_only() -> None:
    registry = KeyRegistry(ORGANIZATION, (ONE, TWO))
    assert isinstance(registry.resolve("urn:key:1", AGENT, parse(FROM)), ResolvedKey)
    assert isinstance(registry.resolve("urn:key:1", SERVICE, parse(FROM)), KeyRefused)
    assert isinstance(registry.resolve("urn:key:2", None, parse(FROM)), ResolvedKey)
    assert isinstance(registry.resolve("urn:key:1", None, parse(FROM)), KeyRefused)
    assert isinstance(registry.resolve("urn:key:3", AGENT, parse(FROM)), KeyRefused)


@pytest.mark.parametrize(
    ("history", "lawful", "unlawful"),
    [
        ([], [FROM, LATER], ["2026-06-30T23:59:59.999999999Z"]),
        ([ValidityStatus(1, FROM, MIDDLE)], ["2026-07-09T23:59:59.9Z"], [MIDDLE, LATER]),
        ([ValidityStatus(1, FROM, None, MIDDLE)], [FROM], [MIDDLE, "2026-07-10T08:00:00+08:00"]),
        (
            [ValidityStatus(1, FROM, LATER), ValidityStatus(2, FROM, None, MIDDLE)],
            [FROM],
            [MIDDLE],
        ),
        ([ValidityStatus(1, FROM, LATER), ValidityStatus(2, FROM, MIDDLE)], [FROM], [MIDDLE]),
    ],
)
def test_a_key_is_valid_from_its_start_until_just_before_its_end(
    history: list[ValidityStatus], lawful: list[str], unlawful: list[str]
) -> None:
    registry = KeyRegistry(ORGANIZATION, (binding(1, AGENT, *history),))
    for text in lawful:
        assert isinstance(registry.resolve("urn:key:1", AGENT, parse(text)), ResolvedKey), text
    for text in unlawful:
        assert isinstance(registry.resolve("urn:key:1", AGENT, parse(text)), KeyRefused), text


def test_the_port_carries_a_registry_and_back() -> None:
    ended = binding(1, AGENT, ValidityStatus(1, FROM, LATER), ValidityStatus(2, FROM, MIDDLE))
    entries = [port_key(ended), port_key(TWO)]
    registry = KeyRegistry.from_port({"organizationId": ORGANIZATION, "keys": [*entries]})
    direct = KeyRegistry(ORGANIZATION, (ended, TWO))
    for key_id in ("urn:key:1", "urn:key:2"):
        found = registry.resolve(key_id, AGENT if key_id == "urn:key:1" else SERVICE, parse(FROM))
        assert isinstance(found, ResolvedKey)
        assert found == direct.resolve(found.key_id, found.principal, parse(FROM))


def test_a_later_revision_declares_more() -> None:
    registry = KeyRegistry(ORGANIZATION, (ONE,)).with_bindings([TWO])
    assert isinstance(registry.resolve("urn:key:2", SERVICE, parse(FROM)), ResolvedKey)


@pytest.mark.parametrize("text", ["A", "AB", "A=", "AA==", "A+", "A/", "A A", "AA\n", "é", "AAB"])
def test_base64url_has_one_spelling(text: str) -> None:
    assert decode(text) is None


@pytest.mark.parametrize("content", [b"", b"\0", b"\xff\xfe", b"abc", bytes(range(256))])
def test_bytes_survive_base64url(content: bytes) -> None:
    assert decode(encode(content)) == content
