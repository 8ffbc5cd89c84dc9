"""The kill matrix: every check against every Worker that is known to be wrong, lawful or nothing.

Plays the suite's own scenarios and keeps verdicts as data. Never prints; `page` makes text of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from enum import StrEnum
from fnmatch import fnmatch
from time import perf_counter

from attrs import evolve, field, frozen

from worker_conformance.errors import UsageError
from worker_conformance.judge.verdicts import CheckKind, Verdict
from worker_conformance.port.declaration import Declaration
from worker_conformance.port.locate import locate
from worker_conformance.selftest.mutants import MUTANTS, Mutant
from worker_conformance.selftest.null_workers import NULL_WORKERS
from worker_conformance.selftest.variants import VARIANTS, Variant
from worker_conformance.selftest.witnesses import out_of_reach
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import THOROUGH as LONGEST
from worker_conformance.suite.checks import catalogue, info_of, scenarios
from worker_conformance.suite.comparisons.catalogue import COMPARISONS
from worker_conformance.suite.comparisons.judging import judge as judge_comparison
from worker_conformance.suite.engine import RunOptions, left_out
from worker_conformance.suite.play import Played
from worker_conformance.suite.results import DEFAULT_WORKER, Rerun, Tallies

KILLS = frozenset({Verdict.FAIL, Verdict.ADVICE})
"""What counts as noticing a fault: a broken MUST fails, a SHOULD that is not followed is advice."""

_BREAKS_A_PROFILE = frozenset({Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.ADAPTER_ERROR})

TWINS = frozenset(info.check_id for info in COMPARISONS if info.check_id.startswith("TWIN-"))
"""The checks that compare two runs of a Scheduler."""


class Kind(StrEnum):
    """Why a Worker is in the matrix."""

    REFERENCE = "reference"
    MUTANT = "mutant"
    VARIANT = "variant"
    NULL = "null"


@frozen
class Subject:
    """A Worker to play against.

    `areas` are patterns of the vectors worth playing (none: all), `drives` the long checks worth
    playing (None: all that every run has). With `first` these vectors are played first, and nothing
    more once one has noticed something.
    """

    name: str
    kind: Kind
    factory: str
    areas: tuple[str, ...] = ()
    drives: frozenset[str] | None = None
    first: tuple[str, ...] | None = None


@frozen
class Row:
    """One Worker's verdicts by check; checks that were not played are absent.

    `seconds` is how long each check took that was played: a monitor plays nothing of its own.
    """

    name: str
    kind: Kind
    verdicts: Mapping[str, Verdict] = field(factory=dict)
    seconds: Mapping[str, float] = field(factory=dict, eq=False)

    def with_verdict(self, *verdicts: Verdict) -> tuple[str, ...]:
        """The checks that came to one of these verdicts."""
        return tuple(check for check, verdict in self.verdicts.items() if verdict in verdicts)

    def killed_by(self) -> tuple[str, ...]:
        """The checks that noticed this Worker."""
        return self.with_verdict(*KILLS)

    def met(self) -> tuple[str, ...]:
        """The checks that this Worker has met; a monitor has, where it had something to judge."""
        unmet = (Verdict.NOT_CLAIMED, Verdict.INCONCLUSIVE)
        return tuple(
            check
            for check, verdict in self.verdicts.items()
            if check in self.seconds or verdict not in unmet
        )

    def passed_profiles(self) -> tuple[str, ...]:
        """The profiles of which at least one check passes and none breaks the run."""
        by_profile: dict[str, set[Verdict]] = {}
        for check, verdict in self.verdicts.items():
            by_profile.setdefault(info_of(check).profile, set()).add(verdict)
        return tuple(
            profile
            for profile, found in by_profile.items()
            if Verdict.PASS in found and not found & _BREAKS_A_PROFILE
        )


@frozen
class Matrix:
    """Check by Worker, as data."""

    seed: int
    checks: tuple[str, ...]
    rows: tuple[Row, ...]

    def of(self, kind: Kind) -> tuple[Row, ...]:
        """The rows of one kind."""
        return tuple(row for row in self.rows if row.kind is kind)

    def killers_of(self, check: str) -> tuple[str, ...]:
        """The mutants that a check notices."""
        return tuple(r.name for r in self.of(Kind.MUTANT) if r.verdicts.get(check) in KILLS)

    def idle_checks(self) -> tuple[str, ...]:
        """The checks that notice no mutant: each is a defect, or has no mutant yet."""
        return tuple(check for check in self.checks if not self.killers_of(check))

    def of_what_was_played(self) -> Matrix:
        """The same without the checks that no Worker has met: nothing can be said of those."""
        met = {check for row in self.rows for check in row.met()}
        return evolve(self, checks=tuple(check for check in self.checks if check in met))

    def noticed(self) -> tuple[str, ...]:
        """The mutants that any check notices."""
        return tuple(row.name for row in self.of(Kind.MUTANT) if row.killed_by())

    def killed_once(self) -> tuple[str, ...]:
        """The mutants that one check alone notices."""
        return tuple(r.name for r in self.of(Kind.MUTANT) if len(r.killed_by()) == 1)

    def failed_variants(self) -> tuple[str, ...]:
        """The lawful Workers that a check fails."""
        failed = (Verdict.FAIL, Verdict.ADAPTER_ERROR)
        return tuple(r.name for r in self.of(Kind.VARIANT) if r.with_verdict(*failed))

    def passing_nulls(self) -> tuple[str, ...]:
        """The Workers that do nothing of what they claim and pass a profile all the same.

        So are those that pass a check whose witness is something that they never do.
        """
        return tuple(
            row.name
            for row in self.of(Kind.NULL)
            if row.passed_profiles() or out_of_reach(row.name) & set(row.with_verdict(Verdict.PASS))
        )

    def survivors(self) -> tuple[str, ...]:
        """The mutants that a check expected to notice them let live."""
        return tuple(
            row.name
            for row in self.of(Kind.MUTANT)
            if not set(MUTANTS[row.name].killed_by) & set(self.checks) <= set(row.killed_by())
        )


Heard = Callable[[Row], None]
"""Who wants to hear of each Worker that has been judged."""


def subjects() -> Mapping[str, Subject]:
    """Every Worker of the self-test by its name."""
    found = [Subject("reference", Kind.REFERENCE, DEFAULT_WORKER)]
    found += [_of_mutant(one) for one in MUTANTS.values()]
    found += [_of_variant(one) for one in VARIANTS.values()]
    found += [Subject(name, Kind.NULL, factory) for name, factory in NULL_WORKERS.items()]
    return {one.name: one for one in found}


def _of_mutant(one: Mutant) -> Subject:
    """A mutant meets the vectors that should notice it, or show it to monitors."""
    named = [check for check in (*one.killed_by, *one.seen_in) if check in scenarios()]
    return Subject(one.name, Kind.MUTANT, one.factory, tuple(named), frozenset(one.killed_by))


def _of_variant(one: Variant) -> Subject:
    """The long drives are worth playing where the habit is about scheduling."""
    schedules = any(area.startswith("SCHED") for area in one.areas)
    drives = None if schedules else frozenset[str]()
    return Subject(one.name, Kind.VARIANT, one.factory, one.areas, drives)


def widened(subject: Subject) -> Subject:
    """The same Worker, to be played against every vector."""
    return evolve(subject, areas=())


def hurried(subject: Subject) -> Subject:
    """The same Worker, for the checks of a quick run: first those that are about its fault."""
    return evolve(subject, areas=(), drives=frozenset(), first=subject.areas)


def named(names: Iterable[str]) -> tuple[Subject, ...]:
    """The Workers of these names. Raises UsageError for a name that is none."""
    known = subjects()
    return tuple(_known(name, known) for name in names)


def kill_matrix(
    chosen: Sequence[Subject],
    checks: Iterable[str],
    seed: int,
    *,
    jobs: int = 1,
    heard: Heard = lambda _: None,
) -> Matrix:
    """Play the checks against the Workers; monitors are judged by the scenarios among them."""
    wanted = tuple(info_of(check).check_id for check in checks)
    rows: dict[str, Row] = {}
    for row in _rows(chosen, wanted, seed, jobs):
        heard(row)
        rows[row.name] = row
    return Matrix(seed, wanted, tuple(rows[one.name] for one in chosen))


def _rows(chosen: Sequence[Subject], wanted: Sequence[str], seed: int, jobs: int) -> Iterator[Row]:
    """The rows as they come to be, in no order."""
    if jobs <= 1:
        yield from (play_all(one, wanted, seed) for one in chosen)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(play_all, one, wanted, seed) for one in chosen]):
            yield done.result()


def quick_checks() -> tuple[str, ...]:
    """The checks of a quick run."""
    quick = RunOptions(DEFAULT_WORKER, quick=True)
    return tuple(info.check_id for info in catalogue() if not left_out(info, quick))


def all_checks() -> tuple[str, ...]:
    """The catalogue but for what has a list of faulty Workers of its own.

    That is so for properties over generated worlds, and for pairs of worlds that look for leaks.
    """
    return tuple(
        info.check_id
        for info in catalogue()
        if info.kind is not CheckKind.PROPERTY or info.check_id in TWINS
    )


def _known(name: str, known: Mapping[str, Subject]) -> Subject:
    if name not in known:
        raise UsageError("no-such-worker", f"the self-test has no Worker {name!r}")
    return known[name]


def play_all(subject: Subject, checks: Sequence[str], seed: int) -> Row:
    """One row of the matrix."""
    verdicts: dict[str, Verdict] = {}
    seconds: dict[str, float] = {}
    tallies, rerun = Tallies(), Rerun(subject.factory, seed)
    with Bench(locate(subject.factory)) as bench:
        declared = bench.declaration()
        for check in _in_order(subject, checks):
            if (check in scenarios() or check in TWINS) and _is_played(subject, check, declared):
                began = perf_counter()
                played = _played(bench, check, seed)
                seconds[check] = perf_counter() - began
                verdicts[check] = played.verdict
                tallies.add(check, played.sightings)
                if subject.first is not None and played.verdict in KILLS:
                    break
    for check in checks:
        info = info_of(check)
        if not declared.claims(info.profile):
            verdicts[check] = Verdict.NOT_CLAIMED
        elif info.kind is CheckKind.MONITOR:
            verdicts[check] = tallies.result_of(info, rerun, declared.parameters).verdict
    kept = {check: verdicts[check] for check in checks if check in verdicts}
    return Row(subject.name, subject.kind, kept, seconds)


def _in_order(subject: Subject, checks: Sequence[str]) -> list[str]:
    first = [check for check in checks if check in (subject.first or ())]
    return first + [check for check in checks if check not in first]


def _played(bench: Bench, check: str, seed: int) -> Played:
    if check in TWINS:
        return judge_comparison(check, bench, seed)
    return bench.play(scenarios()[check], seed)


def _is_played(subject: Subject, check: str, declared: Declaration) -> bool:
    info = info_of(check)
    if not declared.claims(info.profile):
        return False
    if LONGEST in info.needs:  # takes a minute: for those only that should fail it
        return subject.drives is not None and check in subject.drives
    if info.kind is CheckKind.FAIRNESS or check in TWINS:
        return subject.drives is None or check in subject.drives
    return not subject.areas or any(fnmatch(check, area) for area in subject.areas)
