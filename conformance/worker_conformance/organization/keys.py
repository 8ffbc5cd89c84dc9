"""The signing keys of everybody in the Organization, and the registry that declares them.

Holds the Worker's private key too: `start` hands it over. Never signs by itself; `signatures`
does, and remembers what it signed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

from attrs import evolve, field, frozen

from worker_conformance.documents import base64url
from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.documents.registry import (
    Binding,
    KeyRegistry,
    Principal,
    ValidityStatus,
    port_key,
)
from worker_conformance.documents.signing import SigningKey
from worker_conformance.errors import SuiteError
from worker_conformance.organization.moments import text
from worker_conformance.organization.names import Names
from worker_conformance.organization.points import POINTS, SMALL_ORDER_POINT
from worker_conformance.scenario.surroundings import ChangeKeys

VALID_FROM = "2026-01-01T00:00:00Z"
"""Every key is valid long before the scenario's epoch."""

ROLES: Mapping[str, str] = {
    "worker": "agent",
    "rival": "agent",
    "coordinator": "agent",
    # Coordinates after a replacement, and the first one again after the next.
    "successor": "agent",
    "owner": "human",
    "approver": "human",
    "group-authority": "service",
    "archive": "service",
    "card-issuer": "service",
    # Registered, but authorized for nothing: signs what must not be believed.
    "outsider": "service",
}
"""Who has a key: role and Principal type."""

AUTHORIZED: Mapping[str, str] = {
    "eventAuthority": "group-authority",
    "archival": "archive",
    "cardIssuer": "card-issuer",
    "approvers": "approver",
}
"""The Port's member and the role that it authorizes."""


@lru_cache(maxsize=64)  # checking nine public keys takes ten milliseconds
def keyring(seed: int) -> Keyring:
    """Return the keys with which the run of this seed begins."""
    return Keyring(Names(seed))


@frozen
class Keyring:
    """One signing key a role, and the registry evidence over all of them.

    A value: a change of the registry makes a new one. `former` holds the keys that a rotation has
    ended, `deauthorized` the roles that were taken away, `shown` registry entries that the
    Worker is shown beside the true ones.
    """

    names: Names
    keys: Mapping[str, SigningKey] = field()
    registry: KeyRegistry = field()
    former: Mapping[str, SigningKey] = field(factory=dict)
    deauthorized: frozenset[str] = frozenset()
    shown: tuple[JsonObject, ...] = ()

    @keys.default
    def _keys(self) -> Mapping[str, SigningKey]:
        return {role: self._key(role, kind) for role, kind in ROLES.items()}

    @registry.default
    def _registry(self) -> KeyRegistry:
        bindings = tuple(key.binding(VALID_FROM) for key in self.keys.values())
        return KeyRegistry(self.names.organization_id, bindings)

    def _key(self, role: str, kind: str, generation: int = 1) -> SigningKey:
        name = role if generation == 1 else f"{role}-{generation}"
        principal = Principal(kind, self.names.principal_id(kind, role))
        return SigningKey.from_seed(self.names.key_seed(name), self.names.key_id(name), principal)

    def __getitem__(self, role: str) -> SigningKey:
        """The key with which a role signs now."""
        return self.keys[role]

    def former_key(self, role: str) -> SigningKey:
        """The key that a role's last rotation ended; SuiteError if there was none."""
        key = self.former.get(role)
        if key is None:
            raise SuiteError("no-former-key", f"the key of {role} was never rotated")
        return key

    def actor(self, role: str) -> JsonObject:
        """The role's Principal as documents name it."""
        return self.keys[role].principal.to_json()

    def worker_private_key(self) -> str:
        """The Worker's Ed25519 seed as `start` carries it."""
        return base64url.encode(self.names.key_seed("worker"))

    def entries(self) -> list[JsonObject]:
        """The registry as the Port's `keys` list."""
        return [*map(port_key, self.registry.bindings), *self.shown]

    def authorized(self) -> JsonObject:
        """Who may sign Events, Snapshots, Agent Cards and execution approvals."""
        return {
            member: [] if role in self.deauthorized else [self.keys[role].principal.id]
            for member, role in AUTHORIZED.items()
        }

    # --- changes ----------------------------------------------------------------------

    def changed(self, step: ChangeKeys, now: int) -> Keyring:
        """The keyring after a change of the registry."""
        if step.change == "bind":
            return self._shown(step.role, step.point, POINTS[step.point])
        return _CHANGES[step.change](self, step.role, now)

    def _rotated(self, role: str, now: int) -> Keyring:
        """The present key ends and the next one begins, without a gap (MWP-SDV-014)."""
        old = self.keys[role]
        generation = sum(one.principal == old.principal for one in self.registry.bindings) + 1
        new = self._key(role, ROLES[role], generation)
        ended = self._ended(old, ValidityStatus(1, text(now), valid_until=text(now)))
        return evolve(
            self,
            keys={**self.keys, role: new},
            former={**self.former, role: old},
            registry=ended.with_bindings([new.binding(text(now))]),
        )

    def _revoked(self, role: str, now: int) -> Keyring:
        status = ValidityStatus(1, text(now), revoked_at=text(now))
        return evolve(self, registry=self._ended(self.keys[role], status))

    def _deauthorized(self, role: str, _now: int) -> Keyring:
        return evolve(self, deauthorized=self.deauthorized | {role})

    def _spoiled(self, role: str, _now: int) -> Keyring:
        return self._shown(role, "spoiled", SMALL_ORDER_POINT)

    def _aliased(self, role: str, _now: int) -> Keyring:
        return self._shown(role, "alias", self._declared(role)["publicKey"])

    def _lent(self, role: str, _now: int) -> Keyring:
        return self._shown("outsider", "lent", self._declared(role)["publicKey"])

    def _rebound(self, role: str, _now: int) -> Keyring:
        return self._and({**self._declared(role), "publicKey": POINTS["base_point"]})

    def _repeated(self, role: str, _now: int) -> Keyring:
        return self._and(self._declared(role))

    def _declared(self, role: str) -> JsonObject:
        """The present key of a role as the registry declares it."""
        key_id = self.keys[role].key_id
        return next(port_key(one) for one in self.registry.bindings if one.key_id == key_id)

    def _shown(self, role: str, label: str, public_key: JsonValue) -> Keyring:
        entry: JsonObject = {
            "keyId": self.names.key_id(f"{role}-{label.replace('_', '-')}"),
            "principal": self.actor(role),
            "algorithm": "Ed25519",
            "publicKey": public_key,
            "validFrom": VALID_FROM,
        }
        return self._and(entry)

    def _and(self, entry: JsonObject) -> Keyring:
        """The Worker alone sees the entry: the Authority's own evidence stays as it is."""
        return evolve(self, shown=(*self.shown, entry))

    def _ended(self, key: SigningKey, status: ValidityStatus) -> KeyRegistry:
        def ended(binding: Binding) -> Binding:
            return evolve(binding, history=(status,)) if binding.key_id == key.key_id else binding

        return evolve(self.registry, bindings=tuple(map(ended, self.registry.bindings)))


_CHANGES: Mapping[str, Callable[[Keyring, str, int], Keyring]] = MappingProxyType(
    {
        "rotate": Keyring._rotated,  # noqa: SLF001 - a table of this class's own methods
        "revoke": Keyring._revoked,  # noqa: SLF001 - a table of this class's own methods
        "deauthorize": Keyring._deauthorized,  # noqa: SLF001 - a table of this class's own methods
        "spoil": Keyring._spoiled,  # noqa: SLF001 - a table of this class's own methods
        "alias": Keyring._aliased,  # noqa: SLF001 - a table of this class's own methods
        "lend": Keyring._lent,  # noqa: SLF001 - a table of this class's own methods
        "rebind": Keyring._rebound,  # noqa: SLF001 - a table of this class's own methods
        "repeat": Keyring._repeated,  # noqa: SLF001 - a table of this class's own methods
    }
)
