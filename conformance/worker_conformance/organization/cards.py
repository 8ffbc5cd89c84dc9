"""Agent Cards of the Worker under test, and the Organization's Events about it.

These Events belong to no Group and have no sequence; they are deduplicated by Event ID. Never
decides when one is delivered.
"""

from __future__ import annotations

from worker_conformance.documents.canonical import sha256_bytes
from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.documents.schemas import DocumentKind
from worker_conformance.organization.contracts import capability
from worker_conformance.organization.keys import VALID_FROM
from worker_conformance.organization.moments import text
from worker_conformance.organization.shared import Shared
from worker_conformance.organization.signatures import signed
from worker_conformance.scenario.surroundings import RegisterCard

SESSION_OPENED = "ext.missionweaveprotocol.identity.session_opened"
CARD_REGISTERED = "ext.missionweaveprotocol.registry.agent_card_registered"
OTHER_AHEAD = 5  # Session Epochs by which another Agent's session is later than the Worker's


def session_opened(shared: Shared, now: int, *, another: bool = False) -> JsonObject:
    """The Event about the Worker's newest session, or about a later one of another Agent."""
    epoch = shared.session_epoch + (OTHER_AHEAD if another else 0)
    agent_id = shared.names.other_agent_id if another else shared.names.agent_id
    payload: JsonObject = {"agentId": agent_id, "sessionEpoch": epoch}
    return _event(shared, SESSION_OPENED, f"session-{epoch}", payload, now)


def card_registered(shared: Shared, step: RegisterCard, now: int) -> JsonObject:
    """The Event about an Agent Card: the Worker's present one, or another Agent's."""
    card = agent_card(shared, now)
    if step.another:
        card |= {"agentId": shared.names.other_agent_id, "cardVersion": step.version}
    document = signed(DocumentKind.AGENT_CARD, card, shared.keys[step.signer])
    suffix = f"card-{step.version}-{step.signer}" + "-other" * step.another
    return _event(shared, CARD_REGISTERED, suffix, {"agentCard": document}, now)


def agent_card(shared: Shared, now: int) -> JsonObject:
    """The Agent Card without its signature (PROTOCOL 6.1)."""
    names, agent = shared.names, shared.agent
    return {
        "agentId": names.agent_id,
        "organizationId": names.organization_id,
        "cardVersion": agent.card_version,
        "displayName": "Worker",
        "owner": shared.keys.actor("owner"),
        "status": "active",
        "protocolVersions": ["0.1"],
        "endpoints": [{"transport": "wss", "uri": "wss://organization.example/worker"}],
        "publicKeys": [_public_key(shared)],
        "capabilities": [_capability(shared, reference) for reference in agent.capabilities],
        "maxConcurrency": agent.slots,
        "issuedAt": text(now),
    }


def _public_key(shared: Shared) -> JsonObject:
    entry = next(
        one for one in shared.keys.entries() if one["keyId"] == shared.keys["worker"].key_id
    )
    return {
        "keyId": entry["keyId"],
        "algorithm": "Ed25519",
        "publicKey": entry["publicKey"],
        "validFrom": VALID_FROM,
    }


def _capability(shared: Shared, reference: str) -> JsonObject:
    name, version = capability(reference)
    base = f"{shared.names.organization}:schema"
    evidence: list[JsonValue] = [f"{shared.names.organization}:evidence:{name}"]
    return {
        "id": name,
        "version": version,
        "inputSchema": f"{base}:{name}-input",
        "inputSchemaHash": sha256_bytes(f"{name} input".encode()),
        "outputSchema": f"{base}:package",
        "outputSchemaHash": sha256_bytes(b"package"),
        "constraints": {},
        "verifiedEvidence": evidence,
    }


def _event(shared: Shared, kind: str, what: str, payload: JsonObject, now: int) -> JsonObject:
    names = shared.names
    suffix = f"{what}-{names.tag('organization event', what)}"
    draft: JsonObject = {
        "protocolVersion": "0.1",
        "eventId": f"{names.organization}:event:{suffix}",
        "kind": kind,
        "actor": shared.keys.actor("group-authority"),
        "cause": {"type": "command", "id": f"{names.organization}:action:{suffix}"},
        "correlationId": f"{names.organization}:correlation:{suffix}",
        "occurredAt": text(now),
        "payload": payload,
        "acceptedBy": shared.keys.actor("group-authority"),
    }
    return signed(DocumentKind.EVENT, draft, shared.keys["group-authority"])
