"""Faults of disclosure and isolation: what leaks to another Group, and what is withheld."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.interposer import Interposer, KnowsItsRuns, says
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.speaker import events_in


class _KnowsWhoRuns(KnowsItsRuns):
    """Base: remembers the latest WorkItem of every Group, and what runs."""

    def _begin(self) -> None:
        super()._begin()
        self._latest: dict[str, str] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for event in events_in(stimulus):
            work_item_id = find(event, "payload", "workItem", "workItemId")
            if isinstance(work_item_id, str):
                self._latest[text_at(event, "groupId")] = work_item_id
        return stimulus

    def _neighbour_of(self, group_id: object) -> str | None:
        return next((work for group, work in self._latest.items() if group != group_id), None)


# --- leaks to the wire --------------------------------------------------------------------


class NeighbourInTheEstimate(_KnowsWhoRuns):
    """Says in an estimate which WorkItem of another Group is ahead."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        neighbour = self._neighbour_of(effect.get("groupId"))
        if effect["type"] != "disclose" or neighbour is None:
            return super()._done(effect)
        estimate: Any = effect["estimate"]
        return ({**effect, "estimate": {**estimate, "waitingFor": self._spelled(neighbour)}},)

    def _spelled(self, neighbour: str) -> str:
        return neighbour


class NeighbourInTheEstimateEncoded(NeighbourInTheEstimate):
    """Says so in a token that is nothing but base64."""

    def _spelled(self, neighbour: str) -> str:
        token = json.dumps({"v": 1, "behind": neighbour})
        return base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")


class NeighbourInTheAcceptance(_KnowsWhoRuns):
    """Explains in an acceptance what has to be finished first."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        group_id = find(effect, "frame", "command", "groupId")
        neighbour = self._neighbour_of(group_id)
        if neighbour is None or not says(effect, "work.accept_offer"):
            return super()._done(effect)
        return (self.speaker.with_payload(effect, note=f"starts after {neighbour}"),)


class PreemptorNamed(_KnowsWhoRuns):
    """Names in the Checkpoint of preempted work whom it was preempted for."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        group_id = find(effect, "frame", "command", "groupId")
        neighbour = self._neighbour_of(group_id)
        if neighbour is None or not says(effect, "work.checkpoint"):
            return super()._done(effect)
        return (self.speaker.with_payload(effect, reason=f"preempted for {neighbour}"),)


class DeclinesTheWrongOffer(Interposer):
    """Declines with the ID of the offer that was answered last."""

    def _begin(self) -> None:
        self._last: object = None

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        offer_id = find(effect, "frame", "command", "payload", "offerId")
        self._last = offer_id or self._last
        if effect["type"] != "decline" or self._last is None:
            return (effect,)
        return ({**effect, "offerId": str(self._last)},)


class TokenInTheResult(Interposer):
    """Attaches the token of its last operation to its results."""

    def _begin(self) -> None:
        self._secret: object = None

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        self._secret = stimulus.get("secret", self._secret)
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if not says(effect, "work.submit"):
            return (effect,)
        return (self.speaker.with_payload(effect, usedToken=self._secret),)


class CredentialsInTheResult(Interposer):
    """Attaches the environment of a run to its result."""

    def _begin(self) -> None:
        super()._begin()
        self._environment: dict[object, object] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "run":
            self._environment[effect["workItemId"]] = find(effect, "context", "credentials")
        if not says(effect, "work.submit"):
            return (effect,)
        work_item_id = find(effect, "frame", "command", "workItemId")
        environment = self._environment.get(work_item_id)
        return (self.speaker.with_payload(effect, environment=environment),)


class NonceNamesAGroup(Interposer):
    """Makes nonces from the Group that spoke last, so that replies can be told apart in a log."""

    def _begin(self) -> None:
        self._last = ""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for event in events_in(stimulus):
            self._last = str(event.get("groupId", self._last))
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if find(effect, "frame", "frameType") != "PING":
            return (effect,)
        frame: Any = effect["frame"]
        nonce = base64.urlsafe_b64encode(self._last.encode()).decode().rstrip("=")
        return ({**effect, "frame": {**frame, "nonce": nonce}},)


class PresenceIsAlwaysFree(Interposer):
    """Says in its Presence that all slots are free."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        presence: Any = find(effect, "frame", "presence")
        if presence is None:
            return (effect,)
        frame: Any = effect["frame"]
        most = presence["capacity"]["maxSlots"]
        capacity = {**presence["capacity"], "activeSlots": 0, "availableSlots": most}
        changed = {**presence, "status": "online", "capacity": capacity}
        return ({**effect, "frame": {**frame, "presence": changed}},)


# --- leaks into slots ---------------------------------------------------------------------


class SlotKeepsItsCredentials(Interposer):
    """Logs a slot in once, with the credentials of the first Group that uses it."""

    def _begin(self) -> None:
        super()._begin()
        self._logged_in: dict[object, object] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] != "run":
            return (effect,)
        context: Any = effect["context"]
        credentials = self._logged_in.setdefault(effect["slotId"], context["credentials"])
        return ({**effect, "context": {**context, "credentials": credentials}},)


class ContextSharedBySlots(_KnowsWhoRuns):
    """Reads the Mission's context from one global place, where the other slot's may still lie."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        others = [run for run in self._runs.values() if run["groupId"] != effect.get("groupId")]
        tuple(super()._done(effect))
        if effect["type"] != "run" or not others:
            return (effect,)
        context: Any = effect["context"]
        stale = find(others[0], "context", "missionContext")
        return ({**effect, "context": {**context, "missionContext": stale}},)


class ContextsRebuiltInReverse(Interposer):
    """Builds the table of contexts anew for a later session, in another order than its index."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] == "start":
            groups: Any = stimulus["groups"]
            ids = [group["groupId"] for group in groups]
            contexts = [group.get("missionContext") for group in groups]
            self._swapped = dict(zip(ids, reversed(contexts), strict=True))
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] != "run" or self.speaker.session_epoch < 2:
            return (effect,)
        context: Any = effect["context"]
        wrong = self._swapped.get(effect["groupId"], context["missionContext"])
        return ({**effect, "context": {**context, "missionContext": wrong}},)


class SnapshotLeavesItsContext(Interposer):
    """Restores a Group's context into the place from which every run reads it."""

    def _begin(self) -> None:
        self._contexts: dict[object, object] = {}
        self._restored: object = None

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] == "start":
            groups: Any = stimulus["groups"]
            self._contexts = {group["groupId"]: group.get("missionContext") for group in groups}
        if stimulus["type"] == "snapshot":
            self._restored = find(stimulus, "snapshot", "groupId")
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] != "run" or self._restored is None:
            return (effect,)
        context: Any = effect["context"]
        restored = self._contexts[self._restored]
        return ({**effect, "context": {**context, "missionContext": restored}},)


class ResumesTheLatestCheckpoint(Interposer):
    """Resumes everything from the Checkpoint that was made last."""

    def _begin(self) -> None:
        self._latest: JsonObject | None = None

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        checkpoint: Any = find(effect, "frame", "command", "payload", "checkpoint")
        if checkpoint is not None:
            names = ("checkpointId", "checkpointHash")
            self._latest = {name: checkpoint[name] for name in names}
        if "resumeFrom" not in effect or self._latest is None:
            return (effect,)
        return ({**effect, "resumeFrom": self._latest},)


@altered
def any_checkpoint_will_do(parts: Parts) -> None:
    """Goes on from the Checkpoint that came with the work, whichever work it is of."""
    read = parts.get("contracts.read_checkpoint")

    def whosever(document: Any, _work_item_id: str) -> Any:
        return read(document, find(document, "workItemId"))

    parts.replace("contracts.read_checkpoint", whosever)


@altered
def one_checkpoint_in_a_group(parts: Parts) -> None:
    """Keeps one Checkpoint for each Group, that of the WorkItem which it last heard of."""
    absorb = parts.get("facts.absorb")

    def and_forget(turn: Any, group: Any, document: Any, payload: Any, event: Any) -> None:
        absorb(turn, group, document, payload, event)
        for item in tuple(turn.projection.items):
            beside = item.work_item_id != document["workItemId"]
            if beside and item.group_id == group.group_id and item.checkpoint is not None:
                turn.change(item, checkpoint=None)

    parts.replace("facts.absorb", and_forget)


class OneScopeForAllGroups(Interposer):
    """Makes side-effect keys from the Agent alone."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] != "run":
            return (effect,)
        context: Any = effect["context"]
        scope = self.speaker.agent_id
        return ({**effect, "context": {**context, "sideEffectScope": scope}},)


class GrantsAReserve(Interposer):
    """Gives a run a tenth more of everything than its contract allows."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] != "run":
            return (effect,)
        context: Any = effect["context"]
        numbers = (int, float)
        budget = {
            name: limit * 1.1 if isinstance(limit, numbers) else limit
            for name, limit in context["budget"].items()
        }
        return ({**effect, "context": {**context, "budget": budget}},)


class NamesCheckpointsAnew(Interposer):
    """Resumes from an identifier of its own cache instead of the Checkpoint's."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        resume: Any = effect.get("resumeFrom")
        if resume is None:
            return (effect,)
        cached = {**resume, "checkpointId": self.speaker.identifier("checkpoint")}
        return ({**effect, "resumeFrom": cached},)


# --- estimates, and too much silence ------------------------------------------------------


class KeepsEstimatesToItself(Interposer):
    """Calculates estimates and publishes none."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return () if effect["type"] == "disclose" else (effect,)


class EndsBeforeItStarts(Interposer):
    """Swaps start and completion in an estimate."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] != "disclose":
            return (effect,)
        estimate: Any = effect["estimate"]
        start, end = estimate["estimatedStart"], estimate["estimatedCompletion"]
        swapped = {**estimate, "estimatedStart": end, "estimatedCompletion": start}
        return ({**effect, "estimate": swapped},)


class OneInstantOnly(Interposer):
    """Publishes an estimate without the end of its window."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return ({name: v for name, v in effect.items() if name != "estimatedStartLatest"},)


class EstimatesOnce(Interposer):
    """Publishes one estimate of a WorkItem, and none when it has become false."""

    def _begin(self) -> None:
        self._known: set[object] = set()

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] != "disclose":
            return (effect,)
        is_known = effect["workItemId"] in self._known
        self._known.add(effect["workItemId"])
        return () if is_known else (effect,)


class ScrubsTooMuch(_KnowsWhoRuns):
    """A filter against leaks that drops every result as long as there is another Group."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        group_id = find(effect, "frame", "command", "groupId")
        if says(effect, "work.submit") and self._neighbour_of(group_id) is not None:
            return ()
        return super()._done(effect)


@altered
def guards_what_it_holds(parts: Parts) -> None:
    """Keeps the home of the WorkItems that it has, and believes any Group about all others."""
    before = parts.get("facts.forget")

    def forget(turn: Any, group_id: str, work_item_id: str, state: str) -> None:
        before(turn, group_id, work_item_id, state)
        for known in turn.projection.groups.names():
            turn.projection.new_standings[known, work_item_id] = state

    parts.replace("facts.forget", forget)


@altered
def approvals_of_any_group(parts: Parts) -> None:
    """Looks in an Approval for the WorkItem that it names, and not in whose log it stands."""
    facts, before = parts.module("facts"), parts.get("facts._approval_fact")

    def of_any(turn: Any, group: Any, event: Any) -> None:
        item = turn.item(event["payload"].get("workItemId"))
        before(turn, turn.group(item.group_id) if item else group, event)

    facts.FACTS = {**facts.FACTS, "approval.execution.granted": of_any}


@altered
def approvals_of_its_first_group(parts: Parts) -> None:
    """Hears of approvals in one Group alone, the first that it is in."""
    facts, before = parts.module("facts"), parts.get("facts._approval_fact")

    def of_first(turn: Any, group: Any, event: Any) -> None:
        if group.group_id == next(iter(turn.projection.groups.names())):
            before(turn, group, event)

    facts.FACTS = {**facts.FACTS, "approval.execution.granted": of_first}


MUTANTS = (
    mutant(
        approvals_of_any_group,
        "WRK-008.a",
        "ISOL-0034 MON-0014",
        "A signature that is good, and a reader who asks nothing else.",
    ),
    mutant(
        approvals_of_its_first_group,
        "WRK-010.b",
        "ISOL-0035",
        "A subscription that was made for the only tenant there was.",
    ),
    mutant(
        guards_what_it_holds,
        "WRK-008.a",
        "ISOL-0032",
        "A check of ownership, where the rows that are not owned have no owner to check.",
    ),
    mutant(
        NeighbourInTheEstimate,
        "WRK-012.d",
        "DISC-0001 MON-0015",
        "Estimates that explain themselves, as users asked for.",
    ),
    mutant(
        NeighbourInTheEstimateEncoded,
        "WRK-012.d",
        "DISC-0001 MON-0015",
        "An opaque continuation token that is not opaque.",
    ),
    mutant(
        NeighbourInTheAcceptance,
        "WRK-012.d",
        "DISC-0001 MON-0015 DISC-0011",
        "A debug note in an open payload.",
    ),
    mutant(
        PreemptorNamed,
        "WRK-012.e",
        "DISC-0003 MON-0015",
        "The reason text of a preemption, written for administrators.",
    ),
    mutant(
        NonceNamesAGroup,
        "IDN-006.a",
        "MON-0030 DISC-0012",
        "Correlation for support, in the only free text of a control frame.",
        seen_in="REPLAY-0017",
    ),
    mutant(
        PresenceIsAlwaysFree,
        "IDN-005.a",
        "MON-0037 DISC-0013",
        "A heartbeat that is built once and sent for ever.",
        seen_in="REPLAY-0017",
    ),
    mutant(
        CredentialsInTheResult,
        "AUT-002.a",
        "MON-0017",
        "Provenance that records all environment variables.",
        seen_in="LEASE-0006",
    ),
    mutant(
        SlotKeepsItsCredentials,
        "WRK-011.c",
        "ISOL-0003 MON-0016 ISOL-0010 ISOL-0011 ISOL-0014 ISOL-0015 ISOL-0019 ISOL-0020",
        "A credential helper with a cache per machine.",
    ),
    mutant(
        ContextSharedBySlots,
        "WRK-011.b",
        "ISOL-0004 MON-0016",
        "A module-level variable in code that became concurrent.",
    ),
    mutant(
        any_checkpoint_will_do,
        "WRK-011.d",
        "ISOL-0030",
        "A field that is read where it lies, and not whose it is.",
    ),
    mutant(
        one_checkpoint_in_a_group,
        "WRK-011.d",
        "ISOL-0031",
        "The state of a task kept in the state of its queue.",
    ),
    mutant(
        OneScopeForAllGroups,
        "WRK-011.f",
        "MON-0034",
        "Idempotency keys that are unique for one tenant only.",
        seen_in="ISOL-0004",
    ),
    mutant(
        GrantsAReserve,
        "WRK-011.e",
        "MON-0033 ISOL-0017",
        "A safety margin added at each layer.",
        seen_in="LEASE-0002",
    ),
    mutant(
        NamesCheckpointsAnew,
        "WRK-011.d",
        "MON-0032",
        "Artifacts are renamed when they are copied into a cache.",
        seen_in="PREEMPT-0003",
    ),
    mutant(
        OneInstantOnly,
        "WRK-012.a",
        "MON-0035",
        "The schema has a start and no window; the prose was not read.",
        seen_in="DISC-0002",
    ),
    mutant(
        EstimatesOnce,
        "WRK-012.b",
        "MON-0036 DISC-0014 DISC-0015",
        "An estimate is made when work is accepted, and belongs to nobody afterwards.",
        seen_in="PREEMPT-0003",
    ),
    mutant(
        KeepsEstimatesToItself,
        "WRK-012.a",
        "DISC-0002",
        "A feature behind a flag that nobody turned on.",
    ),
    mutant(
        EndsBeforeItStarts,
        "WRK-012.c",
        "MON-0018",
        "Two timestamps of the same type, passed by position.",
        seen_in="DISC-0002",
    ),
    mutant(
        ScrubsTooMuch,
        "WRK-012.f",
        "DISC-0004",
        "A privacy filter that fails closed, and nobody measures how often.",
    ),
    mutant(
        DeclinesTheWrongOffer,
        "WRK-012.d",
        "DISC-0010",
        "A variable that outlives the loop that set it.",
    ),
    mutant(
        TokenInTheResult,
        "AUT-002.a",
        "MON-0017 ISOL-0023",
        "Evidence that proves too much.",
    ),
    mutant(
        ContextsRebuiltInReverse,
        "WRK-011.b",
        "ISOL-0012 ISOL-0013 ISOL-0021",
        "Two lists that are kept parallel by hand.",
    ),
    mutant(
        SnapshotLeavesItsContext,
        "WRK-011.b",
        "ISOL-0018",
        "A restore that writes where the running system reads.",
    ),
    mutant(
        ResumesTheLatestCheckpoint,
        "WRK-011.d",
        "MON-0032 ISOL-0016",
        "A file called `latest`.",
    ),
)
