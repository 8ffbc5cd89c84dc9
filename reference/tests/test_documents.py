"""Sections 2 and 6.4: JSON, canonical bytes, timestamps, keys, signatures."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reference_worker.documents import (
    DocumentError,
    canonical,
    decode_base64url,
    is_valid,
    parse,
    sha256,
)
from reference_worker.instants import duration, exact, is_timestamp, micros, spell
from reference_worker.signatures import KeyRing, strict_public_key

NORMATIVE = os.environ.get("WORKER_CONFORMANCE_NORMATIVE")
needs_normative = pytest.mark.skipif(
    NORMATIVE is None, reason="WORKER_CONFORMANCE_NORMATIVE names no folder"
)


@pytest.mark.parametrize(
    "text",
    ["2026-07-15T00:00:00Z", "2026-07-15t08:00:00.1230+08:00", "0001-01-01T00:00:00z"],
)
def test_timestamps_of_the_profile_are_accepted(text: str) -> None:
    assert is_timestamp(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-07-15T00:00:60Z",
        "0000-01-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-07-15T00:00:00-00:00",
        "2026-07-15T24:00:00Z",
        "2026-07-15 00:00:00Z",
        "2026-07-15T00:00:00.Z",
        "2026-07-15T00:00:00Z\n",
        "\uff12026-07-15T00:00:00Z",
    ],
)
def test_other_spellings_are_no_timestamps(text: str) -> None:
    assert not is_timestamp(text)


def test_instants_compare_exactly_whatever_the_spelling() -> None:
    assert exact("2026-07-15T08:00:00.10+08:00") == exact("2026-07-15T00:00:00.1Z")
    assert exact("2026-07-15T00:00:00.0000000009Z") < exact("2026-07-15T00:00:00.000000001Z")
    assert spell(micros("2026-07-15T00:00:00.250000Z")) == "2026-07-15T00:00:00.25Z"


def test_durations_are_exact() -> None:
    assert duration("P1DT2H3M4.5S") == ((26 * 60 + 3) * 60 + 4) * 1_000_000 + 500_000


@pytest.mark.parametrize(
    "value",
    [
        {
            "b": [1, 2.5, 1e30, "é\u2028\x1f\\"],
            "a": {"\u20ac": None, "\U0001f600": True, "\ufb33": 0},
        },
        {"plain": ["text\t\n", 1, True, None, {"z": 1, "A": 2}]},
        [25.0, -0.0, 1e-7, 10**20, 333333333.33333329],
    ],
)
def test_canonical_bytes_agree_with_the_library(value: Any) -> None:
    import rfc8785

    floats = json.loads(json.dumps(value), parse_int=lambda text: float(text))
    assert canonical(value) == rfc8785.dumps(floats)


@pytest.mark.parametrize("value", [float("inf"), "\ud800", {"\ud800": 1}])
def test_values_outside_the_model_have_no_canonical_bytes(value: Any) -> None:
    with pytest.raises(DocumentError, match="PROTOCOL_VIOLATION"):
        canonical(value)


@pytest.mark.parametrize("raw", [b"{}x", b'{"a":1,"\\u0061":2}', b"NaN", b"", b'"\xff"'])
def test_what_is_not_one_strict_value_is_refused(raw: bytes) -> None:
    with pytest.raises(DocumentError):
        parse(raw)


@pytest.mark.parametrize("text", ["YQ==", "YR", "Y", "Y+", "YQ\n"])
def test_base64url_has_one_spelling(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decode_base64url(text)


@pytest.mark.parametrize(
    "encoded",
    [
        b"\x01" + bytes(31),  # the identity
        bytes(32),  # small order
        b"\x01" + bytes(30) + b"\x80",  # negative zero
        b"\xed" + b"\xff" * 30 + b"\x7f",  # y equals p
        b"\x02" + bytes(31),  # off the curve
        bytes(31),
    ],
)
def test_weak_and_noncanonical_public_keys_are_refused(encoded: bytes) -> None:
    from reference_worker.documents import encode_base64url

    with pytest.raises(ValueError, match=r".+"):
        strict_public_key(encode_base64url(encoded))


SCHEMAS = {
    "event": "event",
    "work-contract": "contract",
    "work-item": "workItem",
    "lease": "lease",
    "membership": "membership",
    "approval": "approval",
    "artifact": "artifact",
    "evidence": "evidence",
    "error": "error",
    "presence-record": "presence",
    "group-snapshot": "snapshot",
    "agent-card": "agentCard",
}


@needs_normative
def test_our_schemas_agree_with_the_normative_structural_vectors() -> None:
    base = Path(str(NORMATIVE))
    judged = 0
    for vector in json.loads((base / "conformance/manifest.json").read_text()):
        kind = SCHEMAS.get(Path(vector["schema"]).name.removesuffix(".schema.json"))
        if kind is not None:
            document = json.loads((base / vector["instance"]).read_text())
            assert is_valid(kind, document) == vector["valid"], vector["name"]
            judged += 1
    assert judged >= 25


def evaluations() -> Iterator[Any]:
    if NORMATIVE is None:
        return
    manifest = json.loads((Path(NORMATIVE) / "cryptography/manifest.json").read_text())
    profiles = {profile["profileId"]: profile for profile in manifest["profiles"]}
    for case in manifest["cases"]:
        for number, evaluation in enumerate(case["evaluations"]):
            if evaluation.get("profileId") in (*SCHEMAS, "command"):
                profile = profiles[evaluation["profileId"]]
                yield pytest.param(evaluation, profile, id=f"{case['id']}-{number}")


def judge(evaluation: Any, profile: Any) -> str:
    base = Path(str(NORMATIVE))
    registry = json.loads((base / evaluation["registry"]).read_text())
    records = [
        {**{k: v for k, v in binding.items() if k != "validityHistory"}, **status}
        for binding in registry["bindings"]
        for status in binding.get("validityHistory") or [{}]
    ]
    document: Any = parse((base / evaluation["document"]).read_bytes())
    signer = profile["expectedSigner"]
    principal: Any = None
    if signer["rule"] == "principal-object":
        named = document[signer["pointer"][1:]]
        principal = (named["type"], named["id"])
    elif signer["rule"] == "agent-id":
        principal = ("agent", document["producer"]["agentId"])
    time = document[profile["protectedTimePointer"][1:]]
    KeyRing.of(registry["organizationId"], records).verify(document, time, principal)
    return sha256(canonical({k: v for k, v in document.items() if k != "signature"}))


@needs_normative
@pytest.mark.parametrize(("evaluation", "profile"), list(evaluations()) or [(None, None)])
def test_signatures_agree_with_the_normative_cryptography_bundle(
    evaluation: Any, profile: Any
) -> None:
    expect = evaluation["expect"]
    if expect["stage"] == "schema":
        pytest.skip("Commands of others are not read by a Worker")
    if expect["stage"] == "complete":
        assert judge(evaluation, profile) == expect.get("signingHash", judge(evaluation, profile))
        return
    with pytest.raises(DocumentError) as caught:
        judge(evaluation, profile)
    assert caught.value.code == expect["wireCode"]
