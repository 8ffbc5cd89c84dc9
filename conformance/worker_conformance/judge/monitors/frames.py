"""Monitors of frames: valid, signed, of the current epochs, and repeated only unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from attrs import define, field

from worker_conformance.documents import canonical, schemas
from worker_conformance.documents.json_types import JsonObject
from worker_conformance.documents.registry import KeyRegistry
from worker_conformance.documents.schemas import DocumentKind
from worker_conformance.documents.signing import Refused, verify
from worker_conformance.judge.monitors.base import Monitor, MonitorInfo, text
from worker_conformance.judge.reading import command_of, objects_in, positions_in
from worker_conformance.judge.trace import Entry, NoteKind
from worker_conformance.scenario.model import Level, Profile


@define
class FramesAreValid(Monitor):
    """MWP-FND-004: every frame, and every document in it, is valid by its schema."""

    def effect(self, entry: Entry) -> None:
        """Validate one frame."""
        frame = entry.body.get("frame")
        if entry.body.get("type") != "frame" or not isinstance(frame, dict):
            return
        if frame.get("frameType") == "COMMAND":
            self.witness += 1
        self._report(entry, "frame", schemas.frame_problems(frame))
        for kind, document in _documents(command_of(entry.body) or {}):
            self._report(entry, kind.value, schemas.problems(kind, document))

    def _report(self, entry: Entry, what: str, problems: Sequence[schemas.Problem]) -> None:
        if problems:
            self.breach(
                entry,
                f"a {what} that is valid by the protocol's schema",
                "; ".join(str(problem) for problem in problems[:3]),
            )


FRAMES_ARE_VALID = MonitorInfo(
    check_id="MON-0002",
    title="Every frame is valid by its schema",
    requirement="FND-004.a",
    level=Level.MUST,
    profile=Profile.REPLAY,
    reached="the Worker sent a Command",
    also=(
        "EVT-001.a",  # the envelope
        "FND-007.a",  # spellings of hashes, base64url and numbers
        "FND-008.b",  # identifiers
        "WRK-023.a",  # manifests
        "WRK-026.a",  # Evidence
    ),
)


@define
class CommandsAreSigned(Monitor):
    """MWP-IDN-009: Commands, and the manifests and Evidence inside them, verify.

    A Command that the Authority accepted was verified by it, and is not verified again.
    """

    _registry: KeyRegistry | None = None
    _unproved: dict[str, list[tuple[Entry, JsonObject]]] = field(factory=dict)  # by Action ID

    def stimulus(self, entry: Entry) -> None:
        """Take in the key registry, and look at what the last call left unproved."""
        self.finish()
        organization = entry.body.get("organization")
        if entry.body.get("type") == "start" and isinstance(organization, dict):
            self._registry = KeyRegistry.from_port(organization)

    def note(self, entry: Entry) -> None:
        """An accepted Command is signed well."""
        if entry.body.get("note") == NoteKind.APPENDED:
            self._unproved.pop(text(entry.body, "actionId"), None)

    def effect(self, entry: Entry) -> None:
        """Verify what a Command carries, and remember the Command."""
        command = command_of(entry.body)
        if command is None:
            return
        self.witness += 1
        self._unproved.setdefault(text(command, "actionId"), []).append((entry, command))
        for kind, document in _documents(command):
            self._verify(entry, kind, document)

    def finish(self) -> None:
        """Verify the Commands that nobody has accepted."""
        for entry, command in chain.from_iterable(self._unproved.values()):
            self._verify(entry, DocumentKind.COMMAND, command)
        self._unproved.clear()

    def _verify(self, entry: Entry, kind: DocumentKind, document: JsonObject) -> None:
        if self._registry is None or not schemas.is_valid(kind, document):
            return  # the schema's own monitor reports it
        outcome = verify(kind, document, self._registry)
        if isinstance(outcome, Refused):
            self.breach(
                entry,
                f"a {kind.value} signed with the Agent's registered key",
                f"verification stops at stage {outcome.stage.value}: {outcome.reason}",
            )


COMMANDS_ARE_SIGNED = MonitorInfo(
    check_id="MON-0003",
    title="Commands, Artifact manifests and Evidence verify",
    requirement="IDN-009.a",
    level=Level.MUST,
    profile=Profile.SIGNATURES,
    reached="the Worker sent a Command",
    also=("SDV-001.b", "SDV-002.b"),
)


def _documents(command: JsonObject) -> Iterator[tuple[DocumentKind, JsonObject]]:
    """Every Artifact manifest and every Evidence anywhere in a Command's payload."""
    for document in objects_in(command.get("payload")):
        if "signature" in document and "artifactId" in document:
            yield DocumentKind.ARTIFACT, document
        elif "signature" in document and "evidenceId" in document:
            yield DocumentKind.EVIDENCE, document


@define
class EpochsAreCurrent(Monitor):
    """MWP-FND-016: a Command carries the Session and Membership Epoch known before it."""

    def effect(self, entry: Entry) -> None:
        """Compare both epochs; a newer one learned in this very call is fine too."""
        command = command_of(entry.body)
        if command is None:
            return
        self.witness += 1
        if command.get("sessionEpoch") != self.facts.session_epoch:
            self.breach(
                entry,
                f"Session Epoch {self.facts.session_epoch}",
                f"{text(command, 'kind')} with Session Epoch {command.get('sessionEpoch')}",
            )
        group_id = text(command, "groupId")
        before, now = self.facts.groups.before(group_id), self.facts.groups.now(group_id)
        known = [group.membership_epoch for group in (before, now) if group is not None]
        epoch = command.get("membershipEpoch")
        # One call may bring several changes, and a Command may stand between two of them.
        if known and not (isinstance(epoch, int) and min(known) <= epoch <= max(known)):
            self.breach(
                entry,
                f"Membership Epoch {max(known)}",
                f"{text(command, 'kind')} with Membership Epoch {command.get('membershipEpoch')}",
            )


EPOCHS_ARE_CURRENT = MonitorInfo(
    check_id="MON-0004",
    title="Commands carry the current Session and Membership Epochs",
    requirement="FND-016.a",
    level=Level.MUST,
    profile=Profile.LEASES,
    reached="the Worker sent a Command",
    also=("MSN-010.a", "EVT-001.a"),
)


@define
class RetriesAreUnchanged(Monitor):
    """MWP-EVT-003, MWP-EXT-005: one Action ID, one canonical content, and the other way round.

    A Command that was answered may be decided on once more; while it has no answer, its content
    under another Action ID is a retry that has lost its identity.
    """

    _first: dict[str, JsonObject] = field(factory=dict)
    _unanswered: dict[bytes, str] = field(factory=dict)
    _contents: dict[str, list[bytes]] = field(factory=dict)  # of what has no answer, by Action ID

    def note(self, entry: Entry) -> None:
        """The Authority has answered."""
        if entry.body.get("note") in {NoteKind.APPENDED, NoteKind.REFUSED}:
            for content in self._contents.pop(text(entry.body, "actionId"), ()):
                self._unanswered.pop(content, None)

    def effect(self, entry: Entry) -> None:
        """Compare a Command's canonical bytes with those first sent under its Action ID."""
        command = command_of(entry.body)
        if command is None:
            return
        self.witness += 1
        action_id = text(command, "actionId")
        first = self._first.setdefault(action_id, command)
        if first is not command and _protected(first) != _protected(command):
            self.breach(
                entry,
                "changed content under a new Action ID",
                f"{text(command, 'kind')} reuses Action ID {action_id} with other content",
            )
        content = _protected(command, "actionId")
        earlier = self._unanswered.setdefault(content, action_id)
        if earlier == action_id:
            self._contents.setdefault(action_id, []).append(content)
        else:
            self.breach(
                entry,
                f"the original Action ID {earlier} in a Command that is sent again unchanged",
                f"{text(command, 'kind')} again as {action_id}",
            )


def _protected(command: JsonObject, *without: str) -> bytes:
    # The signature alone may differ: after AUTH_INVALID_SIGNATURE it may be corrected.
    left_out = {"signature", *without}
    return canonical.canonical({n: value for n, value in command.items() if n not in left_out})


RETRIES_ARE_UNCHANGED = MonitorInfo(
    check_id="MON-0005",
    title="An Action ID is reused only with unchanged content",
    requirement="EVT-003.a",
    level=Level.MUST,
    profile=Profile.LEASES,
    reached="the Worker sent a Command",
    also=("EVT-003.b", "FND-008.a", "EXT-005.a"),
)


CODES_OF_FORGERIES = {
    "payload": "AUTH_INVALID_SIGNATURE",
    "signature": "AUTH_INVALID_SIGNATURE",
    "retired_key": "AUTH_INVALID_SIGNATURE",
    "scalar": "AUTH_INVALID_SIGNATURE",
    "small_order": "AUTH_INVALID_SIGNATURE",
    "value_only": "AUTH_INVALID_SIGNATURE",
    "data": "AUTH_INVALID_SIGNATURE",
    "schema": "SCHEMA_VALIDATION_FAILED",
}
"""The code of the first stage that each forgery fails, where only one can be meant."""


@define
class RejectionsNameTheirStage(Monitor):
    """MWP-SDV-018: a rejection that is reported names the code of the first stage that failed.

    To refuse in silence is as good; whoever does so shows by an ACK that it reads what comes.
    """

    _codes: dict[str, str] = field(factory=dict)
    _unanswered: int = 0

    def note(self, entry: Entry) -> None:
        """Remember what is forged, and how."""
        code = CODES_OF_FORGERIES.get(str(entry.body.get("how")))
        if entry.body.get("note") == NoteKind.FORGED and code is not None:
            self._unanswered += 1
            self._codes[text(entry.body, "frameId")] = code

    def effect(self, entry: Entry) -> None:
        """Compare the code of a rejection."""
        expected = self._codes.get(text(entry.body, "frameId"))
        named = (group for kind, group, _ in positions_in(entry.body) if kind == "ACK")
        if expected is not None or any(self.facts.groups.now(one) for one in named):
            self.witness += self._unanswered
            self._unanswered = 0
        if entry.body.get("type") != "reject" or expected is None:
            return
        if entry.body.get("code") != expected:
            self.breach(entry, f"{expected}, or silence", text(entry.body, "code"))


REJECTIONS_NAME_THEIR_STAGE = MonitorInfo(
    check_id="MON-0023",
    title="A rejection names the code of the first stage that failed",
    requirement="SDV-018.a",
    level=Level.MUST,
    profile=Profile.SIGNATURES,
    reached="an Event was delivered that fails one stage, to a Worker that answers or acknowledges",
)
