"""Faults of what a refusal leads to, by the kind of Command that was refused.

Given up too soon, repeated too often, taken for more or for less than it says, or waited for with a
slot. `answers` has those that make no difference between kinds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.reading import command_of
from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.interposer import Interposer, says
from worker_conformance.selftest.mutants.answers import (
    OneErrorIsFinal,
    OneErrorStopsEverything,
    Resends,
)
from worker_conformance.selftest.mutants.base import mutant

RENEWAL = "ext.missionweaveprotocol.core.work_execution_lease_renew"


# --- given up too soon --------------------------------------------------------------------


class SubmitsOnce(OneErrorIsFinal):
    """Sends a result once, and takes any error for the last word about it."""

    kinds = ("work.submit",)


class PublishesOnce(OneErrorIsFinal):
    """Publishes an Artifact once, and goes on to the result whatever was answered."""

    kinds = ("artifact.publish",)


class ReportsFailuresOnce(OneErrorIsFinal):
    """Reports a failure once, and takes any error for the last word about it."""

    kinds = ("work.fail",)


class ReportsBlocksOnce(OneErrorIsFinal):
    """Reports an obstacle once, and takes any error for the last word about it."""

    kinds = ("work.block",)


class CheckpointsOnce(OneErrorIsFinal):
    """Sends the Checkpoint of a preemption once, and waits for ever after an error."""

    kinds = ("work.checkpoint",)


class OneErrorEndsRenewals(OneErrorIsFinal):
    """Renews a lease no more after any error about a renewal."""

    kinds = (RENEWAL,)


class AsksForEachRenewalOnce(Interposer):
    """Asks for a renewal once, and waits for ever where the answer was lost."""

    def _begin(self) -> None:
        super()._begin()
        self._asked: set[object] = set()

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        command = command_of(effect) if says(effect, RENEWAL) else None
        if command is None:
            return (effect,)
        is_first = command["actionId"] not in self._asked
        self._asked.add(command["actionId"])
        return (effect,) if is_first else ()


# --- repeated too often -------------------------------------------------------------------


class RepeatsResults(Resends):
    """Sends a result again that was refused for good."""

    codes = frozenset({"INVALID_STATE_TRANSITION", "REVISION_CONFLICT"})
    kinds = ("work.submit",)


class RepeatsResultsOfAFormerOwner(Resends):
    """Sends a result again that was refused because another owns the work."""

    codes = frozenset({"WORK_STALE_OWNERSHIP"})
    kinds = ("work.submit",)


class RepeatsArtifacts(Resends):
    """Publishes an Artifact again that was refused for good."""

    codes = frozenset({"INVALID_COMMAND"})
    kinds = ("artifact.publish",)


class RepeatsFailures(Resends):
    """Reports a failure again that was refused for good."""

    codes = frozenset({"INVALID_STATE_TRANSITION"})
    kinds = ("work.fail",)


class RepeatsCheckpoints(Resends):
    """Sends a Checkpoint again that was refused for good."""

    codes = frozenset({"INVALID_COMMAND"})
    kinds = ("work.checkpoint",)


class SubmitsAnewAsAFormerOwner(Resends):
    """Sends a result anew, under the same Ownership Epoch, after that epoch was called stale."""

    codes = frozenset({"WORK_STALE_OWNERSHIP"})
    kinds = ("work.submit",)

    def _afterwards(self) -> Iterable[JsonObject]:
        for effect in self._due:
            yield self.speaker.changed(effect, actionId=self.speaker.identifier("action"))


# --- taken for more, or for less ----------------------------------------------------------


class OneFencingIsAll(OneErrorStopsEverything):
    """Takes one stale Ownership Epoch for the end of all that it owns, and falls silent."""

    codes = frozenset({"WORK_STALE_OWNERSHIP"})


def _after_a_stale_session(parts: Parts, reaction: Any) -> None:
    parts.module("errors").REACTIONS["AUTH_STALE_SESSION"] = reaction


@altered
def stale_for_one_command(parts: Parts) -> None:
    """Drops the Command whose session was called stale, and goes on with all others."""

    def drop(turn: Any, command: Any, error: Any) -> None:
        del error
        parts.get("outbox.drop")(turn, command, refused=True)

    _after_a_stale_session(parts, drop)


@altered
def fenced_for_ever(parts: Parts) -> None:
    """Writes down that it is fenced, and not by which session."""
    no_session_reaches = 1 << 40

    def fence(turn: Any, command: Any, error: Any) -> None:
        del command, error
        parts.get("facts.fence")(turn, no_session_reaches)

    _after_a_stale_session(parts, fence)


# --- waited for with a slot ---------------------------------------------------------------


def _keep_the_slot(parts: Parts, kind: str) -> None:
    give_up = parts.get("errors._give_up")

    def wait(turn: Any, command: Any, error: Any) -> None:
        if command.kind != kind:
            give_up(turn, command, error)
            return
        parts.get("outbox.drop")(turn, command, refused=True)

    table = parts.module("errors").REACTIONS
    table |= {code: wait for code, reaction in table.items() if reaction is give_up}


@altered
def a_slot_for_each_refused_result(parts: Parts) -> None:
    """Frees the slot of a run that is over when its result is taken, and not before."""
    _keep_the_slot(parts, "work.submit")


@altered
def a_slot_for_each_refused_failure(parts: Parts) -> None:
    """Frees the slot of a run that has failed when the report is taken, and not before."""
    _keep_the_slot(parts, "work.fail")


@altered
def a_slot_for_each_refused_block(parts: Parts) -> None:
    """Frees the slot of blocked work when the report is taken, and not before."""
    _keep_the_slot(parts, "work.block")


# --- a lease that was called over -----------------------------------------------------------


@altered
def waits_for_a_word_about_a_lost_lease(parts: Parts) -> None:
    """Waits for an Event before work is done again whose lease was called over."""
    reactions = parts.module("errors").REACTIONS
    before = reactions["WORK_LEASE_EXPIRED"]

    def and_waits(turn: Any, command: Any, error: Any) -> None:
        before(turn, command, error)
        item = turn.item(command.work_item_id)
        if item is not None and command.lease_id:
            turn.change(item, lease=None, suspended=True)

    reactions["WORK_LEASE_EXPIRED"] = and_waits


@altered
def a_lost_lease_queues(parts: Parts) -> None:
    """Takes work whose lease was called over for queued, and starts it at once."""
    before = parts.get("leases.is_queued")

    def also_when_lost(turn: Any, item: Any) -> bool:
        is_lost = item.lease is not None and not item.lease.expires_at
        return bool(before(turn, item) or is_lost)

    parts.replace("leases.is_queued", also_when_lost)


MUTANTS = (
    mutant(
        SubmitsOnce,
        "EXT-005.e",
        "LEASE-0080",
        "Retries around the call that begins a job, and none around the one that ends it.",
    ),
    mutant(
        PublishesOnce,
        "EXT-005.e",
        "LEASE-0086",
        "An upload whose outcome nobody waits for.",
    ),
    mutant(
        ReportsFailuresOnce,
        "WRK-018.c",
        "RETRY-0015",
        "An error handler that has no error handler.",
    ),
    mutant(
        ReportsBlocksOnce,
        "WRK-017.a",
        "BLOCK-0009",
        "A question to a person that is sent and forgotten.",
    ),
    mutant(
        CheckpointsOnce,
        "WRK-015.c",
        "PREEMPT-0024",
        "A state machine whose step has no way back.",
    ),
    mutant(
        OneErrorEndsRenewals,
        "WRK-X.renew",
        "LEASE-0089",
        "An exception that ends the thread of the heartbeat.",
    ),
    mutant(
        AsksForEachRenewalOnce,
        "WRK-X.renew",
        "LEASE-0088",
        "A heartbeat without a timeout.",
    ),
    mutant(
        RepeatsResults,
        "EXT-005.e",
        "MON-0020 LEASE-0081",
        "A queue of results that is emptied by success alone.",
    ),
    mutant(
        RepeatsResultsOfAFormerOwner,
        "EXT-005.d",
        "MON-0020 LEASE-0082",
        "A queue of results that outlives what it belongs to.",
    ),
    mutant(
        SubmitsAnewAsAFormerOwner,
        "WRK-003.a",
        "MON-0013",
        "A new request ID, taken for all that a refused request lacks.",
        seen_in="LEASE-0082",
    ),
    mutant(
        RepeatsArtifacts,
        "EXT-005.e",
        "MON-0020 LEASE-0087",
        "An upload that is resumed until it is taken.",
    ),
    mutant(
        RepeatsFailures,
        "EXT-005.e",
        "MON-0020 RETRY-0016",
        "An error report in a loop that must not lose one.",
    ),
    mutant(
        RepeatsCheckpoints,
        "EXT-005.e",
        "MON-0020 PREEMPT-0025",
        "A save that is tried until it works.",
    ),
    mutant(
        OneFencingIsAll,
        "EXT-005.d",
        "LEASE-0083",
        "A fencing token of the process, and not of the task.",
    ),
    mutant(
        stale_for_one_command,
        "IDN-008.a",
        "LEASE-0084",
        "A status that is looked at by the caller alone.",
    ),
    mutant(
        fenced_for_ever,
        "EXT-005.d",
        "LEASE-0085",
        "A flag on disk that nothing takes back.",
    ),
    mutant(
        a_slot_for_each_refused_result,
        "WRK-010.b",
        "SCHED-0092",
        "A counter that goes down on success.",
    ),
    mutant(
        a_slot_for_each_refused_failure,
        "WRK-010.b",
        "SCHED-0093",
        "A counter that goes down on one of two paths.",
    ),
    mutant(
        a_slot_for_each_refused_block,
        "WRK-010.b",
        "BLOCK-0010",
        "Resources that are given back by an Event.",
    ),
    mutant(
        waits_for_a_word_about_a_lost_lease,
        "WRK-010.k",
        "SCHED-0100",
        "A projection that only Events may change.",
    ),
    mutant(
        a_lost_lease_queues,
        "WRK-003.a",
        "SCHED-0101",
        "A state machine that follows its own idea of the transition table.",
    ),
)
