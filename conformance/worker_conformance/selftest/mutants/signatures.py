"""Faults of Signed Documents: believed too easily, refused too long, made wrongly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.interposer import Interposer, says
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.speaker import frames_in, with_frames


@altered
def signature_not_checked(parts: Parts) -> None:
    """Looks whether there is a signature and never computes it."""

    class Willing:
        def verify(self, signature: bytes, message: bytes) -> None:
            del signature, message

    parts.replace("signatures._public_key", lambda _: Willing())


@altered
def any_registered_signer(parts: Parts) -> None:
    """Accepts an Event of anybody whose key is registered."""
    parts.replace("runtime.Runtime.may", lambda *_: True)


class SeenBeforeVerified(Interposer):
    """Marks an Event ID as seen before it has verified the Event."""

    def _begin(self) -> None:
        super()._begin()
        self._seen: set[str] = set()

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "frames":
            return stimulus
        return with_frames(stimulus, [f for f in frames_in(stimulus) if self._is_new(f)])

    def _is_new(self, frame: JsonObject) -> bool:
        event_id = find(frame, "event", "eventId")
        is_new = not isinstance(event_id, str) or event_id not in self._seen
        self._seen.add(str(event_id))
        return is_new


class OneBadSignatureClosesTheGroup(Interposer):
    """Reads nothing more of a Group in which one Event was refused."""

    def _begin(self) -> None:
        super()._begin()
        self._closed: set[object] = set()

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "frames":
            return stimulus
        frames = frames_in(stimulus)
        kept = [f for f in frames if find(f, "event", "groupId") not in self._closed]
        return with_frames(stimulus, kept)

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "reject" and "groupId" in effect:
            self._closed.add(text_at(effect, "groupId"))
        return (effect,)


class SignsBeforeItStamps(Interposer):
    """Changes a Command after it was signed: the payload is completed by another layer."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if not says(effect, "work.start"):
            return (effect,)
        frame: Any = effect["frame"]
        payload = {**frame["command"]["payload"], "stampedAt": self.speaker.now}
        return (
            {**effect, "frame": {**frame, "command": {**frame["command"], "payload": payload}}},
        )


class CorrelationIsNoUri(Interposer):
    """Writes a bare word where the schema wants a URI."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if not says(effect, "work.submit"):
            return (effect,)
        return (self.speaker.changed(effect, correlationId="submission"),)


MUTANTS = (
    mutant(
        signature_not_checked,
        "SDV-015.a",
        "SIGN-0001 SIGN-0004",
        "A verifier that is mocked in development and never replaced.",
    ),
    mutant(
        any_registered_signer,
        "SDV-001.a",
        "SIGN-0003",
        "Authentication taken for authorization.",
    ),
    mutant(
        SeenBeforeVerified,
        "SDV-015.a",
        "SIGN-0002 SIGN-0004",
        "Deduplication placed in front of verification, because it is cheaper.",
    ),
    mutant(
        OneBadSignatureClosesTheGroup,
        "SDV-015.a",
        "SIGN-0002 SIGN-0004",
        "A security reflex: the channel is cut at the first bad message, and nobody reopens it.",
    ),
    mutant(
        SignsBeforeItStamps,
        "IDN-009.a",
        "MON-0003",
        "Middleware that enriches documents on their way out.",
        seen_in="LEASE-0002",
    ),
    mutant(
        CorrelationIsNoUri,
        "FND-004.a",
        "MON-0002",
        "A rarely sent kind of Command, built by hand.",
        seen_in="LEASE-0006",
    ),
)
