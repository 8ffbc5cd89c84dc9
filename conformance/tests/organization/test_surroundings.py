"""Steps about the surroundings: what the Worker is told, in messages that the Port allows."""

from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

import pytest

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.trace import EntryKind
from worker_conformance.port.contract import Answer
from worker_conformance.port.declaration import Declaration, Parameters
from worker_conformance.port.messages import check_stimulus
from worker_conformance.scenario.clock import text_of
from worker_conformance.scenario.loader import load_text
from worker_conformance.suite.actions import perform
from worker_conformance.suite.world import OutOfReach, World

SECOND = 1_000_000
HEAD = """
id: TEST-0001
title: a test
stake: none
requirement: WRK-029.c
level: MUST
profile: replay
groups: {A: {}, B: {joined: false}}
log: {A: [created, member, {authorize: a1}, {offer: a1}], B: [created, member]}
delivery: auto
steps:
  - start
"""


class Subscriber:
    """A Worker that subscribes to what it is given, and is silent otherwise."""

    transport = "in-process"
    copies_state_on_crash = False

    def __init__(self) -> None:
        self.heard: list[JsonObject] = []

    def initialize(self) -> Declaration:
        raise NotImplementedError

    def handle(self, stimulus: JsonObject) -> Answer:
        check_stimulus(stimulus)
        self.heard.append(stimulus)
        groups = stimulus.get("groups", [stimulus.get("group")])
        return Answer(
            tuple(self._subscribe(group) for group in groups if group), busy=False, wake_at=None
        )

    def _subscribe(self, group: JsonObject) -> JsonObject:
        frame = {
            "protocolVersion": "0.1",
            "frameId": f"urn:worker:frame:{len(self.heard)}",
            "frameType": "SUBSCRIBE",
            "subscriptionId": "urn:worker:subscription:1",
            "groups": [{"groupId": group["groupId"], "afterSequence": 0}],
        }
        return {"type": "frame", "frame": frame}

    def crash(self) -> None:
        pass

    def restart(self) -> None:
        pass

    def shutdown(self) -> None:
        pass

    def stderr_tail(self) -> str:
        return ""

    def kinds(self) -> list[str]:
        return [str(stimulus["type"]) for stimulus in self.heard]

    def frames(self) -> list[JsonObject]:
        return [frame for one in self.heard for frame in one.get("frames", [])]


Play = Callable[..., tuple[World, Subscriber]]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    def played(*steps: str) -> tuple[World, Subscriber]:
        workspace = Path(mkdtemp(dir=tmp_path))
        scenario = load_text(HEAD + "".join(f"  - {step}\n" for step in steps), "test.yaml")
        port = Subscriber()
        world = World(scenario, port, Parameters(), 1, workspace)
        for step in scenario.steps:
            perform(world, step.action)
        return world, port

    return played


def events_of(port: Subscriber, world: World, group: str) -> list[int]:
    group_id = world.organization.group(group).group_id
    events = [frame["event"] for frame in port.frames() if "event" in frame]
    return [event["sequence"] for event in events if event.get("groupId") == group_id]


def test_a_group_is_silent_until_it_is_joined_and_after_it_is_left(play: Play) -> None:
    world, port = play("publish: {B: [message]}")
    assert events_of(port, world, "B") == []
    world, port = play("join: B", "leave: B", "publish: {B: [message]}")
    assert events_of(port, world, "B") == [1, 2]
    assert port.kinds()[-1] == "leave"
    world, port = play("leave: A", "join: A")
    assert events_of(port, world, "A") == [1, 2, 3, 4, 1, 2, 3, 4]


def test_a_group_that_was_left_is_not_in_the_next_start(play: Play) -> None:
    _, port = play("leave: A", "stop", "start")
    assert port.heard[-2]["type"] == "stop"
    assert port.heard[-1]["groups"] == []


def test_the_wall_clock_is_told_once_it_was_set(play: Play) -> None:
    _, port = play("clock: {behind: 1h}", "advance: 10s", "clock: right", "advance: 10s")
    told = [(one["now"], one["wallClock"]) for one in port.heard if "wallClock" in one]
    assert told[0] == (text_of(0), text_of(-3_600 * SECOND))
    assert told[1] == (text_of(10 * SECOND), text_of(-3_590 * SECOND))
    assert told[-1] == (text_of(20 * SECOND), text_of(20 * SECOND))


def test_the_registry_is_told_whole(play: Play) -> None:
    _, port = play("keys: {rotate: group-authority}")
    start, keys = port.heard[0], port.heard[-1]
    assert keys["type"] == "keys"
    assert len(keys["keys"]) == len(start["organization"]["keys"]) + 1
    assert keys["authorized"] == start["organization"]["authorized"]


def test_a_change_of_the_registry_before_a_start_is_in_the_start(play: Play) -> None:
    _, port = play("stop", "keys: {rotate: group-authority}", "card: 7", "start")
    assert "keys" not in port.kinds()
    again = port.heard[-4:]
    start = next(one for one in again if one["type"] == "start")
    assert len(start["organization"]["keys"]) == 11
    assert start["agent"]["agentCardVersion"] == 7


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ("card: 4", "ext.missionweaveprotocol.registry.agent_card_registered"),
        ("session: announced", "ext.missionweaveprotocol.identity.session_opened"),
        ("session: replaced", "ext.missionweaveprotocol.identity.session_opened"),
    ],
)
def test_organization_events_arrive_without_a_group(play: Play, step: str, kind: str) -> None:
    world, port = play(step)
    event = port.frames()[-1]["event"]
    assert (event["kind"], event.get("groupId"), event.get("sequence")) == (kind, None, None)
    assert world.organization.session_epoch == (2 if step.endswith("replaced") else 1)


def test_backpressure_is_an_error_without_a_command(play: Play) -> None:
    world, port = play("backpressure: {A: 30s}")
    error = port.frames()[-1]["error"]
    assert (error["code"], error["retryAfterMs"]) == ("BACKPRESSURE", 30_000)
    assert error["groupId"] == world.organization.group("A").group_id
    assert "relatedActionId" not in error


def test_raw_bytes_arrive_as_they_are(play: Play) -> None:
    _, port = play("raw: {A: 4, how: byte_order_mark}")
    assert set(port.frames()[-1]) == {"bytes"}


def test_a_step_that_cannot_be_played_is_out_of_reach(play: Play) -> None:
    with pytest.raises(OutOfReach):
        play("token: {a1: issued}")


def test_a_delayed_replay_is_caught_up_when_it_has_arrived(play: Play) -> None:
    world, port = play("stop", "network: {A: {delay: 5s}}", "start")
    before = port.kinds()
    assert before[-1] == "start"
    world.advance(5)
    assert port.kinds()[len(before) :] == ["tick", "frames", "caught_up", "tick"]


def test_a_flapping_link_is_told_each_time(play: Play) -> None:
    world, port = play("network: {A: {cut: 10s, every: 60s}}", "advance: 2m")
    states = [one["state"] for one in port.heard if one["type"] == "link"]
    assert states == ["down", "up", "down", "up"]
    notes = [one for one in world.trace if one.kind is EntryKind.NOTE]
    assert sum(one.body["note"] == "link" for one in notes) == 4
