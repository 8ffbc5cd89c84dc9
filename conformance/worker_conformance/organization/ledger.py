"""One Group's authoritative state and its append-only log of signed Events.

Gives every Event the next sequence number and signs it once. Never decides whether a transition
may happen: `acts` and `commands` do, and hand over the finished item.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.documents.schemas import DocumentKind
from worker_conformance.errors import SuiteError
from worker_conformance.organization import contracts
from worker_conformance.organization.items import Item
from worker_conformance.organization.leases import Place
from worker_conformance.organization.memberships import Membership
from worker_conformance.organization.moments import text
from worker_conformance.organization.names import coordinator_role
from worker_conformance.organization.outcomes import Appended
from worker_conformance.organization.shared import Shared
from worker_conformance.organization.signatures import signed
from worker_conformance.scenario.model import GroupPlan, WorkPlan


@frozen
class Cause:
    """Who brought an Event about, by which Command."""

    by: str
    actor: JsonObject
    action_id: str
    correlation_id: str


class Ledger:
    """The state of one Group.

    `mission_state` is that of the Mission's document, `coordinator_epoch` that of who coordinates
    it, `usage` what all its work has used, `lease_opened` the sequence of the Event that opened an
    Execution Lease, and `misfiled` the sequences of the Events that tell of another Group, or of
    another Agent's Membership.
    """

    def __init__(self, plan: GroupPlan, shared: Shared) -> None:
        self.plan = plan
        self.shared = shared
        self.names = shared.names
        self.name = plan.name
        self.group_id = self.names.group_id(plan.name)
        self.mission_state = "active"
        self.mission_revision = 1
        self.coordinator_epoch = 1
        self.membership = Membership.first(plan)
        self.first_membership = self.membership
        self.events: list[JsonObject] = []
        self.items: dict[str, Item] = {}
        shared.items_of[plan.name] = self.items
        self.by_id: dict[str, str] = {}
        self.executing: set[str] = set()
        self.manifests: dict[str, JsonObject] = {}
        self.lease_opened: dict[str, int] = {}
        self.misfiled: set[int] = set()
        self.usage: dict[str, float] = {}
        self._plans: dict[str, WorkPlan] = {}
        self._accepted_by = shared.keys.actor("group-authority")

    # --- items ------------------------------------------------------------------------

    def add_plan(self, plan: WorkPlan) -> None:
        """Make a WorkItem known; it does not exist before it is authorized."""
        self._plans[plan.name] = plan
        self.names.work_id(plan.name, self.name)
        self.shared.policy.knows_work(plan.name, self.name)

    def plans(self) -> Iterable[WorkPlan]:
        """The WorkItems that may come into being here."""
        return self._plans.values()

    def item(self, work: str | None) -> Item:
        """The WorkItem with this local name, in state `none` if it is only planned."""
        known = self.items.get(work or "")
        if known is not None:
            return known
        plan = self._plans.get(work or "")
        if plan is None:
            raise SuiteError(
                "unknown-work",
                f"Group {self.name} has no WorkItem {work!r}",
                f"it has: {', '.join(sorted(self._plans)) or 'none'}",
            )
        return Item(
            name=plan.name,
            place=self.place(plan.name),
            conversation_id=self.names.work_conversation_id(plan.name, self.name),
            plan=plan,
            contract=contracts.contract(plan, 1, self.names),
            created_by=self.coordinator(),
        )

    def place(self, work: str) -> Place:
        """Where a WorkItem belongs."""
        mission_id = self.names.mission_id(self.name)
        return Place(mission_id, self.group_id, self.names.work_id(work, self.name))

    def put(self, item: Item) -> None:
        """Make an item's new value the current one."""
        self.items[item.name] = item
        self.by_id[item.work_item_id] = item.name
        self.shared.homes[item.work_item_id] = self.name
        if item.owner is not None and item.owner.execution is not None:
            self.executing.add(item.name)
        else:
            self.executing.discard(item.name)

    def next_lease_id(self, item: Item) -> str:
        """The ID of the next lease of an item."""
        return self.names.numbered("lease", item.name, self.name, item.leases_made + 1)

    def next_offer_id(self, item: Item, ahead: int = 1) -> str:
        """The ID of the next offer of an item, or of the one after it."""
        return self.names.numbered("offer", item.name, self.name, len(item.offers) + ahead)

    # --- the log ----------------------------------------------------------------------

    def coordinator(self) -> JsonObject:
        """Who coordinates now, as documents name a Principal."""
        return self.shared.keys.actor(coordinator_role(self.coordinator_epoch))

    def mission(self) -> JsonObject:
        """The Mission's document as it is now."""
        return contracts.mission(
            self.plan,
            self.names,
            self.mission_state,
            self.mission_revision,
            self.coordinator_epoch,
        )

    def organization_cause(self, role: str) -> Cause:
        """A Command of somebody in the Organization; of the present Coordinator, if of one."""
        number = len(self.events) + 1
        return Cause(
            by="organization",
            actor=self.coordinator() if role == "coordinator" else self.shared.keys.actor(role),
            action_id=self.names.numbered("action", self.name, self.name, number),
            correlation_id=self.names.numbered("correlation", self.name, self.name, number),
        )

    def append(
        self,
        kind: str,
        payload: JsonObject,
        cause: Cause,
        now: int,
        *,
        item: Item | None = None,
        lease: str | None = None,
        extensions: JsonObject | None = None,
    ) -> Appended:
        """Append one Event, and make `item` the current value of the WorkItem it is about.

        An item of another Group's is told of, and not changed.
        """
        sequence = len(self.events) + 1  # MWP-EVT-005: gapless, per Group
        draft = self.draft(kind, payload, cause, now, sequence, item)
        if extensions is not None:
            draft["extensions"] = extensions
        event = signed(DocumentKind.EVENT, draft, self.shared.keys["group-authority"])
        self.events.append(event)
        self.shared.grown.add(self.name)
        if item is not None and item.place.group_id != self.group_id:
            item = None  # it is another Group's, and stays what it was there
        if lease is not None:
            self.lease_opened[lease] = sequence
        if item is not None:
            self.put(item)
        return Appended(
            sequence=sequence,
            kind=kind,
            work=item.name if item else None,
            by=cause.by,
            state=item.state.value if item else None,
            ours=item.owned_by(self.names.agent_id) if item else False,
            lease=lease,
            action_id=cause.action_id if cause.by == "worker" else None,
            event=event,
        )

    def draft(
        self,
        kind: str,
        payload: JsonObject,
        cause: Cause,
        now: int,
        sequence: int,
        item: Item | None,
    ) -> JsonObject:
        """An Event without its signature.

        Its aggregate is the WorkItem that it is about, else the Mission.
        """
        names = self.names
        event: JsonObject = {
            "protocolVersion": "0.1",
            "eventId": names.numbered("event", self.name, self.name, sequence),
            "groupId": self.group_id,
            "sequence": sequence,
            "aggregateRevision": item.revision if item else self.mission_revision,
            "kind": kind,
            "actor": cause.actor,
            "cause": {"type": "command", "id": cause.action_id},
            "correlationId": cause.correlation_id,
            "conversationId": item.conversation_id if item else names.conversation_id(self.name),
            "occurredAt": text(now),
            "payload": payload,
            "acceptedBy": self._accepted_by,
        }
        if item is not None:
            event["workItemId"] = item.work_item_id
        return event


def documents(many: Iterable[JsonObject]) -> list[JsonValue]:
    """Documents as the array that a payload carries."""
    return list(many)
