"""Runtime sessions: start, join, leave, link, and what a new Session Epoch means.

Responsible for what changes around the Worker while its history stays. Never keeps a lease of a
former session alive (MWP-WRK-014).
"""

from __future__ import annotations

from reference_worker import facts, outbox, replay
from reference_worker.documents import Document
from reference_worker.policy import Policy
from reference_worker.preemption import challenge
from reference_worker.projection import Projection
from reference_worker.records import Flow, Group, Session, evolve
from reference_worker.runtime import Agent, GroupContext, Link, Runtime, read_authorized
from reference_worker.scheduler import FairScheduler
from reference_worker.signatures import KeyRing
from reference_worker.turn import Turn


def open_runtime(projection: Projection, stimulus: Document) -> Runtime:
    """The runtime of a new session over the projections of the former one."""
    agent, organization = Agent.read(stimulus["agent"]), stimulus["organization"]
    known = projection.sessions.get("self") or Session(agent.agent_id, 0)
    epoch = stimulus["sessionEpoch"]
    highest = max(known.session_epoch, known.fenced_by)
    fenced_by = highest if highest > epoch else 0
    card_version = max(known.card_version, agent.card_version)
    projection.session = evolve(
        known, session_epoch=epoch, fenced_by=fenced_by, card_version=card_version
    )
    tags: dict[tuple[str, str], tuple[int, int]] = {}
    for key in projection.flows.names():
        flow = projection.flows.get(key)
        group_id, _, class_name = key.partition("\n")
        if flow is not None:
            tags[group_id, class_name] = (flow.start, flow.cost)
    policy = Policy.read(organization.get("policy", {}))
    scheduler = FairScheduler(known.virtual_time, tags)
    scheduler.set_policy(policy)
    return Runtime(
        agent=agent,
        organization_id=organization["organizationId"],
        keys=KeyRing.of(organization["organizationId"], organization["keys"]),
        authorized=read_authorized(organization["authorized"]),
        policy=policy,
        scheduler=scheduler,
    )


def start(turn: Turn, stimulus: Document) -> None:
    """A runtime session begins: subscribe to every Group after its durable Cursor."""
    for command in turn.projection.commands:
        of_item = turn.runtime.outstanding.setdefault(command.work_item_id, {})
        of_item[command.action_id] = None
    for item in turn.projection.items:
        for dependency in item.contract.dependencies:
            dependents = turn.runtime.dependents.setdefault(dependency, {})
            dependents[item.work_item_id] = None
    for entry in stimulus["groups"]:
        _enter(turn, entry)
    turn.touch_all()


def join(turn: Turn, stimulus: Document) -> None:
    """The adapter subscribes to one more Group."""
    _enter(turn, stimulus["group"])
    turn.touch_groups(stimulus["group"]["groupId"])


def leave(turn: Turn, stimulus: Document) -> None:
    """The adapter's subscription to a Group ends; the Group's projections stay on disk."""
    group_id = stimulus["groupId"]
    turn.runtime.links.pop(group_id, None)
    turn.runtime.cut_at.pop(group_id, None)
    turn.runtime.contexts.pop(group_id, None)
    turn.runtime.buffers.pop(group_id, None)
    _give_up_starts(turn)
    turn.touch_groups(group_id)


def _enter(turn: Turn, entry: Document) -> None:
    group_id, membership = entry["groupId"], entry["membership"]
    before_first = max(1, membership["visibilityStartSequence"]) - 1
    known = turn.group(group_id)
    if known is None:
        known = Group(
            group_id=group_id,
            mission_id=entry["missionId"],
            conversation_id=entry["conversationId"],
            cursor=before_first,
            membership_epoch=0,
            membership_state="ended",
            scopes=(),
            full_history=before_first == 0,
        )
    elif membership["membershipEpoch"] > known.membership_epoch and before_first > known.cursor:
        # A new Membership that shows less history: what it hides will never be delivered.
        known = evolve(known, cursor=before_first, full_history=False)
    turn.projection.groups.put(group_id, known)
    facts.absorb_membership(turn, known, membership)
    turn.runtime.contexts[group_id] = GroupContext(
        entry.get("missionContext", {}), entry.get("credentials", {})
    )
    replay.subscribe(turn, group_id)


def link(turn: Turn, stimulus: Document) -> None:
    """The connection, or some Groups' part of it, went down or came up."""
    group_ids = stimulus.get("groupIds")
    if stimulus["state"] == "down":
        for group_id in group_ids or list(turn.runtime.links):
            if group_id in turn.runtime.links:
                turn.runtime.links[group_id] = Link.CUT
                turn.runtime.cut_at.setdefault(group_id, turn.now)
        _give_up_starts(turn)
    else:
        if group_ids is None:
            _reconnected(turn, stimulus)
        for group_id in group_ids or list(turn.runtime.links):
            if group_id in turn.runtime.links:
                turn.runtime.cut_at.pop(group_id, None)
                replay.subscribe(turn, group_id)
    turn.touch_all()


def _give_up_starts(turn: Turn) -> None:
    """A start that a cut or a leave left unanswered must not keep a slot from other Groups.

    If it was granted, the replay brings the lease and the item claims a slot; if not, it is decided
    anew, and goes out as it was where nothing has changed (MWP-EVT-003).
    """
    for work_item_id, (group_id, _) in list(turn.runtime.reservations.items()):
        if turn.runtime.links.get(group_id) in (None, Link.CUT):
            for command in outbox.outstanding(turn, work_item_id):
                if command.kind == outbox.START:
                    outbox.drop(turn, command)
                    if command.frame:
                        turn.runtime.given_up[work_item_id] = command


def _reconnected(turn: Turn, stimulus: Document) -> None:
    """A new handshake: a new Session Epoch, and every old lease is revoked."""
    session = turn.projection.session
    epoch = max(session.session_epoch, stimulus["sessionEpoch"])
    fenced_by = session.fenced_by if session.fenced_by > epoch else 0
    turn.projection.session = evolve(session, session_epoch=epoch, fenced_by=fenced_by)
    for entry in stimulus.get("memberships", ()):
        group = turn.group(entry["groupId"])
        if group is not None and entry["membershipEpoch"] > group.membership_epoch:  # MWP-EVT-001
            turn.change_group(
                group, membership_epoch=entry["membershipEpoch"], membership_state="active"
            )


def policy(turn: Turn, stimulus: Document) -> None:
    """A new policy, whole: order, quotas, gates and limits follow it at once."""
    before, after = turn.runtime.policy, Policy.read(stimulus["policy"])
    turn.runtime.policy = after
    turn.runtime.scheduler.set_policy(after)
    for item in turn.projection.items:
        key = (item.group_id, item.work_item_id)
        if after.rank(after.class_of(*key)) > before.rank(before.class_of(*key)):
            challenge(turn, item.work_item_id)
        turn.touch(item.work_item_id)
    _release_suspended(turn)


def keys(turn: Turn, stimulus: Document) -> None:
    """The registry changed. Bindings are immutable and history is kept, so records only add up."""
    turn.runtime.keys = turn.runtime.keys.extended(stimulus["keys"])
    if "authorized" in stimulus:
        turn.runtime.authorized = read_authorized(stimulus["authorized"])
    _release_suspended(turn)


def _release_suspended(turn: Turn) -> None:
    """What was refused may be tried again: the cause of the refusal may have been corrected."""
    for item in turn.projection.items:
        if item.suspended:
            turn.change(item, suspended=False, refusals=0)


def save_scheduler(turn: Turn) -> None:
    """Hand the Scheduler's tags to the projections, so that fairness survives a crash."""
    scheduler = turn.runtime.scheduler
    for name in scheduler.changed:
        turn.projection.flows.put("\n".join(name), Flow(*scheduler.tag(name)))
    scheduler.changed.clear()
    session = turn.projection.session
    if session.virtual_time != scheduler.virtual_time:
        turn.projection.session = evolve(session, virtual_time=scheduler.virtual_time)
