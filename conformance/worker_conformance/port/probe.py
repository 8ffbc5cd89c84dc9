"""The smallest `start` that is complete: one Organization, one Group, one active Membership.

For trying an adapter before there is anything to judge. Fixed keys and identifiers; nothing here is
ever part of a verdict.
"""

import hashlib

from worker_conformance.documents import base64url
from worker_conformance.documents.json_types import JsonObject
from worker_conformance.documents.registry import ALGORITHM, Principal
from worker_conformance.documents.signing import SigningKey

NOW = "2026-07-15T00:00:00Z"
GROUP_ID = "urn:doctor:group:a"

_SINCE = "2026-07-01T00:00:00Z"
_AGENT = Principal("agent", "urn:doctor:agent:worker")
_AUTHORITY = Principal("service", "urn:doctor:service:group-authority")
_MISSION_ID = "urn:doctor:mission:a"


def start(state_directory: str, session_epoch: int) -> JsonObject:
    """Return a `start` stimulus for one more session of the same Worker."""
    return {
        "type": "start",
        "now": NOW,
        "stateDirectory": state_directory,
        "seed": 1,
        "agent": {
            "agentId": _AGENT.id,
            "keyId": "urn:doctor:key:worker",
            "privateKey": base64url.encode(_seed("worker")),
            "agentCardVersion": 1,
            "capabilities": [{"id": "doctor.work", "version": "1.0.0"}],
            "maxConcurrency": 1,
        },
        "sessionEpoch": session_epoch,
        "organization": _organization(),
        "groups": [_group()],
    }


def _organization() -> JsonObject:
    return {
        "organizationId": "urn:doctor:organization",
        "keys": [_key("worker", _AGENT), _key("authority", _AUTHORITY)],
        "authorized": {
            "eventAuthority": [_AUTHORITY.id],
            "archival": [_AUTHORITY.id],
            "cardIssuer": [_AUTHORITY.id],
            "approvers": [],
        },
        "policy": {
            "policyVersion": 1,
            "priorityClasses": ["standard"],
            "groups": {GROUP_ID: {"weight": 1, "priorityClass": "standard"}},
            "workItems": {},
            "capabilityAvailability": {"doctor.work": "available"},
            "cardUpgrades": {},
            "limits": {
                "maxQueuedItems": 1000,
                "maxQueuedItemsPerGroup": 1000,
                "offlineGraceSeconds": 60,
            },
            "remainingBudget": {},
        },
    }


def _group() -> JsonObject:
    return {
        "groupId": GROUP_ID,
        "missionId": _MISSION_ID,
        "conversationId": "urn:doctor:conversation:a",
        "membership": {
            "membershipId": "urn:doctor:membership:a",
            "missionId": _MISSION_ID,
            "groupId": GROUP_ID,
            "member": _AGENT.to_json(),
            "role": "worker",
            "state": "active",
            "membershipEpoch": 1,
            "scopes": ["work.accept_offer"],
            "visibilityStartSequence": 1,
            "grantedAt": _SINCE,
            "activatedAt": _SINCE,
        },
        "missionContext": {},
        "credentials": {},
    }


def _key(name: str, principal: Principal) -> JsonObject:
    key_id = f"urn:doctor:key:{name}"
    return {
        "keyId": key_id,
        "principal": principal.to_json(),
        "algorithm": ALGORITHM,
        "publicKey": base64url.encode(
            SigningKey.from_seed(_seed(name), key_id, principal).public_key
        ),
        "validFrom": _SINCE,
    }


def _seed(name: str) -> bytes:
    return hashlib.sha256(f"doctor:{name}".encode()).digest()
