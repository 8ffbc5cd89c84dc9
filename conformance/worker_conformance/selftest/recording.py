"""Recordings of a Worker: what it answered in one run, found again by the shape of another.

A run under another seed has other identifiers, keys and canaries, and the same shape: kinds of
stimuli, times, sequence numbers. A recording is a tree of shapes with an answer at each node. Never
translates what was recorded: that it does not fit is the point.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import define, field

from worker_conformance.documents.json_types import JsonObject, JsonValue, find
from worker_conformance.judge.reading import frames_in
from worker_conformance.judge.verdicts import CheckKind
from worker_conformance.port.in_process import InProcessPort
from worker_conformance.scenario.model import CrashDuring, Scenario
from worker_conformance.selftest.interposer import Interposer
from worker_conformance.suite.checks import info_of, scenarios
from worker_conformance.suite.play import play

RECORDED_SEED = 1_000_003
"""No run that is judged uses it: a recording must come from another run."""


@define
class _Node:
    answer: JsonObject = field(factory=lambda: {"effects": []})
    following: dict[str, _Node] = field(factory=dict)


class Tape:
    """A tree of answers, and the place in it that a recorder or a player has reached."""

    def __init__(self, root: _Node | None = None) -> None:
        self._root = root or _Node()
        self._place: _Node | None = self._root

    def another(self) -> Tape:
        """The same recording for another player."""
        return Tape(self._root)

    def record(self, stimulus: JsonObject, answer: JsonObject) -> None:
        """Note what a stimulus was answered with, after all that led to it."""
        before = self._before(stimulus) or self._root
        self._place = before.following.setdefault(shape_of(stimulus), _Node())
        self._place.answer = answer

    def play(self, stimulus: JsonObject) -> JsonObject:
        """What was answered at this place to a stimulus of this shape; else nothing."""
        before = self._before(stimulus)
        self._place = before.following.get(shape_of(stimulus)) if before is not None else None
        return self._place.answer if self._place is not None else {"effects": []}

    def _before(self, stimulus: JsonObject) -> _Node | None:
        return self._root if stimulus["type"] == "start" else self._place


def shape_of(stimulus: JsonObject) -> str:
    """What two runs of one scenario have in common in a stimulus."""
    groups = stimulus.get("groups")
    facts: list[JsonValue] = [
        stimulus["type"],
        stimulus["now"],
        len(groups) if isinstance(groups, list) else 0,
        find(stimulus, "agent", "maxConcurrency"),
        find(stimulus, "report", "kind"),
        find(stimulus, "slotId"),
    ]
    frames: list[JsonValue] = [
        [frame.get("frameType"), find(frame, "event", "kind"), find(frame, "event", "sequence")]
        for frame in frames_in(stimulus)
    ]
    return json.dumps([*facts, *frames])


class _Recorder(Interposer):
    """Records the reference Worker."""

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self._tape = tape

    def _answer(self, answer: JsonObject) -> JsonObject:
        self._tape.record(self.stimulus, answer)
        return answer


def recording_of(played: Iterable[Scenario]) -> Tape:
    """The reference Worker's answers to scenarios, under a seed of their own."""
    tape = Tape()
    port = InProcessPort(lambda: _Recorder(tape))
    parameters = port.initialize().parameters
    with TemporaryDirectory(prefix="worker-conformance-") as folder:
        for number, scenario in enumerate(played):
            workspace = Path(folder) / str(number)
            workspace.mkdir()
            effective, _ = parameters.effective_for(scenario.agent.slots)
            play(scenario, port, effective, RECORDED_SEED, workspace)
    port.shutdown()
    return tape


@cache
def _of_every_vector() -> Tape:
    return recording_of(
        scenario
        for scenario in scenarios().values()
        if info_of(scenario.id).kind is CheckKind.VECTOR
        and not any(isinstance(step.action, CrashDuring) for step in scenario.steps)
    )


def recording_of_the_reference() -> Tape:
    """The reference Worker's answers to every vector, for one player."""
    return _of_every_vector().another()
