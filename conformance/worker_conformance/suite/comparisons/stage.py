"""A stage for worlds that are alike: the same Worker, the same steps, other secrets.

Plays a scenario under other names or contents and keeps what the monitors saw. Never compares.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping
from pathlib import Path

from attrs import define, evolve, field

from worker_conformance.judge.trace import EntryKind, NoteKind, Trace
from worker_conformance.organization.names import Names
from worker_conformance.port.contract import Port
from worker_conformance.port.declaration import Parameters
from worker_conformance.scenario.model import (
    Act,
    ActKind,
    Check,
    Publish,
    Scenario,
    Step,
    WorkPlan,
)
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.play import Played, Sighting, play

USUAL_GOAL = "Build the component."
"""A goal for work that has none, so that there is a text to change."""


@define
class Stage:
    """One Worker and one seed. `sightings` grows with every world."""

    bench: Bench
    seed: int
    sightings: list[Sighting] = field(factory=list)
    played: int = 0

    @property
    def parameters(self) -> Parameters:
        """What the Worker declares, within the ceilings."""
        return self.bench.declaration().parameters.effective()[0]

    def play(self, scenario: Scenario, names: Names | None = None) -> Trace:
        """Play a scenario's steps; what it would look at is not looked at."""
        bare = _without_checks(scenario)
        self.played += 1

        def on(port: Port, parameters: Parameters, workspace: Path) -> Played:
            return play(bare, port, parameters, self.seed, workspace, names)

        played = self.bench.lend(scenario.agent.slots, on)
        self.sightings.extend(played.sightings)
        return played.trace

    # --- the same world in disguise ---------------------------------------------------

    def renamed(self, scenario: Scenario, groups: Iterable[str]) -> Trace:
        """Play it with everything secret about some Groups changed, identifiers included.

        Identifiers keep their length and order, texts their length; times, sizes, urgency,
        deadlines and budgets stay.
        """
        others = frozenset(groups)
        names = Names(self.seed, dict.fromkeys(others, 1))
        return self.play(rewritten(scenario, others), names)

    def retold(self, scenario: Scenario, groups: Iterable[str]) -> Trace:
        """Play it with the contents of some Groups changed, and every identifier kept."""
        others = frozenset(groups)
        names = Names(self.seed, {}, dict.fromkeys(others, 1))
        return self.play(rewritten(scenario, others), names)


def _without_checks(scenario: Scenario) -> Scenario:
    steps = tuple(step for step in scenario.steps if not isinstance(step.action, Check))
    return evolve(scenario, steps=steps, needs=())


# --- other texts ----------------------------------------------------------------------


def rewritten(scenario: Scenario, groups: frozenset[str]) -> Scenario:
    """The scenario with the goals and Messages of some Groups in other words of the same length."""
    work = tuple(_plan(plan) if plan.group in groups else plan for plan in scenario.work)
    log = {name: _acts(name, acts, groups) for name, acts in scenario.log.items()}
    steps = tuple(_step(step, groups) for step in scenario.steps)
    return evolve(scenario, work=work, log=log, steps=steps)


def other_words(text: str) -> str:
    """Letters exchanged for others: no word is left, and the length stays."""
    return codecs.encode(text, "rot13")


def _plan(plan: WorkPlan) -> WorkPlan:
    return evolve(plan, goal=other_words(plan.goal or USUAL_GOAL))


def _step(step: Step, groups: frozenset[str]) -> Step:
    if not isinstance(step.action, Publish):
        return step
    acts = {name: _acts(name, many, groups) for name, many in step.action.acts.items()}
    return evolve(step, action=Publish(acts))


def _acts(group: str, acts: Iterable[Act], groups: frozenset[str]) -> tuple[Act, ...]:
    return tuple(_act(act) if group in groups else act for act in acts)


def _act(act: Act) -> Act:
    if act.kind is ActKind.MESSAGE and isinstance(act.args.get("text"), str):
        return evolve(act, args={**act.args, "text": other_words(str(act.args["text"]))})
    changes = act.args.get("changes")
    if act.kind is ActKind.REVISE and isinstance(changes, Mapping) and "goal" in changes:
        told = {**changes, "goal": other_words(str(changes["goal"]))}
        return evolve(act, args={**act.args, "changes": told})
    return act


# --- what was reached -----------------------------------------------------------------


def starts(trace: Trace) -> tuple[tuple[int, str], ...]:
    """When which WorkItem started, by local name."""
    return tuple(
        (entry.at, str(entry.body["work"]))
        for entry in trace
        if entry.kind is EntryKind.NOTE
        and entry.body["note"] == NoteKind.APPENDED
        and entry.body["kind"] == "work.started"
    )


def accepted(trace: Trace) -> frozenset[str]:
    """The Groups of which this Worker has taken work."""
    return frozenset(
        str(entry.body["group"])
        for entry in trace
        if entry.kind is EntryKind.NOTE
        and entry.body["note"] == NoteKind.APPENDED
        and entry.body["kind"] == "work.offer.accepted"
        and entry.body["ours"]
    )
