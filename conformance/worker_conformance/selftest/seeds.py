"""The same Workers over many seeds: how surely the faulty are noticed, and the lawful pass.

A mutant meets the checks that are expected to notice it, as an ordinary run has them, and one of
them has to; a variant meets the vectors that its habit is about, but for the long drives, with all
monitors, and may fail nothing; a check that measures or draws meets a Worker that it has to notice
by itself. Each trial is written down as soon as it has been judged, beside what its checks were
then: a campaign goes on where it was ended, and plays again what meets a changed check. That a
mutant's own fault has changed it does not see. Never changes what a check says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from enum import StrEnum
from fnmatch import fnmatch
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from attrs import define, evolve, field, frozen

from worker_conformance.documents.canonical import sha256_of
from worker_conformance.judge.verdicts import CheckKind, Verdict
from worker_conformance.port.digest import adapter_digest
from worker_conformance.scenario.dump import to_line
from worker_conformance.selftest import power
from worker_conformance.selftest.logbook import Logbook, arguments_of, told
from worker_conformance.selftest.matrix import Kind, Subject, all_checks, play_all, subjects
from worker_conformance.selftest.mutants import MUTANTS
from worker_conformance.suite.checks import THOROUGH, catalogue, info_of, scenarios
from worker_conformance.suite.results import DEFAULT_WORKER

DIGITS = 12  # of a digest: they only tell what a check was from what it is

States = Mapping[str, str]
"""What checks were when they were played, by their IDs."""


class Sort(StrEnum):
    """What a trial is about."""

    MUTANT = "mutant"
    VARIANT = "variant"
    POWER = "power"


@frozen
class Task:
    """One Worker, and the checks that it meets under every seed."""

    worker: str
    sort: Sort
    checks: tuple[str, ...]


@frozen
class Trial:
    """One Worker under one seed, and the checks that it failed (a mutant: the first of them)."""

    worker: str
    sort: Sort
    seed: int
    failed: tuple[str, ...]
    states: States = field(factory=dict, eq=False, repr=False)


# --- what is played -------------------------------------------------------------------


def tasks() -> Mapping[str, Task]:
    """All variants, the mutants that an ordinary run may notice, and the pairs of `power`."""
    return {one.worker: one for one in (*_of_workers(), *_of_pairs())}


def _of_workers() -> Iterator[Task]:
    for one in subjects().values():
        if one.kind is Kind.VARIANT:
            yield Task(one.name, Sort.VARIANT, _own_vectors(one))
        elif one.kind is Kind.MUTANT and any(map(_is_played, _own_checks(one))):
            yield Task(one.name, Sort.MUTANT, _own_checks(one))


def _of_pairs() -> Iterator[Task]:
    return (Task(name, Sort.POWER, (pair.check,)) for name, pair in power.pairs().items())


def _own_vectors(subject: Subject) -> tuple[str, ...]:
    """The vectors that a variant's habit is about."""
    vectors = (one.check_id for one in catalogue() if one.kind is CheckKind.VECTOR)
    return tuple(one for one in vectors if any(fnmatch(one, area) for area in subject.areas))


def _own_checks(subject: Subject) -> tuple[str, ...]:
    """What an ordinary run has of the checks that are expected to notice a mutant."""
    named = {*MUTANTS[subject.name].killed_by, *MUTANTS[subject.name].seen_in}
    return tuple(one for one in all_checks() if one in named and THOROUGH not in info_of(one).needs)


def _is_played(check: str) -> bool:
    return info_of(check).kind is not CheckKind.MONITOR


@cache
def present() -> States:
    """What each check is today: what a vector says, and the code that draws and compares worlds."""
    vectors = {name: sha256_of(to_line(one)) for name, one in scenarios().items()}
    drawn = power.drawing_digest()
    generated = {one.check_id: drawn for one in catalogue() if one.kind is CheckKind.PROPERTY}
    digests = {**vectors, **generated}
    return {name: text.removeprefix("sha256:")[:DIGITS] for name, text in digests.items()}


def play(task: Task, checks: Sequence[str], seed: int) -> Trial:
    """Put one Worker to these checks under one seed."""
    return Trial(task.worker, task.sort, seed, _failed(task, checks, seed), present())


def _failed(task: Task, checks: Sequence[str], seed: int) -> tuple[str, ...]:
    if task.sort is Sort.POWER:
        return tuple(checks) if power.is_noticed(power.pairs()[task.worker], seed) else ()
    subject = subjects()[task.worker]
    if task.sort is Sort.MUTANT:
        return play_all(evolve(subject, first=subject.areas), checks, seed).killed_by()[:1]
    monitors = [one.check_id for one in catalogue() if one.kind is CheckKind.MONITOR]
    row = play_all(evolve(subject, drives=frozenset()), [*checks, *monitors], seed)
    return row.with_verdict(Verdict.FAIL, Verdict.ADAPTER_ERROR)


# --- a campaign -----------------------------------------------------------------------


@define
class Campaign:
    """Trials, and the file in which they stand.

    In the file a line with `checks` says what the checks were in the trials that follow it.
    """

    results: Path
    done: dict[tuple[str, int], Trial] = field(factory=dict)
    _written: States = field(factory=dict)

    @property
    def logbook(self) -> Logbook:
        """Where they are written down, under the digest of the code that was played."""
        return Logbook(self.results, {"code": adapter_digest(DEFAULT_WORKER)})

    def load(self) -> None:
        """Take up what an earlier run has written; raises UsageError for other code."""
        for trial in trials_in(self.logbook.open()):
            self._keep(trial)
            self._written = trial.states

    def holding(self) -> tuple[Trial, ...]:
        """The trials of which nothing has changed since."""
        known = tasks()
        return tuple(
            one
            for one in self.done.values()
            if one.worker in known and not self.waiting(known[one.worker], one.seed)
        )

    def waiting(self, task: Task, seed: int) -> tuple[str, ...]:
        """The checks that a Worker has still to be put to under a seed.

        A variant that has failed nothing meets only what has changed; all others meet everything.
        """
        known = self.done.get((task.worker, seed))
        if known is None:
            return task.checks
        now = present()
        changed = tuple(one for one in task.checks if now.get(one) != known.states.get(one))
        alone = task.sort is Sort.VARIANT and not known.failed
        return changed if alone or not changed else task.checks

    def run(self, seeds: Sequence[int], jobs: int) -> None:
        """Play what is open, a seed after the other, and write the file anew when that is done."""
        with ProcessPoolExecutor(jobs) as pool:
            for seed in seeds:
                open_ = {one: self.waiting(one, seed) for one in tasks().values()}
                calls = [pool.submit(play, one, open_[one], seed) for one in open_ if open_[one]]
                for number, ended in enumerate(as_completed(calls), start=1):
                    trial = ended.result()
                    self.keep(trial)
                    told = ", ".join(trial.failed) or "nothing failed"
                    sys.stderr.write(
                        f"seed {seed}  {number}/{len(calls)}  {trial.worker}  {told}\n"
                    )
        self._tidy()
        self.logbook.rewrite(_lines(self.done.values()))

    def _tidy(self) -> None:
        """Leave out Workers that are gone, and count what still holds among today's trials."""
        known = tasks()
        self.done = {key: one for key, one in self.done.items() if one.worker in known}
        for one in self.holding():
            self._keep(evolve(one, states=present()))

    def keep(self, trial: Trial) -> None:
        """Write a trial down."""
        self._keep(trial)
        for line in _lines([trial]):
            if line.get("checks") != self._written:
                self.logbook.append(line)
        self._written = trial.states

    def _keep(self, trial: Trial) -> None:
        self.done[trial.worker, trial.seed] = trial


def trials_in(lines: Iterable[Mapping[str, Any]]) -> Iterator[Trial]:
    """The trials that stand in the lines of a file, its head left out."""
    states: States = {}
    for line in lines:
        if "checks" in line:
            states = line["checks"]
            continue
        for seed in line["seeds"]:
            failed = tuple(line["failed"])
            yield Trial(line["worker"], Sort(line["sort"]), seed, failed, states)


def _lines(trials: Iterable[Trial]) -> Iterator[dict[str, object]]:
    """A line for each Worker and what it failed, after what the checks were at that time.

    Today's come last.
    """

    def place(one: Trial) -> tuple[object, ...]:
        return one.states == present(), sorted(one.states.items()), one.worker, one.failed

    ordered = sorted(trials, key=place)
    for states, of_states in groupby(ordered, key=lambda one: one.states):
        yield {"checks": dict(states)}
        for key, alike in groupby(of_states, key=lambda one: (one.worker, one.sort, one.failed)):
            worker, sort, failed = key
            seeds = sorted(one.seed for one in alike)
            yield {"worker": worker, "sort": sort, "seeds": seeds, "failed": failed}


def main(arguments: Sequence[str]) -> int:
    """`FILE FIRST LAST JOBS`: the campaign, its seeds, and how many Workers at a time."""
    file, (first, last, jobs) = arguments_of(arguments, 3, main.__doc__)
    campaign = Campaign(file)
    campaign.load()
    campaign.run(range(first, last + 1), jobs)
    return 0


if __name__ == "__main__":
    sys.exit(told(main))
