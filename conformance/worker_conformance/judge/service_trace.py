"""From a Trace to a service history.

Responsible for reading, out of what the Authority noted and what policy said, which WorkItem was
eligible, dispatched or stopped at each moment. Never judges. It expects Events to be delivered by
themselves (the world's automatic delivery): then whatever was appended is known to the Worker by
the end of the instant, which is when backlog is evaluated.
"""

from __future__ import annotations

import re

from attrs import define, field

from worker_conformance.documents.json_types import JsonObject, JsonValue, find
from worker_conformance.judge.service import HistoryBuilder, Item, ServiceHistory
from worker_conformance.judge.trace import Entry, EntryKind, NoteKind, Trace
from worker_conformance.organization.names import Names
from worker_conformance.scenario.model import ActKind, Scenario, WorkPlan

GATED = frozenset({"human_required"})
OFFERING_ACTS = frozenset({ActKind.OFFER, ActKind.OFFER_BOTH, ActKind.EXTEND_OFFER})
MISSION_ENDS = frozenset({"mission.cancelled", "mission.terminated", "group.archived"})

_DRIVEN_NAME = re.compile(r"-(?P<seconds>\d+)s(?P<gated>-gated)?$")


def driven_name(group: str, driver: str, ordinal: int, seconds: int, *, gated: bool = False) -> str:
    """Name a WorkItem that a driver makes.

    The name says the length and the gate, so that a Trace judged later, without the driver that
    made it, still knows them; and a transcript reads well.
    """
    return f"{group}-{driver}-{ordinal}-{seconds}s{'-gated' if gated else ''}"


def history_of(trace: Trace, scenario: Scenario, *, offers_count: bool = False) -> ServiceHistory:
    """Fold a Trace into a service history.

    With `offers_count` a valid offer that the Worker has not taken counts as eligible work of its
    Group: judged like that, a Worker that never accepts what one Group offers is as unfair as one
    that never starts it (MWP-WRK-010).
    """
    fold = _Fold(scenario, Names(trace.seed), offers_count=offers_count)
    for entry in trace:
        fold.take(entry)
    return fold.builder.build()


@define(eq=False)
class _Work:
    """One WorkItem: what is planned, and how it stands."""

    name: str
    group: str
    seconds: float
    gated: bool
    depends_on: tuple[str, ...]
    state: str = "open"
    ours: bool = False


@define(eq=False)
class _Fold:
    scenario: Scenario
    names: Names
    offers_count: bool = field(kw_only=True)
    builder: HistoryBuilder = field(init=False)
    _plans: dict[str, WorkPlan] = field(factory=dict, init=False)
    _works: dict[str, _Work] = field(factory=dict, init=False)
    _group_class: dict[str, str] = field(factory=dict, init=False)
    _own_class: dict[str, str] = field(factory=dict, init=False)
    _local: dict[str, str] = field(factory=dict, init=False)  # a Group's URI to its name
    _at: int = field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self.builder = HistoryBuilder(self.scenario.agent.slots)
        self._plans = {plan.name: plan for plan in self.scenario.work}
        for group in self.scenario.groups:
            self._local[self.names.group_id(group.name)] = group.name
            self._group_class[group.name] = group.priority_class
            self.builder.group(group.name, group.weight, group.slot_quota)
            if not group.joined:
                self.builder.leave(group.name)
        for group_name, acts in self.scenario.log.items():
            for act in acts:
                if act.work is not None and act.kind in OFFERING_ACTS:
                    self._offered(group_name, act.work)
                elif act.work is not None and act.kind is ActKind.GRANT:
                    self._work(group_name, act.work).gated = False

    def take(self, entry: Entry) -> None:
        self._at = entry.at
        if entry.kind is EntryKind.STIMULUS:
            self._stimulus(entry.body)
        elif entry.kind is EntryKind.NOTE:
            self._note(entry.body)

    # --- what the suite said ----------------------------------------------------------

    def _stimulus(self, body: JsonObject) -> None:
        kind = body.get("type")
        if kind == "policy":
            self._policy(body.get("policy"))
        elif kind == "start":
            self._policy(find(body, "organization", "policy"))
            self._slots(find(body, "agent", "maxConcurrency"))
            self._new_session()
        elif kind == "link" and "sessionEpoch" in body:
            self._new_session()
        elif kind in {"join", "leave"}:
            self._subscription(body)

    def _slots(self, given: JsonValue) -> None:
        """What a Worker keeps in reserve was given to it on top of the scenario's slots."""
        if isinstance(given, int):
            self.builder.slots = given

    def _new_session(self) -> None:
        """A new session revokes the leases of the old one: what was active is queued again."""
        for work in self._works.values():
            if work.state == "active":
                work.state = "queued"
                self.builder.stopped(self._at, work.name)
                self._refresh(work)

    def _subscription(self, body: JsonObject) -> None:
        """The Worker may start in a Group as long as it is subscribed to it."""
        joins = body.get("type") == "join"
        uri = find(body, "group", "groupId") if joins else body.get("groupId")
        name = self._local.get(str(uri))
        if name is not None:
            (self.builder.join if joins else self.builder.leave)(name)

    def _policy(self, policy: JsonValue) -> None:
        for uri, entry in _rows(find(policy, "groups")):
            if uri in self._local:
                self._group_policy(self._local[uri], entry)
        self._own_class = {
            uri: str(entry["priorityClass"])
            for uri, entry in _rows(find(policy, "workItems"))
            if "priorityClass" in entry
        }
        for work in self._works.values():
            self.builder.reclassify(work.name, self._class_of(work.name, work.group))

    def _group_policy(self, name: str, entry: JsonObject) -> None:
        weight, quota = entry.get("weight"), entry.get("slotQuota")
        if isinstance(weight, (int, float)):
            self.builder.group(name, float(weight), quota if isinstance(quota, int) else None)
        self._group_class[name] = str(entry.get("priorityClass", self._group_class[name]))

    def _class_of(self, name: str, group: str) -> str:
        uri = self.names.work_id(name, group)
        return self._own_class.get(uri, self._group_class[group])

    # --- what the Authority and the world noted ---------------------------------------

    def _note(self, body: JsonObject) -> None:
        match body.get("note"):
            case NoteKind.APPENDED:
                self._appended(body)
            case NoteKind.REST:
                self.builder.rest(self._at)
            case NoteKind.CRASHED | NoteKind.STOPPED:
                self._down()
            case NoteKind.LINK:
                self._link(body)
            case _:
                pass

    def _down(self) -> None:
        self.builder.suspend()
        for work in self._works.values():
            self.builder.stopped(self._at, work.name)

    def _link(self, body: JsonObject) -> None:
        listed = body.get("groups")
        groups = [str(name) for name in listed] if isinstance(listed, list) else []
        for name in groups or self._group_class:
            (self.builder.leave if body.get("state") == "down" else self.builder.join)(name)

    def _appended(self, body: JsonObject) -> None:
        group, kind = str(body["group"]), str(body["kind"])
        work = body.get("work")
        if "misfiled" in body:
            return  # it tells of another Group (MWP-WRK-008), or of another Agent
        if isinstance(work, str):
            self._work_fact(self._work(group, work), kind, body)
        elif kind == "membership.changed":
            self.builder.join(group)
        elif kind == "membership.ended":
            self.builder.leave(group)
        elif kind in MISSION_ENDS:
            for ended in [w for w in self._works.values() if w.group == group]:
                self._set_state(ended, "cancelled", ours=False)

    def _work_fact(self, work: _Work, kind: str, body: JsonObject) -> None:
        if kind == "work.offer.created":
            self._offered(work.group, work.name)
        if kind == "approval.execution.granted":
            work.gated = False
        if kind == "work.started" and body.get("by") == "worker":
            # The dispatch is charged here: the Command and its acceptance share the instant.
            self.builder.dispatched(self._at, work.name)
        self._set_state(work, str(body.get("state") or work.state), ours=body.get("ours") is True)

    def _set_state(self, work: _Work, state: str, *, ours: bool) -> None:
        if work.state == "active" and state != "active":
            self.builder.stopped(self._at, work.name)
        verified = state == "verified" and work.state != "verified"
        work.state, work.ours = state, ours
        self._refresh(work)
        if verified:
            for other in self._works.values():
                if work.name in other.depends_on:
                    self._refresh(other)

    # --- WorkItems --------------------------------------------------------------------

    def _offered(self, group: str, name: str) -> None:
        work = self._work(group, name)
        work.state = "offered"
        self.builder.offered(self._item(work))
        self._refresh(work)

    def _item(self, work: _Work) -> Item:
        return Item(work.name, work.group, work.seconds, self._class_of(work.name, work.group))

    def _refresh(self, work: _Work) -> None:
        if self._eligible(work):
            self.builder.ready(self._at, work.name)
        else:
            self.builder.unready(self._at, work.name)

    def _eligible(self, work: _Work) -> bool:
        if self.offers_count and work.state == "offered":
            return True
        met = all(self._verified(name) for name in work.depends_on)
        return work.ours and work.state == "queued" and met and not work.gated

    def _verified(self, name: str) -> bool:
        return name in self._works and self._works[name].state == "verified"

    def _work(self, group: str, name: str) -> _Work:
        work = self._works.get(name)
        if work is None:
            work = self._planned(group, name)
            self._works[name] = work
            self.builder.offered(self._item(work))
        return work

    def _planned(self, group: str, name: str) -> _Work:
        plan = self._plans.get(name)
        if plan is not None:
            gated = plan.approval in GATED
            return _Work(name, group, float(plan.duration_seconds), gated, plan.depends_on)
        driven = _DRIVEN_NAME.search(name)
        if driven is None:
            default = WorkPlan(name, group)
            return _Work(name, group, float(default.duration_seconds), gated=False, depends_on=())
        return _Work(name, group, float(driven["seconds"]), driven["gated"] is not None, ())


def _rows(value: JsonValue) -> list[tuple[str, JsonObject]]:
    if not isinstance(value, dict):
        return []
    return [(key, entry) for key, entry in value.items() if isinstance(entry, dict)]
