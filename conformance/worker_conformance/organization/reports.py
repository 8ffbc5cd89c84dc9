"""What the executor reports: safe points, progress, blocks, results, failures, operations.

Results carry unsigned documents: the Worker signs what it submits. Never decides when to report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from worker_conformance.documents.canonical import sha256_bytes
from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.errors import SuiteError
from worker_conformance.organization.contracts import CRITERIA, capability_document
from worker_conformance.organization.items import Item
from worker_conformance.organization.ledger import Ledger
from worker_conformance.organization.moments import SECOND, text
from worker_conformance.organization.names import slug

FAILURE_CODE = "TOOL_UNAVAILABLE"
"""The failure where a step names none; retryable only if the contract says so."""

_Build = Callable[[Ledger, Item, int, int], JsonObject]


def build(
    ledger: Ledger, item: Item, kind: str, members: Mapping[str, object], number: int, now: int
) -> JsonObject:
    """The `report` member: `kind`, its usual members, and whatever the step sets itself."""
    if kind not in REPORTS:
        raise SuiteError("report", f"the executor cannot report {kind!r}", ", ".join(REPORTS))
    usual = REPORTS[kind](ledger, item, number, now)
    report: JsonObject = {"kind": kind, **usual, **cast("Mapping[str, JsonValue]", members)}
    named = report.get("checkpointId")
    if isinstance(named, str) and ":" not in named:  # a scenario's short name for a Checkpoint
        base = ledger.names.numbered("checkpoint", item.name, ledger.name, 0)
        report["checkpointId"] = f"{base.removesuffix('0')}{slug(named)}"
    return report


def _checkpoint(ledger: Ledger, item: Item, what: str, number: int) -> JsonObject:
    checkpoint_id = ledger.names.numbered(what, item.name, ledger.name, number)
    return {
        "checkpointId": checkpoint_id,
        "checkpointHash": sha256_bytes(checkpoint_id.encode()),
    }


def _safe_point(ledger: Ledger, item: Item, number: int, _now: int) -> JsonObject:
    return _checkpoint(ledger, item, "checkpoint", number)


def _blocked(ledger: Ledger, item: Item, number: int, _now: int) -> JsonObject:
    resolution = "The Coordinator has to decide between two readings of the contract."
    return {
        **_checkpoint(ledger, item, "blocked-checkpoint", number),
        "requiredResolution": resolution,
    }


def _progress(_ledger: Ledger, item: Item, number: int, now: int) -> JsonObject:
    return {
        "currentPhase": f"phase {number}",
        "completedMilestones": [f"milestone {one}" for one in range(1, number)],
        "nextCheckpoint": "at the end of this phase",
        "blockers": [],
        "updatedCompletionEstimate": text(now + item.plan.duration_seconds * SECOND),
        "evidenceIds": [],
    }


def _operation(_ledger: Ledger, _item: Item, number: int, _now: int) -> JsonObject:
    return {"operationId": f"operation-{number}", "effect": "reversible"}


def _completed(ledger: Ledger, item: Item, number: int, now: int) -> JsonObject:
    artifact = _artifact(ledger, item, number, now)
    hashes: list[JsonValue] = [artifact["contentHash"]]
    evidence: list[JsonValue] = [
        _evidence(ledger, item, now, name, f"{number}-{name}", hashes) for name in CRITERIA
    ]
    return {"artifacts": [artifact], "evidence": evidence}


def _failed(ledger: Ledger, item: Item, number: int, now: int) -> JsonObject:
    evidence = _evidence(ledger, item, now, CRITERIA[0], f"failure-{number}", [])
    return {
        "code": FAILURE_CODE,
        "evidence": [{**evidence, "type": "failure_report", "result": "failed"}],
    }


def _artifact(ledger: Ledger, item: Item, number: int, now: int) -> JsonObject:
    """An Artifact manifest without its signature (MWP-WRK-023)."""
    artifact_id = ledger.names.numbered("artifact", item.name, ledger.name, number)
    content = f"the package behind {artifact_id}".encode()
    return {
        "artifactId": artifact_id,
        "contentHash": sha256_bytes(content),
        "uri": f"https://artifacts.example/{artifact_id.rpartition(':')[2]}",
        "sizeBytes": len(content),
        "mediaType": "application/json",
        "schemaUri": f"{ledger.names.organization}:schema:package",
        "producer": {
            "agentId": ledger.names.agent_id,
            "agentCardVersion": ledger.shared.agent.card_version,
            "capabilities": [capability_document(item.plan.capability)],
        },
        "missionId": item.place.mission_id,
        "groupId": item.place.group_id,
        "workItemId": item.work_item_id,
        "sourceArtifactHashes": [],
        "toolVersions": [{"name": "builder", "version": "4.2"}],
        "modelVersions": [],
        "classification": "internal",
        "createdAt": text(now),
    }


def _evidence(
    ledger: Ledger, item: Item, now: int, criterion: str, suffix: str, hashes: list[JsonValue]
) -> JsonObject:
    """Evidence without its signature (MWP-WRK-026)."""
    base = ledger.names.numbered("evidence", item.name, ledger.name, 0).removesuffix("-0")
    return {
        "evidenceId": f"{base}-{suffix}",
        "missionId": item.place.mission_id,
        "groupId": item.place.group_id,
        "workItemId": item.work_item_id,
        "type": "deterministic_test",
        "subject": {"type": "work_item", "id": item.work_item_id},
        "criterionIds": [criterion],
        "method": "The planned test of this criterion was run.",
        "result": "passed",
        "artifactHashes": hashes,
        "generatedBy": {"type": "agent", "id": ledger.names.agent_id},
        "createdAt": text(now),
    }


REPORTS: Mapping[str, _Build] = {
    "safe_point": _safe_point,
    "progress": _progress,
    "blocked": _blocked,
    "completed": _completed,
    "failed": _failed,
    "operation": _operation,
}
"""Every kind of report, with its usual members."""
