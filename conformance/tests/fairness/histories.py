"""Service histories made by hand, one dispatch after the other."""

from __future__ import annotations

from collections.abc import Mapping

from worker_conformance.judge.service import MICROSECONDS, HistoryBuilder, Item, ServiceHistory


def played(
    order: str,
    *,
    weights: Mapping[str, float],
    slots: int = 1,
    seconds: float = 60.0,
    classes: Mapping[str, str] | None = None,
) -> ServiceHistory:
    """Dispatch the Groups in this order, one a minute, every Group backlogged all the while."""
    builder = HistoryBuilder(slots)
    made = 0
    queues: dict[str, list[str]] = {name: [] for name in weights}

    def offer(group: str, at: int) -> None:
        nonlocal made
        made += 1
        name = f"{group}{made}"
        priority_class = (classes or {}).get(group, "standard")
        builder.offered(Item(name, group, seconds, priority_class))
        builder.ready(at, name)
        queues[group].append(name)

    for group, weight in weights.items():
        builder.group(group, weight)
        offer(group, 0)
        offer(group, 0)
    builder.rest(0)
    running: str | None = None
    for minute, group in enumerate(order):
        at = round(minute * seconds * MICROSECONDS)
        if running is not None:
            builder.stopped(at, running)
        running = queues[group].pop(0)
        builder.dispatched(at, running)
        offer(group, at)
        builder.rest(at)
    return builder.build()
