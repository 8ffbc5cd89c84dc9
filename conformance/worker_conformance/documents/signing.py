"""Signed Documents: how each kind is signed, and the six stages in which a signature is judged.

Gives the first failing stage, its wire code, and a reason for audit. Never judges authority, First
Admission or freshness: those come after a document is verified (MWP-SDV-017).
"""

from collections.abc import Mapping
from enum import Enum
from typing import Self

from attrs import field, frozen
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from . import base64url, ed25519, timestamps
from .canonical import canonical, sha256_bytes
from .errors import DataModelError, SigningKeyError, StrictJsonError
from .json_types import JsonObject, JsonValue, text_at
from .registry import ALGORITHM, Binding, KeyRefused, KeyRegistry, Principal, ResolvedKey
from .schemas import DocumentKind, signed_problems
from .strict_json import parse_deferring, within_data_model

SEED_BYTES = 32


class Stage(Enum):
    """The stages of verification, in order (MWP-SDV-015)."""

    PARSE = "parse"
    SCHEMA = "schema"
    ENVELOPE = "signature-envelope"
    KEY = "key-resolution"
    CANONICALIZATION = "canonicalization"
    SIGNATURE = "signature"


WIRE_CODES: Mapping[Stage, str] = {  # MWP-SDV-018
    Stage.PARSE: "PROTOCOL_VIOLATION",
    Stage.SCHEMA: "SCHEMA_VALIDATION_FAILED",
    Stage.ENVELOPE: "AUTH_INVALID_SIGNATURE",
    Stage.KEY: "AUTH_INVALID_SIGNATURE",
    Stage.CANONICALIZATION: "PROTOCOL_VIOLATION",
    Stage.SIGNATURE: "AUTH_INVALID_SIGNATURE",
}


@frozen
class PrincipalMember:
    """The signer is the Principal in this member."""

    name: str


@frozen
class AgentMember:
    """The signer is the Agent whose ID stands at this path."""

    path: tuple[str, ...]


@frozen
class AnyService:
    """The signer is whichever service Principal the key belongs to."""


SignerRule = PrincipalMember | AgentMember | AnyService


@frozen
class Profile:
    """How one kind of Signed Document names its protected time and its signer."""

    protected_time: str
    signer: SignerRule


PROFILES: Mapping[DocumentKind, Profile] = {  # the table of section 6.4
    DocumentKind.AGENT_CARD: Profile("issuedAt", AnyService()),
    DocumentKind.APPROVAL: Profile("occurredAt", PrincipalMember("approver")),
    DocumentKind.ARTIFACT: Profile("createdAt", AgentMember(("producer", "agentId"))),
    DocumentKind.COMMAND: Profile("issuedAt", PrincipalMember("actor")),
    DocumentKind.CONTEXT_PACKAGE: Profile("generatedAt", PrincipalMember("generatedBy")),
    DocumentKind.EVENT: Profile("occurredAt", PrincipalMember("acceptedBy")),
    DocumentKind.EVIDENCE: Profile("createdAt", PrincipalMember("generatedBy")),
    DocumentKind.EXTENSION_PROFILE: Profile("approvedAt", PrincipalMember("approvedBy")),
    DocumentKind.GROUP_SNAPSHOT: Profile("createdAt", PrincipalMember("createdBy")),
}


@frozen
class SigningKey:
    """A private key with the key ID and Principal it is registered under."""

    key_id: str
    principal: Principal
    public_key: bytes
    _private: Ed25519PrivateKey = field(repr=False, eq=False)

    @classmethod
    def from_seed(cls, seed: bytes, key_id: str, principal: Principal) -> Self:
        """Derive the key pair from 32 secret bytes; raise SigningKeyError for another length."""
        if len(seed) != SEED_BYTES:
            raise SigningKeyError(
                "seed-length", f"{len(seed)} bytes", f"an Ed25519 seed has {SEED_BYTES} bytes"
            )
        private = Ed25519PrivateKey.from_private_bytes(seed)
        return cls(key_id, principal, private.public_key().public_bytes_raw(), private)

    def binding(self, valid_from: str) -> Binding:
        """Return the Registry's declaration of this key, valid from that timestamp on."""
        return Binding(self.key_id, self.principal, base64url.encode(self.public_key), valid_from)

    def sign_bytes(self, message: bytes) -> bytes:
        """Return the 64 bytes of the pure Ed25519 signature over `message`."""
        return self._private.sign(message)


@frozen
class Verified:
    """All six stages passed: whose document it is, and over which bytes."""

    kind: DocumentKind
    document: JsonObject
    key: ResolvedKey
    protected_time: str
    signing_bytes: bytes

    @property
    def principal(self) -> Principal:
        """Return the Principal that the key is bound to."""
        return self.key.principal

    @property
    def signing_hash(self) -> str:
        """Return the hash that names the unsigned content, as `sha256:…`."""
        return sha256_bytes(self.signing_bytes)


@frozen
class Refused:
    """The first stage that failed; `reason` is for audit and never for the sender."""

    stage: Stage
    reason: str

    @property
    def wire_code(self) -> str:
        """Return the error code that the sender may see (MWP-SDV-018)."""
        return WIRE_CODES[self.stage]


@frozen
class _Envelope:
    """What stage 3 took out of a document: signature bytes, key ID, signer and time."""

    signature: bytes
    key_id: str
    signer: Principal | None
    protected_time: str


def signing_bytes(document: JsonObject) -> bytes:
    """Return the canonical bytes that a signature covers: all but the top-level `signature`."""
    return canonical({name: item for name, item in document.items() if name != "signature"})


def sign(kind: DocumentKind, document: JsonObject, key: SigningKey) -> JsonObject:
    """Return a copy of `document` with its signature; one it already had is replaced.

    `signature.createdAt` is the protected time, byte for byte (MWP-SDV-002). Nothing else is
    checked: a vector may well want a wrong signer or an invalid document, properly signed.
    """
    value = key.sign_bytes(signing_bytes(document))
    envelope: JsonObject = {
        "algorithm": ALGORITHM,
        "keyId": key.key_id,
        "createdAt": document[PROFILES[kind].protected_time],
        "value": base64url.encode(value),
    }
    return {**document, "signature": envelope}


def verify(
    kind: DocumentKind, document: bytes | str | JsonObject, registry: KeyRegistry
) -> Verified | Refused:
    """Judge one Signed Document by the six stages, up to the first that fails (MWP-SDV-015).

    An object that is already parsed skips the first stage.
    """
    value = _well_formed(kind, document)
    if isinstance(value, Refused):
        return value
    envelope = _envelope(kind, value)
    if isinstance(envelope, Refused):
        return envelope
    outcome = _authentic(kind, value, envelope, registry)
    if isinstance(outcome, Refused):
        # Only now is R worth its price; the argument stands at the top of `ed25519`.
        fault = ed25519.commitment_fault(envelope.signature[: ed25519.PUBLIC_KEY_BYTES])
        if fault is not None:
            return Refused(Stage.ENVELOPE, fault)
    return outcome


def _well_formed(kind: DocumentKind, document: bytes | str | JsonObject) -> JsonObject | Refused:
    """Stages 1 and 2."""
    value: JsonValue = document if isinstance(document, dict) else None
    if isinstance(document, bytes | str):
        try:
            value = parse_deferring(document)
        except StrictJsonError as error:
            return Refused(Stage.PARSE, str(error))
    found = signed_problems(kind, value)
    if found:  # perhaps only for what belongs to stage 5 (MWP-SDV-016)
        found = signed_problems(kind, within_data_model(value))
    if found or not isinstance(value, dict):
        return Refused(Stage.SCHEMA, "; ".join(map(str, found)))
    return value


def _envelope(kind: DocumentKind, document: JsonObject) -> _Envelope | Refused:
    """Stage 3, but for the point R (see `verify`)."""
    profile = PROFILES[kind]
    protected_time = text_at(document, profile.protected_time)
    if not timestamps.is_protected_form(protected_time):
        return Refused(Stage.ENVELOPE, "the protected time is not UTC with an upper-case Z")
    if text_at(document, "signature", "createdAt") != protected_time:
        return Refused(Stage.ENVELOPE, "signature.createdAt differs from the protected time")
    signature = base64url.decode(text_at(document, "signature", "value"))
    if signature is None:
        return Refused(Stage.ENVELOPE, "signature.value is not canonical base64url")
    fault = ed25519.signature_length_fault(signature)
    if fault is not None:
        return Refused(Stage.ENVELOPE, fault)
    signer = _expected_signer(profile.signer, document)
    return _Envelope(signature, text_at(document, "signature", "keyId"), signer, protected_time)


def _expected_signer(rule: SignerRule, document: JsonObject) -> Principal | None:
    if isinstance(rule, PrincipalMember):
        return Principal.of(document[rule.name])
    if isinstance(rule, AgentMember):
        return Principal("agent", text_at(document, *rule.path))
    return None


def _authentic(
    kind: DocumentKind, document: JsonObject, envelope: _Envelope, registry: KeyRegistry
) -> Verified | Refused:
    """Stages 4 to 6."""
    when = timestamps.parse(envelope.protected_time)
    key = registry.resolve(envelope.key_id, envelope.signer, when)
    if isinstance(key, KeyRefused):
        return Refused(Stage.KEY, key.reason)
    try:
        message = signing_bytes(document)
    except DataModelError as error:
        return Refused(Stage.CANONICALIZATION, str(error))
    if not ed25519.holds(key.public_key, envelope.signature, message):
        return Refused(Stage.SIGNATURE, "the signature does not match the document")
    return Verified(kind, document, key, envelope.protected_time, message)
