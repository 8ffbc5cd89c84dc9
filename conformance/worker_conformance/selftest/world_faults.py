"""Twenty faults that generated worlds must find, fixed before the generators were tuned.

Each is the reference Worker with one mistake of the kind that survives example-based tests: it
needs a certain history before it shows. No vector was written for any of them before generated
worlds had found it; since then REPLAY-0064 and REPLAY-0066 show two of them besides. Never changed
to suit the generators; a fault that they miss stays in the list and is counted as missed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve

from worker_conformance.selftest.copies import Altered, Parts, altered, notes

# The copy's own types are known to the copy alone: alterations take its values as they come.
SNAPSHOT = "group.snapshot.created"


# --- Snapshots: what is not restored ------------------------------------------------------


@altered
def snapshot_forgets_approvals(parts: Parts) -> None:
    """Restores WorkItems and Memberships from a Snapshot, but no approvals."""
    parts.replace("replay._restore_approval", lambda *_: None)


@altered
def snapshot_forgets_checkpoints(parts: Parts) -> None:
    """Restores a WorkItem from a Snapshot without its Checkpoint, and begins it anew."""
    absorb = parts.get("facts.absorb")

    def without(turn: Any, group: Any, document: Any, payload: Any, event: Any) -> None:
        if event["kind"] == SNAPSHOT:
            payload = {**payload, "checkpoint": None}
        absorb(turn, group, document, payload, event)

    parts.replace("facts.absorb", without)


@altered
def snapshot_forgets_ended_work(parts: Parts) -> None:
    """Restores only what it works on: how finished WorkItems ended is not kept."""
    absorb = parts.get("facts.absorb")

    def forgetful(turn: Any, group: Any, document: Any, payload: Any, event: Any) -> None:
        absorb(turn, group, document, payload, event)
        if event["kind"] == SNAPSHOT:
            turn.projection.new_standings.pop((group.group_id, document["workItemId"]), None)

    parts.replace("facts.absorb", forgetful)


# --- crashes: what is held in memory only -------------------------------------------------


def _not_written(parts: Parts, **blank: object) -> None:
    """Write WorkItems without some of their members; in memory they are whole."""
    to_row = parts.get("journal.to_row")

    def partly(record: Any) -> Any:
        if all(hasattr(record, name) for name in blank):
            record = evolve(record, **blank)
        return to_row(record)

    parts.replace("journal.to_row", partly)


@altered
def approvals_lost_by_a_crash(parts: Parts) -> None:
    """Keeps granted approvals in memory only."""
    _not_written(parts, approvals=())


@altered
def checkpoint_lost_by_a_crash(parts: Parts) -> None:
    """Keeps the latest Checkpoint of a WorkItem in memory only."""
    _not_written(parts, checkpoint=None)


@altered
def attempts_lost_by_a_crash(parts: Parts) -> None:
    """Counts failed attempts in memory: after a crash they all begin again."""
    _not_written(parts, failures=0)


@altered
def ended_work_lost_by_a_crash(parts: Parts) -> None:
    """Knows how finished WorkItems ended only until the next crash."""
    commit = parts.get("journal.Journal.commit")

    def remembering(journal: Any, projection: Any) -> None:
        memory = journal.__dict__.setdefault("memory", {})
        memory.update(projection.new_standings)
        commit(journal, projection)

    def recalled(journal: Any, *key: str) -> Any:
        return journal.__dict__.get("memory", {}).get(key)

    parts.replace("journal.Journal.commit", remembering)
    parts.replace("journal.Journal.standing", recalled)


# --- epochs: what is not brought up to date -----------------------------------------------


def _only_compares(parts: Parts, compared: Callable[[Any, Any, Any], bool]) -> None:
    def current(turn: Any, command: Any) -> bool:
        group = turn.group(command.group_id)
        return group is not None and compared(turn, command, group)

    parts.replace("outbox._has_current_epochs", current)


@altered
def resends_under_the_old_session(parts: Parts) -> None:
    """Sends an unanswered Command again as it was, though a new session has begun."""
    _only_compares(
        parts, lambda _, command, group: command.membership_epoch == group.membership_epoch
    )


@altered
def resends_under_the_old_membership(parts: Parts) -> None:
    """Sends an unanswered Command again as it was, though its Membership Epoch has moved."""
    _only_compares(
        parts,
        lambda turn, command, _: command.session_epoch == turn.projection.session.session_epoch,
    )


@altered
def resends_the_acceptance_of_a_lost_offer(parts: Parts) -> None:
    """Sends an unanswered acceptance again, though its offer has been withdrawn meanwhile."""
    is_stale = parts.get("outbox.is_stale")

    def stubborn(turn: Any, command: Any, item: Any) -> bool:
        return command.kind != "work.accept_offer" and bool(is_stale(turn, command, item))

    parts.replace("outbox.is_stale", stubborn)


@altered
def approval_of_an_earlier_ownership(parts: Parts) -> None:
    """Takes an approval for any Ownership Epoch of its WorkItem."""
    is_gated = parts.get("eligibility.is_gated")

    def is_gate_open(turn: Any, item: Any) -> bool:
        return not is_gated(turn, item) or any(turn.now < one.expires_at for one in item.approvals)

    parts.replace("eligibility.is_gate_open", is_gate_open)


@altered
def approval_never_expires(parts: Parts) -> None:
    """Takes an approval that has run out for a valid one."""
    is_gated = parts.get("eligibility.is_gated")

    def is_gate_open(turn: Any, item: Any) -> bool:
        epoch = item.ownership.epoch if item.ownership else 0
        granted = any(one.ownership_epoch == epoch for one in item.approvals)
        return not is_gated(turn, item) or granted

    parts.replace("eligibility.is_gate_open", is_gate_open)


# --- slots and queues ---------------------------------------------------------------------


@altered
def quota_counts_only_what_runs(parts: Parts) -> None:
    """Counts running work against a quota, and not the starts that are under way."""

    def is_below_quota(turn: Any, group_id: str) -> bool:
        quota = turn.runtime.policy.quota(group_id)
        used = sum(run.group_id == group_id for run in turn.runtime.runs.values())
        return quota is None or used < quota

    parts.replace("slots._is_below_quota", is_below_quota)


@altered
def completion_lost_while_preempting(parts: Parts) -> None:
    """Waits for a safe point so hard that it does not hear of the work's completion."""
    phase = parts.get("runtime.Phase")
    moves = dict(parts.get("slots.MOVES"))
    del moves[phase.PREEMPTING, "close"]
    parts.replace("slots.MOVES", moves)


@altered
def unblocking_lost_in_a_replay(parts: Parts) -> None:
    """Goes on with blocked work only where it hears live of the unblocking."""
    table = parts.get("facts.FACTS")
    unblocked = table["work.unblocked"]

    def when_live(turn: Any, group: Any, event: Any) -> None:
        if turn.is_live(group.group_id):
            unblocked(turn, group, event)

    table["work.unblocked"] = when_live


@altered
def lowered_limit_drops_accepted_work(parts: Parts) -> None:
    """When policy lowers the limit of queued items, forgets what is above it."""
    policy = parts.get("sessions.policy")

    def trimming(turn: Any, stimulus: Any) -> None:
        policy(turn, stimulus)
        waiting = list(turn.runtime.waiting)
        for work_item_id in waiting[turn.runtime.policy.queued_max() :]:
            item = turn.item(work_item_id)
            if item is not None:
                parts.get("facts.forget")(turn, item.group_id, work_item_id, "cancelled")

    parts.replace("sessions.policy", trimming)
    parts.module("worker").STIMULI["policy"] = trimming


@altered
def checkpoint_kept_by_group(parts: Parts) -> None:
    """Keeps the latest Checkpoint of a Group, and resumes any of its WorkItems from it."""
    checkpointed, run = parts.get("slots._is_checkpointed"), parts.get("slots._run")

    def noted(turn: Any, one: Any, item: Any) -> bool:
        done = bool(checkpointed(turn, one, item))
        if done:
            notes(turn)[item.group_id] = item.checkpoint
        return done

    def resumed(turn: Any, item: Any) -> None:
        latest = notes(turn).get(item.group_id)
        run(turn, item if latest is None else evolve(item, checkpoint=latest))

    parts.replace("slots._is_checkpointed", noted)
    parts.replace("slots._run", resumed)


# --- identity, Membership, links ----------------------------------------------------------


@altered
def identifiers_restart_with_the_disk(parts: Parts) -> None:
    """Numbers what it makes, and begins at one again when its disk is lost."""

    def identifier(turn: Any, what: str, group_id: str) -> str:
        group, session = turn.group(group_id), turn.projection.session
        count = session.identifiers + 1
        turn.projection.session = evolve(session, identifiers=count)
        place = "none" if group is None else group.group_id.rpartition("-")[2]
        return f"urn:missionweaveprotocol:worker:{what}:{place}-{count}"

    parts.replace("turn.Turn.identifier", identifier)


@altered
def ended_membership_unnoticed(parts: Parts) -> None:
    """Takes the end of its Membership for one more change of it."""
    absorb = parts.get("facts.absorb_membership")

    def benevolent(turn: Any, group: Any, document: Any) -> None:
        absorb(turn, group, {**document, "state": "active"})

    parts.replace("facts.absorb_membership", benevolent)


@altered
def one_cut_link_cuts_all(parts: Parts) -> None:
    """When one Group's link is cut, waits for all of them, and then asks only that one again."""
    link = parts.get("sessions.link")

    def coupled(turn: Any, stimulus: Any) -> None:
        if stimulus["state"] == "down" and "groupIds" in stimulus:
            stimulus = {**stimulus, "groupIds": list(turn.runtime.links)}
        link(turn, stimulus)

    parts.replace("sessions.link", coupled)
    parts.module("worker").STIMULI["link"] = coupled


FAULTS: Mapping[str, Altered] = {
    one.__name__: one
    for one in (
        snapshot_forgets_approvals,
        snapshot_forgets_checkpoints,
        snapshot_forgets_ended_work,
        approvals_lost_by_a_crash,
        checkpoint_lost_by_a_crash,
        attempts_lost_by_a_crash,
        ended_work_lost_by_a_crash,
        resends_under_the_old_session,
        resends_under_the_old_membership,
        resends_the_acceptance_of_a_lost_offer,
        approval_of_an_earlier_ownership,
        approval_never_expires,
        quota_counts_only_what_runs,
        completion_lost_while_preempting,
        unblocking_lost_in_a_replay,
        lowered_limit_drops_accepted_work,
        checkpoint_kept_by_group,
        identifiers_restart_with_the_disk,
        ended_membership_unnoticed,
        one_cut_link_cuts_all,
    )
}
"""The faults by name."""

FOUND_BY: Mapping[str, str] = {
    "snapshot_forgets_approvals": "PROP-0017",
    "snapshot_forgets_checkpoints": "PROP-0017",
    "snapshot_forgets_ended_work": "PROP-0017",
    "approvals_lost_by_a_crash": "PROP-0013",
    "checkpoint_lost_by_a_crash": "PROP-0007",
    "attempts_lost_by_a_crash": "PROP-0008",
    "ended_work_lost_by_a_crash": "PROP-0013",
    "resends_under_the_old_session": "PROP-0003",
    "resends_under_the_old_membership": "PROP-0004",
    "resends_the_acceptance_of_a_lost_offer": "PROP-0004",
    "quota_counts_only_what_runs": "PROP-0006",
    "completion_lost_while_preempting": "PROP-0006",
    "unblocking_lost_in_a_replay": "PROP-0019",
    "lowered_limit_drops_accepted_work": "PROP-0006",
    "checkpoint_kept_by_group": "PROP-0007",
    "identifiers_restart_with_the_disk": "PROP-0003",
    "ended_membership_unnoticed": "PROP-0004",
    "one_cut_link_cuts_all": "PROP-0020",
}
"""The property that is about a fault. Two have none: see the tests, which name the reason."""
