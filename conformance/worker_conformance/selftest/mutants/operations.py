"""Faults of operations and tokens, of sessions and clocks, and of what a Mission's end ends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import evolve

from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.judge.reading import command_of, frames_in, kind_of
from worker_conformance.scenario.clock import moment_of, text_of
from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.interposer import Interposer, payload_of, says
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.mutants.leases import RENEWAL, SubmitsRegardless
from worker_conformance.selftest.speaker import events_in, with_frames

HALF_MINUTE = 30 * 1_000_000  # microseconds
FIVE_MINUTES = 300 * 1_000_000
SESSION_OPENED = "ext.missionweaveprotocol.identity.session_opened"
ENDS = frozenset({"mission.approved", "group.archived"})


# --- tokens -------------------------------------------------------------------------------


class OperatesRegardless(Interposer):
    """Carries out every operation that its executor asks for."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] != "operation" or "refused" not in effect:
            return (effect,)
        kept = {name: value for name, value in effect.items() if name != "refused"}
        return (
            {
                **kept,
                "leaseId": self.stimulus["leaseId"],
                "tokenId": self.speaker.identifier("token"),
                "idempotencyKey": f"{effect['workItemId']}/{effect['operationId']}",
            },
        )


@altered
def any_token_will_do(parts: Parts) -> None:
    """Operates under whatever token is at hand, whoever and whatever it was issued for."""

    def any_token(turn: Any, *_: object, **_options: object) -> Any:
        return next(iter(turn.runtime.tokens.values()), None)

    parts.replace("operations._token_for", any_token)


class _ChangesTokens(Interposer):
    """Base: tokens reach the Worker changed."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "token":
            return stimulus
        token: Any = stimulus["token"]
        return {**stimulus, "token": {**token, **self._changes(token)}}

    def _changes(self, token: Any) -> JsonObject:
        del token
        return {}


class TokensAllowEverything(_ChangesTokens):
    """Does not read which operations a token allows."""

    def _changes(self, token: Any) -> JsonObject:
        del token
        return {"operations": ["*"]}


class TokensNameNoEffects(_ChangesTokens):
    """Looks in a token for the operation's ID, and never for its kind of effect."""

    def _changes(self, token: Any) -> JsonObject:
        named = [f"id:{operation}" for operation in token["operations"]]
        return {"operations": list(named)}


class TokensExpireEarly(_ChangesTokens):
    """Stops using a token half a minute before it expires."""

    def _changes(self, token: Any) -> JsonObject:
        return {"expiresAt": text_of((moment_of(token["expiresAt"]) or 0) - HALF_MINUTE)}


class FirstTokenOnly(Interposer):
    """Keeps the first token that it is given for a WorkItem, and no later one."""

    def _begin(self) -> None:
        self._known = False

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "token":
            return stimulus
        was_known, self._known = self._known, True
        return None if was_known else stimulus


class RevocationsUnread(Interposer):
    """Goes on using a token that was revoked."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        return None if stimulus["type"] == "token_revoked" else stimulus


class CancellationRevokesEverything(Interposer):
    """Throws all tokens away when any WorkItem is cancelled."""

    def _begin(self) -> None:
        self._tokens: list[str] = []

    def _afterwards(self) -> Iterable[JsonObject]:
        if self.stimulus["type"] == "token":
            self._tokens.append(text_at(self.stimulus, "token", "tokenId"))
        if any(event["kind"] == "work.cancelled" for event in events_in(self.stimulus)):
            for token_id in self._tokens:
                revoked: JsonObject = {"type": "token_revoked", "tokenId": token_id}
                self.inner.handle({**revoked, "now": self.speaker.now})
        return ()


@altered
def budgets_uncounted(parts: Parts) -> None:
    """Lets work use more than its contract allows."""
    parts.replace("eligibility.used_up", lambda _: None)


@altered
def effects_uncounted(parts: Parts) -> None:
    """Brings about as many effects on the outside as its executor asks for."""
    parts.replace("operations._is_exhausted", lambda *_: False)


@altered
def one_effect_is_the_limit(parts: Parts) -> None:
    """Takes the limit of effects for a permission that is used up by the first."""
    exhausted = parts.get("operations._is_exhausted")

    def at_once(turn: Any, item: Any, token: Any, report: Any) -> bool:
        known = report["operationId"] in item.side_effects
        return bool(exhausted(turn, item, token, report) or (item.side_effects and not known))

    parts.replace("operations._is_exhausted", at_once)


@altered
def effects_forgotten_in_a_crash(parts: Parts) -> None:
    """Keeps in memory what effects it has brought about."""
    parts.replace_loaded(lambda item: evolve(item, side_effects=()))


@altered
def effects_counted_again(parts: Parts) -> None:
    """Counts the effects that it finds in its journal beside those that it has counted."""

    def doubled(item: Any) -> Any:
        again = (f"again {one}" for one in item.side_effects)
        return evolve(item, side_effects=(*item.side_effects, *again))

    parts.replace_loaded(doubled)


# --- sessions and clocks ------------------------------------------------------------------


class FencingUnread(Interposer):
    """Does not hear that a newer session has replaced its own."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "frames":
            return stimulus
        frames = frames_in(stimulus)
        kept = [frame for frame in frames if find(frame, "event", "kind") != SESSION_OPENED]
        return with_frames(stimulus, kept)


@altered
def fenced_by_anybody(parts: Parts) -> None:
    """Takes the session of whatever Agent for a later one of its own."""
    apply = parts.get("facts.apply_organization_fact")

    def anybody(turn: Any, event: Any) -> None:
        if "sessionEpoch" in event["payload"]:
            me = turn.projection.session.agent_id
            event = {**event, "payload": {**event["payload"], "agentId": me}}
        apply(turn, event)

    parts.replace("facts.apply_organization_fact", anybody)


@altered
def memberships_of_anybody(parts: Parts) -> None:
    """Takes whatever Membership a Group's history tells of for its own."""
    absorb = parts.get("facts.absorb_membership")

    def anybody(turn: Any, group: Any, document: Any) -> None:
        me = {"type": "agent", "id": turn.projection.session.agent_id}
        absorb(turn, group, {**document, "member": me})

    parts.replace("facts.absorb_membership", anybody)


@altered
def stays_after_its_membership(parts: Parts) -> None:
    """Takes no notice of the end of its Membership."""
    parts.get("facts.FACTS")["membership.ended"] = lambda _turn, _group, _event: None


class FencedByItself(Interposer):
    """Falls silent when a session is announced, its own or another."""

    def _begin(self) -> None:
        self._is_over = False

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        announced = any(event["kind"] == SESSION_OPENED for event in events_in(stimulus))
        self._is_over = self._is_over or announced
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return () if self._is_over and command_of(effect) else (effect,)


class SameBytesForEver(Interposer):
    """Sends the first bytes of a Command again whenever it would send another for the same end."""

    def _begin(self) -> None:
        self._first: dict[tuple[str, object], JsonObject] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        command = command_of(effect)
        if command is None or kind_of(command) == RENEWAL:
            return (effect,)
        return (self._first.setdefault((kind_of(command), command.get("workItemId")), effect),)


class StampsWithElapsedTime(Interposer):
    """Stamps Commands by the time that has passed since its start, whatever the clock says."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        return {name: value for name, value in stimulus.items() if name != "wallClock"}


class RenewsOnce(Interposer):
    """Renews a lease once, and takes it for settled then."""

    def _begin(self) -> None:
        self._renewed: set[object] = set()

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if not says(effect, RENEWAL):
            return (effect,)
        lease_id = payload_of(effect)["executionLeaseId"]
        is_again = lease_id in self._renewed
        self._renewed.add(lease_id)
        return () if is_again else (effect,)


# --- Missions and Groups ------------------------------------------------------------------


@altered
def _promotion_unread(parts: Parts) -> None:
    """Goes on with work that has become a Mission of its own."""
    parts.module("facts").FACTS.pop("mission.child.created")


class ResultOfPromotedWork(SubmitsRegardless):
    """Goes on with work that has become a Mission of its own, and submits its result."""

    worker = staticmethod(_promotion_unread)


class AnyPromotionEndsTheWork(Interposer):
    """Ends all runs when any WorkItem becomes a child Mission."""

    def _begin(self) -> None:
        self._runs: dict[object, JsonObject] = {}
        self._is_over = False

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        promoted = any(event["kind"] == "mission.child.created" for event in events_in(stimulus))
        self._is_over = self._is_over or promoted
        return None if stimulus["type"] == "execution" and self._is_over else stimulus


class OneEndEndsEverything(Interposer):
    """Falls silent in all Groups when the Mission of one has ended."""

    def _begin(self) -> None:
        self._is_over = False

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        over = any(event["kind"] in ENDS for event in events_in(stimulus))
        self._is_over = self._is_over or over
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return () if self._is_over and command_of(effect) else (effect,)


class OneResultIsEnough(Interposer):
    """Takes a Group's first accepted result for the end of its Mission."""

    def _begin(self) -> None:
        self._done_with: set[object] = set()

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for event in events_in(stimulus):
            if event["kind"] == "work.result.accepted":
                self._done_with.add(event["groupId"])
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        group_id = find(effect, "frame", "command", "groupId")
        return (
            () if says(effect, "work.accept_offer") and group_id in self._done_with else (effect,)
        )


class BackpressureForAll(Interposer):
    """Holds every Command back when one Group asks for a pause."""

    def _begin(self) -> None:
        self._until = 0

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        codes = {find(frame, "error", "code") for frame in frames_in(stimulus)}
        if codes & {"BACKPRESSURE", "RATE_LIMITED"}:
            self._until = (moment_of(self.speaker.now) or 0) + FIVE_MINUTES
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        is_held = (moment_of(self.speaker.now) or 0) < self._until
        return () if is_held and command_of(effect) else (effect,)


class LateGroupsUnsubscribed(Interposer):
    """Subscribes at its start, and not when it joins another Group."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        is_join = self.stimulus["type"] == "join"
        is_subscription = find(effect, "frame", "frameType") == "SUBSCRIBE"
        return () if is_join and is_subscription else (effect,)


class LeavesInName(Interposer):
    """Hears that it has left a Group, and goes on with what it has begun there."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        return None if stimulus["type"] == "leave" else stimulus


# --- estimates ----------------------------------------------------------------------------


class EstimatesWhatIsFinished(Interposer):
    """Publishes its last estimate of a WorkItem again from time to time, finished or not."""

    def _begin(self) -> None:
        self._last: dict[str, JsonObject] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "disclose":
            self._last[text_at(effect, "workItemId")] = effect
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        return self._last.values() if self.stimulus["type"] == "tick" else ()


class KeepsItsEstimateOfBlockedWork(Interposer):
    """Publishes no estimate because work was blocked: it has not begun to wait for a slot."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        blocked = any(event["kind"] == "work.blocked" for event in events_in(self.stimulus))
        return () if blocked and effect["type"] == "disclose" else (effect,)


MUTANTS = (
    mutant(
        OperatesRegardless,
        "WRK-014.d",
        "LEASE-0020 LEASE-0022 LEASE-0024 LEASE-0026 LEASE-0028 LEASE-0030",
        "The check lives in the tool's gateway, and this tool has none.",
    ),
    mutant(
        any_token_will_do,
        "WRK-014.d",
        "LEASE-0022",
        "A token store that is a list.",
    ),
    mutant(
        FirstTokenOnly,
        "WRK-014.d",
        "LEASE-0023 LEASE-0025",
        "A token is fetched once for each run.",
    ),
    mutant(
        RevocationsUnread,
        "WRK-014.d",
        "LEASE-0024",
        "Revocation is a push, and the client only pulls.",
    ),
    mutant(
        TokensExpireEarly,
        "WRK-014.d",
        "LEASE-0027",
        "A margin for clock skew that is longer than the token.",
    ),
    mutant(
        TokensAllowEverything,
        "WRK-014.d",
        "LEASE-0028",
        "Presence of a token taken for permission.",
    ),
    mutant(
        TokensNameNoEffects,
        "WRK-014.d",
        "LEASE-0021 LEASE-0029",
        "Two vocabularies for one list.",
    ),
    mutant(
        CancellationRevokesEverything,
        "AUT-006.a",
        "LEASE-0031",
        "One token cache, cleared on every incident.",
    ),
    mutant(
        FencingUnread,
        "IDN-008.a",
        "LEASE-0032 LEASE-0079",
        "Events without a Group fall through the dispatch table.",
    ),
    mutant(
        fenced_by_anybody,
        "IDN-008.a",
        "LEASE-0078",
        "A broadcast whose addressee nobody compares.",
    ),
    mutant(
        memberships_of_anybody,
        "MSN-010.a",
        "LEASE-0076",
        "A test with one member in each group.",
    ),
    mutant(
        stays_after_its_membership,
        "MSN-010.a",
        "LEASE-0077",
        "An event that the first version of the client did not know.",
    ),
    mutant(
        FencedByItself,
        "IDN-008.a",
        "LEASE-0033",
        "An epoch compared with `>=`.",
    ),
    mutant(
        SameBytesForEver,
        "EXT-005.f",
        "LEASE-0034",
        "Idempotent retries, taken literally.",
    ),
    mutant(
        StampsWithElapsedTime,
        "EXT-005.f",
        "LEASE-0036 LEASE-0037",
        "A monotonic clock where a wall clock was asked for.",
    ),
    mutant(
        RenewsOnce,
        "WRK-X.renew",
        "LEASE-0038 LEASE-0039",
        "A one-shot timer.",
    ),
    mutant(
        ResultOfPromotedWork,
        "MSN-002.a",
        "LEASE-0040 MON-0012",
        "A transition that only large Missions ever take.",
    ),
    mutant(
        AnyPromotionEndsTheWork,
        "MSN-002.a",
        "LEASE-0041",
        "A handler that looks at the kind of an Event and not at its subject.",
    ),
    mutant(
        OneEndEndsEverything,
        "MSN-002.a",
        "LEASE-0042",
        "A flag of the process where a flag of the Group was meant.",
    ),
    mutant(
        OneResultIsEnough,
        "MSN-002.a",
        "LEASE-0043",
        "Missions of one WorkItem, as in all examples.",
    ),
    mutant(
        BackpressureForAll,
        "EVT-011.b",
        "REPLAY-0030 REPLAY-0031",
        "A rate limiter per connection.",
    ),
    mutant(
        LateGroupsUnsubscribed,
        "EVT-009.a",
        "REPLAY-0032",
        "Subscriptions made in the constructor.",
    ),
    mutant(
        LeavesInName,
        "EVT-009.a",
        "REPLAY-0033",
        "The outbox outlives the subscription it came from.",
    ),
    mutant(
        effects_uncounted,
        "AUT-004.a",
        "SCHED-0086",
        "A limit that is checked where the task is accepted, and never again.",
    ),
    mutant(
        one_effect_is_the_limit,
        "AUT-004.a",
        "SCHED-0087",
        "A counter that was a boolean in the first version.",
    ),
    mutant(
        effects_forgotten_in_a_crash,
        "AUT-004.a",
        "SCHED-0088",
        "A counter in memory beside a task on disk.",
    ),
    mutant(
        effects_counted_again,
        "AUT-004.a",
        "SCHED-0089",
        "A journal that is replayed on top of its own summary.",
    ),
    mutant(
        budgets_uncounted,
        "AUT-004.a",
        "SCHED-0060",
        "Usage is reported, stored, and compared with nothing.",
    ),
    mutant(
        EstimatesWhatIsFinished,
        "WRK-012.b",
        "DISC-0016",
        "A periodic publisher whose list is never pruned.",
    ),
    mutant(
        KeepsItsEstimateOfBlockedWork,
        "WRK-012.b",
        "DISC-0017",
        "Estimates hung on the queue's events alone.",
    ),
)
