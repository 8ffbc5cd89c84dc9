"""Patience: how long a look waits for what no clause sets a time for.

The specification says what a Worker does, hardly ever how soon: one that thinks an offer over for
some seconds is as lawful as one that answers at once. So a look that asks for a deed lets virtual
time pass, in short steps and up to a bound, until it is done. Never waits for what is done at once,
never for what must *not* be, and never past a time that the vector itself has set.
"""

from __future__ import annotations

from attrs import define, field

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.trace import EntryKind, NoteKind, Trace
from worker_conformance.scenario.clock import SECOND
from worker_conformance.scenario.model import Advance, Check, Condition, ConditionKind, Mood, Step
from worker_conformance.suite.world import World

PATIENCE_SECONDS = 45
"""For each deed of a chain: an offer may be thought over, and then the start of its work.

Shorter than ordinary work runs (a minute): what only the executor brings about stays to come.
"""

STEP_SECONDS = 5
"""How far the clock moves at a time, unless somebody has something to do before."""

LOOKS_MAX = 60
"""Looks of one check: a Worker that asks for a tick every millisecond is waited for no longer."""

# Deeds and what follows from them: done later they are done. What must end or must not happen,
# counts and whole histories are judged where they stand.
_DEEDS = frozenset(ConditionKind) - {
    ConditionKind.SUBSCRIBE,
    ConditionKind.NOT_RUNNING,
    ConditionKind.CANCEL,
    ConditionKind.RELEASE,
    ConditionKind.COUNT,
    ConditionKind.LEAKS,
    ConditionKind.PONG,
    ConditionKind.HOLDS,
    ConditionKind.FAIR,
    ConditionKind.SERVED_WITHIN,
}
# A precondition may also be an end or a number that is reached in time.
_PRECONDITIONS = _DEEDS | {ConditionKind.COUNT, ConditionKind.CANCEL, ConditionKind.RELEASE}


class Patience:
    """The patience of one look; `timed` says whether the vector has let time pass for it."""

    def __init__(self, world: World, mood: Mood, *, timed: bool) -> None:
        self._world = world
        self._deeds = _Deeds()
        self._deeds.take(world.trace)
        self._until = world.now + PATIENCE_SECONDS * SECOND
        self._looks = 0
        self._waits_for = _PRECONDITIONS if mood is Mood.GIVEN else frozenset[ConditionKind]()
        if mood in {Mood.EXPECT, Mood.SHOULD} and not timed:
            self._waits_for = _DEEDS

    def waits(self, condition: Condition) -> bool:
        """Let a little time pass for a condition that does not hold; False if none is left."""
        world = self._world
        if condition.kind not in self._waits_for or not world.running:
            return False
        self._take_note()
        if world.now >= self._until or self._looks >= LOOKS_MAX:
            return False
        self._looks += 1
        step = min(self._until, world.now + STEP_SECONDS * SECOND)
        appointment = world.next_appointment()
        world.advance_to(step if appointment is None else min(step, appointment))
        return True

    def _take_note(self) -> None:
        """A deed that was not done before may lead to the one that is waited for."""
        if self._deeds.take(self._world.trace):
            self._until = self._world.now + PATIENCE_SECONDS * SECOND


_MOVES_NOTHING = frozenset({"work.progressed", "message.posted"})
"""Renewed leases, reports of progress and words are no step towards anything."""


@define
class _Deeds:
    """What moves work on: Commands that their Group took, and calls of a run for its safe point.

    Each counts once for a WorkItem or a run, and what nobody took does not, so that no chatter
    prolongs a wait.
    """

    _read: int = 0
    _done: set[tuple[str, ...]] = field(factory=set)
    _leases: set[str] = field(factory=set)
    _runs: set[tuple[str, str]] = field(factory=set)

    def take(self, trace: Trace) -> bool:
        """Read on to the end; True if there was a deed that was not known."""
        known = len(self._done)
        for entry in trace.since(self._read):
            if entry.kind is EntryKind.NOTE:
                self._take_note(entry.body)
            elif entry.kind is EntryKind.EFFECT:
                self._take_effect(entry.body)
        self._read = len(trace)
        return len(self._done) > known

    def _take_note(self, note: JsonObject) -> None:
        if note.get("note") != NoteKind.APPENDED:
            return
        self._leases.add(str(note.get("lease")))
        kind = str(note.get("kind"))
        if note.get("by") == "worker" and kind not in _MOVES_NOTHING:
            self._done.add((kind, str(note.get("group")), str(note.get("work"))))

    def _take_effect(self, effect: JsonObject) -> None:
        place = str(effect.get("slotId")), str(effect.get("workItemId"))
        if effect.get("type") == "run" and effect.get("leaseId") in self._leases:
            self._runs.add(place)
        elif effect.get("type") == "preempt" and place in self._runs:
            self._done.add(("preempt", *place))


def leaves_time(step: Step, *, before: bool) -> bool:
    """Whether a check that follows `step` was given time by the vector itself."""
    if isinstance(step.action, Check):
        return before
    return isinstance(step.action, Advance)
