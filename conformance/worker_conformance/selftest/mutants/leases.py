"""Faults of leases, ownership and sessions, and of the Commands that name them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from attrs import evolve

from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.interposer import Interposer, KnowsItsRuns, payload_of, says
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.speaker import events_in

RENEWAL = "ext.missionweaveprotocol.core.work_execution_lease_renew"
FAR_AWAY = 1 << 60  # microseconds


# --- running ------------------------------------------------------------------------------


class RunsOnItsOwnCommand(Interposer):
    """Runs as soon as it has sent `work.start`; the Command's Action ID stands for the lease."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "run":
            return ()
        if not says(effect, "work.start"):
            return (effect,)
        command: Any = find(effect, "frame", "command")
        return (effect, _run(command["groupId"], command["workItemId"], command["actionId"]))


def _run(group_id: str, work_item_id: str, lease_id: str) -> JsonObject:
    return {
        "type": "run",
        "slotId": "s1",
        "groupId": group_id,
        "workItemId": work_item_id,
        "leaseId": lease_id,
        "context": {
            "missionContext": {},
            "credentials": {},
            "budget": {},
            "sideEffectScope": group_id,
        },
    }


@altered
def old_session_lease_lives(parts: Parts) -> None:
    """Takes an Execution Lease of an earlier session for a current one."""
    current_lease = parts.get("leases.current_lease")

    def lease_of_any_session(turn: Any, item: Any) -> Any:
        lease, session = item.lease, turn.projection.session
        if lease is None or lease.session_epoch >= session.session_epoch:
            return current_lease(turn, item)
        is_owned = item.state == "active" and parts.get("leases.is_owner")(turn, item)
        return lease if is_owned and turn.now < lease.expires_at else None

    parts.replace("leases.current_lease", lease_of_any_session)
    parts.replace("leases.is_queued", lambda _, item: item.state == "queued")


@altered
def expiry_never_looked_at(parts: Parts) -> None:
    """Holds a lease until somebody says that it is over."""
    current_lease = parts.get("leases.current_lease")

    def without_an_end(turn: Any, item: Any) -> Any:
        lease = item.lease
        if lease is None or turn.now < lease.expires_at or item.state != "active":
            return current_lease(turn, item)
        is_owner = parts.get("leases.is_owner")(turn, item)
        return evolve(lease, expires_at=FAR_AWAY) if is_owner else None

    parts.replace("leases.current_lease", without_an_end)


class RedeliveredGrantEndsTheRun(Interposer):
    """Takes a `work.started` that comes again for a new grant, and ends the run under the old."""

    def _begin(self) -> None:
        super()._begin()
        self._runs: dict[str, JsonObject] = {}
        self._ending: list[JsonObject] = []
        self._ended: set[object] = set()

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        again = [lease_id for lease_id in _granted_in(stimulus) if lease_id in self._runs]
        self._ending = [self._runs.pop(lease_id) for lease_id in again]
        self._ended.update(again)
        is_late = stimulus["type"] == "execution" and stimulus["leaseId"] in self._ended
        return None if is_late else stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "run":
            self._runs[text_at(effect, "leaseId")] = effect
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        for run in self._ending:
            yield _told("cancel", run)
            yield _told("release", run)


def _granted_in(stimulus: JsonObject) -> list[str]:
    started = (event for event in events_in(stimulus) if event["kind"] == "work.started")
    return [str(find(event, "payload", "executionLeaseId")) for event in started]


def _told(kind: str, run: JsonObject) -> JsonObject:
    return {"type": kind, "slotId": run["slotId"], "workItemId": run["workItemId"]}


class KeepsTheSlotOfCancelledWork(Interposer):
    """Cancels the run of a lease that has ended, and forgets to give its slot back."""

    def _begin(self) -> None:
        super()._begin()
        self._cancelled: set[object] = set()

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "cancel":
            self._cancelled.add(effect["slotId"])
        elif effect["type"] == "release" and effect["slotId"] in self._cancelled:
            return ()
        return (effect,)


@altered
def cancellation_unread(parts: Parts) -> None:
    """Goes on with cancelled work."""
    parts.module("facts").FACTS.pop("work.cancelled")


class CancellationStopsTheGroup(KnowsItsRuns):
    """Stops everything that runs in a Group when one of its WorkItems is cancelled."""

    def _afterwards(self) -> Iterable[JsonObject]:
        for event in events_in(self.stimulus):
            running = [r for r in self._runs.values() if r["groupId"] == event.get("groupId")]
            for run in running if event["kind"] == "work.cancelled" else ():
                self._runs.pop(run["slotId"])
                yield _told("cancel", run)
                yield _told("release", run)


# --- naming leases ------------------------------------------------------------------------


class FirstLeaseForEver(Interposer):
    """Names in every Command the lease under which the work was first started."""

    def _begin(self) -> None:
        super()._begin()
        self._first: dict[object, object] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        payload = payload_of(effect)
        lease_id = payload.get("executionLeaseId")
        if lease_id is None:
            return (effect,)
        first = self._first.setdefault(payload["workItemId"], lease_id)
        if first == lease_id:
            return (effect,)
        return (self.speaker.with_payload(effect, executionLeaseId=first),)


class NamesNoLease(Interposer):
    """Leaves the lease out of results: the Authority can find it by the WorkItem."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if not says(effect, "artifact.publish", "work.submit"):
            return (effect,)
        return (self.speaker.with_payload(effect, executionLeaseId=None),)


class SubmitsRegardless(Interposer):
    """Base: turns a report of completion into a submission although the Worker does not."""

    def _afterwards(self) -> Iterable[JsonObject]:
        report: Any = self.stimulus.get("report")
        if report is None or report["kind"] != "completed" or self._submitted or self._refrains():
            return
        group_id = report["artifacts"][0]["groupId"]
        yield self.speaker.command(
            "work.submit",
            group_id,
            {
                "workItemId": self.stimulus["workItemId"],
                "ownershipEpoch": 1,
                "executionLeaseId": self.stimulus["leaseId"],
                "artifactIds": [],
                "evidence": [],
            },
        )

    def _begin(self) -> None:
        super()._begin()
        self._submitted = False

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        self._submitted = False
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        self._submitted = self._submitted or says(effect, "work.submit", "work.fail")
        return (effect,)

    def _refrains(self) -> bool:
        return False


class LateResultDespiteFencing(SubmitsRegardless):
    """Submits a late result of work that was given to another Agent."""

    def _begin(self) -> None:
        super()._begin()
        self._fenced = False

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for event in events_in(stimulus):
            owner = find(event, "payload", "workItem", "owner", "agentId")
            self._fenced = self._fenced or owner not in {None, self.speaker.agent_id}
        return super()._given(stimulus)

    def _refrains(self) -> bool:
        return not self._fenced


class ResultUnderAnExpiredLease(SubmitsRegardless):
    """Submits whatever the executor reports, whether the lease still runs or not."""


class RenewalEndsTheRun(Interposer):
    """Takes a renewed lease for another one: reports of the run no longer count."""

    def _begin(self) -> None:
        super()._begin()
        self._renewed: set[object] = set()

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for event in events_in(stimulus):
            if event["kind"] == "work.progressed":
                self._renewed.add(event.get("workItemId") or find(event, "payload", "workItemId"))
                self._renewed.add(find(event, "payload", "workItem", "workItemId"))
        is_lost = stimulus["type"] == "execution" and stimulus["workItemId"] in self._renewed
        return None if is_lost else stimulus


class NeverRenews(Interposer):
    """Lets every lease run out."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return () if says(effect, RENEWAL) else (effect,)


# --- Commands -----------------------------------------------------------------------------


class SubmitsUntilVerified(Interposer):
    """Submits again, as a new Command, until the result is accepted."""

    def _begin(self) -> None:
        super()._begin()
        self._sent: dict[object, JsonObject] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if says(effect, "work.submit"):
            self._sent[payload_of(effect)["workItemId"]] = effect
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        if self.stimulus["type"] == "tick":
            for effect in self._sent.values():
                action_id = self.speaker.identifier("action")
                yield self.speaker.changed(effect, actionId=action_id, issuedAt=self.speaker.now)


class RetriesWithANewTime(Interposer):
    """Sends an unanswered Command again with a new issue time under the old Action ID."""

    def _begin(self) -> None:
        super()._begin()
        self._sent: set[object] = set()

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        action_id = find(effect, "frame", "command", "actionId")
        is_retry = action_id is not None and action_id in self._sent
        self._sent.add(action_id)
        return (self.speaker.changed(effect, issuedAt=self.speaker.now) if is_retry else effect,)


class FirstSessionForEver(Interposer):
    """Reads its Session Epoch once, at the first start, and keeps it on disk."""

    def _begin(self) -> None:
        super()._begin()
        self._epoch = 0

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] == "start":
            kept = Path(text_at(stimulus, "stateDirectory")) / "session"
            if not kept.exists():
                kept.write_text(str(self.speaker.session_epoch), "utf-8")
            self._epoch = int(kept.read_text("utf-8"))
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        epoch = find(effect, "frame", "command", "sessionEpoch")
        if epoch in {None, self._epoch}:
            return (effect,)
        return (self.speaker.changed(effect, sessionEpoch=self._epoch),)


@altered
def leases_begin_when_granted(parts: Parts) -> None:
    """Looks when a lease ends, and never when it begins."""
    _reads_leases(parts, lambda lease, _: evolve(lease, starts_at=0))


@altered
def leases_begin_at_once_or_never(parts: Parts) -> None:
    """Has no use for a lease that does not begin at the moment in which it is granted."""
    _reads_leases(
        parts,
        lambda lease, document: lease if document["startsAt"] == document["issuedAt"] else None,
    )


def _reads_leases(parts: Parts, read: Callable[[Any, Any], Any]) -> None:
    before = parts.get("contracts._lease")

    def otherwise(document: Any, lease: Any) -> Any:
        found = before(document, lease)
        return None if found is None else read(found, lease)

    parts.replace("contracts._lease", otherwise)


MUTANTS = (
    mutant(
        leases_begin_when_granted,
        "WRK-013.a",
        "LEASE-0090 MON-0010",
        "Expiry is looked at, because that is where it went wrong before.",
    ),
    mutant(
        leases_begin_at_once_or_never,
        "WRK-010.b",
        "LEASE-0091",
        "A grant that is looked at once, when it arrives.",
    ),
    mutant(
        RunsOnItsOwnCommand,
        "WRK-013.a",
        "LEASE-0001 MON-0010",
        "Optimistic execution: the grant is expected to come anyway.",
    ),
    mutant(
        old_session_lease_lives,
        "WRK-014.c",
        "LEASE-0003 MON-0010",
        "Leases compared by holder and time, not by session.",
    ),
    mutant(
        expiry_never_looked_at,
        "WRK-014.b",
        "LEASE-0009 MON-0012",
        "Waiting to be told that a lease is over, behind a network that tells nothing.",
    ),
    mutant(
        RedeliveredGrantEndsTheRun,
        "WRK-013.b",
        "LEASE-0004 MON-0008",
        "A grant handler that always replaces what is there.",
    ),
    mutant(
        KeepsTheSlotOfCancelledWork,
        "WRK-011.a",
        "MON-0006",
        "The error path of a job runner returns before its `finally`.",
        seen_in="LEASE-0011",
    ),
    mutant(
        cancellation_unread,
        "AUT-006.a",
        "LEASE-0011 SCHED-0029 SCHED-0077 ISOL-0025",
        "A kind of Event that no happy path ever sends.",
    ),
    mutant(
        CancellationStopsTheGroup,
        "AUT-006.a",
        "LEASE-0012 MON-0008",
        "Cancellation by tenant where cancellation by job was meant.",
    ),
    mutant(
        FirstLeaseForEver,
        "WRK-013.c",
        "LEASE-0005 MON-0012",
        "A lease ID stored with the job's static data.",
    ),
    mutant(
        NamesNoLease,
        "WRK-013.b",
        "LEASE-0006 MON-0012",
        "An optional member of an open payload.",
    ),
    mutant(
        LateResultDespiteFencing,
        "WRK-019.a",
        "LEASE-0007 MON-0013",
        "The result handler does not ask who owns the work by now.",
    ),
    mutant(
        ResultUnderAnExpiredLease,
        "WRK-014.b",
        "LEASE-0009 MON-0012",
        "A finished result is too good to throw away.",
    ),
    mutant(
        RenewalEndsTheRun,
        "WRK-013.b",
        "LEASE-0008",
        "Comparing whole lease records where the ID alone identifies them.",
    ),
    mutant(
        NeverRenews,
        "WRK-X.renew",
        "LEASE-0010",
        "Tested only with work that is shorter than a lease.",
    ),
    mutant(
        SubmitsUntilVerified,
        "WRK-003.a",
        "LEASE-0002 MON-0013",
        "A retry loop around the whole obligation instead of around the request.",
    ),
    mutant(
        RetriesWithANewTime,
        "EVT-003.a",
        "MON-0005",
        "Requests are built anew for each attempt.",
        seen_in="LEASE-0001",
    ),
    mutant(
        FirstSessionForEver,
        "FND-016.a",
        "MON-0004",
        "An epoch in the configuration file.",
        seen_in="REPLAY-0005",
    ),
)
