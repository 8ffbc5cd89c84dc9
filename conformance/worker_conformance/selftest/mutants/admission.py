"""Faults of admission: what is accepted that must not be, and what is refused without need."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from attrs import evolve

from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.interposer import Interposer, effects_of, payload_of, says
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.speaker import events_in

DAY = 86_400 * 1_000_000  # microseconds
TEN_MINUTES = 600 * 1_000_000
NEVER = 1 << 60


def _blind_to(parts: Parts, obstacle: str) -> None:
    parts.module("admission").OBSTACLES.pop(obstacle)


def _also_refuses(parts: Parts, obstacle: str, when: Callable[..., bool]) -> None:
    obstacles = parts.module("admission").OBSTACLES
    known = obstacles[obstacle]
    obstacles[obstacle] = lambda turn, item: known(turn, item) or when(turn, item)


# --- accepts too much ---------------------------------------------------------------------


@altered
def accepts_without_the_capability(parts: Parts) -> None:
    """Accepts work that it cannot do."""
    _blind_to(parts, "capability")


@altered
def accepts_past_the_deadline(parts: Parts) -> None:
    """Accepts work whose deadline is over."""
    _blind_to(parts, "deadline")


@altered
def accepts_without_the_scope(parts: Parts) -> None:
    """Accepts work in a Group whose Membership does not allow it."""
    _blind_to(parts, "authorization")


@altered
def accepts_what_it_cannot_afford(parts: Parts) -> None:
    """Accepts work with external effects where none is allowed."""
    _blind_to(parts, "budget")


@altered
def accepts_what_can_never_start(parts: Parts) -> None:
    """Accepts work that depends on failed work."""
    _blind_to(parts, "dependency")


@altered
def accepts_into_a_full_queue(parts: Parts) -> None:
    """Accepts whatever the queue's limit says."""
    _blind_to(parts, "capacity")


@altered
def accepts_expired_offers(parts: Parts) -> None:
    """Reads no expiry from an offer."""
    read_offer, offer_type = parts.get("contracts.read_offer"), parts.get("records.Offer")

    def without_expiry(document: Any, agent_id: str) -> Any:
        offer = read_offer(document, agent_id)
        return offer and offer_type(offer.offer_id, offer.card_version, NEVER)

    parts.replace("contracts.read_offer", without_expiry)


class RemembersEveryOffer(Interposer):
    """Notes offers in a list of its own and answers all of them with the next tick."""

    def _begin(self) -> None:
        self._list: list[tuple[str, JsonObject]] = []

    def _afterwards(self) -> Iterable[JsonObject]:
        for event in events_in(self.stimulus):
            offers: Any = find(event, "payload", "workItem", "offers") or ()
            if event["kind"] == "work.offer.created":
                item = text_at(event, "payload", "workItem", "workItemId")
                payload: JsonObject = {"workItemId": item, "offerId": offers[-1]["offerId"]}
                self._list.append((text_at(event, "groupId"), payload))
        noted, self._list = (
            (self._list, []) if self.stimulus["type"] == "tick" else ([], self._list)
        )
        for group_id, payload in noted:
            yield self.speaker.command("work.accept_offer", group_id, payload)


@altered
def provisional_for_ever(parts: Parts) -> None:
    """Uses a provisional Membership after it has expired."""
    is_member = parts.get("leases.is_member")

    def with_no_end(turn: Any, group_id: str) -> bool:
        group = turn.group(group_id)
        is_provisional = group is not None and group.membership_state == "provisional"
        return is_provisional or bool(is_member(turn, group_id))

    obstacles = parts.module("admission").OBSTACLES
    not_authorized = obstacles["authorization"]
    obstacles["authorization"] = lambda turn, item: (
        turn.group(item.group_id).membership_state != "provisional" and not_authorized(turn, item)
    )
    parts.replace("leases.is_member", with_no_end)


class AcceptsIncompleteContracts(Interposer):
    """Accepts work whose contract says nothing about when it is done."""

    def _afterwards(self) -> Iterable[JsonObject]:
        for event in events_in(self.stimulus):
            item: Any = find(event, "payload", "workItem") or {}
            lacks = not find(item, "contract", "acceptanceCriteria")
            if event["kind"] == "work.offer.created" and lacks:
                offer_id = item["offers"][-1]["offerId"]
                payload: JsonObject = {"workItemId": item["workItemId"], "offerId": offer_id}
                yield self.speaker.command("work.accept_offer", text_at(event, "groupId"), payload)


class AvailabilityIgnored(Interposer):
    """Never reads which of its capabilities are available."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        return _with_availability(stimulus, lambda _: "available")


@altered
def any_card_is_mine(parts: Parts) -> None:
    """Takes the version of whatever Agent's card for its own."""
    apply = parts.get("facts.apply_organization_fact")

    def anybodys(turn: Any, event: Any) -> None:
        apply(turn, event)
        card = event["payload"].get("agentCard")
        if card is not None:
            known = turn.projection.session
            version = max(known.card_version, card["cardVersion"])
            turn.projection.session = evolve(known, card_version=version)
            turn.touch_all()

    parts.replace("facts.apply_organization_fact", anybodys)


@altered
def begins_under_an_old_card(parts: Parts) -> None:
    """Asks whether its card has changed where work goes on, and not where it begins."""
    obstacle, changed = parts.get("eligibility.obstacle"), parts.get("eligibility.CARD_CHANGED")

    def unless_begun(turn: Any, item: Any) -> Any:
        found = obstacle(turn, item)
        return None if found == changed and item.checkpoint is None else found

    parts.replace("eligibility.obstacle", unless_begun)


@altered
def card_upgrades_ignored(parts: Parts) -> None:
    """Goes on with work that a new card made incompatible."""
    parts.replace("eligibility._card_is_incompatible", lambda *_: False)


@altered
def acceptance_takes_a_slot(parts: Parts) -> None:
    """Reserves a slot as soon as it has asked for work, before anybody has said yes."""
    free = parts.get("slots.free")

    def less_what_was_asked_for(turn: Any) -> int:
        commands = list(turn.projection.commands)
        asked = sum(command.kind == "work.accept_offer" for command in commands)
        return int(free(turn) - asked)

    parts.replace("slots.free", less_what_was_asked_for)


class StartsFromAnOldQueue(Interposer):
    """Starts what it once accepted, whoever may own it by now."""

    def _begin(self) -> None:
        self._owned: dict[str, str] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if says(effect, "work.start"):
            self._owned.pop(str(payload_of(effect)["workItemId"]), None)
        if effect["type"] != "release":
            return (effect,)
        starts = [
            self.speaker.command("work.start", group_id, {"workItemId": item, "ownershipEpoch": 1})
            for item, group_id in self._owned.items()
        ]
        self._owned.clear()
        return (effect, *starts)

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for event in events_in(stimulus):
            if event["kind"] == "work.offer.accepted":
                item = text_at(event, "payload", "workItem", "workItemId")
                self._owned[item] = text_at(event, "groupId")
        return stimulus


# --- refuses too much ---------------------------------------------------------------------


class FirstCapabilityOnly(Interposer):
    """Reads the first capability of its card and no other."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "start":
            return stimulus
        agent: Any = stimulus["agent"]
        return {**stimulus, "agent": {**agent, "capabilities": agent["capabilities"][:1]}}


@altered
def wants_a_day_for_everything(parts: Parts) -> None:
    """Declines what is due within a day, however little there is to do."""
    _also_refuses(parts, "deadline", lambda turn, item: item.contract.deadline - turn.now < DAY)


class ServesItsFirstGroup(Interposer):
    """Accepts work in the Group that it was configured with first, and in no other."""

    def _begin(self) -> None:
        self._home = ""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] == "start":
            groups: Any = stimulus["groups"]
            self._home = self._chosen([group["groupId"] for group in groups])
        return stimulus

    def _chosen(self, group_ids: list[str]) -> str:
        return group_ids[0]

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        group_id = find(effect, "frame", "command", "groupId")
        return () if says(effect, "work.accept_offer") and group_id != self._home else (effect,)


class ServesItsLastGroup(ServesItsFirstGroup):
    """Accepts work in the Group that it subscribed to last, and in no other."""

    def _chosen(self, group_ids: list[str]) -> str:
        return group_ids[-1]


@altered
def fears_every_effect(parts: Parts) -> None:
    """Declines all work with external effects, whatever is left for them."""
    external = {"external", "high_risk", "destructive"}
    _also_refuses(parts, "budget", lambda _, item: item.contract.risk in external)


@altered
def fears_every_dependency(parts: Parts) -> None:
    """Declines work that depends on anything."""
    _also_refuses(parts, "dependency", lambda _, item: bool(item.contract.dependencies))


@altered
def queue_of_two(parts: Parts) -> None:
    """Holds two accepted items at most, whatever the limit is."""

    def is_full(turn: Any, _: Any) -> bool:
        return len(turn.runtime.waiting) > 1

    _also_refuses(parts, "capacity", is_full)


@altered
def wants_fresh_offers(parts: Parts) -> None:
    """Lets offers lapse that have less than ten minutes to run."""
    review = parts.get("admission.review")

    def unless_late(turn: Any, item: Any) -> None:
        if item.offer is None or item.offer.expires_at - turn.now >= TEN_MINUTES:
            review(turn, item)

    parts.replace("admission.review", unless_late)


class ExtensionIsNoNews(Interposer):
    """Takes the extension of an offer for a repetition, and the repeated offer for answered."""

    def _begin(self) -> None:
        self._times: dict[object, int] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for event in events_in(stimulus):
            offers: Any = find(event, "payload", "workItem", "offers") or ()
            for offer in offers if event["kind"] == "work.offer.created" else ():
                self._times[offer["offerId"]] = self._times.get(offer["offerId"], 0) + 1
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        repeated = self._times.get(payload_of(effect).get("offerId"), 0) > 1
        return () if says(effect, "work.accept_offer") and repeated else (effect,)


class SecondAcceptanceForgotten(Interposer):
    """Queues the first work that it accepts in a session, and forgets the rest."""

    def _begin(self) -> None:
        self._first: object = None
        self._forgotten: set[object] = set()

    def _answer(self, answer: JsonObject) -> JsonObject:
        effects = effects_of(answer)
        for item in (payload_of(e)["workItemId"] for e in effects if says(e, "work.accept_offer")):
            self._first = self._first or item
            self._forgotten.update({item} - {self._first})
        kept = [effect for effect in effects if not self._is_lost(effect)]
        return {**answer, "effects": list(kept)}

    def _is_lost(self, effect: JsonObject) -> bool:
        return says(effect, "work.start") and payload_of(effect)["workItemId"] in self._forgotten


class OneAnswerForEachItem(Interposer):
    """Answers the first offer of a WorkItem, and no later one."""

    def _begin(self) -> None:
        self._answered: set[object] = set()

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if not says(effect, "work.accept_offer"):
            return (effect,)
        item = payload_of(effect)["workItemId"]
        is_known = item in self._answered
        self._answered.add(item)
        return () if is_known else (effect,)


@altered
def provisional_is_nothing(parts: Parts) -> None:
    """Accepts nothing under a provisional Membership."""

    def is_provisional(turn: Any, item: Any) -> bool:
        return bool(turn.group(item.group_id).membership_state == "provisional")

    _also_refuses(parts, "authorization", is_provisional)


@altered
def every_new_card_breaks(parts: Parts) -> None:
    """Takes every new version of its card for an incompatible one."""

    def differs(turn: Any, pinned: int) -> bool:
        known = max(turn.runtime.agent.card_version, turn.projection.session.card_version)
        return bool(known != pinned)

    parts.replace("eligibility._card_is_incompatible", differs)


class AnyEntryMeansUnavailable(Interposer):
    """Takes a capability for unavailable as soon as a policy mentions it."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "policy":
            return stimulus
        return _with_availability(stimulus, lambda _: "unavailable")


def _with_availability(stimulus: JsonObject, change: Callable[[str], str]) -> JsonObject:
    organization: Any = stimulus.get("organization")
    policy: Any = stimulus.get("policy") or find(organization, "policy")
    if not isinstance(policy, dict):
        return stimulus
    known = policy.get("capabilityAvailability", {})
    changed = {**policy, "capabilityAvailability": {name: change(name) for name in known}}
    if stimulus["type"] == "policy":
        return {**stimulus, "policy": changed}
    return {**stimulus, "organization": {**organization, "policy": changed}}


class DeclinesWithoutAReason(Interposer):
    """Gives `other` as the reason of every decline."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return ({**effect, "reason": "other"} if effect["type"] == "decline" else effect,)


MUTANTS = (
    mutant(
        accepts_without_the_capability,
        "WRK-005.a",
        "ADMIT-0001",
        "The match was made by the Coordinator, so nobody looks again.",
    ),
    mutant(
        FirstCapabilityOnly,
        "WRK-005.a",
        "ADMIT-0002",
        "A list that used to be a single value.",
    ),
    mutant(
        accepts_past_the_deadline,
        "WRK-005.a",
        "ADMIT-0003",
        "Deadlines are for the scheduler, and admission is not the scheduler.",
    ),
    mutant(
        wants_a_day_for_everything,
        "WRK-005.a",
        "ADMIT-0004",
        "A safety margin in other units than the deadline.",
    ),
    mutant(
        accepts_without_the_scope,
        "WRK-005.a",
        "ADMIT-0005",
        "Membership taken for permission.",
    ),
    mutant(
        ServesItsFirstGroup,
        "WRK-005.a",
        "ADMIT-0006 ADMIT-0022",
        "A default Group from the days when there was only one.",
    ),
    mutant(
        accepts_what_it_cannot_afford,
        "WRK-005.d",
        "ADMIT-0007",
        "Budgets that are checked when they are spent.",
    ),
    mutant(
        fears_every_effect,
        "WRK-005.d",
        "ADMIT-0008",
        "A precaution from the trial phase that nobody took out.",
    ),
    mutant(
        accepts_what_can_never_start,
        "WRK-005.a",
        "ADMIT-0009 ISOL-0033",
        "Dependencies are looked at when work is started.",
    ),
    mutant(
        fears_every_dependency,
        "WRK-005.a",
        "ADMIT-0010",
        "A case that was to be implemented later.",
    ),
    mutant(
        accepts_into_a_full_queue,
        "WRK-005.a",
        "ADMIT-0011",
        "A limit that is reported and not enforced.",
    ),
    mutant(
        queue_of_two,
        "WRK-005.a",
        "ADMIT-0012",
        "A constant of a test configuration.",
    ),
    mutant(
        accepts_expired_offers,
        "WRK-004.a",
        "ADMIT-0013",
        "Offers wait in a queue that knows no expiry.",
    ),
    mutant(
        wants_fresh_offers,
        "WRK-004.a",
        "ADMIT-0014",
        "A guard against clock skew, generously chosen.",
    ),
    mutant(
        RemembersEveryOffer,
        "WRK-004.a",
        "ADMIT-0015",
        "Offers copied into a table of one's own, and withdrawals not.",
    ),
    mutant(
        ExtensionIsNoNews,
        "WRK-004.a",
        "ADMIT-0016",
        "Deduplication by the offer's ID alone.",
    ),
    mutant(
        acceptance_takes_a_slot,
        "WRK-004.b",
        "ADMIT-0017",
        "Optimistic reservation, without a way back when no answer comes.",
    ),
    mutant(
        SecondAcceptanceForgotten,
        "WRK-004.b",
        "ADMIT-0018",
        "A map keyed by Agent where the WorkItem was meant.",
    ),
    mutant(
        StartsFromAnOldQueue,
        "WRK-002.a",
        "ADMIT-0019 MON-0013",
        "A local queue that is only ever added to.",
    ),
    mutant(
        OneAnswerForEachItem,
        "WRK-002.a",
        "ADMIT-0020",
        "Answers remembered by WorkItem where offers are answered.",
    ),
    mutant(
        provisional_for_ever,
        "MSN-011.a",
        "ADMIT-0021",
        "A state with an end that no Event announces.",
    ),
    mutant(
        provisional_is_nothing,
        "MSN-011.a",
        "ADMIT-0022",
        "An enumeration compared with one of its values.",
    ),
    mutant(
        AcceptsIncompleteContracts,
        "WRK-001.a",
        "ADMIT-0023",
        "Lenient parsing: what is missing gets a default.",
    ),
    mutant(
        ServesItsLastGroup,
        "WRK-001.a",
        "ADMIT-0024",
        "A variable that each subscription overwrites.",
    ),
    mutant(
        any_card_is_mine,
        "IDN-003.b",
        "ADMIT-0031",
        "A registry feed without a filter.",
    ),
    mutant(
        begins_under_an_old_card,
        "IDN-003.b",
        "ADMIT-0032",
        "A check that was written for the case that came up.",
    ),
    mutant(
        card_upgrades_ignored,
        "IDN-003.b",
        "ADMIT-0025",
        "Versions that are stored with the acceptance and never compared.",
    ),
    mutant(
        every_new_card_breaks,
        "IDN-003.b",
        "ADMIT-0026 ADMIT-0061 ADMIT-0063",
        "Equality where compatibility was asked for.",
    ),
    mutant(
        AvailabilityIgnored,
        "WRK-005.a",
        "ADMIT-0027",
        "A policy member that came later than the code.",
    ),
    mutant(
        AnyEntryMeansUnavailable,
        "WRK-005.a",
        "ADMIT-0028",
        "A set of names that became a map of states.",
    ),
    mutant(
        DeclinesWithoutAReason,
        "WRK-005.b",
        "ADMIT-0029 ADMIT-0030",
        "One constant for all declines.",
    ),
)
