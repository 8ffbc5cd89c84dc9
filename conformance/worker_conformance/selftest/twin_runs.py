"""Checks that compare two runs of one bare Scheduler: an improvement, and a repetition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import evolve

from worker_conformance.judge.exact import determinism_breaches, monotony_breaches
from worker_conformance.judge.service import ServiceHistory
from worker_conformance.selftest.cases import Case, Outcome, from_breaches
from worker_conformance.selftest.harness import Setting, play
from worker_conformance.suite.loads import ITEM_SECONDS, Batch, Offer, equal

QUEUE, IMPROVED = 8, 4
"""Equal items in one queue, and which of them is improved: it can become earlier and later."""

BETTER: Mapping[str, Offer] = {
    "priorityClass": Offer("", priority_class="urgent"),
    "deadline": Offer("", deadline_seconds=20 * ITEM_SECONDS),
}
"""One improvement for each attribute that a Scheduler may say it considers."""


def monotone(case: Case) -> Iterator[Outcome]:
    """Improving one item in one attribute never makes that item later.

    The class is one in which nothing else waits: a raise into a busy class may rightly wait longer
    under fair queueing between the classes.
    """
    plain = [Offer(case.groups[0])] * QUEUE
    for attribute, better in BETTER.items():
        if attribute in case.scheduler.considers:
            improved = [*plain]
            improved[IMPROVED - 1] = evolve(better, group=case.groups[0])
            name = f"{case.groups[0]}-{IMPROVED}"
            breaches = monotony_breaches(_batch(case, plain), _batch(case, improved), name)
            yield from_breaches("monotone", breaches)


def _batch(case: Case, offers: list[Offer]) -> ServiceHistory:
    setting = Setting(case.slots, {case.groups[0]: 1.0})
    return play(case.make(), Batch(offers), setting, dispatches=len(offers)).history


def deterministic(case: Case) -> Iterator[Outcome]:
    """The same input and seed give the same dispatches."""
    runs = [
        play(case.make(), equal(case.groups), case.setting, dispatches=100).history for _ in "12"
    ]
    yield from_breaches("deterministic", determinism_breaches(*runs))
