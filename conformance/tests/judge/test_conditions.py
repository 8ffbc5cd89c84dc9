"""Conditions, answered from Traces made by hand."""

from __future__ import annotations

import pytest

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.conditions import View, atoms_of
from worker_conformance.judge.trace import EntryKind, NoteKind, Trace
from worker_conformance.scenario.model import ACKED, END, Condition, ConditionKind

NAMES = {"urn:g:a": "A", "urn:g:b": "B", "urn:w:a1": "a1", "urn:w:a2": "a2"}
WORK = {"a1": "urn:w:a1", "a2": "urn:w:a2"}


def view(*effects: JsonObject, **members: object) -> View:
    trace = Trace("T-0001", 1)
    for effect in effects:
        kind = EntryKind(str(effect.pop("entry", "effect")))
        trace.append(1, 0, kind, effect)
    return View(
        trace=trace,
        window_start=int(str(members.get("window_start", 0))),
        name_of=NAMES.get,
        work_ids=WORK,
        renewal_kind="ext.a.b.renew",
        ends={"A": 7},
        markers={"A": ("secret-of-a-0001",), "B": ("secret-of-b-0001",)},
    )


def command(kind: str, work: str = "urn:w:a1", **payload: object) -> JsonObject:
    body = {"kind": kind, "groupId": "urn:g:a", "workItemId": work, "payload": payload}
    return {"type": "frame", "frame": {"frameType": "COMMAND", "command": body}}  # type: ignore[dict-item]


def ack(sequence: int) -> JsonObject:
    rows = [{"groupId": "urn:g:a", "sequence": sequence}]
    return {"type": "frame", "frame": {"frameType": "ACK", "acknowledgements": rows}}  # type: ignore[dict-item]


def subscribe(after: int) -> JsonObject:
    rows = [{"groupId": "urn:g:a", "afterSequence": after}]
    return {"type": "frame", "frame": {"frameType": "SUBSCRIBE", "groups": rows}}  # type: ignore[dict-item]


def run(work: str = "urn:w:a1", slot: str = "s1", **more: object) -> JsonObject:
    return {"type": "run", "slotId": slot, "workItemId": work, "groupId": "urn:g:a", **more}  # type: ignore[dict-item]


def holds(kind: ConditionKind, value: object, seen: View) -> list[bool | None]:
    return [atom.holds for atom in atoms_of(Condition(kind, value), seen)]


def test_commands_are_found_by_kind_and_work_item() -> None:
    seen = view(command("work.start"), command("ext.a.b.renew", "urn:w:a2"))
    assert holds(ConditionKind.START, ("a1", "a2"), seen) == [True, False]
    assert holds(ConditionKind.RENEW, ("a2",), seen) == [True]


def test_a_work_item_is_found_anywhere_in_a_payload() -> None:
    deep = command("work.submit", "", things=[{"about": "urn:w:a2"}])
    assert holds(ConditionKind.SUBMIT, ("a2",), view(deep)) == [True]


def test_a_window_hides_what_lies_before_it() -> None:
    seen = view(command("work.start"), window_start=1)
    assert holds(ConditionKind.START, ("a1",), seen) == [False]


@pytest.mark.parametrize(
    ("sequence", "wanted", "answer"),
    [(3, 3, True), (4, 3, False), (2, 3, None), (7, END, True), (6, END, None)],
)
def test_an_ack_above_is_wrong_and_one_below_is_open(
    sequence: int,
    wanted: int,
    answer: bool | None,  # noqa: FBT001 - a row of a table
) -> None:
    assert holds(ConditionKind.ACK, {"A": wanted}, view(ack(sequence))) == [answer]


def test_no_ack_at_all_leaves_the_question_open() -> None:
    assert holds(ConditionKind.ACK, {"A": 3}, view()) == [None]


def test_a_command_sent_again_under_its_action_id_counts_once() -> None:
    def started(action_id: str) -> JsonObject:
        effect = command("work.start")
        effect["frame"]["command"]["actionId"] = action_id  # type: ignore[index, call-overload]
        return effect

    seen = view(started("urn:action:1"), started("urn:action:1"), started("urn:action:2"), run())
    assert holds(ConditionKind.COUNT, {"start a1": 2, "run a1": 1}, seen) == [True, True]
    again = view(started("urn:action:1"), started("urn:action:1"), window_start=1)
    assert holds(ConditionKind.START, ("a1",), again) == [True]


def test_a_subscription_below_its_position_is_wrong() -> None:
    assert holds(ConditionKind.SUBSCRIBE, {"A": 3}, view(subscribe(2))) == [False]


@pytest.mark.parametrize(("after", "answer"), [(4, False), (5, True), (6, True)])
def test_a_subscription_is_held_to_the_last_ack_before_it(after: int, answer: bool) -> None:  # noqa: FBT001 - a row of a table
    seen = view(subscribe(0), ack(5), subscribe(after), ack(6))
    assert holds(ConditionKind.SUBSCRIBE, {"A": ACKED}, seen) == [answer]


def test_running_lasts_from_run_to_its_end() -> None:
    ended: JsonObject = {
        "entry": "stimulus",
        "type": "execution",
        "slotId": "s1",
        "report": {"kind": "completed"},
    }
    assert holds(ConditionKind.RUNNING, ("a1",), view(run())) == [True]
    assert holds(ConditionKind.RUNNING, ("a1",), view(run(), ended)) == [False]
    assert holds(ConditionKind.NOT_RUNNING, ("a1",), view(run(), dict(ended))) == [True]


def test_a_crash_ends_every_run() -> None:
    crash: JsonObject = {"entry": "note", "note": NoteKind.CRASHED.value}
    assert holds(ConditionKind.RUNNING, ("a1",), view(run(), crash)) == [False]


def test_order_is_a_subsequence() -> None:
    seen = view(command("work.start"), run(), command("work.submit"))
    assert holds(ConditionKind.ORDER, ("start a1", "submit a1"), seen) == [True]
    assert holds(ConditionKind.ORDER, ("submit a1", "run a1"), seen) == [False]


def test_counts_are_exact() -> None:
    seen = view(run(), run("urn:w:a2", "s2"), run())
    assert holds(ConditionKind.COUNT, {"run a1": 2, "run a2": 2}, seen) == [True, False]


def test_a_resumption_is_a_run_from_a_checkpoint() -> None:
    seen = view(run(resumeFrom={"checkpointId": "urn:c"}))
    assert holds(ConditionKind.RESUME, ("a1",), seen) == [True]
    assert holds(ConditionKind.RESUME, ("a1",), view(run())) == [False]


def test_a_decline_may_be_asked_for_its_reason() -> None:
    decline: JsonObject = {"type": "decline", "workItemId": "urn:w:a1", "reason": "deadline"}
    assert holds(ConditionKind.DECLINE, {"a1": "deadline"}, view(dict(decline))) == [True]
    assert holds(ConditionKind.DECLINE, {"a1": "capacity"}, view(dict(decline))) == [False]
    assert holds(ConditionKind.DECLINE, ("a1",), view(dict(decline))) == [True]


def granted(lease: str) -> JsonObject:
    return {
        "entry": "note",
        "note": NoteKind.APPENDED.value,
        "kind": "work.started",
        "work": "a1",
        "lease": lease,
    }


def test_leases_are_named_by_the_order_of_their_granting() -> None:
    seen = view(granted("urn:l:1"), granted("urn:l:2"), command("work.submit", lease="urn:l:2"))
    assert holds(ConditionKind.NAMES_LEASE, {"a1": 1}, seen) == [False]
    assert holds(ConditionKind.NAMES_LEASE, {"a1": 2}, seen) == [True]
    assert holds(ConditionKind.NAMES_LEASE, {"a1": 3}, seen) == [None]


def test_a_refused_operation_names_no_lease() -> None:
    refused: JsonObject = {"type": "operation", "leaseId": "urn:l:1", "refused": "no token"}
    assert holds(ConditionKind.NAMES_LEASE, {"a1": 1}, view(granted("urn:l:1"), refused)) == [False]


def test_a_leak_is_found_in_what_a_group_receives_and_in_its_slots() -> None:
    told = command("work.submit", note="of SECRET-of-b-0001")
    assert holds(ConditionKind.LEAKS, {"A": ("B",)}, view(told)) == [True]
    context = {"credentials": {"x": "secret-of-b-0001"}}
    assert holds(ConditionKind.LEAKS, {"A": ("B",)}, view(run(context=context))) == [True]
    assert holds(ConditionKind.LEAKS, {"A": ("B",)}, view(command("work.start"))) == [False]
    assert holds(ConditionKind.LEAKS, {"A": ("B",)}, view()) == [None]


def test_a_ping_is_answered_by_its_own_nonce() -> None:
    ping: JsonObject = {
        "entry": "stimulus",
        "type": "frames",
        "frames": [{"frameType": "PING", "nonce": "n1"}],
    }
    pong: JsonObject = {"type": "frame", "frame": {"frameType": "PING", "replyToNonce": "n1"}}
    other: JsonObject = {"type": "frame", "frame": {"frameType": "PING", "replyToNonce": "n0"}}
    answered = True
    assert holds(ConditionKind.PONG, answered, view(dict(ping), pong)) == [True]
    assert holds(ConditionKind.PONG, answered, view(dict(ping), other)) == [False]


def at_safe_point(slot: str = "s1") -> JsonObject:
    report: JsonObject = {"kind": "safe_point"}
    return {"entry": "stimulus", "type": "execution", "slotId": slot, "report": report}


def test_work_stands_at_its_safe_point_while_a_preempt_is_outstanding() -> None:
    preempt: JsonObject = {"type": "preempt", "slotId": "s1"}
    assert holds(ConditionKind.NOT_RUNNING, ("a1",), view(run(), at_safe_point())) == [False]
    standing = (run(), preempt, at_safe_point())
    assert holds(ConditionKind.NOT_RUNNING, ("a1",), view(*standing)) == [True]
    resumed = (run(), dict(preempt), at_safe_point(), {"type": "continue", "slotId": "s1"})
    assert holds(ConditionKind.RUNNING, ("a1",), view(*resumed)) == [True]
