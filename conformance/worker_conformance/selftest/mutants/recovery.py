"""Faults of what outlasts a run: Checkpoints and counts of attempts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.interposer import Interposer
from worker_conformance.selftest.mutants.base import mutant


class BeginsAnew(Interposer):
    """Runs preempted work again from its beginning."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return ({name: value for name, value in effect.items() if name != "resumeFrom"},)


@altered
def tries_for_ever(parts: Parts) -> None:
    """Tries again after every retryable failure, however often that was tried before."""

    def delay(turn: Any, item: Any, code: str) -> int | None:
        del turn
        return 0 if code in item.contract.retryable else None

    parts.replace("retries.delay_before_retry", delay)


MUTANTS = (
    mutant(
        BeginsAnew,
        "WRK-015.d",
        "MON-0070 PREEMPT-0003",
        "schedulers that restart what they evicted",
    ),
    mutant(
        tries_for_ever,
        "WRK-018.a",
        "MON-0071",
        "queues whose retry counter lives in the process that dies",
        "RETRY-0001 RETRY-0002 RETRY-0003 RETRY-0004",
    ),
)
