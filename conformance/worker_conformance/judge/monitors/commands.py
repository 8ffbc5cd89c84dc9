"""Monitors of Commands: sent by the right role, fit for their answers, and with their revision.

Judge what a Command is and what it follows; whether its frame is valid is a matter of `frames`.
"""

from __future__ import annotations

import re

from attrs import define, field, frozen

from worker_conformance.documents import canonical
from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.monitors.base import Monitor, MonitorInfo, text
from worker_conformance.judge.reading import command_of, frames_in, kind_of, objects_in, strings_in
from worker_conformance.judge.trace import Entry
from worker_conformance.scenario.model import Level, Profile

OTHERS = frozenset(
    {
        "mission.create",
        "mission.assign_coordinator",
        "mission.renew_coordinator",
        "mission.submit_for_approval",
        "mission.approve",
        "mission.request_changes",
        "mission.cancel",
        "mission.terminate",
        "mission.create_child",
        "mission.create_follow_up",
        "membership.change",
        "membership.end",
        "membership.grant_delegation",
        "work.authorize",
        "work.offer",
        "work.accept_result",
        "work.cancel",
        "approval.grant_execution",
        "policy.grant_cooperation_override",
        "ext.missionweaveprotocol.core.group_archive",
        "ext.missionweaveprotocol.registry.agent_card_register",
        "ext.missionweaveprotocol.identity.session_open",
    }
)
"""Command kinds for a Coordinator, a MissionOwner, an approver, the holder of a Grant, or the
Organization itself (MWP-MSN-004, -022, MWP-EXT-008, section 15.1)."""

EMBEDDED_CHARACTERS_MAX = 65_536
"""Base64 in one text of a Message beyond which nobody would call it small (MWP-MSN-016)."""

_BASE64 = re.compile(r"(data:[^,]*,)?[A-Za-z0-9+/_=\s-]+", re.ASCII)


@define
class KeepsToItsPart(Monitor):
    """MWP-EVT-002, MWP-MSN-016, -017, -022: a Worker's Commands are those of a Worker."""

    def effect(self, entry: Entry) -> None:
        """Look at the kind of a Command, and at what a Message embeds."""
        command = command_of(entry.body)
        if command is None:
            return
        self.witness += 1
        kind = kind_of(command)
        if kind in OTHERS:
            self.breach(entry, "no Command that is another role's to send", kind)
        if kind.startswith("message."):
            self._message(entry, command)

    def _message(self, entry: Entry, command: JsonObject) -> None:
        payload = command.get("payload")
        if any(map(_is_binary, strings_in(payload))):
            self.breach(entry, "an Artifact reference instead of data", "large binary data")
        for document in objects_in(payload):
            if document.get("authority", False) is not False:  # MWP-MSN-017
                self.breach(entry, "authority: false in a Message", str(document["authority"]))
            if document.get("groupId", command.get("groupId")) != command.get("groupId"):
                self.breach(entry, "a Message in its own Mission's Group", "another Group's")


def _is_binary(content: str) -> bool:
    return len(content) > EMBEDDED_CHARACTERS_MAX and _BASE64.fullmatch(content) is not None


KEEPS_TO_ITS_PART = MonitorInfo(
    check_id="MON-0019",
    title="No Command that is another role's to send",
    requirement="EVT-002.b",
    level=Level.MUST,
    profile=Profile.ADMISSION,
    reached="the Worker sent a Command",
    also=("MSN-022.a", "MSN-016.a", "MSN-017.a"),
)


# --- answers ------------------------------------------------------------------------------

ID_IS_SPENT = frozenset(
    {
        "ACTION_ID_COLLISION",
        "AUTH_STALE_SESSION",
        "AUTH_STALE_COORDINATOR",
        "MEMBERSHIP_STALE",
        "WORK_STALE_OWNERSHIP",
    }
)
"""Codes after which only a new Command with a new Action ID will do (MWP-EXT-005)."""

NEWS = frozenset({"start", "policy", "keys", "link", "token", "card", "join"})
"""Stimuli that may have mended whatever a Command was refused for."""


@frozen
class _Answer:
    """An ERROR about one Command."""

    code: str
    is_safe: bool

    @property
    def expected(self) -> str | None:
        """What the Worker does instead of sending the Command again, if it must not."""
        if self.code in ID_IS_SPENT:
            return f"a new Command with a new Action ID after {self.code}"
        if self.code == "AUTH_INVALID_SIGNATURE":
            return "no unchanged Command after AUTH_INVALID_SIGNATURE"
        return None if self.is_safe else f"no retry after {self.code}, which was called unsafe"


@define
class HeedsItsAnswers(Monitor):
    """MWP-EXT-005: a refused Command is sent again only as its error allows.

    What is said in a call may still meet a Command that has left already; it binds from the next
    call on. Any news of the Group may have changed the answer, but never gives a spent ID back.
    """

    _sent: dict[str, JsonObject] = field(factory=dict)
    _answers: dict[str, _Answer] = field(factory=dict)
    _heard: dict[str, _Answer] = field(factory=dict)

    def stimulus(self, entry: Entry) -> None:
        """Take in the answers, and whatever makes them old."""
        self._answers |= self._heard
        self._heard = {}
        if entry.body.get("type") in NEWS:
            self._forget(None)
        for frame in frames_in(entry.body):
            event, error = frame.get("event"), frame.get("error")
            if isinstance(event, dict):
                self._forget(text(event, "groupId"))
            action_id = text(error, "relatedActionId") if isinstance(error, dict) else ""
            if isinstance(error, dict) and action_id in self._sent:
                self.witness += 1
                self._heard[action_id] = _Answer(
                    text(error, "code"), error.get("retryable") is True
                )

    def _forget(self, group_id: str | None) -> None:
        self._answers = {
            action_id: answer
            for action_id, answer in self._answers.items()
            if answer.code in ID_IS_SPENT
            or group_id not in (None, text(self._sent[action_id], "groupId"))
        }

    def effect(self, entry: Entry) -> None:
        """Compare a Command with what was answered to it before."""
        command = command_of(entry.body)
        if command is None:
            return
        action_id = text(command, "actionId")
        first, answer = self._sent.setdefault(action_id, command), self._answers.get(action_id)
        if answer is None or answer.expected is None:
            return
        is_mended = answer.code == "AUTH_INVALID_SIGNATURE" and not _same(first, command)
        if not is_mended:
            self.breach(entry, answer.expected, f"{kind_of(command)} again as {action_id}")


def _same(first: JsonObject, second: JsonObject) -> bool:
    return canonical.canonical(first) == canonical.canonical(second)


HEEDS_ITS_ANSWERS = MonitorInfo(
    check_id="MON-0020",
    title="A refused Command is sent again only as its error allows",
    requirement="EXT-005.e",
    level=Level.MUST,
    profile=Profile.LEASES,
    reached="a Command was answered by an error",
    also=("EXT-005.b", "EXT-005.c", "EXT-005.d"),
)


# --- revisions ----------------------------------------------------------------------------


@define
class GivesItsRevision(Monitor):
    """MWP-EVT-007: a Command that changes a WorkItem gives the revision it expects."""

    def effect(self, entry: Entry) -> None:
        """Look for the revision in Commands about WorkItems."""
        command = command_of(entry.body)
        kind = kind_of(command) if command is not None else ""
        if command is None or not kind.startswith("work.") or kind == "work.propose":
            return  # a proposal changes nothing that has a revision yet
        self.witness += 1
        if "expectedRevision" not in command:
            self.breach(entry, "the expected revision of the WorkItem", kind_of(command))


GIVES_ITS_REVISION = MonitorInfo(
    check_id="MON-0021",
    title="Commands about a WorkItem give the revision they expect",
    requirement="EVT-007.a",
    level=Level.SHOULD,
    profile=Profile.LEASES,
    reached="a Command about a WorkItem was sent",
)
