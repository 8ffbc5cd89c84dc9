"""Strategies for step programs: one action after another, from what is possible now.

A move is something that happens in the field: an offer arrives, a link is cut, a process dies. Each
names the WorkItems or Groups it could befall on this stage; the taste weighs the moves that could
befall any. That is how deep states are reached: a move is never wasted on what it cannot change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from worker_conformance.scenario.generation.organizations import (
    CLASSES,
    RETRYABLE_CODE,
    Draw,
    between,
    pick,
)
from worker_conformance.scenario.generation.stage import (
    REOFFERABLE,
    UNFINISHED,
    UNSUBMITTED,
    Stage,
    WorkStage,
)
from worker_conformance.scenario.generation.taste import Taste
from worker_conformance.scenario.model import (
    Act,
    Action,
    ActKind,
    Advance,
    Answer,
    Crash,
    Deliver,
    Delivery,
    Forge,
    Link,
    Ping,
    Publish,
    Report,
    SetPolicy,
    Start,
    Stop,
    Truncate,
    Wipe,
)
from worker_conformance.scenario.settings import SILENCE

ADVANCES = (1, 10, 30, 60, 60, 150, 300)
ANSWERED = ("work.accept_offer", "work.start", "work.checkpoint", "work.submit", "renew")
SILENCED = ("work.accept_offer", "work.start", "work.start", "work.submit", "work.checkpoint")
# Not `artifact.publish`: a submission that follows it at once is then refused for good, and what a
# Worker makes of that is its own decision.
CODES = (
    "REVISION_CONFLICT",
    "RATE_LIMITED",
    "BACKPRESSURE",
    "INTERNAL_ERROR",
    "INVALID_STATE_TRANSITION",
    "WORK_STALE_OWNERSHIP",
)
FORGERIES = ("payload", "signature", "signer", "sequence_twin", "id_twin")
PERMANENT_CODE = "TASK_IMPOSSIBLE"

Names = Sequence[str]
Make = Callable[[Draw, Stage, str], Action]


@frozen
class Move:
    """Whom a move could befall now, and the action that it is."""

    targets: Callable[[Stage], Names]
    make: Make


def possible_moves(stage: Stage, taste: Taste) -> list[tuple[str, int, Names]]:
    """Name, weight and targets of every move of the taste that could happen now."""
    found = [(name, weight, MOVES[name].targets(stage)) for name, weight in taste.moves.items()]
    return [(name, weight, targets) for name, weight, targets in found if targets]


def draw_action(draw: Draw, stage: Stage, taste: Taste) -> Action:
    """One action that can happen now."""
    moves = possible_moves(stage, taste)
    point = between(draw, 0, sum(weight for _, weight, _ in moves) - 1)
    for name, weight, targets in moves:
        if point < weight:
            return MOVES[name].make(draw, stage, pick(draw, targets))
        point -= weight
    raise AssertionError("the weights add up")


# --- whom a move could befall -------------------------------------------------------------


def _work(holds: Callable[[WorkStage], bool]) -> Callable[[Stage], Names]:
    """WorkItems of Groups in which the Organization can still act."""

    def targets(stage: Stage) -> Names:
        lively = {one.name for one in stage.lively_groups()}
        return [w.name for w in stage.work.values() if w.group in lively and holds(w)]

    return targets


def _lively(stage: Stage) -> Names:
    return [one.name for one in stage.lively_groups()]


def _reached(stage: Stage) -> Names:
    return [name for name in stage.groups if stage.reaches(name)]


def _owing(stage: Stage) -> Names:
    return [name for name in _reached(stage) if stage.groups[name].owed]


def _ahead(stage: Stage) -> Names:
    return [name for name in _reached(stage) if len(stage.groups[name].owed) > 1]


def _when(holds: Callable[[Stage], bool]) -> Callable[[Stage], Names]:
    return lambda stage: ("",) if holds(stage) else ()


def _always(stage: Stage) -> Names:
    del stage
    return ("",)


def _waits_for_approval(work: WorkStage) -> bool:
    return work.state == "queued" and work.plan.approval != "not_required" and not work.granted


# --- what the Organization does -----------------------------------------------------------


def _publish(stage: Stage, work: str, *kinds: ActKind, **arguments: object) -> Action:
    group = stage.work[work].group
    return Publish({group: tuple(Act(kind, work, arguments) for kind in kinds)})


def _act(kind: ActKind, *before: ActKind) -> Make:
    return lambda _, stage, work: _publish(stage, work, *before, kind)


def _group_act(kind: ActKind, **arguments: object) -> Make:
    return lambda _, __, group: Publish({group: (Act(kind, args=arguments),)})


def _flood(draw: Draw, stage: Stage, group: str) -> Action:
    """Everything that is still planned arrives in one Group at once."""
    del draw
    planned = [w.name for w in stage.work.values() if w.group == group and w.state == "none"]
    kinds = (ActKind.AUTHORIZE, ActKind.OFFER)
    return Publish({group: tuple(Act(kind, work) for work in planned for kind in kinds)})


def _grant_briefly(draw: Draw, stage: Stage, work: str) -> Action:
    seconds = pick(draw, (10, 60, 240))
    return _publish(stage, work, ActKind.GRANT, expires_seconds=seconds)


def _revise(draw: Draw, stage: Stage, work: str) -> Action:
    changes = pick(draw, ({"goal": "Something else"}, {"urgency": "critical"}))
    return _publish(stage, work, ActKind.REVISE, changes=changes)


def _class(draw: Draw, _: Stage, work: str) -> Action:
    return SetPolicy(work={work: {"priority_class": pick(draw, CLASSES)}})


def _challenge(draw: Draw, stage: Stage, work: str) -> Action:
    """One that waits becomes more important than all that runs."""
    del draw
    running = {w.name: {"priority_class": CLASSES[0]} for w in stage.work.values() if w.works}
    return SetPolicy(work={**running, work: {"priority_class": CLASSES[-1]}})


def _weight(draw: Draw, _: Stage, group: str) -> Action:
    return SetPolicy(groups={group: {"weight": pick(draw, (1, 2, 5))}})


def _quota(draw: Draw, _: Stage, group: str) -> Action:
    return SetPolicy(groups={group: {"slot_quota": pick(draw, (1, 1, 2, None))}})


def _policy_gate(draw: Draw, _: Stage, work: str) -> Action:
    return SetPolicy(work={work: {"approval": pick(draw, ("required", "not_required"))}})


def _limits(draw: Draw, _: Stage, __: str) -> Action:
    return SetPolicy(limits={"max_queued_items": pick(draw, (1, 2, 100))})


def _advance(draw: Draw, _: Stage, __: str) -> Action:
    return Advance(pick(draw, ADVANCES))


# --- what the executor says ---------------------------------------------------------------


def _report(kind: str, **members: object) -> Make:
    return lambda _, __, work: Report(work, kind, members)


def _failed(draw: Draw, _: Stage, work: str) -> Action:
    code = pick(draw, (RETRYABLE_CODE,) * 5 + (PERMANENT_CODE,))
    return Report(work, "failed", {"code": code})


def _late_report(draw: Draw, stage: Stage, work: str) -> Action:
    lease = between(draw, 1, stage.work[work].leases)
    return Report(work, pick(draw, ("completed", "progress")), {}, lease)


# --- what the network and the machine do --------------------------------------------------


def _answer(draw: Draw, _: Stage, __: str) -> Action:
    code = pick(draw, CODES)
    retryable = code in {"RATE_LIMITED", "BACKPRESSURE", "INTERNAL_ERROR"}
    return Answer(pick(draw, ANSWERED), code, retryable)


def _silence(draw: Draw, _: Stage, __: str) -> Action:
    return Answer(pick(draw, SILENCED), SILENCE)


def _unheard(draw: Draw, _: Stage, __: str) -> Action:
    """The next acceptance never arrives, so that its offer stays open."""
    del draw
    return Answer("work.accept_offer", SILENCE)


def _deliver(draw: Draw, stage: Stage, group: str) -> Action:
    """The next Events of a Group, in their order."""
    owed = stage.groups[group].owed
    count = between(draw, 1, min(4, len(owed)))
    return Deliver({group: tuple(owed[:count])}, one_by_one=count > 1 and pick(draw, (False, True)))


def _again(draw: Draw, stage: Stage, group: str) -> Action:
    """Events that were delivered before, in any order."""
    delivered = stage.groups[group].delivered
    chosen = [between(draw, 1, delivered) for _ in range(between(draw, 1, 5))]
    return Deliver({group: tuple(chosen)})


def _out_of_order(draw: Draw, stage: Stage, group: str) -> Action:
    """Some of what is owed, not in its order: holes stay or close."""
    owed = stage.groups[group].owed
    near = list(owed[:5])
    count = between(draw, 1, len(near))
    return Deliver({group: tuple(near.pop(between(draw, 0, len(near) - 1)) for _ in range(count))})


def _forge(draw: Draw, stage: Stage, group: str) -> Action:
    sequence = between(draw, 1, stage.groups[group].events)
    return Forge(group, sequence, pick(draw, FORGERIES))


def _truncate(draw: Draw, stage: Stage, group: str) -> Action:
    events = stage.groups[group].events
    return Truncate(group, between(draw, max(1, events - 3), events))


def _said(action: Action) -> Make:
    return lambda *_: action


def _link(state: str) -> Make:
    return lambda _, __, group: Link("up" if state == "up" else "down", (group,) if group else ())


MOVES: Mapping[str, Move] = {
    # the Organization
    "arrive": Move(_work(lambda w: w.state == "none"), _act(ActKind.OFFER, ActKind.AUTHORIZE)),
    "flood": Move(
        lambda stage: sorted({stage.work[w].group for w in MOVES["arrive"].targets(stage)}), _flood
    ),
    "offer": Move(
        _work(lambda w: w.state in REOFFERABLE and not w.held),
        _act(ActKind.OFFER),
    ),
    "extend_offer": Move(_work(lambda w: w.offered), _act(ActKind.EXTEND_OFFER)),
    "withdraw": Move(_work(lambda w: w.offered), _act(ActKind.WITHDRAW)),
    "race": Move(
        _work(lambda w: w.state == "none"),
        _act(ActKind.OFFER_BOTH, ActKind.AUTHORIZE),
    ),
    "taken": Move(_work(lambda w: w.rival_offered), _act(ActKind.TAKEN)),
    "offer_other": Move(
        _work(lambda w: w.state in REOFFERABLE and not w.held and not w.rival_offered),
        _act(ActKind.OFFER_OTHER),
    ),
    "revise": Move(
        _work(lambda w: w.state in REOFFERABLE and w.state != "active"),
        _revise,
    ),
    "grant": Move(_work(lambda w: _waits_for_approval(w) and not w.grants), _act(ActKind.GRANT)),
    "grant_again": Move(
        _work(lambda w: _waits_for_approval(w) and w.grants > 0), _act(ActKind.GRANT)
    ),
    "grant_briefly": Move(_work(lambda w: _waits_for_approval(w) and not w.grants), _grant_briefly),
    "unblock": Move(
        _work(lambda w: w.state == "blocked" and not w.promoted), _act(ActKind.UNBLOCK)
    ),
    "accept_result": Move(_work(lambda w: w.state == "submitted"), _act(ActKind.ACCEPT_RESULT)),
    "fail": Move(_work(lambda w: w.state in UNFINISHED), _act(ActKind.FAIL)),
    "cancel": Move(_work(lambda w: w.state in UNFINISHED), _act(ActKind.CANCEL)),
    "promote": Move(_work(lambda w: w.state in UNSUBMITTED), _act(ActKind.PROMOTE)),
    "message": Move(_lively, _group_act(ActKind.MESSAGE)),
    "extension": Move(_lively, _group_act(ActKind.EXTENSION, critical=False)),
    "cancel_mission": Move(_lively, _group_act(ActKind.CANCEL_MISSION)),
    "terminate_mission": Move(_lively, _group_act(ActKind.TERMINATE_MISSION)),
    "replace_coordinator": Move(_lively, _group_act(ActKind.REPLACE_COORDINATOR)),
    "move_membership": Move(_lively, _group_act(ActKind.MOVE_MEMBERSHIP)),
    "end_membership": Move(_lively, _group_act(ActKind.END_MEMBERSHIP)),
    "class": Move(
        lambda stage: [w for w in _work(lambda w: w.state in UNSUBMITTED)(stage) if stage.alive],
        _class,
    ),
    "challenge": Move(
        lambda stage: [
            w
            for w in _work(lambda w: w.ours and w.state == "queued")(stage)
            if stage.alive and any(one.works for one in stage.work.values())
        ],
        _challenge,
    ),
    "weight": Move(lambda stage: _lively(stage) if stage.alive else (), _weight),
    "quota": Move(lambda stage: _lively(stage) if stage.alive else (), _quota),
    "policy_gate": Move(
        lambda stage: [
            w.name
            for w in stage.work.values()
            if stage.alive and w.plan.approval == "policy_required"
        ],
        _policy_gate,
    ),
    "limits": Move(_when(lambda stage: stage.alive), _limits),
    "advance": Move(_always, _advance),
    # the executor
    "progress": Move(_work(lambda w: w.works), _report("progress")),
    "safe_point": Move(_work(lambda w: w.works), _report("safe_point")),
    "blocked": Move(_work(lambda w: w.works), _report("blocked")),
    "completed": Move(_work(lambda w: w.works), _report("completed")),
    "failed": Move(_work(lambda w: w.works), _failed),
    "late_report": Move(_work(lambda w: w.leases > 0 and not w.in_slot), _late_report),
    # the network and the machine
    "answer": Move(_when(lambda stage: stage.alive and stage.connected), _answer),
    "silence": Move(_when(lambda stage: stage.alive and stage.connected), _silence),
    "unheard": Move(
        lambda stage: MOVES["arrive"].targets(stage)[:1] if stage.alive and stage.connected else (),
        _unheard,
    ),
    "ping": Move(_when(lambda stage: stage.alive and stage.connected), _said(Ping())),
    "manual": Move(_when(lambda stage: stage.automatic), _said(Delivery("manual"))),
    "automatic": Move(_when(lambda stage: not stage.automatic), _said(Delivery("auto"))),
    "deliver": Move(_owing, _deliver),
    "again": Move(
        lambda stage: [name for name in _reached(stage) if stage.groups[name].delivered], _again
    ),
    "ahead": Move(_ahead, _out_of_order),
    "forge": Move(_reached, _forge),
    "crash": Move(_when(lambda stage: stage.alive), _said(Crash())),
    "stop": Move(_when(lambda stage: stage.alive), _said(Stop())),
    "start": Move(_when(lambda stage: not stage.alive), _said(Start())),
    "wipe": Move(_when(lambda stage: not stage.alive and not stage.wiped), _said(Wipe())),
    "truncate": Move(
        lambda stage: [
            name
            for name, group in stage.groups.items()
            if not stage.alive and stage.wiped and not group.offline_through
        ],
        _truncate,
    ),
    "cut": Move(_when(lambda stage: stage.alive and stage.connected), _link("down")),
    "heal": Move(_when(lambda stage: stage.alive and not stage.connected), _link("up")),
    "cut_group": Move(_reached, _link("down")),
    "heal_group": Move(
        lambda stage: [
            name
            for name, group in stage.groups.items()
            if group.cut and stage.alive and stage.connected
        ],
        _link("up"),
    ),
}
"""Every move by its name."""
