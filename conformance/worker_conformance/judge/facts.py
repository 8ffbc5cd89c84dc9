"""What the Worker has been told: the facts delivered to it, call by call.

Folds the stimuli of a Trace, and nothing that the Worker says. Monitors ask it two questions: what
is known now (facts of the same call may justify an effect) and what was known before this call
(only those may forbid one). Never judges.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, evolve, field, frozen

from worker_conformance.documents import base64url, strict_json
from worker_conformance.documents.errors import DocumentError
from worker_conformance.documents.json_types import JsonObject, JsonValue, find
from worker_conformance.judge.layers import Layered
from worker_conformance.judge.reading import command_of, work_item_of
from worker_conformance.judge.trace import Entry, EntryKind, NoteKind
from worker_conformance.scenario.clock import moment_of

OWNED_STATES = frozenset({"queued", "active", "blocked"})
"""WorkItem states in which an owner may still act (PROTOCOL 10.2)."""

FAILING_STATES = OWNED_STATES | {"submitted"}
"""Those from which an owner may report a failure (10.2): a result may turn out to be wrong."""

MISSION_ENDS = frozenset(
    {"mission.cancelled", "mission.terminated", "mission.approved", "group.archived"}
)


@frozen
class ItemFact:
    """A WorkItem as the last delivered document about it says.

    `card_version` is the Agent Card's under which its owner accepted it, `accepted_version` the
    contract's.
    """

    work_item_id: str
    group_id: str
    state: str
    revision: int
    contract_version: int
    owner: str | None
    ownership_epoch: int | None
    approval: str
    depends_on: tuple[str, ...]
    offers: tuple[JsonObject, ...]
    card_version: int | None = None
    capabilities: tuple[str, ...] = ()
    accepted_version: int | None = None


@frozen
class LeaseFact:
    """An Execution or Ownership Lease as last delivered; `open` until a fact closes it."""

    lease_id: str
    lease_type: str
    work_item_id: str
    holder: str
    session_epoch: int
    ownership_epoch: int
    starts_at: int
    expires_at: int
    open: bool = True
    start_by: int | None = None

    def current_at(self, now: int) -> bool:
        """Whether it is open, has begun and has not run out (intervals are half-open)."""
        return self.open and self.starts_at <= now < self.expires_at


@frozen
class ApprovalFact:
    """An execution approval for one WorkItem and Ownership Epoch."""

    work_item_id: str
    ownership_epoch: int
    expires_at: int


@frozen
class GroupFact:
    """What holds for a Group as a whole.

    `contiguous` is the highest sequence up to which every Event was delivered in this life of the
    state directory; `caught_up` says that the replay of this session has ended. The Authority has
    asked for no Commands before `paused_until` (MWP-EVT-011). `cut` says that the link is down,
    or that the Worker has left the Group.
    """

    group_id: str
    contiguous: int = 0
    caught_up: bool = False
    membership_epoch: int = 1
    member: bool = True
    ended: bool = False
    paused_until: int = 0
    cut: bool = False


@define
class _Inbox:
    """Events of one Group in delivery order, as a Worker may hold them."""

    by_sequence: dict[int, JsonObject] = field(factory=dict)
    seen_ids: set[str] = field(factory=set)
    lost: set[int] = field(factory=set)  # what waited for an earlier Event at the end or a cut


class Facts:
    """The fold. Feed it every entry of a Trace in order, before a monitor sees the entry."""

    def __init__(self, *, discards: bool = False) -> None:
        self.agent_id = ""
        self.session_epoch = 0
        self.slots = 1
        self.card_version = 0
        self.fenced = False
        self.policy: JsonObject = {}
        self.items: Layered[ItemFact] = Layered()
        self.leases: Layered[LeaseFact] = Layered()
        self.groups: Layered[GroupFact] = Layered()
        self.approvals: Layered[ApprovalFact] = Layered()
        self.redelivered = 0
        self.out_of_order = 0
        self._discards = discards
        self._inboxes: dict[str, _Inbox] = {}
        self._forged: set[str] = set()
        self._misfiled: set[str] = set()  # Events that tell of another Group
        self._ended: dict[str, int | None] = {}  # by WorkItem, the Ownership Epoch of its attempt
        self._used_up: dict[str, int] = {}  # by WorkItem, the version of its contract
        # By Action ID, the WorkItem that a Command is about, and the session that it names.
        self._sent: dict[str, tuple[str, int]] = {}
        # By WorkItem, the Ownership Epoch called stale, the revision known then, and the call.
        self._disowned: dict[str, tuple[int | None, int, int]] = {}
        self._lease_ids: dict[str, dict[str, None]] = {}  # by WorkItem, in order of granting
        self._call = -1
        self._offset = 0  # how far the wall clock is ahead of elapsed time
        self._layers = (self.items, self.leases, self.groups, self.approvals)

    def observe(self, entry: Entry) -> None:
        """Take in one entry."""
        if entry.call != self._call:
            self._call = entry.call
            for layer in self._layers:
                layer.new_call()
        if entry.kind is EntryKind.STIMULUS:
            self._stimulus(entry.body)
        elif entry.kind is EntryKind.NOTE:
            self._note(entry.body)
        else:
            self._effect(entry.body)

    def leases_of(self, work_item_id: str) -> list[LeaseFact]:
        """The Execution Leases of a WorkItem, in order of their granting."""
        return [one for one in self._leases_of(work_item_id) if one.lease_type == "execution"]

    def _leases_of(self, work_item_id: str) -> Iterator[LeaseFact]:
        """All leases of a WorkItem, without a look at those of others."""
        for lease_id in self._lease_ids.get(work_item_id, ()):
            lease = self.leases.now(lease_id)
            if lease is not None and lease.work_item_id == work_item_id:
                yield lease

    def kept(self, group: GroupFact) -> int:
        """The sequence up to which a Worker certainly has every Event of a Group.

        What waited for an earlier Event need not outlive the process or the subscription: it
        counts once it is delivered anew.
        """
        inbox = self._inboxes.get(group.group_id)
        return min([group.contiguous, *(one - 1 for one in (inbox.lost if inbox else ()))])

    def approved(self, item: ItemFact, now: int) -> bool:
        """Whether an unexpired approval names this WorkItem and Ownership Epoch."""
        approval = self.approvals.now(f"{item.work_item_id} {item.ownership_epoch}")
        return approval is not None and now < approval.expires_at

    def needs_approval(self, item: ItemFact) -> bool:
        """Whether the contract, or policy where the contract leaves it open, gates the start."""
        if item.approval != "policy_required":
            return item.approval == "human_required"
        entry = find(self.policy, "workItems", item.work_item_id, "executionApproval")
        return entry == "required"

    def may_wait(self, item: ItemFact, now: int) -> bool:
        """Whether something besides the Scheduler stands between an owned item and its start."""
        group = self.groups.now(item.group_id)
        upgrade = find(self.policy, "cardUpgrades", str(self.card_version))
        return (
            self.fenced
            or (group is not None and now < group.paused_until)
            or (upgrade == "incompatible" and item.card_version != self.card_version)
            or any(
                find(self.policy, "capabilityAvailability", name) == "unavailable"
                for name in item.capabilities
            )
            or item.accepted_version not in {None, item.contract_version}  # MWP-WRK-002
            or self._ownership_is_over(item, now)
            or self._used_up.get(item.work_item_id) == item.contract_version  # MWP-AUT-004
            # MWP-WRK-018: whether what has ended is tried again, and when, is judged by itself.
            or self._ended.get(item.work_item_id) == item.ownership_epoch
            or self._is_disowned(item)
        )

    def _is_disowned(self, item: ItemFact) -> bool:
        """Whether the Authority has called its ownership stale (MWP-WRK-019)."""
        stale = self._disowned.get(item.work_item_id)
        return stale is not None and stale[0] == item.ownership_epoch

    def was_disowned(self, item: ItemFact) -> bool:
        """Whether it was called stale before this call, and no fact has spoken of it since."""
        epoch, revision, call = self._disowned.get(item.work_item_id, (None, -1, self._call))
        return call < self._call and (epoch, revision) == (item.ownership_epoch, item.revision)

    def earliest(self, now: int) -> int:
        """The earlier of the two clocks: what is over by it is over by both."""
        return min(now, now + self._offset)

    def latest(self, now: int) -> int:
        """The later of the two clocks: what has begun by neither has begun for nobody."""
        return max(now, now + self._offset)

    def may_be_current(self, lease: LeaseFact, now: int) -> bool:
        """Whether a lease is open, has begun and has not run out, by either clock."""
        return (
            lease.open
            and lease.starts_at <= self.latest(now)
            and self.earliest(now) < lease.expires_at
        )

    def _ownership_is_over(self, item: ItemFact, now: int) -> bool:
        """Whether its lease or its time to be started by (MWP-WRK-013) has run out."""
        return any(
            now >= min(lease.expires_at, lease.start_by or lease.expires_at)
            for lease in self._leases_of(item.work_item_id)
            if lease.lease_type == "ownership" and lease.ownership_epoch == item.ownership_epoch
        )

    # --- stimuli ----------------------------------------------------------------------

    def _stimulus(self, stimulus: JsonObject) -> None:
        elapsed, wall = (moment_of(str(stimulus.get(one))) for one in ("now", "wallClock"))
        self._offset = wall - elapsed if wall is not None and elapsed is not None else 0
        match stimulus.get("type"):
            case "start":
                self._start(stimulus)
            case "frames":
                for frame in _objects(stimulus.get("frames")):
                    self._frame(parsed_frame(frame), moment_of(str(stimulus.get("now"))) or 0)
            case "caught_up":
                self._group_set(str(stimulus["groupId"]), caught_up=True)
            case "policy":
                self.policy = _object(stimulus.get("policy"))
            case "snapshot":
                self._snapshot(stimulus)
            case "link":
                self._link(stimulus)
            case "join" | "leave":
                self._take_part(stimulus)
            case "execution":
                self._execution(str(stimulus.get("workItemId")), _object(stimulus.get("report")))
            case _:
                pass

    def _execution(self, work_item_id: str, report: JsonObject) -> None:
        item = self.items.now(work_item_id)
        if report.get("kind") in {"completed", "failed"} and item is not None:
            self._ended[work_item_id] = item.ownership_epoch

    def _start(self, stimulus: JsonObject) -> None:
        self.agent_id = str(find(stimulus, "agent", "agentId"))
        slots = find(stimulus, "agent", "maxConcurrency")
        self.slots = slots if isinstance(slots, int) else 1
        self.card_version = _integer(find(stimulus, "agent", "agentCardVersion"), 0)
        self.fenced = False
        self.policy = _object(find(stimulus, "organization", "policy"))
        # A Group that is not named has no part in this session.
        for known in list(self.groups.values()):
            self.groups.set(known.group_id, evolve(known, caught_up=False))
        for group in _objects(stimulus.get("groups")):
            self._join(group)
        self._new_session(stimulus.get("sessionEpoch"))

    def _take_part(self, stimulus: JsonObject) -> None:
        """Join a Group, or leave it: nothing can be said to it then, nor heard of it."""
        if stimulus.get("type") == "join":
            self._join(_object(stimulus.get("group")))
        else:
            self._cut(str(stimulus.get("groupId")), cut=True)

    def _join(self, group: JsonObject) -> None:
        group_id = str(group.get("groupId"))
        known = self.groups.now(group_id) or GroupFact(group_id)
        epoch = _integer(find(group, "membership", "membershipEpoch"), 1)
        first = _integer(find(group, "membership", "visibilityStartSequence"), 0)
        self.groups.set(
            group_id,
            evolve(
                known,
                caught_up=False,
                cut=False,
                contiguous=max(known.contiguous, first - 1),
                membership_epoch=max(known.membership_epoch, epoch),
            ),
        )

    def _new_session(self, epoch: JsonValue) -> None:
        """A higher Session Epoch: every older lease is dead (MWP-WRK-014)."""
        self.session_epoch = _integer(epoch, self.session_epoch)
        for lease in list(self.leases.values()):
            if lease.lease_type == "execution" and lease.session_epoch < self.session_epoch:
                self.leases.set(lease.lease_id, evolve(lease, open=False))
        for item in list(self.items.values()):
            self.items.set(item.work_item_id, self._returned(item))

    def _returned(self, item: ItemFact) -> ItemFact:
        """Our active work without a living lease is queued again (MWP-WRK-014)."""
        ours = item.state == "active" and item.owner == self.agent_id
        if ours and not any(lease.open for lease in self.leases_of(item.work_item_id)):
            return evolve(item, state="queued")
        return item

    def _link(self, stimulus: JsonObject) -> None:
        named = stimulus.get("groupIds")
        group_ids = (
            [str(one) for one in named] if isinstance(named, list) else [*self.groups.keys()]
        )
        for group_id in group_ids:
            self._cut(group_id, cut=stimulus.get("state") == "down")
        if stimulus.get("state") == "up" and "sessionEpoch" in stimulus:
            self._new_session(stimulus["sessionEpoch"])
            for row in _objects(stimulus.get("memberships")):
                self._member_epoch(str(row.get("groupId")), row.get("membershipEpoch"))

    def _group_set(self, group_id: str, *, caught_up: bool) -> None:
        known = self.groups.now(group_id)
        if known is not None:
            self.groups.set(group_id, evolve(known, caught_up=caught_up))

    def _cut(self, group_id: str, *, cut: bool) -> None:
        known = self.groups.now(group_id)
        if known is not None:
            self.groups.set(group_id, evolve(known, caught_up=False, cut=cut))
        inbox = self._inboxes.get(group_id)
        if cut and inbox is not None:
            inbox.lost.update(inbox.by_sequence)

    def _member_epoch(self, group_id: str, epoch: JsonValue) -> None:
        known = self.groups.now(group_id)
        if known is not None:
            moved = max(known.membership_epoch, _integer(epoch, 1))
            self.groups.set(group_id, evolve(known, membership_epoch=moved))

    def _note(self, note: JsonObject) -> None:
        if note.get("note") == NoteKind.FORGED:
            self._forged.add(str(note.get("frameId")))
        elif isinstance(note.get("misfiled"), str):
            self._misfiled.add(str(note["misfiled"]))
        elif note.get("note") == NoteKind.WIPED:
            # A new life of the state directory: nothing is known in it.
            for layer in self._layers:
                layer.clear()
            self._inboxes.clear()
            self._lease_ids.clear()
            self._used_up.clear()
            self._disowned.clear()
        elif note.get("note") in {NoteKind.CRASHED, NoteKind.STOPPED}:
            for inbox in self._inboxes.values():
                inbox.lost.update(inbox.by_sequence)

    def _effect(self, effect: JsonObject) -> None:
        command = command_of(effect)
        if command:
            about = work_item_of(command, self.items.keys()) or ""
            epoch = _integer(command.get("sessionEpoch"), 0)
            self._sent[str(command.get("actionId"))] = about, epoch

    def _error(self, error: JsonObject) -> None:
        """The Authority refuses a Command."""
        about, epoch = self._sent.get(str(error.get("relatedActionId")), ("", 0))
        item, code = self.items.now(about), error.get("code")
        if item is not None and code == "WORK_STALE_OWNERSHIP":
            self._disowned[item.work_item_id] = item.ownership_epoch, item.revision, self._call
        if item is not None and code == "BUDGET_EXCEEDED":
            self._used_up[item.work_item_id] = item.contract_version
        self.fenced |= code == "AUTH_STALE_SESSION" and epoch == self.session_epoch

    # --- Events -----------------------------------------------------------------------

    def _frame(self, frame: JsonObject, now: int) -> None:
        event = frame.get("event")
        if not isinstance(event, dict) or str(frame.get("frameId")) in self._forged:
            self._error(_object(frame.get("error")))
            self._pause(_object(frame.get("error")), now)
            return
        group = self.groups.now(str(event.get("groupId")))
        if group is None:
            self._organization_event(event)
            return
        inbox = self._inboxes.setdefault(group.group_id, _Inbox())
        sequence = _integer(event.get("sequence"), 0)
        if str(event.get("eventId")) in inbox.seen_ids or sequence <= group.contiguous:
            self.redelivered += 1
            if sequence in inbox.lost:
                inbox.lost.discard(sequence)
                self.groups.set(group.group_id, group)
            return
        if sequence != group.contiguous + 1:
            self.out_of_order += 1
            if self._discards:
                return
        inbox.seen_ids.add(str(event.get("eventId")))
        inbox.by_sequence[sequence] = event
        self._drain(group, inbox)

    def _pause(self, error: JsonObject, now: int) -> None:
        """A Group asks for patience (MWP-EVT-011)."""
        group = self.groups.now(str(error.get("groupId")))
        if group is not None and error.get("code") in {"BACKPRESSURE", "RATE_LIMITED"}:
            until = now + _integer(error.get("retryAfterMs"), 0) * 1_000
            self.groups.set(
                group.group_id, evolve(group, paused_until=max(group.paused_until, until))
            )

    def _organization_event(self, event: JsonObject) -> None:
        """A fact without a Group: a later session, or a new Agent Card."""
        payload = _object(event.get("payload"))
        if find(payload, "agentId") == self.agent_id:
            self.fenced |= _integer(payload.get("sessionEpoch"), 0) > self.session_epoch
        if find(payload, "agentCard", "agentId") == self.agent_id:
            version = _integer(find(payload, "agentCard", "cardVersion"), 0)
            self.card_version = max(self.card_version, version)

    def _drain(self, group: GroupFact, inbox: _Inbox) -> None:
        """Apply what has become contiguous (MWP-WRK-029: in order, never over a gap)."""
        position = group.contiguous
        while (event := inbox.by_sequence.pop(position + 1, None)) is not None:
            position += 1
            known = self.groups.now(group.group_id) or group
            self.groups.set(group.group_id, evolve(known, contiguous=position))
            self._event(event)

    def _event(self, event: JsonObject) -> None:
        payload = _object(event.get("payload"))
        kind = str(event.get("kind"))
        if str(event.get("eventId")) in self._misfiled:
            return  # MWP-WRK-008: what a Group's log says of another Group decides nothing
        for lease in _objects(payload.get("leases")):
            self._lease(lease)
        for item in (payload.get("workItem"), *_objects(payload.get("workItems"))):
            if isinstance(item, dict):
                self._work_item(item)
        if kind in {"membership.changed", "membership.ended"}:
            self._membership(_object(payload.get("membership")))
        elif kind == "approval.execution.granted":
            self._approval({} if _is_critical(event) else payload)  # MWP-EXT-002
        elif isinstance(payload.get("cumulativeUsage"), dict):
            self._usage(payload)
        elif kind in MISSION_ENDS:
            group = self.groups.now(str(event.get("groupId")))
            if group is not None:
                self.groups.set(group.group_id, evolve(group, ended=True))

    def _usage(self, payload: JsonObject) -> None:
        """Whether something that the contract gives is used up."""
        item = self.items.now(str(payload.get("workItemId")))
        used, left = _object(payload["cumulativeUsage"]), _object(payload.get("remainingBudget"))
        if item is not None and any(
            amount and left.get(what) == 0 for what, amount in used.items()
        ):
            self._used_up[item.work_item_id] = item.contract_version

    def _work_item(self, document: JsonObject) -> None:
        contract = _object(document.get("contract"))
        depends = contract.get("dependencyWorkItemIds")
        owner, epoch = find(document, "owner", "agentId"), find(document, "owner", "ownershipEpoch")
        version = _integer(contract.get("contractVersion"), 1)
        known = self.items.now(str(document.get("workItemId")))
        same = known is not None and (known.owner, known.ownership_epoch) == (owner, epoch)
        fact = ItemFact(
            work_item_id=str(document.get("workItemId")),
            group_id=str(document.get("groupId")),
            state=str(document.get("state")),
            revision=_integer(document.get("revision"), 0),
            contract_version=version,
            accepted_version=known.accepted_version if known is not None and same else version,
            owner=owner if isinstance(owner, str) else None,
            ownership_epoch=epoch if isinstance(epoch, int) else None,
            approval=str(contract.get("executionApproval")),
            depends_on=tuple(map(str, depends)) if isinstance(depends, list) else (),
            offers=tuple(_objects(document.get("offers"))),
            card_version=_integer(find(document, "owner", "agentCardVersion"), 0) or None,
            capabilities=tuple(
                str(one.get("id")) for one in _objects(contract.get("requiredCapabilities"))
            ),
        )
        self.items.set(fact.work_item_id, self._returned(fact))

    def _lease(self, document: JsonObject) -> None:
        lease_id, work_item_id = str(document.get("leaseId")), str(document.get("workItemId"))
        self._lease_ids.setdefault(work_item_id, {})[lease_id] = None
        self.leases.set(
            lease_id,
            LeaseFact(
                lease_id=lease_id,
                lease_type=str(document.get("leaseType")),
                work_item_id=work_item_id,
                holder=str(document.get("holderAgentId")),
                session_epoch=_integer(document.get("sessionEpoch"), 0),
                ownership_epoch=_integer(document.get("ownershipEpoch"), 0),
                starts_at=moment_of(str(document.get("startsAt"))) or 0,
                expires_at=moment_of(str(document.get("expiresAt"))) or 0,
                open=document.get("state") == "active" and not self._outlived(document),
                start_by=moment_of(str(document.get("startBy"))),
            ),
        )

    def _outlived(self, document: JsonObject) -> bool:
        """Whether this is an Execution Lease of an earlier session, replayed (MWP-WRK-014)."""
        epoch = _integer(document.get("sessionEpoch"), 0)
        return document.get("leaseType") == "execution" and epoch < self.session_epoch

    def _membership(self, document: JsonObject) -> None:
        if find(document, "member", "id") != self.agent_id:
            return
        group_id = str(document.get("groupId"))
        self._member_epoch(group_id, document.get("membershipEpoch"))
        group = self.groups.now(group_id)
        if group is not None:
            member = document.get("state") != "ended"
            self.groups.set(group_id, evolve(group, member=member))

    def _approval(self, payload: JsonObject) -> None:
        false = str(find(payload, "approval", "approvalId")) in self._forged
        if false or find(payload, "approval", "decision") != "approved":
            return
        work_item_id = str(payload.get("workItemId"))
        epoch = _integer(payload.get("ownershipEpoch"), 0)
        expires = moment_of(str(payload.get("expiresAt"))) or 0
        self.approvals.set(f"{work_item_id} {epoch}", ApprovalFact(work_item_id, epoch, expires))

    def _snapshot(self, stimulus: JsonObject) -> None:
        snapshot, state = _object(stimulus.get("snapshot")), _object(stimulus.get("state"))
        if str(snapshot.get("snapshotId")) in self._forged:
            return
        group = self.groups.now(str(snapshot.get("groupId")))
        through = _integer(snapshot.get("throughSequence"), 0)
        inbox = self._inboxes.setdefault(str(snapshot.get("groupId")), _Inbox())
        inbox.lost = {one for one in inbox.lost if one > through}
        if group is None or through <= group.contiguous:
            return
        self.groups.set(group.group_id, evolve(group, contiguous=through))
        for document in _objects(state.get("leases")):
            self._lease(document)
        for document in _objects(state.get("workItems")):
            self._work_item(document)
        for document in _objects(state.get("memberships")):
            self._membership(document)
        for document in _objects(state.get("approvals")):
            self._approval(document)


def _is_critical(event: JsonObject) -> bool:
    """Whether an Event depends on a profile: no critical one that Events carry is known here."""
    carried = _object(event.get("extensions")).values()
    return any(find(one, "critical") is True for one in carried)


def parsed_frame(frame: JsonObject) -> JsonObject:
    """A frame as the Worker has to read it: raw bytes are one strict JSON value, or nothing."""
    raw = frame.get("bytes")
    octets = base64url.decode(raw) if isinstance(raw, str) else None
    if octets is None:
        return frame
    try:
        return _object(strict_json.parse(octets))
    except DocumentError:
        return {}


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _objects(value: JsonValue) -> Iterator[JsonObject]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())


def _integer(value: JsonValue, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default
