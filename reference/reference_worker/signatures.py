"""Ed25519 signatures and the key registry: stages 3, 4 and 6 of section 6.4.

Responsible for saying who signed a document and whether that key was valid at the protected time.
Never decides whether the signer was allowed to; that is authorization, and comes after.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Self

from attrs import evolve, frozen
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from reference_worker.documents import (
    Document,
    DocumentError,
    decode_base64url,
    encode_base64url,
    is_valid,
    sha256,
    without_signature,
)
from reference_worker.instants import exact

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_MINUS_ONE = pow(2, (P - 1) // 4, P)
Point = tuple[int, int, int, int]
IDENTITY: Point = (0, 1, 1, 0)


def _add(first: Point, second: Point) -> Point:
    x1, y1, z1, t1 = first
    x2, y2, z2, t2 = second
    a, b = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _multiply(scalar: int, point: Point) -> Point:
    result = IDENTITY
    while scalar:
        if scalar & 1:
            result = _add(result, point)
        point = _add(point, point)
        scalar >>= 1
    return result


def _decode_point(encoded: bytes) -> Point:
    """RFC 8032 decoding, refusing every noncanonical spelling. Raises ValueError."""
    number = int.from_bytes(encoded, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    if y >= P:
        raise ValueError("y is not reduced")
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if v * x * x % P != u:
        x = x * SQRT_MINUS_ONE % P
    if v * x * x % P != u or (x == 0 and sign):
        raise ValueError("not a point of the curve, or negative zero")
    x = x if x & 1 == sign else P - x
    return x, y, 1, x * y % P


@lru_cache(maxsize=4096)
def strict_public_key(text: str) -> bytes:
    """The 32 bytes of an acceptable public key. Raises ValueError.

    MWP-SDV-005: canonical, on the curve, not the identity, in the prime-order subgroup. With such a
    key and the library's comparison of the recomputed `R` with the received bytes, no noncanonical,
    small-order or mixed-order `R` can verify, and the library refuses `S >= L`; so the strict
    checks on the signature need no arithmetic of their own.
    """
    raw = decode_base64url(text)
    if len(raw) != 32:
        raise ValueError("a public key has 32 bytes")
    point = _decode_point(raw)
    x, y, z, _ = _multiply(L, point)
    if point[:2] == (0, 1) or x != 0 or y != z:
        raise ValueError("not in the prime-order subgroup")
    return raw


@frozen
class KeyBinding:
    """One key ID, bound for ever to one Principal and one public key."""

    key_id: str
    principal: tuple[str, str]
    public_key: str
    valid_from: str
    valid_until: tuple[int, str] | None
    revoked_at: tuple[int, str] | None

    @classmethod
    def read(cls, record: Document) -> Self:
        """From a registry record. Raises KeyError, TypeError or ValueError for a malformed one."""
        identifiers = (record["keyId"], record["principal"]["id"])
        if record["algorithm"] != "Ed25519" or not all(is_valid("id", i) for i in identifiers):
            raise ValueError("unknown algorithm, or no identifier")
        strict_public_key(record["publicKey"])
        exact(record["validFrom"])
        return cls(
            key_id=record["keyId"],
            principal=(record["principal"]["type"], record["principal"]["id"]),
            public_key=record["publicKey"],
            valid_from=record["validFrom"],
            valid_until=exact(record["validUntil"]) if "validUntil" in record else None,
            revoked_at=exact(record["revokedAt"]) if "revokedAt" in record else None,
        )

    def merged(self, later: KeyBinding) -> KeyBinding:
        """Boundaries only ever move earlier; a changed binding makes the registry unusable."""
        if evolve(later, valid_until=None, revoked_at=None) != evolve(
            self, valid_until=None, revoked_at=None
        ):
            raise ValueError("key ID bound twice")
        return evolve(
            self,
            valid_until=_earliest(self.valid_until, later.valid_until),
            revoked_at=_earliest(self.revoked_at, later.revoked_at),
        )

    def is_valid_at(self, time: str) -> bool:
        """Half-open, at the protected signed time."""
        moment = exact(time)
        return (
            exact(self.valid_from) <= moment
            and (self.valid_until is None or moment < self.valid_until)
            and (self.revoked_at is None or moment < self.revoked_at)
        )


def _earliest(
    first: tuple[int, str] | None, second: tuple[int, str] | None
) -> tuple[int, str] | None:
    given = [boundary for boundary in (first, second) if boundary is not None]
    return min(given) if given else None


@frozen
class KeyRing:
    """The registry evidence of one Organization; `coherent` is false if any record broke a rule."""

    bindings: Mapping[str, KeyBinding] = {}
    coherent: bool = True

    @classmethod
    def of(cls, organization_id: str, records: Iterable[Document]) -> Self:
        """The ring of one Organization."""
        empty = cls(coherent=is_valid("id", organization_id))
        return empty.extended(records)

    def extended(self, records: Iterable[Document]) -> Self:
        """This ring with further registry records."""
        bindings, coherent = dict(self.bindings), self.coherent
        for record in records:
            try:
                binding = KeyBinding.read(record)
                known = bindings.get(binding.key_id)
                bindings[binding.key_id] = known.merged(binding) if known else binding
            except (KeyError, TypeError, ValueError):
                coherent = False  # MWP-SDV-008: one invalid unrelated record fails every lookup
        distinct = {binding.public_key for binding in bindings.values()}
        return evolve(self, bindings=bindings, coherent=coherent and len(distinct) == len(bindings))

    def verify(
        self, document: Document, protected_time: str, signer: tuple[str, str] | None
    ) -> tuple[str, str]:
        """Check a schema-valid Signed Document; return its signer's ID and its signing hash.

        `signer` is the expected (type, id), or None where any service may be the issuer.
        Raises DocumentError(AUTH_INVALID_SIGNATURE), without saying which check failed.
        """
        try:
            return self._verify(document, protected_time, signer)
        except DocumentError:
            raise
        except (KeyError, ValueError, InvalidSignature):
            raise DocumentError("AUTH_INVALID_SIGNATURE", "signature not accepted") from None

    def _verify(
        self, document: Document, protected_time: str, signer: tuple[str, str] | None
    ) -> tuple[str, str]:
        envelope = document["signature"]
        if not protected_time.endswith("Z") or envelope["createdAt"] != protected_time:
            raise ValueError("time binding")  # MWP-SDV-001
        signature = decode_base64url(envelope["value"])
        if not self.coherent or len(signature) != 64:
            raise ValueError("registry or length")
        binding = self.bindings[envelope["keyId"]]
        if binding.principal != (signer or binding.principal):
            raise ValueError("another Principal's key")
        if signer is None and binding.principal[0] != "service":
            raise ValueError("an issuer is a service")
        if not binding.is_valid_at(protected_time):
            raise ValueError("key not valid at the protected time")
        signing_bytes = without_signature(document)
        return binding.principal[1], _signing_hash(binding.public_key, signature, signing_bytes)


@lru_cache(maxsize=1024)  # what is delivered again, or replayed, was verified before
def _signing_hash(public_key: str, signature: bytes, signing_bytes: bytes) -> str:
    """The hash of what was signed. Raises InvalidSignature, and remembers no such thing."""
    _public_key(public_key).verify(signature, signing_bytes)
    return sha256(signing_bytes)


@lru_cache(maxsize=4096)
def _public_key(text: str) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(strict_public_key(text))


@frozen
class SigningKey:
    """The Worker's own key."""

    key_id: str
    key: Ed25519PrivateKey

    @classmethod
    def load(cls, key_id: str, seed: str) -> Self:
        """From the base64url seed that `start` carries."""
        return cls(key_id, Ed25519PrivateKey.from_private_bytes(decode_base64url(seed)))

    def sign(self, document: Document, protected_time: str) -> Document:
        """The document with its signature envelope, which repeats the protected time."""
        value = encode_base64url(self.key.sign(without_signature(document)))
        envelope = {
            "algorithm": "Ed25519",
            "keyId": self.key_id,
            "createdAt": protected_time,
            "value": value,
        }
        return {**document, "signature": envelope}
