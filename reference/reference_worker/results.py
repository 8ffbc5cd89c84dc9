"""Results: Artifact manifests and Evidence, completed and signed.

Responsible for complete, schema-valid, signed documents with Evidence for every acceptance
criterion (MWP-WRK-023, -025, -026). Never invents Evidence for a success that was not shown.
"""

from __future__ import annotations

from attrs import frozen

from reference_worker.documents import Document, is_valid
from reference_worker.instants import is_timestamp
from reference_worker.records import WorkItem
from reference_worker.turn import Turn


@frozen
class Result:
    """What a submission carries."""

    artifacts: tuple[Document, ...]
    evidence: tuple[Document, ...]


def complete(turn: Turn, item: WorkItem, report: Document) -> Result | None:
    """The signed result of a `completed` report, or None if it does not show completion."""
    artifacts = tuple(_artifact(turn, item, draft) for draft in report["artifacts"])
    evidence = tuple(_evidence(turn, item, draft, {}) for draft in report["evidence"])
    shown = {criterion for document in evidence for criterion in document["criterionIds"]}
    valid = all(is_valid("artifact", document) for document in artifacts) and all(
        is_valid("evidence", document) for document in evidence
    )
    if not (valid and artifacts and shown.issuperset(item.contract.criteria)):
        return None
    return Result(artifacts, evidence)


def failure_evidence(
    turn: Turn, item: WorkItem, drafts: list[Document], code: str
) -> tuple[Document, ...]:
    """Signed Evidence of a failure; one is written from the failure code if none was reported."""
    defaults: Document = {"type": "failure_report", "result": "failed", "details": {"code": code}}
    evidence = [_evidence(turn, item, draft, {}) for draft in drafts]
    valid = tuple(document for document in evidence if is_valid("evidence", document))
    return valid or (_evidence(turn, item, {"method": f"Execution ended with {code}."}, defaults),)


def _artifact(turn: Turn, item: WorkItem, draft: Document) -> Document:
    assert item.ownership is not None, "only an owner has results"
    media_type, schema = item.contract.deliverable
    document = {
        "artifactId": draft.get("artifactId") or turn.identifier("artifact", item.group_id),
        "mediaType": media_type,
        "schemaUri": schema,
        "sourceArtifactHashes": list(item.contract.inputs),
        "toolVersions": [],
        "modelVersions": [],
        "classification": "internal",
        **draft,
        "producer": {
            "agentId": item.ownership.agent_id,
            "agentCardVersion": item.ownership.card_version,
            "capabilities": [{"id": i, "version": v} for i, v in item.ownership.pins],
        },
        **_place(item),
    }
    return _signed(turn, document)


def _evidence(turn: Turn, item: WorkItem, draft: Document, defaults: Document) -> Document:
    document = {
        "evidenceId": draft.get("evidenceId") or turn.identifier("evidence", item.group_id),
        "subject": {"type": "work_item", "id": item.work_item_id},
        "criterionIds": list(item.contract.criteria),
        "artifactHashes": [],
        **defaults,
        **draft,
        "generatedBy": {"type": "agent", "id": turn.projection.session.agent_id},
        **_place(item),
    }
    return _signed(turn, document)


def _place(item: WorkItem) -> Document:
    return {
        "missionId": item.mission_id,
        "groupId": item.group_id,
        "workItemId": item.work_item_id,
    }


def _signed(turn: Turn, document: Document) -> Document:
    created_at = document.get("createdAt")
    if not is_timestamp(created_at) or not str(created_at).endswith("Z"):  # MWP-SDV-001
        created_at = turn.stamp()
    document = {name: member for name, member in document.items() if name != "signature"}
    document["createdAt"] = created_at
    return turn.runtime.agent.key.sign(document, str(created_at))
