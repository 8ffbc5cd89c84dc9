"""One scheduling decision (pick, start, complete), beside a bare heap, in one run.

    python benchmarks/scheduling.py [decisions]

The Scheduler alone: items wait in 100 Groups; each decision picks one, starts it, completes it,
and queues another in its place; its Group is closed and opened on the way, as when a quota of one
slot is full. The bare heap pushes and pops one tuple. Seconds are processor time of this process.
"""

from __future__ import annotations

import argparse
import gc
import heapq
import json
import statistics
import time
from collections.abc import Callable

from reference_worker.policy import Policy
from reference_worker.queues import place
from reference_worker.scheduler import FairScheduler

GROUPS = 100
ROUNDS = 5


def scheduler_of(queued: int) -> FairScheduler:
    """A Scheduler with so many items over GROUPS Groups of three weights."""
    scheduler = FairScheduler(0, {})
    groups = {f"g{n}": {"weight": 1 + n % 3, "priorityClass": "standard"} for n in range(GROUPS)}
    scheduler.set_policy(Policy.read({"priorityClasses": ["standard"], "groups": groups}))
    for number in range(queued):
        group_id = f"g{number % GROUPS}"
        scheduler.put("standard", group_id, place(f"i{number}", number, 10**15, "normal", number))
    return scheduler


def decide(scheduler: FairScheduler, first: int, decisions: int) -> float:
    """Seconds for so many decisions."""
    gc.collect()
    began = time.process_time()
    for number in range(first, first + decisions):
        chosen = scheduler.next()
        assert chosen is not None, "items are waiting"
        group_id, class_name = scheduler.charge(chosen[0])
        scheduler.set_open(group_id, is_open=False)  # as when a quota of one slot is full
        scheduler.set_open(group_id, is_open=True)
        scheduler.put(class_name, group_id, place(f"i{number}", number, 10**15, "normal", number))
        scheduler.changed.clear()
    return time.process_time() - began


def bare_heap(size: int, decisions: int) -> float:
    """Seconds for so many pushes and pops of a heap of tuples of this size."""
    heap = [(number, number, f"i{number}") for number in range(size)]
    heapq.heapify(heap)
    gc.collect()
    began = time.process_time()
    for number in range(size, size + decisions):
        heapq.heappush(heap, (number, number, "i"))
        heapq.heappop(heap)
    return time.process_time() - began


def median(measure: Callable[[], float]) -> float:
    """Of ROUNDS rounds."""
    return statistics.median(measure() for _ in range(ROUNDS))


def main() -> None:
    """Print the costs and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("decisions", type=int, nargs="?", default=5_000)
    decisions = parser.parse_args().decisions
    micros: dict[int, float] = {}
    for queued in (1_000, 10_000, 100_000):
        scheduler = scheduler_of(queued)
        firsts = iter(range(10**6, 10**9, decisions))
        seconds = median(lambda s=scheduler, f=firsts: decide(s, next(f), decisions))  # type: ignore[misc]
        micros[queued] = seconds / decisions * 1e6
    heap = median(lambda: bare_heap(10_000, decisions * 10)) / decisions / 10 * 1e6
    print(
        json.dumps(
            {
                "groups": GROUPS,
                "microsecondsPerDecision": {str(n): round(m, 1) for n, m in micros.items()},
                "decisionsPerSecond": {str(n): round(1e6 / m) for n, m in micros.items()},
                "ratio100000To1000": round(micros[100_000] / micros[1_000], 2),
                "bareHeapMicroseconds": round(heap, 2),
                "ratioToBareHeapAt10000": round(micros[10_000] / heap, 1),
            }
        )
    )


if __name__ == "__main__":
    main()
