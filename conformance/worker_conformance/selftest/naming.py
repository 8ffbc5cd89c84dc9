"""Whether the mutants name what exists, asked before they are played.

A check that does not exist notices nothing, and nobody would miss it. Never plays anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from worker_conformance.errors import UsageError
from worker_conformance.scenario.requirements import unknown_requirement
from worker_conformance.scenario.values import did_you_mean
from worker_conformance.selftest.matrix import Subject, all_checks
from worker_conformance.selftest.mutants import MUTANTS, Mutant
from worker_conformance.suite.checks import requirements, scenarios


def refuse_misnamed(chosen: Iterable[Subject]) -> None:
    """Raise UsageError for a mutant that names a check, a vector or a requirement there is not."""
    for mutant in (MUTANTS[one.name] for one in chosen if one.name in MUTANTS):
        for wrong, hint in _misnamed(mutant):
            raise UsageError("mutant", f"the mutant {mutant.name}: {wrong}", hint, mutant.factory)


def _misnamed(mutant: Mutant) -> Iterator[tuple[str, str]]:
    yield from _strangers(mutant.killed_by, all_checks(), "killed_by", "no check of the self-test")
    yield from _strangers(mutant.seen_in, scenarios(), "seen_in", "no vector")
    if mutant.requirement not in requirements():
        yield unknown_requirement(mutant.requirement, requirements())


def _strangers(
    names: Iterable[str], known: Collection[str], member: str, kind: str
) -> Iterator[tuple[str, str]]:
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            hint = hint if hint.startswith("did") else "'worker-conformance list' names all checks"
            yield f"{member} names {name}, which is {kind}", hint
