"""Faults of budgets: two reasons to pause at once, several runs, and what the Authority answers."""

from __future__ import annotations

from typing import Any

from worker_conformance.selftest.copies import Parts, altered, notes
from worker_conformance.selftest.mutants.base import mutant


@altered
def one_reason_to_pause(parts: Parts) -> None:
    """Forgets that a budget is used up where a safe point was asked for already."""
    before, running = parts.get("operations.escalate"), parts.get("runtime.Phase.RUNNING")

    def where_nothing_is_asked(turn: Any, run: Any, reason: str) -> None:
        if run.phase is running:
            before(turn, run, reason)

    parts.replace("operations.escalate", where_nothing_is_asked)


@altered
def withdrawn_whatever_else(parts: Parts) -> None:
    """Lets work go on once the other work is gone, whatever else it was to pause for."""
    before = parts.get("operations.escalate")

    def and_still_withdrawn(turn: Any, run: Any, reason: str) -> None:
        challenger = run.challenger
        before(turn, run, reason)
        run.challenger = challenger

    parts.replace("operations.escalate", and_still_withdrawn)


@altered
def nearly_is_used_up(parts: Parts) -> None:
    """Takes a budget for used up when a safe point was asked for and little is left."""
    before = parts.get("operations.count_usage")

    def one_early(turn: Any, run: Any, item: Any, usage: Any) -> None:
        more = {name: used + 1 for name, used in usage.items()}
        before(turn, run, item, more if run.phase.value == "preempting" else usage)

    parts.replace("operations.count_usage", one_early)


@altered
def a_budget_is_no_reason(parts: Parts) -> None:
    """Takes a Checkpoint that is refused for its budget for one that failed somehow."""
    reactions = parts.module("errors").REACTIONS
    before = reactions["BUDGET_EXCEEDED"]

    def somehow(turn: Any, command: Any, error: Any) -> None:
        is_checkpoint = command.kind == "work.checkpoint"
        reaction = reactions["INVALID_COMMAND"] if is_checkpoint else before
        reaction(turn, command, error)

    reactions["BUDGET_EXCEEDED"] = somehow


@altered
def busy_is_used_up(parts: Parts) -> None:
    """Takes a Checkpoint that the Authority holds up for one that it refuses for its budget."""
    before, exhaust = parts.get("errors._repeat"), parts.get("errors._exhaust")

    def used_up(turn: Any, command: Any, error: Any) -> None:
        is_checkpoint = command.kind == "work.checkpoint"
        (exhaust if is_checkpoint else before)(turn, command, error)

    parts.replace("errors._repeat", used_up)


@altered
def reconciled_is_over(parts: Parts) -> None:
    """Lets work rest for good whose buffered Checkpoint was charged."""
    before = parts.get("outbox.answered")

    def at_rest(turn: Any, action_id: str) -> None:
        command = turn.projection.commands.get(action_id)
        before(turn, action_id)
        if command is not None and command.binding is not None:
            notes(turn)[command.work_item_id] = True

    obstacle = parts.get("eligibility.obstacle")

    def charged(turn: Any, item: Any) -> str | None:
        known = notes(turn)
        return "charged" if item.work_item_id in known else obstacle(turn, item)

    parts.replace("outbox.answered", at_rest)
    parts.replace("eligibility.obstacle", charged)


MUTANTS = (
    mutant(
        one_reason_to_pause,
        "AUT-004.a",
        "SCHED-0094 SCHED-0096",
        "A state machine in which a second signal of the same name is ignored.",
    ),
    mutant(
        withdrawn_whatever_else,
        "AUT-004.a",
        "SCHED-0096",
        "One flag for a pause that several parties may ask for.",
    ),
    mutant(
        nearly_is_used_up,
        "WRK-010.b",
        "SCHED-0095 SCHED-0097",
        "A safety margin that nobody asked for.",
    ),
    mutant(
        a_budget_is_no_reason,
        "AUT-004.a",
        "OFFLINE-0015 SCHED-0098",
        "One branch for every error that calls a retry unsafe.",
    ),
    mutant(
        busy_is_used_up,
        "EXT-005.e",
        "SCHED-0099",
        "A status for every kind of too much.",
    ),
    mutant(
        reconciled_is_over,
        "WRK-021.b",
        "OFFLINE-0016",
        "A ledger that knows spent and unspent, and nothing in between.",
    ),
)
