"""Cooperative preemption: when a running WorkItem is asked for a safe point.

Responsible for the decision (MWP-WRK-015, step 1) and for taking it back. Never interrupts
anything. Each preemption has a cause, a *challenger*: an item that arrived or was raised by policy
after the victim's run began, of a higher class, and next in the Scheduler's order. So two items
cannot preempt each other without a new cause, and fair turns of a lower class are left alone.
"""

from __future__ import annotations

from reference_worker import eligibility, offline, slots
from reference_worker.instants import MICROS
from reference_worker.records import WorkItem
from reference_worker.runtime import Phase, Run
from reference_worker.turn import Turn

SEGMENT = 1 * MICROS  # what a run gets before it can be asked for a safe point: some progress
PREEMPTIONS_MAX = 3  # for one item in one ownership; declared as `maxPreemptionsPerItem`


def challenge(turn: Turn, work_item_id: str) -> None:
    """Note a cause for preemption."""
    turn.runtime.challengers[work_item_id] = turn.runtime.occasion()


def consider(turn: Turn) -> None:
    """Withdraw what has lost its reason, and ask for at most one more safe point."""
    for run in list(turn.runtime.runs.values()):
        if run.phase is Phase.PREEMPTING and run.challenger and not _is_wanted(turn, run):
            slots.move(turn, run, "withdraw")
            run.challenger = ""
            slots.tell(turn, run, "continue")
            turn.touch(run.work_item_id)  # it may have to pause for a reason of its own
    if slots.free(turn) > 0:
        turn.runtime.challengers.clear()
        return
    chosen = slots.next_choice(turn)
    if chosen is not None and chosen[0] in turn.runtime.challengers:
        _preempt_for(turn, *chosen)


def hold_unfit(turn: Turn, run: Run, item: WorkItem) -> None:
    """Checkpoint work whose terms or Agent Card changed: it needs a renewed acceptance."""
    if run.phase is Phase.RUNNING and eligibility.unfit(turn, item) in eligibility.NEEDS_ACCEPTANCE:
        slots.move(turn, run, "preempt")  # MWP-WRK-002, MWP-IDN-003
        slots.tell(turn, run, "preempt")


def call_before_the_grace_ends(turn: Turn, run: Run) -> None:
    """While the service is away, ask for a safe point in time to keep what was done."""
    when = offline.last_call(turn, run.group_id)
    if when is None or run.phase is not Phase.RUNNING:
        return
    if turn.now < when:
        turn.runtime.timers.set(when, run.work_item_id)
        return
    slots.move(turn, run, "preempt")
    slots.tell(turn, run, "preempt")


def _is_wanted(turn: Turn, run: Run) -> bool:
    """The freed slot would still go to work of a higher class."""
    chosen = slots.next_choice(turn)
    wanted = chosen is not None and _rank(turn, chosen[1]) > _rank_of(turn, run)
    return wanted and slots.free(turn) <= 0


def _preempt_for(turn: Turn, challenger: str, class_name: str) -> None:
    if any(run.challenger == challenger for run in turn.runtime.runs.values()):
        return
    since, rank = turn.runtime.challengers[challenger], _rank(turn, class_name)
    victims = [
        run
        for run in turn.runtime.runs.values()
        if run.occasion < since and _rank_of(turn, run) < rank and _may_be_paused(turn, run)
    ]
    for run in victims:
        if turn.now < run.began_at + SEGMENT:
            turn.runtime.timers.set(run.began_at + SEGMENT, run.work_item_id)
    victims = [run for run in victims if turn.now >= run.began_at + SEGMENT]
    if not victims:
        return
    victim = min(victims, key=lambda run: (_rank_of(turn, run), run.slot_id))
    turn.runtime.challengers.pop(challenger, None)
    victim.challenger = challenger
    slots.move(turn, victim, "preempt")
    slots.tell(turn, victim, "preempt")


def _may_be_paused(turn: Turn, run: Run) -> bool:
    item = turn.item(run.work_item_id)
    return run.phase is Phase.RUNNING and item is not None and item.pauses < PREEMPTIONS_MAX


def _rank_of(turn: Turn, run: Run) -> int:
    return _rank(turn, turn.runtime.policy.class_of(run.group_id, run.work_item_id))


def _rank(turn: Turn, class_name: str) -> int:
    return turn.runtime.policy.rank(class_name)
