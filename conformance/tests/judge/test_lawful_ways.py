"""What a lawful Worker may do at the edges of MON-0004, MON-0012, MON-0013 and MON-0070."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.judge.verdicts import Failure
from worker_conformance.scenario.loader import load_text
from worker_conformance.selftest.interposer import Interposer
from worker_conformance.selftest.speaker import events_in
from worker_conformance.selftest.variants import HandlesFramesOneByOne
from worker_conformance.suite.checks import scenarios

PREEMPTED_TWICE = """
id: PREEMPT-9000
title: The second Checkpoint gets lost with the session
stake: >
  The executor has reported a later safe point than the record has, and the Worker has kept it.
requirement: WRK-015.d
level: MUST
profile: preemption
twin: PREEMPT-9001
groups: {A: {}, B: {}}
work: {a1: {duration: 30m}, b1: {duration: 1m}, b2: {duration: 1m}}
log:
  A: [created, member, {authorize: a1}, {offer: a1}]
  B: [created, member, {authorize: b1}, {authorize: b2}]
delivery: auto
steps:
  - start
  - given: {run: a1}
  - advance: 5m
  - policy: {work: {b1: {class: urgent}, b2: {class: urgent}}}
  - publish: {B: [{offer: b1}]}
  - given: {preempt: a1}
  - advance: 5m
  - given: {resume: a1}
  - answer: {work.checkpoint: silence}
  - publish: {B: [{offer: b2}]}
  - advance: 5s
  - given: {checkpoint: a1}
  - crash
  - start
  - advance: 10m
"""

MOVED_TWICE = """
id: LEASE-9000
title: The Membership is renewed twice, and an offer comes between
stake: >
  All of it comes in one call, and who reads one Event after the other answers in between.
requirement: FND-016.a
level: MUST
profile: leases
twin: LEASE-9001
groups: {A: {}}
log:
  A: [created, member, {authorize: a1}]
delivery: manual
steps:
  - start
  - deliver: {A: all}
  - publish: {A: [move_membership, {offer: a1}, move_membership]}
  - deliver: {A: all}
  - given: {accept: a1}
"""


class FromItsLatest(Interposer):
    """Goes on from the latest safe point that was reported, recorded or not, and over a crash."""

    reported: ClassVar[dict[object, list[JsonObject]]] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if find(stimulus, "report", "kind") == "safe_point":
            report: Any = stimulus["report"]
            kept = {name: report[name] for name in ("checkpointId", "checkpointHash")}
            self.reported.setdefault(stimulus["workItemId"], []).append(kept)
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        kept = self.reported.get(effect.get("workItemId"), [])
        is_later = effect["type"] == "run" and len(kept) > 1
        return ({**effect, "resumeFrom": kept[-1]} if is_later else effect,)


class FailsItsResult(Interposer):
    """Finds a result defective one call after it was submitted, and reports a failure."""

    def _begin(self) -> None:
        self._due: list[JsonObject] = []
        self._found: list[JsonObject] = []

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        self._due, self._found = self._found, []
        self._found += [one for one in events_in(stimulus) if one["kind"] == "work.submitted"]
        return stimulus

    def _afterwards(self) -> Iterable[JsonObject]:
        for event in self._due:
            payload: JsonObject = {
                "workItemId": event["workItemId"],
                "ownershipEpoch": find(event, "payload", "workItem", "owner", "ownershipEpoch"),
                "reason": "The result is defective.",
                "evidence": [],
            }
            yield self.speaker.command("work.fail", str(event["groupId"]), payload)


def seen(played: Any, check_id: str) -> tuple[int, Failure | None]:
    found = next(one for one in played.sightings if one.check_id == check_id)
    return found.witness, found.failure


def test_preempted_work_may_go_on_from_a_later_checkpoint_than_the_recorded_one(play) -> None:
    witness, failure = seen(play(FromItsLatest, load_text(PREEMPTED_TWICE, "twice")), "MON-0070")
    assert witness > 1
    assert failure is None


def test_a_failure_may_be_reported_of_what_was_submitted(play) -> None:
    for check_id in ("MON-0012", "MON-0013"):
        witness, failure = seen(play(FailsItsResult, scenarios()["LEASE-0002"]), check_id)
        assert witness > 0
        assert failure is None


def test_a_command_may_stand_between_two_changes_of_a_membership_in_one_call(play) -> None:
    witness, failure = seen(
        play(HandlesFramesOneByOne, load_text(MOVED_TWICE, "moved")), "MON-0004"
    )
    assert witness > 0
    assert failure is None
