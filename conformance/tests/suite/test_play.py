"""How a scenario comes to its verdict."""

from __future__ import annotations

import json

import pytest

from worker_conformance.judge.evidence import MarkKind
from worker_conformance.judge.trace import EntryKind, NoteKind
from worker_conformance.judge.verdicts import Verdict


def told(played) -> list[str]:
    return [str(entry.body["type"]) for entry in played.trace if entry.kind is EntryKind.STIMULUS]


def notes(played) -> list[str]:
    return [str(entry.body["note"]) for entry in played.trace if entry.kind is EntryKind.NOTE]


def test_what_is_expected_and_seen_passes_with_a_witness(played) -> None:
    outcome = played("- start\n- expect: {accept: a1, run: a1}")
    assert (outcome.verdict, outcome.witness) == (Verdict.PASS, 2)


def test_what_is_expected_and_not_seen_fails_and_says_what_was_seen(played) -> None:
    outcome = played("- start\n- expect: {submit: a1}")
    assert outcome.verdict is Verdict.FAIL
    assert outcome.failure is not None
    assert outcome.failure.expected == "submit a1"
    assert "accept" in outcome.failure.observed
    assert outcome.failure.step == "test.yaml:12"
    assert any("work.start a1" in line for line in outcome.failure.transcript)


def test_a_failure_carries_a_timeline_that_ends_with_it(played) -> None:
    outcome = played("- start\n- advance: 30s\n- expect: {submit: a1}")
    timeline = outcome.failure.timeline
    assert (timeline.groups, timeline.slots) == (("A",), ("s1",))
    assert timeline.ends_at == 30
    kinds = [mark.kind for mark in timeline.marks]
    assert kinds.index(MarkKind.GRANTED) < kinds.index(MarkKind.RUN)
    assert outcome.estimates


def test_a_scene_that_is_not_reached_is_inconclusive(played) -> None:
    outcome = played("- start\n- given: {submit: a1}\n- never: {run: a1}")
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert "submit a1" in outcome.reason


SLOW = "worker_conformance.selftest.variants:takes_its_time"


def test_a_deed_that_no_clause_sets_a_time_for_is_waited_for(played) -> None:
    assert played("- start\n- given: {run: a1}\n- expect: {start: a1}", SLOW).witness == 2
    assert played("- start\n- expect: {run: a1}", SLOW).verdict is Verdict.PASS
    assert played("- start\n- never: {run: a1}", SLOW).verdict is Verdict.INCONCLUSIVE


SLOWEST = "worker_conformance.selftest.variants:takes_as_long_as_it_may"
RENEWS = "worker_conformance.selftest.variants:RenewsWithEveryTick"


def test_each_deed_of_a_chain_is_waited_for(played) -> None:
    assert played("- start\n- expect: {accept: a1}", SLOWEST).verdict is Verdict.PASS
    assert played("- start\n- expect: {run: a1}", SLOWEST).verdict is Verdict.PASS


@pytest.mark.parametrize("worker", [RENEWS, "reference_worker:factory"])
def test_what_is_done_again_and_again_prolongs_nothing(played, worker: str) -> None:
    outcome = played("- start\n- given: {accept: a1, run: a1}\n- given: {pause: a1}", worker)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert max(entry.at for entry in outcome.trace) == 45 * 1_000_000


def test_a_time_that_a_vector_sets_is_not_prolonged(played) -> None:
    outcome = played("- start\n- advance: 5s\n- expect: {accept: a1}", SLOW)
    assert outcome.verdict is Verdict.FAIL


def test_what_only_the_executor_brings_about_is_not_waited_for(played) -> None:
    outcome = played("- start\n- given: {run: a1}\n- expect: {submit: a1}")
    assert outcome.verdict is Verdict.FAIL


def test_no_time_passes_for_what_is_done_at_once(played) -> None:
    outcome = played("- start\n- given: {accept: a1}\n- expect: {run: a1}")
    assert {entry.at for entry in outcome.trace} == {0}


def test_never_fails_when_it_happens(played) -> None:
    assert played("- start\n- given: {accept: a1}\n- never: {run: a1}").verdict is Verdict.FAIL


def test_a_should_that_is_not_followed_is_advice(played) -> None:
    assert played("- start\n- expect: {run: a1}\n- should: {pause: a1}").verdict is Verdict.ADVICE


def test_nothing_judged_is_no_pass(played) -> None:
    assert played("- start\n- never: {pause: a1}").verdict is Verdict.INCONCLUSIVE


def test_a_mark_opens_a_new_window(played) -> None:
    outcome = played(
        "- start\n- given: {accept: a1}\n- mark\n- advance: 1m\n- expect: {accept: a1}"
    )
    assert outcome.verdict is Verdict.FAIL


def test_an_act_that_cannot_happen_is_nobodys_fault(played) -> None:
    outcome = played("- start\n- publish: {A: [{accept_result: a1}]}\n- expect: {run: a1}")
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert "cannot be played on" in outcome.reason


def test_a_report_on_work_that_never_ran_is_nobodys_fault(played, a_worker) -> None:
    outcome = played(
        "- start\n- report: {a1: completed}\n- expect: {run: a1}", a_worker("mute", "")
    )
    assert outcome.verdict is Verdict.INCONCLUSIVE


def test_a_stimulus_that_is_not_supported_fails_the_check(played, a_worker) -> None:
    spec = a_worker(
        "no_policy",
        """
        class Unsupported(Exception):
            code = -32001

        class Own(Worker):
            def answer(self, stimulus):
                if stimulus["type"] == "policy":
                    raise Unsupported("no policy here")
                return {"effects": []}
        """,
    )
    outcome = played("- start\n- policy: {groups: {A: {weight: 2}}}\n- expect: {run: a1}", spec)
    assert outcome.verdict is Verdict.FAIL
    assert outcome.failure is not None
    assert "policy" in outcome.failure.expected


def test_a_worker_that_never_rests_fails_and_the_next_scenario_begins_afresh(
    played, a_worker
) -> None:
    spec = a_worker(
        "busy",
        """
        class Own(Worker):
            def answer(self, stimulus):
                return {"effects": [], "busy": stimulus["type"] != "stop"}
        """,
    )
    outcome = played("- start\n- expect: {run: a1}", spec)
    assert outcome.verdict is Verdict.FAIL
    assert outcome.failure is not None
    assert "rest" in outcome.failure.expected


def test_an_adapter_that_breaks_is_reported_and_replaced(played, a_worker) -> None:
    spec = a_worker(
        "raises",
        """
        class Own(Worker):
            def answer(self, stimulus):
                raise RuntimeError("boom")
        """,
    )
    outcome = played("- start\n- expect: {run: a1}", spec)
    assert outcome.verdict is Verdict.ADAPTER_ERROR
    assert "boom" in json.dumps([outcome.reason, str(outcome.failure)])


def test_a_need_that_is_not_considered_falls_away(played, a_worker) -> None:
    outcome = played("- start\n- expect: {run: a1}", a_worker("m", ""), needs="[considers.quota]")
    assert outcome.verdict is Verdict.ABSTAINED
    assert len(outcome.trace) == 0


def test_nothing_is_passed_by_declaring_few_places(played, a_worker) -> None:
    spec = a_worker("narrow", 'PARAMETERS = {"queueCapacity": 1}')
    offers = (
        "- start\n- publish: {A: [{authorize: a8}, {offer: a8}, {authorize: a9}, {offer: a9}]}\n"
    )
    outcome = played(f"{offers}- never: {{run: a9}}", spec)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert "holds 1 of" in outcome.reason


def test_a_declared_abstention_excuses_what_was_not_reached(played, a_worker) -> None:
    spec = a_worker("abstains", 'PARAMETERS = {"abstains": ["preempt"]}')
    outcome = played(
        "- start\n- given: {preempt: a1}\n- expect: {run: a1}", spec, needs="[preempt]"
    )
    assert outcome.verdict is Verdict.ABSTAINED


def test_who_abstains_is_not_advised_to_do_what_follows_from_the_trigger(played) -> None:
    spec = "worker_conformance.selftest.variants:PublishesNoEstimates"
    for mood in ("expect", "should"):
        steps = f"- start\n- given: {{accept: a1}}\n- {mood}: {{disclose: a1}}"
        outcome = played(steps, spec, needs="[estimates]")
        assert outcome.verdict is Verdict.ABSTAINED
        assert "disclose a1" in outcome.reason


def test_who_abstains_still_must_not_do_what_is_forbidden(played) -> None:
    spec = "worker_conformance.selftest.variants:PublishesNoEstimates"
    steps = "- start\n- given: {accept: a1}\n- never: {run: a1}"
    assert played(steps, spec, needs="[estimates]").verdict is Verdict.FAIL


def test_a_declared_abstention_that_is_broken_fails(played, a_worker) -> None:
    spec = a_worker(
        "preempts",
        """
        PARAMETERS = {"abstains": ["preempt"]}

        class Own(Worker):
            def answer(self, stimulus):
                if stimulus["type"] != "tick":
                    return {"effects": []}
                return {"effects": [{"type": "preempt", "slotId": "s1", "workItemId": "urn:x:y"}]}
        """,
    )
    outcome = played("- start\n- advance: 1s\n- given: {run: a1}", spec, needs="[preempt]")
    assert outcome.verdict is Verdict.FAIL


def test_manual_delivery_delivers_nothing_by_itself(played) -> None:
    outcome = played(
        "- start\n- deliver: {A: 1-2}\n- advance: 1m\n- expect: {ack: {A: 2}}", delivery="manual"
    )
    assert outcome.verdict is Verdict.PASS
    assert told(outcome).count("frames") == 1


def test_delivery_may_become_automatic(played) -> None:
    steps = "- start\n- deliver: {A: 1}\n- delivery: auto\n- expect: {run: a1}"
    assert played(steps, delivery="manual").verdict is Verdict.PASS


def test_a_crash_keeps_the_disk_and_a_wipe_does_not(played) -> None:
    kept = played("- start\n- given: {run: a1}\n- crash\n- start\n- expect: {subscribe: {A: 6}}")
    lost = played(
        "- start\n- given: {run: a1}\n- crash\n- wipe\n- start\n- expect: {subscribe: {A: 0}}"
    )
    assert (kept.verdict, lost.verdict) == (Verdict.PASS, Verdict.PASS)
    assert NoteKind.CRASHED in notes(kept)
    assert NoteKind.WIPED in notes(lost)


def test_a_kill_during_a_call_is_played_in_a_process_of_its_own(played) -> None:
    outcome = played(
        """
        - start
        - crash_during: {A: 1-4}
        - mark
        - start
        - delivery: auto
        - expect: {run: a1}
        """,
        delivery="manual",
    )
    assert outcome.verdict is Verdict.PASS


def test_a_wake_up_is_kept_on_a_long_advance(played, a_worker) -> None:
    spec = a_worker(
        "wakes",
        """
        class Own(Worker):
            def answer(self, stimulus):
                return {"effects": [], "wakeAt": "2026-07-15T00:00:30Z"}
        """,
    )
    outcome = played("- start\n- advance: 1m\n- expect: {run: a1}", spec)
    ticks = [entry.at for entry in outcome.trace if entry.body.get("type") == "tick"]
    assert ticks == [30_000_000, 60_000_000]


def test_a_ping_of_the_worker_is_echoed(played, a_worker) -> None:
    spec = a_worker(
        "pings",
        """
        PING = {"protocolVersion": "0.1", "frameId": "urn:x:1", "frameType": "PING",
                "nonce": "abcd", "sentAt": "2026-07-15T00:00:00Z"}

        class Own(Worker):
            def answer(self, stimulus):
                effects = [{"type": "frame", "frame": PING}] if stimulus["type"] == "start" else []
                return {"effects": effects}
        """,
    )
    outcome = played("- start\n- expect: {run: a1}", spec)
    replies = [
        frame.get("replyToNonce")
        for entry in outcome.trace
        if entry.body.get("type") == "frames"
        for frame in entry.body["frames"]
    ]
    assert replies == ["abcd"]


def test_the_same_seed_gives_the_same_trace(played) -> None:
    first, second = (
        list(played("- start\n- advance: 5m\n- expect: {submit: a1}").trace.to_lines())
        for _ in range(2)
    )
    # Only the folder of the state differs: it is made anew for each run.
    assert [line for line in first if "stateDirectory" not in line] == [
        line for line in second if "stateDirectory" not in line
    ]


TWO_OFFERS = "{A: [created, member, {authorize: a1}, {offer: a1}, {authorize: a2}, {offer: a2}]}"
RETRIED = "{a1: {completes: false, attempts: 2, max_delay: 10s, retryable: NET_DOWN}}"


def sighted(outcome, check_id: str):
    return next(one for one in outcome.sightings if one.check_id == check_id)


@pytest.mark.parametrize(
    "interlude", ["- crash", "- publish: {A: [{revise: {work: a2, deadline: 2h}}]}"]
)
def test_no_slot_idles_beside_what_nobody_could_start(played, interlude: str) -> None:
    steps = f"- start\n- given: {{run: a1, accept: a2}}\n{interlude}\n- advance: 10m"
    seen = sighted(played(f"{steps}\n- expect: {{run: a1}}", log=TWO_OFFERS), "MON-0009")
    assert seen.failure is None


def test_a_slot_may_be_kept_for_the_next_try(played) -> None:
    spec = "worker_conformance.selftest.variants:KeepsItsSlotForARetry"
    steps = "- start\n- given: {run: a1}\n- mark\n- report: {a1: {failed: NET_DOWN}}\n- advance: 1m"
    outcome = played(
        f"{steps}\n- expect: {{run: a1, count: {{release a1: 0}}}}", spec, work=RETRIED
    )
    assert outcome.verdict is Verdict.PASS
    assert sighted(outcome, "MON-0006").failure is None
