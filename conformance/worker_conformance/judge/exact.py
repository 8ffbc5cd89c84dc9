"""Exact checks on a schedule: what holds at every single dispatch or rest, without any bound.

Responsible for safety, quota, liveness, promptness, reordering, monotony and determinism of a
service history. Never measures shares or waits. Each check returns the breaches it found, oldest
first; an empty result says nothing unless the check's occasion arose, which the caller proves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from worker_conformance.judge.service import MICROSECONDS, Dispatch, Rest, ServiceHistory


@frozen
class Breach:
    """One moment at which a rule did not hold. `item` is empty where no single item is meant."""

    rule: str
    at: int
    group: str
    item: str
    observed: str


@frozen
class Pause:
    """An item was paused at a safe point after `progress_seconds` of its segment."""

    at: int
    group: str
    item: str
    progress_seconds: float


def quota_breaches(history: ServiceHistory) -> tuple[Breach, ...]:
    """MWP-WRK-010: a Group runs more than its quota because of a new dispatch.

    A quota lowered below what runs kills nothing and only stops new dispatches, so it is the
    dispatch that is judged, never the number running at rest.
    """
    return tuple(
        Breach("quota", d.at, d.group, d.item, f"{d.group_running} running, quota {d.quota}")
        for d in history.dispatches()
        if d.quota is not None and d.group_running > d.quota
    )


def safety_breaches(history: ServiceHistory) -> tuple[Breach, ...]:
    """MWP-WRK-011: something not eligible is dispatched, or more runs than there are slots."""
    return tuple(_unsafe(history))


def _unsafe(history: ServiceHistory) -> Iterator[Breach]:
    for dispatch in history.dispatches():
        if not dispatch.eligible:
            yield Breach("safe", dispatch.at, dispatch.group, dispatch.item, "it was not eligible")
        if dispatch.running > history.slots:
            observed = f"{dispatch.running} running, {history.slots} slots"
            yield Breach("safe", dispatch.at, dispatch.group, dispatch.item, observed)


def idle_breaches(history: ServiceHistory, reserved_slots: int = 0) -> tuple[Breach, ...]:
    """SHOULD: at rest a slot is free (beyond the reserved ones) beside something startable."""
    return tuple(
        Breach("prompt", rest.at, rest.startable[0], "", f"{rest.free} free slots at rest")
        for rest in history.moments
        if isinstance(rest, Rest) and rest.startable and rest.free > reserved_slots
    )


def liveness_breaches(
    history: ServiceHistory, arrivals_stopped_at: int, remaining_seconds: float
) -> tuple[Breach, ...]:
    """MUST: after arrivals stop, everything is dispatched within the remaining service time.

    `remaining_seconds` is the service time of all that had not ended when arrivals stopped: what
    a single slot would need for it.
    """
    limit = arrivals_stopped_at + round(remaining_seconds * MICROSECONDS)
    late = [
        Breach("live", d.at, d.group, d.item, "dispatched after the remaining service time")
        for d in history.dispatches()
        if d.since <= arrivals_stopped_at and d.at > limit
    ]
    never = [
        Breach("live", history.ends_at, w.group, w.item, "never dispatched")
        for w in history.waiting
        if history.ends_at >= limit
    ]
    return (*late, *never)


def reorder_breaches(
    history: ServiceHistory, item: str, raised_at: int, latency: int
) -> tuple[Breach, ...]:
    """MWP-WRK-015: an item raised to the top class is the next of its Group to be dispatched.

    `latency` dispatches of its Group may still come before it (a choice made beforehand).
    """
    group: str | None = None
    passed: dict[str, int] = {}
    for dispatch in history.dispatches():
        if dispatch.at < raised_at:
            continue
        if dispatch.item == item:
            group = dispatch.group
            break
        passed[dispatch.group] = passed.get(dispatch.group, 0) + 1
    if group is None:
        waiting = next((w for w in history.waiting if w.item == item), None)
        group = waiting.group if waiting else ""
    before = passed.get(group, 0)
    if before <= latency:
        return ()
    observed = f"{before} items of its Group went before it"
    return (Breach("reorder", raised_at, group, item, observed),)


def monotony_breaches(
    plain: ServiceHistory, improved: ServiceHistory, item: str
) -> tuple[Breach, ...]:
    """Two runs that differ in one improvement of `item`: it never makes that item later."""
    before, after = _dispatch_of(plain, item), _dispatch_of(improved, item)
    if before is None or (after is not None and after.at <= before.at):
        return ()
    at = improved.ends_at if after is None else after.at
    later = (at - before.at) / MICROSECONDS
    return (Breach("monotone", at, before.group, item, f"at least {later:g} s later"),)


def _dispatch_of(history: ServiceHistory, item: str) -> Dispatch | None:
    return next((d for d in history.dispatches() if d.item == item), None)


def determinism_breaches(one: ServiceHistory, other: ServiceHistory) -> tuple[Breach, ...]:
    """Two runs of the same input and seed: the first dispatch in which they differ."""
    first, second = list(one.dispatches()), list(other.dispatches())
    for left, right in zip(first, second, strict=False):
        if (left.at, left.item) != (right.at, right.item):
            observed = f"{left.item} in one run, {right.item} in the other"
            return (Breach("deterministic", left.at, left.group, left.item, observed),)
    if len(first) != len(second):
        observed = f"{len(first)} dispatches in one run, {len(second)} in the other"
        return (Breach("deterministic", min(one.ends_at, other.ends_at), "", "", observed),)
    return ()


def shows_randomness(
    run: ServiceHistory, repeated: ServiceHistory, reseeded: ServiceHistory
) -> bool:
    """Whether a Worker that claims the statistical allowance has shown that it draws lots.

    Equal seeds must give equal runs (`run`, `repeated`) and another seed another run; a run
    without any dispatch shows nothing.
    """
    if not all(any(True for _ in one.dispatches()) for one in (run, repeated, reseeded)):
        return False
    return not determinism_breaches(run, repeated) and bool(determinism_breaches(run, reseeded))


def pauses_of(history: ServiceHistory) -> tuple[Pause, ...]:
    """The segments after which an item went back to its queue, read from a history.

    A crash or a lost lease ends a segment like that as well: ask this of runs without them.
    """
    following = {waiting.item for waiting in history.waiting}
    found: list[Pause] = []
    for dispatch in reversed(list(history.dispatches())):
        if dispatch.item in following:
            ended = dispatch.at + round(dispatch.seconds * MICROSECONDS)
            found.append(Pause(ended, dispatch.group, dispatch.item, dispatch.seconds))
        following.add(dispatch.item)
    return tuple(reversed(found))


def pause_breaches(
    pauses: Sequence[Pause], *, per_item: int, causes: int, slots: int
) -> tuple[Breach, ...]:
    """MWP-WRK-015: preemption makes progress and comes to an end.

    Each dispatch yields at least one segment of progress before the next pause, an item is paused
    at most `per_item` times, and each pause has a cause: at most one per slot for each of the
    `causes` (arrivals and changes of class), which is what ends mutual preemption.
    """
    found = [
        Breach("preempt", pause.at, pause.group, pause.item, "paused without any progress")
        for pause in pauses
        if pause.progress_seconds <= 0
    ]
    counted: dict[str, int] = {}
    for pause in pauses:
        counted[pause.item] = counted.get(pause.item, 0) + 1
        if counted[pause.item] == per_item + 1:
            observed = f"paused more than {per_item} times"
            found.append(Breach("preempt", pause.at, pause.group, pause.item, observed))
    if len(pauses) > slots * causes:
        last = pauses[slots * causes]
        observed = f"{len(pauses)} pauses, {causes} arrivals and class changes, {slots} slots"
        found.append(Breach("preempt", last.at, last.group, last.item, observed))
    return tuple(found)
