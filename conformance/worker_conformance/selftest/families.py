"""Other Schedulers in the place of the reference Worker's own, for judging over the whole Port.

The families of `conforming` meet the judges on a bare harness. These few confirm over the Port that
a Worker of another family passes, and that one which is unfair by its lots or by its admission does
not. Never used by a run of the suite.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any
from weakref import WeakKeyDictionary

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.scenario.clock import moment_of
from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.interposer import Interposer, says, with_parameters

SECOND = 1_000_000  # microseconds


def _open_flows(scheduler: Any) -> list[tuple[Any, Any]]:
    """Name and flow of all that may be dispatched from, in the order in which they were made."""
    flows = scheduler._flows.items()  # noqa: SLF001 - a variant is inside the part it alters
    closed = scheduler._closed  # noqa: SLF001 - as above
    return [(name, flow) for name, flow in flows if name[0] not in closed and flow.queue.head()]


def _replace_choice(parts: Parts, choose: Any) -> None:
    """Let `choose(scheduler, open flows)` name the next flow; it keeps its choice until charged."""
    chosen: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
    charge = parts.get("scheduler.FairScheduler.charge")

    def next_item(scheduler: Any) -> tuple[str, str] | None:
        flows = dict(_open_flows(scheduler))
        if not flows:
            return None
        if chosen.get(scheduler) not in flows:
            chosen[scheduler] = choose(scheduler, flows)
        name = chosen[scheduler]
        return flows[name].queue.head().work_item_id, name[1]

    def charged(scheduler: Any, work_item_id: str) -> Any:
        chosen.pop(scheduler, None)
        return charge(scheduler, work_item_id)

    parts.replace("scheduler.FairScheduler.next", next_item)
    parts.replace("scheduler.FairScheduler.charge", charged)


@altered
def weighted_round_robin(parts: Parts) -> None:
    """Visits the Groups in turn; a visit is worth its weight, fractions carried over."""
    turns: WeakKeyDictionary[Any, dict[Any, float]] = WeakKeyDictionary()

    def choose(scheduler: Any, flows: dict[Any, Any]) -> Any:
        credit = turns.setdefault(scheduler, {})
        lightest = max(flow.cost for flow in scheduler._flows.values())  # noqa: SLF001 - as above
        while True:
            for name in list(credit):
                if name not in flows:
                    del credit[name]
            for name in sorted(flows):
                if credit.get(name, 0.0) >= 1:
                    credit[name] -= 1
                    return name
            for name, flow in flows.items():
                credit[name] = credit.get(name, 0.0) + lightest / flow.cost

    _replace_choice(parts, choose)


_SEED = [0]  # of the session that begins; a Scheduler is made while it does


def _lottery(parts: Parts, *, favour: float = 1.0, seeded: bool = True) -> None:
    """Draw among the open flows by weight; the first of them holds `favour` times its tickets."""
    lots: WeakKeyDictionary[Any, Random] = WeakKeyDictionary()
    fresh = iter(range(1, 1 << 60))

    def choose(scheduler: Any, flows: dict[Any, Any]) -> Any:
        if scheduler not in lots:
            seed = _SEED[0] if seeded else next(fresh)
            lots[scheduler] = Random(seed)  # noqa: S311 - a scheduler's dice, no secret
        names = sorted(flows)
        tickets = [1 / flows[name].cost for name in names]
        tickets[0] *= favour
        return lots[scheduler].choices(names, tickets)[0]

    _replace_choice(parts, choose)


class _Drawing(Interposer):
    """Declares that it draws lots, and takes its seed from `start`."""

    def _declared(self, declaration: JsonObject) -> JsonObject:
        return with_parameters(declaration, randomised=True)

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        seed = stimulus.get("seed")
        if stimulus["type"] == "start" and isinstance(seed, int):
            _SEED[0] = seed
        return stimulus


class Lottery(_Drawing):
    """A lawful lottery by its seed."""

    worker = staticmethod(altered(_lottery))


class BiasedLottery(_Drawing):
    """A lottery in which one Group holds twice its tickets."""

    worker = staticmethod(altered(lambda parts: _lottery(parts, favour=2.0)))


class LotteryWithoutSeed(_Drawing):
    """A lottery that does not use the seed: equal seeds give different runs."""

    worker = staticmethod(altered(lambda parts: _lottery(parts, seeded=False)))


class NoLottery(_Drawing):
    """Declares lots and never draws any, to be given the allowance for them."""


# --- admission ------------------------------------------------------------------------------


class RefusesOneGroup(Interposer):
    """Declines what one Group offers for want of capacity, and accepts the others' equal offers."""

    def _begin(self) -> None:
        super()._begin()
        self._refused = ""
        self._seen: set[object] = set()

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        groups = stimulus.get("groups")
        if stimulus["type"] == "start" and isinstance(groups, list):
            self._refused = str(find(groups[-1], "groupId"))
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        command = find(effect, "frame", "command")
        if not says(effect, "work.accept_offer") or find(command, "groupId") != self._refused:
            return (effect,)
        if find(command, "actionId") in self._seen:
            return ()  # sent again, for want of an answer
        self._seen.add(find(command, "actionId"))
        return self._instead(effect)

    def _instead(self, effect: JsonObject) -> Iterable[JsonObject]:
        payload = find(effect, "frame", "command", "payload")
        return (
            {
                "type": "decline",
                "groupId": self._refused,
                "workItemId": find(payload, "workItemId"),
                "offerId": find(payload, "offerId"),
                "reason": "capacity",
            },
        )


class DelaysOneGroup(RefusesOneGroup):
    """Lets what one Group offers lie for hours before it accepts it."""

    DELAY = 3 * 3600 * SECOND

    def _begin(self) -> None:
        super()._begin()
        self._held: list[tuple[int, JsonObject]] = []

    def _instead(self, effect: JsonObject) -> Iterable[JsonObject]:
        self._held.append(((moment_of(self.speaker.now) or 0) + self.DELAY, effect))
        return ()

    def _afterwards(self) -> Iterable[JsonObject]:
        now = moment_of(self.speaker.now) or 0
        due = [effect for at, effect in self._held if at <= now]
        self._held = [(at, effect) for at, effect in self._held if at > now]
        return due
