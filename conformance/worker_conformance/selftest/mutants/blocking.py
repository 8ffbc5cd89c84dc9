"""Faults of blocking and of automatic retries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from attrs import evolve

from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.selftest.copies import Parts, altered, notes
from worker_conformance.selftest.interposer import Interposer, says
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.mutants.later import retry_at_any_time
from worker_conformance.selftest.speaker import events_in

HOUR = 3600 * 1_000_000  # microseconds
MINUTE = 60 * 1_000_000
SECOND = 1_000_000


def _reported_as(stimulus: JsonObject, kind: str, **members: object) -> JsonObject:
    report: Any = stimulus["report"]
    return {**stimulus, "report": {**report, "kind": kind, **members}}


# --- blocking -----------------------------------------------------------------------------


class BlocksWithoutAReason(Interposer):
    """Leaves out of `work.block` what would resolve it."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if not says(effect, "work.block"):
            return (effect,)
        return (self.speaker.with_payload(effect, reason=None, requiredResolution=None),)


class BlocksAtEverySafePoint(Interposer):
    """Takes a safe point that nobody asked for as a sign that the work cannot go on."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if find(stimulus, "report", "kind") != "safe_point":
            return stimulus
        return _reported_as(stimulus, "blocked", requiredResolution="waiting at a safe point")


class KeepsTheSlotOfBlockedWork(Interposer):
    """Holds the slot of blocked work until it goes on."""

    def _begin(self) -> None:
        self._blocked: set[object] = set()

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if says(effect, "work.block"):
            self._blocked.add(find(effect, "frame", "command", "workItemId"))
        is_held = effect["type"] == "release" and effect["workItemId"] in self._blocked
        return () if is_held else (effect,)


class ProgressEndsTheRun(Interposer):
    """Takes every report for the last one."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if find(stimulus, "report", "kind") != "progress":
            return stimulus
        return _reported_as(stimulus, "failed", code="ENDED", evidence=[])


class MessageUnblocks(Interposer):
    """Takes any Message in the Group for the answer that blocked work was waiting for."""

    def _begin(self) -> None:
        self._blocked: dict[str, JsonObject] = {}

    def _afterwards(self) -> Iterable[JsonObject]:
        for event in events_in(self.stimulus):
            if event["kind"] == "work.blocked":
                item = text_at(event, "payload", "workItem", "workItemId")
                self._blocked[item] = event
            blocked = self._blocked if event["kind"] == "message.posted" else {}
            for item in blocked:
                payload: JsonObject = {"workItemId": item, "ownershipEpoch": 1}
                yield self.speaker.command("work.start", text_at(event, "groupId"), payload)


@altered
def unblocked_unread(parts: Parts) -> None:
    """Does not notice that blocked work may go on."""
    parts.module("facts").FACTS.pop("work.unblocked")


class UnblockedIsMine(Interposer):
    """Starts whatever it once blocked as soon as it is unblocked, without asking whose it is."""

    def _afterwards(self) -> Iterable[JsonObject]:
        for event in events_in(self.stimulus):
            if event["kind"] == "work.unblocked":
                item = text_at(event, "payload", "workItem", "workItemId")
                payload: JsonObject = {"workItemId": item, "ownershipEpoch": 1}
                yield self.speaker.command("work.start", text_at(event, "groupId"), payload)


@altered
def blocked_for_an_hour_at_most(parts: Parts) -> None:
    """Forgets blocked work after an hour."""
    facts = parts.module("facts").FACTS
    blocked, unblocked = facts["work.blocked"], facts["work.unblocked"]

    def noted(turn: Any, group: Any, event: Any) -> None:
        notes(turn)[event["payload"]["workItem"]["workItemId"]] = turn.now
        blocked(turn, group, event)

    def in_time(turn: Any, group: Any, event: Any) -> None:
        since = notes(turn).get(event["payload"]["workItem"]["workItemId"], turn.now)
        if turn.now - since <= HOUR:
            unblocked(turn, group, event)

    facts["work.blocked"], facts["work.unblocked"] = noted, in_time


# --- retries ------------------------------------------------------------------------------


def _with_retry_policy(parts: Parts, **members: object) -> None:
    delay = parts.get("retries.delay_before_retry")

    def changed(turn: Any, item: Any, code: str) -> Any:
        given = {name: m(item, code) if callable(m) else m for name, m in members.items()}
        return delay(turn, evolve(item, contract=evolve(item.contract, **given)), code)

    parts.replace("retries.delay_before_retry", changed)


@altered
def one_attempt_too_many(parts: Parts) -> None:
    """Counts retries where the contract counts attempts."""
    _with_retry_policy(parts, attempts_max=lambda item, _: item.contract.attempts_max + 1)
    obstacle = parts.get("eligibility.obstacle")

    def and_once_more(turn: Any, item: Any) -> Any:
        found = obstacle(turn, item)
        return None if found == "attempts exhausted" else found

    parts.replace("eligibility.obstacle", and_once_more)


@altered
def no_backoff_is_no_retry(parts: Parts) -> None:
    """Takes a contract without a backoff for one without retries."""

    def attempts(item: Any, _: str) -> int:
        return 1 if item.contract.backoff == "none" else int(item.contract.attempts_max)

    _with_retry_policy(parts, attempts_max=attempts)


@altered
def no_backoff_is_no_limit(parts: Parts) -> None:
    """Counts attempts where it computes a backoff, and so not without one."""
    obstacle = parts.get("eligibility.obstacle")

    def attempts(item: Any, _: str) -> int:
        return 1 << 30 if item.contract.backoff == "none" else int(item.contract.attempts_max)

    def uncounted(turn: Any, item: Any) -> Any:
        found = obstacle(turn, item)
        is_unlimited = found == "attempts exhausted" and item.contract.backoff == "none"
        return None if is_unlimited else found

    _with_retry_policy(parts, attempts_max=attempts)
    parts.replace("eligibility.obstacle", uncounted)


@altered
def retries_everything(parts: Parts) -> None:
    """Tries again after every failure, retryable or not."""
    _with_retry_policy(parts, retryable=lambda _, code: (code,))


@altered
def never_retries(parts: Parts) -> None:
    """Gives up at the first failure."""
    _with_retry_policy(parts, retryable=())


@altered
def waits_longer_than_allowed(parts: Parts) -> None:
    """Waits a minute before each retry, whatever the contract's limit is."""
    delay = parts.get("retries.delay_before_retry")

    def a_minute(turn: Any, item: Any, code: str) -> Any:
        return None if delay(turn, item, code) is None else MINUTE

    parts.replace("retries.delay_before_retry", a_minute)


def _misreads(parts: Parts, pattern: str, wrongly: Callable[[re.Match[str]], str]) -> None:
    duration = parts.get("instants.duration")
    parts.replace("instants.duration", lambda text: duration(re.sub(pattern, wrongly, text)))


@altered
def hours_read_as_days(parts: Parts) -> None:
    """Reads a duration's first unit as days where it is hours."""
    _misreads(parts, r"^PT(\d+)H(?=\d)", lambda found: f"P{found[1]}DT")


@altered
def minutes_read_as_months(parts: Parts) -> None:
    """Reads a duration's M as months of thirty days, where it stands first."""
    _misreads(parts, r"^PT(\d+)M(?=\d)", lambda found: f"P{30 * int(found[1])}DT")


@altered
def retries_after_the_deadline(parts: Parts) -> None:
    """Tries again as long as attempts are left, whatever the time is."""

    def regardless(turn: Any, item: Any, code: str) -> int | None:
        del turn
        contract = item.contract
        is_left = code in contract.retryable and item.failures < contract.attempts_max
        return SECOND if is_left else None

    parts.replace("retries.delay_before_retry", regardless)
    retry_at_any_time(parts)


@altered
def attempts_forgotten_in_a_crash(parts: Parts) -> None:
    """Keeps the count of attempts in memory."""
    parts.replace_loaded(lambda item: evolve(item, failures=0))


class LateSuccessIsAFailure(Interposer):
    """Reports a success after a failure as another failure."""

    def _begin(self) -> None:
        self._failed: set[object] = set()

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        kind, item = find(stimulus, "report", "kind"), stimulus.get("workItemId")
        if kind == "failed":
            self._failed.add(item)
        if kind != "completed" or not self._is_suspect(item):
            return stimulus
        report: JsonObject = {"kind": "failed", "code": "EARLIER_FAILURE", "evidence": []}
        return {**stimulus, "report": report}

    def _is_suspect(self, item: object) -> bool:
        return item in self._failed


class CrashedWorkIsSuspect(LateSuccessIsAFailure):
    """Believes no success after a restart."""

    def _is_suspect(self, item: object) -> bool:
        return bool(item) and self.speaker.session_epoch > 1


class KeyFromTheLease(Interposer):
    """Makes idempotency keys from the Execution Lease, which changes with every start."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if "idempotencyKey" not in effect:
            return (effect,)
        return ({**effect, "idempotencyKey": f"{effect['leaseId']}/{effect['operationId']}"},)


class KeyFromTheOperation(Interposer):
    """Makes idempotency keys from the operation alone."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if "idempotencyKey" not in effect:
            return (effect,)
        return ({**effect, "idempotencyKey": f"key/{effect['operationId']}"},)


MUTANTS = (
    mutant(
        BlocksWithoutAReason,
        "WRK-017.a",
        "BLOCK-0001",
        "A free text that the form did not require.",
    ),
    mutant(
        BlocksAtEverySafePoint,
        "WRK-017.a",
        "BLOCK-0002",
        "One handler for everything that stands still.",
    ),
    mutant(
        KeepsTheSlotOfBlockedWork,
        "WRK-017.b",
        "BLOCK-0003",
        "Waiting inside the worker thread.",
    ),
    mutant(
        ProgressEndsTheRun,
        "WRK-017.b",
        "BLOCK-0004 SCHED-0061",
        "A report handler that knows final reports only.",
    ),
    mutant(
        MessageUnblocks,
        "WRK-017.c",
        "BLOCK-0005",
        "The answer is expected in the conversation, where people give it.",
    ),
    mutant(
        unblocked_unread,
        "WRK-017.c",
        "BLOCK-0006",
        "A way back that no test ever took.",
    ),
    mutant(
        UnblockedIsMine,
        "WRK-017.d",
        "BLOCK-0007",
        "A local table of blocked work, older than the ownership it came from.",
    ),
    mutant(
        blocked_for_an_hour_at_most,
        "WRK-017.d",
        "BLOCK-0008",
        "A cache with a lifetime as the only place of a state.",
    ),
    mutant(
        one_attempt_too_many,
        "WRK-018.a",
        "RETRY-0001",
        "Attempts or retries: off by one.",
    ),
    mutant(
        LateSuccessIsAFailure,
        "WRK-018.a",
        "RETRY-0002",
        "A sticky error flag.",
    ),
    mutant(
        attempts_forgotten_in_a_crash,
        "WRK-018.a",
        "RETRY-0003",
        "A loop variable as the attempt counter.",
    ),
    mutant(
        CrashedWorkIsSuspect,
        "WRK-018.a",
        "RETRY-0004",
        "A restart marks all unfinished work as failed.",
    ),
    mutant(
        retries_everything,
        "WRK-018.c",
        "RETRY-0005",
        "`except Exception: retry`.",
    ),
    mutant(
        never_retries,
        "WRK-018.c",
        "RETRY-0006",
        "Retries left to a layer that this deployment does not have.",
    ),
    mutant(
        waits_longer_than_allowed,
        "WRK-018.b",
        "RETRY-0007",
        "A library's own backoff beside the contract's.",
    ),
    mutant(
        no_backoff_is_no_retry,
        "WRK-018.b",
        "RETRY-0013",
        "An enumeration whose first value is falsy.",
    ),
    mutant(
        no_backoff_is_no_limit,
        "WRK-018.a",
        "RETRY-0014",
        "A counter that lives in the timer of the next attempt.",
    ),
    mutant(
        hours_read_as_days,
        "WRK-018.b",
        "RETRY-0011",
        "A parser of durations written for the one that was seen first.",
    ),
    mutant(
        minutes_read_as_months,
        "WRK-018.b",
        "RETRY-0012",
        "ISO 8601 has two units that are called M.",
    ),
    mutant(
        retries_after_the_deadline,
        "WRK-018.a",
        "RETRY-0008",
        "A retry loop that counts and never looks at the clock.",
    ),
    mutant(
        KeyFromTheLease,
        "WRK-031.a",
        "RETRY-0009",
        "A request ID taken for an idempotency key.",
    ),
    mutant(
        KeyFromTheOperation,
        "WRK-031.a",
        "RETRY-0010 MON-0034 ISOL-0022",
        "Keys that are unique within one job.",
    ),
)
