from __future__ import annotations

from attrs import evolve

from worker_conformance.judge.conditions_fairness import fair, served_within
from worker_conformance.judge.service import MICROSECONDS
from worker_conformance.judge.service_trace import driven_name, history_of
from worker_conformance.judge.trace import EntryKind, NoteKind, Trace
from worker_conformance.organization.names import Names
from worker_conformance.port.declaration import Parameters
from worker_conformance.scenario.model import (
    Act,
    ActKind,
    Delivery,
    GroupPlan,
    Level,
    Link,
    Profile,
    Scenario,
    Step,
    WorkPlan,
)

SEED = 3
SCENARIO = Scenario(
    id="T-2",
    title="two Groups",
    stake="",
    requirement="WRK-010.a",
    level=Level.MUST,
    profile=Profile.SCHEDULING,
    steps=(),
    groups=(GroupPlan("A"), GroupPlan("B", weight=2, slot_quota=3)),
    work=(
        WorkPlan("a1", "A", duration_seconds=90),
        WorkPlan("a2", "A", depends_on=("a1",)),
        WorkPlan("b1", "B", approval="human_required"),
    ),
    log={"A": (Act(ActKind.OFFER, "a1"),)},
)


class Script:
    """Writes a Trace as the World would."""

    def __init__(self) -> None:
        self.trace = Trace(SCENARIO.id, SEED)

    def fact(self, at, kind, work, state, *, ours=True, by="worker", group=None) -> Script:
        body = {
            "note": NoteKind.APPENDED.value,
            "group": group or str(work)[0].upper(),
            "kind": kind,
            "work": work,
            "by": by,
            "state": state,
            "ours": ours,
        }
        self.trace.append(0, at * MICROSECONDS, EntryKind.NOTE, body)
        return self

    def note(self, at, kind, **members) -> Script:
        body = {"note": kind.value, **members}
        self.trace.append(0, at * MICROSECONDS, EntryKind.NOTE, body)
        return self

    def said(self, at, **stimulus) -> Script:
        self.trace.append(0, at * MICROSECONDS, EntryKind.STIMULUS, stimulus)
        return self

    def accepted(self, at, work) -> Script:
        return self.fact(at, "work.offer.accepted", work, "queued")

    def started(self, at, work) -> Script:
        return self.fact(at, "work.started", work, "active")

    def submitted(self, at, work) -> Script:
        return self.fact(at, "work.submitted", work, "submitted")

    def history(self, **settings):
        return history_of(self.trace, SCENARIO, **settings)


def test_an_accepted_item_waits_until_it_is_started():
    history = Script().accepted(0, "a1").started(30, "a1").submitted(120, "a1").history()
    (dispatch,) = history.dispatches()
    assert (dispatch.at - dispatch.since, dispatch.seconds) == (30 * MICROSECONDS, 90)
    assert dispatch.eligible


def test_an_item_becomes_eligible_when_its_dependency_is_verified():
    script = Script().accepted(0, "a1").accepted(0, "a2").started(0, "a1").submitted(90, "a1")
    assert [waiting.item for waiting in script.history().waiting] == []
    script.fact(100, "work.result.accepted", "a1", "verified", ours=False, by="organization")
    assert [(w.item, w.since) for w in script.history().waiting] == [("a2", 100 * MICROSECONDS)]


def test_gated_work_is_eligible_only_after_its_approval():
    script = Script().accepted(0, "b1")
    assert script.history().waiting == ()
    script.fact(50, "approval.execution.granted", "b1", "queued", by="organization")
    assert [waiting.item for waiting in script.history().waiting] == ["b1"]


def test_a_checkpointed_item_waits_again():
    script = Script().accepted(0, "a1").started(0, "a1")
    script.fact(40, "work.checkpointed", "a1", "queued")
    history = script.history()
    assert [dispatch.seconds for dispatch in history.dispatches()] == [40]
    assert [waiting.since for waiting in history.waiting] == [40 * MICROSECONDS]


def test_a_new_session_returns_active_work_to_its_queue():
    script = Script().accepted(0, "a1").started(0, "a1").note(10, NoteKind.CRASHED)
    script.said(20, type="start").note(20, NoteKind.REST)
    history = script.history()
    assert [dispatch.seconds for dispatch in history.dispatches()] == [10]
    assert [waiting.item for waiting in history.waiting] == ["a1"]


def test_an_offer_counts_as_demand_only_when_it_is_asked_for():
    script = Script().note(0, NoteKind.REST)
    assert script.history().waiting == ()
    assert [w.item for w in script.history(offers_count=True).waiting] == ["a1"]


def test_another_agents_ownership_ends_the_demand():
    script = Script().fact(5, "work.offer.accepted", "a1", "queued", ours=False)
    assert script.history(offers_count=True).waiting == ()


def test_the_name_of_a_driven_item_says_its_length():
    name = driven_name("A", "share", 7, 360)
    script = Script().accepted(0, name).started(0, name)
    assert [dispatch.seconds for dispatch in script.history().dispatches()] == [360]


def test_policy_changes_weight_quota_and_class():
    names = Names(SEED)
    policy = {
        "groups": {names.group_id("A"): {"weight": 5, "slotQuota": 1, "priorityClass": "urgent"}},
        "workItems": {names.work_id("a2", "A"): {"priorityClass": "background"}},
    }
    script = Script().said(0, type="policy", policy=policy)
    script.accepted(1, "a1").started(1, "a1")
    history = script.history()
    (dispatch,) = history.dispatches()
    assert (history.weights["A"], dispatch.quota) == (5, 1)
    assert dispatch.priority_class == "urgent"


def test_a_cancelled_mission_ends_the_work_of_its_group():
    script = Script().accepted(0, "a1")
    script.fact(9, "mission.cancelled", None, None, ours=False, group="A")
    assert script.history().waiting == ()


def test_a_cut_link_ends_the_backlog():
    script = Script().accepted(0, "a1").note(0, NoteKind.REST)
    script.note(5, NoteKind.LINK, state="down", groups=["A"]).note(5, NoteKind.REST)
    last = [m for m in script.history().moments if getattr(m, "group", "") == "A"][-1]
    assert last.backlogged is False


def test_what_is_delivered_by_hand_is_not_judged():
    for scenario in (
        evolve(SCENARIO, delivery="manual"),
        evolve(SCENARIO, steps=(Step(Delivery("manual")),)),
        evolve(SCENARIO, steps=(Step(Link("down")),)),
    ):
        assert fair(Script().trace, scenario, Parameters()).holds is None


def test_nothing_dispatched_is_nothing_shown():
    trace = Script().accepted(0, "a1").note(0, NoteKind.REST).trace
    assert fair(trace, SCENARIO, Parameters()).holds is None
    (finding,) = served_within(trace, SCENARIO, Parameters(), {"a1": 60})
    assert finding.holds is None


def test_a_wait_in_seconds_is_judged_exactly():
    trace = Script().accepted(0, "a1").started(60, "a1").submitted(150, "a1").trace
    for limit, holds in ((60, True), (59, False)):
        (finding,) = served_within(trace, SCENARIO, Parameters(), {"a1": limit})
        assert finding.holds is holds
        assert finding.measurements[0].value == 60


def test_a_short_run_with_few_dispatches_says_how_little_it_shows():
    script = Script().accepted(0, "a1").accepted(0, "a2")
    script.fact(0, "approval.execution.granted", "b1", "queued", by="organization")
    script.accepted(0, "b1").note(0, NoteKind.REST).started(1, "a1")
    finding = fair(script.trace, SCENARIO, Parameters())
    assert finding.holds is None
    assert "1 dispatches would not have shown" in finding.observed
