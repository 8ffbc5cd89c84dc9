"""The stagehand: plays actions one by one, and says after each what could be played next.

Leaves out what is impossible instead of ending there, so that a program made for one course of
events can be played on another; what was really played is kept, and is a Scenario of its own.
Never judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from attrs import evolve

from worker_conformance.documents.json_types import find
from worker_conformance.judge.trace import Entry, EntryKind, NoteKind
from worker_conformance.organization.items import Item
from worker_conformance.port.contract import Port
from worker_conformance.port.declaration import Parameters
from worker_conformance.scenario.generation.stage import (
    GroupStage,
    Stage,
    WorkStage,
    is_possible,
)
from worker_conformance.scenario.model import (
    Action,
    ActKind,
    Advance,
    Link,
    Publish,
    Report,
    Scenario,
    Step,
    Truncate,
    Wipe,
)
from worker_conformance.suite.actions import perform
from worker_conformance.suite.world import OutOfReach, World

Cue = Action | Callable[[Stage], Sequence[Action]]
"""An action, or what makes actions of the stage as it is when their turn comes."""

INSTANT_CALLS_MAX = 2_000
"""Calls at one instant: a generated world has a dozen WorkItems, a hundred calls for each."""

Circumstance = tuple[str, str, bool]
"""What was done to a WorkItem, its state before, and whether this Worker owned it then."""


class Stagehand:
    """One world being played. `scenario` gives the still picture; its steps are not looked at.

    `silent` are the Groups of which the Worker heard nothing while time passed.
    """

    def __init__(
        self,
        scenario: Scenario,
        port: Port,
        parameters: Parameters,
        seed: int,
        workspace: Path,
    ) -> None:
        self.world = World(
            evolve(scenario, steps=()),
            port,
            parameters,
            seed,
            workspace,
            instant_calls_max=INSTANT_CALLS_MAX,
        )
        self.played: list[Action] = []
        self.skipped = 0
        self.circumstances: dict[str, list[Circumstance]] = {}
        self.silent: set[str] = set()
        self._scenario = scenario
        self._connected = True
        self._cut: set[str] = set()
        self._wiped = True
        self._offline: dict[str, int] = {}
        self._delivered = _Delivered()
        self._looked: tuple[tuple[int, ...], Stage] | None = None

    # --- playing ----------------------------------------------------------------------

    def play(self, cues: Sequence[Cue]) -> None:
        """Play a program, leaving out what is impossible when its turn comes."""
        for cue in cues:
            for action in cue(self.stage()) if callable(cue) else (cue,):
                self.take(action)

    def take(self, action: Action) -> bool:
        """Play one action if that is possible; returns whether it was."""
        stage = self.stage()
        if isinstance(action, Advance):
            heard = stage.groups if stage.automatic else ()
            self.silent |= {n for n in stage.groups if n not in heard or not stage.reaches(n)}
        done = self._published(action) if isinstance(action, Publish) else self._done(action, stage)
        # What is impossible in one course alone makes its end another one.
        self._note_circumstances(action, stage, in_vain=done is None)
        if done is None:
            self.skipped += 1
            return False
        self.played.append(done)
        self._follow(done)
        return True

    def scenario(self) -> Scenario:
        """What was played, as a Scenario."""
        return evolve(self._scenario, steps=tuple(Step(action) for action in self.played))

    def _done(self, action: Action, stage: Stage) -> Action | None:
        if not is_possible(action, stage):
            return None
        try:
            perform(self.world, action)
        except OutOfReach:
            return None
        return action

    def _published(self, action: Publish) -> Action | None:
        """Let the Organization act as far as it can; the rest of the action is left out."""
        known = {one.name: one for one in self.world.organization.groups}
        before = {name: len(known[name].events) for name in action.acts}
        try:
            perform(self.world, action)
        except OutOfReach:
            # Nothing was delivered yet, so each new Event is one act; then as after any publish.
            done = {n: acts[: len(known[n].events) - before[n]] for n, acts in action.acts.items()}
            self.world.settle()
            some = {name: acts for name, acts in done.items() if acts}
            return Publish(some) if some else None
        return action

    def _follow(self, action: Action) -> None:
        """Keep account of what the World does not say."""
        match action:
            case Link(state=state, groups=groups):
                self._connected = self._connected if groups else state == "up"
                (self._cut.update if state == "down" else self._cut.difference_update)(groups)
            case Wipe():
                self._wiped = True
            case Truncate(group=group, through=through):
                self._offline[group] = through
            case _:
                pass
        if not self.world.running:
            self._connected = True
            self._cut.clear()
        elif not isinstance(action, Wipe):
            self._wiped = False

    def _note_circumstances(self, action: Action, stage: Stage, *, in_vain: bool) -> None:
        for name, deed in _deeds(action, stage):
            what = f"{deed} in vain" if in_vain else deed
            work = stage.work.get(name)
            if work is not None:
                seen = (what, work.state, work.ours)
                self.circumstances.setdefault(name, []).append(seen)

    # --- looking ----------------------------------------------------------------------

    def stage(self) -> Stage:
        """How the world stands. It is looked at again only when something has happened."""
        world = self.world
        moment = (len(world.trace), world.now, world.running, len(self.played), self.skipped)
        if self._looked is None or self._looked[0] != moment:
            self._looked = moment, self._look()
        return self._looked[1]

    def _look(self) -> Stage:
        self._delivered.read(self.world.trace.since(self._delivered.index))
        occupied = set(self.world.executor.occupied().values())
        running = set(self.world.executor.running().values())
        work: dict[str, WorkStage] = {}
        groups: dict[str, GroupStage] = {}
        for authority in self.world.organization.groups:
            ledger = authority.ledger
            groups[authority.name] = GroupStage(
                name=authority.name,
                events=len(ledger.events),
                delivered=self._delivered.through(authority.group_id),
                member=ledger.membership.state != "ended",
                mission_active=ledger.mission_state == "active",
                cut=authority.name in self._cut,
                offline_through=self._offline.get(authority.name, 0),
            )
            for plan in ledger.plans():
                work[plan.name] = self._work_stage(ledger.item(plan.name), occupied, running)
        return Stage(
            work=work,
            groups=groups,
            alive=self.world.running,
            connected=self._connected,
            automatic=self.world.automatic,
            wiped=self._wiped,
        )

    def _work_stage(self, item: Item, occupied: set[str], running: set[str]) -> WorkStage:
        now, names = self.world.now, self.world.organization.names
        open_offers = [one.agent_id for one in item.offers if one.is_open(now)]
        offered = item.state.value == "offered"
        return WorkStage(
            plan=item.plan,
            state=item.state.value,
            ours=item.owned_by(names.agent_id),
            held=item.owner is not None and item.owner.is_live(now),
            offered=offered and names.agent_id in open_offers,
            rival_offered=offered and names.other_agent_id in open_offers,
            in_slot=item.work_item_id in occupied,
            works=item.work_item_id in running,
            stands=item.work_item_id in self.world.executor.standing(),
            leases=len(item.lease_ids),
            running=_is_running(item, now),
            granted=any(
                one.ownership_epoch == item.epoch and now < one.expires_at for one in item.grants
            ),
            grants=len(item.grants),
            promoted=item.promoted,
        )


def _is_running(item: Item, now: int) -> bool:
    lease = item.owner.execution if item.owner else None
    return lease is not None and now < lease.expires_at


HELPING = frozenset({ActKind.ACCEPT_RESULT, ActKind.UNBLOCK})
"""Acts that only help work on: whether they came early or late is no other story."""

_SAYING = frozenset({ActKind.MESSAGE, ActKind.EXTENSION, ActKind.CREATED, ActKind.MEMBER})
"""Acts on a Group as a whole that concern no WorkItem."""


def _deeds(action: Action, stage: Stage) -> Iterator[tuple[str, str]]:
    """The WorkItems to which something is done that may change their end, and what it is."""
    if isinstance(action, Report):
        # What cannot be passed on yet may end otherwise: a Worker may go on and never mention it.
        work = stage.work.get(action.work)
        where = "" if work is not None and stage.reaches(work.group) else " over a broken link"
        # Nor is it said what becomes of a report about a run that waits to give way.
        where += " at a safe point" if work is not None and work.stands else ""
        yield action.work, f"report {action.kind}{where}"
    elif isinstance(action, Publish):
        for group, acts in action.acts.items():
            for act in acts:
                if act.work is not None and act.kind not in HELPING:
                    yield act.work, act.kind.value
                elif act.work is None and act.kind not in _SAYING:
                    whole = (work.name for work in stage.work.values() if work.group == group)
                    yield from ((name, act.kind.value) for name in whole)


class _Delivered:
    """How far each Group was delivered in its present subscription, read off the Trace."""

    def __init__(self) -> None:
        self.index = 0
        self._position: dict[str, int] = {}
        self._ahead: dict[str, set[int]] = {}

    def through(self, group_id: str) -> int:
        """The highest sequence up to which everything was delivered."""
        return self._position.get(group_id, 0)

    def read(self, entries: Sequence[Entry]) -> None:
        """Take in what was added to the Trace."""
        for entry in entries:
            self.index += 1
            if entry.kind is EntryKind.EFFECT:
                self._subscribed(entry.body.get("frame"))
            elif entry.kind is EntryKind.STIMULUS and entry.body.get("type") == "frames":
                frames = entry.body.get("frames")
                for frame in frames if isinstance(frames, list) else ():
                    self._received(
                        find(frame, "event", "groupId"), find(frame, "event", "sequence")
                    )
            elif entry.body.get("note") == NoteKind.WIPED:
                self._position.clear()

    def _subscribed(self, frame: object) -> None:
        if not isinstance(frame, Mapping) or frame.get("frameType") != "SUBSCRIBE":
            return
        rows = frame.get("groups")
        for row in rows if isinstance(rows, list) else ():
            group_id, after = find(row, "groupId"), find(row, "afterSequence")
            if isinstance(group_id, str) and isinstance(after, int):
                self._position[group_id] = after
                self._ahead.pop(group_id, None)

    def _received(self, group_id: object, sequence: object) -> None:
        if not isinstance(group_id, str) or not isinstance(sequence, int):
            return
        ahead = self._ahead.setdefault(group_id, set())
        ahead.add(sequence)
        while self.through(group_id) + 1 in ahead:
            self._position[group_id] = self.through(group_id) + 1
            ahead.discard(self.through(group_id))
