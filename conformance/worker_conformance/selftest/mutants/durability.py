"""Faults of durability: commits, positions, Snapshots, lost disks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from attrs import evolve

from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.judge.reading import positions_in
from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.interposer import Interposer, effects_of
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.speaker import events_in

# The copy's own types are known to the copy alone: alterations take its values as they come.
COMMITS_EVERY = 50


# --- durability ---------------------------------------------------------------------------


def _commit_later(parts: Parts, is_time: Callable[[Any], bool]) -> None:
    """Let effects leave first, and commit before a later stimulus, or at a graceful stop."""
    handle = parts.get("worker.Worker.handle")
    commit, close = parts.get("journal.Journal.commit"), parts.get("journal.Journal.close")

    def put_off(journal: Any, projection: Any) -> None:
        journal.owed = projection

    def pay(journal: Any) -> None:
        if hasattr(journal, "owed"):
            commit(journal, journal.owed)
            del journal.owed

    def handled(worker: Any, stimulus: Any) -> Any:
        if is_time(worker.projection.recall):
            pay(worker.projection.recall)
        return handle(worker, stimulus)

    def closed(journal: Any) -> None:
        pay(journal)
        close(journal)

    parts.replace("journal.Journal.commit", put_off)
    parts.replace("journal.Journal.close", closed)
    parts.replace("worker.Worker.handle", handled)


@altered
def ack_before_commit(parts: Parts) -> None:
    """Acknowledges at once and commits every fiftieth stimulus, or at a graceful stop."""

    def fiftieth(journal: Any) -> bool:
        journal.calls = getattr(journal, "calls", 0) + 1
        return bool(journal.calls % COMMITS_EVERY == 0)

    _commit_later(parts, fiftieth)


@altered
def ack_one_call_before_commit(parts: Parts) -> None:
    """Lets effects leave and commits them when the next stimulus comes."""
    _commit_later(parts, lambda _: True)


class ClearsItsStateOnStop(Interposer):
    """Empties its state directory at a graceful stop: only crashes need recovery."""

    def _begin(self) -> None:
        super()._begin()
        if self.stimulus:
            self._directory = Path(text_at(self.stimulus, "stateDirectory"))

    def _afterwards(self) -> Iterable[JsonObject]:
        if self.stimulus["type"] == "stop":
            for file in self._directory.iterdir():
                file.unlink()
        return ()


class ForgetsItsCursor(Interposer):
    """Keeps the Cursor in memory: after each start it subscribes from the beginning."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return (_subscribing_after(effect, 0) if self.stimulus["type"] == "start" else effect,)


class OneRowOfPosition(Interposer):
    """Keeps one row of position for all Groups: each resumes where the farthest one stood."""

    def _answer(self, answer: JsonObject) -> JsonObject:
        named = [position for effect in effects_of(answer) for position in positions_in(effect)]
        farthest = max((s for kind, _, s in named if kind == "SUBSCRIBE"), default=0)
        effects = [_subscribing_after(effect, farthest) for effect in effects_of(answer)]
        return {**answer, "effects": list(effects)}


def _subscribing_after(effect: JsonObject, sequence: int) -> JsonObject:
    if find(effect, "frame", "frameType") != "SUBSCRIBE":
        return effect
    frame: Any = effect["frame"]
    rows = [{**row, "afterSequence": sequence} for row in frame["groups"]]
    return {**effect, "frame": {**frame, "groups": rows}}


class ResumesOneTooFar(Interposer):
    """Subscribes after the sequence that it expects next instead of after its Cursor."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        after = [sequence for _, _, sequence in positions_in(effect) if sequence > 0]
        return (_subscribing_after(effect, after[0] + 1) if after else effect,)


class AcksOnReceipt(Interposer):
    """Acknowledges the highest sequence that has arrived, processed or not."""

    def _begin(self) -> None:
        super()._begin()
        self._highest: dict[str, int] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return () if find(effect, "frame", "frameType") == "ACK" else (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        for event in events_in(self.stimulus):
            group_id, sequence = find(event, "groupId"), find(event, "sequence")
            if isinstance(group_id, str) and isinstance(sequence, int):
                highest = max(self._highest.get(group_id, 0), sequence)
                self._highest[group_id] = highest
                row = {"groupId": group_id, "sequence": highest}
                yield self.speaker.frame("ACK", acknowledgements=[row], sentAt=self.speaker.now)


# --- Snapshots and lost disks -------------------------------------------------------------


@altered
def snapshot_unverified(parts: Parts) -> None:
    """Restores any Snapshot that it is handed."""
    parts.replace("replay._verified", lambda turn, snapshot, _: turn.group(snapshot["groupId"]))


@altered
def snapshot_one_too_far(parts: Parts) -> None:
    """Resumes after the Event that follows the Snapshot."""
    restore = parts.get("replay._restore")

    def too_far(turn: Any, group: Any, snapshot: Any, state: Any) -> None:
        restore(turn, group, snapshot, state)
        turn.change_group(turn.group(group.group_id), cursor=snapshot["throughSequence"] + 1)

    parts.replace("replay._restore", too_far)


@altered
def snapshot_events_unknown(parts: Parts) -> None:
    """Does not count the Events of a Snapshot as seen, and so applies its last one again."""
    restore = parts.get("replay._restore")

    def forgetful(turn: Any, group: Any, snapshot: Any, state: Any) -> None:
        restore(turn, group, {**snapshot, "eventIds": []}, state)

    parts.replace("replay._restore", forgetful)
    _no_receipt_no_repetition(parts)


def _no_receipt_no_repetition(parts: Parts) -> None:
    sequence = parts.get("inbox._sequence")

    def by_receipt(turn: Any, group: Any, event: Any, digest: str) -> None:
        if event["sequence"] <= group.cursor and not turn.projection.receipt(event["eventId"]):
            parts.get("facts.apply")(turn, group, event)
        else:
            sequence(turn, group, event, digest)

    parts.replace("inbox._sequence", by_receipt)


@altered
def cancellation_unread_in_replay(parts: Parts) -> None:
    """Skips cancellations while it replays, so that withdrawn work comes back."""
    fact = parts.module("facts").FACTS["work.cancelled"]
    replaying = parts.get("runtime.Link.REPLAYING")

    def live_only(turn: Any, group: Any, event: Any) -> None:
        if turn.runtime.links.get(group.group_id) is not replaying:
            fact(turn, group, event)

    parts.module("facts").FACTS["work.cancelled"] = live_only


def _dependencies_loaded(parts: Parts, changed: Callable[[Any], tuple[str, ...]]) -> None:
    """Find in the journal that work waits for something else than it does."""

    def otherwise(item: Any) -> Any:
        dependencies = changed(item.contract.dependencies)
        return evolve(item, contract=evolve(item.contract, dependencies=dependencies))

    parts.replace_loaded(otherwise)


@altered
def waits_for_something(parts: Parts) -> None:
    """Finds in its journal that work waits, and not for what."""
    _dependencies_loaded(parts, lambda known: ("urn:lost",) if known else ())


@altered
def dependencies_forgotten_in_a_crash(parts: Parts) -> None:
    """Finds its work in the journal, and not what it waits for."""
    _dependencies_loaded(parts, lambda _: ())


MUTANTS = (
    mutant(
        waits_for_something,
        "WRK-007.a",
        "SCHED-0090",
        "Listeners that are registered when the work arrives.",
    ),
    mutant(
        dependencies_forgotten_in_a_crash,
        "WRK-007.a",
        "SCHED-0091",
        "A graph that is built from messages and never stored.",
    ),
    mutant(
        ack_before_commit,
        "WRK-030.b",
        "REPLAY-0005",
        "Group commit and write-behind caches that answer before they write.",
    ),
    mutant(
        ack_one_call_before_commit,
        "WRK-030.b",
        "REPLAY-0015",
        "Acknowledging from the message handler while another thread owns the transaction.",
    ),
    mutant(
        ClearsItsStateOnStop,
        "WRK-030.b",
        "REPLAY-0016",
        "A journal that is meant for crash recovery and deleted on a clean exit.",
    ),
    mutant(
        ForgetsItsCursor,
        "WRK-030.b",
        "REPLAY-0005 REPLAY-0011",
        "Offsets that are kept by the client library and not by the application.",
    ),
    mutant(
        OneRowOfPosition,
        "EVT-010.a",
        "REPLAY-0011 MON-0001",
        "A position table without the Group in its key.",
    ),
    mutant(
        ResumesOneTooFar,
        "WRK-030.a",
        "REPLAY-0011 MON-0001",
        "Off by one between 'last processed' and 'next expected'.",
    ),
    mutant(
        AcksOnReceipt,
        "WRK-030.a",
        "REPLAY-0001 MON-0001",
        "Auto-acknowledgement switched on in a message client.",
    ),
    mutant(
        snapshot_unverified,
        "S16-SNAP.b",
        "REPLAY-0008",
        "Verification left for later, because the Snapshot comes from our own storage.",
    ),
    mutant(
        snapshot_one_too_far,
        "S16-SNAP.a",
        "REPLAY-0007",
        "Off by one between 'through' and 'next'.",
    ),
    mutant(
        snapshot_events_unknown,
        "S16-SNAP.a",
        "REPLAY-0007",
        "State is restored, the dedupe table beside it is not.",
    ),
    mutant(
        cancellation_unread_in_replay,
        "WRK-008.c",
        "REPLAY-0006",
        "A fast path for rebuilding that handles only what creates things.",
    ),
)
