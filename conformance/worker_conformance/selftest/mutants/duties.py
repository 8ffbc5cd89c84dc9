"""Faults of Commands as such: envelopes, documents, identity, and what follows an error."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.judge.reading import command_of, positions_in
from worker_conformance.selftest.copies import Parts, altered, notes
from worker_conformance.selftest.interposer import Interposer, says
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.speaker import events_in

MANY_CHARACTERS = 80_000
ACKS_AT = 3
KEY_BYTES = 32


# --- envelopes and documents --------------------------------------------------------------


class NumbersItsFrames(Interposer):
    """Calls its frames by a number."""

    def _begin(self) -> None:
        super()._begin()
        self._frames = 0

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if command_of(effect) is None:
            return (effect,)
        self._frames += 1
        frame: Any = effect["frame"]
        return ({**effect, "frame": {**frame, "frameId": f"frame-{self._frames}"}},)


class PadsItsSignatures(Interposer):
    """Writes base64url with padding."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        command: Any = command_of(effect)
        if command is None:
            return (effect,)
        padded = {**command["signature"], "value": f"{command['signature']['value']}=="}
        frame: Any = effect["frame"]
        return ({**effect, "frame": {**frame, "command": {**command, "signature": padded}}},)


class _SignsOtherwise(Interposer):
    """Base: changes the envelope of its Commands' signatures."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        command: Any = command_of(effect)
        if command is None:
            return (effect,)
        frame: Any = effect["frame"]
        changed = {**command, "signature": self._enveloped(command["signature"])}
        return ({**effect, "frame": {**frame, "command": changed}},)

    def _enveloped(self, envelope: Any) -> Any:
        raise NotImplementedError


class SignsWithAKeyOfItsOwn(_SignsOtherwise):
    """Names a key that it never registered."""

    def _enveloped(self, envelope: Any) -> Any:
        return {**envelope, "keyId": f"{envelope['keyId']}-backup"}


class SpellsItsSignatureTime(_SignsOtherwise):
    """Gives the signature's time with milliseconds, and the Command's without."""

    def _enveloped(self, envelope: Any) -> Any:
        return {**envelope, "createdAt": f"{envelope['createdAt'][:19]}.000Z"}


class LeavesOutTheCorrelation(Interposer):
    """Sends Commands without a correlation ID."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        command = command_of(effect)
        if command is None:
            return (effect,)
        kept = {name: value for name, value in command.items() if name != "correlationId"}
        frame: Any = effect["frame"]
        return ({**effect, "frame": {**frame, "command": self.speaker.signed(kept)}},)


@altered
def any_point_is_a_key(parts: Parts) -> None:
    """Takes 32 bytes that its library takes for a public key."""
    decode = parts.get("signatures.decode_base64url")

    def imported(text: str) -> bytes:
        raw: bytes = decode(text)
        if len(raw) != KEY_BYTES:
            raise ValueError("a public key has 32 bytes")
        return raw

    parts.replace("signatures.strict_public_key", imported)


class EverythingIsASchemaError(Interposer):
    """Reports whatever it refuses as a failure of its schema."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] != "reject":
            return (effect,)
        return ({**effect, "code": "SCHEMA_VALIDATION_FAILED"},)


def _signs_otherwise(parts: Parts, change: Callable[[Any], Any]) -> None:
    """Change what a result consists of before it is signed, and look at it no more."""
    signed = parts.get("results._signed")
    parts.module("results").is_valid = lambda *_: True
    parts.replace("results._signed", lambda turn, document: signed(turn, change(document)))


@altered
def manifest_without_the_card(parts: Parts) -> None:
    """Leaves the Agent Card's version out of its Artifact manifests."""

    def without_card(document: Any) -> Any:
        if "producer" not in document:
            return document
        producer = {n: v for n, v in document["producer"].items() if n != "agentCardVersion"}
        return {**document, "producer": producer}

    _signs_otherwise(parts, without_card)


@altered
def evidence_without_a_method(parts: Parts) -> None:
    """Does not say by what method its Evidence was found."""

    def without_method(document: Any) -> Any:
        return {name: value for name, value in document.items() if name != "method"}

    _signs_otherwise(parts, without_method)


class ForgetsRevisions(Interposer):
    """Sends Commands without the revision that they expect."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        command = command_of(effect)
        if command is None:
            return (effect,)
        kept = {name: value for name, value in command.items() if name != "expectedRevision"}
        frame: Any = effect["frame"]
        return ({**effect, "frame": {**frame, "command": self.speaker.signed(kept)}},)


# --- identity -----------------------------------------------------------------------------


def _identified(parts: Parts, count: Callable[[Any, str], int]) -> None:
    """Make identifiers from the Group and a number for each, which is counted somehow."""
    prefix = parts.get("turn.IDENTIFIER_PREFIX")

    def identifier(turn: Any, what: str, group_id: str) -> str:
        place = hashlib.sha256(group_id.encode()).hexdigest()[:20]
        return f"{prefix}:{what}:{place}-{count(turn, group_id)}"

    parts.replace("turn.Turn.identifier", identifier)


@altered
def counts_anew_with_a_new_disk(parts: Parts) -> None:
    """Numbers its Action IDs with a counter that is on the disk and nowhere else."""

    def on_disk(turn: Any, group_id: str) -> int:
        group = turn.group(group_id)
        changed = turn.change_group(group, identifiers=group.identifiers + 1)
        return int(changed.identifiers)

    _identified(parts, on_disk)


@altered
def counts_anew_with_each_session(parts: Parts) -> None:
    """Numbers what it makes with a counter in memory."""

    def in_memory(turn: Any, group_id: str) -> int:
        kept = notes(turn)
        kept[group_id] = kept.get(group_id, 0) + 1
        return int(kept[group_id])

    _identified(parts, in_memory)


class RenamesItsRetries(Interposer):
    """Sends an unanswered Command again under a new Action ID."""

    def _begin(self) -> None:
        super()._begin()
        self._sent: set[str] = set()

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        command = command_of(effect)
        if command is None or text_at(command, "actionId") not in self._sent:
            self._sent |= {text_at(command, "actionId")} if command is not None else set()
            return (effect,)
        return (self.speaker.changed(effect, actionId=self.speaker.identifier("action")),)


class FirstMembershipForEver(Interposer):
    """Carries the Membership Epoch that it has carried first."""

    def _begin(self) -> None:
        self._first: dict[str, object] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        command = command_of(effect)
        if command is None:
            return (effect,)
        first = self._first.setdefault(text_at(command, "groupId"), command["membershipEpoch"])
        if first == command["membershipEpoch"]:
            return (effect,)
        return (self.speaker.changed(effect, membershipEpoch=first),)


@altered
def end_of_membership_unread(parts: Parts) -> None:
    """Goes on in a Group after its Membership has ended."""
    parts.module("facts").FACTS.pop("membership.ended")


# --- what is not a Worker's to say --------------------------------------------------------


class _SaysMore(Interposer):
    """Base: says something of its own after each submission."""

    def _begin(self) -> None:
        super()._begin()
        self._more: list[JsonObject] = []

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if says(effect, "work.submit"):
            command: Any = command_of(effect)
            self._more.append(self._said(command))
        return (effect,)

    def _said(self, command: JsonObject) -> JsonObject:
        raise NotImplementedError

    def _afterwards(self) -> Iterable[JsonObject]:
        said, self._more = self._more, []
        return said


class AcceptsItsOwnResult(_SaysMore):
    """Accepts its own result when nobody else is quick to."""

    def _said(self, command: JsonObject) -> JsonObject:
        payload = {"workItemId": command["workItemId"]}
        return self.speaker.command("work.accept_result", text_at(command, "groupId"), payload)


class OffersWorkOn(_SaysMore):
    """Offers follow-up work to another Worker."""

    def _said(self, command: JsonObject) -> JsonObject:
        payload: JsonObject = {"workItemId": command["workItemId"], "agentIds": []}
        return self.speaker.command("work.offer", text_at(command, "groupId"), payload)


class PostsItsResult(_SaysMore):
    """Posts its whole result as a Message, in base64."""

    def _said(self, command: JsonObject) -> JsonObject:
        text: JsonObject = {"type": "text", "text": "QUJD" * (MANY_CHARACTERS // 4)}
        payload: JsonObject = {"message": {"authority": False, "content": [text]}}
        return self.speaker.command("message.post", text_at(command, "groupId"), payload)


class SpeaksWithAuthority(_SaysMore):
    """Posts a Message that claims authority."""

    def _said(self, command: JsonObject) -> JsonObject:
        text: JsonObject = {"type": "text", "text": "Done: deploy it."}
        payload: JsonObject = {"message": {"authority": True, "content": [text]}}
        return self.speaker.command("message.post", text_at(command, "groupId"), payload)


# --- positions, leases and lost disks -----------------------------------------------------


class AcksNowAndThen(Interposer):
    """Acknowledges every third Event."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        acked = [sequence for kind, _, sequence in positions_in(effect) if kind == "ACK"]
        return () if acked and acked[0] % ACKS_AT else (effect,)


class RunsWhatItAccepts(Interposer):
    """Takes its acceptance for the start."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "run":
            return ()
        if not says(effect, "work.accept_offer"):
            return (effect,)
        command: Any = command_of(effect)
        run: JsonObject = {
            "type": "run",
            "slotId": "s1",
            "groupId": command["groupId"],
            "workItemId": command["workItemId"],
            "leaseId": command["payload"]["offerId"],
            "context": {
                "missionContext": {},
                "credentials": {},
                "budget": {},
                "sideEffectScope": command["groupId"],
            },
        }
        return (effect, run)


class PublishesOnceMore(Interposer):
    """Publishes its Artifact again when its submission is a fact, to be on the safe side."""

    def _begin(self) -> None:
        super()._begin()
        self._published: list[JsonObject] = []
        self._submitted = self._is_due = False

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        self._is_due = self._submitted
        kinds = {event["kind"] for event in events_in(stimulus)}
        self._submitted = self._submitted or "work.submitted" in kinds
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if says(effect, "artifact.publish"):
            self._published.append(effect)
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        if self._is_due and self._published:
            fresh = self.speaker.identifier("action")
            yield self.speaker.changed(self._published.pop(), actionId=fresh)


class AcceptsWhatItReads(Interposer):
    """With an empty disk, accepts each offer that the history tells of."""

    def _begin(self) -> None:
        super()._begin()
        self._read: dict[str, tuple[str, JsonObject]] = {}
        self._is_lost = False

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        for event in events_in(stimulus) if self._is_lost else ():
            if event["kind"] == "work.offer.created":
                offer: Any = find(event, "payload", "workItem", "offers")
                payload = {"workItemId": event["workItemId"], "offerId": offer[-1]["offerId"]}
                self._read[text_at(event, "eventId")] = (text_at(event, "groupId"), payload)
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        begins = [after for kind, _, after in positions_in(effect) if kind == "SUBSCRIBE"]
        self._is_lost = self._is_lost or (begins == [0] and self.speaker.session_epoch > 1)
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        if self.stimulus["type"] == "tick":
            for group_id, payload in self._read.values():
                yield self.speaker.command("work.accept_offer", group_id, payload)
            self._read = {}


class _KnowsItsGates(Interposer):
    """Base: knows, once for each, the work of its own that a human has to approve first."""

    def _begin(self) -> None:
        self._known: set[object] = set()

    def _gated(self, stimulus: JsonObject) -> Iterable[JsonObject]:
        """The Events that tell of such work for the first time."""
        for event in events_in(stimulus):
            work = find(event, "payload", "workItem")
            is_gated = find(work, "contract", "executionApproval") == "human_required"
            is_own = find(work, "owner", "agentId") == self.speaker.agent_id
            if is_gated and is_own and event["workItemId"] not in self._known:
                self._known.add(event["workItemId"])
                yield event


class ApprovesItself(_KnowsItsGates):
    """Grants the execution approval that its accepted work asks of a human."""

    def _afterwards(self) -> Iterable[JsonObject]:
        for event in self._gated(self.stimulus):
            payload: JsonObject = {"workItemId": event["workItemId"], "decision": "approved"}
            yield self.speaker.command("approval.grant_execution", str(event["groupId"]), payload)


class BlocksWhatWaits(_KnowsItsGates):
    """Reports gated work as blocked while it waits in the queue, where nothing runs."""

    def _begin(self) -> None:
        super()._begin()
        self._due: list[JsonObject] = []
        self._found: list[JsonObject] = []

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        self._due, self._found = self._found, list(self._gated(stimulus))
        return stimulus

    def _afterwards(self) -> Iterable[JsonObject]:
        for event in self._due:
            payload: JsonObject = {
                "workItemId": event["workItemId"],
                "ownershipEpoch": find(event, "payload", "workItem", "owner", "ownershipEpoch"),
                "reason": "A human has to approve it first.",
            }
            yield self.speaker.command("work.block", str(event["groupId"]), payload)


MUTANTS = (
    mutant(
        ApprovesItself,
        "EVT-002.b",
        "MON-0019",
        "A gate that was in the way of a demonstration.",
        seen_in="SCHED-0001 SIGN-0020",
    ),
    mutant(
        BlocksWhatWaits,
        "WRK-003.a",
        "MON-0013",
        "Waiting for a person, told as being blocked.",
        seen_in="SIGN-0020",
    ),
    mutant(
        NumbersItsFrames,
        "FND-008.b",
        "MON-0002",
        "A counter where the wire wants a URI.",
        seen_in="LEASE-0002",
    ),
    mutant(
        PadsItsSignatures,
        "FND-007.a",
        "MON-0002",
        "The standard library's base64 pads.",
        seen_in="LEASE-0002",
    ),
    mutant(
        SignsWithAKeyOfItsOwn,
        "SDV-001.b",
        "MON-0003",
        "A key that was rotated in one place.",
        seen_in="LEASE-0002",
    ),
    mutant(
        SpellsItsSignatureTime,
        "SDV-002.b",
        "MON-0003",
        "Two serializers, and one of them adds the milliseconds.",
        seen_in="LEASE-0002",
    ),
    mutant(
        any_point_is_a_key,
        "SDV-005.a",
        "SIGN-0021",
        "A general-purpose library that imports any encoding, and fails at most when it verifies.",
    ),
    mutant(
        EverythingIsASchemaError,
        "SDV-018.a",
        "MON-0023",
        "One error for everything that is wrong with an input.",
        seen_in="SIGN-0001",
    ),
    mutant(
        LeavesOutTheCorrelation,
        "EVT-001.a",
        "MON-0002",
        "Members that only debugging needs are left out.",
        seen_in="LEASE-0002",
    ),
    mutant(
        manifest_without_the_card,
        "WRK-023.a",
        "MON-0002",
        "Provenance is added by a build step that this tool does not have.",
        seen_in="LEASE-0002",
    ),
    mutant(
        evidence_without_a_method,
        "WRK-026.a",
        "MON-0002",
        "A result says that it is good and not how that was found.",
        seen_in="LEASE-0002",
    ),
    mutant(
        ForgetsRevisions,
        "EVT-007.a",
        "MON-0021",
        "Optimistic locking is for others.",
        seen_in="LEASE-0002",
    ),
    mutant(
        counts_anew_with_a_new_disk,
        "EVT-003.b",
        "MON-0005",
        "A sequence in the database, and a restore of the database.",
        seen_in="REPLAY-0006",
    ),
    mutant(
        counts_anew_with_each_session,
        "FND-008.a",
        "MON-0005",
        "Identifiers that are unique as long as the process lives.",
        seen_in="LEASE-0003",
    ),
    mutant(
        RenamesItsRetries,
        "EXT-005.a",
        "MON-0005",
        "Retry middleware that makes a new request ID for each attempt.",
        seen_in="LEASE-0035",
    ),
    mutant(
        AcceptsItsOwnResult,
        "EVT-002.b",
        "MON-0019",
        "A bot with the rights of its owner.",
        seen_in="LEASE-0002",
    ),
    mutant(
        OffersWorkOn,
        "MSN-022.a",
        "MON-0019",
        "Agents that hand sub-tasks to each other.",
        seen_in="LEASE-0002",
    ),
    mutant(
        PostsItsResult,
        "MSN-016.a",
        "MON-0019",
        "Attachments in the text of a chat message.",
        seen_in="LEASE-0002",
    ),
    mutant(
        SpeaksWithAuthority,
        "MSN-017.a",
        "MON-0019",
        "A flag that was left from a template.",
        seen_in="LEASE-0002",
    ),
    mutant(
        AcksNowAndThen,
        "WRK-030.c",
        "MON-0022",
        "Acknowledging in batches, with no timer for the last of them.",
        seen_in="REPLAY-0003",
    ),
    mutant(
        RunsWhatItAccepts,
        "WRK-005.c",
        "MON-0010",
        "A job that starts in the handler that claims it.",
        seen_in="LEASE-0001",
    ),
    mutant(
        PublishesOnceMore,
        "WRK-014.a",
        "MON-0012",
        "An upload that is confirmed by a second upload.",
        seen_in="LEASE-0002",
    ),
    mutant(
        AcceptsWhatItReads,
        "FND-023.a",
        "MON-0013",
        "Replayed messages that are handled like live ones.",
        seen_in="REPLAY-0006",
    ),
    mutant(
        FirstMembershipForEver,
        "MSN-010.a",
        "LEASE-0063",
        "An epoch that is read at the start of the session.",
    ),
    mutant(
        end_of_membership_unread,
        "MSN-010.a",
        "MON-0013 LEASE-0068",
        "Leaving is a matter of the subscription, and the queue is another table.",
    ),
)
