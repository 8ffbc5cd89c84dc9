"""Signs the Organization's documents, each content once a process.

Ed25519 is deterministic, so a signature may be remembered by key and content: the same world is
played many times over (shrinking, mutants, variants). Never verifies.
"""

from __future__ import annotations

from hashlib import blake2b

from worker_conformance.documents import base64url
from worker_conformance.documents.json_types import JsonObject
from worker_conformance.documents.registry import ALGORITHM
from worker_conformance.documents.schemas import DocumentKind
from worker_conformance.documents.signing import PROFILES, SigningKey, signing_bytes

REMEMBERED_MAX = 100_000
"""About 25 MB; the longest fairness run appends fewer Events."""

_remembered: dict[bytes, str] = {}


def signed(kind: DocumentKind, document: JsonObject, key: SigningKey) -> JsonObject:
    """Return a copy of `document` with its signature under `key`."""
    envelope: JsonObject = {
        "algorithm": ALGORITHM,
        "keyId": key.key_id,
        "createdAt": document[PROFILES[kind].protected_time],
        "value": _value(signing_bytes(document), key),
    }
    return {**document, "signature": envelope}


def _value(message: bytes, key: SigningKey) -> str:
    digest = blake2b(message, key=key.public_key, digest_size=16).digest()
    known = _remembered.get(digest)
    if known is None:
        if len(_remembered) >= REMEMBERED_MAX:
            _remembered.clear()
        known = _remembered[digest] = base64url.encode(key.sign_bytes(message))
    return known
