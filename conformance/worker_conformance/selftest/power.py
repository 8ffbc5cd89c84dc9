"""How surely a check that measures or draws notices what it is about.

A vector plays the same course under every seed. What drives a Worker under load, compares worlds
or generates them may see a fault under one seed and miss it under the next: so each such check is
put to a Worker with a fault that it is about. Never says what a check should have noticed: that
stands with the Workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from attrs import frozen

from worker_conformance.errors import SuiteError
from worker_conformance.judge.verdicts import CheckKind, Verdict
from worker_conformance.port.locate import locate
from worker_conformance.scenario import generation
from worker_conformance.selftest import world_faults
from worker_conformance.selftest.leaky import LEAKY
from worker_conformance.selftest.mutants import MUTANTS
from worker_conformance.suite import comparisons, properties
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import THOROUGH, info_of, scenarios
from worker_conformance.suite.comparisons.catalogue import BY_ID as COMPARISONS
from worker_conformance.suite.comparisons.judging import judge as judge_comparison
from worker_conformance.suite.engine import WORLDS
from worker_conformance.suite.properties.catalogue import PROPERTIES
from worker_conformance.suite.properties.judging import judge as judge_property
from worker_conformance.suite.properties.theatre import Theatre

_PROPERTIES = MappingProxyType({info.check_id: info for info in PROPERTIES})
_BROKEN = frozenset({Verdict.FAIL, Verdict.ADVICE})


@frozen
class Pair:
    """A check, and a Worker with a fault that it is about; `factory` as `--worker` names it."""

    check: str
    worker: str
    factory: str

    @property
    def name(self) -> str:
        """How results call it."""
        return f"{self.check} {self.worker}"


def pairs() -> Mapping[str, Pair]:
    """Every pair of an ordinary run, by its name."""
    found = (*_of_mutants(), *_of_worlds())
    return {one.name: one for one in sorted(found, key=lambda one: one.name)}


def _of_mutants() -> Iterator[Pair]:
    for one in (*MUTANTS.values(), *LEAKY):
        for check in one.killed_by:
            info = info_of(check)
            drawn = info.kind in (CheckKind.FAIRNESS, CheckKind.PROPERTY)
            if drawn and THOROUGH not in info.needs:
                yield Pair(check, one.name, one.factory)


def _of_worlds() -> Iterator[Pair]:
    for fault, check in world_faults.FOUND_BY.items():
        yield Pair(check, fault.replace("_", "-"), f"{world_faults.__name__}:{fault}")


def is_noticed(pair: Pair, seed: int) -> bool:
    """Play the check against the Worker once, as an ordinary run does."""
    with Bench(locate(pair.factory)) as bench:
        if pair.check in _PROPERTIES:
            theatre = Theatre(bench, seed)
            judged = judge_property(_PROPERTIES[pair.check], theatre, WORLDS, shorten=False)
            return judged.verdict in _BROKEN
        if pair.check in COMPARISONS:
            return judge_comparison(pair.check, bench, seed).verdict in _BROKEN
        return bench.play(scenarios()[pair.check], seed).verdict in _BROKEN


def drawing_digest() -> str:
    """The digest of the code that decides what is drawn and played."""
    digest = sha256()
    for package in (generation, properties, comparisons):
        if package.__file__ is None:
            raise SuiteError("no-source", f"{package.__name__} has no source to be digested")
        for path in sorted(Path(package.__file__).parent.glob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
