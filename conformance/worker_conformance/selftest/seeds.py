"""The same Workers over many seeds: how surely the faulty are noticed, and the lawful pass.

A mutant meets the checks that are expected to notice it, as an ordinary run has them, and one of
them has to; a variant meets the vectors that its habit is about, but for the long drives, with all
monitors, and may fail nothing. Each pair of Worker and seed is written down as soon as it has been
judged, and a campaign goes on where it was ended. Prints the page of the documentation; never
changes what a check says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from attrs import asdict, define, evolve, field, frozen

from worker_conformance.errors import UsageError
from worker_conformance.errors import render as render_error
from worker_conformance.judge.verdicts import CheckKind, Verdict
from worker_conformance.port.digest import adapter_digest
from worker_conformance.selftest.logbook import Logbook
from worker_conformance.selftest.matrix import Kind, Subject, all_checks, play_all, subjects
from worker_conformance.selftest.mutants import MUTANTS
from worker_conformance.suite.checks import THOROUGH, catalogue, info_of, vector_digest
from worker_conformance.suite.results import DEFAULT_WORKER

PREFACE = """# The same over many seeds

A seed steers keys, identifiers, canaries and what is drawn. What
[the kill matrix](kill-matrix.md) shows for one seed is repeated here for many: each mutant against
the checks that are expected to notice it, as an ordinary run has them, up to the first that does;
each lawful variant against the vectors that its habit is about, the long drives left out, and all
monitors.

```sh
python -m worker_conformance.selftest.seeds FILE 1 20 2     # seeds 1 to 20, two Workers at a time
python -m worker_conformance.selftest.seeds FILE > docs/many-seeds.md
```

A campaign goes on where it was ended, and refuses to mix results of
different vectors, or of different code of the reference Worker."""


@frozen
class Trial:
    """One Worker under one seed, and the checks that it failed (a mutant: up to the first)."""

    worker: str
    kind: str
    seed: int
    failed: tuple[str, ...]


def wanted() -> Iterator[Subject]:
    """The Workers of a campaign: all variants, and all mutants that an ordinary run may notice."""
    for one in subjects().values():
        if one.kind is Kind.VARIANT:
            yield evolve(one, drives=frozenset())
        elif one.kind is Kind.MUTANT and any(map(_is_played, _own_checks(one))):
            yield evolve(one, first=one.areas)


def _is_played(check: str) -> bool:
    return info_of(check).kind is not CheckKind.MONITOR


def _own_checks(subject: Subject) -> list[str]:
    """What an ordinary run has of the checks that are expected to notice a mutant."""
    named = {*MUTANTS[subject.name].killed_by, *MUTANTS[subject.name].seen_in}
    return [one for one in all_checks() if one in named and THOROUGH not in info_of(one).needs]


def play(subject: Subject, seed: int) -> Trial:
    """Judge one Worker under one seed."""
    if subject.kind is Kind.MUTANT:
        noticed = play_all(subject, _own_checks(subject), seed).killed_by()
        return Trial(subject.name, subject.kind.value, seed, noticed[:1])
    kinds = (CheckKind.VECTOR, CheckKind.MONITOR)
    lawful = [info.check_id for info in catalogue() if info.kind in kinds]
    failed = play_all(subject, lawful, seed).with_verdict(Verdict.FAIL, Verdict.ADAPTER_ERROR)
    return Trial(subject.name, subject.kind.value, seed, failed)


@define
class Campaign:
    """Trials, and the file in which they stand."""

    results: Path
    done: dict[tuple[str, int], Trial] = field(factory=dict)

    @property
    def logbook(self) -> Logbook:
        """Where they are written down, under the digests of what was played."""
        head = {"code": adapter_digest(DEFAULT_WORKER), "vectors": vector_digest()}
        return Logbook(self.results, head)

    def load(self) -> None:
        """Take up what an earlier run has written; raises UsageError for other code or vectors."""
        for line in self.logbook.open():
            self._keep(Trial(**{**line, "failed": tuple(line["failed"])}))

    def run(self, seeds: Sequence[int], jobs: int) -> None:
        """Play what is not played yet, a seed after the other."""
        logbook = self.logbook
        with ProcessPoolExecutor(jobs) as pool:
            for seed in seeds:
                waiting = [one for one in wanted() if (one.name, seed) not in self.done]
                for ended in as_completed([pool.submit(play, one, seed) for one in waiting]):
                    self._keep(ended.result())
                    logbook.append(asdict(ended.result()))
                sys.stderr.write(f"seed {seed}: {len(waiting)} Workers judged\n")

    def _keep(self, trial: Trial) -> None:
        self.done[trial.worker, trial.seed] = trial


# --- the page -------------------------------------------------------------------------


def render(header: Mapping[str, object], trials: Sequence[Trial]) -> str:
    """The page of the documentation."""
    of_kind = {
        kind: [one for one in trials if one.kind == kind.value]
        for kind in (Kind.MUTANT, Kind.VARIANT)
    }
    parts = [PREFACE, "\n".join(_summary(header, of_kind))]
    parts += ["\n".join(_mutants(of_kind[Kind.MUTANT]))]
    parts += ["\n".join(_variants(of_kind[Kind.VARIANT]))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary(
    header: Mapping[str, object], of_kind: Mapping[Kind, Sequence[Trial]]
) -> Iterator[str]:
    mutants, variants = of_kind[Kind.MUTANT], of_kind[Kind.VARIANT]
    lawful = len({one.worker for one in variants})
    noticed = sum(bool(one.failed) for one in mutants)
    passed = sum(not one.failed for one in variants)
    left_out = sorted(set(MUTANTS) - {one.worker for one in mutants})
    yield "## Summary"
    yield ""
    yield f"* Code of the reference Worker `{header['code']}`, vectors `{header['vectors']}`."
    yield (
        f"* {len({one.worker for one in mutants})} mutants over {_seeds(mutants)}: noticed "
        f"{noticed} of {len(mutants)} times{_percent(noticed, len(mutants))}."
    )
    yield (
        f"* {lawful} lawful variants over {_seeds(variants)}: passed {passed} of "
        f"{len(variants)} times{_percent(passed, len(variants))}."
    )
    yield f"* Mutants that a thorough run alone is expected to notice, not played: {len(left_out)}"
    yield f"  ({', '.join(left_out)})."


def _mutants(trials: Sequence[Trial]) -> Iterator[str]:
    """Those that lived under some seed."""
    yield "## Mutants that some seed let live"
    yield ""
    living = _grouped([one for one in trials if not one.failed])
    if not living:
        yield "None."
        return
    yield "| Mutant | lived under | of |"
    yield "|---|---|---|"
    for name, found in living.items():
        all_seeds = sum(one.worker == name for one in trials)
        yield f"| {name} | {', '.join(str(one.seed) for one in found)} | {all_seeds} seeds |"


def _variants(trials: Sequence[Trial]) -> Iterator[str]:
    """Those that failed something under some seed."""
    yield "## Lawful variants that failed under some seed"
    yield ""
    failed = _grouped([one for one in trials if one.failed])
    if not failed:
        yield "None."
        return
    yield "| Variant | seed | failed |"
    yield "|---|---|---|"
    for name, found in failed.items():
        for one in found:
            yield f"| {name} | {one.seed} | {', '.join(one.failed)} |"


def _grouped(trials: Sequence[Trial]) -> dict[str, list[Trial]]:
    found: dict[str, list[Trial]] = {}
    for one in sorted(trials, key=lambda one: (one.worker, one.seed)):
        found.setdefault(one.worker, []).append(one)
    return found


def _seeds(trials: Sequence[Trial]) -> str:
    seeds = sorted({one.seed for one in trials})
    return f"{len(seeds)} seeds ({seeds[0]} to {seeds[-1]})" if seeds else "no seed"


def _percent(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.2f} %)" if whole else ""


def main(arguments: Sequence[str]) -> int:
    """`FILE FIRST LAST JOBS` plays a campaign, `FILE` alone prints its page."""
    file, *numbers = arguments or ("",)
    if not file or len(numbers) not in (0, 3) or not all(map(str.isdecimal, numbers)):
        raise UsageError("arguments", "these are no arguments of a campaign", main.__doc__ or "")
    campaign = Campaign(Path(file))
    campaign.load()
    if numbers:
        first, last, jobs = map(int, numbers)
        campaign.run(range(first, last + 1), jobs)
    else:
        sys.stdout.write(render(campaign.logbook.head, list(campaign.done.values())))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UsageError as mistake:
        sys.exit(render_error(mistake))
