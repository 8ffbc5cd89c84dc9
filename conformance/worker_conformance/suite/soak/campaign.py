"""A campaign: what world a number is. Everything about a world follows from here and its number.

Never plays, and never counts what was played.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import Self

from attrs import field, frozen

from worker_conformance import __version__
from worker_conformance.documents.json_types import (
    JsonObject,
    JsonValue,
    find,
    integer_at,
    list_at,
    text_at,
)
from worker_conformance.errors import UsageError
from worker_conformance.port.contract import TIMEOUT_SECONDS
from worker_conformance.port.declaration import Declaration
from worker_conformance.port.digest import adapter_digest
from worker_conformance.suite.properties.catalogue import PROPERTIES, PropertyInfo

FORMAT = "worker-conformance-soak-1"

WORLD_SEED_BITS = 48
"""Millions of worlds hardly ever share a seed of so many bits, and JSON carries it exactly."""

DIGEST_LENGTH = len("sha256:") + 12


@cache
def edition() -> str:
    """The suite's version and the digest of its code: what is drawn depends on both."""
    digest = adapter_digest(f"{__package__}:") or ""
    return f"{__version__} {digest[:DIGEST_LENGTH]}".rstrip()


_BY_ID: Mapping[str, PropertyInfo] = {info.check_id: info for info in PROPERTIES}


@frozen
class Campaign:
    """Which Worker is soaked, with which seed, over which properties (in the order of their IDs).

    `worker` is the `--worker` text, `name` and `version` are what the Worker calls itself, `suite`
    is the suite's edition. Plain data: it pickles.
    """

    worker: str
    name: str
    version: str
    seed: int
    checks: tuple[str, ...]
    timeout_seconds: float = TIMEOUT_SECONDS
    suite: str = field(factory=edition)

    @classmethod
    def of(
        cls,
        worker: str,
        declaration: Declaration,
        seed: int,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> Self:
        """The campaign over all properties of the areas that a Worker claims.

        Raises UsageError where it claims none of them.
        """
        claimed = (one for one in PROPERTIES if declaration.claims(one.profile.value))
        checks = tuple(info.check_id for info in claimed)
        if not checks:
            raise UsageError(
                "nothing-claimed",
                f"{declaration.name} claims no area that generated worlds judge",
                "claim one in 'profiles' of the declaration",
            )
        return cls(worker, declaration.name, declaration.version, seed, checks, timeout_seconds)

    def property_of(self, number: int) -> PropertyInfo:
        """The property that a world is about: round and round."""
        return _BY_ID[self.checks[number % len(self.checks)]]

    def seed_of(self, number: int) -> int:
        """The seed of a world: of its keys and names, and of all that is drawn in it."""
        digest = sha256(f"{self.seed} {number}".encode()).digest()
        return int.from_bytes(digest[: WORLD_SEED_BITS // 8], "big")

    def to_document(self) -> JsonObject:
        """As JSON members. How long a Worker may take to answer is no part of a campaign."""
        return {
            "format": FORMAT,
            "suite": self.suite,
            "worker": self.worker,
            "name": self.name,
            "version": self.version,
            "seed": self.seed,
            "checks": list(self.checks),
        }

    @classmethod
    def from_document(cls, document: JsonValue) -> Self:
        """Read what `to_document` made; raise TypeError or ValueError for anything else."""
        if find(document, "format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        checks = tuple(str(one) for one in list_at(document, "checks"))
        unknown = [one for one in checks if one not in _BY_ID]
        if unknown or not checks or len(set(checks)) < len(checks):
            raise ValueError("'checks' does not name properties of this suite")
        return cls(
            worker=text_at(document, "worker"),
            name=text_at(document, "name"),
            version=text_at(document, "version"),
            seed=integer_at(document, "seed"),
            checks=checks,
            suite=text_at(document, "suite"),
        )
