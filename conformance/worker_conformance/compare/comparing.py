"""What differs between results: verdicts, figures, checks that only some of them hold.

Compares each result with the first. Says whenever two results were not judged alike (another suite,
requirement set, vector set or selection), and never decides a verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import frozen

from worker_conformance.judge.verdicts import CheckResult, Measurement, RunResult, Verdict


@frozen
class Column:
    """One result, under a label that no other result of the comparison has."""

    label: str
    result: RunResult

    def check(self, check_id: str) -> CheckResult | None:
        """The result's verdict on one check, if it holds one."""
        return next((one for one in self.result.checks if one.check_id == check_id), None)


@frozen
class Row:
    """One check with its verdict in each result; None where a result does not hold it."""

    check_id: str
    title: str
    requirement: str
    profile: str
    verdicts: tuple[Verdict | None, ...]

    @property
    def differs(self) -> bool:
        """Whether the results disagree about this check."""
        return len(set(self.verdicts)) > 1


@frozen
class VerdictChange:
    """A check that two results disagree about."""

    check_id: str
    title: str
    before: Verdict
    after: Verdict


@frozen
class FigureChange:
    """A figure that two results disagree about; None where one of them does not hold it."""

    check_id: str
    name: str
    unit: str
    before: Measurement | None
    after: Measurement | None


@frozen
class Changes:
    """One result against the first. `not_alike` says why the two were not judged alike.

    `not_fixed` are the checks that break either run, with one and the same verdict.
    """

    label: str
    not_alike: tuple[str, ...]
    new_failures: tuple[VerdictChange, ...]
    fixed: tuple[VerdictChange, ...]
    other: tuple[VerdictChange, ...]
    figures: tuple[FigureChange, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    not_fixed: tuple[str, ...] = ()


@frozen
class Comparison:
    """Two or more results side by side: the columns, every check, and each against the first."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    changes: tuple[Changes, ...]

    @property
    def not_alike(self) -> tuple[str, ...]:
        """Why some of the results were not judged alike; empty where all were."""
        return tuple(
            f"{change.label}: {told}" for change in self.changes for told in change.not_alike
        )

    @property
    def has_new_failures(self) -> bool:
        """Whether anything fails that did not fail in the first result."""
        return any(change.new_failures for change in self.changes)


def compared(results: Sequence[tuple[str, RunResult]]) -> Comparison:
    """Put results side by side; each comes with a name, such as its file's."""
    columns = tuple(_labelled(results))
    first, *others = columns
    return Comparison(columns, _rows(columns), tuple(_changes(first, one) for one in others))


def _labelled(results: Sequence[tuple[str, RunResult]]) -> Iterator[Column]:
    """Name a result after its Worker, and after its file where that is not enough."""
    names = [f"{result.worker.name} {result.worker.version}" for _, result in results]
    times = Counter(names)
    labels = [
        name if times[name] == 1 else f"{name} ({file})"
        for name, (file, _) in zip(names, results, strict=True)
    ]
    seen: Counter[str] = Counter()
    for label, (_, result) in zip(labels, results, strict=True):
        seen[label] += 1
        yield Column(label if seen[label] == 1 else f"{label} #{seen[label]}", result)


def _rows(columns: Sequence[Column]) -> tuple[Row, ...]:
    by_id = [{check.check_id: check for check in one.result.checks} for one in columns]
    newest = {name: check for checks in by_id for name, check in checks.items()}
    return tuple(
        Row(
            name,
            newest[name].title,
            newest[name].requirement,
            newest[name].profile,
            tuple(checks[name].verdict if name in checks else None for checks in by_id),
        )
        for name in sorted(newest)
    )


def _changes(first: Column, other: Column) -> Changes:
    before = {check.check_id: check for check in first.result.checks}
    after = {check.check_id: check for check in other.result.checks}
    shared = [name for name in sorted(before) if name in after]
    changed = [
        VerdictChange(name, after[name].title, before[name].verdict, after[name].verdict)
        for name in shared
        if before[name].verdict is not after[name].verdict
    ]
    worse = [one for one in changed if _breaks_newly(one)]
    better = [one for one in changed if _is_fixed(one)]
    return Changes(
        label=other.label,
        not_alike=tuple(_not_alike(first.result, other.result)),
        new_failures=tuple(worse),
        fixed=tuple(better),
        other=tuple(one for one in changed if one not in worse and one not in better),
        figures=tuple(f for name in shared for f in _figures(before[name], after[name])),
        only_before=tuple(name for name in sorted(before) if name not in after),
        only_after=tuple(name for name in sorted(after) if name not in before),
        not_fixed=tuple(
            name
            for name in shared
            if before[name].verdict is after[name].verdict and after[name].verdict.breaks_the_run
        ),
    )


def _breaks_newly(change: VerdictChange) -> bool:
    return change.after.breaks_the_run and not change.before.breaks_the_run


def _is_fixed(change: VerdictChange) -> bool:
    failed = change.before.breaks_the_run or change.before is Verdict.EXPECTED_FAIL
    return failed and change.after is Verdict.PASS


def _not_alike(first: RunResult, other: RunResult) -> Iterator[str]:
    pairs = (
        ("suite", _suite(first), _suite(other)),
        ("requirement set", first.requirement_digest, other.requirement_digest),
        ("vector set", first.vector_digest, other.vector_digest),
        ("protocol", first.protocol, other.protocol),
        ("judged", _selection(first), _selection(other)),
    )
    for what, before, after in pairs:
        if before != after:
            yield f"{what} {after}, the first has {before}"


def _suite(result: RunResult) -> str:
    return f"{result.suite.name} {result.suite.version}"


def _selection(result: RunResult) -> str:
    chosen = result.selection
    parts = [", ".join(chosen.profiles)] if chosen.profiles else []
    parts += [f"{len(chosen.checks)} chosen checks"] if chosen.checks else []
    parts += ["the quick run"] if chosen.quick else []
    parts += ["the thorough run"] if chosen.thorough else []
    return "; ".join(parts) or "everything"


def _figures(before: CheckResult, after: CheckResult) -> Iterator[FigureChange]:
    was = {(one.name, one.unit): one for one in before.measurements}
    now = {(one.name, one.unit): one for one in after.measurements}
    for name, unit in sorted({*was, *now}):
        pair = was.get((name, unit)), now.get((name, unit))
        if _facts(pair[0]) != _facts(pair[1]):
            yield FigureChange(before.check_id, name, unit, *pair)


def _facts(measurement: Measurement | None) -> tuple[float, float | None] | None:
    return None if measurement is None else (measurement.value, measurement.bound)
