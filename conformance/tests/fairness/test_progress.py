from __future__ import annotations

import pytest

from worker_conformance.judge.facts import Facts, GroupFact, ItemFact, LeaseFact
from worker_conformance.judge.monitors import Context
from worker_conformance.judge.monitors.progress import (
    EVERY_PAUSE_HAS_A_CAUSE,
    NOT_PAUSED_TOO_OFTEN,
    PROGRESS_BEFORE_A_PAUSE,
    EveryPauseHasACause,
    NotPausedTooOften,
    ProgressBeforeAPause,
)
from worker_conformance.judge.trace import Entry, EntryKind
from worker_conformance.port.declaration import Parameters

KINDS = {
    ProgressBeforeAPause: PROGRESS_BEFORE_A_PAUSE,
    NotPausedTooOften: NOT_PAUSED_TOO_OFTEN,
    EveryPauseHasACause: EVERY_PAUSE_HAS_A_CAUSE,
}


def item(name: str, contract_version: int = 1) -> ItemFact:
    return ItemFact(name, "g", "active", 1, contract_version, "me", 1, "not_required", (), ())


class Watched:
    """One monitor over a run told in a few words; `w` and `x` are WorkItems of one Group."""

    def __init__(self, kind, **parameters) -> None:
        self.facts = Facts()
        context = Context(Parameters(**parameters), lambda uri: uri, {}, {})
        self.monitor = kind(KINDS[kind], context, self.facts)
        self.facts.groups.set("g", GroupFact("g"))
        for name in ("w", "x"):
            self.facts.items.set(name, item(name))
            lease = LeaseFact(f"l-{name}", "execution", name, "me", 1, 1, 0, 1 << 60)
            self.facts.leases.set(lease.lease_id, lease)

    def run(self, at: int, name: str) -> Watched:
        body = {"type": "run", "slotId": "s1", "groupId": "g", "workItemId": name}
        return self._effect(at, {**body, "leaseId": f"l-{name}"})

    def pause(self, at: int, name: str) -> Watched:
        return self._effect(at, {"type": "pause", "slotId": "s1", "workItemId": name})

    def _effect(self, at: int, body) -> Watched:
        self.monitor.effect(Entry(0, 0, at, EntryKind.EFFECT, body))
        return self

    def told(self, **body) -> Watched:
        self.monitor.stimulus(Entry(0, 0, 0, EntryKind.STIMULUS, body))
        return self

    def appended(self, kind: str, by: str) -> Watched:
        body = {"note": "appended", "kind": kind, "by": by}
        self.monitor.note(Entry(0, 0, 0, EntryKind.NOTE, body))
        return self

    @property
    def found(self) -> tuple[int, int]:
        return self.monitor.witness, len(self.monitor.breaches)


def test_a_run_paused_after_some_time_has_made_progress():
    assert Watched(ProgressBeforeAPause).run(0, "w").pause(1, "w").found == (1, 0)


def test_a_run_paused_at_its_own_beginning_makes_progress_the_next_time():
    watched = Watched(ProgressBeforeAPause).run(5, "w").pause(5, "w")
    assert watched.run(6, "x").pause(6, "x").found == (2, 0)
    assert watched.run(7, "w").pause(7, "w").found == (3, 1)
    assert "w" in watched.monitor.breaches[0].expected


def test_progress_in_between_makes_up_for_none():
    watched = Watched(ProgressBeforeAPause).run(5, "w").pause(5, "w")
    assert watched.run(6, "w").pause(7, "w").run(8, "w").pause(8, "w").found == (3, 0)


@pytest.mark.parametrize(
    "stimulus",
    [
        {"type": "link", "state": "down"},
        {"type": "token_revoked"},
        {"type": "frames", "frames": [{"frameType": "ERROR"}]},
        {"type": "execution", "slotId": "s1", "report": {"kind": "operation"}},
    ],
)
def test_a_pause_that_something_else_explains_is_not_judged(stimulus):
    watched = Watched(ProgressBeforeAPause).run(5, "w").told(**stimulus).pause(5, "w")
    assert watched.found == (0, 0)


def test_a_pause_under_a_revised_contract_is_not_judged():
    watched = Watched(ProgressBeforeAPause).run(5, "w")
    watched.facts.items.set("w", item("w", contract_version=2))
    assert watched.pause(5, "w").found == (0, 0)


def test_a_change_of_class_or_share_explains_no_pause_without_progress():
    watched = Watched(ProgressBeforeAPause).told(type="tick").run(4, "w").pause(4, "w").run(5, "w")
    watched.facts.policy = {"groups": {"g": {"weight": 7}}, "workItems": {"x": {}}}
    assert watched.told(type="policy").pause(5, "w").found == (2, 1)


def test_a_change_of_the_terms_explains_a_pause():
    watched = Watched(ProgressBeforeAPause).told(type="tick").run(5, "w")
    watched.facts.policy = {"cardUpgrades": {"4": "incompatible"}}
    assert watched.told(type="policy").pause(5, "w").found == (0, 0)


def test_an_unleased_run_is_no_run():
    watched = Watched(ProgressBeforeAPause)
    watched.facts.leases.clear()
    assert watched.run(5, "w").pause(5, "w").found == (0, 0)


def test_an_item_is_paused_as_often_as_declared_and_no_more():
    watched = Watched(NotPausedTooOften, max_preemptions_per_item=2)
    for at in (0, 10):
        watched.run(at, "w").pause(at + 5, "w")
    assert watched.run(20, "x").pause(25, "x").found == (3, 0)
    assert watched.run(30, "w").pause(35, "w").found == (4, 1)


def mutual(watched: Watched) -> Watched:
    """Two items that pause each other four times, with one arrival each."""
    watched.appended("work.offer.accepted", "worker").appended("work.offer.accepted", "worker")
    for at in range(0, 40, 10):
        watched.run(at, "wx"[at // 10 % 2]).pause(at + 5, "wx"[at // 10 % 2])
        watched.appended("work.started", "worker").appended("work.checkpointed", "worker")
    return watched


def test_two_items_that_pause_each_other_without_a_new_cause_are_caught():
    assert mutual(Watched(EveryPauseHasACause)).found == (4, 2)


def test_each_new_fact_may_cause_one_pause():
    watched = Watched(EveryPauseHasACause)
    watched.appended("work.offer.created", "organization")
    watched.appended("approval.execution.granted", "organization")
    assert mutual(watched).found == (4, 0)


def test_with_time_slicing_declared_the_passing_of_time_is_a_cause():
    assert mutual(Watched(EveryPauseHasACause, time_slicing=True)).found == (4, 0)
