"""Several rounds of all scenes.

What is compared is measured side by side: every round plays every backlog, in turns from below and
from above. Never judges, and makes no figure of what it has measured.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

from attrs import define, evolve, field, frozen

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.errors import AdapterError
from worker_conformance.port.contract import Port
from worker_conformance.port.declaration import Parameters
from worker_conformance.port.locate import PortFactory, import_factory
from worker_conformance.port.messages import initialize_params
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.measuring.scene import DECISIONS, Scene, play_scene

HELD_SHARE = 0.9
"""A Worker that accepts less of a backlog than this is not measured over it."""

Heard = Callable[[str], None]


@frozen
class Plan:
    """What is to be measured: each of `backlogs` WorkItems in each of so many `rounds`."""

    backlogs: tuple[int, ...]
    rounds: int = 3
    decisions: int = DECISIONS
    seed: int = 1


@define
class Round:
    """What one round came to: scenes by backlog, and the smallest one by other ways.

    `bare_seconds` is what the stimuli of `in_process` cost without suite and Port.
    """

    scenes: dict[int, Scene] = field(factory=dict)
    in_process: Scene | None = None
    in_a_process: Scene | None = None
    bare_seconds: float | None = None


def play_rounds(factory: PortFactory, plan: Plan, heard: Heard = lambda _: None) -> list[Round]:
    """Play everything. `heard` is told what comes next.

    Raises AdapterError where the Worker breaks the Port.
    """
    rounds = []
    for number in range(plan.rounds):
        heard(f"round {number + 1} of {plan.rounds}")
        rounds.append(_round(factory, plan, heard, upwards=number % 2 == 0))
    return rounds


def _round(factory: PortFactory, plan: Plan, heard: Heard, *, upwards: bool) -> Round:
    this = Round()
    for backlog in sorted(plan.backlogs, reverse=not upwards):
        heard(f"a backlog of {backlog}")
        scene = _play(factory, plan, backlog)
        if scene is not None and scene.held >= backlog * HELD_SHARE:
            this.scenes[backlog] = scene
    if factory.transport == "in-process" and this.scenes:
        heard("the suite beside the bare Worker, and a process beside an object")
        _compare_ways(factory, plan, this)
    return this


def _compare_ways(factory: PortFactory, plan: Plan, this: Round) -> None:
    """The smallest backlog once more: as an object, without the suite, and as a process."""
    smallest = min(this.scenes)
    this.in_process = _play(factory, plan, smallest, record=True)
    this.in_a_process = _play(_as_process(factory), plan, smallest)
    if this.in_process is not None:
        with Bench(factory) as bench:
            this.bare_seconds = _bare(factory, this.in_process.recorded, bench.folder / "bare")
        this.in_process = evolve(this.in_process, recorded=())


def _as_process(factory: PortFactory) -> PortFactory:
    return evolve(factory, command=tuple(factory.open_process().command))


def _play(factory: PortFactory, plan: Plan, backlog: int, *, record: bool = False) -> Scene | None:
    """One scene in a Worker of its own, so that no memory is that of an earlier one."""

    def use(port: Port, parameters: Parameters, workspace: Path) -> Scene | None:
        return play_scene(
            backlog,
            port,
            parameters,
            plan.seed,
            workspace,
            decisions=plan.decisions,
            record=record,
        )

    with Bench(factory) as bench:
        return bench.lend(1, use)


def _bare(factory: PortFactory, recorded: Sequence[JsonObject], folder: Path) -> float | None:
    """What the same stimuli cost without Port and suite; None where the Worker refuses them."""
    folder.mkdir()
    worker = import_factory(factory.spec)()
    try:
        worker.initialize(initialize_params())
        seconds = 0.0
        for stimulus in recorded:
            given = copy.deepcopy(stimulus)
            if given["type"] == "start":
                given["stateDirectory"] = str(folder)
            began = perf_counter()
            worker.handle(given)
            seconds += perf_counter() - began
        worker.shutdown()
    except AdapterError:
        raise
    except Exception:  # noqa: BLE001 - a foreign object; it was measured over the Port already
        return None
    return seconds
