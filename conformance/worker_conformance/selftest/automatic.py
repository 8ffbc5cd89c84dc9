"""Mutants that nobody thought of: the reference Worker's own code, changed by a machine.

Cosmic Ray finds the places and makes the changes; the suite alone judges what comes of them, one
mutant to a process, and stops at the first check that notices. The order of the mutants is drawn
once from a seed, so that the first thousand are a fair sample of all, and each is written down as
soon as it has been judged: a campaign goes on where it was ended.
"""

from __future__ import annotations

import ast
import hashlib
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import yaml
from attrs import asdict, define, field, frozen
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from worker_conformance.errors import UsageError
from worker_conformance.judge.verdicts import CheckKind, Verdict
from worker_conformance.port.digest import adapter_digest
from worker_conformance.port.locate import locate
from worker_conformance.selftest.logbook import Logbook, told
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import THOROUGH, CheckInfo, catalogue, info_of, scenarios
from worker_conformance.suite.comparisons.catalogue import BY_ID as COMPARISONS
from worker_conformance.suite.comparisons.judging import judge as judge_comparison
from worker_conformance.suite.engine import WORLDS
from worker_conformance.suite.play import Sighting
from worker_conformance.suite.properties.check import run_property
from worker_conformance.suite.properties.saving import Origin
from worker_conformance.suite.properties.theatre import Theatre
from worker_conformance.suite.results import DEFAULT_WORKER

PACKAGE = "reference_worker"
FOLDER = Path("docs") / "automatic-mutants"
EXCUSES = FOLDER / "excuses.yaml"
NOT_CORE = frozenset({"__init__", "__main__", "_version"})
"""Modules that hold no rule of the protocol: the command line, and what names the package."""

SILENCE_MAX_SECONDS = 180.0
"""A mutant of which no check has come to an end for so long hangs, and is counted as noticed."""

UNDECIDED = "undecided"
"""What the vectors let live, before the second pass."""

NOTICED = frozenset(
    {Verdict.FAIL, Verdict.ADVICE, Verdict.ADAPTER_ERROR, Verdict.INCONCLUSIVE, Verdict.ABSTAINED}
)
"""Verdicts that the reference Worker never gets, so that a run of the suite tells them apart."""


class Place(NamedTuple):
    """One change: the module, Cosmic Ray's operator, and which of its places in the module."""

    module: str
    operator: str
    occurrence: int

    @property
    def name(self) -> str:
        """How the mutant is called in results."""
        return f"{self.module}:{self.operator.removeprefix('core/')}:{self.occurrence}"


@frozen
class Outcome:
    """What came of one mutant. `by` is the check that noticed it, or the one at which it died.

    `verdict` is that check's, or `died`, `hangs`, `not up`, `undecided`; `line` is where the change
    is, `before` and `after` that line.
    """

    mutant: str
    noticed: bool
    by: str
    verdict: str
    line: int
    before: str
    after: str
    seconds: float


@cache
def source_folder() -> Path:
    """The folder of the reference Worker's package; it is read and never written."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise UsageError("no-reference", f"there is no package {PACKAGE}", "install this project")
    return Path(found.origin).parent


def places(seed: int) -> list[Place]:
    """Every place, in the order drawn from the seed."""
    found = [
        Place(path.stem, operator, occurrence)
        for path in sorted(source_folder().glob("*.py"))
        if path.stem not in NOT_CORE
        for operator, occurrence in _places_in(path)
    ]
    return sorted(found, key=lambda one: hashlib.sha256(f"{seed}:{one.name}".encode()).digest())


@cache
def excused() -> Mapping[str, str]:
    """The survivors that are no holes in the suite, and why: nobody has to play these again."""
    return yaml.safe_load(EXCUSES.read_text("utf-8")) or {} if EXCUSES.is_file() else {}


def _places_in(path: Path) -> Iterator[tuple[str, int]]:
    source = path.read_text(encoding="utf-8")
    tree, unread = get_ast(source), list(annotations_in(source))
    for name in operator_names():
        operator_class = get_operator(name)
        if operator_class.arguments():
            continue
        operator = operator_class()
        spots = (spot for node in ast_nodes(tree) for spot in operator.mutation_positions(node))
        for occurrence, (start, end) in enumerate(spots):
            if not any(first <= start and end <= last for first, last in unread):
                yield name, occurrence


def annotations_in(source: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where types stand: nothing runs there."""
    for node in ast.walk(ast.parse(source)):
        for kind in ("annotation", "returns"):
            one = getattr(node, kind, None)
            if isinstance(one, ast.expr):
                end = (one.end_lineno or one.lineno, one.end_col_offset or one.col_offset)
                yield (one.lineno, one.col_offset), end


def mutated(place: Place) -> tuple[str, str]:
    """The module's text before and after the change."""
    before = (source_folder() / f"{place.module}.py").read_text(encoding="utf-8")
    after = mutate_code(before, get_operator(place.operator)(), place.occurrence)
    return before, str(after)


# --- one mutant -----------------------------------------------------------------------


@cache
def checks(*, second: bool) -> tuple[str, ...]:
    """What a default run plays: the vectors, or in the second pass all the rest."""
    played = [i for i in catalogue() if i.kind in _PLAYED and THOROUGH not in i.needs]
    return tuple(i.check_id for i in played if second == (i.kind is not CheckKind.VECTOR))


_PLAYED = frozenset({CheckKind.VECTOR, CheckKind.FAIRNESS, CheckKind.PROPERTY})


def judge(place: Place, order: Sequence[str], seed: int, reply: Connection) -> None:
    """In a process of its own: play checks until one notices, and say so."""
    with tempfile.TemporaryDirectory(prefix="worker-mutant-") as folder:
        _install(place, Path(folder))
        try:
            with Bench(locate(DEFAULT_WORKER)) as bench:
                bench.declaration()
                theatre = Theatre(bench, seed)
                for check_id in order:
                    reply.send(check_id)
                    verdict, by = _verdict(info_of(check_id), bench, theatre, seed)
                    if verdict in NOTICED:
                        reply.send((by, str(verdict)))
                        return
        except Exception as error:  # noqa: BLE001 - a mutant may not even come up
            reply.send((type(error).__name__, "not up"))
            return
        reply.send(("", str(Verdict.PASS)))


def _install(place: Place, folder: Path) -> None:
    """A copy of the package with the change in it, in front of the true one for every process."""
    copy = folder / PACKAGE
    shutil.copytree(source_folder(), copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / f"{place.module}.py").write_text(mutated(place)[1], encoding="utf-8")
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    )


def _verdict(info: CheckInfo, bench: Bench, theatre: Theatre, seed: int) -> tuple[Verdict, str]:
    """The first verdict of this check, or of a monitor beside it, that is not a pass."""
    sightings: Sequence[Sighting]
    if info.check_id in COMPARISONS:
        played = judge_comparison(info.check_id, bench, seed)
        verdict, sightings = played.verdict, played.sightings
    elif info.kind is CheckKind.PROPERTY:
        run = run_property(info.check_id, theatre, WORLDS, Origin(DEFAULT_WORKER, seed), None)
        verdict, sightings = run.verdict, run.sightings
    else:
        played = bench.play(scenarios()[info.check_id], seed)
        verdict, sightings = played.verdict, played.sightings
    if verdict in NOTICED:
        return verdict, info.check_id
    seen = [one.check_id for one in sightings if one.failure is not None]
    return (Verdict.FAIL, seen[0]) if seen else (verdict, info.check_id)


# --- a campaign -----------------------------------------------------------------------


@define
class Campaign:
    """Mutants judged one after another, and the file in which they stand.

    `kills` remembers which check noticed how many mutants of a module: it is played earlier next
    time. That changes how long a campaign takes and which check is named, never what is noticed.
    """

    seed: int
    results: Path
    done: dict[str, Outcome] = field(factory=dict)
    kills: dict[str, Counter[str]] = field(factory=dict)

    def load(self) -> None:
        """Take up what an earlier run has written; raises UsageError for other code or seed."""
        for line in self._logbook.open():
            self._keep(Outcome(**line))

    @property
    def _logbook(self) -> Logbook:
        return Logbook(self.results, {"seed": self.seed, "code": adapter_digest(DEFAULT_WORKER)})

    def run(self, wanted: Sequence[Place], jobs: int, *, second: bool = False) -> None:
        """Judge what is not judged yet, `jobs` at a time; in the second pass what is undecided."""
        checks(second=second), scenarios()  # read once, before the processes part
        undecided = {name for name, one in self.done.items() if one.verdict == UNDECIDED}
        waiting = [one for one in wanted if one.name not in self.done]
        if second:
            waiting = [one for one in wanted if one.name in undecided]
        running: dict[Connection, _Trial] = {}
        while waiting or running:
            while waiting and len(running) < jobs:
                trial = _Trial.start(waiting.pop(0), self, second=second)
                running[trial.answers] = trial
            ready = wait(list(running), timeout=1.0)
            for answers, trial in tuple(running.items()):
                outcome = trial.look(is_ready=answers in ready)
                if outcome is not None:
                    del running[answers]
                    self._write(outcome)

    def order(self, module: str, *, second: bool = False) -> list[str]:
        """The checks of a pass, those first that have noticed most."""
        here, all_of_them = self.kills.get(module, Counter()), Counter[str]()
        for counter in self.kills.values():
            all_of_them.update(counter)
        return sorted(checks(second=second), key=lambda name: (-here[name], -all_of_them[name]))

    def _keep(self, outcome: Outcome) -> None:
        self.done[outcome.mutant] = outcome
        module = outcome.mutant.partition(":")[0]
        self.kills.setdefault(module, Counter())[outcome.by] += 1

    def _write(self, outcome: Outcome) -> None:
        self._keep(outcome)
        self._logbook.append(asdict(outcome))
        noticed = sum(one.noticed for one in self.done.values())
        word = f"{outcome.by} ({outcome.verdict})" if outcome.noticed else outcome.verdict
        sys.stderr.write(f"{noticed}/{len(self.done)}  {outcome.mutant}  {word}\n")


@define(eq=False)
class _Trial:
    """One mutant in its process."""

    place: Place
    process: multiprocessing.process.BaseProcess
    answers: Connection
    began: float
    heard: float
    second: bool
    at: str = ""

    @classmethod
    def start(cls, place: Place, campaign: Campaign, *, second: bool) -> _Trial:
        """Begin to judge it."""
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe(duplex=False)
        order = campaign.order(place.module, second=second)
        arguments = (place, order, campaign.seed, theirs)
        process = context.Process(target=judge, args=arguments)
        process.start()
        theirs.close()
        return cls(place, process, ours, perf_counter(), perf_counter(), second)

    def look(self, *, is_ready: bool) -> Outcome | None:
        """What has come of it, if anything has."""
        ended: tuple[str, str] | None = None
        if is_ready:
            self.heard = perf_counter()
            try:
                said = self.answers.recv()
            except EOFError:
                ended = (self.at, "died")
            else:
                self.at = said if isinstance(said, str) else self.at
                ended = said if isinstance(said, tuple) else None
        elif perf_counter() - self.heard > SILENCE_MAX_SECONDS:
            ended = (self.at, "hangs")
        if ended is None:
            return None
        self.process.kill()
        self.process.join()
        self.answers.close()
        return self._outcome(*ended)

    def _outcome(self, by: str, verdict: str) -> Outcome:
        line, before, after = _difference(*mutated(self.place))
        survives = verdict == Verdict.PASS
        return Outcome(
            self.place.name,
            not survives,
            by,
            UNDECIDED if survives and not self.second else verdict,
            line,
            before,
            after,
            round(perf_counter() - self.began, 1),
        )


def _difference(before: str, after: str) -> tuple[int, str, str]:
    old, new = before.splitlines(), after.splitlines()
    for number, (one, other) in enumerate(zip(old, new, strict=False), start=1):
        if one != other:
            return number, one.strip(), other.strip()
    return len(old), "", ""


def main(arguments: Sequence[str]) -> int:
    """`python -m worker_conformance.selftest.automatic FILE COUNT JOBS [second]`."""
    file, count, jobs, *rest = arguments
    campaign = Campaign(seed=1, results=Path(file))
    campaign.load()
    wanted, second = places(campaign.seed)[: int(count)], rest == ["second"]
    if second:
        wanted = [place for place in wanted if place.name not in excused()]
    campaign.run(wanted, int(jobs), second=second)
    return 0


if __name__ == "__main__":
    sys.exit(told(main))
