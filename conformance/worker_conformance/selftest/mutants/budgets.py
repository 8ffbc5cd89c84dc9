"""Faults of budgets: two reasons to pause at once, several runs, and what the Authority answers."""

from __future__ import annotations

from typing import Any

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.selftest.copies import Parts, altered, notes
from worker_conformance.selftest.interposer import Interposer
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.mutants.later import claim_on_credit

OF_A_RUN = frozenset(
    {"work.checkpoint", "ext.missionweaveprotocol.core.work_execution_lease_renew"}
)


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
    before, used_up = parts.get("operations.heed_budget"), parts.get("eligibility.used_up")
    evolve = parts.get("records.evolve")

    def one_early(turn: Any, run: Any, item: Any) -> None:
        nearly = evolve(item, spending=tuple((name, used + 1) for name, used in item.spending))
        if run.phase.value == "preempting" and used_up(nearly):
            parts.get("operations.escalate")(turn, run, "budget: nearly used up")
        before(turn, run, item)

    parts.replace("operations.heed_budget", one_early)


@altered
def a_budget_is_no_reason(parts: Parts) -> None:
    """Takes a Checkpoint or a renewal refused for its budget for one that failed somehow."""
    reactions = parts.module("errors").REACTIONS
    before = reactions["BUDGET_EXCEEDED"]

    def somehow(turn: Any, command: Any, error: Any) -> None:
        is_run = command.kind in OF_A_RUN
        (reactions["INVALID_COMMAND"] if is_run else before)(turn, command, error)

    reactions["BUDGET_EXCEEDED"] = somehow


@altered
def busy_is_used_up(parts: Parts) -> None:
    """Takes a Checkpoint or a renewal that is held up for one that is refused for its budget."""
    before, exhaust = parts.get("errors._repeat"), parts.get("errors._exhaust")

    def used_up(turn: Any, command: Any, error: Any) -> None:
        (exhaust if command.kind in OF_A_RUN else before)(turn, command, error)

    parts.replace("errors._repeat", used_up)


@altered
def reconciled_is_over(parts: Parts) -> None:
    """Lets work rest for good whose buffered Checkpoint was charged."""
    before = parts.get("outbox.answered")

    def at_rest(turn: Any, group_id: str, action_id: str) -> None:
        command = turn.projection.commands.get(action_id)
        before(turn, group_id, action_id)
        if command is not None and command.binding is not None:
            notes(turn)[command.work_item_id] = True

    obstacle = parts.get("eligibility.obstacle")

    def charged(turn: Any, item: Any) -> str | None:
        known = notes(turn)
        return "charged" if item.work_item_id in known else obstacle(turn, item)

    parts.replace("outbox.answered", at_rest)
    parts.replace("eligibility.obstacle", charged)


class SafePointsCostNothing(Interposer):
    """Reads what was used from reports of progress, and not at safe points."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        report: Any = find(stimulus, "report")
        if stimulus["type"] != "execution" or report["kind"] != "safe_point":
            return stimulus
        return {**stimulus, "report": {k: v for k, v in report.items() if k != "usage"}}


@altered
def a_budget_for_each_run(parts: Parts) -> None:
    """Counts what is used anew with each run."""
    used_up, evolve = parts.get("eligibility.used_up"), parts.get("records.evolve")
    parts.replace("eligibility.used_up", lambda item: used_up(evolve(item, spent=())))


@altered
def a_pause_costs_the_budget(parts: Parts) -> None:
    """Takes what earlier runs have used twice."""
    used_up, evolve = parts.get("eligibility.used_up"), parts.get("records.evolve")

    def twice(item: Any) -> Any:
        spent = tuple((name, used * 2) for name, used in item.spent)
        return used_up(evolve(item, spent=spent))

    parts.replace("eligibility.used_up", twice)


@altered
def retries_on_credit(parts: Parts) -> None:
    """Looks at attempts and deadline before a retry, and not at what is left to spend."""
    delay, evolve = parts.get("retries.delay_before_retry"), parts.get("records.evolve")

    def whatever_it_costs(turn: Any, item: Any, code: str) -> Any:
        return delay(turn, evolve(item, spent=(), spending=()), code)

    parts.replace("retries.delay_before_retry", whatever_it_costs)
    claim_on_credit(parts)


@altered
def every_failure_costs_the_budget(parts: Parts) -> None:
    """Does not try again what has used anything at all."""
    delay = parts.get("retries.delay_before_retry")

    def unused_only(turn: Any, item: Any, code: str) -> Any:
        return None if item.spending else delay(turn, item, code)

    parts.replace("retries.delay_before_retry", unused_only)


MUTANTS = (
    mutant(
        one_reason_to_pause,
        "AUT-004.a",
        "SCHED-0096",
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
        "AUT-004.a",
        "SCHED-0095 SCHED-0097",
        "A safety margin that nobody asked for.",
    ),
    mutant(
        a_budget_is_no_reason,
        "AUT-004.a",
        "SCHED-0098 SCHED-0104",
        "One branch for every error that calls a retry unsafe.",
    ),
    mutant(
        busy_is_used_up,
        "AUT-004.a",
        "SCHED-0099 SCHED-0105",
        "A status for every kind of too much.",
    ),
    mutant(
        reconciled_is_over,
        "AUT-004.a",
        "OFFLINE-0016",
        "A ledger that knows spent and unspent, and nothing in between.",
    ),
    mutant(
        SafePointsCostNothing,
        "AUT-004.a",
        "SCHED-0094 OFFLINE-0015",
        "A meter that is read where progress is shown.",
    ),
    mutant(
        a_budget_for_each_run,
        "AUT-004.a",
        "SCHED-0102",
        "A counter that lives as long as the process of one attempt.",
    ),
    mutant(
        a_pause_costs_the_budget,
        "AUT-004.a",
        "SCHED-0103",
        "Totals that are added to totals.",
    ),
    mutant(
        retries_on_credit,
        "AUT-004.a",
        "RETRY-0017",
        "A retry loop that knows attempts and delays only.",
    ),
    mutant(
        every_failure_costs_the_budget,
        "WRK-018.a",
        "RETRY-0018",
        "A guard against paying twice that never lets anything be paid twice.",
    ),
)
