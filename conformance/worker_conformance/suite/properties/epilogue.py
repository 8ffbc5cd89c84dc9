"""The epilogue: whatever happened, links heal, a session is open, and time passes until all rests.

Only then can a world be compared with another, or asked whether everything was served: order and
speed are the Worker's own. Plays; never judges.
"""

from __future__ import annotations

from attrs import frozen

from worker_conformance.judge.trace import EntryKind
from worker_conformance.scenario.generation.stage import Stage
from worker_conformance.scenario.model import Act, ActKind, Advance, Delivery, Link, Publish, Start
from worker_conformance.suite.properties.stagehand import Stagehand

ROUND_SECONDS = 3_600
"""Longer than all work of a world takes one after the other, and than any declared resend time."""

ROUNDS_MAX = 6
"""Enough for a Worker that waits as long as it may before it sends again what met silence."""


@frozen
class Rest:
    """What the Worker still owes when an epilogue has ended; empty where all is served.

    `unanswered`: offers to it that are still open; `waiting`: its own eligible work that never
    started; `unfinished`: its own work that is under way although its time is over.
    """

    unanswered: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()


def play_epilogue(hand: Stagehand, unblocked: frozenset[str] = frozenset()) -> Rest:
    """Heal everything and let time pass.

    Results are accepted, and `unblocked` work is unblocked once it is blocked: in a course in which
    the act came too early, it comes now.
    """
    _heal(hand)
    for _ in range(ROUNDS_MAX):
        before = len(hand.world.trace)
        hand.take(Advance(ROUND_SECONDS))
        stage = hand.stage()
        acts = _acts(stage, unblocked)
        if acts:
            known = {name: list(told) for name, told in hand.circumstances.items()}
            hand.take(Publish(acts))
            hand.circumstances = known  # what the epilogue does is no circumstance of the world
        elif not (_is_busy(hand) and _is_moving(hand, before)):
            break
    return _rest(hand)


def _heal(hand: Stagehand) -> None:
    stage = hand.stage()
    cut = tuple(name for name, group in stage.groups.items() if group.cut)
    if not stage.automatic:
        hand.take(Delivery("auto"))
    if not stage.alive:
        hand.take(Start())
    elif not stage.connected:
        hand.take(Link("up"))
    if cut:
        hand.take(Link("up", cut))


def _acts(stage: Stage, unblocked: frozenset[str]) -> dict[str, tuple[Act, ...]]:
    acts: dict[str, tuple[Act, ...]] = {}
    for work in stage.work.values():
        if work.state == "submitted":
            told = Act(ActKind.ACCEPT_RESULT, work.name)
        elif work.state == "blocked" and work.name in unblocked and not work.promoted:
            told = Act(ActKind.UNBLOCK, work.name)
        else:
            continue
        acts[work.group] = (*acts.get(work.group, ()), told)
    return acts


def _is_busy(hand: Stagehand) -> bool:
    return any(_rest(hand).waiting) or any(
        work.works and work.plan.completes for work in hand.stage().work.values()
    )


def _is_moving(hand: Stagehand, since: int) -> bool:
    """Whether anything was said in the last round; where nothing was, waiting is in vain."""
    return any(entry.kind is EntryKind.EFFECT for entry in hand.world.trace.since(since))


def _rest(hand: Stagehand) -> Rest:
    stage, world = hand.stage(), hand.world
    lively = {one.name for one in stage.lively_groups()}
    unanswered, waiting, unfinished = [], [], []
    for work in stage.work.values():
        if work.group not in lively:
            continue
        if work.offered:
            unanswered.append(work.name)
        elif work.ours and world.organization.group(work.group).item(work.name, world.now).eligible:
            waiting.append(work.name)
        elif work.ours and work.state == "active" and work.plan.completes:
            unfinished.append(work.name)
    return Rest(tuple(unanswered), tuple(waiting), tuple(unfinished))
