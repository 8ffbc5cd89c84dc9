"""Monitors of leases: nothing runs without one, and nothing names a dead one."""

from __future__ import annotations

from heapq import heappop, heappush

from attrs import define, field

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.judge.facts import (
    FAILING_STATES,
    OWNED_STATES,
    Facts,
    GroupFact,
    ItemFact,
    LeaseFact,
)
from worker_conformance.judge.monitors.base import Monitor, MonitorInfo, text
from worker_conformance.judge.reading import (
    command_of,
    epoch_of,
    kind_of,
    strings_in,
    work_item_of,
)
from worker_conformance.judge.trace import Entry, NoteKind
from worker_conformance.scenario.model import Level, Profile

OFFLINE_BINDING = "urn:missionweaveprotocol:extension:bounded-offline-execution"

LEASE_COMMANDS = frozenset(
    {"work.checkpoint", "work.block", "artifact.publish", "work.submit", "work.fail"}
)
"""Commands that name the current Lease ID while the work runs (MWP-WRK-013)."""

BUFFERED_COMMANDS = frozenset({"work.checkpoint", "message.post"})
"""What an outage may have kept: progress and Checkpoints, and nothing else (MWP-WRK-020)."""


@define
class RunNeedsALease(Monitor):
    """MWP-WRK-013: `run` only under a current Execution Lease bound to exactly this work."""

    def effect(self, entry: Entry) -> None:
        """Check every binding of the lease that a `run` names."""
        if entry.body.get("type") != "run":
            return
        self.witness += 1
        work_item_id, lease_id = text(entry.body, "workItemId"), text(entry.body, "leaseId")
        expected = self._fault(entry, work_item_id, self.facts.leases.now(lease_id))
        if expected:
            self.breach(entry, expected, f"run of {self.context.short(work_item_id)}")

    def _fault(self, entry: Entry, work_item_id: str, lease: LeaseFact | None) -> str | None:
        if lease is None or lease.lease_type != "execution":
            return "an Execution Lease that a delivered Event granted"
        item = self.facts.items.now(work_item_id)
        bindings = (
            (lease.work_item_id == work_item_id, "a lease for this WorkItem"),
            (lease.holder == self.facts.agent_id, "a lease held by this Agent"),
            (lease.session_epoch == self.facts.session_epoch, "a lease of this Session Epoch"),
            (
                item is not None and item.ownership_epoch == lease.ownership_epoch,
                "a lease of the current Ownership Epoch",
            ),
            (
                self.facts.may_be_current(lease, entry.at),
                "a lease that has begun, is open and has not expired",
            ),
            (
                item is not None and item.group_id == text(entry.body, "groupId"),
                "the Group that the WorkItem belongs to",
            ),
        )
        return next((expected for holds, expected in bindings if not holds), None)


RUN_NEEDS_A_LEASE = MonitorInfo(
    check_id="MON-0010",
    title="Nothing runs without a current Execution Lease of its own",
    requirement="WRK-013.a",
    level=Level.MUST,
    profile=Profile.LEASES,
    reached="a WorkItem ran",
    also=("WRK-005.c",),
)


@define
class OneRunPerLease(Monitor):
    """MWP-WRK-029: a `work.started` delivered again starts nothing again.

    A lease may run again after the executor reported a failure under it (a retry), or after its
    time was over for all that was known and a renewal became known only then, or after its Group's
    link was down or its subscription had ended: offline a run may have to end before its lease
    does. So may one of which a Command was refused: whether to do the work again is not what this
    clause is about.
    """

    _spent: set[str] = field(factory=set)
    _named: dict[str, set[str]] = field(factory=dict)
    _expiring: list[tuple[int, str]] = field(factory=list)
    _redelivered: int = 0

    def stimulus(self, entry: Entry) -> None:
        """Count repetitions after a run; a reported failure frees its lease for another attempt."""
        if self._spent and self.facts.redelivered > self._redelivered:
            self.witness += 1
        self._redelivered = self.facts.redelivered
        report = entry.body.get("report")
        if isinstance(report, dict) and report.get("kind") == "failed":
            self._spent.discard(text(entry.body, "leaseId"))
        self._forget_what_was_over(entry.at)
        if entry.body.get("type") in {"link", "leave"}:
            self._spent -= {one for one in self._spent if self._was_cut(one, entry.body)}

    def _was_cut(self, lease_id: str, link: JsonObject) -> bool:
        lease, named = self.facts.leases.now(lease_id), link.get("groupIds")
        if link.get("type") == "leave":
            named = [link.get("groupId")]
        item = self.facts.items.now(lease.work_item_id) if lease is not None else None
        return not isinstance(named, list) or (item is not None and item.group_id in named)

    def _forget_what_was_over(self, now: int) -> None:
        """Only those whose time has come; what this call tells counts from the next one on."""
        while self._expiring and self._expiring[0][0] <= now:
            _, lease_id = heappop(self._expiring)
            earlier = self.facts.leases.before(lease_id)
            if earlier is not None and earlier.expires_at <= now:
                self._spent.discard(lease_id)
        for lease_id in self.facts.leases.changed():
            if lease_id in self._spent:
                self._watch(lease_id)

    def _watch(self, lease_id: str) -> None:
        known = self.facts.leases.now(lease_id)
        if known is not None:
            heappush(self._expiring, (known.expires_at, lease_id))

    def note(self, entry: Entry) -> None:
        """A refusal frees the leases that its Command named."""
        if entry.body.get("note") == NoteKind.REFUSED:
            self._spent -= self._named.pop(text(entry.body, "actionId"), set())

    def effect(self, entry: Entry) -> None:
        """Count runs by lease."""
        command = command_of(entry.body)
        if command is not None:
            named = self._spent.intersection(strings_in(command.get("payload")))
            self._named[text(command, "actionId")] = named
        if entry.body.get("type") != "run":
            return
        lease_id = text(entry.body, "leaseId")
        if lease_id in self._spent:
            name = self.context.short(text(entry.body, "workItemId"))
            self.breach(entry, f"one run of {name} under its lease", "a second run under it")
        self._spent.add(lease_id)
        self._watch(lease_id)


ONE_RUN_PER_LEASE = MonitorInfo(
    check_id="MON-0011",
    title="An Event delivered again starts nothing again",
    requirement="WRK-029.a",
    level=Level.MUST,
    profile=Profile.REPLAY,
    reached="Events were delivered again after work had run",
)


@define
class NamesTheCurrentLease(Monitor):
    """MWP-WRK-013, -014: Commands about running work name its current lease and no dead one."""

    def effect(self, entry: Entry) -> None:
        """Look at every lease that a Command names."""
        command = command_of(entry.body)
        if command is None or _is_buffered(command):
            return
        named = self._named(command)
        if kind_of(command) in LEASE_COMMANDS:
            self._must_name(entry, command, named)
        for lease in named:
            earlier = self.facts.leases.before(lease.lease_id)
            if earlier is not None and not earlier.open:
                name = self.context.short(lease.work_item_id)
                self.breach(
                    entry,
                    "no Command that names a lease known to be closed",
                    f"{kind_of(command)} names a closed lease of {name}",
                )
            elif earlier is not None and self.facts.earliest(entry.at) >= max(
                earlier.expires_at, lease.expires_at
            ):
                self.breach(
                    entry,
                    "no state-changing Command under an expired lease",
                    f"{kind_of(command)} names a lease that has run out",
                )

    def _named(self, command: JsonObject) -> list[LeaseFact]:
        found = (self.facts.leases.now(one) for one in strings_in(command.get("payload")))
        return [lease for lease in found if lease is not None and lease.lease_type == "execution"]

    def _must_name(self, entry: Entry, command: JsonObject, named: list[LeaseFact]) -> None:
        work_item_id = work_item_of(command, self.facts.items.keys())
        known = self.facts.items.during(work_item_id or "")
        if not known or self.facts.items.before(work_item_id or "") is None:
            return
        if any(item.state != "active" for item in known):
            return
        self.witness += 1
        if named:
            return
        self.breach(
            entry,
            "the current Lease ID in every Command about running work",
            f"{kind_of(command)} for {self.context.short(work_item_id)} names no lease",
        )


def _is_buffered(command: JsonObject) -> bool:
    """Whether a Command has waited for the end of an outage, as its kind may."""
    is_bound = find(command, "extensions", OFFLINE_BINDING) is not None
    return is_bound and kind_of(command) in BUFFERED_COMMANDS


NAMES_THE_CURRENT_LEASE = MonitorInfo(
    check_id="MON-0012",
    title="Commands about running work name its current lease, and none that is closed",
    requirement="WRK-013.b",
    level=Level.MUST,
    profile=Profile.LEASES,
    reached="a checkpoint, block, publication, submission or failure of active work was sent",
    also=("WRK-014.a",),
)


@define
class NothingForbidden(Monitor):
    """MWP-WRK-003: no Command that the facts delivered before it forbid."""

    def effect(self, entry: Entry) -> None:
        """Judge Commands about WorkItems once the replay of their Group is over."""
        command = command_of(entry.body)
        if command is None:
            return
        work_item_id = work_item_of(command, self.facts.items.keys())
        before = self.facts.items.before(work_item_id or "")
        group = self.facts.groups.before(text(command, "groupId"))
        if before is None or group is None or not group.caught_up:
            return
        self.witness += 1
        faults = [
            self._fault(command, item) for item in self.facts.items.during(before.work_item_id)
        ]
        now = self.facts.groups.now(group.group_id)
        if self._is_over(group, command) and self._is_over(now, command):
            self.breach(
                entry,
                "nothing about work of a Mission that has ended or a Membership that is over",
                kind_of(command),
            )
        elif all(faults):
            self.breach(entry, str(faults[0]), self._observed(command, before))

    @staticmethod
    def _is_over(group: GroupFact | None, command: JsonObject) -> bool:
        """MWP-MSN-010: without a Membership nothing. MWP-AUT-006: after a Mission Messages only."""
        is_said = kind_of(command).startswith("message.")
        return group is None or not group.member or (group.ended and not is_said)

    def _fault(self, command: JsonObject, item: ItemFact) -> str | None:
        kind = kind_of(command)
        if kind == "work.accept_offer":
            return self._accept_fault(command, item)
        if kind not in LEASE_COMMANDS and kind != "work.start":
            return None
        states = FAILING_STATES if kind == "work.fail" else OWNED_STATES
        if item.state not in states or item.owner != self.facts.agent_id:
            return "no Command about a WorkItem that this Agent does not own now"
        if self.facts.was_disowned(item):
            return "a new Ownership Epoch after this one was called stale"
        if kind in _OF_ACTIVE_WORK and item.state != "active" and not _is_buffered(command):
            return f"{kind} only for an active WorkItem"
        epoch = epoch_of(command, self.context.parameters.payload_path("ownershipEpoch"))
        if epoch is not None and epoch != item.ownership_epoch:
            return f"Ownership Epoch {item.ownership_epoch}"
        if kind == "work.start" and item.state != "queued":
            return "work.start only for a queued WorkItem"
        if kind == "work.start" and any(_dead(self.facts, one) for one in item.depends_on):
            return "no work.start while a dependency is known not to be verified"
        return None

    def _accept_fault(self, command: JsonObject, item: ItemFact) -> str | None:
        named = set(strings_in(command.get("payload")))
        pending = {
            str(offer.get("offerId"))
            for offer in item.offers
            if offer.get("status") == "pending" and offer.get("agentId") == self.facts.agent_id
        }
        if item.state == "offered" and named & pending:
            return None
        return "acceptance only of a pending offer to this Agent"

    def _observed(self, command: JsonObject, item: ItemFact) -> str:
        name = self.context.short(item.work_item_id)
        owner = self.context.short(item.owner) if item.owner else "nobody"
        return f"{kind_of(command)} for {name}, known as {item.state}, owned by {owner}"


_OF_ACTIVE_WORK = LEASE_COMMANDS - {"work.fail"}  # MWP-WRK-003: what 10.2 allows of no other


def _dead(facts: Facts, work_item_id: str) -> bool:
    known = facts.items.during(work_item_id)
    return bool(known) and all(item.state not in {"submitted", "verified"} for item in known)


NOTHING_FORBIDDEN = MonitorInfo(
    check_id="MON-0013",
    title="No Command that delivered facts forbid",
    requirement="WRK-003.a",
    level=Level.MUST,
    profile=Profile.LEASES,
    reached="a Command about a known WorkItem was sent after its Group's replay",
    also=("FND-023.a", "MSN-010.a"),
)


@define
class GatesHold(Monitor):
    """MWP-AUT-003: no run of gated work without its approval."""

    def effect(self, entry: Entry) -> None:
        """A `run` of a WorkItem that needs approval needs one that is unexpired now."""
        if entry.body.get("type") != "run":
            return
        item = self.facts.items.now(text(entry.body, "workItemId"))
        if item is None or not self.facts.needs_approval(item):
            return
        self.witness += 1
        if not self.facts.approved(item, self.facts.earliest(entry.at)):
            name = self.context.short(item.work_item_id)
            self.breach(
                entry,
                f"an unexpired approval for {name} and Ownership Epoch {item.ownership_epoch}",
                f"{name} runs without one",
            )


GATES_HOLD = MonitorInfo(
    check_id="MON-0014",
    title="Gated work runs only under its approval",
    requirement="AUT-003.a",
    level=Level.MUST,
    profile=Profile.SCHEDULING,
    reached="work that needs an execution approval ran",
)
