"""Playing one Scenario against a Worker and coming to a verdict about it.

Performs the steps, looks where the scenario looks, and hands the Trace to the monitors. Never
knows which check it runs for, and never talks to the Worker but through the World.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import cast

from attrs import define, evolve, field, frozen

from worker_conformance.judge.conditions import Atom, View, atoms_of
from worker_conformance.judge.conditions_fairness import ScheduleFinding, fair, served_within
from worker_conformance.judge.evidence import EstimateWindow
from worker_conformance.judge.monitors import Context, Monitor, watch
from worker_conformance.judge.promises import windows_of
from worker_conformance.judge.timeline import timeline_of
from worker_conformance.judge.trace import NoteKind, Trace
from worker_conformance.judge.transcript import tell
from worker_conformance.judge.verdicts import Failure, Measurement, Verdict
from worker_conformance.organization.names import Names
from worker_conformance.port.contract import HookNotSupported, Port
from worker_conformance.port.declaration import Parameters
from worker_conformance.resources import vectors_path
from worker_conformance.scenario.model import (
    Check,
    Condition,
    ConditionKind,
    Level,
    Mood,
    Profile,
    Scenario,
    Step,
)
from worker_conformance.suite.abstention import (
    abstained,
    broken_abstention,
    crowded_out,
    fallen_away,
)
from worker_conformance.suite.actions import perform
from worker_conformance.suite.patience import Patience, leaves_time
from worker_conformance.suite.world import NeverRests, OutOfReach, World

VECTOR_SUFFIX = ".yaml"

_UNREACHED = frozenset({Verdict.INCONCLUSIVE, Verdict.ABSTAINED})

# Conditions that something wrong was done, not that something was left out.
_BREACHES = frozenset(
    {
        ConditionKind.SUBSCRIBE,
        ConditionKind.NOT_RUNNING,
        ConditionKind.LEAKS,
        ConditionKind.ONE_KEY,
        ConditionKind.KEYS_APART,
        ConditionKind.HOLDS,
        ConditionKind.FAIR,
        ConditionKind.SERVED_WITHIN,
    }
)


@frozen
class Sighting:
    """What one monitor saw in one Trace."""

    check_id: str
    witness: int
    failure: Failure | None


@frozen
class Played:
    """What came of one scenario: its own verdict, and what every monitor saw on the way."""

    verdict: Verdict
    witness: int
    reason: str
    failure: Failure | None
    measurements: tuple[Measurement, ...]
    sightings: tuple[Sighting, ...]
    trace: Trace
    estimates: tuple[EstimateWindow, ...] = ()


def play(
    scenario: Scenario,
    port: Port,
    parameters: Parameters,
    seed: int,
    workspace: Path,
    names: Names | None = None,
) -> Played:
    """Play a scenario to its end or to its first failure.

    Raises AdapterError where the adapter breaks the Port; the caller decides how to go on.
    """
    for verdict, reason in (
        (Verdict.ABSTAINED, fallen_away(scenario.needs, parameters)),
        (Verdict.INCONCLUSIVE, crowded_out(scenario, parameters)),
    ):
        if reason:
            return Played(verdict, 0, reason, None, (), (), Trace(scenario.id, seed))
    world = World(scenario, port, parameters, seed, workspace, names)
    course = _Course(world)
    try:
        for step in scenario.steps:
            if not course.take(step):
                break
    except HookNotSupported as unsupported:
        course.fail(f"the stimulus {unsupported.stimulus_type!r} is supported", str(unsupported))
    except OutOfReach as impossible:
        course.unreached = course.unreached or f"cannot be played on: {impossible}"
    except NeverRests as restless:
        course.fail("a Worker at rest once it says so", str(restless))
    world.leave()
    return course.conclude(port.stderr_tail())


@define
class _Course:
    """How a scenario has gone so far."""

    world: World
    witness: int = 0
    failure: Failure | None = None
    advice: Failure | None = None
    unreached: str = ""
    timed: bool = False
    missing: str = ""
    measurements: list[Measurement] = field(factory=list)

    def take(self, step: Step) -> bool:
        """Perform one step; returns whether to go on."""
        self.timed = leaves_time(step, before=self.timed)
        if not isinstance(step.action, Check):
            perform(self.world, step.action)
            return True
        where = f"{_place_of(self.world.scenario)}:{step.line}"
        mood = step.action.mood
        patience = Patience(self.world, mood, timed=self.timed)
        for condition in step.action.conditions:
            atoms = self._atoms(condition)
            while not all(atom.holds for atom in atoms) and patience.waits(condition):
                atoms = self._atoms(condition)
            for atom in atoms:
                if not self._weigh(mood, atom, where):
                    self._note_absence(mood, condition, atom)
                    return False
        return True

    def _note_absence(self, mood: Mood, condition: Condition, atom: Atom) -> None:
        """What a look missed; whoever abstains from a trigger owes nothing that follows from it."""
        if mood is not Mood.NEVER and condition.kind not in _BREACHES:
            self.missing = f"not seen: {atom.asked} ({atom.observed})"

    def fail(self, expected: str, observed: str) -> None:
        """Record a failure that is not a condition's."""
        self.failure, self.missing = self._failure(expected, observed, None), ""

    def conclude(self, stderr: str) -> Played:
        """Sum up, and let the monitors watch the whole Trace."""
        scenario = self.world.scenario
        verdict, failure = Verdict.PASS, None
        if stderr:
            self.world.note(NoteKind.STDERR, text=stderr)
        self._weigh_abstention()
        if self.missing and self._abstains():
            verdict, self.unreached = Verdict.ABSTAINED, self.missing
        elif self.failure:
            broken = Verdict.FAIL if scenario.level is Level.MUST else Verdict.ADVICE
            verdict, failure = broken, self.failure
        elif self.unreached:
            verdict = Verdict.ABSTAINED if self._abstains() else Verdict.INCONCLUSIVE
        elif self.advice and not self._abstains():
            verdict, failure = Verdict.ADVICE, self.advice
        elif self.advice:
            verdict, self.unreached = Verdict.ABSTAINED, f"not seen: {self.advice.expected}"
        elif self.witness == 0:
            verdict, self.unreached = Verdict.INCONCLUSIVE, "nothing that the Worker did was judged"
        if failure and stderr:
            failure = evolve(failure, stderr=stderr)
        return Played(
            verdict=verdict,
            witness=self.witness,
            reason=self.unreached if verdict in _UNREACHED else "",
            failure=failure,
            measurements=tuple(self.measurements),
            sightings=self._sightings(),
            trace=self.world.trace,
            estimates=self._estimates() if failure or _tells_estimates(scenario) else (),
        )

    # --- abstaining -------------------------------------------------------------------

    def _abstains(self) -> tuple[str, ...]:
        return abstained(self.world.scenario.needs, self.world.parameters)

    def _weigh_abstention(self) -> None:
        """Producing a trigger after declaring that one never does is a failure of its own."""
        broken = broken_abstention(self._abstains(), self.world.trace)
        if broken:
            self.fail(f"no {broken}, as the Worker declares", "seen")

    # --- looking ----------------------------------------------------------------------

    def _atoms(self, condition: Condition) -> tuple[Atom, ...]:
        world = self.world
        if condition.kind is ConditionKind.HOLDS:
            return tuple(self._monitor_atoms(cast("tuple[str, ...]", condition.value)))
        if condition.kind not in {ConditionKind.FAIR, ConditionKind.SERVED_WITHIN}:
            return atoms_of(condition, self._view())
        world.note(NoteKind.REST)
        trace, scenario, parameters = world.trace, world.scenario, world.parameters
        findings: tuple[ScheduleFinding, ...]
        if condition.kind is ConditionKind.FAIR:
            findings = (fair(trace, scenario, parameters),)
        else:
            findings = served_within(trace, scenario, parameters, condition.value)
        self.measurements.extend(one for finding in findings for one in finding.measurements)
        return tuple(
            Atom(finding.expected, finding.holds, finding.observed) for finding in findings
        )

    def _monitor_atoms(self, check_ids: Sequence[str]) -> Iterator[Atom]:
        """What some monitors say of the history up to here."""
        sightings = {one.check_id: one for one in self._sightings()}
        for check_id in check_ids:
            sighting = sightings.get(check_id)
            if sighting is None or not (sighting.witness or sighting.failure):
                yield Atom(f"{check_id} holds", None, f"{check_id} had nothing to judge")
                continue
            failure = sighting.failure
            asked = f"{failure.expected} ({check_id})" if failure else f"{check_id} holds"
            observed = failure.observed if failure else f"{check_id} saw no breach"
            yield Atom(asked, failure is None, observed)

    def _view(self) -> View:
        organization = self.world.organization
        return View(
            trace=self.world.trace,
            window_start=self.world.window_start,
            name_of=organization.names.name_of,
            work_ids=organization.work_ids(),
            renewal_kind=self.world.parameters.renewal_command_kind,
            ends={group.name: len(group.events) for group in organization.groups},
            markers=organization.markers(),
        )

    def _weigh(self, mood: Mood, atom: Atom, where: str) -> bool:
        """Take one answer into account; returns whether to go on."""
        if atom.holds is None:
            self.unreached = self.unreached or f"{atom.asked}: {atom.observed}"
            return mood is not Mood.GIVEN
        if mood is Mood.NEVER:
            if atom.holds:
                self.failure = self._failure(f"never {atom.asked}", atom.observed, where)
            return not atom.holds
        if atom.holds:
            self.witness += 1
            return True
        if mood is Mood.SHOULD:
            self.advice = self.advice or self._failure(atom.asked, atom.observed, where)
            return True
        if mood is Mood.GIVEN:
            self.unreached = self.unreached or f"not reached: {atom.asked} ({atom.observed})"
        else:
            self.failure = self._failure(atom.asked, atom.observed, where)
        return False

    def _failure(self, expected: str, observed: str, where: str | None) -> Failure:
        entries, name_of = self.world.trace.since(0), self.world.organization.names.name_of
        return Failure(
            expected,
            observed,
            tell(entries, name_of),
            step=where,
            timeline=timeline_of(entries, name_of),
            vector=text_of_vector(self.world.scenario),
        )

    def _estimates(self) -> tuple[EstimateWindow, ...]:
        return windows_of(self.world.trace, self.world.organization.names.name_of)

    def _sightings(self) -> tuple[Sighting, ...]:
        """Let the monitors watch the whole Trace."""
        organization = self.world.organization
        context = Context(
            parameters=self.world.parameters,
            name_of=organization.names.name_of,
            markers=organization.markers(),
            secrets=organization.secrets(),
        )
        trace, name_of = self.world.trace, organization.names.name_of
        vector = text_of_vector(self.world.scenario)
        return tuple(
            sighting_of(monitor, trace, name_of, vector) for monitor in watch(trace, context)
        )


def sighting_of(
    monitor: Monitor, trace: Trace, name_of: Callable[[str], str | None], vector: str = ""
) -> Sighting:
    """What a monitor saw, with the history up to its first breach, and the vector's text."""
    if not monitor.breaches:
        return Sighting(monitor.info.check_id, monitor.witness, None)
    first = monitor.breaches[0]
    history = trace.since(0)[: first.index + 1]
    failure = Failure(
        first.expected,
        first.observed,
        tell(history, name_of),
        timeline=timeline_of(history, name_of, last_breaks=True),
        vector=vector,
    )
    return Sighting(monitor.info.check_id, monitor.witness, failure)


def text_of_vector(scenario: Scenario) -> str:
    """What stands in the file that a scenario was read from; empty where it was made."""
    source = scenario.source or ""
    return _written(source) if source.endswith(VECTOR_SUFFIX) else ""


@lru_cache(maxsize=1)  # asked for by every condition and monitor of one scenario in turn
def _written(source: str) -> str:
    try:
        return Path(source).read_text("utf-8")
    except OSError:
        return ""  # a name that the loader was given, and no file


def _tells_estimates(scenario: Scenario) -> bool:
    return scenario.profile is Profile.DISCLOSURE


def _place_of(scenario: Scenario) -> str:
    """Where a scenario is written, the same on every machine for the suite's own vectors."""
    source = Path(scenario.source or scenario.id)
    try:
        return f"vectors/{source.relative_to(vectors_path()).as_posix()}"
    except ValueError:
        return source.as_posix()
