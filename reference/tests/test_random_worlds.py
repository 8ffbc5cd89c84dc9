"""Whatever happens, and in whatever order: the work is done once, and nothing is left over."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import pytest

from reference_worker import journal
from reference_worker.documents import sha256
from reference_worker.instants import MICROS, micros, spell

Make = Callable[..., Any]
CLASSES = ["background", "standard", "urgent"]
SEEDS = range(int(os.environ.get("WORKER_WORLDS", "8")))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    # The process lives on in these tests, so nothing that the disk would lose is at stake.
    monkeypatch.setattr(journal, "SYNCHRONOUS", "OFF")


class World:
    """An Organization in which things happen at random, from a seed."""

    def __init__(self, org: Any, seed: int) -> None:
        self.org, self.rng = org, random.Random(seed)
        self.made = 0
        self.calm = False

    def act(self) -> None:
        actions = [
            self.offer,
            self.work,
            self.work,
            self.work,
            self.advance,
            self.repeat,
            self.reclassify,
            self.refuse,
            self.cut,
            self.crash,
        ]
        weights = [6, 12, 6, 6, 5, 3, 3, 3, 1, 1]
        self.rng.choices(actions, weights)[0]()
        self.org.running()  # asserts that no slot is used twice, and no more than there are

    def offer(self) -> None:
        self.made += 1
        extra: dict[str, Any] = {}
        group = self.rng.choice("AB")
        known = [name for name, item in self.org.items.items() if item["groupId"].endswith(group)]
        if self.rng.random() < 0.3 and known:  # of one Mission, and so of one Group (10.4)
            extra["dependencyWorkItemIds"] = [self.rng.choice(known)]
        urgency = self.rng.choice(["routine", "normal", "high", "critical"])
        event = self.org.offer(f"w{self.made}", group, requestedUrgency=urgency, **extra)
        if self.rng.random() < 0.8:
            self.deliver(event)

    def deliver(self, event: Any) -> None:
        """With everything that was held back before it, in any order."""
        log = self.org.logs[event["groupId"]]
        batch = log[-self.rng.randint(1, 6) :]
        self.rng.shuffle(batch)
        self.org.deliver(*batch)
        self.org.deliver(*log)

    def repeat(self) -> None:
        for log in self.org.logs.values():
            self.org.deliver(*self.rng.sample(log, min(len(log), 5)))

    def work(self) -> None:
        for name, item in self.org.items.items():
            if item["state"] == "submitted":
                self.org.deliver(self.org.fact(name[14:], "work.result.accepted", "verified"))
            elif item["state"] == "blocked":
                self.org.deliver(self.org.fact(name[14:], "work.unblocked", "queued"))
        running = list(self.org.running())
        if not running:
            return
        name = self.rng.choice(running)[14:]
        point = {
            "checkpointId": f"urn:test:checkpoint:{self.rng.random()}",
            "checkpointHash": sha256(name.encode()),
        }
        asked = self.org.effects and self.preempted(name)
        choice = self.rng.random()
        if asked and choice < 0.8:
            self.org.report(name, "safe_point", **point)
        elif choice < 0.1 and not self.calm:
            self.org.report(name, "failed", code="TRANSIENT", evidence=[])
        elif choice < 0.2 and not self.calm:
            self.org.report(name, "blocked", **point, requiredResolution="an answer")
        elif choice < 0.3:
            self.org.report(name, "safe_point", **point)
        else:
            self.finish(name)

    def finish(self, name: str) -> None:
        artifact = {"contentHash": sha256(b"x"), "uri": "urn:test:content:x", "sizeBytes": 1}
        evidence = {"type": "deterministic_test", "method": "ran", "result": "passed"}
        self.org.report(name, "completed", artifacts=[artifact], evidence=[evidence])

    def preempted(self, name: str) -> bool:
        told = [e["type"] for e in self.org.effects if e.get("workItemId", "")[14:] == name]
        return "preempt" in told[-2:]

    def advance(self) -> None:
        self.org.advance(self.rng.choice([0, 1, 10, 100]))

    def reclassify(self) -> None:
        if self.org.items:
            item = self.rng.choice(list(self.org.items))
            self.org.policy["workItems"][item] = {"priorityClass": self.rng.choice(CLASSES)}
        group = self.rng.choice(list(self.org.logs))
        self.org.policy["groups"][group]["weight"] = self.rng.choice([0.5, 1, 3])
        self.org.policy["groups"][group]["slotQuota"] = self.rng.choice([1, 2, 9])
        self.org.handle("policy", policy=self.org.policy)

    def refuse(self) -> None:
        """The next Command is refused, lost or answered with a conflict."""
        code = self.rng.choice(["BACKPRESSURE", "INTERNAL_ERROR", "lost"])
        accept = self.org.accept

        def once(command: Any) -> None:
            self.org.accept = accept
            if code != "lost":
                self.org.error(command, code, retryable=True, retryAfterMs=500)

        self.org.accept = once

    def cut(self) -> None:
        """A Group's link, or the whole connection."""
        org = self.org
        if self.rng.random() < 0.5:
            group = self.rng.choice(list(org.logs))
            org.handle("link", state="down", groupIds=[group])
            org.advance(self.rng.choice([1, 30, 100]))
            self.come_back(org.handle("link", state="up", groupIds=[group]))
            return
        org.handle("link", state="down")
        org.advance(self.rng.choice([1, 30, 100]))
        org.session += 1
        self.requeue()
        memberships = [{"groupId": g, "membershipEpoch": 1} for g in org.logs]
        self.come_back(
            org.handle("link", state="up", sessionEpoch=org.session, memberships=memberships)
        )

    def requeue(self) -> None:
        for item in self.org.items.values():
            if item["state"] == "active":
                item |= {"state": "queued", "revision": item["revision"] + 1}

    def come_back(self, effects: list[Any]) -> None:
        for effect in effects:
            if effect["type"] == "frame" and effect["frame"]["frameType"] == "SUBSCRIBE":
                self.org.replay(effect["frame"])
        self.org.tick()

    def crash(self) -> None:
        self.org.effects.clear()
        self.org.restart(empty=self.rng.random() < 0.3)

    def drain(self) -> None:
        """Nothing new comes; everything has to come to its end."""
        self.calm = True
        for group in self.org.policy["groups"].values():
            group["slotQuota"] = 9
        self.org.handle("policy", policy=self.org.policy)
        for log in self.org.logs.values():
            self.org.deliver(*log)
        for _ in range(40 + 8 * self.made):
            self.work()
            self.org.advance(31)
            self.offer_expired_again()

    def offer_expired_again(self) -> None:
        """A lease that ran out has no Event; the Coordinator offers the work anew."""
        now = self.org.now
        for name, item in self.org.items.items():
            lease = self.org.leases.get(name)
            if item["state"] == "active" and lease and micros(lease["expiresAt"]) <= now:
                self.made += 1
                item.pop("owner")
                item["offers"] = [
                    {
                        "offerId": f"urn:test:offer:again:{self.made}",
                        "agentId": "urn:test:agent:w",
                        "agentCardVersion": 3,
                        "expiresAt": spell(now + 86_400 * MICROS),
                        "status": "pending",
                    }
                ]
                self.org.deliver(self.org.fact(name[14:], "work.offer.created", "offered"))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_world_comes_to_its_end(organization: Make, seed: int) -> None:
    org = organization(slots=1 << seed % 4)
    org.lease_seconds = [600, 60, 45][seed % 3]
    org.open()
    world = World(org, seed)
    for _ in range(90):
        world.act()
    world.drain()
    ends = {name: item["state"] for name, item in org.items.items()}
    hopeful = {
        name
        for name, item in org.items.items()
        if all(ends[d] == "verified" for d in item["contract"]["dependencyWorkItemIds"])
    }
    declined = {e["workItemId"] for e in org.effects if e["type"] == "decline"}
    stuck = {n: s for n, s in ends.items() if n in hopeful - declined and s not in DONE}
    assert stuck == {}, spell(org.now)
    assert org.running() == {}


DONE = {"verified", "failed", "cancelled"}
