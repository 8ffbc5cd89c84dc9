"""Markers are found in every disguise, and never where they are not."""

import base64
import hashlib
import json
import random
import uuid
from collections.abc import Callable
from urllib.parse import quote

import pytest

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.privacy.disguises import DIGESTS, digest_keys, keys_in, needles
from worker_conformance.judge.privacy.markers import MarkerSearch
from worker_conformance.judge.privacy.spelling import spell

TAG = "0f3a9c5e7b1d2468"
NUMBER = 1_234_567_890_123_456
SEARCH = MarkerSearch({"A": ("aaaabbbbccccdddd",), "B": (f"urn:x:b1-{TAG}", TAG, str(NUMBER))})

PLAIN = f"urn:acme:work-item:b1-{TAG}"

DISGUISES: dict[str, JsonObject] = {
    "plain": {"note": f"waits for {PLAIN}"},
    "upper case": {"note": PLAIN.upper()},
    "mixed case": {"note": "".join(c.upper() if i % 2 else c for i, c in enumerate(PLAIN))},
    "reversed": {"note": PLAIN[::-1]},
    "hex": {"note": PLAIN.encode().hex()},
    "hex, upper case": {"note": PLAIN.encode().hex().upper()},
    "hex with colons": {"note": PLAIN.encode().hex(":")},
    "percent-encoded": {"note": "".join(f"%{one:02x}" for one in PLAIN.encode())},
    "percent-encoded where needed": {"note": quote(PLAIN, safe="")},
    "JSON in JSON": {"note": json.dumps({"behind": PLAIN})},
    "JSON-escaped": {"note": "".join(f"\\u{ord(one):04x}" for one in PLAIN)},
    "backslash x": {"note": "".join(f"\\x{one:02x}" for one in PLAIN.encode())},
    "character references": {"note": "".join(f"&#{one};" for one in PLAIN.encode())},
    "character codes as numbers": {"note": list(PLAIN.encode())},
    "UTF-16 in base64": {"note": base64.b64encode(PLAIN.encode("utf-16")).decode()},
    "UTF-16, big-endian, in hex": {"note": PLAIN.encode("utf-16-be").hex()},
    "UTF-16 read as Latin-1": {"note": PLAIN.encode("utf-16-le").decode("latin-1")},
    "full-width letters": {"note": "".join(chr(ord(one) + 0xFEE0) for one in TAG)},
    "zero-width separators": {"note": "\u200b".join(TAG)},
    "spaces": {"note": " ".join(TAG)},
    "split over members": {"first": f"b1-{TAG[:5]}", "second": f"{TAG[5:]}."},
    "split with something between": {"first": TAG[:8], "between": "of", "second": TAG[8:]},
    "split over rows": {"rows": [{"n": n, "part": one} for n, one in enumerate(TAG)]},
    "split over an array": {"parts": [TAG[:4], TAG[4:8], TAG[8:12], TAG[12:]]},
    "pieces in another order": {"second": TAG[9:], "first": TAG[:9]},
    "in a member's name": {"waiting": {PLAIN: 1}},
    "as a number": {"ticket": int(TAG, 16)},
    "a number as it is": {"ticket": NUMBER},
    "a number as a double": {"ticket": float(NUMBER)},
    "a number in a text": {"ticket": f"#{NUMBER}"},
    "a number in hex": {"ticket": f"0x{NUMBER:X}"},
}


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_marker_is_found_in_disguise(disguise: str) -> None:
    found = list(SEARCH.find(spell(DISGUISES[disguise])))
    assert [one.owner for one in found[:1]] == ["B"], disguise


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("shift", range(6))
def test_base64_is_read_at_every_alignment(encode: Callable[[bytes], bytes], shift: int) -> None:
    hidden = encode(b"?" * shift + f'{{"behind": "{PLAIN}"}}'.encode()).decode()
    assert [one.owner for one in SEARCH.find(spell({"token": hidden}))][:1] == ["B"]


def test_base64_in_lines_and_with_white_space_is_read() -> None:
    hidden = base64.encodebytes(b"x" * 50 + PLAIN.encode()).decode()
    assert list(SEARCH.find(spell({"token": hidden})))


def test_what_is_similar_is_no_marker() -> None:
    near = TAG[:7] + "f" + TAG[8:]
    documents: tuple[JsonObject, ...] = (
        {"note": near},
        {"note": near.encode().hex()},
        {"note": base64.b64encode(near.encode()).decode()},
        {"ticket": NUMBER + 1},
        {"first": near[:8], "second": near[8:]},
        {"parts": [TAG[:6], "…", TAG[9:]]},
    )
    assert [list(SEARCH.find(spell(one))) for one in documents] == [[]] * len(documents)


def test_random_identifiers_never_match() -> None:
    draw = random.Random(7)  # noqa: S311 - seeded on purpose
    owners = {g: tuple(f"{draw.getrandbits(64):016x}" for _ in range(200)) for g in "ABC"}
    search = MarkerSearch(owners)
    for _ in range(2_000):
        document: JsonObject = {
            "id": str(uuid.UUID(int=draw.getrandbits(128))),
            "hash": f"sha256:{draw.getrandbits(256):064x}",
            "signature": base64.urlsafe_b64encode(draw.randbytes(64)).decode().rstrip("="),
            "count": draw.getrandbits(53),
            "parts": [f"{draw.getrandbits(16):04x}" for _ in range(16)],
        }
        assert list(search.find(spell(document))) == []


def test_every_needle_is_too_long_to_be_met_by_chance() -> None:
    for marker in (TAG, str(NUMBER)):
        assert min(len(needle.text) for needle in needles(marker)) >= 13


SPELLINGS: dict[str, Callable[[bytes], str]] = {
    "hex": lambda raw: raw.hex(),
    "upper-case hex": lambda raw: raw.hex().upper(),
    "labelled hex": lambda raw: f"sha256:{raw.hex()}",
    "hex cut to 64 bits": lambda raw: f"op-{raw.hex()[:16]}",
    "base64": lambda raw: base64.b64encode(raw).decode(),
    "base64url without padding": lambda raw: base64.urlsafe_b64encode(raw).decode().rstrip("="),
    "base64url behind a prefix": lambda raw: f"key_{base64.urlsafe_b64encode(raw).decode()}",
    "UUID": lambda raw: str(uuid.UUID(bytes=raw[:16])),
    "UUID with a version": lambda raw: str(uuid.UUID(bytes=raw[:16], version=5)),
}


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_a_digest_is_recognised_however_it_is_spelled(spelled: str) -> None:
    hashes = [hashlib.md5, hashlib.sha1, hashlib.sha256, hashlib.sha512, hashlib.blake2b]
    for one in hashes:
        text = SPELLINGS[spelled](one(PLAIN.encode()).digest())
        assert set(keys_in(text)) & set(digest_keys(PLAIN)), one


def test_a_named_uuid_is_recognised() -> None:
    keys = dict(zip(DIGESTS, digest_keys(PLAIN), strict=True))
    assert keys["UUIDv5 (URL)"] in set(keys_in(str(uuid.uuid5(uuid.NAMESPACE_URL, PLAIN))))
    assert keys["UUIDv3 (URL)"] in set(keys_in(str(uuid.uuid3(uuid.NAMESPACE_URL, PLAIN))))
