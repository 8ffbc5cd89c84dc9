"""Strict points and scalars, and the equation."""

import hashlib

import pytest

from worker_conformance.documents import ed25519
from worker_conformance.documents.ed25519 import FIELD_PRIME, GROUP_ORDER
from worker_conformance.documents.registry import Principal
from worker_conformance.documents.signing import SigningKey

SEED = bytes(range(32))
KEY = SigningKey.from_seed(SEED, "urn:key:1", Principal("agent", "urn:agent:1"))
BASE = ed25519.decode_point((4 * pow(5, -1, FIELD_PRIME) % FIELD_PRIME).to_bytes(32, "little"))
ORDER_TWO = (FIELD_PRIME - 1).to_bytes(32, "little")
ORDER_FOUR = bytes(32)
ORDER_EIGHT = bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
IDENTITY = (1).to_bytes(32, "little")


def number(value: int) -> bytes:
    return value.to_bytes(32, "little")


def mixed_order_point() -> ed25519.Point:
    assert BASE is not None
    torsion = ed25519.decode_point(ORDER_TWO)
    assert torsion is not None
    return ed25519.add(ed25519.multiply(7, BASE), torsion)


BAD_POINTS = [
    ("y equal to the field prime", number(FIELD_PRIME)),
    ("y above the field prime", number(FIELD_PRIME + 3)),
    ("all bits set", b"\xff" * 32),
    ("a negative zero", number(1 | 1 << 255)),
    ("the other negative zero", number(FIELD_PRIME - 1 | 1 << 255)),
    ("off the curve", number(2)),
    ("order two", ORDER_TWO),
    ("order four", ORDER_FOUR),
    ("order eight", ORDER_EIGHT),
    ("mixed order", ed25519.encode_point(mixed_order_point())),
]


@pytest.mark.parametrize("encoding", [row[1] for row in BAD_POINTS], ids=[r[0] for r in BAD_POINTS])
def test_a_bad_point_is_neither_public_key_nor_commitment(encoding: bytes) -> None:
    assert ed25519.public_key_fault(encoding)
    assert ed25519.commitment_fault(encoding)


def test_the_identity_is_a_commitment_but_no_public_key() -> None:
    assert ed25519.commitment_fault(IDENTITY) is None
    assert ed25519.public_key_fault(IDENTITY)


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_public_key_has_32_bytes(length: int) -> None:
    assert ed25519.public_key_fault(KEY.public_key[:length].ljust(length, b"\0"))


@pytest.mark.parametrize("seed", [bytes([n]) * 32 for n in range(5)])
def test_derived_keys_and_their_signatures_pass_every_check(seed: bytes) -> None:
    key = SigningKey.from_seed(seed, "urn:key:1", Principal("agent", "urn:agent:1"))
    signature = key.sign_bytes(b"message")
    assert ed25519.public_key_fault(key.public_key) is None
    assert ed25519.signature_length_fault(signature) is None
    assert ed25519.commitment_fault(signature[:32]) is None
    assert ed25519.holds(key.public_key, signature, b"message")
    assert not ed25519.holds(key.public_key, signature, b"massage")


def test_points_survive_their_encoding() -> None:
    assert BASE is not None
    for factor in (1, 2, 3, GROUP_ORDER - 1):
        encoding = ed25519.encode_point(ed25519.multiply(factor, BASE))
        point = ed25519.decode_point(encoding)
        assert point is not None
        assert ed25519.encode_point(point) == encoding
    assert ed25519.is_identity(ed25519.multiply(GROUP_ORDER, BASE))


def test_s_at_the_group_order_is_refused_and_just_below_is_not() -> None:
    assert ed25519.signature_length_fault(IDENTITY + number(GROUP_ORDER))
    assert ed25519.signature_length_fault(IDENTITY + number(GROUP_ORDER - 1)) is None
    assert ed25519.signature_length_fault(bytes(63))


def test_s_is_not_reduced_before_it_is_judged() -> None:
    signature = KEY.sign_bytes(b"message")
    larger = int.from_bytes(signature[32:], "little") + GROUP_ORDER
    assert ed25519.signature_length_fault(signature[:32] + number(larger))


def test_the_library_compares_encodings_so_a_cofactored_only_signature_fails() -> None:
    # The argument for not checking R of accepted signatures stands on this.
    signature = cofactored_only_signature(b"message")
    assert ed25519.signature_length_fault(signature) is None
    assert ed25519.commitment_fault(signature[:32]) == "R is outside the prime-order subgroup"
    assert not ed25519.holds(KEY.public_key, signature, b"message")


def cofactored_only_signature(message: bytes) -> bytes:
    """Sign so that the equation holds only after multiplying it by eight."""
    secret = bytearray(hashlib.sha512(SEED).digest()[:32])
    secret[0] &= 248
    secret[31] = secret[31] & 127 | 64
    commitment = ed25519.encode_point(mixed_order_point())  # seven times the base, and torsion
    digest = hashlib.sha512(commitment + KEY.public_key + message).digest()
    challenge = int.from_bytes(digest, "little") % GROUP_ORDER
    return commitment + number((7 + challenge * int.from_bytes(secret, "little")) % GROUP_ORDER)
