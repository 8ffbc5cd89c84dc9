"""Monitors of slots and estimates on histories made by hand: what is a breach, what is none."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.facts import Facts
from worker_conformance.judge.monitors.base import Context, Monitor
from worker_conformance.judge.monitors.estimates import (
    ESTIMATES_ARE_SOUND,
    PRESENCE_IS_TRUE,
    EstimatesAreSound,
    PresenceIsTrue,
)
from worker_conformance.judge.monitors.isolation import (
    KEYS_NEVER_MEET,
    RESUMES_ITS_OWN_CHECKPOINT,
    SLOT_BUDGET_IS_ITS_OWN,
    KeysNeverMeet,
    ResumesItsOwnCheckpoint,
    SlotBudgetIsItsOwn,
)
from worker_conformance.judge.trace import EntryKind
from worker_conformance.port.declaration import Parameters
from worker_conformance.scenario.clock import text_of

from .by_hand import GROUPS, A, B, event, trace_of


def breaches(monitor: Monitor, bodies: Iterable[JsonObject]) -> list[str]:
    """Let a monitor watch a history; returns what it observed."""
    for entry in trace_of(*bodies):
        if entry.kind is EntryKind.STIMULUS:
            monitor.stimulus(entry)
        else:
            monitor.effect(entry)
    monitor.finish()
    return [breach.observed for breach in monitor.breaches]


def context() -> Context:
    """A Context that knows two Groups and no markers."""
    return Context(Parameters(), GROUPS.get, {"A": (), "B": ()}, {})


def item(name: str, group_id: str = A, **budget: float) -> JsonObject:
    contract: JsonObject = {"contractVersion": 1, "budget": {**budget}}
    return event(group_id, {"workItem": {"workItemId": name, "contract": contract}})


def run(name: str, group_id: str = A, **members: object) -> JsonObject:
    return {"type": "run", "slotId": "s1", "groupId": group_id, "workItemId": name, **members}  # type: ignore[dict-item]


# --- Checkpoints ----------------------------------------------------------------------


def resuming(name: str, checkpoint: str) -> JsonObject:
    return run(name, resumeFrom={"checkpointId": checkpoint, "checkpointHash": "sha256:00"})


CHECKPOINTS: list[JsonObject] = [
    event(A, {"checkpoint": {"checkpointId": "c1", "workItemId": "a1"}}),
    event(A, {"latestCheckpoint": {"checkpointId": "c2", "workItemId": "a2"}}),
    {"type": "execution", "workItemId": "a1", "report": {"checkpointId": "c3"}},
    {"type": "snapshot", "state": {"checkpoints": [{"checkpointId": "c4", "workItemId": "a1"}]}},
]


@pytest.mark.parametrize("own", ["c1", "c3", "c4"])
def test_a_checkpoint_of_ones_own_is_none_wherever_it_was_told(own: str) -> None:
    monitor = ResumesItsOwnCheckpoint(RESUMES_ITS_OWN_CHECKPOINT, context(), Facts())
    assert breaches(monitor, [*CHECKPOINTS, resuming("a1", own)]) == []


@pytest.mark.parametrize(
    ("foreign", "whose"), [("c2", "one of a2"), ("c9", "one that nobody ever reported")]
)
def test_another_items_checkpoint_is_a_breach(foreign: str, whose: str) -> None:
    monitor = ResumesItsOwnCheckpoint(RESUMES_ITS_OWN_CHECKPOINT, context(), Facts())
    (observed,) = breaches(monitor, [*CHECKPOINTS, resuming("a1", foreign)])
    assert whose in observed


# --- budgets --------------------------------------------------------------------------

BUDGETS = [item("a1", toolCallLimit=10, financialLimit=5), item("a2", toolCallLimit=7)]

GIVEN: dict[str, tuple[JsonObject, str]] = {
    "its own": ({"toolCallLimit": 10, "financialLimit": 5}, ""),
    "what is left of it": ({"toolCallLimit": 3, "financialLimit": 0}, ""),
    "nothing": ({}, ""),
    "more": ({"toolCallLimit": 11}, "toolCallLimit of 11"),
    "that of another, though smaller": ({"toolCallLimit": 7}, "that of a2"),
}


@pytest.mark.parametrize("given", GIVEN)
def test_a_run_spends_what_is_its_own(given: str) -> None:
    budget, observed = GIVEN[given]
    monitor = SlotBudgetIsItsOwn(SLOT_BUDGET_IS_ITS_OWN, context(), Facts())
    found = breaches(monitor, [*BUDGETS, run("a1", context={"budget": budget})])
    assert found == ([observed] if observed else [])


def test_a_revised_contract_leaves_both_budgets_good() -> None:
    revised = [*BUDGETS, item("a1", toolCallLimit=20)]
    for limit in (10, 20):
        monitor = SlotBudgetIsItsOwn(SLOT_BUDGET_IS_ITS_OWN, context(), Facts())
        given: JsonObject = {"budget": {"toolCallLimit": limit}}
        assert breaches(monitor, [*revised, run("a1", context=given)]) == []


# --- keys -----------------------------------------------------------------------------


def scoped(name: str, group_id: str, scope: str) -> JsonObject:
    return run(name, group_id, context={"sideEffectScope": scope})


def test_one_group_may_use_its_scope_again() -> None:
    monitor = KeysNeverMeet(KEYS_NEVER_MEET, context(), Facts())
    assert breaches(monitor, [scoped("a1", A, "x"), scoped("a2", A, "x")]) == []


def test_two_groups_under_one_scope_are_a_breach() -> None:
    monitor = KeysNeverMeet(KEYS_NEVER_MEET, context(), Facts())
    (observed,) = breaches(monitor, [scoped("a1", A, "x"), scoped("b1", B, "x")])
    assert observed == "Groups A and B share the scope x"


# --- estimates and Presence -----------------------------------------------------------


def estimate(start: int, end: int, calculated: int, latest: int | None = None) -> JsonObject:
    told: JsonObject = {
        "estimatedStart": text_of(start),
        "estimatedCompletion": text_of(end),
        "lastCalculatedAt": text_of(calculated),
    }
    window: JsonObject = {} if latest is None else {"estimatedStartLatest": text_of(latest)}
    return {"type": "disclose", "groupId": A, "workItemId": "a1", "estimate": told, **window}


ESTIMATES: dict[str, tuple[JsonObject, bool]] = {
    "in order": (estimate(5, 9, 0, 7), True),
    "one instant": (estimate(5, 5, 0, 5), True),
    "ends before it starts": (estimate(9, 5, 0), False),
    "a window that ends before it begins": (estimate(5, 9, 0, 4), False),
    "calculated tomorrow": (estimate(5, 9, 86_400_000_000), False),
}


@pytest.mark.parametrize("told", ESTIMATES)
def test_an_estimate_does_not_contradict_itself(told: str) -> None:
    disclosed, sound = ESTIMATES[told]
    monitor = EstimatesAreSound(ESTIMATES_ARE_SOUND, context(), Facts())
    assert (breaches(monitor, [disclosed]) == []) is sound


def presence(most: int, active: int, available: int) -> JsonObject:
    capacity: JsonObject = {
        "maxSlots": most,
        "activeSlots": active,
        "availableSlots": available,
        "queuedItems": 99,
    }
    frame: JsonObject = {"frameType": "PING", "presence": {"capacity": capacity}}
    return {"type": "frame", "frame": frame}


RELEASE: JsonObject = {"type": "release", "slotId": "s1", "workItemId": "a1"}

SAID: dict[str, tuple[list[JsonObject], bool]] = {
    "nothing runs": ([presence(1, 0, 1)], True),
    "one runs": ([run("a1"), presence(1, 1, 0)], True),
    "free again": ([run("a1"), RELEASE, presence(1, 0, 1)], True),
    "a slot kept in reserve": ([presence(1, 0, 0)], True),
    "more slots than there are": ([presence(2, 0, 2)], False),
    "idle while one runs": ([run("a1"), presence(1, 0, 1)], False),
    "busy while nothing runs": ([presence(1, 1, 0)], False),
    "a free slot that is in use": ([run("a1"), presence(1, 1, 1)], False),
}


@pytest.mark.parametrize("said", SAID)
def test_presence_is_held_to_the_slots_in_use(said: str) -> None:
    history, true = SAID[said]
    monitor = PresenceIsTrue(PRESENCE_IS_TRUE, context(), Facts())
    assert (breaches(monitor, history) == []) is true
