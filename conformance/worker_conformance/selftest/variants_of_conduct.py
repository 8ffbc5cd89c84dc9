"""Lawful variants that talk, read, ask and put down work by themselves; `variants` registers them.

Most of them were invented by somebody who looked for lawful Workers that the suite would fail.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from attrs import evolve

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.selftest.copies import Parts, altered, notes
from worker_conformance.selftest.interposer import Interposer, effects_of, says, with_parameters

SECOND = 1_000_000  # microseconds
HEARTBEAT = 60 * SECOND
ASKED_AGAIN_AFTER = 30 * SECOND
CLEANING = 2 * SECOND
PREPARATION = 3 * SECOND
TOKEN_MARGIN = 5 * SECOND
SLICE = 300 * SECOND
SLICES_MAX = 3
NONCE_CHARACTERS = 32


# --- talking and reading ------------------------------------------------------------------


@altered
def heartbeats_with_presence(parts: Parts) -> None:
    """Sends a PING with Presence of its own accord, now and then and whenever its slots change."""
    save, presence = parts.get("sessions.save_scheduler"), parts.get("disclosure.presence")

    def beat(turn: Any, kept: dict[Any, Any]) -> None:
        busy = len(turn.runtime.runs)
        if kept.get("busy") != busy or turn.now >= kept.get("beat", 0):
            kept["busy"], kept["beat"] = busy, turn.now + HEARTBEAT
            digest = hashlib.sha256(turn.identifier("nonce", "").encode()).hexdigest()
            nonce = digest[:NONCE_CHARACTERS]
            turn.send("PING", "", nonce=nonce, sentAt=turn.stamp(), presence=presence(turn))
        turn.runtime.timers.set(kept["beat"], "heartbeat")

    def saved(turn: Any) -> None:
        is_heard = any(one.value != "cut" for one in turn.runtime.links.values())
        if is_heard and not turn.projection.session.fenced_by:
            beat(turn, notes(turn))
        save(turn)

    parts.replace("sessions.save_scheduler", saved)


@altered
def asks_again_at_a_gap(parts: Parts) -> None:
    """Discards what comes above a gap, and subscribes once more after its Cursor."""

    def discarded(turn: Any, group: Any, *_: object) -> None:
        asked = notes(turn).setdefault("asked", {})
        cursor, at = asked.get(group.group_id, (-1, 0))
        if cursor == group.cursor and turn.now < at + ASKED_AGAIN_AFTER:
            return
        asked[group.group_id] = (group.cursor, turn.now)
        turn.send(
            "SUBSCRIBE",
            group.group_id,
            subscriptionId=turn.identifier("subscription", group.group_id),
            groups=[{"groupId": group.group_id, "afterSequence": group.cursor}],
        )

    parts.replace("inbox._buffer", discarded)
    parts.declare(outOfOrder="discard")


class ReadsItsInboxLater(Interposer):
    """Takes frames in, says that it is busy, and reads them with the tick that follows."""

    def _begin(self) -> None:
        self._inbox: list[JsonObject] = []

    def handle(self, stimulus: JsonObject) -> JsonObject:
        """Put frames aside until something else happens."""
        if stimulus["type"] == "start":
            self._inbox = []
        if stimulus["type"] == "frames":
            self._inbox.append(stimulus)
            return {"effects": [], "busy": True}
        waiting, self._inbox = self._inbox, []
        effects: list[JsonObject] = []
        for one in waiting:
            effects += effects_of(super().handle({**one, "now": stimulus["now"]}))
        answer = super().handle(stimulus)
        return {**answer, "effects": [*effects, *effects_of(answer)]}


@altered
def stops_listening_after_the_end(parts: Parts) -> None:
    """Acknowledges nothing more of a Group whose Mission or Membership is over."""
    acknowledge = parts.get("worker._acknowledge")

    def only_living(turn: Any) -> None:
        for group_id in list(turn.acknowledge):
            group = turn.group(group_id)
            if group.mission_ended or group.membership_state == "ended":
                del turn.acknowledge[group_id]
        acknowledge(turn)

    parts.replace("worker._acknowledge", only_living)


# --- leases and tokens --------------------------------------------------------------------


class AsksForShortLeases(Interposer):
    """Asks for Execution Leases of 40 seconds, and renews them as they go."""

    seconds = 40

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if not says(effect, "work.start"):
            return (effect,)
        return (self.speaker.with_payload(effect, executionLeaseSeconds=self.seconds),)


@altered
def uses_no_token_to_its_last_seconds(parts: Parts) -> None:
    """Takes a token for expired five seconds early: clocks differ, and calls take time."""
    token = parts.get("runtime.Token")
    read = token.read.__func__

    def earlier(document: Any) -> Any:
        found = read(token, document)
        return evolve(found, expires_at=found.expires_at - TOKEN_MARGIN)

    token.read = staticmethod(earlier)


# --- putting work down --------------------------------------------------------------------


@altered
def begins_anew_unless_preempted(parts: Parts) -> None:
    """Goes on from a Checkpoint after a preemption alone, and begins blocked work anew."""
    absorb, failed = parts.get("facts.absorb"), parts.get("execution._failed")

    def absorbed(turn: Any, group: Any, document: Any, payload: Any, event: Any) -> None:
        absorb(turn, group, document, payload, event)
        item = turn.item(document["workItemId"])
        if event["kind"] == "work.blocked" and item is not None:
            turn.change(item, checkpoint=None)

    def failure(turn: Any, run: Any, item: Any, report: Any) -> None:
        failed(turn, run, item, report)
        current = turn.item(run.work_item_id)
        if current is not None:
            turn.change(current, checkpoint=None)

    parts.replace("facts.absorb", absorbed)
    parts.get("execution.REPORTS")["failed"] = failure


@altered
def _without_retries(parts: Parts) -> None:
    parts.replace("retries.delay_before_retry", lambda *_: None)


class FailsAtTheFirstFailure(Interposer):
    """Fails work with its first failure, and says that it never retries by itself."""

    worker = staticmethod(_without_retries)

    def _declared(self, declaration: JsonObject) -> JsonObject:
        return with_parameters(declaration, abstains=["automaticRetry"])


@altered
def slices_time(parts: Parts) -> None:
    """Asks for a safe point after five minutes of a run where work of its class waits."""
    consider, choice = parts.get("preemption.consider"), parts.get("slots.next_choice")
    rank_of, rank = parts.get("preemption._rank_of"), parts.get("preemption._rank")
    running = parts.get("runtime.Phase").RUNNING

    def is_over(turn: Any, run: Any, class_name: str) -> bool:
        item = turn.item(run.work_item_id)
        is_due = turn.now >= run.began_at + SLICE and item is not None
        return is_due and item.pauses < SLICES_MAX and rank(turn, class_name) >= rank_of(turn, run)

    def considered(turn: Any) -> None:
        consider(turn)
        runs = list(turn.runtime.runs.values())
        for run in runs:
            if turn.now < run.began_at + SLICE:
                turn.runtime.timers.set(run.began_at + SLICE, run.work_item_id)
        chosen = choice(turn) if parts.get("slots.free")(turn) <= 0 else None
        if chosen is None or any(run.phase is not running for run in runs):
            return
        for run in [one for one in runs if is_over(turn, one, chosen[1])][:1]:
            parts.get("slots.move")(turn, run, "preempt")
            parts.get("slots.tell")(turn, run, "preempt")

    parts.replace("preemption.consider", considered)
    parts.declare(timeSlicing=True, maxPreemptionsPerItem=10)


# --- asking -------------------------------------------------------------------------------


@altered
def asks_at_every_fact_about_a_gate(parts: Parts) -> None:
    """Asks once to start gated work with each new fact, and lets the answer say what it lacks."""
    obstacle, is_open = parts.get("eligibility.obstacle"), parts.get("eligibility.is_gate_open")
    asking: list[bool] = []

    def but_for_its_gate(turn: Any, item: Any) -> str | None:
        asking.append(True)
        found: str | None = obstacle(turn, item)
        asking.pop()
        return found

    parts.replace("eligibility.is_gate_open", lambda turn, item: asking or is_open(turn, item))
    parts.replace("eligibility.obstacle", but_for_its_gate)


# --- slots --------------------------------------------------------------------------------


@altered
def keeps_a_slot_in_reserve(parts: Parts) -> None:
    """Keeps one slot of several free for work of the highest class, as it declares."""
    free, choice = parts.get("slots.free"), parts.get("slots.next_choice")

    def for_others(turn: Any) -> int:
        left = int(free(turn))
        if turn.runtime.agent.slots_max < 2 or left != 1:
            return left
        chosen = choice(turn)
        return int(chosen is not None and chosen[1] == turn.runtime.policy.classes[-1])

    parts.replace("slots.free", for_others)
    parts.declare(reservedSlots=1)


@altered
def releases_with_its_report(parts: Parts) -> None:
    """Releases a slot with the Command that ends its run, and waits for no Event."""
    move, closing = parts.get("slots.move"), parts.get("runtime.Phase").CLOSING
    reports = parts.get("execution.REPORTS")

    def and_release(handler: Any) -> Any:
        def handled(turn: Any, run: Any, item: Any, report: Any) -> None:
            handler(turn, run, item, report)
            if run.phase is closing and run.slot_id in turn.runtime.runs:
                move(turn, run, "closed")

        return handled

    for kind in ("completed", "failed", "blocked"):
        reports[kind] = and_release(reports[kind])


@altered
def cleans_its_slots_up(parts: Parts) -> None:
    """Releases a slot two seconds after its run is over, when it has been cleaned."""
    move, review, run_of = map(parts.get, ("slots.move", "slots.review", "runtime.Run"))
    closing = parts.get("runtime.Phase").CLOSING

    def moved(turn: Any, run: Any, signal: str) -> bool:
        was_running, before = turn.runtime.runs.get(run.slot_id) is run, len(turn.effects)
        done = bool(move(turn, run, signal))
        if not was_running or run.slot_id in turn.runtime.runs:
            return done
        since = turn.effects[before:]
        release = next(one for one in since if one["type"] == "release")
        turn.effects[before:] = [one for one in since if one is not release]
        key, until = f"cleaning {run.slot_id} {turn.runtime.occasion()}", turn.now + CLEANING
        turn.runtime.runs[run.slot_id] = run_of(
            slot_id=run.slot_id,
            group_id=run.group_id,
            work_item_id=key,
            lease_id="",
            ownership_epoch=0,
            began_at=turn.now,
            occasion=0,
            phase=closing,
        )
        notes(turn)[key] = (until, release)
        turn.runtime.timers.set(until, key)
        return done

    def reviewed(turn: Any, run: Any) -> None:
        until, release = notes(turn).get(run.work_item_id, (None, None))
        if until is None:
            review(turn, run)
        elif turn.now >= until:
            turn.emit(release)
            del turn.runtime.runs[run.slot_id]
        else:
            turn.runtime.timers.set(until, run.work_item_id)

    parts.replace("slots.move", moved)
    parts.replace("slots.review", reviewed)


@altered
def prepares_its_slots(parts: Parts) -> None:
    """Runs work three seconds after its lease was granted: its slot has to be set up."""
    claim, fill = parts.get("slots.claim"), parts.get("slots.fill")

    def due(turn: Any, item: Any) -> int:
        return notes(turn).get(item.lease.lease_id, 0) if item and item.lease else 0

    def claimed(turn: Any, item: Any) -> None:
        claim(turn, item)
        if item.work_item_id in turn.runtime.claims and item.lease is not None:
            notes(turn).setdefault(item.lease.lease_id, turn.now + PREPARATION)
            if turn.now < due(turn, item):
                turn.runtime.timers.set(due(turn, item), item.work_item_id)

    def filled(turn: Any) -> None:
        claims, reservations = turn.runtime.claims, turn.runtime.reservations
        held = [one for one in claims if turn.now < due(turn, turn.item(one))]
        added = [one for one in held if one not in reservations]
        for one in held:
            del claims[one]
        reservations.update({one: (turn.item(one).group_id, "setup") for one in added})
        fill(turn)
        for one in added:
            del reservations[one]
        claims.update(dict.fromkeys(held))

    parts.replace("slots.claim", claimed)
    parts.replace("slots.fill", filled)


class AFreshSlotForEveryRun(Interposer):
    """Makes a slot for each run, under a name that no run had before."""

    def __init__(self) -> None:
        self._made = 0
        super().__init__()

    def _begin(self) -> None:
        self._fresh: dict[object, str] = {}
        self._known: dict[object, object] = {}
        self._told: object = None

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        self._told = stimulus.get("slotId")
        if self._told is None:
            return stimulus
        return {**stimulus, "slotId": str(self._known.get(self._told, "gone"))}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        slot = effect.get("slotId")
        if effect["type"] == "run":
            self._made += 1
            self._fresh[slot] = f"vm-{self._made}"
            self._known[self._fresh[slot]] = slot
        if slot is None:
            return (effect,)
        told = self._told if effect["type"] == "operation" else self._fresh.get(slot, slot)
        return ({**effect, "slotId": str(told)},)


class EndsAtASafePoint(Interposer):
    """Asks work that has to end for a safe point, and frees its slot there."""

    def _begin(self) -> None:
        self._ending: set[object] = set()
        self._held: dict[object, JsonObject] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        kind, slot = effect["type"], effect.get("slotId")
        if kind == "cancel":
            self._ending.add(slot)
            return ({**effect, "type": "preempt"},)
        if kind == "release" and slot in self._ending:
            self._ending.discard(slot)
            self._held[slot] = effect
            return ()
        if kind == "run" and slot in self._held:
            return (self._held.pop(slot), effect)
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        kind = find(self.stimulus, "report", "kind")
        ended = self.stimulus["type"] == "execution" and kind in {"safe_point", "completed"}
        held = self._held.pop(self.stimulus.get("slotId"), None) if ended else None
        return () if held is None else (held,)


class NamesItsSlots(Interposer):
    """Calls its slots by names."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        slot = str(stimulus.get("slotId", ""))
        return {**stimulus, "slotId": slot.removeprefix("desk-")} if slot else stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return ({**effect, "slotId": f"desk-{effect['slotId']}"} if "slotId" in effect else effect,)
