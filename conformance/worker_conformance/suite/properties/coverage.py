"""Coverage: how often generated worlds reached what they are there to reach.

Counts WorkItem states, transitions, error codes, moves and monitors' preconditions in Traces.
A count of 0 is a place that nothing was proved about. Never judges a Worker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from worker_conformance.documents.json_types import find
from worker_conformance.judge.trace import EntryKind, NoteKind, Trace
from worker_conformance.scenario.model import Action, Publish, Report

Coverage = Mapping[str, int]
"""Counts by `group:name`; the groups are `state`, `transition`, `error`, `move`, `monitor`."""


def coverage_of(trace: Trace, actions: Sequence[Action], witnesses: Mapping[str, int]) -> Coverage:
    """What one course reached."""
    counts: Counter[str] = Counter()
    for entry in trace:
        if entry.kind is EntryKind.STIMULUS and entry.body.get("type") == "frames":
            frames = entry.body.get("frames")
            for frame in frames if isinstance(frames, list) else ():
                code = find(frame, "error", "code")
                if isinstance(code, str):
                    counts[f"error:{code}"] += 1
        elif entry.body.get("note") == NoteKind.APPENDED:
            state, ours = entry.body.get("state"), entry.body.get("ours") is True
            counts[f"transition:{entry.body['kind']}"] += 1
            if isinstance(state, str):
                counts[f"state:{state}"] += 1
                counts[f"state:{state}, owned by the Worker"] += ours
    counts.update(f"move:{name}" for action in actions for name in _names(action))
    counts.update({f"monitor:{check_id}": count for check_id, count in witnesses.items()})
    return {name: count for name, count in sorted(counts.items()) if count}


def summed(parts: Iterable[Coverage]) -> Coverage:
    """What several courses reached together."""
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return dict(sorted(total.items()))


def _names(action: Action) -> tuple[str, ...]:
    match action:
        case Publish(acts=acts):
            return tuple(act.kind.value for many in acts.values() for act in many)
        case Report(kind=kind):
            return (f"report {kind}",)
        case _:
            return (type(action).__name__.lower(),)
