"""Registry evidence: which key belongs to which Principal, and when it was valid.

Stage 4 of signature verification. The evidence is the whole of one Organization's bindings; it is
checked as a whole before any key is looked up in it, so that one bad binding anywhere makes every
resolution fail (MWP-SDV-008). Never says what a Principal may do with its key.
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Self

import attrs
from attrs import field, frozen

from . import base64url, ed25519, timestamps
from .json_types import JsonObject, JsonValue, find, list_at, object_at, text_at
from .schemas import protocol_schemas
from .timestamps import Instant

ALGORITHM = "Ed25519"


@frozen
class Principal:
    """Someone who can sign: `type` is agent, human or service, `id` an absolute URI."""

    type: str
    id: str

    @classmethod
    def of(cls, document: JsonValue) -> Self:
        """Read a Principal out of its JSON object."""
        return cls(text_at(document, "type"), text_at(document, "id"))

    def to_json(self) -> JsonObject:
        """Return the JSON object that names this Principal."""
        return {"type": self.type, "id": self.id}


@frozen
class ValidityStatus:
    """One record of a key's validity history; an absent boundary says nothing new about it."""

    sequence: int
    recorded_at: str
    valid_until: str | None = None
    revoked_at: str | None = None


@frozen
class Binding:
    """One key ID bound to one Principal, algorithm and public key, with its history as text."""

    key_id: str
    principal: Principal
    public_key: str
    valid_from: str
    history: tuple[ValidityStatus, ...] = ()
    algorithm: str = ALGORITHM

    def identity(self) -> tuple[Principal, str, str, str]:
        """Return what must never change for one key ID (MWP-SDV-004, MWP-SDV-012)."""
        return self.principal, self.algorithm, self.public_key, self.valid_from


@frozen
class ResolvedKey:
    """A binding that passed stage 4, with its public key and effective interval."""

    key_id: str
    principal: Principal
    public_key: bytes
    valid_from: Instant
    valid_until: Instant | None
    revoked_at: Instant | None

    def is_valid_at(self, when: Instant) -> bool:
        """Tell whether the key is valid at `when`: half-open at both ends (MWP-SDV-014)."""
        return (
            self.valid_from <= when
            and (self.valid_until is None or when < self.valid_until)
            and (self.revoked_at is None or when < self.revoked_at)
        )


@frozen
class KeyRefused:
    """Stage 4 failed; the reason is for audit and never for the sender."""

    reason: str


@frozen
class KeyRegistry:
    """The complete evidence of one Organization at one revision.

    `fault` says what makes the evidence as a whole unusable; then no key resolves.
    """

    organization_id: str
    bindings: tuple[Binding, ...]
    fault: str | None = field(init=False, eq=False)
    _keys: Mapping[str, ResolvedKey] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Check the evidence once, before any key ID is looked up in it."""
        outcome = _checked(self)
        if isinstance(outcome, KeyRefused):
            object.__setattr__(self, "fault", outcome.reason)
            object.__setattr__(self, "_keys", {})
        else:
            object.__setattr__(self, "fault", None)
            object.__setattr__(self, "_keys", outcome)

    @classmethod
    def from_fixture(cls, document: JsonObject) -> Self:
        """Read evidence that spells out each key's validity history.

        The shape: `organizationId` and `bindings`, each with `keyId`, `principal`, `algorithm`,
        `publicKey`, `validFrom` and `validityHistory`.
        """
        bindings = tuple(_from_fixture(item) for item in list_at(document, "bindings"))
        return cls(text_at(document, "organizationId"), bindings)

    @classmethod
    def from_port(cls, organization: JsonObject) -> Self:
        """Read the `organization` member of the Port's `start` stimulus."""
        bindings = tuple(_from_port(item) for item in list_at(organization, "keys"))
        return cls(text_at(organization, "organizationId"), bindings)

    def with_bindings(self, more: Iterable[Binding]) -> Self:
        """Return the evidence of a later revision that also declares `more`."""
        return attrs.evolve(self, bindings=(*self.bindings, *more))

    def resolve(
        self, key_id: str, signer: Principal | None, when: Instant
    ) -> ResolvedKey | KeyRefused:
        """Return the key `key_id` of `signer` at `when`; a signer None is any service Principal."""
        if self.fault is not None:
            return KeyRefused(self.fault)
        key = self._keys.get(key_id)
        if key is None:
            return KeyRefused(f"no binding for the key {key_id}")
        if signer is None and key.principal.type != "service":  # MWP-SDV-001: Agent Cards
            return KeyRefused("the key is not bound to a service Principal")
        if signer is not None and key.principal != signer:  # MWP-SDV-013
            return KeyRefused("the key is bound to another Principal")
        if not key.is_valid_at(when):
            return KeyRefused("the key was not valid at the protected time")
        return key


def port_key(binding: Binding) -> JsonObject:
    """Return `binding` as an entry of the Port's `keys` list, with its effective boundaries."""
    entry: JsonObject = {
        "keyId": binding.key_id,
        "principal": binding.principal.to_json(),
        "algorithm": binding.algorithm,
        "publicKey": binding.public_key,
        "validFrom": binding.valid_from,
    }
    ends = {
        "validUntil": [status.valid_until for status in binding.history if status.valid_until],
        "revokedAt": [status.revoked_at for status in binding.history if status.revoked_at],
    }
    for name, boundaries in ends.items():
        if boundaries:
            entry[name] = min(boundaries, key=timestamps.parse)
    return entry


def _checked(registry: KeyRegistry) -> Mapping[str, ResolvedKey] | KeyRefused:
    if not _is_identifier(registry.organization_id):
        return KeyRefused("the Organization ID is no absolute URI")
    declared: dict[str, Binding] = {}
    keys: dict[str, ResolvedKey] = {}
    owner_of: dict[bytes, str] = {}
    for binding in registry.bindings:
        key = _resolved(binding)
        if isinstance(key, KeyRefused):
            return key
        earlier = declared.setdefault(binding.key_id, binding)
        if earlier.identity() != binding.identity():
            return KeyRefused(f"the key ID {binding.key_id} is bound twice, differently")
        # MWP-SDV-004: neither another Principal nor an alias may hold the same public key.
        if owner_of.setdefault(key.public_key, binding.key_id) != binding.key_id:
            return KeyRefused(f"the public key of {binding.key_id} has another key ID as well")
        keys[binding.key_id] = _earliest(keys.get(binding.key_id, key), key)
    return keys


def _resolved(binding: Binding) -> ResolvedKey | KeyRefused:
    """Check one binding by itself: identifiers, algorithm, point, history."""
    if not _is_identifier(binding.key_id):
        return KeyRefused(f"the key ID {binding.key_id!r} is no absolute URI")
    if binding.principal.type not in ("agent", "human", "service"):
        return KeyRefused(f"{binding.key_id}: no such Principal type")
    if not _is_identifier(binding.principal.id):
        return KeyRefused(f"{binding.key_id}: the Principal's ID is no absolute URI")
    if binding.algorithm != ALGORITHM:
        return KeyRefused(f"{binding.key_id}: the algorithm is not {ALGORITHM}")
    public_key = base64url.decode(binding.public_key)
    if public_key is None:
        return KeyRefused(f"{binding.key_id}: the public key is not canonical base64url")
    fault = ed25519.public_key_fault(public_key)
    if fault is not None:
        return KeyRefused(f"{binding.key_id}: {fault}")
    return _with_interval(binding, public_key)


def _with_interval(binding: Binding, public_key: bytes) -> ResolvedKey | KeyRefused:
    history = binding.history
    texts = [binding.valid_from, *(status.recorded_at for status in history)]
    texts += [end for status in history for end in (status.valid_until, status.revoked_at) if end]
    if not all(map(timestamps.conforms, texts)):
        return KeyRefused(f"{binding.key_id}: a validity timestamp is outside the profile")
    if any(later.sequence <= earlier.sequence for earlier, later in pairwise(history)):
        return KeyRefused(f"{binding.key_id}: the validity history is out of order")
    until = _boundary([status.valid_until for status in history])
    revoked = _boundary([status.revoked_at for status in history])
    if isinstance(until, KeyRefused) or isinstance(revoked, KeyRefused):
        return KeyRefused(f"{binding.key_id}: a validity boundary was moved later")
    valid_from = timestamps.parse(binding.valid_from)
    return ResolvedKey(binding.key_id, binding.principal, public_key, valid_from, until, revoked)


def _boundary(stated: Iterable[str | None]) -> Instant | KeyRefused | None:
    effective: Instant | None = None
    for text in stated:
        if text is None:
            continue
        boundary = timestamps.parse(text)
        if effective is not None and boundary > effective:  # MWP-SDV-012: only ever earlier
            return KeyRefused("moved later")
        effective = boundary
    return effective


def _earliest(one: ResolvedKey, other: ResolvedKey) -> ResolvedKey:
    """Join two declarations of one binding: the earliest boundary counts (MWP-SDV-012)."""
    return attrs.evolve(
        one,
        valid_until=_sooner(one.valid_until, other.valid_until),
        revoked_at=_sooner(one.revoked_at, other.revoked_at),
    )


def _sooner(one: Instant | None, other: Instant | None) -> Instant | None:
    if one is None or other is None:
        return one or other
    return min(one, other)


def _is_identifier(text: str) -> bool:
    return protocol_schemas().validator("common#/$defs/id").is_valid(text)


def _from_fixture(item: JsonValue) -> Binding:
    return Binding(
        key_id=text_at(item, "keyId"),
        principal=Principal.of(object_at(item, "principal")),
        algorithm=text_at(item, "algorithm"),
        public_key=text_at(item, "publicKey"),
        valid_from=text_at(item, "validFrom"),
        history=tuple(_status(status) for status in list_at(item, "validityHistory")),
    )


def _status(item: JsonValue) -> ValidityStatus:
    sequence = find(item, "sequence")
    return ValidityStatus(
        sequence=sequence if isinstance(sequence, int) else 0,
        recorded_at=text_at(item, "recordedAt"),
        valid_until=_optional_text(item, "validUntil"),
        revoked_at=_optional_text(item, "revokedAt"),
    )


def _from_port(item: JsonValue) -> Binding:
    valid_from = text_at(item, "validFrom")
    until, revoked = _optional_text(item, "validUntil"), _optional_text(item, "revokedAt")
    status = ValidityStatus(1, valid_from, until, revoked)
    return Binding(
        key_id=text_at(item, "keyId"),
        principal=Principal.of(object_at(item, "principal")),
        algorithm=text_at(item, "algorithm"),
        public_key=text_at(item, "publicKey"),
        valid_from=valid_from,
        history=(status,) if until or revoked else (),
    )


def _optional_text(item: JsonValue, name: str) -> str | None:
    value = find(item, name)
    return value if isinstance(value, str) else None
