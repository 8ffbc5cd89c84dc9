"""An Interposer stands between the suite and a Worker and changes what passes.

The base of faults and habits of conduct: what comes in and what goes out is all it touches, so it
works on any Worker. Never reaches into the Worker, and changes nothing unless a subclass does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, cast

import reference_worker
from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.reading import command_of, kind_of
from worker_conformance.port.in_process import InProcessWorker
from worker_conformance.selftest.speaker import Speaker


def _reference() -> InProcessWorker:
    return reference_worker.factory()


class Interposer:
    """Passes everything on. Subclasses override the hooks below.

    During a call `stimulus` is what the suite said, and `speaker` knows the present epochs.
    """

    worker: ClassVar[Callable[[], InProcessWorker]] = staticmethod(_reference)
    """Makes the Worker behind it."""

    def __init__(self) -> None:
        self.inner = type(self).worker()
        self.speaker = Speaker()
        self.stimulus: JsonObject = {}
        self._begin()

    def initialize(self, params: JsonObject) -> JsonObject:
        """See the Port."""
        return self._declared(self.inner.initialize(params))

    def handle(self, stimulus: JsonObject) -> JsonObject:
        """See the Port."""
        self.stimulus = stimulus
        self.speaker.hear(stimulus)
        if stimulus["type"] == "start":
            self._begin()
        given = self._given(stimulus)
        answer: JsonObject = {"effects": []} if given is None else self.inner.handle(given)
        effects = [done for effect in effects_of(answer) for done in self._done(effect)]
        return self._answer({**answer, "effects": [*effects, *self._afterwards()]})

    def shutdown(self) -> JsonObject:
        """See the Port."""
        return self.inner.shutdown()

    # --- hooks ------------------------------------------------------------------------

    def _begin(self) -> None:
        """A session begins: whatever was kept in memory is empty."""

    def _declared(self, declaration: JsonObject) -> JsonObject:
        """What is declared."""
        return declaration

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        """What the Worker is told instead; None for nothing."""
        return stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        """What becomes of one effect."""
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        """What is added at the end of an answer."""
        return ()

    def _answer(self, answer: JsonObject) -> JsonObject:
        """The answer as a whole."""
        return answer


class KnowsItsRuns(Interposer):
    """Base: knows the `run` of every slot that is in use, in `_runs`."""

    def _begin(self) -> None:
        super()._begin()
        self._runs: dict[object, JsonObject] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "run":
            self._runs[effect["slotId"]] = effect
        elif effect["type"] == "release":
            self._runs.pop(effect["slotId"], None)
        return (effect,)


def effects_of(answer: JsonObject) -> list[JsonObject]:
    """The effects of an answer."""
    return cast("list[JsonObject]", answer["effects"])


def says(effect: JsonObject, *kinds: str) -> bool:
    """Whether an effect sends a Command of one of these kinds."""
    command = command_of(effect)
    return command is not None and kind_of(command) in kinds


def payload_of(effect: JsonObject) -> JsonObject:
    """The payload of the Command in an effect; empty where there is none."""
    command = command_of(effect) or {}
    return cast(JsonObject, command.get("payload", {}))


def with_parameters(declaration: JsonObject, **parameters: object) -> JsonObject:
    """A declaration with other parameters."""
    known = cast(JsonObject, declaration.get("parameters", {}))
    return {**declaration, "parameters": cast(JsonObject, {**known, **parameters})}
