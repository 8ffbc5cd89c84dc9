"""What each step of a scenario does to the World.

`Check` does nothing here: looking is judging, and stands in `play`.
"""

from __future__ import annotations

from worker_conformance.scenario import model
from worker_conformance.scenario.around import SURROUNDINGS
from worker_conformance.suite.drivers import drive
from worker_conformance.suite.surroundings import surround
from worker_conformance.suite.world import World


def perform(world: World, action: model.Action) -> None:
    """Carry out one action; a `Check` changes nothing."""
    match action:
        case model.Start():
            world.start()
        case model.Stop():
            world.stop()
        case model.Crash():
            world.crash()
        case model.CrashDuring(sequences=sequences):
            world.crash_during(sequences)
        case model.Wipe():
            world.wipe()
        case model.Mark():
            world.mark()
        case model.Advance(seconds=seconds):
            world.advance(seconds)
        case model.Drive():
            drive(world, action)
        case _ if isinstance(action, SURROUNDINGS):
            surround(world, action)
        case _:
            _on_the_network(world, action)


def _on_the_network(world: World, action: model.Action) -> None:
    match action:
        case model.Deliver(sequences=sequences, one_by_one=one_by_one):
            world.deliver(sequences, one_by_one=one_by_one)
        case model.Delivery(mode=mode):
            world.delivery.automatic = mode == "auto"
            world.settle()
        case model.Forge(group=group, sequence=sequence, how=how):
            world.forge(group, None if sequence == model.END else sequence, how)
        case model.Ping():
            world.ping()
        case model.Link(state=state, groups=groups):
            world.link(state, groups)
        case _:
            _in_the_organization(world, action)


def _in_the_organization(world: World, action: model.Action) -> None:
    match action:
        case model.Publish(acts=acts):
            world.publish(acts)
        case model.SetPolicy():
            world.organization.set_policy(action)
            world.send_policy()
        case model.Report():
            world.report(action)
        case model.Answer():
            world.organization.script_answer(action)
        case model.Truncate(group=group, through=through, snapshot=snapshot):
            world.organization.group(group).truncate(through, snapshot)
        case _:
            pass
