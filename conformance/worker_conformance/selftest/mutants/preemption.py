"""Faults of preemption and of Checkpoints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.selftest.copies import Parts, altered, notes
from worker_conformance.selftest.interposer import Interposer, effects_of, payload_of, says
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.speaker import events_in

QUANTUM = 20 * 1_000_000  # microseconds that undeclared time slicing gives to each run


class PausesAtOnce(Interposer):
    """Pauses the work together with the request for a safe point."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return (effect, {**effect, "type": "pause"}) if effect["type"] == "preempt" else (effect,)


class WithdrawsInSilence(Interposer):
    """Takes a preemption back without a word to the work that was asked for a safe point."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return () if effect["type"] == "continue" else (effect,)


class StartsPaused(Interposer):
    """Puts resumed work into its slot and pauses it there until somebody asks for it."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if "resumeFrom" not in effect:
            return (effect,)
        slot, item = effect["slotId"], effect["workItemId"]
        return (effect, {"type": "pause", "slotId": slot, "workItemId": item})


class ReleasesBeforeItsCheckpoint(Interposer):
    """Pauses and releases at the safe point, and sends the Checkpoint afterwards."""

    def _begin(self) -> None:
        super()._begin()
        self._gone: set[object] = set()

    def _answer(self, answer: JsonObject) -> JsonObject:
        effects = effects_of(answer)
        checkpoints = [effect for effect in effects if says(effect, "work.checkpoint")]
        if not checkpoints:
            kept = [effect for effect in effects if not self._is_repeated(effect)]
            return {**answer, "effects": list(kept)}
        early: list[JsonObject] = []
        for kind in ("pause", "release"):
            slot, item = self.stimulus["slotId"], self.stimulus["workItemId"]
            early.append({"type": kind, "slotId": slot, "workItemId": item})
        self._gone.add(self.stimulus["workItemId"])
        return {**answer, "effects": [*early, *effects]}

    def _is_repeated(self, effect: JsonObject) -> bool:
        if effect["type"] == "run":
            self._gone.discard(effect["workItemId"])
        return effect["type"] in {"pause", "release"} and effect["workItemId"] in self._gone


class SlotHandedOverEarly(Interposer):
    """Releases a slot only after the next work has been put into it."""

    def _begin(self) -> None:
        super()._begin()
        self._held: list[JsonObject] = []

    def _answer(self, answer: JsonObject) -> JsonObject:
        effects = effects_of(answer)
        released = [effect for effect in effects if effect["type"] == "release"]
        kept = [effect for effect in effects if effect["type"] != "release"]
        if self.stimulus["type"] == "tick" or any(effect["type"] == "run" for effect in kept):
            kept, self._held = [*kept, *self._held], []
        self._held.extend(released)
        return {**answer, "effects": list(kept)}


class StartsFromTheBeginning(Interposer):
    """Runs preempted work again without its Checkpoint."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return ({name: value for name, value in effect.items() if name != "resumeFrom"},)


class CheckpointInMemoryOnly(Interposer):
    """Keeps Checkpoints in memory: after a crash work begins from nothing."""

    def _begin(self) -> None:
        super()._begin()
        self._known: set[object] = set()

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for event in events_in(stimulus):
            self._known.add(find(event, "payload", "checkpoint", "checkpointId"))
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        self._known.add(find(payload_of(effect), "checkpoint", "checkpointId"))
        if find(effect, "resumeFrom", "checkpointId") in self._known:
            return (effect,)
        return ({name: value for name, value in effect.items() if name != "resumeFrom"},)


@altered
def preempted_work_disappears(parts: Parts) -> None:
    """Never puts preempted work back into its queue."""
    fact = parts.module("facts").FACTS["work.checkpointed"]

    def and_forgotten(turn: Any, group: Any, event: Any) -> None:
        fact(turn, group, event)
        item = turn.item(event["payload"]["workItem"]["workItemId"])
        if item is not None:
            turn.change(item, suspended=True)

    parts.module("facts").FACTS["work.checkpointed"] = and_forgotten


@altered
def undeclared_time_slicing(parts: Parts) -> None:
    """Preempts whatever has run for twenty seconds while something else waits."""
    consider, phase = parts.get("preemption.consider"), parts.get("runtime.Phase.RUNNING")

    def and_slice(turn: Any) -> None:
        consider(turn)
        for run in list(turn.runtime.runs.values()):
            since = notes(turn).setdefault(run.lease_id, turn.now)
            if turn.now < since + QUANTUM:
                turn.runtime.timers.set(since + QUANTUM, run.work_item_id)
            is_due = run.phase is phase and turn.now - since >= QUANTUM
            if is_due and turn.runtime.scheduler.next() is not None:
                parts.get("slots.move")(turn, run, "preempt")
                parts.get("slots.tell")(turn, run, "preempt")

    parts.replace("preemption.consider", and_slice)


@altered
def withdrawn_without_a_look(parts: Parts) -> None:
    """Lets work go on when a preemption loses its reason, and does not look for another one."""
    consider = parts.get("preemption.consider")

    def and_look_away(turn: Any) -> None:
        known = dict(turn.touched)
        consider(turn)
        turn.touched = known

    parts.replace("preemption.consider", and_look_away)


@altered
def no_shortest_run(parts: Parts) -> None:
    """Pauses work at the very start of its run, as often as something urgent arrives then."""
    parts.replace("preemption.SEGMENT", 0)


MUTANTS = (
    mutant(
        no_shortest_run,
        "WRK-015.e",
        "PREEMPT-0023 MON-0060",
        "A reaction to events that has no memory of the last one.",
    ),
    mutant(
        PausesAtOnce,
        "WRK-015.b",
        "PREEMPT-0002 MON-0008",
        "Preemption as operating systems do it, applied to work with side effects.",
    ),
    mutant(
        StartsPaused,
        "WRK-015.e",
        "MON-0008 PREEMPT-0022",
        "Warm standby: the slot is taken, and nothing in it moves.",
    ),
    mutant(
        ReleasesBeforeItsCheckpoint,
        "WRK-015.c",
        "PREEMPT-0001 MON-0008",
        "The slot is freed first, because somebody urgent is waiting for it.",
    ),
    mutant(
        SlotHandedOverEarly,
        "WRK-011.a",
        "MON-0006",
        "Clean-up of the old run as a background task.",
        seen_in="PREEMPT-0001",
    ),
    mutant(
        StartsFromTheBeginning,
        "WRK-015.d",
        "PREEMPT-0003 OFFLINE-0009",
        "Checkpoints that are written and never read: nobody tests the restore.",
    ),
    mutant(
        CheckpointInMemoryOnly,
        "WRK-015.d",
        "PREEMPT-0004",
        "The Checkpoint's reference lives in the runner's process.",
    ),
    mutant(
        WithdrawsInSilence,
        "WRK-010.b",
        "PREEMPT-0026",
        "A request that is cancelled where it was made, and not where it was heard.",
    ),
    mutant(
        preempted_work_disappears,
        "WRK-015.d",
        "PREEMPT-0003 PREEMPT-0022 PREEMPT-0027",
        "A state between 'queued' and 'running' that no loop looks at.",
    ),
    mutant(
        undeclared_time_slicing,
        "WRK-015.e",
        "PREEMPT-0005 PREEMPT-0006 MON-0061 MON-0062",
        "Round robin borrowed from schedulers for which a switch costs nothing.",
    ),
    mutant(
        withdrawn_without_a_look,
        "IDN-003.b",
        "ADMIT-0062",
        "A check made at the change, and not when what hid it is over.",
    ),
)
