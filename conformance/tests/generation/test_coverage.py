"""What generated worlds reach with the reference Worker: every place that they are there for."""

from __future__ import annotations

import pytest

from worker_conformance.judge.monitors import REGISTRY as MONITORS
from worker_conformance.judge.trace import EntryKind, NoteKind, Trace
from worker_conformance.organization.transitions import State
from worker_conformance.port.locate import locate
from worker_conformance.scenario.generation import Taste
from worker_conformance.scenario.generation import taste as tastes
from worker_conformance.scenario.model import Advance, Crash
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.properties.coverage import Coverage, coverage_of, summed
from worker_conformance.suite.properties.theatre import Theatre

SEED = 11
WORLDS = 8  # of each taste

TRANSITIONS = (
    "approval.execution.granted",
    "artifact.published",
    "membership.changed",
    "membership.ended",
    "message.posted",
    "mission.cancelled",
    "mission.child.created",
    "mission.terminated",
    "work.authorized",
    "work.blocked",
    "work.cancelled",
    "work.checkpointed",
    "work.contract.revised",
    "work.failed",
    "work.offer.accepted",
    "work.offer.created",
    "work.progressed",
    "work.result.accepted",
    "work.started",
    "work.submitted",
    "work.unblocked",
)
ERRORS = ("CURSOR_TOO_OLD", "REVISION_CONFLICT")
FAULTS = ("crash", "stop", "wipe", "truncate", "link", "forge", "deliver", "answer", "ping")
NEVER_IN_GENERATED_WORLDS = {
    "MON-0030": "the reference Worker publishes Presence at moments that these worlds seldom have",
    "MON-0037": "as MON-0030",
}
"""Monitors that need something which no taste brings about often enough, and why."""


@pytest.fixture(scope="module")
def reached() -> Coverage:
    parts: list[Coverage] = []
    with Bench(locate("reference_worker:factory")) as bench:
        theatre = Theatre(bench, SEED)
        for taste in vars(tastes).values():
            if isinstance(taste, Taste):
                parts += [course.coverage for course in theatre.courses(taste, WORLDS)]
    return summed(parts)


@pytest.mark.parametrize("state", [one.value for one in State if one is not State.NONE])
def test_every_state_of_a_work_item_is_reached(reached: Coverage, state: str) -> None:
    assert reached.get(f"state:{state}")


@pytest.mark.parametrize("kind", TRANSITIONS)
def test_every_transition_is_reached(reached: Coverage, kind: str) -> None:
    assert reached.get(f"transition:{kind}")


@pytest.mark.parametrize("code", ERRORS)
def test_errors_that_only_a_course_of_events_brings_about_are_reached(
    reached: Coverage, code: str
) -> None:
    assert reached.get(f"error:{code}")


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_of_network_and_machine_is_reached(reached: Coverage, fault: str) -> None:
    assert reached.get(f"move:{fault}")


@pytest.mark.parametrize("check_id", [info.check_id for info, _ in MONITORS])
def test_every_monitor_has_something_to_judge(reached: Coverage, check_id: str) -> None:
    if check_id not in NEVER_IN_GENERATED_WORLDS:
        assert reached.get(f"monitor:{check_id}")


def test_coverage_counts_states_errors_and_moves() -> None:
    trace = Trace("X-0001", 1)
    body = {
        "note": NoteKind.APPENDED.value,
        "kind": "work.started",
        "state": "active",
        "ours": True,
    }
    trace.append(1, 0, EntryKind.NOTE, {**body})
    frames = [{"frameType": "ERROR", "error": {"code": "RATE_LIMITED"}}]
    trace.append(2, 0, EntryKind.STIMULUS, {"type": "frames", "frames": [*frames]})
    counted = coverage_of(trace, (Crash(), Advance(3)), {"MON-0001": 2, "MON-0002": 0})
    assert counted == {
        "error:RATE_LIMITED": 1,
        "monitor:MON-0001": 2,
        "move:advance": 1,
        "move:crash": 1,
        "state:active": 1,
        "state:active, owned by the Worker": 1,
        "transition:work.started": 1,
    }


def test_coverage_of_several_courses_adds_up() -> None:
    assert summed([{"a": 1}, {"a": 2, "b": 1}]) == {"a": 3, "b": 1}
