"""One measured scene: a backlog, slots that turn over it, a crash, and a lost disk.

A closed loop on one slot: whatever is dispatched is replaced by a new offer, so that the backlog
stays as it is while decisions are counted. Then the Worker is killed and begun again over its
journal, and killed, emptied and begun again over the whole history. Never judges.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from time import perf_counter

from attrs import define, frozen

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.port.contract import Port
from worker_conformance.port.declaration import Parameters
from worker_conformance.scenario.model import (
    Act,
    ActKind,
    GroupPlan,
    Level,
    Profile,
    Scenario,
    SetPolicy,
)
from worker_conformance.suite.loads import Offer, Reaction, View
from worker_conformance.suite.measuring.stopwatch import Lap, Stopwatch
from worker_conformance.suite.player import Plan, Player
from worker_conformance.suite.world import World

DECISIONS = 40
"""Counted in one scene: enough that no single call decides, few beside the smallest backlog."""

WARM_UP = 5
"""Decisions before that: what is done once for a queue, and first calls of anything."""

CALLS_AT_INSTANT_MAX = 1 << 40  # no scene is about rest; the largest backlog arrives at one moment

GROUP = "A"

SCENE = Scenario(
    id="BENCH",
    title="A backlog on one slot",
    stake="What a Worker costs its operator is seen before it is deployed, not after.",
    requirement="WRK-010.a",
    level=Level.MUST,
    profile=Profile.SCHEDULING,
    steps=(),
    groups=(GroupPlan(GROUP),),
    log={GROUP: (Act(ActKind.CREATED), Act(ActKind.MEMBER))},
)


@frozen
class Scene:
    """What one scene came to. Seconds are real time in the Worker, seen from outside.

    `held` is how many WorkItems of the backlog the Worker accepted. `decisions` turns of the slot
    took `turning`; `restart` begins over a journal of `events` Events, `replay` over an empty disk.
    `suite_seconds` is what the suite itself took for the calls of `turning`. `memory_bytes` is the
    process's resident memory under the backlog, None where there is no process of ours.
    `whole_seconds` is what everything up to the crash took, `recorded` its stimuli.
    """

    backlog: int
    held: int
    decisions: int
    turning: Lap
    suite_seconds: float
    events: int
    restart: Lap
    replay: Lap
    memory_bytes: int | None
    whole_seconds: float
    recorded: tuple[JsonObject, ...] = ()


@define
class _Standing:
    """A load that keeps its backlog: each dispatch is answered by an offer."""

    backlog: int

    def begin(self, view: View) -> Iterable[Reaction]:
        """All of it."""
        del view
        return (Offer(GROUP) for _ in range(self.backlog))

    def after_dispatch(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """One for one."""
        del view
        yield offer

    def after_end(self, view: View, offer: Offer) -> Iterable[Reaction]:
        """Nothing: the dispatch was answered already."""
        del view, offer
        return ()


@define
class _Count:
    """Counts decisions between two looks at the watch."""

    watch: Stopwatch
    decisions: int
    held: int = 0
    first: int = 0
    last: int = 0
    lap: Lap | None = None
    began: float = 0.0
    seconds: float = 0.0

    def enough(self, player: Player) -> bool:
        """Begin to count after the warm-up, and stop when it is enough."""
        if not self.first and player.dispatches >= WARM_UP:
            self.held = self.watch.lap().commands.get("work.accept_offer", 0)
            self.first, self.began = player.dispatches, perf_counter()
        elif self.first and player.dispatches >= self.first + self.decisions:
            self.last, self.lap = player.dispatches, self.watch.lap()
            self.seconds = perf_counter() - self.began
            return True
        return False


def play_scene(
    backlog: int,
    port: Port,
    parameters: Parameters,
    seed: int,
    workspace: Path,
    *,
    decisions: int = DECISIONS,
    record: bool = False,
) -> Scene | None:
    """Play one scene; None where the Worker does not follow: it starts no work, or too little.

    `workspace` is an empty folder. With `record` the scene has every stimulus up to the crash.
    Raises AdapterError as a Port does.
    """
    watch = Stopwatch(port, record=record)
    began = perf_counter()
    world = World(SCENE, watch, parameters, seed, workspace, instant_calls_max=CALLS_AT_INSTANT_MAX)
    room = backlog + decisions + WARM_UP
    limits = {"max_queued_items": room, "max_queued_items_per_group": room}
    world.organization.set_policy(SetPolicy(limits=limits))
    world.start()
    count = _Count(watch, decisions)
    Player(world, "bench").play(Plan(_Standing(backlog), count.enough))
    if count.lap is None:
        world.leave()
        return None
    whole_seconds = perf_counter() - began
    recorded = tuple(watch.recorded)
    memory = _resident_bytes(port)
    restart, replay = _begun_again(world, watch), _begun_anew(world, watch)
    events = len(world.organization.groups[0].events)
    world.leave()
    return Scene(
        backlog=backlog,
        held=count.held,
        decisions=count.last - count.first,
        turning=count.lap,
        suite_seconds=max(0.0, count.seconds - count.lap.seconds),
        events=events,
        restart=restart,
        replay=replay,
        memory_bytes=memory,
        whole_seconds=whole_seconds,
        recorded=recorded,
    )


def _begun_again(world: World, watch: Stopwatch) -> Lap:
    """Over the journal."""
    world.crash()
    watch.lap()
    world.start()
    return watch.lap()


def _begun_anew(world: World, watch: Stopwatch) -> Lap:
    """Over nothing but the Group's history."""
    world.crash()
    world.wipe()
    watch.lap()
    world.start()
    return watch.lap()


def _resident_bytes(port: Port) -> int | None:
    """Resident memory of the Worker's process, where this system tells it."""
    group = getattr(port, "process_group", lambda: None)()
    if group is None:
        return None
    try:
        status = Path(f"/proc/{group}/status").read_text("ascii")
    except OSError:
        return None
    for line in status.splitlines():
        name, _, value = line.partition(":")
        if name == "VmRSS":
            return int(value.split()[0]) * 1024
    return None
