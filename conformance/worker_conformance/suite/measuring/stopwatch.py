"""A Port that measures: how long the Worker takes for what, seen from outside.

Real time from the call to the answer, the transport and the checks of both messages included.
Never changes a message.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from time import perf_counter

from attrs import define, evolve, field, frozen

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.port.contract import Answer, Port
from worker_conformance.port.declaration import Declaration


@frozen
class Lap:
    """What a stretch cost: seconds in the Worker, calls, Events delivered, Commands by kind.

    `disclosing_seconds` were spent in calls whose answer discloses something, in all
    `disclosed_bytes` of JSON in so many `disclosures`.
    """

    seconds: float = 0.0
    calls: int = 0
    events: int = 0
    commands: Mapping[str, int] = field(factory=dict)
    disclosing_seconds: float = 0.0
    disclosures: int = 0
    disclosed_bytes: int = 0


@define
class Stopwatch:
    """Passes everything on to `port` and keeps account since the last `lap`.

    With `record`, `recorded` is every stimulus in the order of the calls.
    """

    port: Port
    record: bool = False
    recorded: list[JsonObject] = field(factory=list)
    clock: Callable[[], float] = perf_counter
    _lap: Lap = field(factory=Lap)
    _commands: Counter[str] = field(factory=Counter)

    def lap(self) -> Lap:
        """What it cost since the last lap; the next begins."""
        lap = evolve(self._lap, commands=dict(self._commands))
        self._lap = Lap()
        self._commands.clear()
        return lap

    @property
    def transport(self) -> str:
        """As of the Port behind it."""
        return self.port.transport

    @property
    def copies_state_on_crash(self) -> bool:
        """As of the Port behind it."""
        return self.port.copies_state_on_crash

    def initialize(self) -> Declaration:
        """Pass on."""
        return self.port.initialize()

    def handle(self, stimulus: JsonObject) -> Answer:
        """Pass on, and measure."""
        if self.record:
            self.recorded.append(stimulus)
        began = self.clock()
        answer = self.port.handle(stimulus)
        self._count(stimulus, answer, self.clock() - began)
        return answer

    def crash(self) -> None:
        """Pass on."""
        self.port.crash()

    def restart(self) -> None:
        """Pass on, and measure: a process has to begin."""
        began = self.clock()
        self.port.restart()
        self._lap = evolve(self._lap, seconds=self._lap.seconds + self.clock() - began)

    def shutdown(self) -> None:
        """Pass on."""
        self.port.shutdown()

    def stderr_tail(self) -> str:
        """Pass on."""
        return self.port.stderr_tail()

    def _count(self, stimulus: JsonObject, answer: Answer, spent: float) -> None:
        lap, frames = self._lap, stimulus.get("frames")
        events = 0
        if isinstance(frames, list):
            events = sum(find(one, "frameType") == "EVENT" for one in frames)
        disclosed = [effect for effect in answer.effects if effect.get("type") == "disclose"]
        for effect in answer.effects:
            kind = find(effect, "frame", "command", "kind")
            if isinstance(kind, str):
                self._commands[kind] += 1
        self._lap = Lap(
            seconds=lap.seconds + spent,
            calls=lap.calls + 1,
            events=lap.events + events,
            disclosing_seconds=lap.disclosing_seconds + (spent if disclosed else 0.0),
            disclosures=lap.disclosures + len(disclosed),
            disclosed_bytes=lap.disclosed_bytes + sum(len(json.dumps(one)) for one in disclosed),
        )
