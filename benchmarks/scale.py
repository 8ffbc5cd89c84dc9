"""How the cost of judging grows: with Groups, Events, slots and worlds.

    python benchmarks/scale.py                     all of it, an hour and a half, 4 GB
    python benchmarks/scale.py groups 10 100       one part, these sizes

Prints one JSON object for each size and, for each part and cost, the model that fits it best.
Seconds are processor time of the process. `worker` is the reference Worker behind its Port, `suite`
everything else of a play (Organization, signatures, network, Trace), `judge` all monitors over the
Trace. Deterministic but for time, and no judge of anything.
"""

from __future__ import annotations

import gc
import json
import math
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any

from worker_conformance.judge.monitors import Context, watch
from worker_conformance.judge.verdicts import Verdict
from worker_conformance.port.declaration import Parameters
from worker_conformance.port.locate import locate
from worker_conformance.scenario.model import (
    Act,
    ActKind,
    AgentPlan,
    GroupPlan,
    Level,
    Profile,
    Publish,
    Scenario,
    SetPolicy,
    WorkPlan,
)
from worker_conformance.suite.actions import perform
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.loads import Deep, Offer
from worker_conformance.suite.measuring.stopwatch import Stopwatch
from worker_conformance.suite.play import sighting_of
from worker_conformance.suite.player import Plan, Player
from worker_conformance.suite.plugin import GARBAGE_OBJECTS
from worker_conformance.suite.soak.campaign import Campaign
from worker_conformance.suite.soak.outcome import Outcome
from worker_conformance.suite.soak.store import Store
from worker_conformance.suite.world import World

Cost = dict[str, float]
FAR = 1 << 40
TURNS_MAX = 100
BEGUN = (Act(ActKind.CREATED), Act(ActKind.MEMBER))


def _scenario(groups: int, slots: int, log: Sequence[Act] = ()) -> Scenario:
    names = [f"G{number}" for number in range(groups)]
    return Scenario(
        id="SCALE",
        title="A world of some size",
        stake="Whoever judges at scale has to know what that costs.",
        requirement="WRK-010.a",
        level=Level.MUST,
        profile=Profile.SCHEDULING,
        steps=(),
        agent=AgentPlan(slots=slots),
        groups=tuple(map(GroupPlan, names)),
        log=dict.fromkeys(names, (*BEGUN, *log)),
    )


def _played(scenario: Scenario, use: Callable[[World], None]) -> Cost:
    """Play one world with the reference Worker, and let every monitor watch it."""

    def play(port: Any, parameters: Parameters, workspace: Path) -> Cost:
        stopwatch = Stopwatch(port, clock=process_time)
        began = process_time()
        world = World(scenario, stopwatch, parameters, 1, workspace, instant_calls_max=FAR)
        use(world)
        played = process_time() - began
        world.leave()
        organization, trace = world.organization, world.trace
        began = process_time()
        context = Context(
            parameters=parameters,
            name_of=organization.names.name_of,
            markers=organization.markers(),
            secrets=organization.secrets(),
        )
        seen = [
            sighting_of(one, trace, organization.names.name_of) for one in watch(trace, context)
        ]
        judged = process_time() - began
        broken = [one.check_id for one in seen if one.failure is not None]
        if broken:
            print(f"note: {', '.join(broken)} saw a breach", file=sys.stderr)
        worker = stopwatch.lap().seconds
        events = sum(len(group.events) for group in organization.groups)
        return {"worker": worker, "suite": played - worker, "judge": judged, "events": events}

    with Bench(locate("reference_worker:factory")) as bench:
        return bench.lend(scenario.agent.slots, play)


def groups(count: int) -> Cost:
    """One WorkItem in each of so many Groups, from offer to result, on four slots."""
    scenario = _scenario(count, 4)
    # What waits is renewed: were the wait to grow with the Groups, renewals would as their square.
    seconds = max(1, min(60, 60 * TURNS_MAX // count))
    plans = [WorkPlan(f"w{g.name}", g.name, duration_seconds=seconds) for g in scenario.groups]
    offers = {
        plan.group: (Act(ActKind.AUTHORIZE, plan.name), Act(ActKind.OFFER, plan.name))
        for plan in plans
    }

    def use(world: World) -> None:
        for plan in plans:
            world.add_work(plan)
        perform(world, SetPolicy(limits={"max_queued_items": count}))
        world.start()
        perform(world, Publish(offers))
        world.advance(seconds * count / 4 + 600)

    return _played(scenario, use)


def _turning(scenario: Scenario, dispatches: int) -> Cost:
    names = [group.name for group in scenario.groups]

    def use(world: World) -> None:
        world.start()
        load = Deep({name: [Offer(name)] for name in names}, low=4, high=8)
        Player(world, "scale").play(Plan(load, lambda player: player.dispatches >= dispatches))

    return _played(scenario, use)


def lives(count: int) -> Cost:
    """So many WorkItems one after the other in four Groups, on one slot."""
    return _turning(_scenario(4, 1), count)


def slots(count: int) -> Cost:
    """A thousand WorkItems in four Groups on so many slots."""
    return _turning(_scenario(4, count), 1_000)


def messages(count: int) -> Cost:
    """A history of so many Messages in one Group, replayed once."""
    scenario = _scenario(1, 1, [Act(ActKind.MESSAGE, args={"text": "hello"})] * count)
    return _played(scenario, World.start)


def worlds(count: int) -> Cost:
    """So many outcomes of a campaign kept in a store, and read again."""
    campaign = Campaign("x:y", "X", "1", 1, ("PROP-0001",))
    coverage = {f"monitor:MON-{number:04}": number for number in range(60)}
    with tempfile.TemporaryDirectory() as folder:
        began = process_time()
        with Store(Path(folder), campaign) as store:
            for number in range(count):
                store.take(Outcome(number, "PROP-0001", Verdict.PASS, 3, coverage=coverage))
        kept = process_time() - began
        began = process_time()
        Store(Path(folder), campaign).close()
        return {"keep": kept, "read": process_time() - began}


PARTS: dict[str, tuple[Callable[[int], Cost], tuple[int, ...]]] = {
    "groups": (groups, (100, 300, 1_000, 3_000, 10_000)),
    "lives": (lives, (100, 300, 1_000, 3_000)),
    "slots": (slots, (1, 4, 16, 64)),
    "messages": (messages, (1_000, 10_000, 100_000, 1_000_000)),
    "worlds": (worlds, (1_000, 10_000, 100_000)),
}

MODELS: dict[str, Callable[[float], float]] = {
    "n": lambda _: 1.0,
    "n log n": lambda n: math.log2(n + 1),
    "n + n²": lambda n: n,
}
"""Cost of one of n, to which a constant is added: the fit is `n (a + b f(n))`."""


NOISE = 0.05  # what two runs of the same differ by


def fitted(sizes: Sequence[int], costs: Sequence[float]) -> dict[str, object]:
    """The simplest model whose relative error is hardly above the least, and that error.

    `exponent` is that of the last two sizes alone: 1 where twice as many cost twice as much.
    """
    best: dict[str, object] = {}
    least = math.inf
    for name, model in MODELS.items():
        each = [cost / n for n, cost in zip(sizes, costs, strict=True)]
        a, b = _line([model(n) for n in sizes], each)
        error = max(abs(a + b * model(n) - one) / one for n, one in zip(sizes, each, strict=True))
        grows = b >= 0 and min(a + b * model(n) for n in sizes) > 0
        if grows and error < least - NOISE:
            least, best = error, {"model": name, "a": a, "b": b, "error": error}
    low, high = costs[-2:]
    best["exponent"] = math.log(high / low) / math.log(sizes[-1] / sizes[-2])
    return best


def _line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Least squares of relative errors."""
    weights = [1 / max(y, 1e-9) ** 2 for y in ys]
    total = sum(weights)
    mean_x = sum(w * x for w, x in zip(weights, xs, strict=True)) / total
    mean_y = sum(w * y for w, y in zip(weights, ys, strict=True)) / total
    spread = sum(w * (x - mean_x) ** 2 for w, x in zip(weights, xs, strict=True))
    joint = sum(w * (x - mean_x) * (y - mean_y) for w, x, y in zip(weights, xs, ys, strict=True))
    b = joint / spread if spread else 0.0
    return mean_y - b * mean_x, b


def main(chosen: Sequence[str]) -> None:
    """Measure all parts, or the one that is named with the sizes that follow."""
    gc.set_threshold(GARBAGE_OBJECTS, *gc.get_threshold()[1:])  # as a run does
    for name in chosen[:1] or PARTS:
        play, sizes = PARTS[name]
        sizes = tuple(map(int, chosen[1:])) or sizes
        play(sizes[0])  # validators are compiled once, and belong to no size
        measured = []
        for size in sizes:
            cost = play(size)
            measured.append(cost)
            print(json.dumps({"part": name, "n": size, **cost}), flush=True)
        for kind in measured[0] if len(sizes) > 1 else ():
            if kind != "events":
                fit = fitted(sizes, [max(one[kind], 1e-6) for one in measured])
                print(json.dumps({"part": name, "cost": kind, **fit}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
