"""Our verification agrees with every evaluation of the normative cryptography bundle."""

from pathlib import Path

from worker_conformance.documents.base64url import decode
from worker_conformance.documents.canonical import canonical, sha256_bytes, sha256_of
from worker_conformance.documents.json_types import (
    JsonObject,
    JsonValue,
    find,
    list_at,
    object_at,
    text_at,
)
from worker_conformance.documents.registry import KeyRegistry, Principal
from worker_conformance.documents.schemas import DocumentKind
from worker_conformance.documents.signing import (
    PROFILES,
    AgentMember,
    AnyService,
    PrincipalMember,
    Refused,
    SigningKey,
    Verified,
    sign,
    verify,
)
from worker_conformance.documents.strict_json import parse


def test_every_evaluation_ends_at_its_stage_with_its_wire_code(normative: Path) -> None:
    evaluations = [one for one in all_evaluations(normative) if "document" in one]
    for evaluation in evaluations:
        outcome = verified(normative, evaluation)
        expected = object_at(evaluation, "expect")
        where = f"{text_at(evaluation, 'document')} with {text_at(evaluation, 'registry')}"
        if isinstance(outcome, Refused):
            assert outcome.stage.value == expected["stage"], f"{where}: {outcome}"
            assert outcome.wire_code == expected["wireCode"], f"{where}: {outcome}"
        else:
            assert expected["stage"] == "complete", f"{where}: should be refused"
    assert len(evaluations) >= 60


def test_what_is_verified_has_the_same_bytes_hashes_key_and_signer(normative: Path) -> None:
    kinds = set()
    for evaluation in all_evaluations(normative):
        facts = find(evaluation, "expect", "verified")
        if facts is None:
            continue
        outcome = verified(normative, evaluation)
        assert isinstance(outcome, Verified)
        assert outcome.key.key_id == text_at(facts, "keyId")
        assert outcome.principal == Principal.of(object_at(facts, "principal"))
        assert outcome.protected_time == text_at(facts, "protectedTime")
        assert outcome.signing_bytes == (normative / text_at(facts, "signingBytes")).read_bytes()
        assert outcome.signing_hash == text_at(facts, "signingHash")
        assert sha256_of(outcome.document) == text_at(facts, "signedDocumentHash")
        kinds.add(outcome.kind)
    assert kinds == set(PROFILES)


def test_signing_again_gives_the_same_signatures(normative: Path) -> None:
    for evaluation in all_evaluations(normative):
        facts = find(evaluation, "expect", "verified")
        if facts is None:
            continue
        fixture = read(normative, text_at(evaluation, "signingKey"))
        seed = decode(text_at(fixture, "seed"))
        assert seed is not None
        principal = Principal.of(object_at(facts, "principal"))
        key = SigningKey.from_seed(seed, text_at(fixture, "keyId"), principal)
        document = object_at(read(normative, text_at(evaluation, "document")))
        unsigned = {name: value for name, value in document.items() if name != "signature"}
        signed = sign(DocumentKind(text_at(evaluation, "profileId")), unsigned, key)
        assert signed == document
        assert text_at(signed, "signature", "value") == text_at(facts, "signature")


def test_canonical_bytes_are_those_of_the_canonicalization_vectors(normative: Path) -> None:
    found = [one for one in all_evaluations(normative) if "expectedJcs" in one]
    for evaluation in found:
        content = canonical(read(normative, text_at(evaluation, "input")))
        assert content == (normative / text_at(evaluation, "expectedJcs")).read_bytes()
        assert sha256_bytes(content) == text_at(evaluation, "sha256")
    assert found


def test_the_nine_profiles_name_the_same_time_and_signer(normative: Path) -> None:
    manifest = read(normative, "cryptography/manifest.json")
    stated = {text_at(one, "profileId"): one for one in list_at(manifest, "profiles")}
    assert stated.keys() == {kind.value for kind in PROFILES}
    for kind, profile in PROFILES.items():
        theirs = stated[kind.value]
        assert text_at(theirs, "protectedTimePointer") == f"/{profile.protected_time}"
        signer = object_at(theirs, "expectedSigner")
        match profile.signer:
            case PrincipalMember(name):
                assert signer == {"rule": "principal-object", "pointer": f"/{name}"}
            case AgentMember(path):
                assert signer == {"rule": "agent-id", "idPointer": "/" + "/".join(path)}
            case AnyService():
                assert signer == {"rule": "service-principal"}


def all_evaluations(normative: Path) -> list[JsonObject]:
    cases = list_at(read(normative, "cryptography/manifest.json"), "cases")
    return [object_at(one) for case in cases for one in list_at(case, "evaluations")]


def verified(normative: Path, evaluation: JsonObject) -> Verified | Refused:
    registry = KeyRegistry.from_fixture(object_at(read(normative, text_at(evaluation, "registry"))))
    raw = (normative / text_at(evaluation, "document")).read_bytes()
    return verify(DocumentKind(text_at(evaluation, "profileId")), raw, registry)


def read(normative: Path, path: str) -> JsonValue:
    return parse((normative / path).read_bytes())
