"""Faults of offline work: what goes on too long, ends too early, or is never reconciled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.judge.monitors.leases import OFFLINE_BINDING
from worker_conformance.scenario.clock import moment_of
from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.interposer import Interposer, payload_of, says
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.speaker import events_in

FAR = "2099-01-01T00:00:00Z"
GRACE_SECONDS = 86_400
SECOND = 1_000_000


class _KnowsTheLink(Interposer):
    """Base: knows whether the link is down, of the connection or of any Group."""

    def _begin(self) -> None:
        self._is_down = False

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] == "link":
            self._is_down = stimulus["state"] == "down"
        return stimulus


class StartsOutOfReach(_KnowsTheLink):
    """Runs the next accepted WorkItem while nobody can grant it a lease."""

    def _begin(self) -> None:
        super()._begin()
        self._owned: dict[str, tuple[str, str]] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for event in events_in(stimulus):
            item: Any = find(event, "payload", "workItem")
            if event["kind"] == "work.offer.accepted":
                lease_id = item["owner"]["ownershipLeaseId"]
                self._owned[item["workItemId"]] = (text_at(event, "groupId"), lease_id)
        return super()._given(stimulus)

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "run":
            self._owned.pop(text_at(effect, "workItemId"), None)
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        is_over = find(self.stimulus, "report", "kind") == "completed"
        for item in list(self._owned)[:1] if is_over and self._is_down else ():
            group_id, lease_id = self._owned.pop(item)
            context: JsonObject = {
                "missionContext": {},
                "credentials": {},
                "budget": {},
                "sideEffectScope": group_id,
            }
            yield {
                "type": "run",
                "slotId": "s7",
                "groupId": group_id,
                "workItemId": item,
                "leaseId": lease_id,
                "context": context,
            }


class TokensNeverExpire(Interposer):
    """Reads no expiry from capability tokens."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "token":
            return stimulus
        token: Any = stimulus["token"]
        return {**stimulus, "token": {**token, "expiresAt": FAR}}


class TokensForgottenInAnOutage(_KnowsTheLink):
    """Throws its tokens away when the link goes down, and asks for no new ones."""

    def _begin(self) -> None:
        super()._begin()
        self._tokens: list[str] = []

    def handle(self, stimulus: JsonObject) -> JsonObject:
        """Take the tokens from the Worker before it hears of the link."""
        if stimulus["type"] == "token":
            self._tokens.append(text_at(stimulus, "token", "tokenId"))
        if stimulus["type"] == "link" and stimulus["state"] == "down":
            for token_id in self._tokens:
                revoked: JsonObject = {"type": "token_revoked", "tokenId": token_id}
                self.inner.handle({**revoked, "now": stimulus["now"]})
        return super().handle(stimulus)


class GraceWithoutAnEnd(Interposer):
    """Works on for a day without its Group, whatever the policy's grace is."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        policy: Any = stimulus.get("policy")
        if stimulus["type"] != "policy":
            return stimulus
        limits = {**policy.get("limits", {}), "offlineGraceSeconds": GRACE_SECONDS}
        return {**stimulus, "policy": {**policy, "limits": limits}}


class GraceCountsAlways(Interposer):
    """Ends every run after the grace, in reach or not."""

    def _begin(self) -> None:
        self._grace: float | None = None
        self._runs: dict[object, tuple[int, JsonObject]] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        grace: Any = find(stimulus, "policy", "limits", "offlineGraceSeconds")
        self._grace = self._grace if grace is None else grace
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "run":
            self._runs[effect["slotId"]] = (moment_of(self.speaker.now) or 0, effect)
        elif effect["type"] == "release":
            self._runs.pop(effect["slotId"], None)
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        now = moment_of(self.speaker.now) or 0
        for slot, (since, run) in list(self._runs.items()):
            if self._grace is not None and now - since >= self._grace * SECOND:
                self._runs.pop(slot)
                for word in ("cancel", "release"):
                    yield {"type": word, "slotId": str(slot), "workItemId": run["workItemId"]}


class _HoldsResults(_KnowsTheLink):
    """Base: keeps the results that were reported out of reach, and can submit them."""

    def _begin(self) -> None:
        super()._begin()
        self._results: dict[object, JsonObject] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if find(stimulus, "report", "kind") == "completed" and self._is_down:
            self._results[stimulus["workItemId"]] = stimulus
        return super()._given(stimulus)

    def _submissions(self) -> Iterable[JsonObject]:
        for result in self._results.values():
            group_id = text_at(result, "report", "artifacts", 0, "groupId")
            payload: JsonObject = {
                "workItemId": result["workItemId"],
                "ownershipEpoch": 1,
                "executionLeaseId": result["leaseId"],
                "artifactIds": [],
                "evidence": [],
            }
            yield self.speaker.command("work.submit", group_id, payload)


class SubmitsAcrossSessions(_HoldsResults):
    """Sends a result under the old session's lease as soon as the link is back."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        is_again = payload_of(effect).get("workItemId") in self._results
        return () if says(effect, "work.start") and is_again else (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        is_back = self.stimulus["type"] == "link" and self.stimulus["state"] == "up"
        return self._submissions() if is_back else ()


class ReportsLostInAnOutage(_KnowsTheLink):
    """Does not hear its executor while its link is down."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        super()._given(stimulus)
        return None if stimulus["type"] == "execution" and self._is_down else stimulus


class InventsACheckpoint(_KnowsTheLink):
    """Resumes after an outage from a Checkpoint that it never reported."""

    def _begin(self) -> None:
        super()._begin()
        self._was_down = False

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        self._was_down = self._was_down or self._is_down
        if effect["type"] != "run" or "resumeFrom" in effect or not self._was_down:
            return (effect,)
        resume: JsonObject = {
            "checkpointId": self.speaker.identifier("checkpoint"),
            "checkpointHash": "sha256:" + "0" * 64,
        }
        return ({**effect, "resumeFrom": resume},)

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        given = super()._given(stimulus)
        self._was_down = self._was_down or self._is_down
        return given


class NoSubscriptionAfterACut(Interposer):
    """Subscribes at its start, and not again when a link comes back."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        is_later = self.stimulus["type"] == "link"
        is_subscription = find(effect, "frame", "frameType") == "SUBSCRIBE"
        return () if is_later and is_subscription else (effect,)


class NeverSendsAgain(Interposer):
    """Sends every Command once, whether it is answered or not."""

    def _begin(self) -> None:
        self._sent: set[object] = set()

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        action_id = find(effect, "frame", "command", "actionId")
        is_again = action_id is not None and action_id in self._sent
        self._sent.add(action_id)
        return () if is_again else (effect,)


class BlocksWithoutACheckpoint(_KnowsTheLink):
    """Notes that work is blocked and what it needs, and keeps no Checkpoint out of reach."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        blocked = find(stimulus, "report", "kind") == "blocked"
        return None if blocked and self._is_down else super()._given(stimulus)


@altered
def start_waits_out_the_outage(parts: Parts) -> None:
    """Keeps the slot of a start that an outage left unanswered until the link is back."""
    parts.replace("sessions._give_up_starts", lambda _turn: None)


@altered
def start_given_up_for_good(parts: Parts) -> None:
    """Gives up a start that an outage left unanswered, and does not take it up again."""
    give_up = parts.get("sessions._give_up_starts")

    def for_good(turn: Any) -> None:
        give_up(turn)
        for work_item_id in turn.runtime.given_up:
            turn.change(turn.item(work_item_id), suspended=True)

    parts.replace("sessions._give_up_starts", for_good)


class SilentWhileAnythingIsDown(_KnowsTheLink):
    """Takes one Group's outage for everybody's, and forgets what its executors reported in it."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return () if self._is_down and says(effect, "work.block") else (effect,)


@altered
def acts_before_it_reconciles(parts: Parts) -> None:
    """Lets an operation happen as soon as its Group is in reach, whatever has happened there."""
    parts.replace("operations.HISTORY_UNKNOWN", frozenset())


class NeverActsAgain(Interposer):
    """Refuses every operation of a run that an outage has seen."""

    def _begin(self) -> None:
        self._granted: set[object] = set()
        self._seen: set[object] = set()

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] == "link" and stimulus["state"] == "down":
            self._seen |= self._granted
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "run":
            self._granted.add(effect["leaseId"])
        if effect["type"] != "operation" or effect.get("leaseId") not in self._seen:
            return (effect,)
        kept = ("type", "slotId", "workItemId", "operationId")
        return ({**{name: effect[name] for name in kept}, "refused": "there was an outage"},)


class SubmitsAtOnce(_HoldsResults):
    """Sends a result that an outage has held back as soon as the Group is in reach."""

    def _afterwards(self) -> Iterable[JsonObject]:
        is_new = "sessionEpoch" in self.stimulus
        is_back = self.stimulus["type"] == "link" and not self._is_down
        return self._submissions() if is_back and not is_new else ()


class TakesAMessageForAReplay(Interposer):
    """Submits nothing after a Message until a replay has ended, though none is under way."""

    def _begin(self) -> None:
        self._is_replaying = False

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        kinds = {event["kind"] for event in events_in(stimulus)}
        told = self._is_replaying or "message.posted" in kinds
        self._is_replaying = told and stimulus["type"] != "caught_up"
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return () if self._is_replaying and says(effect, "work.submit") else (effect,)


class SubmitsWithTheOfflineBinding(Interposer):
    """Sends a result in the form of a buffered Checkpoint as well, before it is reconciled."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        yield effect
        binding = find(effect, "frame", "command", "extensions", OFFLINE_BINDING)
        if says(effect, "work.checkpoint") and binding is not None:
            payload = payload_of(effect)
            kept = {name: payload[name] for name in ("ownershipEpoch", "executionLeaseId")}
            yield self.speaker.changed(
                effect,
                actionId=self.speaker.identifier("action"),
                kind="work.submit",
                payload={**kept, "artifactIds": [], "evidence": []},
            )


MUTANTS = (
    mutant(
        acts_before_it_reconciles,
        "WRK-020.c",
        "OFFLINE-0017",
        "A connection that is up taken for a state that is known.",
    ),
    mutant(
        NeverActsAgain,
        "WRK-020.c",
        "OFFLINE-0018",
        "A circuit breaker that nothing closes again.",
    ),
    mutant(
        SubmitsAtOnce,
        "WRK-020.c",
        "OFFLINE-0019",
        "An outbox that hears of the connection before the inbox does.",
    ),
    mutant(
        TakesAMessageForAReplay,
        "WRK-020.c",
        "OFFLINE-0020",
        "One flag for a replay under way, which any news sets and only its end clears.",
    ),
    mutant(
        SubmitsWithTheOfflineBinding,
        "WRK-013.b",
        "MON-0012",
        "A queue of what waits for the link that asks nobody what it may hold.",
        seen_in="OFFLINE-0009",
    ),
    mutant(
        StartsOutOfReach,
        "WRK-020.a",
        "OFFLINE-0001",
        "Offline first: whatever was accepted will be granted.",
    ),
    mutant(
        TokensNeverExpire,
        "WRK-020.b",
        "OFFLINE-0003 LEASE-0026",
        "Expiry left to the service that checks tokens, which is out of reach.",
    ),
    mutant(
        TokensForgottenInAnOutage,
        "WRK-020.b",
        "OFFLINE-0004",
        "A connection object that owns what belongs to the run.",
    ),
    mutant(
        GraceWithoutAnEnd,
        "WRK-020.d",
        "OFFLINE-0005",
        "A generous default that wins over the policy.",
    ),
    mutant(
        GraceCountsAlways,
        "WRK-020.d",
        "OFFLINE-0006",
        "A watchdog that is started with the run instead of with the outage.",
    ),
    mutant(
        SubmitsAcrossSessions,
        "WRK-020.c",
        "OFFLINE-0007",
        "An outbox that is flushed on reconnection, before anybody looks into it.",
    ),
    mutant(
        ReportsLostInAnOutage,
        "WRK-020.c",
        "OFFLINE-0008",
        "Everything waits for the network, the local socket too.",
    ),
    mutant(
        InventsACheckpoint,
        "WRK-021.b",
        "OFFLINE-0010",
        "A local save file taken for a Checkpoint.",
    ),
    mutant(
        NoSubscriptionAfterACut,
        "WRK-020.c",
        "OFFLINE-0011",
        "Reconnection logic in the transport, which knows no Cursors.",
    ),
    mutant(
        NeverSendsAgain,
        "WRK-020.c",
        "OFFLINE-0012 LEASE-0035",
        "At most once, by accident.",
    ),
    mutant(
        BlocksWithoutACheckpoint,
        "WRK-017.a",
        "OFFLINE-0013",
        "reports that are thrown away while there is nobody to pass them on to",
    ),
    mutant(
        start_waits_out_the_outage,
        "WRK-010.b",
        "SCHED-0084",
        "A place in a pool that is held by whoever waits for a reply.",
    ),
    mutant(
        start_given_up_for_good,
        "WRK-010.b",
        "SCHED-0085",
        "A timeout that is booked as a refusal.",
    ),
    mutant(
        SilentWhileAnythingIsDown,
        "WRK-017.a",
        "OFFLINE-0014",
        "one flag for the connection where there should be one for each Group",
    ),
)
