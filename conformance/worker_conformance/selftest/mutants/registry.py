"""Faults of what a key registry has to hold as a whole: one key, one ID, one Principal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from attrs import evolve

from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.mutants.base import mutant


def _judged_as_well(parts: Parts, holds: Callable[[Any], bool]) -> None:
    """Let `holds` say of a ring whether its public keys are unique, after all else was checked."""
    extended = parts.get("signatures.KeyRing.extended")

    def otherwise(ring: Any, records: Iterable[Any]) -> Any:
        records = list(records)
        told = extended(ring, records)
        one_by_one = all(extended(evolve(ring, bindings={}), [one]).coherent for one in records)
        return evolve(told, coherent=one_by_one and holds(told))

    parts.replace("signatures.KeyRing.extended", otherwise)


def _bindings(ring: Any) -> list[Any]:
    return list(ring.bindings.values())


@altered
def aliases_of_ones_own(parts: Parts) -> None:
    """Takes a public key under two IDs for good where one Principal has both."""

    def holds(ring: Any) -> bool:
        owners = {(one.public_key, one.principal) for one in _bindings(ring)}
        return len(owners) == len({public_key for public_key, _ in owners})

    _judged_as_well(parts, holds)


@altered
def keys_on_loan(parts: Parts) -> None:
    """Looks for a public key under two IDs with each Principal by itself."""

    def holds(ring: Any) -> bool:
        owners = Counter((one.public_key, one.principal) for one in _bindings(ring))
        return all(count == 1 for count in owners.values())

    _judged_as_well(parts, holds)


@altered
def one_key_each(parts: Parts) -> None:
    """Lets no Principal have a second key, though the first has ended."""

    def holds(ring: Any) -> bool:
        return len({one.principal for one in _bindings(ring)}) == len(ring.bindings)

    _judged_as_well(parts, holds)


@altered
def the_first_binding_stays(parts: Parts) -> None:
    """Keeps the first public key of a key ID, and overlooks that another is declared."""
    merged = parts.get("signatures.KeyBinding.merged")

    def overlook(known: Any, later: Any) -> Any:
        return merged(known, evolve(later, public_key=known.public_key))

    parts.replace("signatures.KeyBinding.merged", overlook)


@altered
def repetition_is_reuse(parts: Parts) -> None:
    """Refuses a registry that declares a binding twice, word for word."""
    extended = parts.get("signatures.KeyRing.extended")

    def once(ring: Any, records: Iterable[Any]) -> Any:
        records = list(records)
        told = extended(ring, records)
        is_once = len({one["keyId"] for one in records}) == len(records)
        return evolve(told, coherent=told.coherent and is_once)

    parts.replace("signatures.KeyRing.extended", once)


MUTANTS = (
    mutant(
        aliases_of_ones_own,
        "SDV-008.a",
        "SIGN-0080",
        "A check against impostors, made of the owner's name.",
    ),
    mutant(
        keys_on_loan,
        "SDV-008.a",
        "SIGN-0082",
        "A uniqueness constraint on one column too many.",
    ),
    mutant(
        one_key_each,
        "SDV-008.a",
        "SIGN-0083",
        "A table of keys by owner, older than the first rotation.",
    ),
    mutant(
        the_first_binding_stays,
        "SDV-008.a",
        "SIGN-0084",
        "A map that is filled with what is missing.",
    ),
    mutant(
        repetition_is_reuse,
        "SDV-008.a",
        "SIGN-0081 SIGN-0085",
        "A uniqueness constraint on the log instead of on what it says.",
    ),
)
