"""Faults of scheduling: shares, classes, quotas, gates, dependencies, lost slots."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, ClassVar

from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.judge.reading import frames_in
from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.interposer import Interposer
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.speaker import events_in

# --- shares -------------------------------------------------------------------------------


def _heads(scheduler: Any) -> list[tuple[tuple[str, str], Any, Any]]:
    """Name, flow and first item of every flow that may be dispatched from."""
    flows = scheduler._flows.items()  # noqa: SLF001 - a mutant is inside the part it alters
    closed = scheduler._closed  # noqa: SLF001 - as above
    open_flows = [(name, flow) for name, flow in flows if name[0] not in closed]
    return [(name, flow, flow.queue.head()) for name, flow in open_flows if flow.queue.head()]


def next_is_least_by(parts: Parts, key: Callable[..., Any]) -> None:
    """Dispatch from the flow that is least by name, flow and first item."""

    def next_item(scheduler: Any) -> tuple[str, str] | None:
        name, _, head = min(
            _heads(scheduler), key=lambda entry: key(*entry), default=(None, None, None)
        )
        return None if name is None or head is None else (head.work_item_id, name[1])

    parts.replace("scheduler.FairScheduler.next", next_item)


@altered
def strict_order_of_groups(parts: Parts) -> None:
    """Serves the Group that was known first until nothing of it waits."""
    next_is_least_by(parts, lambda *_: 0)


@altered
def longest_queue_first(parts: Parts) -> None:
    """Serves the Group for which most is waiting."""
    next_is_least_by(parts, lambda _name, flow, _head: -len(flow.queue))


@altered
def highest_class_first(parts: Parts) -> None:
    """Serves the highest priority class whenever anything of it waits."""
    # The tightest bounds that can be declared make the shortest run that shows the fault.
    parts.declare(starvationHorizonSeconds=60, classShareRatio=1)
    next_is_least_by(parts, lambda _name, flow, _head: (-flow.rank, flow.start))


@altered
def one_queue_for_all(parts: Parts) -> None:
    """Orders the work of all Groups in one queue by age, deadline and urgency."""
    next_is_least_by(parts, lambda _name, _flow, head: head)


@altered
def weights_ignored(parts: Parts) -> None:
    """Shares equally, whatever the weights say."""
    parts.replace("policy.Policy.weight", lambda *_: Fraction(1))


@altered
def weights_rounded(parts: Parts) -> None:
    """Rounds weights to whole numbers, at least one."""
    weight = parts.get("policy.Policy.weight")

    def whole(policy: Any, group_id: str) -> Fraction:
        return Fraction(max(1, round(weight(policy, group_id))))

    parts.replace("policy.Policy.weight", whole)


# --- quota and slots ----------------------------------------------------------------------


@altered
def quota_ignored(parts: Parts) -> None:
    """Starts more of a Group than its quota allows."""
    parts.replace("slots._is_below_quota", lambda *_: True)


@altered
def retry_beyond_the_quota(parts: Parts) -> None:
    """Tries failed work again although its Group's only place has gone to other work."""
    parts.replace("slots._may_run", lambda *_: True)


@altered
def retry_counts_itself(parts: Parts) -> None:
    """Counts a failed attempt against the place in the quota that its own retry needs."""
    claiming = parts.get("slots._claiming")

    def may_run(turn: Any, work_item_id: str) -> bool:
        item = turn.item(work_item_id)
        quota = turn.runtime.policy.quota(item.group_id)
        claims = sum(one.group_id == item.group_id for one in claiming(turn))
        return quota is None or not item.failed_under or claims < quota

    parts.replace("slots._may_run", may_run)


@altered
def head_of_line_at_quota(parts: Parts) -> None:
    """Looks only at the first Group in turn, and waits if its quota is used up."""

    def next_item(scheduler: Any) -> tuple[str, str] | None:
        flows = scheduler._flows.items()  # noqa: SLF001 - a mutant is inside the part it alters
        waiting = [(flow.start, name) for name, flow in flows if flow.queue.head()]
        if not waiting:
            return None
        _, name = min(waiting)
        if name[0] in scheduler._closed:  # noqa: SLF001 - as above
            return None
        return scheduler._flows[name].queue.head().work_item_id, name[1]  # noqa: SLF001 - as above

    parts.replace("scheduler.FairScheduler.next", next_item)


class PolicyReadOnce(Interposer):
    """Base: reads one member of each Group's policy once, at the start."""

    member: ClassVar[str] = ""

    def _begin(self) -> None:
        super()._begin()
        self._first: dict[str, Any] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] == "start":
            groups: Any = find(stimulus, "organization", "policy", "groups")
            self._first = {group_id: group.get(self.member) for group_id, group in groups.items()}
        if stimulus["type"] != "policy":
            return stimulus
        policy: Any = stimulus["policy"]
        groups = {name: self._as_first(name, group) for name, group in policy["groups"].items()}
        return {**stimulus, "policy": {**policy, "groups": groups}}

    def _as_first(self, group_id: str, group: Any) -> JsonObject:
        told = {name: value for name, value in group.items() if name != self.member}
        first = self._first.get(group_id)
        return told if first is None else {**told, self.member: first}


class RaisedQuotaUnnoticed(PolicyReadOnce):
    """Reads each Group's quota once, at the start."""

    member = "slotQuota"


class OneSlotTooMany(Interposer):
    """Counts slots from zero to the maximum, both included."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "start":
            return stimulus
        agent: Any = stimulus["agent"]
        return {**stimulus, "agent": {**agent, "maxConcurrency": agent["maxConcurrency"] + 1}}


@altered
def slot_lost_at_completion(parts: Parts) -> None:
    """Does not give a slot back when its work was submitted."""
    closing = parts.get("runtime.Phase.CLOSING")
    parts.module("slots").MOVES.pop((closing, "closed"))


@altered
def slot_lost_with_a_refused_start(parts: Parts) -> None:
    """Keeps the slot reserved when the Authority refuses a start."""
    drop = parts.get("outbox.drop")

    def kept(turn: Any, command: Any, **how: Any) -> None:
        reservation = turn.runtime.reservations.pop(command.work_item_id, None)
        drop(turn, command, **how)
        if reservation is not None:
            turn.runtime.reservations[command.work_item_id] = reservation

    parts.replace("outbox.drop", kept)


# --- gates and dependencies ---------------------------------------------------------------


@altered
def gate_holds_a_slot(parts: Parts) -> None:
    """Reserves a slot for gated work while its approval is pending."""
    obstacle, start = parts.get("eligibility.obstacle"), parts.get("slots._start")

    def gate_aside(turn: Any, item: Any) -> str | None:
        found = obstacle(turn, item)
        return None if found == "approval" else found

    def reserved(turn: Any, work_item_id: str) -> None:
        if parts.get("eligibility.is_gate_open")(turn, turn.item(work_item_id)):
            start(turn, work_item_id)
        else:
            flow = turn.runtime.scheduler.charge(work_item_id)
            turn.runtime.reservations[work_item_id] = flow

    parts.replace("eligibility.obstacle", gate_aside)
    parts.replace("slots._start", reserved)


@altered
def gate_closes_the_group(parts: Parts) -> None:
    """Holds the whole queue of a Group while one of its WorkItems waits for an approval."""
    is_below_quota = parts.get("slots._is_below_quota")

    def nothing_gated(turn: Any, group_id: str) -> bool:
        gate_open = parts.get("eligibility.is_gate_open")
        own = [item for item in turn.projection.items if item.group_id == group_id]
        return all(gate_open(turn, item) for item in own) and is_below_quota(turn, group_id)

    parts.replace("slots._is_below_quota", nothing_gated)


@altered
def approval_never_read(parts: Parts) -> None:
    """Waits for an approval and does not notice when it comes."""
    parts.module("facts").FACTS.pop("approval.execution.granted")


@altered
def _gates_left_to_the_authority(parts: Parts) -> None:
    """Asks for every start and lets the Authority say no."""
    parts.replace("eligibility.is_gate_open", lambda *_: True)


class RunsWhileItAwaitsApproval(Interposer):
    """Takes APPROVAL_REQUIRED for a warning, and runs under its ownership lease meanwhile."""

    worker = staticmethod(_gates_left_to_the_authority)

    def _begin(self) -> None:
        super()._begin()
        self._starts: dict[object, tuple[str, str]] = {}
        self._leases: dict[str, str] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for event in events_in(stimulus):
            if event["kind"] == "work.offer.accepted":
                item: Any = find(event, "payload", "workItem")
                self._leases[item["workItemId"]] = item["owner"]["ownershipLeaseId"]
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        command: Any = find(effect, "frame", "command")
        if command is not None and command["kind"] == "work.start":
            self._starts[command["actionId"]] = (command["groupId"], command["workItemId"])
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        for frame in frames_in(self.stimulus):
            action_id = find(frame, "error", "relatedActionId")
            gated = find(frame, "error", "code") == "APPROVAL_REQUIRED"
            if gated and action_id in self._starts and self._dares(self._starts[action_id][0]):
                yield self._run(*self._starts[action_id])

    def _dares(self, group_id: str) -> bool:
        return bool(group_id)

    def _run(self, group_id: str, work_item_id: str) -> JsonObject:
        return {
            "type": "run",
            "slotId": "s8",
            "groupId": group_id,
            "workItemId": work_item_id,
            "leaseId": self._leases[work_item_id],
            "context": {
                "missionContext": {},
                "credentials": {},
                "budget": {},
                "sideEffectScope": group_id,
            },
        }


class OneApprovalForTheGroup(RunsWhileItAwaitsApproval):
    """Takes an approval for one WorkItem as one for everything gated in its Group."""

    def _begin(self) -> None:
        super()._begin()
        self._approved: set[str] = set()
        self._refused: dict[str, tuple[str, str]] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for event in events_in(stimulus):
            if event["kind"] == "approval.execution.granted":
                self._approved.add(text_at(event, "groupId"))
        return super()._given(stimulus)

    def _afterwards(self) -> Iterable[JsonObject]:
        for frame in frames_in(self.stimulus):
            start = self._starts.get(find(frame, "error", "relatedActionId"))
            if start is not None:
                self._refused[start[1]] = start
        for work_item_id, (group_id, _) in list(self._refused.items()):
            named = [find(event, "payload", "workItemId") for event in events_in(self.stimulus)]
            if group_id in self._approved and work_item_id not in named:
                yield self._run(*self._refused.pop(work_item_id))


@altered
def dependencies_ignored(parts: Parts) -> None:
    """Starts work whatever it depends on."""
    parts.replace("eligibility._unmet", lambda *_: None)


@altered
def dependencies_looked_at_once(parts: Parts) -> None:
    """Does not look at waiting work again when something it depends on is verified."""

    def forget(turn: Any, group_id: str, work_item_id: str, state: str) -> None:
        turn.projection.items.drop(work_item_id)
        turn.projection.new_standings[group_id, work_item_id] = state
        turn.touch(work_item_id)

    parts.replace("facts.forget", forget)


class MessageStartsWork(Interposer):
    """Reads a Message that asks for a start as an order to start."""

    def _afterwards(self) -> Iterable[JsonObject]:
        for event in events_in(self.stimulus):
            message = find(event, "payload", "message")
            work_item_id = find(message, "workItemId") or find(event, "workItemId")
            if event["kind"] == "message.posted" and work_item_id is not None:
                payload: JsonObject = {"workItemId": work_item_id, "ownershipEpoch": 1}
                yield self.speaker.command("work.start", text_at(event, "groupId"), payload)


MUTANTS = (
    mutant(
        strict_order_of_groups,
        "WRK-010.a",
        "SCHED-0001 SCHED-0035",
        "A list of queues that is always polled from its beginning.",
    ),
    mutant(
        weights_ignored,
        "WRK-010.a",
        "SCHED-0002 SCHED-0041 SCHED-0055",
        "Round robin with a weight in the configuration that no code reads.",
    ),
    mutant(
        weights_rounded,
        "WRK-010.a",
        "SCHED-0003 SCHED-0040",
        "Weights as numbers of queue entries, which are whole.",
    ),
    mutant(
        one_queue_for_all,
        "WRK-009.a",
        "SCHED-0004 SCHED-0024 SCHED-0054",
        "One priority queue in a database table, ordered by claimed deadline.",
    ),
    mutant(
        longest_queue_first,
        "WRK-010.b",
        "SCHED-0006 SCHED-0022 SCHED-0042 SCHED-0049 SCHED-0053",
        "Balancing queue lengths, which is what the dashboard shows.",
    ),
    mutant(
        highest_class_first,
        "WRK-010.c",
        "SCHED-0005 SCHED-0050",
        "Strict priorities: simple, and good until the top class never ends.",
    ),
    mutant(
        retry_beyond_the_quota,
        "WRK-010.i",
        "SCHED-0082 MON-0007",
        "A limit that is looked at when work is fetched, and not when it is fetched again.",
    ),
    mutant(
        retry_counts_itself,
        "WRK-010.b",
        "SCHED-0083",
        "A counter that is only given back when a job has ended for good.",
    ),
    mutant(
        quota_ignored,
        "WRK-010.i",
        "SCHED-0007 MON-0007",
        "A quota that is checked when work is accepted and not when it starts.",
    ),
    mutant(
        head_of_line_at_quota,
        "WRK-010.i",
        "SCHED-0007 MON-0009",
        "Candidates are chosen first and checked for room afterwards.",
    ),
    mutant(
        RaisedQuotaUnnoticed,
        "WRK-010.b",
        "SCHED-0008 SCHED-0030",
        "Limits cached at start-up.",
    ),
    mutant(
        OneSlotTooMany,
        "WRK-011.a",
        "ISOL-0001 MON-0006",
        "Off by one in a pool size.",
    ),
    mutant(
        slot_lost_at_completion,
        "WRK-010.j",
        "ISOL-0002",
        "A counter that goes down in one place and comes up in all but one.",
    ),
    mutant(
        slot_lost_with_a_refused_start,
        "WRK-010.b",
        "SCHED-0015",
        "The failure path of a start does not undo its reservation.",
    ),
    mutant(
        gate_holds_a_slot,
        "AUT-003.a",
        "SCHED-0009 MON-0009",
        "Admission to capacity before admission by people.",
    ),
    mutant(
        gate_closes_the_group,
        "WRK-010.g",
        "SCHED-0012",
        "Approvals modelled as a pause of the queue.",
    ),
    mutant(
        approval_never_read,
        "AUT-003.a",
        "SCHED-0010 SCHED-0027",
        "A subscription that misses one kind of Event.",
    ),
    mutant(
        RunsWhileItAwaitsApproval,
        "AUT-003.a",
        "SCHED-0009 MON-0014",
        "Work is 'only prepared' while the decision is pending.",
    ),
    mutant(
        OneApprovalForTheGroup,
        "AUT-003.a",
        "SCHED-0011 MON-0014",
        "An approval is stored by kind of action, not by action.",
    ),
    mutant(
        dependencies_ignored,
        "WRK-007.a",
        "SCHED-0013 MON-0013",
        "Dependencies as documentation.",
    ),
    mutant(
        dependencies_looked_at_once,
        "WRK-010.b",
        "SCHED-0014 SCHED-0026",
        "No wake-up leads from one aggregate to another.",
    ),
    mutant(
        MessageStartsWork,
        "FND-014.a",
        "SCHED-0016",
        "A language model reads the conversation and has tools.",
    ),
)
