"""How a Mission ends and its Group is archived: acts about the Mission as a whole.

Takes every unfinished WorkItem along where the tables of 7.1 and 10.2 say so. Never touches a
single WorkItem by itself (`acts` does).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.errors import SuiteError
from worker_conformance.organization import moves, payloads
from worker_conformance.organization.appending import append
from worker_conformance.organization.ledger import Ledger
from worker_conformance.organization.outcomes import Appended
from worker_conformance.organization.transitions import UNFINISHED, Transition
from worker_conformance.scenario.model import Act, ActKind

_Done = tuple[Appended, ...]

TERMINAL = frozenset({"approved", "cancelled", "failed"})
"""MWP-MSN-002: states of a Mission that nothing follows."""


def _cancel_mission(ledger: Ledger, act: Act, now: int) -> _Done:
    move, kind = Transition.MISSION_CANCELLED, "mission.cancelled"
    return _end_mission(ledger, act, now, move, kind, "cancelled", "owner")


def _terminate_mission(ledger: Ledger, act: Act, now: int) -> _Done:
    move, kind = Transition.MISSION_FAILED, "mission.terminated"
    return _end_mission(ledger, act, now, move, kind, "failed", "coordinator")


def _approve_mission(ledger: Ledger, act: Act, now: int) -> _Done:
    """The Coordinator submits a finished Mission, and the MissionOwner approves it (7.1)."""
    must_be_active(ledger)
    open_work = sorted(name for name, item in ledger.items.items() if item.state in UNFINISHED)
    if open_work:
        raise SuiteError(
            "unfinished", f"{ledger.name} still has unfinished work: {', '.join(open_work)}"
        )
    ledger.mission_state, ledger.mission_revision = "awaiting_approval", ledger.mission_revision + 1
    mission = ledger.mission()
    submitted: JsonObject = {"mission": mission, "missionId": mission["missionId"]}
    first = append(ledger, act, now, "mission.submitted_for_approval", submitted)
    ledger.mission_state, ledger.mission_revision = "approved", ledger.mission_revision + 1
    payload = payloads.many_changed((), "The Mission is approved.")
    return (*first, *append(ledger, act, now, "mission.approved", payload, role="owner"))


def _replace_coordinator(ledger: Ledger, act: Act, now: int) -> _Done:
    """Another Agent takes over in a higher Coordinator Epoch; what was stays (MWP-MSN-005)."""
    must_be_active(ledger)
    ledger.coordinator_epoch += 1
    ledger.mission_revision += 1
    mission = ledger.mission()
    payload: JsonObject = {"mission": mission, "missionId": mission["missionId"]}
    return append(ledger, act, now, "mission.coordinator.assigned", payload, role="owner")


def _archive(ledger: Ledger, act: Act, now: int) -> _Done:
    """The Group becomes history (7.4): its Mission has ended before."""
    if ledger.mission_state not in TERMINAL:
        raise SuiteError(
            "mission-runs",
            f"the Mission of {ledger.name} is {ledger.mission_state}",
            "end it before the Group is archived",
        )
    payload = payloads.many_changed((), "The Group is archived.")
    return append(ledger, act, now, "group.archived", payload, role="group-authority")


def must_be_active(ledger: Ledger) -> None:
    """MWP-MSN-002: nothing follows the end of a Mission. Raises SuiteError after it."""
    if ledger.mission_state != "active":
        raise SuiteError("mission-over", f"the Mission of {ledger.name} is {ledger.mission_state}")


def _end_mission(
    ledger: Ledger, act: Act, now: int, move: Transition, kind: str, state: str, role: str
) -> _Done:
    must_be_active(ledger)
    reason = str(act.args.get("reason", f"The Mission is {state}."))
    unfinished = [item for item in ledger.items.values() if item.state in UNFINISHED]
    moved = [moves.end(item, move, reason, now) for item in unfinished]
    for one in moved:
        ledger.put(one.item)
    ledger.mission_state, ledger.mission_revision = state, ledger.mission_revision + 1
    return append(ledger, act, now, kind, payloads.many_changed(moved, reason), role=role)


ACTS: Mapping[ActKind, Callable[[Ledger, Act, int], _Done]] = MappingProxyType(
    {
        ActKind.CANCEL_MISSION: _cancel_mission,
        ActKind.TERMINATE_MISSION: _terminate_mission,
        ActKind.APPROVE_MISSION: _approve_mission,
        ActKind.ARCHIVE: _archive,
        ActKind.REPLACE_COORDINATOR: _replace_coordinator,
    }
)
"""By kind."""
