"""Null Workers: they claim everything and do nothing of it, each in a way of its own.

None of them may pass a profile, and the silent one not a single check. Every factory here can be
named as a Worker: `worker_conformance.selftest.null_workers:silent`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from random import Random

from worker_conformance.documents.json_types import (
    JsonObject,
    find,
    integer_at,
    list_at,
    text_at,
)
from worker_conformance.judge.reading import WORDS_OF_COMMANDS, frames_in, strings_in
from worker_conformance.scenario.model import Profile
from worker_conformance.selftest.recording import Tape, recording_of_the_reference
from worker_conformance.selftest.speaker import Speaker, events_in

ATTRIBUTES = ("priorityClass", "deadline", "waitingTime", "quota", "gate", "resources")

EFFECTS_MAX = 3
"""Random effects in one answer: enough to do harm everywhere, few enough to stay quick."""


class NullWorker:
    """Says nothing at all. The others override `_effects`."""

    profiles: tuple[str, ...] = tuple(Profile)

    def __init__(self) -> None:
        self.speaker = Speaker()

    def initialize(self, params: JsonObject) -> JsonObject:
        """Claim every profile."""
        return {
            "portVersion": params["portVersion"],
            "name": type(self).__name__,
            "version": "0",
            "language": "Python",
            "profiles": list(self.profiles),
            # Whoever considers nothing is not judged by it: no way out for a null Worker.
            "parameters": {"considers": list(ATTRIBUTES)},
        }

    def handle(self, stimulus: JsonObject) -> JsonObject:
        """Answer with whatever the kind of Worker has to say."""
        self.speaker.hear(stimulus)
        return {"effects": list(self._effects(stimulus))}

    def shutdown(self) -> JsonObject:
        """End."""
        return {}

    def _effects(self, stimulus: JsonObject) -> Iterable[JsonObject]:
        del stimulus
        return ()


class ClaimsNothing(NullWorker):
    """Silent, and honest about it."""

    profiles = ()


class _Clerk(NullWorker):
    """Base: subscribes, acknowledges what is contiguous, and notes pending offers."""

    def __init__(self) -> None:
        super().__init__()
        self._positions: dict[str, int] = {}

    def _effects(self, stimulus: JsonObject) -> Iterable[JsonObject]:
        if stimulus["type"] == "start":
            self._positions = {text_at(g, "groupId"): 0 for g in list_at(stimulus, "groups")}
            rows = [{"groupId": g, "afterSequence": 0} for g in self._positions]
            subscription = self.speaker.identifier("subscription")
            yield self.speaker.frame("SUBSCRIBE", subscriptionId=subscription, groups=rows)
        for event in events_in(stimulus):
            yield from self._event(event)

    def _event(self, event: JsonObject) -> Iterable[JsonObject]:
        group_id, sequence = find(event, "groupId"), find(event, "sequence")
        if not isinstance(group_id, str) or sequence != self._positions.get(group_id, -1) + 1:
            return
        self._positions[group_id] = integer_at(event, "sequence")
        for offer in _offers_in(event):
            if offer["agentId"] == self.speaker.agent_id and offer["status"] == "pending":
                item = text_at(event, "payload", "workItem", "workItemId")
                yield self._answer(group_id, item, text_at(offer, "offerId"))
        row = {"groupId": group_id, "sequence": sequence}
        yield self.speaker.frame("ACK", acknowledgements=[row], sentAt=self.speaker.now)

    def _answer(self, group_id: str, work_item_id: str, offer_id: str) -> JsonObject:
        raise NotImplementedError


def _offers_in(event: JsonObject) -> list[JsonObject]:
    offers = find(event, "payload", "workItem", "offers")
    found = offers if isinstance(offers, list) else []
    return [offer for offer in found if isinstance(offer, dict)]


class RefusesEverything(_Clerk):
    """Declines every offer."""

    def _answer(self, group_id: str, work_item_id: str, offer_id: str) -> JsonObject:
        return {
            "type": "decline",
            "groupId": group_id,
            "workItemId": work_item_id,
            "offerId": offer_id,
            "reason": "other",
        }


class AcceptsAndNeverStarts(_Clerk):
    """Accepts every offer and leaves it at that."""

    def _answer(self, group_id: str, work_item_id: str, offer_id: str) -> JsonObject:
        payload: JsonObject = {"workItemId": work_item_id, "offerId": offer_id}
        return self.speaker.command("work.accept_offer", group_id, payload)


class Echoes(_Clerk):
    """Subscribes, and sends every frame back to where it came from."""

    def _effects(self, stimulus: JsonObject) -> Iterable[JsonObject]:
        if stimulus["type"] == "start":
            yield from super()._effects(stimulus)
        for frame in frames_in(stimulus):
            yield {"type": "frame", "frame": frame}


class SpeaksAtRandom(_Clerk):
    """Says valid things with identifiers that it has heard, all drawn by the seed of its run."""

    def __init__(self) -> None:
        super().__init__()
        self._random = Random(0)  # noqa: S311 - no secret is drawn from it
        self._heard: list[str] = []

    def _effects(self, stimulus: JsonObject) -> Iterable[JsonObject]:
        if stimulus["type"] == "start":
            self._random = Random(integer_at(stimulus, "seed"))  # noqa: S311 - as above
            self._heard = list(self._positions)
        yield from super()._effects(stimulus)
        for _ in range(self._random.randrange(EFFECTS_MAX + 1) if self._heard else 0):
            yield self._random.choice(_UTTERANCES)(self)

    def _event(self, event: JsonObject) -> Iterable[JsonObject]:
        found = dict.fromkeys([*self._heard, *filter(_is_identifier, strings_in(event))])
        self._heard = list(found)
        position = self._random.randrange(integer_at(event, "sequence") + 2)
        row = {"groupId": event.get("groupId"), "sequence": position}
        yield self.speaker.frame("ACK", acknowledgements=[row], sentAt=self.speaker.now)

    def _any(self) -> str:
        return self._random.choice(self._heard)

    def command(self) -> JsonObject:
        """A Command of a Worker."""
        payload: JsonObject = {
            "workItemId": self._any(),
            "offerId": self._any(),
            "ownershipEpoch": self._random.randrange(1, 3),
            "executionLeaseId": self._any(),
        }
        kind = self._random.choice(sorted(WORDS_OF_COMMANDS))
        return self.speaker.command(kind, self._any(), payload)

    def run(self) -> JsonObject:
        """A `run`."""
        context: JsonObject = {
            "missionContext": {},
            "credentials": {},
            "budget": {},
            "sideEffectScope": self._any(),
        }
        return {**self.word("run"), "groupId": self._any(), "leaseId": self._any()} | {
            "context": context
        }

    def word(self, word: str = "") -> JsonObject:
        """A word to the executor."""
        words = ("preempt", "continue", "pause", "cancel", "release")
        slot = f"s{self._random.randrange(1, 4)}"
        return {
            "type": word or self._random.choice(words),
            "slotId": slot,
            "workItemId": self._any(),
        }

    def decline(self) -> JsonObject:
        """A `decline`."""
        return {
            "type": "decline",
            "groupId": self._any(),
            "workItemId": self._any(),
            "offerId": self._any(),
            "reason": self._random.choice(("capacity", "deadline", "budget")),
        }


_UTTERANCES: tuple[Callable[[SpeaksAtRandom], JsonObject], ...] = (
    SpeaksAtRandom.command,
    SpeaksAtRandom.run,
    SpeaksAtRandom.word,
    SpeaksAtRandom.decline,
)


def _is_identifier(text: str) -> bool:
    return text.startswith("urn:")


class Recorded(NullWorker):
    """Replays what the reference Worker said in another run, call by call."""

    def __init__(self, tape: Tape | None = None) -> None:
        super().__init__()
        self._tape = tape.another() if tape else recording_of_the_reference()

    def handle(self, stimulus: JsonObject) -> JsonObject:
        """Answer as was answered then."""
        return self._tape.play(stimulus)


silent = NullWorker
claims_nothing = ClaimsNothing
refuses_everything = RefusesEverything
accepts_and_never_starts = AcceptsAndNeverStarts
echoes = Echoes
speaks_at_random = SpeaksAtRandom
recorded = Recorded

NULL_WORKERS: Mapping[str, str] = {
    factory: f"{__name__}:{factory}"
    for factory in (
        "silent",
        "claims_nothing",
        "refuses_everything",
        "accepts_and_never_starts",
        "echoes",
        "speaks_at_random",
        "recorded",
    )
}
"""Every null Worker by its name, as `--worker` names it."""
