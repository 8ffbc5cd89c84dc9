"""Lawful variants that choose, abstain, speak and round otherwise; `variants` registers them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any, cast
from weakref import WeakKeyDictionary

from worker_conformance.documents.json_types import JsonObject, find, integer_at, text_at
from worker_conformance.judge.reading import command_of, frames_in
from worker_conformance.scenario.clock import moment_of, text_of
from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.interposer import (
    Interposer,
    effects_of,
    payload_of,
    says,
    with_parameters,
)
from worker_conformance.selftest.speaker import events_in

SECOND = 1_000_000  # microseconds
HELD_MAX = 10 * SECOND
LOOKS_EVERY = 30 * SECOND
PLACES = 6
SETTLE_LIMIT = 10_000


# --- order --------------------------------------------------------------------------------


def _ready(scheduler: Any) -> Mapping[tuple[str, str], Any]:
    """The flows that something could be started from, in the order of their names."""
    closed = scheduler._closed  # noqa: SLF001 - a variant is inside the part it alters
    flows = sorted(scheduler._flows.items())  # noqa: SLF001 - as above
    return {n: flow for n, flow in flows if n[0] not in closed and flow.queue.head() is not None}


@altered
def draws_lots(parts: Parts) -> None:
    """Draws lots by weight and class; a slot that was freed for some work goes to that work."""
    open_runtime, charge = map(parts.get, ("sessions.open_runtime", _CHARGE))
    preempt_for = parts.get("preemption._preempt_for")
    urns: WeakKeyDictionary[object, Random] = WeakKeyDictionary()
    tickets: WeakKeyDictionary[object, float] = WeakKeyDictionary()
    freed_for: WeakKeyDictionary[object, str] = WeakKeyDictionary()

    def opened(projection: Any, stimulus: Any) -> Any:
        runtime = open_runtime(projection, stimulus)
        urns[runtime.scheduler] = Random(stimulus["seed"])  # noqa: S311 - no secret
        return runtime

    def drawn(scheduler: Any) -> tuple[str, str] | None:
        ready = _ready(scheduler)
        heads = {name: flow.queue.head().work_item_id for name, flow in ready.items()}
        for name, head in heads.items():
            if head == freed_for.get(scheduler):
                return head, name[1]
        share = tickets.setdefault(scheduler, urns[scheduler].random())
        left = share * sum(1 / flow.cost for flow in ready.values())
        for name, flow in ready.items():
            left -= 1 / flow.cost
            if left <= 0:
                return heads[name], name[1]
        return None

    def charged(scheduler: Any, work_item_id: str) -> Any:
        tickets.pop(scheduler, None)
        return charge(scheduler, work_item_id)

    def preempted(turn: Any, challenger: str, class_name: str) -> None:
        preempt_for(turn, challenger, class_name)
        if any(run.challenger == challenger for run in turn.runtime.runs.values()):
            freed_for[turn.runtime.scheduler] = challenger

    parts.replace("sessions.open_runtime", opened)
    parts.replace("preemption._preempt_for", preempted)
    parts.replace(_NEXT, drawn)
    parts.replace(_CHARGE, charged)
    parts.declare(randomised=True)


@altered
def goes_round_with_credit(parts: Parts) -> None:
    """Gives every flow what it is worth in each round, and starts from the richest."""
    charge = parts.get(_CHARGE)
    savings: WeakKeyDictionary[object, dict[Any, float]] = WeakKeyDictionary()

    def richest(scheduler: Any) -> tuple[str, str] | None:
        ready = _ready(scheduler)
        if not ready:
            return None
        credit = savings.setdefault(scheduler, {})
        for name in [one for one in credit if one not in ready]:
            del credit[name]  # what waits for nothing saves nothing
        while credit.get(chosen := max(ready, key=lambda n: credit.get(n, 0)), 0) < 1:
            dearest = max(flow.cost for flow in ready.values())
            for name, flow in ready.items():
                credit[name] = credit.get(name, 0) + dearest / flow.cost
        return ready[chosen].queue.head().work_item_id, chosen[1]

    def charged(scheduler: Any, work_item_id: str) -> Any:
        name = charge(scheduler, work_item_id)
        credit = savings.setdefault(scheduler, {})
        credit[name] = credit.get(name, 1) - 1
        return name

    parts.replace(_NEXT, richest)
    parts.replace(_CHARGE, charged)


_NEXT = "scheduler.FairScheduler.next"
_CHARGE = "scheduler.FairScheduler.charge"


@altered
def looks_at_the_newest_first(parts: Parts) -> None:
    """Deals with what one call brings from its end: of two offers the later is taken first."""
    review, settle = map(parts.get, ("duties.review", "duties.settle"))

    def settled(turn: Any) -> None:
        while turn.touched:
            newest = next(reversed(turn.touched))
            del turn.touched[newest]
            review(turn, newest)
        settle(turn)

    parts.replace("duties.settle", settled)


@altered
def preempts_what_began_last(parts: Parts) -> None:
    """Asks the run that began last for its safe point, and not the one of the lowest class."""

    def latest(victims: Iterable[Any], **_: object) -> Any:
        return max(victims, key=lambda run: (run.began_at, run.slot_id))

    parts.module("preemption").min = latest


@altered
def has_few_places(parts: Parts) -> None:
    """Has places for six pieces of work, as it declares, and declines what comes on top."""
    queued_max = parts.get("policy.Policy.queued_max")
    parts.replace("policy.Policy.queued_max", lambda policy: min(PLACES, queued_max(policy)))
    parts.declare(queueCapacity=PLACES)


# --- abstention ---------------------------------------------------------------------------


@altered
def stands_still_offline(parts: Parts) -> None:
    """Ends its runs of a Group at the moment at which its link is cut, and says so."""
    parts.replace("policy.Policy.offline_grace", lambda _: 0)
    parts.declare(abstains=["offlineWork"])


class KeepsItsPresenceToItself(Interposer):
    """Answers a PING without its Presence, and says that it tells none."""

    def _declared(self, declaration: JsonObject) -> JsonObject:
        return with_parameters(declaration, abstains=["presence"])

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        frame: Any = effect.get("frame")
        if find(frame, "presence") is None:
            return (effect,)
        kept = {name: value for name, value in frame.items() if name != "presence"}
        return ({**effect, "frame": kept},)


@altered
def _no_more_than_it_must(parts: Parts) -> None:
    parts.replace("policy.Policy.offline_grace", lambda _: 0)
    parts.replace("preemption.consider", lambda _: None)
    parts.replace("disclosure.publish", lambda *_: None)
    parts.replace("retries.delay_before_retry", lambda *_: None)


class DoesNoMoreThanItMust(KeepsItsPresenceToItself):
    """Abstains from everything that one can abstain from: the least that a Worker can be."""

    worker = staticmethod(_no_more_than_it_must)

    def _declared(self, declaration: JsonObject) -> JsonObject:
        triggers = ["preempt", "estimates", "presence", "automaticRetry", "offlineWork"]
        return with_parameters(
            declaration,
            abstains=cast("Any", triggers),
            considers=cast("Any", ["quota", "gate", "resources"]),
        )


# --- speech -------------------------------------------------------------------------------


class OneEffectAtATime(Interposer):
    """Gives one effect with each answer, and says that it is busy until the last one is out."""

    def _begin(self) -> None:
        self._held: list[JsonObject] = []

    def _declared(self, declaration: JsonObject) -> JsonObject:
        return with_parameters(declaration, settleLimit=SETTLE_LIMIT)

    def _answer(self, answer: JsonObject) -> JsonObject:
        self._held += effects_of(answer)
        size = len(self._held) if self.stimulus["type"] in {"start", "stop"} else 1
        now, self._held = self._held[:size], self._held[size:]
        return {**answer, "effects": list(now), "busy": bool(self._held)}


class SaysEveryCommandTwice(Interposer):
    """Sends each Command a second time, in a frame of its own, before it has any answer."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if command_of(effect) is None:
            return (effect,)
        frame: Any = effect["frame"]
        return (effect, {**effect, "frame": {**frame, "frameId": f"{frame['frameId']}-again"}})


class LastGroupFirst(Interposer):
    """Sends the Commands of an answer by Group, and the last Group's first."""

    def _answer(self, answer: JsonObject) -> JsonObject:
        effects = effects_of(answer)
        places = [i for i, effect in enumerate(effects) if command_of(effect) is not None]
        in_order = sorted((effects[i] for i in places), key=_group_of, reverse=True)
        for place, effect in zip(places, in_order, strict=True):
            effects[place] = effect
        return {**answer, "effects": list(effects)}


def _group_of(effect: JsonObject) -> str:
    return text_at(command_of(effect) or {}, "groupId")


class SubmitsWhatIsPublished(Interposer):
    """Submits its result once the Group's log has the Artifact, and not right behind it.

    What has waited for long is not said any more: its lease may be over. It is made again.
    """

    def _begin(self) -> None:
        self._publishing: dict[object, object] = {}
        self._held: dict[object, tuple[int, JsonObject]] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        refused = {find(frame, "error", "relatedActionId") for frame in frames_in(stimulus)}
        heard = {find(event, "cause", "id") for event in events_in(stimulus)}
        answered = refused | heard
        is_cut = stimulus["type"] == "link"
        self._publishing = {
            work: action
            for work, action in self._publishing.items()
            if action not in answered and not is_cut
        }
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        work = payload_of(effect).get("workItemId")
        if says(effect, "artifact.publish"):
            self._publishing[work] = find(effect, "frame", "command", "actionId")
        elif says(effect, "work.submit") and work in self._publishing:
            self._held[work] = self._now(), effect
            return ()
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        for work in [one for one in self._held if one not in self._publishing]:
            since, effect = self._held.pop(work)
            if self._now() <= since + HELD_MAX:
                yield effect

    def _now(self) -> int:
        return moment_of(self.speaker.now) or 0


# --- times --------------------------------------------------------------------------------


class LooksEveryHalfMinute(Interposer):
    """Wants a tick every thirty seconds, whether anything is due or not."""

    def _answer(self, answer: JsonObject) -> JsonObject:
        if self.stimulus["type"] == "stop":
            return answer
        due = (moment_of(self.speaker.now) or 0) + LOOKS_EVERY
        woken = moment_of(str(answer.get("wakeAt")))
        return {**answer, "wakeAt": text_of(min(due, woken or due))}


class WaitsTwiceAsLongAsTold(Interposer):
    """Waits twice as long as an error tells it to wait before it tries again."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        frames = [self._doubled(frame) for frame in frames_in(stimulus)]
        return {**stimulus, "frames": list(frames)} if frames else stimulus

    def _doubled(self, frame: JsonObject) -> JsonObject:
        error = frame.get("error")
        if not isinstance(error, dict) or "retryAfterMs" not in error:
            return frame
        told = integer_at(error, "retryAfterMs")
        return {**frame, "error": {**error, "retryAfterMs": 2 * told}}


@altered
def stamps_whole_seconds(parts: Parts) -> None:
    """Stamps what it signs and says with whole seconds, rounded down."""
    spell = parts.get("instants.spell")
    for name in ("turn", "checkpoints", "offline", "disclosure"):
        parts.module(name).spell = lambda instant: spell(instant - instant % SECOND)
