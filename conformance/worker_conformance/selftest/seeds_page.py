"""What came of many seeds, as a page of Markdown.

Reads the trials of a campaign. Never plays anything: the same file gives the same page, byte for
byte.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from worker_conformance.documents.canonical import sha256_of
from worker_conformance.port.digest import adapter_digest
from worker_conformance.selftest.mutants import MUTANTS
from worker_conformance.selftest.runs import Run, runs_in
from worker_conformance.selftest.seeds import Sort, States, Trial, tasks, trials_in
from worker_conformance.suite.results import DEFAULT_WORKER

FOLDER = Path("docs") / "many-seeds"
TRIALS = "trials.jsonl"
RUNS = "runs.jsonl"
COMMAND = "python -m worker_conformance.selftest.seeds_page > docs/many-seeds.md"

PREFACE = f"""# The same over many seeds

A seed steers keys, identifiers, canaries and what is drawn. What
[the kill matrix](kill-matrix.md) shows for one seed is repeated here for many: each mutant against
the checks that are expected to notice it, as an ordinary run has them, up to the first that does;
each lawful variant against the vectors that its habit is about, the long drives left out, and all
monitors; and each check that measures, compares or generates worlds against Workers that it has to
notice by itself, alone. And the reference Worker passes the whole ordinary run under each.

```sh
python -m worker_conformance.selftest.seeds docs/many-seeds/trials.jsonl 1 20 2   # two at a time
python -m worker_conformance.selftest.runs docs/many-seeds/runs.jsonl 1 100       # one by one
{COMMAND}
```

A campaign goes on where it was ended, plays again what meets a changed check, and refuses to mix
results of different code of the reference Worker."""


@frozen
class Recorded:
    """The digest of the code that was played, what the checks were, and the trials of both.

    `older` counts the trials in which a check was something else; they say nothing any more. `runs`
    are whole ordinary runs against the reference Worker, under a head of their own.
    """

    code: str
    states: States
    trials: tuple[Trial, ...]
    older: int = 0
    runs_of: Mapping[str, str] = field(factory=dict)
    runs: tuple[Run, ...] = ()

    def of(self, sort: Sort) -> tuple[Trial, ...]:
        """The trials of one sort."""
        return tuple(one for one in self.trials if one.sort is sort)


def read(folder: Path) -> Recorded:
    """What stands in the file of a campaign."""
    head, *lines = _lines(folder / TRIALS)
    trials = tuple(trials_in(lines))
    states = trials[-1].states if trials else {}
    current = tuple(one for one in trials if one.states == states)
    runs_of, *runs = _lines(folder / RUNS) or ({},)
    older = len(trials) - len(current)
    return Recorded(head["code"], states, current, older, runs_of, runs_in(runs))


def _lines(path: Path) -> list[Any]:
    """The lines of a file, none where there is no such file."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def digest(states: States) -> str:
    """One digest for all that the checks were."""
    return sha256_of(dict(states))


def render(recorded: Recorded) -> str:
    """The page of the documentation."""
    sections = (_summary, _runs, _mutants, _variants, _power)
    return "\n\n".join([PREFACE, *("\n".join(one(recorded)) for one in sections)]) + "\n"


def _summary(recorded: Recorded) -> Iterator[str]:
    mutants, variants = recorded.of(Sort.MUTANT), recorded.of(Sort.VARIANT)
    pairs = recorded.of(Sort.POWER)
    noticed = sum(bool(one.failed) for one in mutants)
    passed = sum(not one.failed for one in variants)
    found = sum(bool(one.failed) for one in pairs)
    yield "## Summary"
    yield ""
    yield f"* Code of the reference Worker `{recorded.code}`, checks `{digest(recorded.states)}`."
    if recorded.code != adapter_digest(DEFAULT_WORKER):
        yield "* The reference Worker has changed since: its mutants and variants are others now."
    yield (
        f"* {_workers(mutants)} mutants over {_seeds(mutants)}: noticed "
        f"{noticed} of {len(mutants)} times{_percent(noticed, len(mutants))}."
    )
    yield (
        f"* {_workers(variants)} lawful variants over {_seeds(variants)}: passed {passed} of "
        f"{len(variants)} times{_percent(passed, len(variants))}."
    )
    yield (
        f"* {_workers(pairs)} pairs of a check that draws and a Worker that it has to notice, over "
        f"{_seeds(pairs)}: noticed {found} of {len(pairs)} times{_percent(found, len(pairs))}."
    )
    due = {sort: {one.worker for one in tasks().values() if one.sort is sort} for sort in Sort}
    left_out = sorted(set(MUTANTS) - due[Sort.MUTANT])
    yield (
        f"* Mutants that are not played, because thorough runs alone notice them: {len(left_out)} "
        f"({', '.join(left_out)})."
    )
    played = {one.worker for one in (*mutants, *variants)}
    later = sorted((due[Sort.MUTANT] | due[Sort.VARIANT]) - played)
    if later:
        yield f"* Workers that came after this campaign: {len(later)} ({', '.join(later)})."
    if recorded.older:
        yield f"* Trials in which some check was something else, not counted: {recorded.older}."


def _runs(recorded: Recorded) -> Iterator[str]:
    """Whole runs, and whatever in them was not a pass."""
    yield "## Whole ordinary runs against the reference Worker"
    yield ""
    runs = sorted(recorded.runs, key=lambda one: one.seed)
    if not runs:
        yield "None was recorded."
        return
    clean = sum(not one.exit_code and one.passed == one.executed for one in runs)
    of = recorded.runs_of
    seconds = sorted(one.seconds for one in runs)
    yield (
        f"Code of the reference Worker `{of['code']}`, suite `{of['suite']}`, vectors "
        f"`{of['vectors']}`."
    )
    yield ""
    yield (
        f"{clean} of {len(runs)} runs, seeds {runs[0].seed} to {runs[-1].seed}, came to nothing "
        f"but passes and exit code 0: {sum(one.passed for one in runs)} of "
        f"{sum(one.executed for one in runs)} executed checks. A run took "
        f"{seconds[len(seconds) // 2]:.0f} seconds in the median, {seconds[-1]:.0f} at most."
    )
    for one in runs:
        if one.exit_code or one.alarms:
            alarms = ", ".join(f"{name} ({verdict})" for name, verdict in one.alarms.items())
            yield f"* Seed {one.seed}, exit code {one.exit_code}: {alarms}"


def _mutants(recorded: Recorded) -> Iterator[str]:
    """Those that lived under some seed."""
    yield "## Mutants that some seed let live"
    yield ""
    trials = recorded.of(Sort.MUTANT)
    living = _grouped([one for one in trials if not one.failed])
    if not living:
        yield "None."
        return
    yield "| Mutant | lived under | of |"
    yield "|---|---|---|"
    for name, found in living.items():
        all_seeds = sum(one.worker == name for one in trials)
        yield f"| {name} | {', '.join(str(one.seed) for one in found)} | {all_seeds} seeds |"


def _variants(recorded: Recorded) -> Iterator[str]:
    """Those that failed something under some seed."""
    yield "## Lawful variants that failed under some seed"
    yield ""
    failed = _grouped([one for one in recorded.of(Sort.VARIANT) if one.failed])
    if not failed:
        yield "None."
        return
    yield "| Variant | seed | failed |"
    yield "|---|---|---|"
    for name, found in failed.items():
        for one in found:
            yield f"| {name} | {one.seed} | {', '.join(one.failed)} |"


def _power(recorded: Recorded) -> Iterator[str]:
    """How often a check that draws notices by itself what it is about."""
    yield "## Checks that measure, compare or generate worlds"
    yield ""
    yield (
        "In a whole run other checks look at the same Worker; here each stands alone, with as many "
        "worlds as an ordinary run gives it."
    )
    yield ""
    yield "| Check | Worker | noticed | missed under |"
    yield "|---|---|---|---|"
    for name, found in _grouped(recorded.of(Sort.POWER)).items():
        check, _, worker = name.partition(" ")
        missed = [str(one.seed) for one in found if not one.failed]
        yield (
            f"| {check} | {worker} | {len(found) - len(missed)} of {len(found)} | "
            f"{', '.join(missed) or '—'} |"
        )


def _grouped(trials: Sequence[Trial]) -> dict[str, list[Trial]]:
    found: dict[str, list[Trial]] = {}
    for one in sorted(trials, key=lambda one: (one.worker, one.seed)):
        found.setdefault(one.worker, []).append(one)
    return found


def _workers(trials: Sequence[Trial]) -> int:
    return len({one.worker for one in trials})


def _seeds(trials: Sequence[Trial]) -> str:
    seeds = sorted({one.seed for one in trials})
    return f"{len(seeds)} seeds ({seeds[0]} to {seeds[-1]})" if seeds else "no seed"


def _percent(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.2f} %)" if whole else ""


def main(_: Sequence[str]) -> int:
    """Print the page of the campaign in the documentation."""
    sys.stdout.write(render(read(FOLDER)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
