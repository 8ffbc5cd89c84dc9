"""Monitors of what a Capacity Slot is given: Checkpoint, tool budget, side-effect keys.

Here every value has to be the WorkItem's own, also against other items of the same Group. Markers
of other Groups are the business of `privacy`.
"""

from __future__ import annotations

from attrs import define, field

from worker_conformance.documents.json_types import JsonObject, JsonValue, find
from worker_conformance.judge.monitors.base import Monitor, MonitorInfo, text
from worker_conformance.judge.reading import frames_in
from worker_conformance.judge.trace import Entry
from worker_conformance.scenario.model import Level, Profile


def _documents(stimulus: JsonObject) -> list[JsonObject]:
    """The Event payloads and the Snapshot state that a stimulus tells."""
    payloads = (find(frame, "event", "payload") for frame in frames_in(stimulus))
    found = [stimulus.get("state"), *payloads]
    return [one for one in found if isinstance(one, dict)]


def _work_items(document: JsonObject) -> list[JsonObject]:
    many = document.get("workItems")
    found = [document.get("workItem"), *(many if isinstance(many, list) else ())]
    return [one for one in found if isinstance(one, dict)]


@define
class ResumesItsOwnCheckpoint(Monitor):
    """MWP-WRK-011: a slot resumes only from a Checkpoint of its own WorkItem."""

    _known: dict[str, set[str]] = field(factory=dict)

    def stimulus(self, entry: Entry) -> None:
        """Learn whose a Checkpoint is."""
        if entry.body.get("type") == "execution":
            self._learn(text(entry.body, "workItemId"), entry.body.get("report"))
        for document in _documents(entry.body):
            many = document.get("checkpoints")
            single = (document.get("checkpoint"), document.get("latestCheckpoint"))
            for checkpoint in (*single, *(many if isinstance(many, list) else ())):
                self._learn(str(find(checkpoint, "workItemId")), checkpoint)

    def _learn(self, work_item_id: str, told: JsonValue) -> None:
        checkpoint_id = find(told, "checkpointId")
        if isinstance(checkpoint_id, str):
            self._known.setdefault(work_item_id, set()).add(checkpoint_id)

    def effect(self, entry: Entry) -> None:
        """Look at where a run goes on."""
        checkpoint_id = find(entry.body, "resumeFrom", "checkpointId")
        if entry.body.get("type") != "run" or not isinstance(checkpoint_id, str):
            return
        work_item_id = text(entry.body, "workItemId")
        self.witness += self.granted(entry.body)
        if checkpoint_id in self._known.get(work_item_id, ()):
            return
        name_of = self.context.short
        others = [name_of(item) for item, known in self._known.items() if checkpoint_id in known]
        whose = f"one of {others[0]}" if others else "one that nobody ever reported"
        self.breach(
            entry,
            f"{name_of(work_item_id)} goes on from a Checkpoint of its own",
            f"it goes on from {whose}: {checkpoint_id}",
        )


RESUMES_ITS_OWN_CHECKPOINT = MonitorInfo(
    check_id="MON-0032",
    title="A run goes on from a Checkpoint of its own WorkItem",
    requirement="WRK-011.d",
    level=Level.MUST,
    profile=Profile.ISOLATION,
    reached="a run went on from a Checkpoint",
    needs=("preempt",),
)


@define
class SlotBudgetIsItsOwn(Monitor):
    """MWP-WRK-011: a slot's tool budget is that of its own WorkItem."""

    _budgets: dict[str, list[JsonObject]] = field(factory=dict)

    def stimulus(self, entry: Entry) -> None:
        """Learn every budget that a WorkItem's contract ever had."""
        for document in _documents(entry.body):
            for item in _work_items(document):
                budget = find(item, "contract", "budget")
                known = self._budgets.setdefault(text(item, "workItemId"), [])
                if isinstance(budget, dict) and budget not in known:
                    known.append(budget)

    def effect(self, entry: Entry) -> None:
        """A run may spend less than its contract allows, never more."""
        given = find(entry.body, "context", "budget")
        own = self._budgets.get(text(entry.body, "workItemId"), [])
        if entry.body.get("type") != "run" or not isinstance(given, dict) or not own:
            return
        self.witness += self.granted(entry.body)
        beyond = [_beyond(given, budget) for budget in own]
        holder = None if given in own else self._holder(given)
        if holder is None and not all(beyond):
            return
        self.breach(
            entry,
            f"the budget of {self.context.short(text(entry.body, 'workItemId'))} itself",
            f"that of {holder}" if holder else f"{beyond[-1]} of {given.get(str(beyond[-1]))}",
        )

    def _holder(self, given: JsonObject) -> str | None:
        """Another WorkItem that has exactly this budget."""
        found = (item for item, budgets in self._budgets.items() if given in budgets)
        return next((self.context.short(item) for item in found), None)


def _beyond(given: JsonObject, budget: JsonObject) -> str | None:
    """The first dimension in which more is given than a budget holds."""
    for name, value in given.items():
        limit = budget.get(name)
        if isinstance(value, int | float) and isinstance(limit, int | float) and value > limit:
            return name
    return None


SLOT_BUDGET_IS_ITS_OWN = MonitorInfo(
    check_id="MON-0033",
    title="A run's budget is that of its own WorkItem",
    requirement="WRK-011.e",
    level=Level.MUST,
    profile=Profile.ISOLATION,
    reached="work ran whose contract has a budget",
)


@define
class KeysNeverMeet(Monitor):
    """MWP-WRK-011: side-effect scopes and idempotency keys differ between Groups."""

    _holders: dict[str, str] = field(factory=dict)
    _groups: set[str] = field(factory=set)

    def effect(self, entry: Entry) -> None:
        """Remember which Group used a scope or a key."""
        scope = find(entry.body, "context", "sideEffectScope")
        if entry.body.get("type") == "run" and isinstance(scope, str):
            self._used(entry, f"scope {scope}", text(entry.body, "groupId"))
            self._groups |= {text(entry.body, "groupId")} if self.granted(entry.body) else set()
        key = entry.body.get("idempotencyKey")
        item = self.facts.items.now(text(entry.body, "workItemId"))
        if entry.body.get("type") == "operation" and isinstance(key, str) and item is not None:
            self._used(entry, f"key {key}", item.group_id)

    def _used(self, entry: Entry, what: str, group_id: str) -> None:
        holder = self._holders.setdefault(what, group_id)
        if holder != group_id:
            groups = f"{self.context.short(holder)} and {self.context.short(group_id)}"
            self.breach(
                entry,
                "side-effect scopes and keys that differ between Groups",
                f"Groups {groups} share the {what}",
            )

    def finish(self) -> None:
        """Keys can meet where two Groups had work in a slot."""
        self.witness = len(self._groups) if len(self._groups) > 1 else 0


KEYS_NEVER_MEET = MonitorInfo(
    check_id="MON-0034",
    title="Side-effect keys of different Groups never meet",
    requirement="WRK-011.f",
    level=Level.MUST,
    profile=Profile.ISOLATION,
    reached="work of two Groups ran",
)
