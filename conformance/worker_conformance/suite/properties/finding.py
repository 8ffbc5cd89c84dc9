"""What a property found wrong: in words, as a condition that a vector can ask, and as a history.

The condition is what turns a course into a vector that fails by itself. Never plays.
"""

from __future__ import annotations

from typing import Self

from attrs import evolve, frozen

from worker_conformance.judge.evidence import Timeline
from worker_conformance.judge.timeline import timeline_of
from worker_conformance.judge.transcript import tell
from worker_conformance.scenario.model import (
    ActKind,
    Check,
    Condition,
    ConditionKind,
    Mood,
    Publish,
    Scenario,
    Step,
)
from worker_conformance.suite.play import Sighting
from worker_conformance.suite.properties.outcome import Difference
from worker_conformance.suite.properties.theatre import Course


@frozen
class Finding:
    """One failure. `kind` tells findings of different faults apart while one is shortened.

    `scenario` is the course with the condition at its end.
    """

    kind: str
    expected: str
    observed: str
    scenario: Scenario
    transcript: tuple[str, ...]
    timeline: Timeline | None = None

    @classmethod
    def of_trouble(cls, course: Course) -> Self:
        """The course broke off."""
        expected, observed = course.trouble or ("", "")
        return cls._of(course, f"trouble {expected}", expected, observed)

    @classmethod
    def of_monitor(cls, course: Course, sighting: Sighting) -> Self:
        """A monitor saw a breach."""
        failure = sighting.failure
        if failure is None:
            raise ValueError(f"{sighting.check_id} saw no breach")
        check = Check(Mood.EXPECT, (Condition(ConditionKind.HOLDS, (sighting.check_id,)),))
        # Details vary with the course; what was expected in its first words is the rule.
        kind = f"{sighting.check_id} {' '.join(failure.expected.split()[:3])}"
        expected = f"{failure.expected} ({sighting.check_id})"
        found = cls._of(course, kind, expected, failure.observed, check)
        return evolve(found, transcript=failure.transcript, timeline=failure.timeline)

    @classmethod
    def of_waiting(cls, course: Course) -> Self:
        """Eligible work was never served."""
        name = course.rest.waiting[0]
        taken = Check(Mood.EXPECT, (Condition(ConditionKind.ACCEPT, (name,)),))
        left = Check(Mood.NEVER, (Condition(ConditionKind.STATE, {name: "queued"}),))
        return cls._of(
            course,
            "waiting",
            f"{name} is served once nothing else arrives",
            f"{name} is still {course.ends[name].state} and eligible, hours after the last arrival",
            taken,
            left,
        )

    @classmethod
    def of_difference(cls, course: Course, difference: Difference) -> Self:
        """A WorkItem ended otherwise than in the plain course."""
        name, wanted, seen = difference.work, difference.wanted, difference.seen
        state = wanted.state
        if state == "verified" and ActKind.ACCEPT_RESULT not in _acts_on(name, course):
            state = "submitted"  # the result that could have been accepted never came
        check = Check(Mood.EXPECT, (Condition(ConditionKind.STATE, {name: state}),))
        return cls._of(
            course,
            f"difference {wanted.state} {seen.state}",
            f"{name} ends as without the disturbance: {wanted}",
            f"{name} is {seen}",
            check,
        )

    @classmethod
    def _of(cls, course: Course, kind: str, expected: str, observed: str, *checks: Check) -> Self:
        scenario = course.scenario()
        scenario = evolve(scenario, steps=(*scenario.steps, *map(Step, checks)))
        entries, name_of = course.trace.since(0), course.name_of
        history, timeline = tell(entries, name_of), timeline_of(entries, name_of)
        return cls(kind, expected, observed, scenario, history, timeline)


def _acts_on(work: str, course: Course) -> frozenset[ActKind]:
    """What the Organization did to a WorkItem in a course."""
    return frozenset(
        act.kind
        for action in course.actions
        if isinstance(action, Publish)
        for acts in action.acts.values()
        for act in acts
        if act.work == work
    )
