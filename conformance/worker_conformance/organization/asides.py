"""Core Events of what is between others: they count in the Group's order, and ask nothing.

A Worker takes them as it takes every Event: verified, kept, and acknowledged (MWP-WRK-029). Never
changes a WorkItem or the Worker's own Membership.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.errors import SuiteError
from worker_conformance.organization import contracts
from worker_conformance.organization.appending import append
from worker_conformance.organization.ledger import Ledger
from worker_conformance.organization.outcomes import Appended
from worker_conformance.scenario.model import Act


def aside(ledger: Ledger, act: Act, now: int) -> tuple[Appended, ...]:
    """Append an Event of the kind that the act names."""
    kind = str(act.args.get("kind", ""))
    if kind not in _PAYLOADS:
        raise SuiteError("no-aside", f"'{kind}' is no kind of aside", ", ".join(_PAYLOADS))
    role = "group-authority" if kind == "group.snapshot.created" else "coordinator"
    return append(ledger, act, now, kind, _PAYLOADS[kind](ledger), role=role)


def _renewed(ledger: Ledger) -> JsonObject:
    ledger.mission_revision += 1
    mission = ledger.mission()
    return {"mission": mission, "missionId": mission["missionId"]}


def _delegated(ledger: Ledger) -> JsonObject:
    return {"agentId": ledger.names.other_agent_id, "reason": _reason(ledger, "Delegated.")}


def _redacted(ledger: Ledger) -> JsonObject:
    name = ledger.name
    message_id = ledger.names.numbered("message", name, name, len(ledger.events))
    return {"messageId": message_id, "reason": _reason(ledger, "Redacted.")}


def _overridden(ledger: Ledger) -> JsonObject:
    return {"agentId": ledger.names.other_agent_id, "reason": _reason(ledger, "Allowed once.")}


def _kept(ledger: Ledger) -> JsonObject:
    name, number = ledger.name, len(ledger.events)
    snapshot_id = ledger.names.numbered("archived-snapshot", name, name, number)
    return {"snapshotId": snapshot_id, "throughSequence": number}


def _reason(ledger: Ledger, said: str) -> str:
    return contracts.message_text(said, ledger.name, ledger.names)


_PAYLOADS: Mapping[str, Callable[[Ledger], JsonObject]] = MappingProxyType(
    {
        "mission.coordinator.renewed": _renewed,
        "membership.delegation.granted": _delegated,
        "message.redacted": _redacted,
        "policy.cooperation_override.granted": _overridden,
        "group.snapshot.created": _kept,
    }
)
"""By kind; a test holds them against `ASIDES`."""
