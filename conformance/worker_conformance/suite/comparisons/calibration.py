"""Estimates against what then happened: how often they came true, and how much they said.

Plays ordinary worlds without faults and compares the first estimate of each WorkItem with its
start. Measures; a stated confidence that is far from the truth, or a window that excludes nothing,
is advice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from statistics import mean, median

from attrs import evolve, frozen

from worker_conformance.documents.json_types import find
from worker_conformance.judge.evidence import EstimateWindow
from worker_conformance.judge.promises import windows_of
from worker_conformance.judge.trace import EntryKind, NoteKind, Trace
from worker_conformance.judge.verdicts import Failure, Measurement, Verdict
from worker_conformance.organization.names import Names
from worker_conformance.scenario.clock import moment_of
from worker_conformance.scenario.loader import load_text
from worker_conformance.scenario.model import Scenario
from worker_conformance.suite.comparisons.outcome import Outcome
from worker_conformance.suite.comparisons.stage import Stage

ITEMS_MIN = 20
"""Estimates, at least, before a share of them means anything."""

DEVIATIONS = 3
"""Standard deviations that chance is allowed below the stated confidence."""

WIDTH_MAX = 32
"""A window wider than so many times the wait, the item or the granularity excludes nothing."""

REACHED = f"at least {ITEMS_MIN} WorkItems were estimated on acceptance and started"

_MICROSECONDS = 1_000_000


@frozen
class Estimated:
    """One item: the window, the confidence stated, and the start that followed."""

    earliest: int
    latest: int
    confidence: float
    accepted: int
    started: int

    @property
    def came_true(self) -> bool:
        """Whether it started within its window."""
        return self.earliest <= self.started <= self.latest


def scenes() -> Iterator[Scenario]:
    """Worlds of three loads: a Group alone, two that share a slot, three over two slots."""
    for number, (groups, slots, seconds) in enumerate(
        (("A", 1, 300), ("AB", 1, 600), ("ABC", 2, 1200)), 1
    ):
        yield _scene(number, groups, slots, seconds)


def _scene(number: int, groups: str, slots: int, seconds: int) -> Scenario:
    names = {group: [f"{group.lower()}{place}" for place in range(1, 9)] for group in groups}
    work = ", ".join(f"{one}: {{duration: {seconds}}}" for row in names.values() for one in row)
    logs = "\n".join(
        f"  {group}: [created, member, {', '.join(f'{{authorize: {one}}}' for one in row)}]"
        for group, row in names.items()
    )
    waves = "\n".join(
        f"  - publish: {{{', '.join(_wave(group, names[group], wave) for group in groups)}}}\n"
        "  - advance: 10m"
        for wave in range(4)
    )
    return load_text(
        f"""
id: CALIBRATION-{number:04}
title: Work arrives in waves
stake: >
  Scenery of the calibration: what estimates promise is compared with what comes of them.
requirement: WRK-012.k
level: READING
profile: disclosure
agent: {{slots: {slots}}}
groups: {{{", ".join(f"{group}: {{}}" for group in groups)}}}
work: {{{work}}}
log:
{logs}
delivery: auto
steps:
  - start
{waves}
  - advance: 12h
""",
        f"calibration-{number}",
    )


def _wave(group: str, names: Sequence[str], wave: int) -> str:
    offers = ", ".join(f"{{offer: {one}}}" for one in names[2 * wave : 2 * wave + 2])
    return f"{group}: [{offers}]"


def judge_calibration(stage: Stage) -> Outcome:
    """Compare what was estimated with what happened."""
    items: list[Estimated] = []
    windows: list[EstimateWindow] = []
    for scene in scenes():
        trace = stage.play(scene)
        items += estimated(trace, stage.seed)
        windows += _first_windows(scene, trace, stage.seed)
    if len(items) < ITEMS_MIN:
        return Outcome.of(None, Verdict.ADVICE, 0, REACHED)
    granularity = round(stage.parameters.estimate_granularity_seconds * _MICROSECONDS)
    stated = mean(item.confidence for item in items)
    true = sum(item.came_true for item in items) / len(items)
    widths = [_width(item, granularity) for item in items]
    measured = (
        Measurement("windows that came true", true, None, "of 1", f"stated {stated:.2f}"),
        Measurement("median width of a window", median(widths), WIDTH_MAX, "waits"),
        Measurement("WorkItems estimated", len(items), None, "items"),
    )
    chance = DEVIATIONS * sqrt(stated * (1 - stated) / len(items))
    failure = None
    if true < stated - chance:
        failure = Failure(
            expected=f"windows that come true as often as stated ({stated:.0%})",
            observed=f"{true:.0%} of {len(items)} did",
        )
    elif median(widths) > WIDTH_MAX:
        failure = Failure(
            expected=f"windows of at most {WIDTH_MAX} times the wait, the item or the granularity",
            observed=f"half of them are wider than {median(widths):.0f} times",
        )
    outcome = Outcome.of(failure, Verdict.ADVICE, len(items), REACHED, measured)
    return evolve(outcome, estimates=tuple(windows))


def _first_windows(scene: Scenario, trace: Trace, seed: int) -> Iterator[EstimateWindow]:
    """The first window of each item, for the picture."""
    names = Names(seed)
    known = {names.work_id(plan.name, plan.group): plan.name for plan in scene.work}
    seen: set[str] = set()
    name = f"Groups {', '.join(group.name for group in scene.groups)}; slots: {scene.agent.slots}"
    for window in windows_of(trace, known.get, name, most=None):
        if window.work not in seen:
            seen.add(window.work)
            yield window


def _width(item: Estimated, granularity: int) -> float:
    """The window against the largest of what it could reasonably depend on."""
    wait = item.started - item.accepted
    return (item.latest - item.earliest) / max(wait, granularity, 60 * _MICROSECONDS)


def estimated(trace: Trace, seed: int) -> list[Estimated]:
    """Every item's first estimate after its acceptance, with the start that followed."""
    names = Names(seed)
    taken, started = _moments(trace, "work.offer.accepted"), _moments(trace, "work.started")
    first: dict[str, Estimated] = {}
    for entry in trace:
        body = entry.body
        if entry.kind is not EntryKind.EFFECT or body.get("type") != "disclose":
            continue
        uri = str(body.get("workItemId"))
        work = next((name for name in taken if names.work_id(name, "") == uri), None)
        if work is None or work in first or work not in started:
            continue
        earliest = moment_of(str(find(body, "estimate", "estimatedStart")))
        latest = moment_of(str(body.get("estimatedStartLatest"))) or earliest
        confidence = find(body, "estimate", "confidence")
        if earliest is None or latest is None or not isinstance(confidence, int | float):
            continue
        first[work] = Estimated(earliest, latest, confidence, taken[work], started[work])
    return list(first.values())


def _moments(trace: Trace, kind: str) -> Mapping[str, int]:
    """When an Event of this kind was first appended, by WorkItem."""
    moments: dict[str, int] = {}
    for entry in trace:
        body = entry.body
        appended = entry.kind is EntryKind.NOTE and body["note"] == NoteKind.APPENDED
        if appended and body["kind"] == kind and body["work"] is not None:
            moments.setdefault(str(body["work"]), entry.at)
    return moments
