"""Lawful variants: Workers as different as the clauses allow, all of which must pass everything.

They find checks that ask for more than the specification does. Each declares what it has to
declare; none of them is a recommendation.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import frozen

from worker_conformance.documents.json_types import JsonObject, find, list_at, text_at
from worker_conformance.judge.reading import command_of, frames_in, positions_in
from worker_conformance.port.in_process import InProcessWorker
from worker_conformance.scenario.clock import moment_of, text_of
from worker_conformance.selftest import variants_of_choice as choice
from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.interposer import (
    Interposer,
    KnowsItsRuns,
    effects_of,
    payload_of,
    says,
    with_parameters,
)
from worker_conformance.selftest.speaker import events_in, with_frames
from worker_conformance.selftest.variants_of_conduct import (
    AFreshSlotForEveryRun,
    AsksForShortLeases,
    EndsAtASafePoint,
    FailsAtTheFirstFailure,
    NamesItsSlots,
    ReadsItsInboxLater,
    asks_again_at_a_gap,
    asks_at_every_fact_about_a_gate,
    begins_anew_unless_preempted,
    cleans_its_slots_up,
    heartbeats_with_presence,
    keeps_a_slot_in_reserve,
    prepares_its_slots,
    releases_with_its_report,
    slices_time,
    stops_listening_after_the_end,
    uses_no_token_to_its_last_seconds,
)
from worker_conformance.selftest.variants_of_time import (
    CountsPromisedSlots,
    EndsItsRunsWhenItLeaves,
    JudgesByTheWallClock,
    SaysThatItHasStopped,
    StampsEstimatesByTheWallClock,
    measures_its_running_time,
    pauses_at_once_and_once,
    takes_as_long_as_it_may,
    takes_its_time,
)

SECOND = 1_000_000  # microseconds
ACK_INTERVAL_SECONDS = 60
RENEWAL = "ext.missionweaveprotocol.core.work_execution_lease_renew"


@frozen
class Variant:
    """A lawful Worker. `factory` names it as `--worker` does, `habit` says how it differs.

    `areas` are patterns of the vectors in which the habit shows most.
    """

    name: str
    factory: str
    habit: str
    areas: tuple[str, ...]


def _variant(factory: Callable[[], InProcessWorker], areas: str) -> Variant:
    words = re.sub(r"(?<!^)(?=[A-Z])", "-", factory.__name__)
    return Variant(
        name=words.replace("_", "-").lower(),
        factory=f"{factory.__module__}:{factory.__name__}",
        habit=" ".join((inspect.getdoc(factory) or "").split()),
        areas=tuple(areas.split()),
    )


# --- delivery -----------------------------------------------------------------------------


@altered
def discards_out_of_order(parts: Parts) -> None:
    """Discards what comes before its time, and waits until it is delivered again."""
    parts.replace("inbox._buffer", lambda *_: None)
    parts.declare(outOfOrder="discard")


class HandlesFramesOneByOne(Interposer):
    """Handles, answers and acknowledges each frame before it looks at the next."""

    def handle(self, stimulus: JsonObject) -> JsonObject:
        """Split what came in one call."""
        frames = list(frames_in(stimulus))
        if stimulus["type"] != "frames" or len(frames) < 2:
            return super().handle(stimulus)
        answers = [
            super(HandlesFramesOneByOne, self).handle(with_frames(stimulus, [frame]))
            for frame in frames
        ]
        effects = [effect for answer in answers for effect in effects_of(answer)]
        return {**answers[-1], "effects": list(effects)}


class AcksLazily(Interposer):
    """Lets acknowledgements lag by a minute, as it declares, and sends them in one frame."""

    def _begin(self) -> None:
        self._held: dict[str, int] = {}
        self._due: int | None = None

    def _declared(self, declaration: JsonObject) -> JsonObject:
        return with_parameters(declaration, ackIntervalSeconds=ACK_INTERVAL_SECONDS)

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if find(effect, "frame", "frameType") != "ACK":
            return (effect,)
        for _, group_id, sequence in positions_in(effect):
            self._held[group_id] = sequence
        return ()

    def _answer(self, answer: JsonObject) -> JsonObject:
        now = moment_of(self.speaker.now) or 0
        if not self._held or self.stimulus["type"] == "stop":
            return answer
        if self._due is None:
            self._due = now + ACK_INTERVAL_SECONDS * SECOND
        if now >= self._due:
            rows = [{"groupId": g, "sequence": s} for g, s in self._held.items()]
            ack = self.speaker.frame("ACK", acknowledgements=rows, sentAt=self.speaker.now)
            self._begin()
            return {**answer, "effects": [*effects_of(answer), ack]}
        woken = moment_of(str(answer.get("wakeAt"))) if "wakeAt" in answer else None
        return {**answer, "wakeAt": text_of(min(self._due, woken or self._due))}


class RepeatsItsAcks(Interposer):
    """Repeats its last acknowledgements with every tick."""

    def _begin(self) -> None:
        self._acks: dict[str, JsonObject] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        for frame_type, group_id, _ in positions_in(effect):
            if frame_type == "ACK":
                self._acks[group_id] = effect
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        return self._acks.values() if self.stimulus["type"] == "tick" else ()


class SubscribesInOneFrame(Interposer):
    """Subscribes to all Groups with one frame, and acknowledges before it says anything else."""

    def _answer(self, answer: JsonObject) -> JsonObject:
        effects = effects_of(answer)
        subscriptions = [e for e in effects if find(e, "frame", "frameType") == "SUBSCRIBE"]
        acks = [effect for effect in effects if find(effect, "frame", "frameType") == "ACK"]
        rest = [e for e in effects if e not in subscriptions and e not in acks]
        if subscriptions:
            rows = [row for one in subscriptions for row in list_at(one, "frame", "groups")]
            first: Any = subscriptions[0]["frame"]
            subscriptions = [{"type": "frame", "frame": {**first, "groups": rows}}]
        return {**answer, "effects": [*subscriptions, *acks, *rest]}


class RefusesInSilence(Interposer):
    """Says nothing about frames and Snapshots that it refuses."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return () if effect["type"] == "reject" else (effect,)


class AnswersInTwoSteps(Interposer):
    """Acknowledges at once and says that it is busy; everything else comes with the next tick."""

    def _begin(self) -> None:
        self._held: list[JsonObject] = []

    def _answer(self, answer: JsonObject) -> JsonObject:
        effects, held = effects_of(answer), self._held
        if self.stimulus["type"] in {"tick", "stop"}:
            self._held = []
            return {**answer, "effects": [*held, *effects]}
        now = [effect for effect in effects if find(effect, "frame", "frameType") == "ACK"]
        self._held = [*held, *(effect for effect in effects if effect not in now)]
        return {**answer, "effects": list(now), "busy": bool(self._held)}


# --- Commands -----------------------------------------------------------------------------


class NamesNoRevision(Interposer):
    """Sends Commands without `expectedRevision`."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        command = command_of(effect)
        if command is None or "expectedRevision" not in command:
            return (effect,)
        frame: Any = effect["frame"]
        kept = {name: value for name, value in command.items() if name != "expectedRevision"}
        return ({"type": "frame", "frame": {**frame, "command": self.speaker.signed(kept)}},)


class SaysMoreThanItMust(Interposer):
    """Adds members of its own to payloads, which v0.1 leaves open."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if command_of(effect) is None:
            return (effect,)
        return (self.speaker.with_payload(effect, client={"name": "variant", "build": 42}),)


class SpellsEpochsElsewhere(Interposer):
    """Carries the Ownership Epoch at another place of the payload, which it declares."""

    def _declared(self, declaration: JsonObject) -> JsonObject:
        paths = {"ownershipEpoch": "/obligation/epoch"}
        return with_parameters(declaration, payloadPaths=paths)

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        epoch = payload_of(effect).get("ownershipEpoch")
        if epoch is None:
            return (effect,)
        obligation = {"epoch": epoch}
        return (self.speaker.with_payload(effect, ownershipEpoch=None, obligation=obligation),)


class PostsMessages(Interposer):
    """Tells its Group in a Message when it has accepted work."""

    def _begin(self) -> None:
        self._places: dict[str, JsonObject] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        kind = stimulus["type"]
        groups: Any = stimulus["groups"] if kind == "start" else ()
        joined: Any = [stimulus["group"]] if kind == "join" else []
        self._places.update({group["groupId"]: group for group in (*groups, *joined)})
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if not says(effect, "work.accept_offer"):
            return (effect,)
        command: Any = find(effect, "frame", "command")
        return (effect, self._message(command["groupId"]))

    def _message(self, group_id: str) -> JsonObject:
        message = self.speaker.message(self._places[group_id], "Taken on.")
        return self.speaker.command("message.post", group_id, {"message": message})


def _resend_after(parts: Parts, seconds: int) -> None:
    propose = parts.get("outbox.propose")

    def proposed(turn: Any, item: Any, kind: str, payload: Any, **how: Any) -> None:
        propose(turn, item, kind, payload, **{"resend_after": seconds * SECOND, **how})

    parts.replace("outbox.propose", proposed)
    parts.declare(resendSeconds=seconds)


@altered
def resends_after_five_seconds(parts: Parts) -> None:
    """Sends an unanswered Command again after five seconds."""
    _resend_after(parts, 5)


@altered
def resends_after_ten_minutes(parts: Parts) -> None:
    """Sends an unanswered Command again after ten minutes."""
    _resend_after(parts, 600)


class KeepsItsSlotForARetry(Interposer):
    """Keeps the slot of work that failed for its next try, and releases it only for others."""

    def _begin(self) -> None:
        self._kept: dict[object, JsonObject] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        slot, failed = effect.get("slotId"), find(self.stimulus, "report", "kind") == "failed"
        if effect["type"] == "release" and failed and slot == self.stimulus["slotId"]:
            self._kept[slot] = effect
            return ()
        if effect["type"] == "run" and slot in self._kept:
            release = self._kept.pop(slot)
            same = release["workItemId"] == effect["workItemId"]
            return (effect,) if same else (release, effect)
        return (effect,)


# --- leases -------------------------------------------------------------------------------


@altered
def renews_at_the_last_moment(parts: Parts) -> None:
    """Renews an Execution Lease when nine tenths of its time are over."""
    review = parts.get("renewals.review")

    def late(turn: Any, item: Any) -> None:
        lease = item.lease
        due = lease.renewed_at + (lease.expires_at - lease.renewed_at) * 9 // 10 if lease else 0
        if turn.now < due:
            turn.runtime.timers.set(due, item.work_item_id)
        else:
            review(turn, item)

    parts.replace("renewals.review", late)


class RenewsWithEveryTick(KnowsItsRuns):
    """Renews its leases whenever it has a moment, however long they still run."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        ends = find(stimulus, "report", "kind") in {"completed", "failed", "blocked", "safe_point"}
        if ends:
            self._runs.pop(stimulus["slotId"], None)
        return stimulus

    def _afterwards(self) -> Iterable[JsonObject]:
        for run in self._runs.values() if self.stimulus["type"] == "tick" else ():
            payload: JsonObject = {
                "workItemId": run["workItemId"],
                "ownershipEpoch": 1,
                "executionLeaseId": run["leaseId"],
            }
            yield self.speaker.command(RENEWAL, text_at(run, "groupId"), payload)


@altered
def organization_renews(parts: Parts) -> None:
    """Leaves the renewal of Execution Leases to the Organization, and says so."""
    parts.replace("renewals.review", lambda *_: None)
    parts.declare(renewal="organization")


class RenewsUnderAnotherName(Interposer):
    """Renews with a Command kind of its own, which it declares."""

    kind = "ext.example.worker.lease_renew"

    def _declared(self, declaration: JsonObject) -> JsonObject:
        return with_parameters(declaration, renewalCommandKind=self.kind)

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return (self.speaker.changed(effect, kind=self.kind) if says(effect, RENEWAL) else effect,)


# --- preemption ---------------------------------------------------------------------------


@altered
def _without_preemption(parts: Parts) -> None:
    """Never asks for a safe point."""
    parts.replace("preemption.consider", lambda _: None)


class NeverPreempts(Interposer):
    """Lets everything run to its end, and says so."""

    worker = staticmethod(_without_preemption)

    def _declared(self, declaration: JsonObject) -> JsonObject:
        return with_parameters(declaration, abstains=["preempt"])


class PausesWithItsCheckpoint(Interposer):
    """Pauses as soon as the Checkpoint's Command is out, and releases when it is a fact."""

    def _begin(self) -> None:
        self._paused: set[object] = set()

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if says(effect, "work.checkpoint") and "slotId" in self.stimulus:  # not said again
            slot, item = self.stimulus["slotId"], self.stimulus["workItemId"]
            self._paused.add(item)
            return (effect, {"type": "pause", "slotId": slot, "workItemId": item})
        if effect["type"] == "pause" and effect["workItemId"] in self._paused:
            self._paused.discard(effect["workItemId"])
            return ()
        return (effect,)


# --- disclosure ---------------------------------------------------------------------------


class PublishesNoEstimates(Interposer):
    """Publishes no estimates, and says so."""

    def _declared(self, declaration: JsonObject) -> JsonObject:
        return with_parameters(declaration, abstains=["estimates"])

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return () if effect["type"] == "disclose" else (effect,)


@altered
def estimates_in_days(parts: Parts) -> None:
    """Rounds its estimates to days."""
    parts.replace("disclosure.GRANULARITY", 86_400 * SECOND)
    parts.declare(estimateGranularitySeconds=86_400)


class RepeatsItsEstimates(Interposer):
    """Publishes its last estimate of every WorkItem again with each tick."""

    def _begin(self) -> None:
        self._last: dict[str, JsonObject] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for event in events_in(stimulus):
            self._last.pop(str(find(event, "payload", "workItem", "workItemId")), None)
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "disclose":
            self._last[text_at(effect, "workItemId")] = effect
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        for effect in self._last.values() if self.stimulus["type"] == "tick" else ():
            estimate: Any = effect["estimate"]
            now = {"lastCalculatedAt": self.speaker.now}
            yield {**effect, "estimate": {**estimate, **now}}


# --- scheduling ---------------------------------------------------------------------------


@altered
def first_come_first_served_in_a_group(parts: Parts) -> None:
    """Keeps each Group's own queue in the order of acceptance, whatever is claimed."""
    place = parts.get("queues.Place")

    def by_age(work_item_id: str, since: int, _deadline: int, _urgency: str, sequence: int) -> Any:
        return place(since, sequence, work_item_id)

    parts.replace("queues.place", by_age)
    parts.declare(considers=["priorityClass", "waitingTime", "quota", "gate", "resources"])


@altered
def smallest_finish_tag_first(parts: Parts) -> None:
    """Weighted fair queueing by finish tags instead of start tags."""

    def next_item(scheduler: Any) -> tuple[str, str] | None:
        flows = scheduler._flows.items()  # noqa: SLF001 - a variant is inside the part it alters
        closed = scheduler._closed  # noqa: SLF001 - as above
        heads = [
            (flow.start + flow.cost, name, flow.queue.head())
            for name, flow in flows
            if name[0] not in closed and flow.queue.head() is not None
        ]
        if not heads:
            return None
        _, name, head = min(heads)
        return head.work_item_id, name[1]

    parts.replace("scheduler.FairScheduler.next", next_item)


@altered
def blind_to_classes(parts: Parts) -> None:
    """Gives no class any precedence, and never preempts; both are declared."""
    parts.replace("policy.Policy.rank", lambda *_: 0)
    parts.replace("preemption.consider", lambda _: None)
    parts.declare(
        considers=["deadline", "waitingTime", "quota", "gate", "resources"],
        abstains=["preempt"],
        classShareRatio=1,
    )


VARIANTS: Mapping[str, Variant] = {
    one.name: one
    for one in (
        _variant(discards_out_of_order, "REPLAY-*"),
        _variant(HandlesFramesOneByOne, "REPLAY-* LEASE-001?"),
        _variant(AcksLazily, "REPLAY-* SIGN-*"),
        _variant(RepeatsItsAcks, "REPLAY-*"),
        _variant(SubscribesInOneFrame, "REPLAY-*"),
        _variant(RefusesInSilence, "SIGN-* REPLAY-001?"),
        _variant(AnswersInTwoSteps, "PREEMPT-* LEASE-*"),
        _variant(NamesNoRevision, "LEASE-* PREEMPT-*"),
        _variant(SaysMoreThanItMust, "LEASE-* DISC-*"),
        _variant(SpellsEpochsElsewhere, "LEASE-*"),
        _variant(PostsMessages, "DISC-* ISOL-* REPLAY-*"),
        _variant(resends_after_five_seconds, "LEASE-0001 SCHED-001?"),
        _variant(resends_after_ten_minutes, "LEASE-0001 SCHED-001?"),
        _variant(takes_its_time, "ADMIT-00* LEASE-000? RETRY-* OFFLINE-*"),
        _variant(
            measures_its_running_time, "BLOCK-* LEASE-00[01]? RETRY-000[1-7] SCHED-003? SCHED-008?"
        ),
        _variant(takes_as_long_as_it_may, "BLOCK-* PREEMPT-* REPLAY-* SCHED-000? SCHED-001?"),
        _variant(KeepsItsSlotForARetry, "RETRY-*"),
        _variant(renews_at_the_last_moment, "LEASE-*"),
        _variant(RenewsWithEveryTick, "LEASE-*"),
        _variant(organization_renews, "LEASE-*"),
        _variant(RenewsUnderAnotherName, "LEASE-*"),
        _variant(NeverPreempts, "PREEMPT-* DISC-*"),
        _variant(PausesWithItsCheckpoint, "PREEMPT-* LEASE-0005"),
        _variant(PublishesNoEstimates, "DISC-*"),
        _variant(estimates_in_days, "DISC-*"),
        _variant(RepeatsItsEstimates, "DISC-* PREEMPT-000[13]"),
        _variant(first_come_first_served_in_a_group, "SCHED-000[789] SCHED-001?"),
        _variant(smallest_finish_tag_first, "SCHED-000[789] SCHED-001?"),
        _variant(blind_to_classes, "SCHED-000[789] PREEMPT-*"),
        _variant(NamesItsSlots, "ISOL-* PREEMPT-*"),
        _variant(EndsAtASafePoint, "ISOL-002[4-9] LEASE-0068"),
        _variant(heartbeats_with_presence, "DISC-001[235] LEASE-003? SIGN-007?"),
        _variant(asks_again_at_a_gap, "REPLAY-* LEASE-0065"),
        _variant(ReadsItsInboxLater, "REPLAY-* LEASE-000? PREEMPT-*"),
        _variant(stops_listening_after_the_end, "LEASE-00[46]? REPLAY-*"),
        _variant(AsksForShortLeases, "LEASE-* OFFLINE-*"),
        _variant(uses_no_token_to_its_last_seconds, "LEASE-00[12]? LEASE-00[45]?"),
        _variant(begins_anew_unless_preempted, "BLOCK-* ISOL-003? OFFLINE-001? RETRY-*"),
        _variant(FailsAtTheFirstFailure, "RETRY-* SCHED-008?"),
        _variant(slices_time, "PREEMPT-* SCHED-007?"),
        _variant(releases_with_its_report, "LEASE-* SCHED-001? RETRY-*"),
        _variant(cleans_its_slots_up, "SCHED-00[01]? PREEMPT-* BLOCK-*"),
        _variant(prepares_its_slots, "SCHED-00[0-2]? SCHED-008? LEASE-00[0-3]? RETRY-*"),
        _variant(asks_at_every_fact_about_a_gate, "SIGN-002? SIGN-006[89] SCHED-00[18]?"),
        _variant(keeps_a_slot_in_reserve, "SCHED-00[0-4]? ISOL-* RETRY-00?? DISC-001?"),
        _variant(AFreshSlotForEveryRun, "ISOL-* PREEMPT-* LEASE-00[12]?"),
        _variant(JudgesByTheWallClock, "LEASE-00[34]? RETRY-* OFFLINE-*"),
        _variant(StampsEstimatesByTheWallClock, "LEASE-003[6-9] DISC-*"),
        _variant(pauses_at_once_and_once, "PREEMPT-* SCHED-003?"),
        _variant(CountsPromisedSlots, "DISC-* SCHED-000?"),
        _variant(EndsItsRunsWhenItLeaves, "REPLAY-003? SCHED-004? ISOL-*"),
        _variant(SaysThatItHasStopped, "LEASE-* ISOL-* SCHED-002?"),
        _variant(choice.draws_lots, "SCHED-000[789] SCHED-001? PREEMPT-*"),
        _variant(choice.goes_round_with_credit, "SCHED-000[789] SCHED-001? PREEMPT-*"),
        _variant(choice.looks_at_the_newest_first, "LEASE-006? LEASE-007? LEASE-008? SCHED-000?"),
        _variant(choice.preempts_what_began_last, "PREEMPT-* SCHED-007? ISOL-001?"),
        _variant(choice.has_few_places, "ADMIT-001? SCHED-007? SCHED-009?"),
        _variant(choice.stands_still_offline, "OFFLINE-* SCHED-008?"),
        _variant(choice.KeepsItsPresenceToItself, "DISC-001?"),
        _variant(choice.DoesNoMoreThanItMust, "DISC-* RETRY-* OFFLINE-* BLOCK-*"),
        _variant(choice.OneEffectAtATime, "REPLAY-* PREEMPT-* LEASE-00[01]?"),
        _variant(choice.SaysEveryCommandTwice, "LEASE-* OFFLINE-001? SCHED-009?"),
        _variant(choice.LastGroupFirst, "SCHED-00[01]? ISOL-* DISC-*"),
        _variant(choice.SubmitsWhatIsPublished, "LEASE-008? SCHED-009? OFFLINE-* REPLAY-*"),
        _variant(choice.LooksEveryHalfMinute, "LEASE-00[01]? RETRY-* BLOCK-*"),
        _variant(choice.WaitsTwiceAsLongAsTold, "SCHED-007? LEASE-008? RETRY-*"),
        _variant(choice.stamps_whole_seconds, "LEASE-003? SIGN-006? OFFLINE-* DISC-*"),
    )
}
"""Every variant by its name."""
