"""The signing keys of everybody in the Organization, and the registry that declares them.

Holds the Worker's private key too: `start` hands it over. Never signs by itself; `signatures`
does, and remembers what it signed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from attrs import field, frozen

from worker_conformance.documents import base64url
from worker_conformance.documents.json_types import JsonObject
from worker_conformance.documents.registry import KeyRegistry, Principal, port_key
from worker_conformance.documents.signing import SigningKey
from worker_conformance.organization.names import Names

VALID_FROM = "2026-01-01T00:00:00Z"
"""Every key is valid long before the scenario's epoch."""

ROLES: Mapping[str, str] = {
    "worker": "agent",
    "rival": "agent",
    "coordinator": "agent",
    "owner": "human",
    "approver": "human",
    "group-authority": "service",
    "archive": "service",
    "card-issuer": "service",
    # Registered, but authorized for nothing: signs what must not be believed.
    "outsider": "service",
}
"""Who has a key: role and Principal type."""


@lru_cache(maxsize=64)  # checking nine public keys takes ten milliseconds
def keyring(seed: int) -> Keyring:
    """Return the keys of the run with this seed."""
    return Keyring(Names(seed))


@frozen
class Keyring:
    """One key pair a role, and the registry evidence over all of them."""

    names: Names
    keys: Mapping[str, SigningKey] = field(init=False)
    registry: KeyRegistry = field(init=False)

    @keys.default
    def _keys(self) -> Mapping[str, SigningKey]:
        return {role: self._key(role, kind) for role, kind in ROLES.items()}

    @registry.default
    def _registry(self) -> KeyRegistry:
        bindings = tuple(key.binding(VALID_FROM) for key in self.keys.values())
        return KeyRegistry(self.names.organization_id, bindings)

    def _key(self, role: str, kind: str) -> SigningKey:
        principal = Principal(kind, self.names.principal_id(kind, role))
        return SigningKey.from_seed(self.names.key_seed(role), self.names.key_id(role), principal)

    def __getitem__(self, role: str) -> SigningKey:
        """The key of a role."""
        return self.keys[role]

    def actor(self, role: str) -> JsonObject:
        """The role's Principal as documents name it."""
        return self.keys[role].principal.to_json()

    def worker_private_key(self) -> str:
        """The Worker's Ed25519 seed as `start` carries it."""
        return base64url.encode(self.names.key_seed("worker"))

    def entries(self) -> list[JsonObject]:
        """The registry as the Port's `keys` list."""
        return [port_key(binding) for binding in self.registry.bindings]

    def authorized(self) -> JsonObject:
        """Who may sign Events, Snapshots, Agent Cards and execution approvals."""
        return {
            "eventAuthority": [self.keys["group-authority"].principal.id],
            "archival": [self.keys["archive"].principal.id],
            "cardIssuer": [self.keys["card-issuer"].principal.id],
            "approvers": [self.keys["approver"].principal.id],
        }
