"""Faults of what was decided once: retries and starts that time has overtaken."""

from __future__ import annotations

from typing import Any

from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.mutants.base import Mutant, mutant

# The copy's own types are known to the copy alone: alterations take its values as they come.


def retry_at_any_time(parts: Parts) -> None:
    """Let a retry begin without another look at the time."""
    parts.replace("execution.give_up_late_retry", lambda _turn, _item: None)


@altered
def retries_behind_the_deadline(parts: Parts) -> None:
    """Asks for the time when an attempt fails, and not when the next one begins."""
    retry_at_any_time(parts)


@altered
def an_outage_is_no_excuse(parts: Parts) -> None:
    """Tries nothing again that has failed out of reach."""
    delay, cut = parts.get("retries.delay_before_retry"), parts.get("runtime.Link.CUT")

    def in_reach_alone(turn: Any, item: Any, code: str) -> int | None:
        is_cut = turn.runtime.links.get(item.group_id) is cut
        return None if is_cut else delay(turn, item, code)

    parts.replace("retries.delay_before_retry", in_reach_alone)


@altered
def leaving_keeps_the_start(parts: Parts) -> None:
    """Leaves a Group and goes on keeping the slot of a start that had no answer there."""
    give_up = parts.get("sessions._give_up_starts")

    def of_cut_groups(turn: Any) -> None:
        asked, links = turn.runtime.reservations, turn.runtime.links
        left = {work: flow for work, flow in asked.items() if flow[0] not in links}
        for work in left:
            asked.pop(work)
        give_up(turn)
        asked.update(left)

    parts.replace("sessions._give_up_starts", of_cut_groups)


@altered
def leaving_takes_a_place_along(parts: Parts) -> None:
    """Counts a slot for a Group that it has left."""
    give_up = parts.get("sessions._give_up_starts")

    def taking_one(turn: Any) -> None:
        give_up(turn)
        for group_id in turn.projection.groups:
            if group_id not in turn.runtime.links:
                turn.runtime.reservations[group_id] = (group_id, "standard")

    parts.replace("sessions._give_up_starts", taking_one)


def claim_on_credit(parts: Parts) -> None:
    """Let leased work claim a slot whatever is left to spend."""
    claim, unaffordable = parts.get("slots.claim"), parts.get("eligibility.is_unaffordable")

    def on_credit(turn: Any, item: Any) -> None:
        parts.replace("eligibility.is_unaffordable", lambda _turn, _item: False)
        claim(turn, item)
        parts.replace("eligibility.is_unaffordable", unaffordable)

    parts.replace("slots.claim", on_credit)


@altered
def retries_on_the_missions_credit(parts: Parts) -> None:
    """Looks at the Mission's budget before it asks for a lease, and at none of its retries."""
    claim_on_credit(parts)


@altered
def little_is_nothing(parts: Parts) -> None:
    """Tries nothing again once anything was said of what is left of the Mission's budget."""
    unaffordable = parts.get("eligibility.is_unaffordable")

    def frugal(turn: Any, item: Any) -> bool:
        told = turn.runtime.policy.remaining.get(item.group_id)
        return bool(item.failed_under and told) or bool(unaffordable(turn, item))

    parts.replace("eligibility.is_unaffordable", frugal)


def start_by_state(parts: Parts) -> None:
    """Let a start be repeated whatever the ownership's times are."""
    stale, queued = parts.get("outbox.is_stale"), parts.get("leases.is_queued")

    def stale_by_state(turn: Any, command: Any, item: Any) -> bool:
        if command.kind == "work.start":
            return not queued(turn, item)
        return bool(stale(turn, command, item))

    parts.replace("outbox.is_stale", stale_by_state)


@altered
def starts_what_it_owned(parts: Parts) -> None:
    """Repeats an unanswered start for as long as it takes the work for queued."""
    start_by_state(parts)


@altered
def asks_to_start_once(parts: Parts) -> None:
    """Takes a start that had no answer for refused."""
    stale = parts.get("outbox.is_stale")

    def once(turn: Any, command: Any, item: Any) -> bool:
        if command.kind == "work.start" and command.frame and turn.now >= command.due_at:
            turn.change(item, suspended=True)
            return True
        return bool(stale(turn, command, item))

    parts.replace("outbox.is_stale", once)


MUTANTS: tuple[Mutant, ...] = (
    mutant(
        retries_behind_the_deadline,
        "WRK-018.a",
        "RETRY-0019",
        "A check where the retry is planned, and none where it is carried out.",
    ),
    mutant(
        an_outage_is_no_excuse,
        "WRK-018.a",
        "RETRY-0020",
        "An error handler that has no plan for two troubles at once.",
    ),
    mutant(
        leaving_keeps_the_start,
        "WRK-010.b",
        "SCHED-0106",
        "A request under way that nobody cancels when its channel is closed.",
    ),
    mutant(
        leaving_takes_a_place_along,
        "WRK-010.b",
        "SCHED-0107",
        "A place reserved for a farewell, and never given back.",
    ),
    mutant(
        retries_on_the_missions_credit,
        "AUT-004.a",
        "SCHED-0108",
        "A budget that is asked for at the gate alone.",
    ),
    mutant(
        little_is_nothing,
        "AUT-004.a",
        "SCHED-0109",
        "A warning that is handled like an end.",
    ),
    mutant(
        starts_what_it_owned,
        "WRK-013.e",
        "LEASE-0094",
        "A retransmission timer that knows nothing of what it sends.",
    ),
    mutant(
        asks_to_start_once,
        "WRK-013.e",
        "LEASE-0095",
        "A timeout taken for a refusal.",
    ),
)
