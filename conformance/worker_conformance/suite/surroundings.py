"""What a step about a Worker's surroundings does to the World.

Subscriptions, registry, clock, tokens, flow control, spelling and network. Never acts in a Group
(`World.publish` does) and never judges.
"""

from __future__ import annotations

from collections.abc import Iterable

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.errors import SuiteError
from worker_conformance.judge.trace import NoteKind
from worker_conformance.scenario import surroundings
from worker_conformance.scenario.clock import SECOND
from worker_conformance.suite.spelling import LAWFUL, TIMES, raw_frame
from worker_conformance.suite.world import OutOfReach, World


def surround(world: World, step: surroundings.Surrounding) -> None:
    """Carry out one step, and let everything that follows from it come to rest."""
    match step:
        case surroundings.SetClock(offset_seconds=seconds):
            world.set_clock(seconds * SECOND)
        case surroundings.SetFreshness(seconds=seconds):
            world.organization.set_freshness(seconds * SECOND)
        case surroundings.Network(groups=groups):
            for name, disturbance in groups.items():
                world.delivery.network.disturb(name, disturbance, world.now)
        case surroundings.Raw(group=group, sequence=sequence, how=how):
            _spell(world, group, sequence, how)
        case surroundings.Backpressure(groups=groups):
            for name, seconds in groups.items():
                _press_back(world, name, seconds * SECOND)
        case _:
            _tell(world, step)
    world.settle()


def _tell(world: World, step: surroundings.Surrounding) -> None:
    """Steps that the Worker is told by a stimulus of their own."""
    organization = world.organization
    match step:
        case surroundings.Join(groups=groups):
            for name in groups:
                _give(world, {"type": "join", **organization.join(name)})
        case surroundings.Leave(groups=groups):
            for name in groups:
                world.delivery.close((name,))
                _give(world, {"type": "leave", **organization.leave(name)})
        case surroundings.ChangeKeys():
            _give(world, {"type": "keys", **organization.change_keys(step, world.now)})
        case surroundings.ChangeToken():
            for stimulus in _tokens(world, step):
                _give(world, stimulus)
        case _:
            _announce(world, step)


def _tokens(world: World, step: surroundings.ChangeToken) -> Iterable[JsonObject]:
    try:
        return world.organization.change_token(step, world.now)
    except SuiteError as impossible:
        raise OutOfReach(impossible.cause) from impossible


def _announce(world: World, step: surroundings.Surrounding) -> None:
    """Deliver an Event that belongs to no Group."""
    organization = world.organization
    match step:
        case surroundings.RegisterCard():
            event = organization.register_card(step, world.now)
        case surroundings.AnnounceSession(replaced=replaced, another=another):
            if replaced:
                organization.replace_session(world.now)
            event = organization.session_opened_event(world.now, another=another)
        case _:
            raise SuiteError("unknown-step", f"nothing carries out {step!r}")
    if world.running and world.delivery.connected:
        world.send([organization.event_frame(event)])


def _give(world: World, stimulus: JsonObject) -> None:
    """Tell a runtime that is there; one that begins later learns the same from its `start`."""
    if world.running:
        world.call(stimulus)


def _press_back(world: World, group: str, length: int) -> None:
    error = world.organization.press_back(group, world.now + length, world.now)
    if world.delivery.reaches(group):
        world.send([world.organization.error_frame(error)])


def _spell(world: World, group: str, sequence: int, how: str) -> None:
    """Deliver an Event's bytes in another spelling; a wrong one states no fact."""
    if how == TIMES:
        world.organization.group(group).respell(sequence)
        world.deliver({group: (sequence,)})
        return
    if how == LAWFUL and world.delivery.reaches(group):
        frames = world.delivery.by_hand(group, (sequence,))
    else:
        frames = [world.delivery.frame(group, sequence)]
    if world.delivery.reaches(group):
        world.send([raw_frame(frame, how) for frame in frames])
    else:
        world.note(NoteKind.SWALLOWED, group=group, reason="not subscribed")
