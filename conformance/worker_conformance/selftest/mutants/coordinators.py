"""Faults about who coordinates: replacements that a Worker holds against work, offers or runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from worker_conformance.selftest.copies import Parts, altered, notes
from worker_conformance.selftest.mutants.base import Mutant, mutant

# The copy's own types are known to the copy alone: alterations take its values as they come.


def _at_a_replacement(parts: Parts, then: Callable[[Any, Any, Any], None]) -> None:
    table = parts.get("facts.FACTS")
    parts.replace("facts.FACTS", {**table, "mission.coordinator.assigned": then})


@altered
def serves_one_coordinator(parts: Parts) -> None:
    """Hears offers of the Coordinator only from whom it has had the first."""
    absorb = parts.get("facts.absorb")

    def loyal(turn: Any, group: Any, document: Any, payload: Any, event: Any) -> None:
        known = notes(turn).setdefault((group.group_id, "coordinator"), event["actor"]["id"])
        if event["kind"] == "work.offer.created" and event["actor"]["id"] != known:
            return
        absorb(turn, group, document, payload, event)

    parts.replace("facts.absorb", loyal)


@altered
def forgets_what_the_former_offered(parts: Parts) -> None:
    """Takes open offers for withdrawn when their Coordinator is replaced."""

    def forget_offers(turn: Any, group: Any, event: Any) -> None:
        del event
        for item in turn.projection.items.of_group(group.group_id):
            if item.offer is not None:
                turn.change(item, offer=None)

    _at_a_replacement(parts, forget_offers)


@altered
def stops_with_its_coordinator(parts: Parts) -> None:
    """Ends its runs of a Group when the Coordinator there is replaced."""

    def end_runs(turn: Any, group: Any, event: Any) -> None:
        del event
        for run in [one for one in turn.runtime.runs.values() if one.group_id == group.group_id]:
            parts.get("slots.move")(turn, run, "lease lost")

    _at_a_replacement(parts, end_runs)


@altered
def waits_for_its_coordinator(parts: Parts) -> None:
    """Starts nothing that a former Coordinator has given it."""
    obstacle = parts.get("eligibility.obstacle")

    def given_up(turn: Any, group: Any, event: Any) -> None:
        del event
        for item in turn.projection.items.of_group(group.group_id):
            notes(turn)[item.work_item_id, "former"] = True
            turn.touch(item.work_item_id)

    def orphaned(turn: Any, item: Any) -> Any:
        if (item.work_item_id, "former") in notes(turn) and item.state == "queued":
            return "policy"
        return obstacle(turn, item)

    _at_a_replacement(parts, given_up)
    parts.replace("eligibility.obstacle", orphaned)


MUTANTS: tuple[Mutant, ...] = (
    mutant(
        serves_one_coordinator,
        "MSN-005.a",
        "ADMIT-0064",
        "An allow-list of callers that is filled at first contact.",
    ),
    mutant(
        forgets_what_the_former_offered,
        "MSN-005.a",
        "ADMIT-0065",
        "A leader's change that resets what the old leader has left under way.",
    ),
    mutant(
        stops_with_its_coordinator,
        "MSN-005.a",
        "LEASE-0092",
        "Jobs that die with the scheduler's connection.",
    ),
    mutant(
        waits_for_its_coordinator,
        "MSN-005.a",
        "LEASE-0093",
        "A queue whose entries wait for the go of whoever has made them.",
    ),
)
