"""The figures that rounds come to: a table of what is told, and of how it is counted.

Never plays and never draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

from attrs import frozen

from worker_conformance.judge.verdicts import WorkerIdentity
from worker_conformance.port.declaration import Declaration
from worker_conformance.suite.measuring.figures import Figure, Measured, Point
from worker_conformance.suite.measuring.rounds import Plan, Round
from worker_conformance.suite.measuring.scene import Scene

MILLI = 1e3
MEBIBYTE = 1 << 20


class Over(StrEnum):
    """What a figure was measured over."""

    BACKLOG = "WorkItems waiting"
    HISTORY = "Events in the history"
    NOTHING = ""


@frozen
class _OfScenes:
    """A figure of single scenes. `value` is None where a scene has none."""

    key: str
    title: str
    unit: str
    over: Over
    about: str
    value: Callable[[Scene], float | None]


@frozen
class _OfRounds:
    """A ratio of what one round measured side by side; `value` is None where it did not."""

    key: str
    title: str
    about: str
    value: Callable[[Round], float | None]


def measured(
    worker: str, declaration: Declaration, transport: str, plan: Plan, rounds: Sequence[Round]
) -> Measured:
    """All figures of a Worker; `worker` is the `--worker` text."""
    identity = WorkerIdentity(
        name=declaration.name,
        version=declaration.version,
        language=declaration.language,
        homepage=declaration.homepage,
        adapter=worker,
        transport=transport,
    )
    figures = tuple(one for row in _TABLE for one in _figure(row, plan, rounds))
    notes = tuple(_notes(plan, rounds, transport))
    return Measured(identity, plan.seed, plan.rounds, figures, notes)


def _figure(row: _OfScenes | _OfRounds, plan: Plan, rounds: Sequence[Round]) -> Iterator[Figure]:
    if isinstance(row, _OfRounds):
        values = [value for one in rounds if (value := row.value(one)) is not None]
        points = [Point.of(None, values)] if values else []
        unit, over = "ratio", Over.NOTHING
    else:
        points, unit, over = list(_points(row, plan, rounds)), row.unit, row.over
    if points:
        yield Figure(row.key, row.title, unit, over.value, row.about, tuple(points))


def _points(row: _OfScenes, plan: Plan, rounds: Sequence[Round]) -> Iterator[Point]:
    for backlog in sorted(plan.backlogs):
        scenes = [one.scenes[backlog] for one in rounds if backlog in one.scenes]
        values = [value for scene in scenes if (value := row.value(scene)) is not None]
        if values:
            x = backlog if row.over is Over.BACKLOG else scenes[0].events
            yield Point.of(x, values)


def _notes(plan: Plan, rounds: Sequence[Round], transport: str) -> Iterator[str]:
    for backlog in plan.backlogs:
        if not any(backlog in one.scenes for one in rounds):
            yield f"A backlog of {backlog:,} is not measured: the Worker does not hold it."
    if transport == "in-process":
        yield "Memory is not measured: an object shares its process with the suite."
    elif transport == "tcp":
        yield "Memory is not measured: the suite does not know the server's process."
    if not any(scene.turning.disclosures for one in rounds for scene in one.scenes.values()):
        yield "Nothing was disclosed."


# --- values -------------------------------------------------------------------------------


def _replay_rate(scene: Scene) -> float | None:
    return scene.replay.events / scene.replay.seconds if scene.replay.events else None


def _disclosing(scene: Scene) -> float | None:
    lap = scene.turning
    return MILLI * lap.disclosing_seconds / lap.disclosures if lap.disclosures else None


def _disclosed(scene: Scene) -> float | None:
    lap = scene.turning
    return lap.disclosed_bytes / lap.disclosures if lap.disclosures else None


def _memory(scene: Scene) -> float | None:
    return None if scene.memory_bytes is None else scene.memory_bytes / MEBIBYTE


def _suite_rate(scene: Scene) -> float | None:
    return scene.turning.calls / scene.suite_seconds if scene.suite_seconds else None


def _suite_share(scene: Scene) -> float:
    return (scene.suite_seconds + scene.turning.seconds) / scene.turning.seconds


def _growth(one: Round) -> float | None:
    if len(one.scenes) < 2:
        return None
    small, large = (one.scenes[pick(one.scenes)] for pick in (min, max))
    return _each(large) / _each(small)


def _each(scene: Scene) -> float:
    return scene.turning.seconds / scene.decisions


def _stdio(one: Round) -> float | None:
    if one.in_process is None or one.in_a_process is None:
        return None
    process, own = one.in_a_process.turning, one.in_process.turning
    return (process.seconds / process.calls) / (own.seconds / own.calls)


def _bare(one: Round) -> float | None:
    if one.in_process is None or not one.bare_seconds:
        return None
    return one.in_process.whole_seconds / one.bare_seconds


_TABLE: Sequence[_OfScenes | _OfRounds] = (
    _OfScenes(
        "decision",
        "Cost of a decision",
        "ms",
        Over.BACKLOG,
        "One turn of a slot: one WorkItem ends, another starts, and an offer takes its place.",
        lambda one: MILLI * _each(one),
    ),
    _OfScenes(
        "decisions",
        "Decisions",
        "1/s",
        Over.BACKLOG,
        "The same, as a rate.",
        lambda one: 1 / _each(one),
    ),
    _OfRounds(
        "growth",
        "A decision over the largest backlog beside one over the smallest",
        "1 means that a backlog costs nothing.",
        _growth,
    ),
    _OfScenes(
        "replay",
        "Replay",
        "Events/s",
        Over.HISTORY,
        "From an empty disk to the end of the Group's history, with all that it leads to.",
        _replay_rate,
    ),
    _OfScenes(
        "restart",
        "Restart",
        "s",
        Over.HISTORY,
        "From the start after a crash until the Worker is at rest, over its own journal.",
        lambda one: one.restart.seconds,
    ),
    _OfScenes(
        "disclosure",
        "Cost of a disclosure",
        "ms",
        Over.BACKLOG,
        "The calls that disclose, whatever else they do, for each disclosure: an upper bound.",
        _disclosing,
    ),
    _OfScenes(
        "disclosed",
        "Size of a disclosure",
        "bytes",
        Over.BACKLOG,
        "As JSON, as the Worker hands it over.",
        _disclosed,
    ),
    _OfScenes(
        "memory",
        "Resident memory",
        "MiB",
        Over.BACKLOG,
        "Of the Worker's process under the backlog.",
        _memory,
    ),
    _OfScenes(
        "steps",
        "The suite's own steps",
        "calls/s",
        Over.BACKLOG,
        "Calls that the suite could make in a second if the Worker took no time.",
        _suite_rate,
    ),
    _OfScenes(
        "suite",
        "A run beside its Worker",
        "ratio",
        Over.BACKLOG,
        "Time of suite and Worker together by that of the Worker behind its Port.",
        _suite_share,
    ),
    _OfRounds(
        "stdio",
        "A process beside an object",
        "Time of a call over stdio by that of a call in-process, over the smallest backlog.",
        _stdio,
    ),
    _OfRounds(
        "bare",
        "A run beside the bare Worker",
        "Time of suite, Port and Worker by that of the same stimuli without suite and Port.",
        _bare,
    ),
)
