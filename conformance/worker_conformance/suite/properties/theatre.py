"""The theatre: plays courses of worlds on the bench and keeps what was seen of each.

One Worker, one seed, many courses: drawn by Hypothesis, or played from a program. Every course is
watched by all monitors. Never decides what a course means for a property.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import hypothesis
from attrs import evolve, field, frozen
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import HypothesisException

from worker_conformance.judge.monitors import Context, watch
from worker_conformance.judge.trace import Trace
from worker_conformance.port.contract import HookNotSupported, Port
from worker_conformance.port.declaration import Declaration, Parameters
from worker_conformance.scenario.generation import (
    Draw,
    Stage,
    Taste,
    between,
    draw_action,
    draw_organization,
)
from worker_conformance.scenario.model import Action, Scenario, Start, Step, Truncate
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.play import Sighting, sighting_of
from worker_conformance.suite.properties.coverage import Coverage, coverage_of
from worker_conformance.suite.properties.epilogue import Rest, play_epilogue
from worker_conformance.suite.properties.outcome import Ends, ends_of
from worker_conformance.suite.properties.program import BackFromTheEnd, Line, Program, unblocked_in
from worker_conformance.suite.properties.stagehand import Cue, Stagehand
from worker_conformance.suite.world import NeverRests

SEED_STRIDE = 1_000_003  # more worlds than a run draws, so that no two runs share one
FREE_CHOICES = 1 << 8


@frozen
class Course:
    """One course of a world.

    `picture` is the world without steps; `played` what was really played before the epilogue,
    `program` the same with its marks, to be played again, and `epilogue` what the epilogue did.
    `trouble` says how the course broke off, if it did.
    """

    picture: Scenario
    program: Program
    played: tuple[Action, ...]
    epilogue: tuple[Action, ...]
    ends: Ends
    rest: Rest
    sightings: tuple[Sighting, ...]
    coverage: Coverage
    name_of: Callable[[str], str | None] = field(eq=False, repr=False)
    trace: Trace = field(eq=False, repr=False)
    trouble: tuple[str, str] | None = None

    @property
    def actions(self) -> tuple[Action, ...]:
        """What was played, the epilogue included."""
        return (*self.played, *self.epilogue)

    def scenario(self) -> Scenario:
        """The course as a Scenario."""
        return evolve(self.picture, steps=tuple(Step(action) for action in self.actions))

    def breach_of(self, check_ids: frozenset[str]) -> Sighting | None:
        """The first of these monitors that saw a breach."""
        return next((s for s in self.sightings if s.failure and s.check_id in check_ids), None)

    def without_trace(self) -> Course:
        """The same, for keeping."""
        return evolve(self, trace=Trace(self.trace.scenario_id, self.trace.seed))


Pick = Callable[[Stagehand], Iterator[Line]]


class Theatre:
    """All courses of one judging process. `seed` is the run's."""

    def __init__(self, bench: Bench, seed: int) -> None:
        # Hypothesis keeps notes on the code it meets; they are to leave nothing behind.
        set_hypothesis_home_dir(bench.folder / "hypothesis")
        self._bench = bench
        self._pools: dict[tuple[str, int], tuple[Course, ...]] = {}
        self.seed = seed
        self.played = 0
        self.calls = 0

    @property
    def declaration(self) -> Declaration:
        """What the Worker declares."""
        return self._bench.declaration()

    def drawn(self, taste: Taste, count: int) -> tuple[Course, ...]:
        """So many courses of a taste, the same for everyone who asks in this run."""
        key = (taste.name, count)
        if key not in self._pools:
            courses = self.courses(taste, count)
            self._pools[key] = tuple(course.without_trace() for course in courses)
        return self._pools[key]

    def courses(self, taste: Taste, count: int) -> Iterator[Course]:
        """So many courses, drawn as they are asked for, each from a seed of its own."""
        for number in range(count):
            seed = self.seed * SEED_STRIDE + number
            # A drawing may come to nothing; it hardly does so twice.
            course = self._draw(taste, seed) or self._draw(taste, -seed - 1)
            if course is not None:
                yield course

    def _draw(self, taste: Taste, seed: int) -> Course | None:
        """Draw one course, if the drawing comes to one.

        Hypothesis begins with the simplest drawing of all, which is no world worth playing: it is
        told by its first choice, and the one after it is drawn freely.
        """
        courses: list[Course] = []
        trouble: list[Exception] = []

        @st.composite
        def drawing(draw: Draw) -> None:
            if between(draw, 0, FREE_CHOICES) == 0 or courses or trouble:
                return
            try:
                courses.append(self._improvise(draw, taste))
            except HypothesisException:
                raise  # how Hypothesis ends a drawing
            except Exception as failure:  # noqa: BLE001 - told below, as what it is
                trouble.append(failure)  # Hypothesis would try it again, on what it left behind

        @hypothesis.seed(seed)
        @hypothesis.settings(
            max_examples=2,
            database=None,
            deadline=None,
            phases=(hypothesis.Phase.generate,),
            suppress_health_check=list(hypothesis.HealthCheck),
            verbosity=hypothesis.Verbosity.quiet,
        )
        @hypothesis.given(drawing())
        def watched(_: None) -> None:
            """A course has been played while it was drawn."""

        watched()
        if trouble:
            raise trouble[0]
        return courses[0] if courses else None

    def _improvise(self, draw: Draw, taste: Taste) -> Course:
        picture = draw_organization(draw, taste)
        length = between(draw, *taste.steps)

        def improvised(hand: Stagehand) -> Iterator[Line]:
            yield Line(Start())
            for _ in range(length):
                yield Line(draw_action(draw, hand.stage(), taste))

        return self._play(picture, improvised)

    def play(self, picture: Scenario, program: Program) -> Course:
        """Play a program, leaving out what is impossible when its turn comes."""
        return self._play(picture, lambda _: iter(program))

    def _play(self, picture: Scenario, pick: Pick) -> Course:
        self.played += 1

        def use(port: Port, parameters: Parameters, workspace: Path) -> Course:
            hand = Stagehand(picture, port, parameters, self.seed, workspace)
            program, trouble = _performed(hand, pick)
            told = len(hand.played)
            rest = Rest()
            if trouble is None:
                try:
                    rest = play_epilogue(hand, unblocked_in(hand.played))
                except (NeverRests, HookNotSupported) as broken:
                    trouble = _trouble(broken)
            course = _seen(hand, program, parameters, rest, trouble, told)
            hand.world.leave()
            self.calls += hand.world.calls
            return course

        return self._bench.lend(picture.agent.slots, use)


def _performed(hand: Stagehand, pick: Pick) -> tuple[Program, tuple[str, str] | None]:
    """What was really played, and how it broke off."""
    done: list[Line] = []
    try:
        for line in pick(hand):
            cue = line.cue
            for action in cue(hand.stage()) if callable(cue) else (cue,):
                before, stage = len(hand.played), hand.stage()
                hand.take(action)
                done += [Line(_lasting(one, stage), line.where) for one in hand.played[before:]]
    except (NeverRests, HookNotSupported) as broken:
        return tuple(done), _trouble(broken)
    return tuple(done), None


def _trouble(broken: NeverRests | HookNotSupported) -> tuple[str, str]:
    """What was expected of a Worker that breaks a course off, and what it did."""
    if isinstance(broken, HookNotSupported):
        return f"the stimulus {broken.stimulus_type!r} is supported", str(broken)
    return "a Worker at rest once it says so", str(broken)


def _lasting(action: Action, stage: Stage) -> Cue:
    """The action as it is to be played again in a course with fewer Events."""
    if isinstance(action, Truncate):
        return BackFromTheEnd(action.group, stage.groups[action.group].events - action.through)
    return action


def _seen(
    hand: Stagehand,
    program: Program,
    parameters: Parameters,
    rest: Rest,
    trouble: tuple[str, str] | None,
    told: int,
) -> Course:
    organization, trace = hand.world.organization, hand.world.trace
    context = Context(
        parameters=parameters,
        name_of=organization.names.name_of,
        markers=organization.markers(),
        secrets=organization.secrets(),
    )
    monitors = watch(trace, context)
    sightings = tuple(sighting_of(one, trace, organization.names.name_of) for one in monitors)
    witnesses: Mapping[str, int] = Counter({one.check_id: one.witness for one in sightings})
    return Course(
        picture=evolve(hand.scenario(), steps=()),
        program=program,
        played=tuple(hand.played[:told]),
        epilogue=tuple(hand.played[told:]),
        ends=ends_of(hand),
        rest=rest,
        sightings=sightings,
        coverage=coverage_of(trace, hand.played, witnesses),
        name_of=organization.names.name_of,
        trace=trace,
        trouble=trouble,
    )
