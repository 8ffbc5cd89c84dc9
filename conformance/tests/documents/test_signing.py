"""The six stages, each reached and each failed."""

import json
from collections.abc import Callable

import pytest

from worker_conformance.documents.base64url import encode
from worker_conformance.documents.errors import SigningKeyError
from worker_conformance.documents.json_types import JsonObject, object_at, text_at
from worker_conformance.documents.registry import KeyRegistry, Principal
from worker_conformance.documents.schemas import DocumentKind, problems
from worker_conformance.documents.signing import (
    Refused,
    SigningKey,
    Stage,
    Verified,
    sign,
    signing_bytes,
    verify,
)

AGENT = Principal("agent", "urn:agent:1")
KEY = SigningKey.from_seed(b"\1" * 32, "urn:key:1", AGENT)
OTHER = SigningKey.from_seed(b"\2" * 32, "urn:key:2", Principal("agent", "urn:agent:2"))
REGISTRY = KeyRegistry(
    "urn:organization:1",
    (KEY.binding("2026-07-01T00:00:00Z"), OTHER.binding("2026-07-01T00:00:00Z")),
)
COMMAND: JsonObject = {
    "protocolVersion": "0.1",
    "actionId": "urn:action:1",
    "actor": AGENT.to_json(),
    "kind": "work.start",
    "groupId": "urn:group:1",
    "sessionEpoch": 1,
    "membershipEpoch": 1,
    "correlationId": "urn:correlation:1",
    "issuedAt": "2026-07-15T00:00:00Z",
    "payload": {"signature": "protected", "note": "é"},
}


def signed(**changes: str) -> JsonObject:
    return sign(DocumentKind.COMMAND, {**COMMAND, **changes}, KEY)


def with_envelope(document: JsonObject, **changes: str) -> JsonObject:
    return {**document, "signature": {**object_at(document, "signature"), **changes}}


def with_signature_bytes(change: Callable[[bytes], bytes]) -> JsonObject:
    value = KEY.sign_bytes(signing_bytes(COMMAND))
    return with_envelope(signed(), value=encode(change(value)))


REFUSED: list[tuple[str, JsonObject, Stage]] = [
    ("no signature", COMMAND, Stage.SCHEMA),
    ("a member of another protocol", signed(extra="x"), Stage.SCHEMA),
    ("a leap second", signed(issuedAt="2016-12-31T23:59:60Z"), Stage.SCHEMA),
    ("an unknown offset", signed(issuedAt="2026-07-15T00:00:00-00:00"), Stage.SCHEMA),
    ("a lower-case z", signed(issuedAt="2026-07-15T00:00:00z"), Stage.ENVELOPE),
    ("an offset", signed(issuedAt="2026-07-15T00:00:00+00:00"), Stage.ENVELOPE),
    (
        "another createdAt, of the same instant",
        with_envelope(signed(), createdAt="2026-07-15T00:00:00.0Z"),
        Stage.ENVELOPE,
    ),
    ("a spelling with unused bits", with_envelope(signed(), value="AB"), Stage.ENVELOPE),
    ("half a signature", with_signature_bytes(lambda value: value[:32]), Stage.ENVELOPE),
    ("an S too large", with_signature_bytes(lambda v: v[:32] + b"\xff" * 32), Stage.ENVELOPE),
    (
        "an R off the curve",
        with_signature_bytes(lambda v: b"\2" + bytes(31) + v[32:]),
        Stage.ENVELOPE,
    ),
    ("an R of order four", with_signature_bytes(lambda v: bytes(32) + v[32:]), Stage.ENVELOPE),
    ("an unknown key", with_envelope(signed(), keyId="urn:key:9"), Stage.KEY),
    ("another's key", sign(DocumentKind.COMMAND, COMMAND, OTHER), Stage.KEY),
    ("a time before the key", signed(issuedAt="2026-06-30T23:59:59.999Z"), Stage.KEY),
    ("another payload", {**signed(), "payload": {"signature": "other"}}, Stage.SIGNATURE),
    ("an identity R", with_signature_bytes(lambda v: b"\1" + bytes(31) + v[32:]), Stage.SIGNATURE),
]


@pytest.mark.parametrize(
    ("document", "stage"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_a_fault_is_refused_at_its_own_stage(document: JsonObject, stage: Stage) -> None:
    outcome = verify(DocumentKind.COMMAND, document, REGISTRY)
    assert isinstance(outcome, Refused)
    assert outcome.stage is stage
    assert outcome.reason


RAW = [
    ("not JSON", b"{", Stage.PARSE, "PROTOCOL_VIOLATION"),
    ("not an object", b"[]", Stage.SCHEMA, "SCHEMA_VALIDATION_FAILED"),
]


@pytest.mark.parametrize(
    ("raw", "stage", "code"), [row[1:] for row in RAW], ids=[row[0] for row in RAW]
)
def test_bytes_are_parsed_strictly_first(raw: bytes, stage: Stage, code: str) -> None:
    outcome = verify(DocumentKind.COMMAND, raw, REGISTRY)
    assert isinstance(outcome, Refused)
    assert (outcome.stage, outcome.wire_code) == (stage, code)


def test_a_payload_outside_the_data_model_passes_stages_1_to_4_and_fails_stage_5() -> None:
    for inside in ('{"x": 1e999}', '{"x": "\\ud800"}', '{"\\udfff": 1}'):
        outcome = verify(DocumentKind.COMMAND, command_text(inside, "urn:key:1"), REGISTRY)
        assert isinstance(outcome, Refused)
        assert outcome.stage is Stage.CANONICALIZATION
        assert outcome.wire_code == "PROTOCOL_VIOLATION"


def test_an_earlier_fault_is_reported_before_a_data_model_fault() -> None:
    outcome = verify(DocumentKind.COMMAND, command_text('{"x": 1e999}', "urn:key:9"), REGISTRY)
    assert isinstance(outcome, Refused)
    assert outcome.stage is Stage.KEY


def test_an_infinite_number_where_the_schema_wants_another_is_a_schema_fault() -> None:
    text = command_text("{}", "urn:key:1").replace('"sessionEpoch": 1', '"sessionEpoch": 1e999')
    outcome = verify(DocumentKind.COMMAND, text, REGISTRY)
    assert isinstance(outcome, Refused)
    assert outcome.stage is Stage.SCHEMA


def test_a_signed_document_verifies_as_object_as_bytes_and_in_any_member_order() -> None:
    document = signed()
    backwards = {name: document[name] for name in reversed(document)}
    for form in (document, backwards, command_text(None, "urn:key:1").encode()):
        outcome = verify(DocumentKind.COMMAND, form, REGISTRY)
        assert isinstance(outcome, Verified)
        assert outcome.principal == AGENT
        assert outcome.signing_bytes == signing_bytes(COMMAND)
        assert outcome.signing_hash.startswith("sha256:")


def test_signing_keeps_the_document_and_repeats_its_time() -> None:
    document = signed()
    assert problems(DocumentKind.COMMAND, document) == ()
    assert text_at(document, "signature", "createdAt") == COMMAND["issuedAt"]
    assert "signature" not in COMMAND
    assert sign(DocumentKind.COMMAND, document, KEY) == document


def test_a_seed_of_another_length_makes_no_key() -> None:
    with pytest.raises(SigningKeyError, match="31 bytes"):
        SigningKey.from_seed(bytes(31), "urn:key:1", AGENT)


def test_a_key_does_not_show_its_secret() -> None:
    assert "rivate" not in repr(KEY)


def command_text(payload: str | None, key_id: str) -> str:
    text = json.dumps(with_envelope(signed(), keyId=key_id), indent=2)
    before, _, after = text.partition(
        json.dumps(COMMAND["payload"], indent=2).replace("\n", "\n  ")
    )
    return text if payload is None else before + payload + after
