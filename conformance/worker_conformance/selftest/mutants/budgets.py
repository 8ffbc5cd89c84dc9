"""Faults of budgets: two reasons to pause at once, several runs, and what the Authority answers."""

from __future__ import annotations

from typing import Any

from worker_conformance.selftest.copies import Parts, altered
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
)
