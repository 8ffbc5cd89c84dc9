"""Discreet Workers: lawful, and as different in what they disclose as the clauses allow.

Every check of privacy has to pass them. Built on the reference Worker by changing what leaves it.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable
from typing import Any, cast

from attrs import frozen

from worker_conformance.documents.json_types import JsonObject, JsonValue, find, text_at
from worker_conformance.scenario.clock import moment_of, text_of
from worker_conformance.selftest.interposer import Interposer

SECOND = 1_000_000  # microseconds
DAY = 86_400 * SECOND


@frozen
class Discreet:
    """A lawful Worker, and how it differs from the reference Worker in what it discloses."""

    factory: str
    habit: str


class Coarse(Interposer):
    """Rounds every window out to whole days, and declares it."""

    def _declared(self, declaration: JsonObject) -> JsonObject:
        known: Any = declaration["parameters"]
        return {**declaration, "parameters": {**known, "estimateGranularitySeconds": 86_400}}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] != "disclose":
            return (effect,)
        estimate: Any = effect["estimate"]
        start = (moment_of(estimate["estimatedStart"]) or 0) // DAY * DAY
        latest = ((moment_of(text_at(effect, "estimatedStartLatest")) or 0) // DAY + 1) * DAY
        end = ((moment_of(estimate["estimatedCompletion"]) or 0) // DAY + 2) * DAY
        told = {
            **estimate,
            "estimatedStart": text_of(start),
            "estimatedCompletion": text_of(max(end, latest)),
        }
        return ({**effect, "estimate": told, "estimatedStartLatest": text_of(latest)},)


class Fine(Interposer):
    """Gives windows that begin at this very moment, to the second, and declares it."""

    def _declared(self, declaration: JsonObject) -> JsonObject:
        known: Any = declaration["parameters"]
        return {**declaration, "parameters": {**known, "estimateGranularitySeconds": 1}}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] != "disclose":
            return (effect,)
        estimate: Any = effect["estimate"]
        start = max(
            moment_of(estimate["estimatedStart"]) or 0,
            moment_of(estimate["lastCalculatedAt"]) or 0,
        )
        told = {**estimate, "estimatedStart": text_of(start // SECOND * SECOND)}
        return ({**effect, "estimate": told},)


class Silent(Interposer):
    """Publishes no estimate and no Presence, and says so."""

    def _declared(self, declaration: JsonObject) -> JsonObject:
        known: Any = declaration["parameters"]
        abstains = ["estimates", "presence"]
        return {**declaration, "parameters": {**known, "abstains": abstains}}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "disclose":
            return ()
        frame: Any = effect.get("frame")
        if find(effect, "frame", "presence") is None:
            return (effect,)
        bare = {name: value for name, value in frame.items() if name != "presence"}
        return ({**effect, "frame": bare},)


class Seeded(Interposer):
    """Draws nonces, frame IDs and the width of windows from the declared seed."""

    def _begin(self) -> None:
        super()._begin()
        self._drawn = 0

    def _draw(self) -> bytes:
        self._drawn += 1
        text = f"{self.speaker.session_epoch} {self.speaker.agent_id} {self._drawn}"
        return hashlib.sha256(text.encode()).digest()

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        frame: Any = effect.get("frame")
        if isinstance(frame, dict) and frame["frameType"] != "COMMAND":
            drawn = str(uuid.UUID(bytes=self._draw()[:16], version=4))
            return ({**effect, "frame": {**frame, "frameId": f"urn:uuid:{drawn}"}},)
        if effect["type"] != "disclose":
            return (effect,)
        estimate: Any = effect["estimate"]
        more = self._draw()[0] * SECOND
        latest = (moment_of(text_at(effect, "estimatedStartLatest")) or 0) + more
        end = (moment_of(estimate["estimatedCompletion"]) or 0) + more
        told = {**estimate, "estimatedCompletion": text_of(end)}
        return ({**effect, "estimate": told, "estimatedStartLatest": text_of(latest)},)


class Batching(Interposer):
    """Sends estimates and acknowledgements together, with the next tick."""

    def _begin(self) -> None:
        super()._begin()
        self._kept: list[JsonObject] = []

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "disclose":
            self._kept.append(effect)
            return ()
        return (effect,)

    def _answer(self, answer: JsonObject) -> JsonObject:
        if self.stimulus["type"] != "tick":
            return {**answer, "busy": True} if self._kept else answer
        kept, self._kept = self._kept, []
        return {**answer, "effects": [*cast("list[JsonValue]", answer["effects"]), *kept]}


DISCREET: tuple[Discreet, ...] = tuple(
    Discreet(f"{__name__}:{one.__name__}", " ".join((one.__doc__ or "").split()))
    for one in (Coarse, Fine, Silent, Seeded, Batching)
)
"""Lawful Workers that every check of privacy has to pass; advice aside."""
