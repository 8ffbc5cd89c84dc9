"""Monitors of what outlasts a run: the Checkpoint that it goes on from, and its count of attempts.

Both are facts of the past that a Worker has to keep over preemption, crash and Snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field, frozen

from worker_conformance.documents.json_types import JsonObject, JsonValue, find
from worker_conformance.judge.monitors.base import Monitor, MonitorInfo, text
from worker_conformance.judge.trace import Entry, NoteKind
from worker_conformance.scenario.model import Level, Profile


@frozen
class _Recorded:
    """The latest Checkpoint that a Group's record names for a WorkItem."""

    checkpoint_id: str
    ownership_epoch: int
    sequence: int
    preempted: bool


@define
class ResumesFromTheLatest(Monitor):
    """MWP-WRK-015: preempted work goes on from the Checkpoint with which it was set aside.

    That is the one in the Group's record, or a later one that the executor reported and whose
    Command has got lost: nothing says that only what is recorded is a Checkpoint.
    """

    _latest: dict[str, _Recorded] = field(factory=dict)
    _granted_at: dict[str, tuple[int, int]] = field(factory=dict)
    _forged: set[str] = field(factory=set)
    _run: set[str] = field(factory=set)
    _reported: dict[str, list[str]] = field(factory=dict)

    def note(self, entry: Entry) -> None:
        """A lost disk knows nothing until it is told again; a forged frame tells nothing."""
        if entry.body.get("note") == NoteKind.WIPED:
            self._latest.clear()
            self._granted_at.clear()
            self._reported.clear()
        elif entry.body.get("note") == NoteKind.FORGED:
            self._forged.add(str(entry.body.get("frameId")))

    def stimulus(self, entry: Entry) -> None:
        """Learn Checkpoints and leases from Events and Snapshots."""
        for frame in _objects(entry.body.get("frames")):
            event = frame.get("event")
            if isinstance(event, dict) and str(frame.get("frameId")) not in self._forged:
                self._event(event)
        if entry.body.get("type") == "snapshot":
            self._snapshot(entry.body)
        reported = find(entry.body, "report", "checkpointId")
        if isinstance(reported, str):
            self._reported.setdefault(text(entry.body, "workItemId"), []).append(reported)

    def _event(self, event: JsonObject) -> None:
        sequence, kind = event.get("sequence"), text(event, "kind")
        if not isinstance(sequence, int):
            return
        if kind in {"work.checkpointed", "work.blocked"}:
            checkpoint = find(event, "payload", "checkpoint")
            self._learn(checkpoint, sequence, preempted=kind == "work.checkpointed")
        elif kind == "work.started":
            for lease in _objects(find(event, "payload", "leases")):
                epoch = lease.get("ownershipEpoch")
                if lease.get("leaseType") == "execution" and isinstance(epoch, int):
                    self._granted_at[text(lease, "leaseId")] = (sequence, epoch)

    def _snapshot(self, stimulus: JsonObject) -> None:
        if str(find(stimulus, "snapshot", "snapshotId")) in self._forged:
            return
        through = find(stimulus, "snapshot", "throughSequence")
        for checkpoint in _objects(find(stimulus, "state", "checkpoints")):
            work_item_id = text(checkpoint, "workItemId")
            # A Snapshot does not say whether the work was preempted or blocked.
            known = self._latest.get(work_item_id)
            if isinstance(through, int) and known is None:
                self._learn(checkpoint, through, preempted=self._is_queued(work_item_id, stimulus))

    @staticmethod
    def _is_queued(work_item_id: str, stimulus: JsonObject) -> bool:
        items = _objects(find(stimulus, "state", "workItems"))
        states = {text(item, "workItemId"): item.get("state") for item in items}
        return states.get(work_item_id) in {"queued", "active"}

    def _learn(self, checkpoint: JsonValue, sequence: int, *, preempted: bool) -> None:
        checkpoint_id, epoch = find(checkpoint, "checkpointId"), find(checkpoint, "ownershipEpoch")
        work_item_id = str(find(checkpoint, "workItemId"))
        known = self._latest.get(work_item_id)
        newer = known is None or sequence > known.sequence
        if isinstance(checkpoint_id, str) and isinstance(epoch, int) and newer:
            recorded = _Recorded(checkpoint_id, epoch, sequence, preempted)
            self._latest[work_item_id] = recorded

    def effect(self, entry: Entry) -> None:
        """The first run under a new lease goes on from there; a retry may begin anew."""
        lease_id = text(entry.body, "leaseId")
        if entry.body.get("type") != "run" or lease_id in self._run:
            return
        self._run.add(lease_id)
        latest_of = text(entry.body, "workItemId")
        latest = self._latest.get(latest_of)
        granted = self._granted_at.get(lease_id)
        if latest is None or granted is None or not latest.preempted:
            return
        if latest.sequence >= granted[0] or latest.ownership_epoch != granted[1]:
            return
        self.witness += 1
        named = find(entry.body, "resumeFrom", "checkpointId")
        if named not in self._recorded_or_later(latest_of, latest.checkpoint_id):
            name = self.context.short(text(entry.body, "workItemId"))
            self.breach(
                entry,
                f"{name} resumed from its latest Checkpoint, {latest.checkpoint_id}",
                f"resumed from {named}" if named else "begun anew",
            )

    def _recorded_or_later(self, work_item_id: str, recorded: str) -> list[str]:
        reported = self._reported.get(work_item_id, [])
        return reported[reported.index(recorded) :] if recorded in reported else [recorded]


RESUMES_FROM_THE_LATEST = MonitorInfo(
    check_id="MON-0070",
    title="Preempted work goes on from its latest Checkpoint",
    requirement="WRK-015.d",
    level=Level.MUST,
    profile=Profile.PREEMPTION,
    reached="work that was preempted ran again",
    needs=("preempt",),
)


@define
class AttemptsHold(Monitor):
    """MWP-WRK-018: no more attempts than the contract allows, whatever happens between them."""

    _attempts: dict[str, int] = field(factory=dict)
    _failures: dict[tuple[str, int | None], int] = field(factory=dict)
    _leases: dict[str, str] = field(factory=dict)

    def note(self, entry: Entry) -> None:
        """With its disk a Worker loses what no Event records."""
        if entry.body.get("note") == NoteKind.WIPED:
            self._failures.clear()
        elif entry.body.get("note") in {NoteKind.CRASHED, NoteKind.STOPPED}:
            self._leases.clear()

    def stimulus(self, entry: Entry) -> None:
        """Learn contracts, and count the failures of present runs."""
        for frame in _objects(entry.body.get("frames")):
            self._contract(find(frame, "event", "payload", "workItem"))
        for item in _objects(find(entry.body, "state", "workItems")):
            self._contract(item)
        failed = find(entry.body, "report", "kind") == "failed"
        slot, lease_id = text(entry.body, "slotId"), text(entry.body, "leaseId")
        if failed and self._leases.get(slot) == lease_id:
            key = self._key(text(entry.body, "workItemId"))
            self._failures[key] = self._failures.get(key, 0) + 1
            del self._leases[slot]  # a run fails once, however often that is reported

    def _contract(self, item: JsonValue) -> None:
        most = find(item, "contract", "retryPolicy", "maxAttempts")
        if isinstance(most, int):
            self._attempts[str(find(item, "workItemId"))] = most

    def _key(self, work_item_id: str) -> tuple[str, int | None]:
        item = self.facts.items.now(work_item_id)
        return work_item_id, item.ownership_epoch if item else None

    def effect(self, entry: Entry) -> None:
        """A run after failures is another attempt."""
        if entry.body.get("type") != "run":
            return
        work_item_id = text(entry.body, "workItemId")
        self._leases[text(entry.body, "slotId")] = text(entry.body, "leaseId")
        failures = self._failures.get(self._key(work_item_id), 0)
        most = self._attempts.get(work_item_id)
        if not failures or most is None:
            return
        self.witness += self.granted(entry.body)
        if failures >= most:
            name = self.context.short(work_item_id)
            self.breach(
                entry,
                f"at most {most} attempt(s) at {name} under one ownership",
                f"another run after {failures} reported failure(s)",
            )


ATTEMPTS_HOLD = MonitorInfo(
    check_id="MON-0071",
    title="Attempts stay within the contract, over crashes too",
    requirement="WRK-018.a",
    level=Level.MUST,
    profile=Profile.RETRIES,
    reached="work was tried again after a reported failure",
    needs=("automaticRetry",),
)


def _objects(value: JsonValue) -> Iterator[JsonObject]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())
