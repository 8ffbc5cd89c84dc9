"""Faults of what outlasts a run: Checkpoints, counts of attempts, Snapshots, unknown extensions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.selftest.copies import Parts, altered, notes
from worker_conformance.selftest.interposer import Interposer
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.world_faults import (
    SNAPSHOT,
    snapshot_forgets_approvals,
    snapshot_forgets_checkpoints,
)


class BeginsAnew(Interposer):
    """Runs preempted work again from its beginning."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return ({name: value for name, value in effect.items() if name != "resumeFrom"},)


@altered
def tries_for_ever(parts: Parts) -> None:
    """Tries again after every retryable failure, however often that was tried before."""

    def delay(turn: Any, item: Any, code: str) -> int | None:
        del turn
        return 0 if code in item.contract.retryable else None

    parts.replace("retries.delay_before_retry", delay)


@altered
def begun_is_forgotten(parts: Parts) -> None:
    """Knows from its own disk alone that work was begun, and takes what is replayed for late."""
    overdue = parts.get("eligibility._overdue")

    def since_the_start(turn: Any, item: Any, ownership: Any) -> Any:
        began = parts.module("records").evolve(item, started=bool(item.runs))
        return overdue(turn, began, ownership)

    parts.replace("eligibility._overdue", since_the_start)


@altered
def rebuilt_work_is_begun(parts: Parts) -> None:
    """Takes all work of its own that a Replay tells of for begun."""
    absorb, replaying = parts.get("facts.absorb"), parts.get("runtime.Link").REPLAYING

    def absorbed(turn: Any, group: Any, document: Any, payload: Any, event: Any) -> None:
        absorb(turn, group, document, payload, event)
        item = turn.item(document["workItemId"])
        if item is not None and item.ownership and turn.runtime.links[group.group_id] is replaying:
            turn.change(item, started=True)

    parts.replace("facts.absorb", absorbed)


# --- Snapshots ----------------------------------------------------------------------------


def _restores_unless(parts: Parts, *looked_at: str) -> None:
    """Verify a Snapshot, but for what is not among `looked_at`."""
    error, digest = parts.get("documents.DocumentError"), parts.get("documents.digest")

    def verified(turn: Any, snapshot: Any, state: Any) -> Any:
        creator = (snapshot["createdBy"]["type"], snapshot["createdBy"]["id"])
        group = turn.group(snapshot["groupId"])
        if "signature" in looked_at:
            turn.runtime.keys.verify(snapshot, snapshot["createdAt"], creator)
        wrong = {
            "creator": not turn.runtime.may("archival", creator),
            "reference": digest(snapshot) != group.awaited_snapshot,
            "state": digest(state) != snapshot["stateHash"],
        }
        if any(wrong.get(part, False) for part in looked_at):
            raise error("PROTOCOL_VIOLATION", "not to be used")
        return group

    parts.replace("replay._verified", verified)


@altered
def snapshot_is_a_checkpoint(parts: Parts) -> None:
    """Takes a Snapshot for the place where all that it tells of goes on."""
    absorb = parts.get("facts.absorb")

    def made_up(turn: Any, group: Any, document: Any, payload: Any, event: Any) -> None:
        if event["kind"] == SNAPSHOT and payload.get("checkpoint") is None:
            name = f"{document['workItemId']}:checkpoint:restored"
            known = {"checkpointId": name, "checkpointHash": f"sha256:{'0' * 64}"}
            payload = {**payload, "checkpoint": known}
        absorb(turn, group, document, payload, event)

    parts.replace("facts.absorb", made_up)


@altered
def restored_gates_stay_shut(parts: Parts) -> None:
    """Takes no approval for work that a Snapshot has told of: that had all there was."""
    absorb, table = parts.get("facts.absorb"), parts.get("facts.FACTS")
    approved = table["approval.execution.granted"]

    def noted(turn: Any, group: Any, document: Any, payload: Any, event: Any) -> None:
        absorb(turn, group, document, payload, event)
        if event["kind"] == SNAPSHOT:
            notes(turn).setdefault("restored", set()).add(document["workItemId"])

    def only_others(turn: Any, group: Any, event: Any) -> None:
        if event["payload"].get("workItemId") not in notes(turn).get("restored", ()):
            approved(turn, group, event)

    parts.replace("facts.absorb", noted)
    table["approval.execution.granted"] = only_others


@altered
def snapshot_signature_unchecked(parts: Parts) -> None:
    """Compares a Snapshot's hashes and its creator's name, and computes no signature."""
    _restores_unless(parts, "creator", "reference", "state")


@altered
def snapshot_of_anybody(parts: Parts) -> None:
    """Restores a Snapshot of whoever has a registered key."""
    _restores_unless(parts, "signature", "reference", "state")


@altered
def snapshot_not_the_one_meant(parts: Parts) -> None:
    """Restores any authentic Snapshot, whichever the Authority referred to."""
    _restores_unless(parts, "signature", "creator", "state")


@altered
def believes_no_snapshot(parts: Parts) -> None:
    """Refuses every Snapshot, and waits for the log to come back."""
    error = parts.get("documents.DocumentError")

    def refused(*_: object) -> None:
        raise error("AUTH_FORBIDDEN", "no Snapshots here")

    parts.replace("replay._verified", refused)


# --- unknown extensions -------------------------------------------------------------------


@altered
def critical_extensions_ignored(parts: Parts) -> None:
    """Reads what it knows and takes no notice of extensions."""
    parts.replace("contracts.has_critical_extension", lambda *_: False)


@altered
def critical_in_events_only(parts: Parts) -> None:
    """Looks for critical extensions on an Event, and never in the documents that it carries."""
    before = parts.get("contracts.has_critical_extension")
    parts.replace("contracts.has_critical_extension", lambda *ones: before(*ones[-1:]))
    parts.module("contracts").has_critical_extension = lambda *_: False


@altered
def approvals_have_no_extensions(parts: Parts) -> None:
    """Looks for critical extensions where work is told of, and not where it is approved."""
    before = parts.get("contracts.has_critical_extension")

    def of_work(*documents: Any) -> bool:
        kinds = {one.get("kind") for one in documents}
        return "approval.execution.granted" not in kinds and before(*documents)

    parts.replace("contracts.has_critical_extension", of_work)


@altered
def extended_approvals_unread(parts: Parts) -> None:
    """Opens no gate by an Approval that comes with any extension at all."""
    before = parts.get("facts._approval_fact")

    def plain_only(turn: Any, group: Any, event: Any) -> None:
        if not event.get("extensions"):
            before(turn, group, event)

    facts = parts.module("facts")
    facts.FACTS = {**facts.FACTS, "approval.execution.granted": plain_only}


@altered
def every_extension_is_critical(parts: Parts) -> None:
    """Takes no part in anything that carries an extension it does not know."""
    known = parts.get("contracts.KNOWN_EXTENSIONS")

    def any_unknown(*documents: Any) -> bool:
        found = (uri for one in documents for uri in one.get("extensions", {}))
        return any(uri not in known for uri in found)

    parts.replace("contracts.has_critical_extension", any_unknown)


MUTANTS = (
    mutant(
        BeginsAnew,
        "WRK-015.d",
        "MON-0070 PREEMPT-0003",
        "schedulers that restart what they evicted",
    ),
    mutant(
        tries_for_ever,
        "WRK-018.a",
        "MON-0071",
        "queues whose retry counter lives in the process that dies",
        "RETRY-0001 RETRY-0002 RETRY-0003 RETRY-0004",
    ),
    mutant(
        begun_is_forgotten,
        "WRK-008.c",
        "REPLAY-0070",
        "a deadline for the start that is compared with a counter of this machine",
    ),
    mutant(
        rebuilt_work_is_begun,
        "WRK-013.f",
        "REPLAY-0071",
        "a deadline that nobody keeps after a restore",
    ),
    mutant(
        snapshot_forgets_approvals,
        "S16-SNAP.a",
        "REPLAY-0064",
        "A backup of the tasks, and not of what was decided about them.",
    ),
    mutant(
        restored_gates_stay_shut,
        "S16-SNAP.a",
        "REPLAY-0065",
        "An import that closes what it has read.",
    ),
    mutant(
        snapshot_forgets_checkpoints,
        "S16-SNAP.a",
        "REPLAY-0066",
        "Two tables, of which the importer knows one.",
    ),
    mutant(
        snapshot_is_a_checkpoint,
        "S16-SNAP.a",
        "REPLAY-0067",
        "Two things that are both called a state.",
    ),
    mutant(
        snapshot_signature_unchecked,
        "S16-SNAP.b",
        "REPLAY-0038",
        "a hash compared with one that came by the same way",
    ),
    mutant(
        snapshot_of_anybody,
        "S16-SNAP.b",
        "REPLAY-0040",
        "authenticity taken for authority",
    ),
    mutant(
        snapshot_not_the_one_meant,
        "S16-SNAP.b",
        "REPLAY-0042",
        "an old backup, restored because its signature is good",
    ),
    mutant(
        believes_no_snapshot,
        "S16-SNAP.a",
        "REPLAY-0007 REPLAY-0039 REPLAY-0041 REPLAY-0043",
        "a recovery path that nobody has ever taken",
    ),
    mutant(
        critical_extensions_ignored,
        "EXT-002.a",
        "REPLAY-0036 REPLAY-0044",
        "must-ignore, applied to what must be understood",
    ),
    mutant(
        critical_in_events_only,
        "EXT-002.a",
        "REPLAY-0044",
        "a check in the message handler that restoring does not pass through",
    ),
    mutant(
        approvals_have_no_extensions,
        "EXT-002.a",
        "REPLAY-0068",
        "a guard in one handler of several",
    ),
    mutant(
        extended_approvals_unread,
        "EXT-002.b",
        "REPLAY-0069",
        "a reader of decisions that wants to know every member",
    ),
    mutant(
        every_extension_is_critical,
        "EXT-002.b",
        "REPLAY-0037 REPLAY-0045 REPLAY-0069",
        "a strict reader that was meant for core members",
    ),
)
