"""Automatic retries: whether a failed attempt is tried again, and after how long.

Responsible for the contract's retry policy (MWP-WRK-018). Never counts anything but reported
failures; a crash or a preemption is no attempt.
"""

from __future__ import annotations

from reference_worker import eligibility
from reference_worker.instants import MICROS
from reference_worker.records import WorkItem
from reference_worker.turn import Turn

BASE_DELAY = 1 * MICROS  # v0.1 fixes no base; doubling from a second reaches any maxDelay soon


def delay_before_retry(turn: Turn, item: WorkItem, code: str) -> int | None:
    """Microseconds until the next attempt, or None if there is none.

    `item.failures` already counts the failure that is being reported.
    """
    contract = item.contract
    if code not in contract.retryable or item.failures >= contract.attempts_max:
        return None
    if eligibility.used_up(item) is not None:  # MWP-AUT-004
        return None
    delay = _backoff(contract.backoff, item.failures, contract.delay_max)
    return delay if turn.now + delay < contract.deadline else None


def _backoff(kind: str, failures: int, delay_max: int) -> int:
    if kind == "none":
        return 0
    exponent = failures - 1 if kind == "exponential" else 0
    return min(BASE_DELAY << min(exponent, 40), delay_max)
