"""The schemas of the Port accept every message it names, and refuse members it does not name."""

import copy
import json
from collections.abc import Iterator

import pytest

from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.errors import AdapterError, SuiteError
from worker_conformance.port import messages, probe
from worker_conformance.resources import schemas_path

NOW = "2026-07-15T00:00:00Z"
HASH = "sha256:" + "0" * 64
ITEM = {"slotId": "s1", "workItemId": "urn:x:work-item:a1"}
START = probe.start("/state", 1)
GROUP = START["groups"][0]  # type: ignore[index]
ORGANIZATION = START["organization"]
REPORTED = {**ITEM, "leaseId": "urn:x:lease:1"}
CHECKPOINT = {"checkpointId": "urn:x:checkpoint:1", "checkpointHash": HASH}
PROGRESS = {
    "currentPhase": "build",
    "completedMilestones": ["plan"],
    "nextCheckpoint": "tests pass",
    "blockers": [],
    "updatedCompletionEstimate": NOW,
    "evidenceIds": ["urn:x:evidence:1"],
}
TOKEN = {
    "tokenId": "urn:x:token:1",
    "leaseId": "urn:x:lease:1",
    "agentId": "urn:x:agent:w",
    "sessionEpoch": 1,
    "workItemId": "urn:x:work-item:a1",
    "ownershipEpoch": 1,
    "operations": ["external"],
    "budget": {"externalSideEffectLimit": 1},
    "expiresAt": NOW,
}
STATE = {
    "mission": {},
    "workItems": [{}],
    "leases": [],
    "memberships": [{}],
    "approvals": [{"approval": {}, "workItemId": "urn:x:w", "ownershipEpoch": 1, "expiresAt": NOW}],
    "checkpoints": [],
    "artifacts": [],
}
EPOCHS = [{"groupId": "urn:x:group:a", "membershipEpoch": 1}]


def report(kind: str, **members: JsonValue) -> JsonObject:
    return {"type": "execution", **REPORTED, "report": {"kind": kind, **members}}


STIMULI: dict[str, JsonObject] = {
    "start": START,
    "policy": {"type": "policy", "policy": ORGANIZATION["policy"]},  # type: ignore[index,call-overload]
    "frames": {"type": "frames", "frames": [{"frameType": "PING"}, {"bytes": "AQID"}]},
    "tick": {"type": "tick"},
    "tick with a wall clock": {"type": "tick", "wallClock": "2026-07-14T23:00:00.5Z"},
    "caught_up": {"type": "caught_up", "groupId": "urn:x:group:a", "sequence": 0},
    "join": {"type": "join", "group": GROUP},
    "leave": {"type": "leave", "groupId": "urn:x:group:a"},
    "keys": {
        "type": "keys",
        "keys": ORGANIZATION["keys"],  # type: ignore[index,call-overload]
        "authorized": ORGANIZATION["authorized"],  # type: ignore[index,call-overload]
    },
    "link down": {"type": "link", "state": "down"},
    "link up": {"type": "link", "state": "up", "sessionEpoch": 2, "memberships": EPOCHS},
    "link of a Group": {"type": "link", "state": "up", "groupIds": ["urn:x:group:a"]},
    "token": {"type": "token", "token": TOKEN, "secret": "abc"},
    "token_revoked": {"type": "token_revoked", "tokenId": "urn:x:token:1"},
    "snapshot": {"type": "snapshot", "snapshot": {"snapshotId": "urn:x:s"}, "state": STATE},
    "safe_point": report("safe_point", **CHECKPOINT),
    "progress": report("progress", **PROGRESS, usage={"computeSeconds": 1.5}),
    "blocked": report("blocked", **CHECKPOINT, requiredResolution="access"),
    "completed": report("completed", artifacts=[{}], evidence=[{}]),
    "failed": report("failed", code="TIMEOUT", evidence=[{}]),
    "operation": report("operation", operationId="op-1", effect="external"),
    "stop": {"type": "stop"},
}

BOUND = {"groupId": "urn:x:group:a", "workItemId": "urn:x:work-item:a1"}
CONTEXT = {"missionContext": {}, "credentials": {}, "budget": {}, "sideEffectScope": "urn:x:scope"}
EFFECTS: dict[str, JsonObject] = {
    "frame": {"type": "frame", "frame": {"frameType": "ACK", "anything": 1}},
    "run": {"type": "run", "groupId": "urn:x:group:a", **REPORTED, "context": CONTEXT},
    "run after a Checkpoint": {
        "type": "run",
        "groupId": "urn:x:group:a",
        **REPORTED,
        "resumeFrom": CHECKPOINT,
        "context": CONTEXT,
    },
    **{kind: {"type": kind, **ITEM} for kind in ("preempt", "continue", "pause", "cancel")},
    "release": {"type": "release", **ITEM},
    "decline": {"type": "decline", **BOUND, "offerId": "urn:x:offer:1", "reason": "capacity"},
    "disclose": {"type": "disclose", **BOUND, "estimate": {}, "estimatedStartLatest": NOW},
    "operation": {
        "type": "operation",
        **REPORTED,
        "operationId": "op-1",
        "tokenId": "urn:x:token:1",
        "idempotencyKey": "key",
    },
    "operation refused": {
        "type": "operation",
        **ITEM,
        "operationId": "op-1",
        "refused": "no current lease",
    },
    "reject": {"type": "reject", "code": "PROTOCOL_VIOLATION", "frameId": "urn:x:frame:1"},
}

OTHERS: dict[str, tuple[str, JsonObject]] = {
    "initialize": ("initialize-params", messages.initialize_params()),
    "declaration": (
        "declaration",
        {
            "portVersion": "1",
            "name": "Example Worker",
            "version": "1.4.0",
            "language": "Go",
            "homepage": "https://example.org/worker",
            "profiles": ["replay", "signatures"],
            "parameters": {"fairnessUnit": "slotTime", "considers": ["quota"]},
        },
    ),
    "answer": ("handle-result", {"effects": [], "busy": False, "wakeAt": NOW}),
    "shutdown": ("shutdown-result", {}),
    "request": ("request", {"jsonrpc": "2.0", "id": 1, "method": "shutdown"}),
    "response": ("response", {"jsonrpc": "2.0", "id": 1, "result": {"effects": []}}),
    "error": ("response", {"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": ""}}),
    "unread": ("response", {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": ""}}),
}

MESSAGES: dict[str, tuple[str, JsonObject]] = {
    **{f"stimulus {name}": ("stimulus", {"now": NOW, **body}) for name, body in STIMULI.items()},
    **{f"effect {name}": ("effect", body) for name, body in EFFECTS.items()},
    **OTHERS,
}
OPAQUE = (
    "frame", "frames", "estimate", "snapshot", "membership", "missionContext", "credentials",
    "budget", "mission", "workItems", "memberships", "approval", "artifacts", "evidence", "result",
    "groups", "remainingBudget", "capabilityAvailability", "cardUpgrades", "data",
)  # fmt: skip
"""Members whose content other schemas judge, or whose member names are data."""


@pytest.mark.parametrize("name", MESSAGES)
def test_every_message_of_the_port_is_accepted(name: str) -> None:
    assert messages.problems(*MESSAGES[name]) == ()


@pytest.mark.parametrize("name", MESSAGES)
def test_a_member_that_the_port_does_not_name_is_refused_at_every_level(name: str) -> None:
    schema, message = MESSAGES[name]
    for path in object_paths(message):
        changed = copy.deepcopy(message)
        at(changed, path)["mood"] = "fine"
        assert messages.problems(schema, changed), (
            f"{name}: a stranger at /{'/'.join(map(str, path))}"
        )


@pytest.mark.parametrize("name", [name for name in MESSAGES if name.startswith("stimulus")])
def test_every_stimulus_needs_its_time(name: str) -> None:
    schema, message = MESSAGES[name]
    assert messages.problems(schema, {k: v for k, v in message.items() if k != "now"})


@pytest.mark.parametrize("name", [name for name in MESSAGES if name.startswith("stimulus")])
def test_every_stimulus_makes_a_request(name: str) -> None:
    request: JsonObject = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "handle",
        "params": MESSAGES[name][1],
    }
    assert messages.problems("request", request) == ()


REFUSED: dict[str, tuple[str, JsonObject]] = {
    "an unknown stimulus": ("stimulus", {"type": "dance", "now": NOW}),
    "an unknown effect": ("effect", {"type": "dance"}),
    "a time with an offset": ("stimulus", {"type": "tick", "now": "2026-07-15T00:00:00+00:00"}),
    "a time that is none": ("stimulus", {"type": "tick", "now": "2026-13-15T00:00:00Z"}),
    "an identifier that is no URI": ("stimulus", {"type": "leave", "now": NOW, "groupId": "a"}),
    "no frames": ("stimulus", {"type": "frames", "now": NOW, "frames": []}),
    "an empty list of Groups": (
        "stimulus",
        {"type": "link", "now": NOW, "state": "down", "groupIds": []},
    ),
    "a new connection without a Session Epoch": (
        "stimulus",
        {"type": "link", "now": NOW, "state": "up"},
    ),
    "a Session Epoch for one Group's link": (
        "stimulus",
        {"type": "link", "now": NOW, "state": "up", "groupIds": ["urn:a"], "sessionEpoch": 2},
    ),
    "an operation both done and refused": (
        "effect",
        {**EFFECTS["operation"], "refused": "no current lease"},
    ),
    "a made-up reason to decline": ("effect", {**EFFECTS["decline"], "reason": "mood"}),
    "a result beside an error": (
        "response",
        {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1, "message": ""}},
    ),
    "neither result nor error": ("response", {"jsonrpc": "2.0", "id": 1}),
    "a result for nobody": ("response", {"jsonrpc": "2.0", "id": None, "result": {}}),
    "parameters for shutdown": (
        "request",
        {"jsonrpc": "2.0", "id": 1, "method": "shutdown", "params": {}},
    ),
    "a made-up profile": ("declaration", {**OTHERS["declaration"][1], "profiles": ["speed"]}),
    "a negative bound": (
        "declaration",
        {**OTHERS["declaration"][1], "parameters": {"lagQuanta": -1}},
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_port_forbids_is_refused(name: str) -> None:
    assert messages.problems(*REFUSED[name])


def test_a_bad_stimulus_of_ours_is_the_suites_fault() -> None:
    with pytest.raises(SuiteError, match="groupId"):
        messages.check_stimulus({"type": "leave", "now": NOW})


def test_a_bad_answer_is_the_adapters_fault_and_the_first_problems_are_told() -> None:
    with pytest.raises(AdapterError) as caught:
        messages.read_answer({"effects": [{"type": "pause"}] * 5}, "tick")
    assert caught.value.code == "not-port-envelope"
    assert "/effects/0" in caught.value.cause
    assert "and 7 more" in caught.value.cause


def test_what_stands_inside_a_frame_is_no_matter_of_the_port() -> None:
    frame: JsonObject = {"frameType": "ACK", "acknowledgements": "nonsense"}
    answer = messages.read_answer({"effects": [{"type": "frame", "frame": frame}]}, "tick")
    assert answer.effects[0]["frame"] == frame


@pytest.mark.parametrize(
    "path", sorted((schemas_path() / "port").glob("*.json")), ids=lambda p: p.name
)
def test_every_schema_has_a_title_a_description_and_our_identifier(path: object) -> None:
    schema = json.loads(path.read_text("utf-8"))  # type: ignore[attr-defined]
    name = path.name.removesuffix(".schema.json")  # type: ignore[attr-defined]
    assert schema["title"].startswith("Worker Port")
    assert schema["description"]
    assert schema["$id"] == f"urn:missionweaveprotocol-worker-conformance:schema:port:{name}"


def object_paths(
    value: JsonValue, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[str | int, ...]]:
    """The places of all objects whose members the Port names."""
    if isinstance(value, dict):
        yield path
        for name, item in value.items():
            if name not in OPAQUE:
                yield from object_paths(item, (*path, name))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from object_paths(item, (*path, position))


def at(value: JsonValue, path: tuple[str | int, ...]) -> JsonObject:
    for step in path:
        value = value[step]  # type: ignore[index,call-overload]
    assert isinstance(value, dict)
    return value
