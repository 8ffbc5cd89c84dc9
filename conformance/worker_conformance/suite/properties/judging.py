"""Judging: whether a property holds over its worlds, and the shortest course in which it does not.

Takes one property through so many worlds, stops at the first failure, shortens it, and says what is
wrong as a Finding. Never prints and never writes a file.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from random import Random
from statistics import median

from attrs import define, field, frozen

from worker_conformance.judge.monitors import REGISTRY as MONITORS
from worker_conformance.judge.verdicts import Measurement, Verdict
from worker_conformance.scenario.model import Scenario
from worker_conformance.suite.abstention import abstained
from worker_conformance.suite.play import Sighting
from worker_conformance.suite.properties.catalogue import PropertyInfo
from worker_conformance.suite.properties.coverage import Coverage, summed
from worker_conformance.suite.properties.finding import Finding
from worker_conformance.suite.properties.outcome import compared, differences
from worker_conformance.suite.properties.program import Program, Where, course_of
from worker_conformance.suite.properties.reduction import reduced
from worker_conformance.suite.properties.registry import EVERY_RULE, JUDGEMENTS, Relation, Rules
from worker_conformance.suite.properties.theatre import Course, Theatre

Predicate = Callable[[Scenario, Program], Finding | None]


WITNESS_WORLDS_MAX = 48
"""A few worlds may all pass by what a property is about: then there are more, up to so many."""


@frozen
class Judged:
    """What came of one property. `found` is the shortened failure, where there is one."""

    verdict: Verdict
    witness: int
    reason: str
    found: Finding | None
    measurements: tuple[Measurement, ...]
    sightings: tuple[Sighting, ...]
    coverage: Coverage = field(factory=dict)


def judge(info: PropertyInfo, theatre: Theatre, worlds: int, *, shorten: bool = True) -> Judged:
    """Judge one property over so many worlds, more of them where none is played twice.

    Without `shorten` a failure is as long as it was found: where it counts only that there is one.
    """
    watch, this = _Watch(shortens=shorten), JUDGEMENTS[info.check_id]
    if isinstance(this, Rules):
        least = ceil(worlds * this.times)
        found = _judge_rules(this, theatre, least, max(least, WITNESS_WORLDS_MAX), watch)
    else:
        found = _judge_relation(this, theatre, worlds, watch, _name(info, theatre))
    return _judged(info, theatre, found, watch)


def judge_world(info: PropertyInfo, theatre: Theatre) -> Judged:
    """Judge one property over a single world, the first of the theatre's seed.

    That is one course of a rule and one pair of a comparison, whether or not they reach what the
    property is about. A failure is shortened as always, by further courses.
    """
    watch, this = _Watch(), JUDGEMENTS[info.check_id]
    if isinstance(this, Rules):
        found = _judge_rules(this, theatre, 1, 1, watch)
    else:
        found = _judge_relation(this, theatre, 1, watch, _name(info, theatre))
    return _judged(info, theatre, found, watch)


def _name(info: PropertyInfo, theatre: Theatre) -> str:
    """What the variations of a comparison are drawn by."""
    return f"{theatre.seed} {info.check_id}"


def _judged(info: PropertyInfo, theatre: Theatre, found: Finding | None, watch: _Watch) -> Judged:
    measurements = (
        Measurement("worlds", watch.worlds, None, "worlds"),
        Measurement("length of a course", float(median(watch.lengths or [0])), None, "steps"),
    )
    verdict, reason = Verdict.PASS, ""
    if found is not None:
        verdict = Verdict.FAIL
    elif watch.witness == 0:
        free = abstained(info.needs, theatre.declaration.parameters)
        verdict = Verdict.ABSTAINED if free else Verdict.INCONCLUSIVE
        reason = f"never reached: {info.reached}"
    return Judged(
        verdict,
        watch.witness,
        reason,
        found,
        measurements,
        tuple(watch.sightings.values()),
        summed(watch.coverages),
    )


@define
class _Watch:
    """What a property has seen so far, and whether a failure is to be shortened."""

    shortens: bool = True
    witness: int = 0
    worlds: int = 0
    lengths: list[int] = field(factory=list)
    sightings: dict[str, Sighting] = field(factory=dict)
    coverages: list[Coverage] = field(factory=list)

    @property
    def takes_part(self) -> bool:
        """Whether any monitor has seen the Worker do anything: else more worlds show no more."""
        return any(one.witness for one in self.sightings.values())

    def take(self, course: Course) -> None:
        """Count one course."""
        self.lengths.append(len(course.actions))
        for one in course.sightings:
            known = self.sightings.get(one.check_id)
            self.sightings[one.check_id] = one if known is None else _both_seen(known, one)
        self.coverages.append(course.coverage)


def _both_seen(first: Sighting, second: Sighting) -> Sighting:
    """What one monitor saw in several courses; the shortest failure is the one to show."""
    failures = [one.failure for one in (first, second) if one.failure is not None]
    shortest = min(failures, key=lambda failure: len(failure.transcript), default=None)
    return Sighting(first.check_id, first.witness + second.witness, shortest)


# --- rules --------------------------------------------------------------------------------


def _judge_rules(
    this: Rules, theatre: Theatre, least: int, most: int, watch: _Watch
) -> Finding | None:
    """Over at least so many worlds, and at most so many until the witness is reached."""
    monitors = _claimed(this.monitors, theatre)
    for course in theatre.courses(this.taste, most):
        watch.worlds += 1
        watch.take(course)
        watch.witness += _reached(this, monitors, course)
        found = _broken_rule(this, monitors, course)
        if found is not None:
            if not watch.shortens:
                return found
            return _shortened_rule(this, theatre, course, found, monitors)
        if watch.worlds >= least and (watch.witness or not watch.takes_part):
            return None
    return None


def _shortened_rule(
    this: Rules, theatre: Theatre, course: Course, found: Finding, monitors: frozenset[str]
) -> Finding:
    def still(picture: Scenario, program: Program) -> Finding | None:
        again = _broken_rule(this, monitors, theatre.play(picture, program))
        return again if again is not None and again.kind == found.kind else None

    return reduced(course.picture, course.program, found, still, lambda: theatre.calls)


def _claimed(monitors: frozenset[str], theatre: Theatre) -> frozenset[str]:
    """The monitors among these whose area the Worker claims."""
    claimed = {i.check_id for i, _ in MONITORS if theatre.declaration.claims(i.profile.value)}
    return monitors & claimed


def _reached(this: Rules, monitors: frozenset[str], course: Course) -> int:
    if this.served:
        return sum(end.taken for end in course.ends.values())
    return sum(one.witness for one in course.sightings if one.check_id in monitors)


def _broken_rule(this: Rules, monitors: frozenset[str], course: Course) -> Finding | None:
    if course.trouble is not None:
        return Finding.of_trouble(course)
    breach = course.breach_of(monitors)
    if breach is not None:
        return Finding.of_monitor(course, breach)
    if this.served and course.rest.waiting:
        return Finding.of_waiting(course)
    return None


# --- relations ----------------------------------------------------------------------------


def _judge_relation(
    this: Relation, theatre: Theatre, worlds: int, watch: _Watch, name: str
) -> Finding | None:
    monitors = _claimed(EVERY_RULE, theatre)
    for number, plain in enumerate(theatre.drawn(this.taste, worlds)):
        random = Random(f"{name} {number}")  # noqa: S311 - no secret
        program = this.variation(random, plain.played)
        watch.worlds += 1
        watch.take(plain)
        if plain.trouble is not None:
            continue
        if any(line.where is Where.PLAIN for line in program):
            plain, varied = _both(theatre, plain.picture, program)
        else:
            varied = theatre.play(plain.picture, course_of(program, Where.VARIED))
        watch.take(varied)
        watch.witness += len(compared(plain.ends, varied.ends))
        found = _difference(plain, varied, monitors)
        if found is not None:
            if not watch.shortens:
                return found
            return _shortened(theatre, plain, varied, found, monitors)
    return None


def _both(theatre: Theatre, picture: Scenario, program: Program) -> tuple[Course, Course]:
    plain = theatre.play(picture, course_of(program, Where.PLAIN))
    return plain, theatre.play(picture, course_of(program, Where.VARIED))


def _difference(plain: Course, varied: Course, monitors: frozenset[str]) -> Finding | None:
    """Work that ended otherwise, or a rule that was broken in the varied course alone."""
    if varied.trouble is not None:
        return Finding.of_trouble(varied)
    found = differences(plain.ends, varied.ends)
    if found:
        return Finding.of_difference(varied, found[0])
    breach = varied.breach_of(monitors)
    if breach is None or plain.breach_of(frozenset({breach.check_id})) is not None:
        return None
    return Finding.of_monitor(varied, breach)


def _shortened(
    theatre: Theatre, plain: Course, varied: Course, found: Finding, monitors: frozenset[str]
) -> Finding:
    """Shorten both courses together: what stands in one of them only keeps its mark."""
    # Only one of the courses says more than the other; its marks tell where.
    longer = any(line.where is Where.PLAIN for line in plain.program)
    program = plain.program if longer else varied.program

    def still(picture: Scenario, candidate: Program) -> Finding | None:
        again = _difference(*_both(theatre, picture, candidate), monitors)
        return again if again is not None and again.kind == found.kind else None

    return reduced(varied.picture, program, found, still, lambda: theatre.calls)
