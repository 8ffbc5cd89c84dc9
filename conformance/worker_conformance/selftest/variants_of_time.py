"""Lawful variants that judge time, slots and endings by themselves; `variants` registers them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.judge.reading import command_of, frames_in
from worker_conformance.scenario.clock import moment_of, text_of
from worker_conformance.selftest.copies import Parts, altered, notes
from worker_conformance.selftest.interposer import Interposer, KnowsItsRuns, says
from worker_conformance.selftest.speaker import events_in

SECOND = 1_000_000  # microseconds

# --- clocks -------------------------------------------------------------------------------


class JudgesByTheWallClock(Interposer):
    """Judges leases, waits and deadlines by the wall clock, and counts no elapsed time."""

    def _begin(self) -> None:
        self._ahead = 0

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if "wallClock" not in stimulus:
            self._ahead = 0
            return stimulus
        now, wall = (moment_of(text_at(stimulus, one)) or 0 for one in ("now", "wallClock"))
        self._ahead = wall - now
        return {**stimulus, "now": stimulus["wallClock"]}

    def _answer(self, answer: JsonObject) -> JsonObject:
        wake_at = moment_of(str(answer.get("wakeAt")))
        if wake_at is None:
            return answer
        return {**answer, "wakeAt": text_of(wake_at - self._ahead)}


class StampsEstimatesByTheWallClock(Interposer):
    """Says when it calculated an estimate as it says when it issued a Command."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        estimate = effect.get("estimate")
        if effect["type"] != "disclose" or not isinstance(estimate, dict):
            return (effect,)
        wall = self.stimulus.get("wallClock", self.stimulus["now"])
        return ({**effect, "estimate": {**estimate, "lastCalculatedAt": wall}},)


# --- hesitation ---------------------------------------------------------------------------


def _thinks_over(parts: Parts, seconds: int) -> None:
    looked_at = ("admission.review", "duties._queue", "eligibility.obstacle")
    answer, queue, obstacle = map(parts.get, looked_at)

    def is_due(turn: Any, item: Any, *question: object) -> bool:
        first = notes(turn).setdefault((item.work_item_id, *question), turn.now)
        due = int(first) + seconds * SECOND
        if turn.now < due:
            turn.runtime.timers.set(due, item.work_item_id)
        return bool(turn.now >= due)

    def answered(turn: Any, item: Any) -> None:
        offer = item.offer
        open_ = offer is not None and turn.is_live(item.group_id)
        if not open_ or is_due(turn, item, "offer", offer.offer_id, offer.expires_at):
            answer(turn, item)

    def queued(turn: Any, item: Any) -> None:
        if obstacle(turn, item) or item.work_item_id in turn.runtime.reservations:
            notes(turn).pop((item.work_item_id, "start"), None)
            queue(turn, item)
        elif is_due(turn, item, "start"):
            queue(turn, item)

    parts.replace("admission.review", answered)
    parts.replace("duties._queue", queued)


@altered
def takes_its_time(parts: Parts) -> None:
    """Thinks every offer over for ten seconds, and then every start."""
    _thinks_over(parts, 10)


@altered
def takes_as_long_as_it_may(parts: Parts) -> None:
    """Thinks every offer over for forty seconds, and then every start."""
    _thinks_over(parts, 40)


# --- budgets ------------------------------------------------------------------------------


@altered
def measures_its_running_time(parts: Parts) -> None:
    """Measures its runs itself, and blocks work that runs longer than its contract allows."""
    look, escalate, move = map(parts.get, (_LOOK, "operations.escalate", "slots.move"))

    def looked(turn: Any, run: Any) -> None:
        look(turn, run)
        item = turn.item(run.work_item_id)
        limit = item.contract.limits().get("wallClockSecondsLimit") if item else None
        if limit is None or run.phase.value not in _RUNS:
            return
        since = notes(turn).get(run.lease_id, run.began_at)
        earlier = notes(turn).get(_work_of(run), 0)
        over = since + (limit + 1) * SECOND - earlier  # its end may come in this instant
        if turn.now < over:
            turn.runtime.timers.set(over, run.work_item_id)
        elif not run.escalation:
            escalate(turn, run, "budget: wallClockSecondsLimit is used up")

    def moved(turn: Any, run: Any, signal: str) -> bool:
        ran = run.phase.value in _RUNS
        done = bool(move(turn, run, signal))
        runs = turn.runtime.runs.get(run.slot_id) is run and run.phase.value in _RUNS
        if ran and not runs:
            since = notes(turn).pop(run.lease_id, run.began_at)
            notes(turn)[_work_of(run)] = notes(turn).get(_work_of(run), 0) + turn.now - since
        elif runs and not ran:
            notes(turn)[run.lease_id] = turn.now
        return done

    parts.replace(_LOOK, looked)
    parts.replace("slots.move", moved)


_LOOK = "preemption.call_before_the_grace_ends"
_RUNS = frozenset({"running", "preempting"})


def _work_of(run: Any) -> tuple[str, int]:
    return run.work_item_id, run.ownership_epoch


# --- slots --------------------------------------------------------------------------------


@altered
def pauses_at_once_and_once(parts: Parts) -> None:
    """Pauses work at the very start of its run, and lets it get somewhere the next time."""
    preempt_for = parts.get("preemption._preempt_for")
    shortest = parts.get("preemption.SEGMENT")

    def first_at_once(turn: Any, challenger: str, class_name: str) -> None:
        items = (turn.item(run.work_item_id) for run in turn.runtime.runs.values())
        is_first = all(item is not None and item.pauses == 0 for item in items)
        parts.replace("preemption.SEGMENT", 0 if is_first else shortest)
        preempt_for(turn, challenger, class_name)

    parts.replace("preemption._preempt_for", first_at_once)


class CountsPromisedSlots(Interposer):
    """Counts a slot as active from the moment at which it asks for its work's start."""

    def _begin(self) -> None:
        self._asked: dict[str, str] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for frame in frames_in(stimulus):
            self._asked.pop(str(find(frame, "error", "relatedActionId")), None)
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        command = command_of(effect)
        if command is not None and says(effect, "work.start"):
            self._asked[text_at(command, "actionId")] = text_at(command, "workItemId")
        if effect["type"] == "run":
            work = effect["workItemId"]
            self._asked = {k: v for k, v in self._asked.items() if v != work}
        frame: Any = effect.get("frame")
        if find(frame, "presence") is None:
            return (effect,)
        presence = frame["presence"]
        capacity = presence["capacity"]
        active = min(capacity["maxSlots"], capacity["activeSlots"] + len(set(self._asked.values())))
        free = capacity["maxSlots"] - active
        counted = {**capacity, "activeSlots": active, "availableSlots": free}
        return ({**effect, "frame": {**frame, "presence": {**presence, "capacity": counted}}},)


class EndsItsRunsWhenItLeaves(KnowsItsRuns):
    """Ends its runs of a Group with the subscription, and takes them up again with the next."""

    def _afterwards(self) -> Iterable[JsonObject]:
        kind = self.stimulus["type"]
        group_id = self.stimulus.get("groupId") or find(self.stimulus, "group", "groupId")
        for run in [one for one in self._runs.values() if one["groupId"] == group_id]:
            if kind == "leave":
                named = {name: run[name] for name in ("slotId", "workItemId")}
                yield {"type": "cancel", **named}
                yield {"type": "release", **named}
            elif kind == "join":
                yield run


# --- endings ------------------------------------------------------------------------------


class SaysThatItHasStopped(Interposer):
    """Tells the Group by a Message that it has stopped, after the Mission was cancelled."""

    def _begin(self) -> None:
        self._due: list[JsonObject] = []
        self._ended: list[JsonObject] = []

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        self._due, self._ended = self._ended, []
        self._ended += [one for one in events_in(stimulus) if one["kind"] == "mission.cancelled"]
        return stimulus

    def _afterwards(self) -> Iterable[JsonObject]:
        for event in self._due:
            works = find(event, "payload", "workItems")
            for work in works if isinstance(works, list) else ():
                message = self.speaker.message(cast(JsonObject, work), "Stopped, and cleaned up.")
                payload: JsonObject = {"workItemId": find(work, "workItemId"), "message": message}
                yield self.speaker.command("message.post", str(event["groupId"]), payload)
