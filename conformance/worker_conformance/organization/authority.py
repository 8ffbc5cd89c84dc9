"""The Group Authority: one Group's door for Commands, acts, replay and Snapshots.

Serializes everything that happens in one Group (MWP-EVT-004): takes a Worker's authentic Command
and accepts, refuses or repeats it, lets the Organization act, and keeps the log. Never delivers
anything and never looks into another Group.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.documents.signing import signing_bytes
from worker_conformance.errors import SuiteError
from worker_conformance.organization import acts, checks, commands, forging, respelling, snapshots
from worker_conformance.organization.commands import cause_of
from worker_conformance.organization.doors import door_of
from worker_conformance.organization.items import Item
from worker_conformance.organization.ledger import Ledger
from worker_conformance.organization.moments import SECOND
from worker_conformance.organization.moves import unseat
from worker_conformance.organization.outcomes import (
    About,
    Accepted,
    Appended,
    Outcome,
    Refused,
    Repeated,
    Silent,
)
from worker_conformance.organization.refusals import Refusal
from worker_conformance.organization.requests import Request, read
from worker_conformance.organization.shared import Receipt, Shared
from worker_conformance.organization.transitions import State
from worker_conformance.scenario.model import Act, Answer, GroupPlan, WorkPlan

PUT_DOWN_KINDS = frozenset({"work.checkpoint", "work.block"})
"""Commands during which the executor stands still until they are answered."""


@frozen
class ItemView:
    """A WorkItem as the Authority holds it now.

    `ours` says whether this Worker owns it; `lease_ids` are its Execution Leases in order of
    granting; `current_lease_id` is the one that still runs; `eligible` says that nothing but the
    Worker's own Scheduler stands between the item and its start.
    """

    name: str
    work_item_id: str
    state: str
    revision: int
    ownership_epoch: int
    ours: bool
    lease_ids: tuple[str, ...]
    current_lease_id: str | None
    eligible: bool
    plan: WorkPlan


class GroupAuthority:
    """One Group's Authority.

    `events` is the signed log, `events[i]["sequence"] == i + 1`; `online_from` the lowest sequence
    that can still be replayed.
    """

    def __init__(self, plan: GroupPlan, shared: Shared) -> None:
        self._ledger = Ledger(plan, shared)
        self._shared = shared
        self._snapshot_kind = "true"
        self.online_from = 1

    @property
    def name(self) -> str:
        """The local name."""
        return self._ledger.name

    @property
    def group_id(self) -> str:
        """The Group's URI."""
        return self._ledger.group_id

    @property
    def events(self) -> Sequence[JsonObject]:
        """The log."""
        return self._ledger.events

    @property
    def snapshot_is_forged(self) -> bool:
        """Whether `truncate` wants a false Snapshot."""
        return self._snapshot_kind != "true"

    @property
    def ledger(self) -> Ledger:
        """The Group's state, for the Organization's own parts."""
        return self._ledger

    def item(self, work: str, now: int) -> ItemView:
        """What the Authority knows of a WorkItem at this moment."""
        item = self._ledger.item(work)
        lease = item.owner.execution if item.owner else None
        ours = item.owned_by(self._shared.names.agent_id)
        return ItemView(
            name=item.name,
            work_item_id=item.work_item_id,
            state=item.state.value,
            revision=item.revision,
            ownership_epoch=item.epoch,
            ours=ours,
            lease_ids=item.lease_ids,
            current_lease_id=lease.lease_id if lease and lease.is_current(now) else None,
            eligible=ours and item.state is State.QUEUED and self._may_start(item, now),
            plan=item.plan,
        )

    def _may_start(self, item: Item, now: int) -> bool:
        return checks.dependencies_met(self._ledger, item) and checks.gate_open(
            self._ledger, item, now
        )

    # --- the Organization's side ------------------------------------------------------

    def add_work(self, plan: WorkPlan) -> None:
        """Make a WorkItem known that may be authorized later."""
        self._ledger.add_plan(plan)

    def act(self, act: Act, now: int) -> tuple[Appended, ...]:
        """Let the Organization act; SuiteError where the specification does not allow it."""
        try:
            return acts.perform(self._ledger, act, now)
        except SuiteError as error:
            cause = f"Group {self.name}: {act.kind.value} {act.work or ''}: {error.cause}"
            raise SuiteError(error.code, cause, error.hint) from error

    def new_session(self, now: int) -> None:
        """Revoke this Worker's executions and queue their work again (MWP-WRK-014)."""
        for name in sorted(self._ledger.executing):
            item = self._ledger.items[name]
            if item.state is State.ACTIVE and item.owned_by(self._shared.names.agent_id):
                self._ledger.put(unseat(item, now))

    def next_renewal(self) -> int | None:
        """When the Organization next renews a lease by itself, if it does."""
        return min((at for at, _ in self._renewals()), default=None)

    def renew_due(self, now: int) -> tuple[Appended, ...]:
        """Renew every Execution Lease whose half-life is over."""
        due = [item for at, item in self._renewals() if at <= now and _runs_on(item, now)]
        return tuple(
            commands.renewal(
                self._ledger,
                item,
                item.plan.lease_seconds,
                self._ledger.organization_cause("group-authority"),
                now,
            )
            for item in due
        )

    def _renewals(self) -> list[tuple[int, Item]]:
        planned = []
        for name in sorted(self._ledger.executing):
            item = self._ledger.items[name]
            lease = item.owner.execution if item.owner else None
            if lease is not None and item.owned_by(self._shared.names.agent_id):
                since = lease.issued_at if lease.renewed_at is None else lease.renewed_at
                half = item.plan.lease_seconds * SECOND // 2
                at = min(since + half, lease.expires_at - 1)
                # A lease that cannot outlast the ownership is renewed no further.
                if item.owner and lease.expires_at < item.owner.lease.expires_at:
                    planned.append((at, item))
        return planned

    # --- the Worker's side ------------------------------------------------------------

    def execute(self, command: JsonObject, now: int, protected: bytes | None = None) -> Outcome:
        """Judge an authentic Command and carry it out (MWP-EVT-004).

        `Organization.receive` has verified its schema, signature and actor; `protected` are the
        bytes that the signature covers, where they are known already.
        """
        request = read(command, self._ledger)
        about = self.about(request)
        protected = protected or signing_bytes(command)
        receipt = self._shared.receipts.get(request.action_id)
        if receipt is not None:
            if receipt.protected != protected:  # MWP-EVT-003
                refusal = Refusal("ACTION_ID_COLLISION", "the Action ID was used before")
                return self._refused(about, refusal, command, now)
            if receipt.events is not None:
                return Repeated(about, receipt.events)
            if receipt.refusal is not None and receipt.refused_at == now:
                return self._refused(about, receipt.refusal, command, now)
        scripted = self._shared.scripted(request.kind)
        if scripted is not None and scripted.code == "silence":
            if request.kind in PUT_DOWN_KINDS and about.work_item_id is not None:
                self._shared.unanswered.add(about.work_item_id)
            return Silent(about)
        self._shared.unanswered.discard(about.work_item_id or "")
        refusal_or_events = (
            refusal_of(scripted) if scripted is not None else self._carried_out(request, now)
        )
        if isinstance(refusal_or_events, Refusal):
            stands = scripted is not None and not refusal_or_events.is_retryable
            answer = refusal_or_events if stands else None
            self._shared.receipts[request.action_id] = Receipt(protected, None, answer, now)
            return self._refused(about, refusal_or_events, command, now)
        events = tuple(one.event for one in refusal_or_events)
        self._shared.receipts[request.action_id] = Receipt(protected, events)
        return Accepted(about, refusal_or_events)

    def _carried_out(self, request: Request, now: int) -> Refusal | tuple[Appended, ...]:
        refusal = checks.first_refusal(checks.ENVELOPE, self._ledger, request, now)
        if refusal is not None:
            return refusal
        door = door_of(request, self._shared.renewal_kind)
        if isinstance(door, Refusal):
            return door
        refusal = checks.first_refusal(door.checks, self._ledger, request, now)
        if refusal is not None:
            return refusal
        return door.effect(self._ledger, request, cause_of(request), now)

    def about(self, request: Request) -> About:
        """What an outcome says about its Command."""
        return About(
            kind=request.kind,
            action_id=request.action_id,
            group=self.name,
            work=request.item.name if request.item else None,
            work_item_id=request.item.work_item_id if request.item else None,
        )

    def _refused(self, about: About, refusal: Refusal, command: JsonObject, now: int) -> Refused:
        return Refused(about, refusal.code, refusal.document({"command": command}, now))

    # --- replay -----------------------------------------------------------------------

    def truncate(self, through: int, snapshot: str = "true") -> None:
        """Take the log up to `through` offline; `snapshot` says how its Snapshot is forged."""
        self.online_from = through + 1
        self._snapshot_kind = snapshot

    def snapshot(self, now: int, forged: str = "true") -> tuple[JsonObject, JsonObject]:
        """The signed Snapshot through the last offline sequence, and the state it hashes."""
        through = self.online_from - 1 or len(self.events)
        return snapshots.take(self._ledger, through, now, forged)

    def snapshot_for_replay(self, now: int) -> tuple[JsonObject, JsonObject]:
        """The Snapshot as `truncate` wants it."""
        return self.snapshot(now, self._snapshot_kind)

    def cursor_too_old(self, now: int) -> JsonObject:
        """The ERROR frame for a position that is offline, naming the Snapshot by its hash."""
        snapshot, _ = self.snapshot_for_replay(now)
        if self._snapshot_kind == "reference":
            snapshot = {**snapshot, "throughSequence": self.online_from}
        return snapshots.cursor_too_old(self._ledger, snapshot, now)

    def respell(self, sequence: int) -> None:
        """Spell the times of an Event that nobody has seen otherwise than before."""
        respelling.respell(self._ledger, sequence)

    def forge(self, sequence: int, how: str) -> JsonObject:
        """A false variant of an Event; `how` as the scenario model's `Forge` names it."""
        return forging.forge(self._ledger, sequence, how)


def refusal_of(answer: Answer) -> Refusal:
    """The refusal that a scenario wants; without a word of its own a code's usual guidance."""
    after = answer.retry_after_seconds
    return Refusal(
        answer.code,
        "the Organization says no",
        retryable=True if answer.retryable or after is not None else None,
        retry_after_ms=None if after is None else after * 1_000,
    )


def _runs_on(item: Item, now: int) -> bool:
    lease = item.owner.execution if item.owner else None
    return lease is not None and lease.is_current(now)
