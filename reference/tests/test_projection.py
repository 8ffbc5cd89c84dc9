"""The indexes of what is held in memory agree with a search through all of it."""

from __future__ import annotations

import random

import pytest
from attrs import evolve

from reference_worker.projection import ItemTable
from reference_worker.records import Contract, WorkItem
from reference_worker.runtime import Waiting

GROUPS = "abc"


def item(name: str, group: str, contract: Contract) -> WorkItem:
    return WorkItem(name, group, f"mission-{group}", 0, "open", contract)


@pytest.fixture
def contract() -> Contract:
    return Contract(
        version=1,
        deadline=0,
        urgency="normal",
        risk="none",
        approval="not_required",
        capabilities=(),
        dependencies=(),
        budget=(),
        criteria=(),
        attempts_max=1,
        backoff="none",
        delay_max=0,
        retryable=(),
        inputs=(),
        deliverable=("package", "application/json"),
        terms="",
        critical_extension=False,
    )


@pytest.mark.parametrize("seed", range(10))
def test_items_are_found_by_their_group(seed: int, contract: Contract) -> None:
    rng, table = random.Random(seed), ItemTable()
    stored = {f"{n}": item(f"{n}", rng.choice(GROUPS), contract) for n in range(5)}
    table.load(stored)
    for number in range(300):
        name = str(number % 40)
        known = table.get(name)
        if rng.random() < 0.4:
            table.drop(name)
        elif known is None:
            table.put(name, item(name, rng.choice(GROUPS), contract))
        else:
            table.put(name, evolve(known, revision=known.revision + 1))
        for group in GROUPS:
            assert table.of_group(group) == [one for one in table if one.group_id == group]
    assert table.of_group("unheard of") == []


@pytest.mark.parametrize("seed", range(10))
def test_what_waits_is_counted_by_group_and_in_all(seed: int) -> None:
    rng, waiting, held = random.Random(seed), Waiting(), dict[str, str]()
    for number in range(300):
        group = rng.choice(GROUPS)
        name = f"{group}{number % 20}"
        if rng.random() < 0.5:
            waiting.put(group, name)
            held.setdefault(name, group)
        else:
            waiting.drop(name)
            held.pop(name, None)
        assert list(waiting) == list(held)
        assert len(waiting) == len(held)
        for one in GROUPS:
            own = [name for name, home in held.items() if home == one]
            assert waiting.of_group(one) == own
            assert waiting.in_group(one) == len(own)
