"""Leaky Workers: each gives one thing away by one route, in one disguise.

They judge the searches, pairs and sweeps of privacy. Every leak is one that somebody built on
purpose, for convenience: an explanation, a cache, a key. Built on the reference Worker by changing
what leaves it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
import uuid
from collections.abc import Callable, Iterable
from typing import Any, cast

from worker_conformance.documents.json_types import JsonObject, JsonValue, find, text_at
from worker_conformance.port.in_process import InProcessWorker
from worker_conformance.scenario.clock import moment_of, text_of
from worker_conformance.selftest.gossip import Gossip
from worker_conformance.selftest.interposer import says
from worker_conformance.selftest.mutants.base import Mutant, mutant

SECOND = 1_000_000  # microseconds
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


# --- identifiers, in disguise ---------------------------------------------------------


class SpellsTheNeighbour(Gossip):
    """Base: notes in an acceptance what is ahead, spelled somehow."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Add it to an acceptance."""
        name = self.name_of_neighbour(group_id)
        return self.adding(effect, "work.accept_offer", note=self.spelled(name) if name else None)

    def spelled(self, name: str) -> JsonValue:
        """The disguise."""
        return name


class ShoutsTheNeighboursName(SpellsTheNeighbour):
    """Notes in an acceptance, in capitals, what is ahead."""

    def spelled(self, name: str) -> JsonValue:
        """In capitals."""
        return name.upper()


class NameBackwards(SpellsTheNeighbour):
    """Uses the neighbour's ID backwards as a sort key, as for host names."""

    def spelled(self, name: str) -> JsonValue:
        """Backwards."""
        return name[::-1]


class NameInHex(SpellsTheNeighbour):
    """Attaches a trace ID that is the neighbour's ID in hexadecimal."""

    def spelled(self, name: str) -> JsonValue:
        """In hexadecimal."""
        return name.encode().hex()


class NamePercentEncoded(SpellsTheNeighbour):
    """Attaches a link to a dashboard, with the neighbour's ID as a parameter."""

    def spelled(self, name: str) -> JsonValue:
        """Percent-encoded."""
        return "https://x.example/?q=" + "".join(f"%{code:02X}" for code in name.encode())


class NameInUtf16(SpellsTheNeighbour):
    """Attaches a blob that is base64 over UTF-16, as some platforms keep their texts."""

    def spelled(self, name: str) -> JsonValue:
        """In base64 over UTF-16."""
        return base64.b64encode(name.encode("utf-16")).decode()


class NameJsonEscaped(SpellsTheNeighbour):
    """Attaches JSON inside JSON, with every character escaped."""

    def spelled(self, name: str) -> JsonValue:
        """Escaped."""
        return "".join(f"\\u{ord(one):04x}" for one in name)


class NameInPieces(SpellsTheNeighbour):
    """Splits the neighbour's ID into parts of eight characters, with an index to each."""

    def spelled(self, name: str) -> JsonValue:
        """In pieces."""
        starts = range(0, len(name), 8)
        return [{"index": start // 8, "part": name[start : start + 8]} for start in starts]


class NameAsNumber(SpellsTheNeighbour):
    """Numbers its tickets by the 64 bits at the end of an ID."""

    def spelled(self, name: str) -> JsonValue:
        """As a number."""
        return int(name.rpartition("-")[2], 16)


class NameAsCorrelation(Gossip):
    """Correlates a Command with the named UUID of the item that it waits for."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Replace the correlation ID of a start."""
        name = self.name_of_neighbour(group_id)
        if name is None or not says(effect, "work.start"):
            return (effect,)
        made = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}"
        return (self.speaker.changed(effect, correlationId=made),)


class NameAsKey(Gossip):
    """Makes idempotency keys by hashing whatever item it saw last."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Replace the key of an operation."""
        name = self.name_of_neighbour(group_id)
        if name is None or "idempotencyKey" not in effect:
            return (effect,)
        return ({**effect, "idempotencyKey": hashlib.sha256(name.encode()).hexdigest()},)


class NameInTheFrame(Gossip):
    """Numbers its frames by the item that it looked at last, acknowledgements included."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        rows: Any = find(effect, "frame", "acknowledgements")
        frame: Any = effect.get("frame")
        name = self.name_of_neighbour(rows[0]["groupId"]) if rows else None
        if name is None:
            return (effect,)
        return ({**effect, "frame": {**frame, "frameId": f"{frame['frameId']}-after-{name}"}},)


class GroupInPresence(Gossip):
    """Makes the nonce of a PING from the Group that it works for."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        frame: Any = effect.get("frame")
        if find(effect, "frame", "frameType") != "PING" or not self._items:
            return (effect,)
        name = next(reversed(self._items))
        nonce = base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")
        return ({**effect, "frame": {**frame, "nonce": nonce}},)


# --- contents -------------------------------------------------------------------------


class TitleInBase64(Gossip):
    """Attaches the title of the Mission that is ahead, in base64."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Add it to an acceptance."""
        mission = self.other(self._missions, group_id)
        title = base64.b64encode(mission["objective"].encode()).decode() if mission else None
        return self.adding(effect, "work.accept_offer", context=title)


class CaseNumberInTheResult(Gossip):
    """Reports the case number of the Mission context that it opened last, as a number."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Add it to a submission."""
        entry = self.other(self._entries, group_id)
        number = find(entry, "missionContext", "caseNumber")
        return self.adding(effect, "work.submit", caseNumber=number)


class ArtifactOfAnother(Gossip):
    """Lists among the sources of a result what another Group published."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Add its content hash to a submission."""
        return self.adding(effect, "work.submit", sources=self.other(self._hashes, group_id))


class CheckpointOfAnother(Gossip):
    """Chains Checkpoints by hash, over all Groups."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Add the last Checkpoint's hash to a start."""
        return self.adding(effect, "work.start", previous=self.other(self._hashes, group_id))


class BudgetOfAnother(Gossip):
    """Says how much of the shared tool budget another item holds."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Add it to an acceptance."""
        item = self.neighbour(group_id)
        held = find(item, "contract", "budget", "toolCallLimit") if item else None
        return self.adding(effect, "work.accept_offer", reservedByOthers=held)


class ErrorNamesThePreemptor(Gossip):
    """Explains a failure by whatever took the slot."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Change the reason of a failure."""
        name = self.name_of_neighbour(group_id)
        reason = f"TOOL_UNAVAILABLE: slot was given to {name}" if name else None
        return self.adding(effect, "work.fail", reason=reason)


class EncryptedTitle(Gossip):
    """Attaches the title of what is ahead under a key of its own: no search can read it."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Add it to an acceptance."""
        item = self.neighbour(group_id)
        goal = text_at(item, "contract", "goal").encode() if item else b""
        key = hashlib.shake_256(b"a key of my own").digest(len(goal))
        sealed = bytes(a ^ b for a, b in zip(goal, key, strict=True)).hex()
        return self.adding(effect, "work.accept_offer", sealed=sealed or None)


class ConfidenceByContent(Gossip):
    """Is less confident where the text of what is ahead sounds difficult."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Change the confidence of an estimate."""
        item = self.neighbour(group_id)
        if effect["type"] != "disclose" or item is None:
            return (effect,)
        estimate: Any = effect["estimate"]
        goal = text_at(item, "contract", "goal")
        confidence = round(0.3 + (sum(goal.encode()) % 40) / 100, 2)
        return ({**effect, "estimate": {**estimate, "confidence": confidence}},)


# --- positions ------------------------------------------------------------------------


class PositionInTheFraction(Gossip):
    """Keeps estimates apart by adding a microsecond for each item ahead."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Add to the estimated start."""
        if effect["type"] != "disclose":
            return (effect,)
        estimate: Any = effect["estimate"]
        start = text_of((moment_of(estimate["estimatedStart"]) or 0) + self.ahead(group_id))
        end = text_of((moment_of(estimate["estimatedCompletion"]) or 0) + SECOND)
        told = {**estimate, "estimatedStart": start, "estimatedCompletion": end}
        return ({**effect, "estimate": told},)


class PositionInADecline(Gossip):
    """Follows a decline with an explanation: so many are ahead of you."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Add a Command of its own."""
        if effect["type"] != "decline":
            return (effect,)
        told: JsonObject = {
            "workItemId": effect["workItemId"],
            "text": f"Declined; you would have been number {self.ahead(group_id) + 1}.",
        }
        command = self.speaker.command("ext.example.decline_explained", group_id, told)
        return (effect, command)


class PositionInWords(Gossip):
    """Tells a Group in words which place it has."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Add a remark to an acceptance."""
        place = min(self.ahead(group_id), len(ORDINALS) - 1)
        remark = f"Yours will be the {ORDINALS[place]} to start."
        return self.adding(effect, "work.accept_offer", remark=remark)


class PositionAsALine(Gossip):
    """Draws the queue: one dot for each item ahead."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Add the drawing to an acceptance."""
        return self.adding(effect, "work.accept_offer", queue="." * self.ahead(group_id))


class RoomLeft(Gossip):
    """Says how much room is left in the shared queue."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Add it to an acceptance."""
        return self.adding(effect, "work.accept_offer", roomLeft=1000 - self.ahead(group_id))


class CountInPresence(Gossip):
    """Reports in Presence, truthfully, how many items are queued over all Groups."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        presence: Any = find(effect, "frame", "presence")
        if presence is None:
            return (effect,)
        frame: Any = effect["frame"]
        capacity = {**presence["capacity"], "queuedItems": self.ahead(None)}
        return ({**effect, "frame": {**frame, "presence": {**presence, "capacity": capacity}}},)


class EstimatesToTheSecond(Gossip):
    """Publishes exactly when the shared queue will be empty."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Make the window one instant."""
        if effect["type"] != "disclose":
            return (effect,)
        now = moment_of(text_at(self.stimulus, "now")) or 0
        start = now + self.ahead(group_id) * 437 * SECOND
        estimate: Any = effect["estimate"]
        told = {
            **estimate,
            "estimatedStart": text_of(start),
            "estimatedCompletion": text_of(start + 437 * SECOND),
        }
        return ({**effect, "estimate": told, "estimatedStartLatest": text_of(start)},)


class PromisesTheMoon(Gossip):
    """Says of every item that it starts within the minute, and is certain of it."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Narrow the window and raise the confidence."""
        del group_id
        if effect["type"] != "disclose":
            return (effect,)
        now = moment_of(text_at(self.stimulus, "now")) or 0
        estimate: Any = effect["estimate"]
        told = {**estimate, "estimatedStart": text_of(now), "confidence": 0.99}
        return ({**effect, "estimate": told, "estimatedStartLatest": text_of(now + 60 * SECOND)},)


# --- slots ----------------------------------------------------------------------------


class DirectoryOfTheSlot(Gossip):
    """Gives every slot a directory, named after whoever used it first."""

    def _begin(self) -> None:
        super()._begin()
        self._directories: dict[object, str] = {}

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Add the directory to the Mission context."""
        if effect["type"] != "run":
            return (effect,)
        path = f"/var/work/{text_at(self._entries[group_id], 'missionId')}"
        directory = self._directories.setdefault(effect["slotId"], path)
        context: Any = effect["context"]
        mission = {**context["missionContext"], "directory": directory}
        return ({**effect, "context": {**context, "missionContext": mission}},)


class BudgetOfTheGroup(Gossip):
    """Keeps one tool budget for each Group: that of its first item."""

    def _begin(self) -> None:
        super()._begin()
        self._budgets: dict[str, JsonValue] = {}

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Give it to every run."""
        if effect["type"] != "run":
            return (effect,)
        context: Any = effect["context"]
        budget = self._budgets.setdefault(group_id, context["budget"])
        return ({**effect, "context": {**context, "budget": budget}},)


class CheckpointOfTheGroup(Gossip):
    """Keeps the latest Checkpoint of each Group, whichever item it is of."""

    def _begin(self) -> None:
        super()._begin()
        self._latest: dict[str, JsonObject] = {}

    def _learn(self, event: JsonObject) -> None:
        super()._learn(event)
        told = find(event, "payload", "checkpoint")
        if isinstance(told, dict):
            names = ("checkpointId", "checkpointHash")
            self._latest[text_at(event, "groupId")] = {name: told[name] for name in names}

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Resume from it."""
        if "resumeFrom" not in effect:
            return (effect,)
        return ({**effect, "resumeFrom": self._latest[group_id]},)


# --- credentials and logs -------------------------------------------------------------


class CredentialInTheResult(Gossip):
    """Records the environment of a run in its result, in base64."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Add the Group's own credentials to its own submission."""
        own = json.dumps(find(self._entries.get(group_id, {}), "credentials"))
        environment = base64.b64encode(own.encode()).decode()
        return self.adding(effect, "work.submit", environment=environment)


class TokenAsKey(Gossip):
    """Uses the token's secret as the idempotency key: it is unique, after all."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Replace the key of an operation."""
        del group_id
        if "idempotencyKey" not in effect or not self._secrets:
            return (effect,)
        return ({**effect, "idempotencyKey": self._secrets[-1]},)


class LogsGoals(Gossip):
    """Logs what it starts, with the goal."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Write to stderr."""
        if effect["type"] == "run":
            item = self._items[text_at(effect, "workItemId")]
            print(f"start {group_id}: {text_at(item, 'contract', 'goal')}", file=sys.stderr)
        return (effect,)


class LogsCredentials(Gossip):
    """Logs the environment of every run."""

    def leak(self, effect: JsonObject, group_id: str) -> Iterable[JsonObject]:
        """Write to stderr."""
        del group_id
        if effect["type"] == "run":
            print(json.dumps(find(effect, "context", "credentials")), file=sys.stderr)
        return (effect,)


# --- order ----------------------------------------------------------------------------


class ReadsGoals(Gossip):
    """Raises the class of work whose goal says that it is urgent."""

    def _begin(self) -> None:
        super()._begin()
        self._policy: JsonObject = {}
        self._urgent: list[str] = []
        self._before: list[JsonObject] = []

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        told = find(stimulus, "organization", "policy") or stimulus.get("policy")
        if isinstance(told, dict):
            self._policy = told
        known = len(self._urgent)
        super()._given(stimulus)
        if len(self._urgent) > known:
            classes = {one: {"priorityClass": "urgent"} for one in self._urgent}
            policy: JsonObject = {**self._policy, "workItems": cast(JsonValue, classes)}
            told_again: JsonObject = {"type": "policy", "now": self.speaker.now, "policy": policy}
            self._before = cast("list[JsonObject]", self.inner.handle(told_again)["effects"])
        return stimulus

    def _learn(self, event: JsonObject) -> None:
        super()._learn(event)
        goal = str(find(event, "payload", "workItem", "contract", "goal")).lower()
        work = find(event, "payload", "workItem", "workItemId")
        says_so = "urgent" in goal or "asap" in goal or "first" in goal
        if isinstance(work, str) and says_so and work not in self._urgent:
            self._urgent.append(work)

    def _answer(self, answer: JsonObject) -> JsonObject:
        before, self._before = self._before, []
        return {**answer, "effects": [*before, *cast("list[JsonValue]", answer["effects"])]}


def _leaky(
    factory: Callable[[], InProcessWorker],
    requirement: str,
    killed_by: str,
    seen_in: str,
    field: str,
) -> Mutant:
    return mutant(factory, requirement, killed_by, field, seen_in)


LEAKY: tuple[Mutant, ...] = (
    _leaky(ShoutsTheNeighboursName, "WRK-012.d", "MON-0015", "DISC-0011", "A note for operators."),
    _leaky(NameBackwards, "WRK-012.d", "MON-0015", "DISC-0011", "Keys sorted from their end."),
    _leaky(NameInHex, "WRK-012.d", "MON-0015", "DISC-0011", "Trace IDs made from other IDs."),
    _leaky(NamePercentEncoded, "WRK-012.d", "MON-0015", "DISC-0011", "A link to a dashboard."),
    _leaky(NameInUtf16, "WRK-012.d", "MON-0015", "DISC-0011", "Blobs of another platform."),
    _leaky(NameJsonEscaped, "WRK-012.d", "MON-0015", "DISC-0011", "JSON kept in a text column."),
    _leaky(NameInPieces, "WRK-012.d", "MON-0015", "DISC-0011", "Columns of a fixed width."),
    _leaky(NameAsNumber, "WRK-012.d", "MON-0015", "DISC-0011", "IDs that are numbers inside."),
    _leaky(NameAsCorrelation, "WRK-012.d", "MON-0015", "DISC-0011", "Named UUIDs as correlation."),
    _leaky(NameAsKey, "WRK-012.d", "MON-0015", "ISOL-0022", "A key made from the wrong variable."),
    _leaky(NameInTheFrame, "WRK-012.d", "MON-0015", "DISC-0011", "Frame IDs that help debugging."),
    _leaky(GroupInPresence, "IDN-006.a", "MON-0030", "DISC-0012", "A nonce that is no nonce."),
    _leaky(TitleInBase64, "WRK-012.e", "MON-0015", "DISC-0011", "An opaque context."),
    _leaky(CaseNumberInTheResult, "WRK-012.e", "MON-0015", "ISOL-0003", "A global variable."),
    _leaky(
        ArtifactOfAnother, "WRK-012.e", "MON-0015", "ISOL-0003", "Provenance of a shared cache."
    ),
    _leaky(CheckpointOfAnother, "WRK-012.e", "MON-0015", "ISOL-0010", "One chain for all."),
    _leaky(BudgetOfAnother, "WRK-012.e", "MON-0015", "DISC-0011", "A quota display."),
    _leaky(ErrorNamesThePreemptor, "WRK-012.e", "MON-0015", "ISOL-0015", "A helpful error."),
    _leaky(EncryptedTitle, "WRK-012.h", "PRIV-0001", "", "State handed to a client, sealed."),
    _leaky(ConfidenceByContent, "WRK-012.h", "PRIV-0001", "", "A model that reads everything."),
    _leaky(PositionInTheFraction, "WRK-012.g", "PRIV-0006", "", "Times made unique."),
    _leaky(PositionInADecline, "WRK-012.g", "PRIV-0006", "", "A ticket number."),
    _leaky(PositionInWords, "WRK-012.g", "PRIV-0006", "", "A friendly text."),
    _leaky(PositionAsALine, "WRK-012.g", "PRIV-0006", "", "A progress bar."),
    _leaky(RoomLeft, "WRK-012.g", "PRIV-0006", "", "Free capacity instead of used."),
    _leaky(CountInPresence, "IDN-006.b", "PRIV-0008", "", "What the schema asks for."),
    _leaky(EstimatesToTheSecond, "WRK-012.i", "PRIV-0007", "", "As exact as can be."),
    _leaky(PromisesTheMoon, "WRK-012.k", "PRIV-0009", "", "Optimism."),
    _leaky(DirectoryOfTheSlot, "WRK-011.b", "MON-0016", "ISOL-0003", "A workspace per slot."),
    _leaky(BudgetOfTheGroup, "WRK-011.e", "MON-0033", "ISOL-0017", "A budget object by tenant."),
    _leaky(CheckpointOfTheGroup, "WRK-011.d", "MON-0032", "ISOL-0016", "The latest wins."),
    _leaky(CredentialInTheResult, "AUT-002.a", "MON-0017", "ISOL-0003", "Recorded environments."),
    _leaky(TokenAsKey, "AUT-002.a", "MON-0017", "ISOL-0023", "Something unique at hand."),
    _leaky(LogsGoals, "WRK-012.j", "MON-0031", "DISC-0004", "Logs for people."),
    _leaky(LogsCredentials, "WRK-012.j", "MON-0031", "DISC-0004", "Logs for debugging."),
    _leaky(ReadsGoals, "WRK-028.b", "PRIV-0005", "", "Triage by keywords."),
)
"""Every leaky Worker, with the check that has to notice it."""
