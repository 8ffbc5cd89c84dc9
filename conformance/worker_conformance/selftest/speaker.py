"""A Worker's voice: identity, epochs and signatures, for those that speak without a Worker's mind.

Hears every stimulus, so that it knows who it is and which epochs hold, and makes properly signed
Commands. Never decides what is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from attrs import define, field

from worker_conformance.documents import base64url
from worker_conformance.documents.json_types import JsonObject, find, integer_at, text_at
from worker_conformance.documents.registry import Principal
from worker_conformance.documents.schemas import DocumentKind
from worker_conformance.documents.signing import SigningKey, sign
from worker_conformance.errors import SuiteError
from worker_conformance.judge.reading import frames_in

IDENTIFIERS = "urn:missionweaveprotocol:selftest"


@define
class Speaker:
    """Who speaks, from the latest `start`; epochs as far as they were heard."""

    agent_id: str = ""
    session_epoch: int = 0
    membership_epochs: dict[str, int] = field(factory=dict)
    now: str = ""
    _key: SigningKey | None = None
    _made: int = 0

    def hear(self, stimulus: JsonObject) -> None:
        """Take in one stimulus."""
        self.now = text_at(stimulus, "now")
        match stimulus["type"]:
            case "start":
                self._begin(stimulus)
            case "join":
                self._enter(find(stimulus, "group"))
            case "link" if "sessionEpoch" in stimulus:
                self.session_epoch = integer_at(stimulus, "sessionEpoch")
            case "frames":
                for event in events_in(stimulus):
                    self._learn(event)
            case _:
                pass

    def _begin(self, stimulus: JsonObject) -> None:
        agent = stimulus["agent"]
        self.agent_id = text_at(agent, "agentId")
        seed = base64url.decode(text_at(agent, "privateKey")) or b""
        principal = Principal("agent", self.agent_id)
        self._key = SigningKey.from_seed(seed, text_at(agent, "keyId"), principal)
        self.session_epoch = integer_at(stimulus, "sessionEpoch")
        groups = stimulus["groups"]
        for group in groups if isinstance(groups, list) else ():
            self._enter(group)

    def _enter(self, group: object) -> None:
        entry = cast(JsonObject, group)
        epoch = integer_at(entry, "membership", "membershipEpoch")
        self.membership_epochs[text_at(entry, "groupId")] = epoch

    def _learn(self, event: JsonObject) -> None:
        """A Membership moves on; what is delivered late or again takes nothing back."""
        membership, group_id = find(event, "payload", "membership"), event.get("groupId")
        ours = find(membership, "member", "id") == self.agent_id
        if ours and find(membership, "groupId") == group_id in self.membership_epochs:
            epoch = integer_at(membership, "membershipEpoch")
            self.membership_epochs[str(group_id)] = max(
                epoch, self.membership_epochs[str(group_id)]
            )

    # --- saying -----------------------------------------------------------------------

    def identifier(self, what: str) -> str:
        """An identifier that no other session has made."""
        self._made += 1
        return f"{IDENTIFIERS}:{what}:{self.session_epoch}-{self._made}"

    def frame(self, frame_type: str, **members: object) -> JsonObject:
        """A `frame` effect."""
        frame = {
            "protocolVersion": "0.1",
            "frameId": self.identifier("frame"),
            "frameType": frame_type,
            **members,
        }
        return {"type": "frame", "frame": cast(JsonObject, frame)}

    def command(self, kind: str, group_id: str, payload: JsonObject) -> JsonObject:
        """A `frame` effect with a signed Command."""
        document: JsonObject = {
            "protocolVersion": "0.1",
            "actionId": self.identifier("action"),
            "actor": {"type": "agent", "id": self.agent_id},
            "sessionEpoch": self.session_epoch,
            "membershipEpoch": self.membership_epochs.get(group_id, 1),
            "groupId": group_id,
            "kind": kind,
            "correlationId": self.identifier("correlation"),
            "issuedAt": self.now,
            "payload": payload,
        }
        if "workItemId" in payload:
            document["workItemId"] = payload["workItemId"]
        return self.frame("COMMAND", command=self.signed(document))

    def message(self, place: JsonObject, said: str) -> JsonObject:
        """A Message where `place` says: it names a Mission, a Group and a Conversation."""
        return {
            "messageId": self.identifier("message"),
            "missionId": place["missionId"],
            "groupId": place["groupId"],
            "conversationId": place["conversationId"],
            "author": {"type": "agent", "id": self.agent_id},
            "kind": "message",
            "authority": False,
            "content": [{"type": "text", "text": said}],
            "committedAt": self.now,
        }

    def signed(self, command: JsonObject) -> JsonObject:
        """The Command with a signature that fits its content."""
        if self._key is None:
            raise SuiteError("not-started", "nobody signs before 'start'")
        return sign(DocumentKind.COMMAND, command, self._key)

    def with_payload(self, effect: JsonObject, **members: object) -> JsonObject:
        """The same Command with other payload members (None takes one out), signed anew."""
        command = cast(JsonObject, find(effect, "frame", "command"))
        payload = {**cast(JsonObject, command["payload"]), **members}
        kept = {name: value for name, value in payload.items() if value is not None}
        return self.changed(effect, payload=kept)

    def changed(self, effect: JsonObject, **members: object) -> JsonObject:
        """The same Command with other members, signed anew."""
        frame = cast(JsonObject, effect["frame"])
        command = cast(JsonObject, {**cast(JsonObject, frame["command"]), **members})
        return {"type": "frame", "frame": {**frame, "command": self.signed(command)}}


def events_in(stimulus: JsonObject) -> Iterator[JsonObject]:
    """The Events of a stimulus."""
    for frame in frames_in(stimulus):
        event = frame.get("event")
        if isinstance(event, dict):
            yield event


def with_frames(stimulus: JsonObject, frames: list[JsonObject]) -> JsonObject:
    """The stimulus with other frames."""
    return {**stimulus, "frames": list(frames)}
