"""The mutants: Workers with one realistic fault each, and the registry of all of them."""

from __future__ import annotations

from collections.abc import Mapping

from worker_conformance.selftest.mutants import (
    leases,
    preemption,
    privacy,
    replay,
    scheduling,
    signatures,
)
from worker_conformance.selftest.mutants.base import Mutant

__all__ = ["MUTANTS", "Mutant"]

_AREAS = (replay, signatures, leases, preemption, scheduling, privacy)

MUTANTS: Mapping[str, Mutant] = {one.name: one for area in _AREAS for one in area.MUTANTS}
"""Every mutant by its name."""
