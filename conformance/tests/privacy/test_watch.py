"""What is found in a history: whose it is, who received it, and what was no leak."""

import hashlib

import pytest

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.privacy.routes import EVERYBODY, Route
from worker_conformance.judge.privacy.watch import PrivacyWatch, Receipt
from worker_conformance.judge.trace import EntryKind, NoteKind, Trace

from .by_hand import GROUPS, A, B, command, event, trace_of

TAG_A, TAG_B = "aaaa1111bbbb2222", "0f3a9c5e7b1d2468"
CREDENTIAL_A = "c0ffee00c0ffee11"
WORK_B = f"urn:x:work-item:b1-{TAG_B}"
MARKERS = {"A": (TAG_A, CREDENTIAL_A), "B": (WORK_B, TAG_B)}
SECRETS = {"A": (f"token-{CREDENTIAL_A}",), "B": ()}


def told_of_b() -> JsonObject:
    return event(B, {"workItem": {"workItemId": WORK_B}, "contentHash": f"sha256:{'ab' * 32}"})


def receipts(trace: Trace) -> list[Receipt]:
    watch = PrivacyWatch(MARKERS, SECRETS, GROUPS.get)
    found = []
    for entry in trace:
        watch.observe(entry)
        found.extend(watch.receipts(entry))
    return found


def leaks(trace: Trace) -> list[str]:
    return [leak.how for receipt in receipts(trace) for leak in receipt.leaks]


def test_a_marker_of_another_group_is_a_leak() -> None:
    (receipt,) = receipts(trace_of(command(A, {"note": WORK_B})))
    assert (receipt.receiver, receipt.route) == ("A", Route.COMMAND)
    assert receipt.leaks[0].owner == "B"


def test_ones_own_marker_is_none() -> None:
    assert leaks(trace_of(command(B, {"note": WORK_B}))) == []


def test_what_a_group_was_told_itself_is_not_kept_from_it() -> None:
    shared = event(A, {"childMission": WORK_B})
    assert leaks(trace_of(shared, command(A, {"note": WORK_B}))) == []


HASHES = ("md5", "sha1", "sha256", "sha384", "sha512", "sha3_256", "blake2b", "blake2s")


@pytest.mark.parametrize("name", HASHES)
def test_a_hash_of_what_another_was_told_is_a_leak(name: str) -> None:
    key = hashlib.new(name, WORK_B.encode()).hexdigest()
    assert len(leaks(trace_of(told_of_b(), command(A, {"key": key})))) == 1
    assert leaks(trace_of(told_of_b(), command(B, {"key": key}))) == []


def test_a_hash_that_was_said_before_anything_was_told_derives_from_nothing() -> None:
    key = hashlib.sha256(WORK_B.encode()).hexdigest()
    assert leaks(trace_of(command(A, {"key": key}), told_of_b(), command(A, {"key": key}))) == []


def test_a_key_that_was_used_lawfully_first_still_leaks_to_another() -> None:
    key = hashlib.sha256(WORK_B.encode()).hexdigest()
    history = (told_of_b(), command(B, {"key": key}), command(A, {"key": key}))
    assert len(leaks(trace_of(*history))) == 1


def test_a_content_hash_of_another_is_a_leak() -> None:
    assert leaks(trace_of(told_of_b(), command(A, {"source": "ab" * 32}))) == ["as it is"]


def test_what_the_worker_made_itself_belongs_to_nobody() -> None:
    made = f"urn:worker:{'cd' * 32}"
    echo = event(B, {"actionId": made})
    assert leaks(trace_of(command(B, {"id": made}), echo, command(A, {"id": made}))) == []


def test_a_hash_of_what_everybody_knows_is_none() -> None:
    agent = "urn:x:agent:w-1234567812345678"
    start: JsonObject = {"type": "start", "agent": {"agentId": agent}, "groups": []}
    key = hashlib.sha256(agent.encode()).hexdigest()
    echoed = event(B, {"agentId": agent})
    assert leaks(trace_of(start, echoed, command(A, {"key": key}))) == []


def test_a_ping_reaches_everybody() -> None:
    ping: JsonObject = {"type": "frame", "frame": {"frameType": "PING", "nonce": TAG_B}}
    (receipt,) = receipts(trace_of(ping))
    assert receipt.receiver == EVERYBODY
    assert receipt.leaks


def test_rows_of_an_acknowledgement_are_each_groups_own() -> None:
    rows: list[JsonObject] = [{"groupId": A, "sequence": 1}, {"groupId": B, "sequence": 2}]
    frame: JsonObject = {"frameType": "ACK", "frameId": "f", "acknowledgements": list(rows)}
    found = receipts(trace_of({"type": "frame", "frame": frame}))
    assert [one.receiver for one in found] == ["A", "B"]
    assert not any(one.leaks for one in found)
    named = {**frame, "frameId": f"after-{TAG_B}"}
    found = receipts(trace_of({"type": "frame", "frame": named}))
    assert [bool(one.leaks) for one in found] == [True, False]


def test_a_rejection_reaches_the_group_of_its_frame() -> None:
    reject: JsonObject = {"type": "reject", "frameId": "urn:x:frame:1", "code": f"busy {TAG_B}"}
    found = receipts(trace_of(event(A, {}), reject))
    assert [(one.receiver, bool(one.leaks)) for one in found] == [("A", True)]


def test_an_operation_reaches_the_group_of_its_item() -> None:
    operation: JsonObject = {"type": "operation", "workItemId": WORK_B, "idempotencyKey": TAG_A}
    found = receipts(trace_of(told_of_b(), operation))
    assert [(one.receiver, one.leaks[0].owner) for one in found] == [("B", "A")]


def test_ones_own_credential_may_be_in_the_slot_and_nowhere_else() -> None:
    run: JsonObject = {"type": "run", "groupId": A, "context": {"credentials": SECRETS["A"][0]}}
    (in_slot,) = receipts(trace_of(run))
    (outside,) = receipts(trace_of(command(A, {"env": SECRETS["A"][0]})))
    assert in_slot.credentials == ()
    assert outside.credentials


def test_a_tokens_secret_is_found_wherever_it_is_said() -> None:
    token: JsonObject = {
        "type": "token",
        "token": {"workItemId": WORK_B, "tokenId": "t"},
        "secret": "s3cret-99887766554433",
    }
    hidden = b"s3cret-99887766554433".hex()
    found = receipts(trace_of(told_of_b(), token, command(B, {"key": hidden})))
    assert [bool(one.credentials) for one in found] == [True]


@pytest.mark.parametrize(
    ("written", "found"),
    [(f"run {CREDENTIAL_A}", True), (f"run b1 {WORK_B}", False), ("ok", False)],
)
def test_a_log_may_name_work_but_not_tell_of_it(written: str, *, found: bool) -> None:
    trace = Trace("BY-HAND", 1)
    note: JsonObject = {"note": NoteKind.STDERR.value, "text": written}
    entry = trace.append(1, 0, EntryKind.NOTE, note)
    watch = PrivacyWatch(MARKERS, SECRETS, GROUPS.get)
    watch.observe(entry)
    assert (watch.in_log(entry) is not None) is found


def test_a_group_alone_has_nobody_to_leak_from() -> None:
    trace = Trace("BY-HAND", 1)
    ping: JsonObject = {"type": "frame", "frame": {"frameType": "PING", "nonce": TAG_B}}
    entry = trace.append(1, 0, EntryKind.EFFECT, ping)
    watch = PrivacyWatch({"B": (TAG_B,)}, {}, GROUPS.get)
    watch.observe(entry)
    assert [one.leaks for one in watch.receipts(entry)] == [()]
