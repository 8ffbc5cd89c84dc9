"""Faults of what follows an answer: errors heeded too little or too much, and empty results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.judge.reading import command_of, frames_in
from worker_conformance.selftest.interposer import Interposer, says
from worker_conformance.selftest.mutants.base import mutant


class Resends(Interposer):
    """Base: sends a Command again, as it was, when an error with one of these codes answers it.

    With `kinds` it does so for Commands of these kinds alone.
    """

    codes: ClassVar[frozenset[str]] = frozenset()
    kinds: ClassVar[tuple[str, ...]] = ()

    def _begin(self) -> None:
        super()._begin()
        self._sent: dict[object, JsonObject] = {}
        self._refused: list[JsonObject] = []
        self._due: list[JsonObject] = []

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        self._due, self._refused = self._refused, []
        for frame in frames_in(stimulus):
            effect = self._sent.get(find(frame, "error", "relatedActionId"))
            if effect is not None and find(frame, "error", "code") in self.codes:
                self._refused.append(effect)
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        command = command_of(effect)
        if command is not None and (not self.kinds or says(effect, *self.kinds)):
            self._sent[command["actionId"]] = effect
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        return self._due


class RepeatsABadSignature(Resends):
    """Sends a Command again unchanged after its signature was refused."""

    codes = frozenset({"AUTH_INVALID_SIGNATURE"})


class RepeatsACollision(Resends):
    """Sends a Command again under an Action ID that has collided."""

    codes = frozenset({"ACTION_ID_COLLISION"})


class RepeatsWhatIsStale(Resends):
    """Sends a Command again as it was after it was called stale."""

    codes = frozenset({"MEMBERSHIP_STALE", "WORK_STALE_OWNERSHIP", "AUTH_STALE_SESSION"})


class RepeatsWhatIsUnsafe(Resends):
    """Sends a Command again although its error calls a retry unsafe."""

    codes = frozenset({"INVALID_COMMAND", "INVALID_STATE_TRANSITION", "APPROVAL_REQUIRED"})


class RepeatsForALease(Resends):
    """Sends a Command again that was refused because a lease is over."""

    codes = frozenset({"WORK_LEASE_EXPIRED"})


class OneErrorIsFinal(Interposer):
    """Says nothing more about a WorkItem after an error, whatever the error says.

    With `codes` it heeds errors with one of these codes alone; with `kinds` it sends no more
    Commands of these kinds after an error about one.
    """

    codes: ClassVar[frozenset[str]] = frozenset()
    kinds: ClassVar[tuple[str, ...]] = ()

    def _begin(self) -> None:
        super()._begin()
        self._sent: dict[object, object] = {}
        self._dropped: set[object] = set()

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for frame in frames_in(stimulus):
            action_id = find(frame, "error", "relatedActionId")
            is_heeded = not self.codes or find(frame, "error", "code") in self.codes
            if is_heeded and action_id in self._sent:
                self._dropped.add(self._concerned(self._sent[action_id]))
        return stimulus

    def _concerned(self, work_item_id: object) -> object:
        return work_item_id

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        command = command_of(effect)
        if command is None or (self.kinds and not says(effect, *self.kinds)):
            return (effect,)
        work_item_id = command.get("workItemId")
        self._sent[command["actionId"]] = work_item_id
        return () if self._concerned(work_item_id) in self._dropped else (effect,)


class OneErrorStopsEverything(OneErrorIsFinal):
    """Says nothing more about any WorkItem after an error about one."""

    def _concerned(self, work_item_id: object) -> object:
        del work_item_id
        return None


class OneLeaseIsAll(OneErrorStopsEverything):
    """Takes one refusal for a lease for the end of all its leases, and falls silent."""

    codes = frozenset({"WORK_LEASE_EXPIRED"})


class AsksAgain(Resends):
    """Asks again, in new words, whether the start is still not approved."""

    codes = frozenset({"APPROVAL_REQUIRED"})

    def _afterwards(self) -> Iterable[JsonObject]:
        for effect in self._due:
            yield self.speaker.changed(effect, actionId=self.speaker.identifier("action"))


class KeepsToItsRevision(Interposer):
    """Expects of each WorkItem the revision that it was offered with, and one more a Command."""

    def _begin(self) -> None:
        super()._begin()
        self._stale: dict[object, JsonObject] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if not says(effect, "work.start"):
            return (effect,)
        command: Any = command_of(effect)
        first = self._stale.setdefault(command["workItemId"], command)
        revision = first["expectedRevision"]
        if command["expectedRevision"] == revision:
            return (effect,)
        return (self.speaker.changed(effect, expectedRevision=revision),)


class SubmitsWithoutEvidence(Interposer):
    """Submits with Evidence for its first criterion, and fails without any."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if not says(effect, "work.submit", "work.fail"):
            return (effect,)
        evidence: Any = find(effect, "frame", "command", "payload", "evidence")
        kept = evidence[:1] if says(effect, "work.submit") else []
        return (self.speaker.with_payload(effect, evidence=kept),)


MUTANTS = (
    mutant(
        RepeatsABadSignature,
        "EXT-005.b",
        "MON-0020 LEASE-0060",
        "A retry loop that looks at nothing but the absence of success.",
    ),
    mutant(
        RepeatsACollision,
        "EXT-005.c",
        "MON-0020 LEASE-0062",
        "Idempotency keys that are made once for each task.",
    ),
    mutant(
        RepeatsWhatIsStale,
        "EXT-005.d",
        "MON-0020 LEASE-0063",
        "A retry loop around a request that carries a fencing token.",
    ),
    mutant(
        RepeatsWhatIsUnsafe,
        "EXT-005.e",
        "MON-0020 LEASE-0064",
        "Everything that is not a success is tried again.",
    ),
    mutant(
        OneErrorIsFinal,
        "EXT-005.e",
        "LEASE-0061 SCHED-0081",
        "Error handling that knows one kind of error.",
    ),
    mutant(
        RepeatsForALease,
        "EXT-005.e",
        "MON-0020 LEASE-0074",
        "A lease that is over is taken for one that is late.",
    ),
    mutant(
        OneLeaseIsAll,
        "EXT-005.e",
        "LEASE-0075",
        "One lease for the connection, in the system that this was ported from.",
    ),
    mutant(
        OneErrorStopsEverything,
        "EXT-005.e",
        "LEASE-0069",
        "An exception that ends the loop over all items.",
    ),
    mutant(
        AsksAgain,
        "AUT-003.b",
        "SCHED-0080",
        "Polling for what will be told anyway.",
    ),
    mutant(
        KeepsToItsRevision,
        "EVT-007.b",
        "LEASE-0065",
        "A version number that is read once, with the task.",
    ),
    mutant(
        SubmitsWithoutEvidence,
        "WRK-025.a",
        "LEASE-0066 LEASE-0067",
        "The report is attached by whoever remembers to.",
    ),
)
