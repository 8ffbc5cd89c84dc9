"""A small Organization for the reference Worker's own tests.

It drives one Worker through its Port and answers Commands by the book; small_authority.py writes
the Events. It is no judge: it refuses little, and the tests say what they expect.
"""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from reference_worker import factory
from reference_worker.documents import is_valid, sha256
from reference_worker.instants import MICROS, micros, spell

sys.path.insert(0, str(Path(__file__).parent))  # the helpers beside the tests are no package

from small_authority import (
    ARCHIVE,
    AUTHORITY,
    HUMAN,
    WORKER,
    Authority,
    Json,
    key_pair,
)

FRAMES = {"COMMAND": "commandFrame", "ACK": "ackFrame", "SUBSCRIBE": "subscribeFrame"}


class Crashed(Exception):  # noqa: N818 - an event of the test, not an error
    """The Worker died after its commit and before all of its effects left."""


class Organization(Authority):
    """Groups, a clock, and one Worker that is driven through its Port."""

    Crashed = Crashed

    def __init__(self, directory: Path, slots: int = 1, session: int = 1) -> None:
        super().__init__(session)
        self.directory, self.slots = directory, slots
        self.effects: list[Json] = []
        self.history: list[Json] = []  # all effects that ever left, over every crash
        self.save: Callable[[Path, Path], object] = shutil.copytree
        self.wake_at: str | None = None
        self.answering = True
        self.make_port: Callable[[], Any] = factory
        self.port: Any = factory()
        self.handled = 0
        self.counts: list[int] = []  # effects of each stimulus
        self.crash_after = 0  # after so many stimuli have been handled
        self.effects_left = 0  # so many effects of the last one leave before the crash

    # -- the Worker --------------------------------------------------------------------------

    def start(self) -> list[Json]:
        groups = [
            {
                "groupId": g,
                "missionId": m["missionId"],
                "conversationId": f"{g}:conversation",
                "membership": m,
                "missionContext": {"secret": f"context of {g}"},
                "credentials": {"repository": f"secret of {g}"},
            }
            for g, m in self.memberships.items()
        ]
        key_id, seed, _ = key_pair("w")
        return self.handle(
            "start",
            stateDirectory=str(self.directory),
            seed=1,
            agent={
                "agentId": WORKER,
                "keyId": key_id,
                "privateKey": seed,
                "agentCardVersion": 3,
                "capabilities": [{"id": "acme.build", "version": "2.1.0"}],
                "maxConcurrency": self.slots,
            },
            sessionEpoch=self.session,
            organization={
                "organizationId": "urn:test:organization",
                "keys": [
                    self._binding("authority", "service", AUTHORITY),
                    self._binding("archive", "service", ARCHIVE),
                    self._binding("owner", "human", HUMAN),
                    self._binding("w", "agent", WORKER),
                ],
                "authorized": {
                    "eventAuthority": [AUTHORITY],
                    "archival": [ARCHIVE],
                    "cardIssuer": [AUTHORITY],
                    "approvers": [HUMAN],
                },
                "policy": self.policy,
            },
            groups=groups,
        )

    @staticmethod
    def _binding(name: str, kind: str, principal: str) -> Json:
        key_id, _, public = key_pair(name)
        return {
            "keyId": key_id,
            "principal": {"type": kind, "id": principal},
            "algorithm": "Ed25519",
            "publicKey": public,
            "validFrom": "2020-01-01T00:00:00Z",
        }

    def open(self) -> None:
        """Start, replay what the durable Cursors ask for, and become live."""
        for effect in self.start():
            if effect["type"] == "frame" and effect["frame"]["frameType"] == "SUBSCRIBE":
                self.replay(effect["frame"])
        self.tick()

    def replay(self, subscribe: Json) -> None:
        for entry in subscribe["groups"]:
            log = self.logs[entry["groupId"]]
            rest = [e for e in log if e["sequence"] > entry["afterSequence"]]
            if rest:
                self.deliver(*rest)
            self.handle("caught_up", groupId=entry["groupId"], sequence=len(log))

    def restart(self, *, empty: bool = False) -> None:
        """A crash: the object is dropped, and a copy of the directory is all that stays."""
        copied = self.directory.with_name(self.directory.name + "x")
        if not empty:
            self.save(self.directory, copied)
        self.directory, self.port, self.session = copied, self.make_port(), self.session + 1
        for item in self.items.values():
            if item["state"] == "active" and item["owner"]["agentId"] == WORKER:
                item["state"] = "queued"
                item["revision"] += 1
        self.open()

    def handle(self, kind: str, **members: object) -> list[Json]:
        result = self.port.handle({"type": kind, "now": spell(self.now), **members})
        self.wake_at = result.get("wakeAt")
        effects = json.loads(json.dumps(result["effects"]))
        self.handled += 1
        self.counts.append(len(effects))
        crashes = self.handled == self.crash_after
        if crashes:
            effects = effects[: self.effects_left]  # what was committed stays; the rest never left
        self.effects += effects
        self.history += effects
        for effect in effects:
            if effect["type"] == "frame":
                frame = effect["frame"]
                assert is_valid(FRAMES.get(frame["frameType"], "pingFrame"), frame), frame
        if crashes:
            self.take(effects)
            raise Crashed
        if self.answering:
            self.answer(effects)
        return effects

    def take(self, effects: Iterable[Json]) -> None:
        """Accept Commands whose sender is dead: their Events wait in the logs."""
        deliver, self.deliver = self.deliver, lambda *_: []  # type: ignore[method-assign]
        try:
            self.answer(effects)
        finally:
            self.deliver = deliver  # type: ignore[method-assign]

    def tick(self) -> list[Json]:
        return self.handle("tick")

    def advance(self, seconds: float) -> None:
        """Move the clock, with a tick at every time the Worker asked for."""
        until = self.now + int(seconds * MICROS)
        for _ in range(10_000):
            if self.wake_at is None or micros(self.wake_at) > until:
                break
            self.now = max(self.now, micros(self.wake_at))
            self.tick()
        self.now = until
        self.tick()

    def deliver(self, *events: Json) -> list[Json]:
        frames = [
            {
                "protocolVersion": "0.1",
                "frameId": f"urn:test:frame:{event['eventId'][9:]}",
                "frameType": "EVENT",
                "event": event,
            }
            for event in events
        ]
        return self.handle("frames", frames=frames)

    def error(self, command: Json, code: str, *, retryable: bool = False, **more: object) -> None:
        self.counter += 1
        error = {
            "code": code,
            "message": "no",
            "retryable": retryable,
            "relatedActionId": command["actionId"],
            "groupId": command["groupId"],
            "occurredAt": spell(self.now),
            **more,
        }
        frame = {
            "protocolVersion": "0.1",
            "frameId": f"urn:test:error:{self.counter}",
            "frameType": "ERROR",
            "error": error,
        }
        self.handle("frames", frames=[frame])

    # -- the answers -------------------------------------------------------------------------

    def give(self, *names: str, group: str = "A", **contract: object) -> None:
        """Offer items and deliver the offers."""
        self.deliver(*[self.offer(name, group, **contract) for name in names])

    def answer(self, effects: Iterable[Json]) -> None:
        """Take the Commands among the effects in order and deliver what they cause."""
        for command in commands(effects):
            self.accept(command)

    def accept(self, command: Json) -> None:
        """Accept one Command."""
        if command["kind"] == "artifact.publish":
            document = command["payload"]["artifact"]
            assert is_valid("artifact", document)
            payload = {"artifactId": document["artifactId"]}
            self.deliver(
                self.event(command["groupId"], "artifact.published", payload, command["actionId"])
            )
            return
        item = self.items[command["workItemId"]]
        if command["expectedRevision"] != item["revision"]:
            self.error(command, "REVISION_CONFLICT", currentRevision=item["revision"])
            return
        self.deliver(self.transition(command, item))

    # -- the executor ------------------------------------------------------------------------

    def report(self, name: str, kind: str, **members: object) -> list[Json]:
        run = self.running()[f"urn:test:item:{name}"]
        return self.handle(
            "execution",
            slotId=run["slotId"],
            workItemId=run["workItemId"],
            leaseId=run["leaseId"],
            report={"kind": kind, **members},
        )

    def complete(self, name: str) -> list[Json]:
        """The work is done, with an Artifact and Evidence."""
        item = f"urn:test:item:{name}"
        artifact = {"contentHash": sha256(b"x"), "uri": "urn:test:content:x", "sizeBytes": 1}
        evidence = {"type": "deterministic_test", "method": "ran", "result": "passed"}
        effects = self.report(name, "completed", artifacts=[artifact], evidence=[evidence])
        self.items[item]["state"] = "verified"
        self.items[item]["revision"] += 1
        payload = {"workItem": self.items[item]}
        self.deliver(self.event(self.items[item]["groupId"], "work.result.accepted", payload))
        return effects

    def running(self) -> dict[str, Json]:
        """What runs now, by WorkItem, from the effects alone."""
        runs: dict[str, Json] = {}
        slots: dict[str, str] = {}
        for effect in self.effects:
            if effect["type"] == "run":
                assert effect["slotId"] not in slots, "a slot is used twice"
                slots[effect["slotId"]] = effect["workItemId"]
                runs[effect["workItemId"]] = effect
            elif effect["type"] == "release":
                runs.pop(slots.pop(effect["slotId"]))
        assert len(runs) <= self.slots
        return runs

    def starts(self) -> list[str]:
        """Short names of the items in the order of their `work.start` Commands."""
        return [c["workItemId"][14:] for c in commands(self.effects) if c["kind"] == "work.start"]


def commands(effects: Iterable[Json]) -> list[Json]:
    """The Commands among effects."""
    return [
        effect["frame"]["command"]
        for effect in effects
        if effect["type"] == "frame" and effect["frame"]["frameType"] == "COMMAND"
    ]


@pytest.fixture
def organization(tmp_path: Path) -> Callable[..., Organization]:
    """Makes an Organization over an empty state directory."""
    made = itertools.count()
    return lambda **options: Organization(tmp_path / f"state{next(made)}", **options)
