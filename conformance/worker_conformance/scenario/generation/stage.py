"""The stage: what a step program may do next, as plain data.

Whoever plays a world says how it stands now; the generator chooses among what that allows, and a
changed program is played by leaving out what has become impossible. Never plays anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import frozen

from worker_conformance.scenario.model import (
    Action,
    Crash,
    CrashDuring,
    Deliver,
    Forge,
    Link,
    Ping,
    Report,
    SetPolicy,
    Start,
    Stop,
    Truncate,
    Wipe,
    WorkPlan,
)

TWINS = frozenset({"sequence_twin", "id_twin"})
"""Forgeries that are told by the Event that they contradict."""

UNSUBMITTED = frozenset({"open", "offered", "queued", "active", "blocked"})
UNFINISHED = UNSUBMITTED | {"submitted"}
REOFFERABLE = UNSUBMITTED | {"failed"}


@frozen
class WorkStage:
    """One WorkItem, planned or in being, as its Authority holds it now.

    `ours`: this Worker owns it. `held`: its owner's leases still run, so it cannot be offered.
    `offered`, `rival_offered`: a pending offer to this Worker, to another Agent. `in_slot`: it is
    between `run` and `release`; `works` says that its run has not ended, `stands` that it waits at
    a safe point. `running`: its Execution Lease has not run out. `leases` counts the Execution
    Leases this Worker was granted. `granted`: the gate is open; `grants` counts the approvals so
    far.
    """

    plan: WorkPlan
    state: str = "none"
    ours: bool = False
    held: bool = False
    offered: bool = False
    rival_offered: bool = False
    in_slot: bool = False
    works: bool = False
    stands: bool = False
    running: bool = False
    leases: int = 0
    granted: bool = False
    grants: int = 0
    promoted: bool = False

    @property
    def name(self) -> str:
        """The local name."""
        return self.plan.name

    @property
    def group(self) -> str:
        """The Group's local name."""
        return self.plan.group


@frozen
class GroupStage:
    """One Group: the length of its log, how far it was delivered, and whether work can go on.

    `delivered` is the highest sequence up to which the present subscription has got everything.
    """

    name: str
    events: int
    delivered: int
    member: bool = True
    mission_active: bool = True
    cut: bool = False
    offline_through: int = 0

    @property
    def owed(self) -> range:
        """What was not delivered yet."""
        return range(self.delivered + 1, self.events + 1)


@frozen
class Stage:
    """The whole world. `alive`: a runtime session is open; `wiped`: the disk is empty."""

    work: Mapping[str, WorkStage]
    groups: Mapping[str, GroupStage]
    alive: bool
    connected: bool = True
    automatic: bool = True
    wiped: bool = False

    def reaches(self, group: str) -> bool:
        """Whether something can be delivered in a Group."""
        return self.alive and self.connected and not self.groups[group].cut

    def lively_groups(self) -> Iterator[GroupStage]:
        """Groups in which the Organization can still act for this Worker."""
        return (one for one in self.groups.values() if one.member and one.mission_active)


def is_possible(action: Action, stage: Stage) -> bool:
    """Whether an action can be played now; acts inside a `publish` are each asked for alone."""
    if isinstance(action, Start | Wipe | Truncate):
        return not stage.alive and _may_begin(action, stage)
    if isinstance(action, Stop | Crash | SetPolicy | Ping | Link | Report | Deliver | Forge):
        return stage.alive and _may_meet(action, stage)
    # In-process Workers would need a process of their own for a crash during a call.
    return not isinstance(action, CrashDuring)


def _may_begin(action: Start | Wipe | Truncate, stage: Stage) -> bool:
    """With no session open."""
    if isinstance(action, Truncate):
        return action.through <= stage.groups[action.group].events
    return True


def _may_meet(action: Action, stage: Stage) -> bool:
    """With a session open."""
    match action:
        case Ping():
            return stage.connected
        case SetPolicy(groups=groups, work=work):
            return groups.keys() <= stage.groups.keys() and work.keys() <= stage.work.keys()
        case Link():
            return _may_link(action, stage)
        case Report():
            return _may_report(action, stage)
        case Deliver(sequences=sequences):
            return all(stage.reaches(group) for group in sequences)
        case Forge(group=group, sequence=sequence, how=how):
            # A twin of what never came is well signed, and nobody can tell it from the true one.
            known = stage.groups[group]
            last = known.delivered if how in TWINS else known.events
            return stage.reaches(group) and sequence <= last
        case _:
            return True


def _may_link(action: Link, stage: Stage) -> bool:
    down = action.state == "down"
    if not action.groups:
        return stage.connected is down
    return stage.connected and all(stage.groups[name].cut is not down for name in action.groups)


def _may_report(action: Report, stage: Stage) -> bool:
    work = stage.work.get(action.work)
    if work is None:
        return False
    return work.works if action.lease is None else 1 <= action.lease <= work.leases
