"""Faults of work that waits: gates and limits misread, and queues that lose what is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from attrs import evolve

from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.judge.reading import frames_in
from worker_conformance.selftest.copies import Parts, altered, notes
from worker_conformance.selftest.interposer import Interposer, says
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.mutants.later import start_by_state
from worker_conformance.selftest.speaker import events_in, with_frames

SHORT = 600 * 1_000_000  # microseconds
EARLY = 3_600 * 1_000_000


# --- gates --------------------------------------------------------------------------------


@altered
def submitted_is_enough(parts: Parts) -> None:
    """Takes a dependency for met once its result was submitted."""
    unmet = parts.get("eligibility._unmet")

    def met_early(turn: Any, item: Any) -> str | None:
        standings = {
            turn.projection.standing(item.group_id, one) for one in item.contract.dependencies
        }
        return None if standings <= {"submitted", "verified"} else unmet(turn, item)

    parts.replace("eligibility._unmet", met_early)


@altered
def verification_unread(parts: Parts) -> None:
    """Does not hear that a result was accepted."""
    parts.module("facts").FACTS.pop("work.result.accepted")


@altered
def head_waits_for_its_tool(parts: Parts) -> None:
    """Holds a Group's queue while one of its WorkItems waits for a capability."""
    set_back = parts.get("eligibility._set_back")

    def held(turn: Any, item: Any) -> str | None:
        is_away = any(
            not turn.runtime.policy.is_available(name)
            for other in turn.projection.items
            if other.group_id == item.group_id and other.state == "queued"
            for name, _ in other.contract.capabilities
        )
        return "capability unavailable" if is_away else set_back(turn, item)

    parts.replace("eligibility._set_back", held)


class OnceAwayAlwaysAway(Interposer):
    """Does not hear that a capability has come back."""

    def _begin(self) -> None:
        super()._begin()
        self._away: dict[str, Any] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        policy: Any = stimulus.get("policy")
        if policy is None:
            return stimulus
        told = policy.get("capabilityAvailability", {})
        self._away |= {name: value for name, value in told.items() if value == "unavailable"}
        return {**stimulus, "policy": {**policy, "capabilityAvailability": {**told, **self._away}}}


@altered
def card_looked_at_only_at_work(parts: Parts) -> None:
    """Looks at the compatibility of a new Agent Card for running work and not for queued work."""
    obstacle, changed = parts.get("eligibility.obstacle"), parts.get("eligibility.CARD_CHANGED")

    def lenient(turn: Any, item: Any) -> str | None:
        found: str | None = obstacle(turn, item)
        return None if found == changed else found

    parts.replace("eligibility.obstacle", lenient)


# --- times --------------------------------------------------------------------------------


def _reads_times(parts: Parts, otherwise: Callable[[Any], Any]) -> None:
    """Look at other times of ownership than those that were granted."""
    overdue = parts.get("eligibility._overdue")
    parts.replace("eligibility._overdue", lambda turn, item, o: overdue(turn, item, otherwise(o)))


@altered
def owns_for_ever(parts: Parts) -> None:
    """Starts whatever it once owned."""
    _reads_times(parts, lambda ownership: evolve(ownership, expires_at=1 << 60))
    start_by_state(parts)


@altered
def owns_for_ten_minutes(parts: Parts) -> None:
    """Gives work up ten minutes after it was accepted."""
    _reads_times(parts, lambda own: evolve(own, expires_at=own.accepted_at + SHORT))


@altered
def starts_at_any_time(parts: Parts) -> None:
    """Starts work after its start-by deadline."""
    _reads_times(parts, lambda ownership: evolve(ownership, start_by=1 << 60))


@altered
def gives_up_early(parts: Parts) -> None:
    """Gives work up an hour before its start-by deadline."""
    _reads_times(parts, lambda own: evolve(own, start_by=own.start_by - EARLY))


class OneSpellingOfTime(Interposer):
    """Refuses Events with a time that is not in upper-case UTC."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "frames":
            return stimulus
        kept = [frame for frame in frames_in(stimulus) if "+05:30" not in str(frame)]
        return with_frames(stimulus, kept)


@altered
def every_clock_shows_utc(parts: Parts) -> None:
    """Reads the hour of a time and not how far its clock is ahead."""
    parts.replace("instants._offset_seconds", lambda _zone: 0)


@altered
def offset_in_whole_hours(parts: Parts) -> None:
    """Leaves out the minutes by which a clock is ahead."""
    parts.replace(
        "instants._offset_seconds",
        lambda zone: 0 if zone in "Zz" else int(zone[:3]) * 3600,
    )


@altered
def unreadable_means_never(parts: Parts) -> None:
    """Takes an expiry in another spelling than its own for none."""
    read_offer = parts.get("contracts.read_offer")

    def lenient(document: Any, agent_id: str) -> Any:
        offer = read_offer(document, agent_id)
        told = [one["expiresAt"] for one in document.get("offers", ())]
        is_readable = all(time.endswith("Z") for time in told)
        return offer if is_readable or offer is None else evolve(offer, expires_at=1 << 60)

    parts.replace("contracts.read_offer", lenient)


# --- claims and limits --------------------------------------------------------------------


@altered
def believes_messages(parts: Parts) -> None:
    """Raises what a Message calls urgent to the highest class."""
    claimed: set[str] = set()
    class_of = parts.get("policy.Policy.class_of")

    def posted(turn: Any, _: Any, event: Any) -> None:
        work_item_id = event.get("workItemId", "")
        if turn.item(work_item_id) is not None and "urgent" in str(event["payload"]):
            claimed.add(work_item_id)
            turn.touch(work_item_id)
            parts.get("preemption.challenge")(turn, work_item_id)

    def of_claims(policy: Any, group_id: str, work_item_id: str) -> Any:
        is_claimed = work_item_id in claimed
        return policy.classes[-1] if is_claimed else class_of(policy, group_id, work_item_id)

    parts.module("facts").FACTS["message.posted"] = posted
    parts.replace("policy.Policy.class_of", of_claims)


class NeverGetsToTheCheckpoint(Interposer):
    """Asks running work for a safe point, and does nothing when it is reached."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return () if says(effect, "work.checkpoint") else (effect,)


class MessageStopsWork(Interposer):
    """Stops the work that a Message wants stopped."""

    def _begin(self) -> None:
        super()._begin()
        self._runs: dict[object, JsonObject] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "run":
            self._runs[effect["workItemId"]] = effect
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        for event in events_in(self.stimulus):
            if event["kind"] != "message.posted" or "Stop" not in str(event["payload"]):
                continue
            for run in self._runs.values():
                told = {"slotId": run["slotId"], "workItemId": run["workItemId"]}
                yield {"type": "cancel", **told}
                yield {"type": "release", **told}
            self._runs.clear()


@altered
def trims_its_queue(parts: Parts) -> None:
    """Drops accepted work from its queue when policy lowers the limit."""
    obstacle, dropped = parts.get("eligibility.obstacle"), set[str]()

    def trimmed(turn: Any, item: Any) -> str | None:
        waiting = turn.runtime.waiting.of_group(item.group_id)
        dropped.update(waiting[turn.runtime.policy.queued_max() :])
        is_dropped = item.work_item_id in dropped
        return "over the limit" if is_dropped else obstacle(turn, item)

    parts.replace("eligibility.obstacle", trimmed)


class LowestLimitForEver(Interposer):
    """Keeps to the lowest limit that it ever heard."""

    def _begin(self) -> None:
        super()._begin()
        self._lowest: dict[str, Any] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        policy: Any = stimulus.get("policy")
        if policy is None:
            return stimulus
        for name, limit in policy.get("limits", {}).items():
            self._lowest[name] = min(limit, self._lowest.get(name, limit))
        return {**stimulus, "policy": {**policy, "limits": dict(self._lowest)}}


# --- queues of many Groups, and over crashes ----------------------------------------------


def _lose_queue(projection: Any) -> None:
    for item in [one for one in projection.items if one.state == "queued"]:
        projection.items.drop(item.work_item_id)


@altered
def queue_in_memory_only(parts: Parts) -> None:
    """Keeps in memory what waits, and on disk what runs."""
    handle = parts.get("worker.Worker.handle")

    def forgetful(worker: Any, stimulus: Any) -> Any:
        if stimulus["type"] == "start":
            _lose_queue(worker.projection)
        return handle(worker, stimulus)

    parts.replace("worker.Worker.handle", forgetful)


@altered
def clears_its_queue_on_stop(parts: Parts) -> None:
    """Empties its queue when it is stopped in good order."""
    handle = parts.get("port.WorkerPort.handle")

    def tidy(port: Any, stimulus: Any) -> Any:
        if stimulus["type"] == "stop":
            projection = vars(port)["_worker"].projection
            _lose_queue(projection)
            vars(port)["_journal"].commit(projection)
        return handle(port, stimulus)

    parts.replace("port.WorkerPort.handle", tidy)


@altered
def believes_any_group(parts: Parts) -> None:
    """Takes what an Event says of a WorkItem for a fact, whichever Group the Event is of."""
    is_valid = parts.get("documents.is_valid")
    parts.replace("facts.belongs", lambda _turn, document, _group: is_valid("workItem", document))


@altered
def believes_claims(parts: Parts) -> None:
    """Believes a document that a WorkItem is its Group's, though it is known as another's."""
    is_valid = parts.get("documents.is_valid")

    def claimed(_turn: Any, document: Any, group: Any) -> bool:
        valid = is_valid("workItem", document)
        return bool(valid and document["groupId"] == group.group_id)

    parts.replace("facts.belongs", claimed)


@altered
def claims_move_work(parts: Parts) -> None:
    """Goes on with work that another Group claims, and listens to that Group alone from then on."""
    belongs, is_valid = parts.get("facts.belongs"), parts.get("documents.is_valid")

    def moved(turn: Any, document: Any, group: Any) -> bool:
        if not is_valid("workItem", document):
            return False
        homes, work = notes(turn).setdefault("homes", {}), document["workItemId"]
        own = bool(belongs(turn, document, group))
        if not own and document["groupId"] == group.group_id:
            homes[work] = group.group_id
        return own and homes.get(work, group.group_id) == group.group_id

    parts.replace("facts.belongs", moved)


@altered
def any_group_ends_memberships(parts: Parts) -> None:
    """Takes over a Membership of this Agent, whichever Group's Event tells of it."""
    absorb, table = parts.get("facts.absorb_membership"), parts.get("facts.FACTS")

    def anywhere(turn: Any, _group: Any, event: Any) -> None:
        document = event["payload"]["membership"]
        known = turn.group(document["groupId"])
        if known is not None:
            absorb(turn, known, document)

    table["membership.ended"] = anywhere


@altered
def leaves_every_group(parts: Parts) -> None:
    """Takes the end of one Membership for the end of its part in the Organization."""
    absorb, table = parts.get("facts.absorb_membership"), parts.get("facts.FACTS")

    def everywhere(turn: Any, _group: Any, event: Any) -> None:
        for known in tuple(turn.projection.groups):
            ended = {**event["payload"]["membership"], "membershipEpoch": known.membership_epoch}
            absorb(turn, known, ended)

    table["membership.ended"] = everywhere


class OneInboxForAll(Interposer):
    """Knows Events by their sequence number, in one inbox for all Groups."""

    def _begin(self) -> None:
        super()._begin()
        self._taken: dict[object, object] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "frames":
            return stimulus
        return with_frames(stimulus, [one for one in frames_in(stimulus) if self._is_new(one)])

    def _is_new(self, frame: JsonObject) -> bool:
        sequence, group_id = find(frame, "event", "sequence"), find(frame, "event", "groupId")
        return sequence is None or self._taken.setdefault(sequence, group_id) == group_id


class TimeOnlyMovesOn(Interposer):
    """Drops an Event that is older than the latest of any Group."""

    def _begin(self) -> None:
        super()._begin()
        self._latest = ""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "frames":
            return stimulus
        kept = []
        for frame in frames_in(stimulus):
            told = find(frame, "event", "occurredAt")
            if isinstance(told, str) and told < self._latest:
                continue
            self._latest = max(self._latest, told) if isinstance(told, str) else self._latest
            kept.append(frame)
        return with_frames(stimulus, kept)


class LatestGroupOnly(Interposer):
    """Listens to the Group whose Events come first in a session, and to no other after it."""

    def _begin(self) -> None:
        super()._begin()
        self._first: str | None = None

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for event in events_in(stimulus):
            if event["kind"] == "work.offer.created" and self._first is None:
                self._first = text_at(event, "groupId")
        if stimulus["type"] != "frames" or self._first is None:
            return stimulus
        named = (self._first, None)
        kept = [one for one in frames_in(stimulus) if find(one, "event", "groupId") in named]
        return with_frames(stimulus, kept)


@altered
def binding_without_its_deadline(parts: Parts) -> None:
    """Leaves the grace deadline out of what it buffers: the Authority can work it out."""
    binding = parts.get("offline.binding")

    def incomplete(*args: Any) -> Any:
        found = binding(*args)
        for entry in (found or {}).values():
            entry["data"].pop("graceDeadline")
        return found

    parts.replace("offline.binding", incomplete)


MUTANTS = (
    mutant(
        submitted_is_enough,
        "WRK-007.b",
        "SCHED-0070",
        "Done is what the one who did it calls done.",
    ),
    mutant(
        verification_unread,
        "WRK-007.b",
        "SCHED-0071",
        "The last step of a process that no test runs to its end.",
    ),
    mutant(
        believes_messages,
        "WRK-009.b",
        "SCHED-0072",
        "Priorities that are read out of ticket text.",
    ),
    mutant(
        NeverGetsToTheCheckpoint,
        "WRK-009.b",
        "SCHED-0073",
        "A request to stop whose answer nobody waits for.",
    ),
    mutant(
        head_waits_for_its_tool,
        "WRK-010.h",
        "SCHED-0074",
        "A first-in, first-out queue before a set of different resources.",
    ),
    mutant(
        OnceAwayAlwaysAway,
        "WRK-010.h",
        "SCHED-0075",
        "A circuit breaker that nothing closes.",
    ),
    mutant(
        MessageStopsWork,
        "FND-014.b",
        "SCHED-0076",
        "Chat commands.",
    ),
    mutant(
        trims_its_queue,
        "EXT-007.a",
        "SCHED-0078",
        "A bounded queue that drops what is too much.",
    ),
    mutant(
        LowestLimitForEver,
        "EXT-007.a",
        "SCHED-0079",
        "Configuration that can be tightened at run time and not loosened.",
    ),
    mutant(
        owns_for_ever,
        "WRK-013.e",
        "LEASE-0070",
        "A lease whose end is looked at when it is renewed and not when it is used.",
    ),
    mutant(
        owns_for_ten_minutes,
        "WRK-013.e",
        "LEASE-0071",
        "A time-out of one's own instead of the one that was granted.",
    ),
    mutant(
        starts_at_any_time,
        "WRK-013.f",
        "LEASE-0072",
        "A deadline that is only shown.",
    ),
    mutant(
        gives_up_early,
        "WRK-013.f",
        "LEASE-0073",
        "A safety margin that is larger than what it is cut from.",
    ),
    mutant(
        OneSpellingOfTime,
        "FND-005.a",
        "SIGN-0060",
        "A format string in place of a parser.",
    ),
    mutant(
        every_clock_shows_utc,
        "FND-005.a",
        "SIGN-0061",
        "A parser that reads the offset, and a type that has no place for it.",
    ),
    mutant(
        offset_in_whole_hours,
        "FND-005.a",
        "SIGN-0061",
        "Time zones as a table of 24 entries.",
    ),
    mutant(
        unreadable_means_never,
        "FND-005.a",
        "SIGN-0061",
        "A parser that gives nothing where it fails, and nothing means no limit.",
    ),
    mutant(
        card_looked_at_only_at_work,
        "IDN-003.a",
        "ADMIT-0060",
        "A check in the upgrade routine and none at the start of work.",
    ),
    mutant(
        queue_in_memory_only,
        "WRK-008.b",
        "REPLAY-0060",
        "A priority queue that is a structure of the language's library.",
    ),
    mutant(
        clears_its_queue_on_stop,
        "WRK-008.b",
        "REPLAY-0061",
        "Draining on shutdown, without anywhere to drain to.",
    ),
    mutant(
        believes_any_group,
        "WRK-008.a",
        "ISOL-0024",
        "Objects found by their ID, on topics that every tenant may write to.",
    ),
    mutant(
        believes_claims,
        "WRK-008.a",
        "ISOL-0026",
        "A tenant's ID that is read out of the body of what the tenant has sent.",
    ),
    mutant(
        claims_move_work,
        "WRK-008.a",
        "ISOL-0027",
        "An index by owner that is rewritten by whatever was read last.",
    ),
    mutant(
        any_group_ends_memberships,
        "WRK-008.a",
        "ISOL-0028",
        "A membership table keyed by the member and the group that the record names.",
    ),
    mutant(
        leaves_every_group,
        "WRK-008.a",
        "ISOL-0029",
        "A user who is removed from one channel, and logged out.",
    ),
    mutant(
        OneInboxForAll,
        "WRK-008.a",
        "REPLAY-0012",
        "A message table whose key is the sequence number.",
    ),
    mutant(
        TimeOnlyMovesOn,
        "EVT-006.a",
        "REPLAY-0062",
        "Last writer wins, with one clock for everything.",
    ),
    mutant(
        LatestGroupOnly,
        "EVT-006.a",
        "REPLAY-0063",
        "One subscription at a time.",
    ),
    mutant(
        binding_without_its_deadline,
        "WRK-021.a",
        "OFFLINE-0009",
        "What can be worked out by the receiver is not sent.",
    ),
)
