"""Appends what the Organization does itself: its Event, its cause, and extension data if asked for.

Never decides what happens; `acts` and `missions` do.
"""

from __future__ import annotations

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.organization.contracts import unknown_profile
from worker_conformance.organization.items import Item
from worker_conformance.organization.ledger import Ledger
from worker_conformance.organization.outcomes import Appended
from worker_conformance.organization.transitions import State
from worker_conformance.scenario.model import Act


def append(
    ledger: Ledger,
    act: Act,
    now: int,
    kind: str,
    payload: JsonObject,
    *,
    item: Item | None = None,
    role: str = "coordinator",
) -> tuple[Appended, ...]:
    """Append one Event about a WorkItem, or about the Mission where there is none."""
    cause = ledger.organization_cause(role)
    extensions = _unknown_profile(ledger, act)
    shown = item if item is None or item.state is not State.NONE else None
    return (ledger.append(kind, payload, cause, now, item=shown, extensions=extensions),)


def _unknown_profile(ledger: Ledger, act: Act) -> JsonObject | None:
    """Data of a profile that no Worker knows, where the act asks for it."""
    critical, data = act.args.get("critical"), act.args.get("data")
    if critical is None and data is None:
        return None
    return unknown_profile(
        ledger.names, critical=bool(critical), data=None if data is None else str(data)
    )
