"""The mutants: Workers with one realistic fault each, and the registry of all of them."""

from __future__ import annotations

from collections.abc import Mapping

from worker_conformance.selftest.mutants import (
    admission,
    answers,
    blocking,
    budgets,
    canonical,
    coordinators,
    durability,
    duties,
    later,
    leases,
    offline,
    operations,
    order,
    preemption,
    privacy,
    recovery,
    refusals,
    registry,
    replay,
    scheduling,
    shares,
    signatures,
    waiting,
)
from worker_conformance.selftest.mutants.base import Mutant

__all__ = ["MUTANTS", "NOT_COVERED", "Mutant"]

_AREAS = (
    durability,
    replay,
    signatures,
    canonical,
    coordinators,
    leases,
    later,
    preemption,
    scheduling,
    shares,
    order,
    privacy,
    admission,
    blocking,
    budgets,
    offline,
    operations,
    recovery,
    duties,
    answers,
    refusals,
    registry,
    waiting,
)

MUTANTS: Mapping[str, Mutant] = {one.name: one for area in _AREAS for one in area.MUTANTS}
"""Every mutant by its name."""

NOT_COVERED: Mapping[str, str] = {
    "MON-0031": "the Workers of `leaky` show it, which have a log",
}
"""Checks that no mutant is known to fail, and why."""
