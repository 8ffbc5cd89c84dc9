"""What a vector asks of a run: conditions, answered from the Trace.

Each condition falls into atoms (one WorkItem, one Group, one count). An atom holds, does not hold,
or cannot be told because the Worker showed nothing by which to tell it. Moods are the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import cast

from attrs import field, frozen

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.judge.folding import in_a_row
from worker_conformance.judge.privacy.routes import EVERYBODY, Route
from worker_conformance.judge.privacy.watch import PrivacyWatch, leaks_between
from worker_conformance.judge.reading import (
    WORDS_OF_COMMANDS,
    WORDS_OF_EFFECTS,
    command_of,
    kind_of,
    positions_in,
    strings_in,
    work_item_of,
)
from worker_conformance.judge.trace import Entry, EntryKind, NoteKind, Trace
from worker_conformance.scenario.model import ACKED, END, Condition, ConditionKind

_ENDS_IN_REPORTS = frozenset({"completed", "failed", "blocked"})
_ENDS_IN_EFFECTS = frozenset({"pause", "cancel", "release"})


@frozen
class Atom:
    """One answer. `holds` is None where it cannot be told, and `observed` says why."""

    asked: str
    holds: bool | None
    observed: str


@frozen(slots=False)
class View:
    """A Trace at the moment of looking, the window being what lies after `window_start`.

    `ends` is the last sequence of each Group's log, `markers` the texts that belong to one Group
    alone.
    """

    trace: Trace
    window_start: int
    name_of: Callable[[str], str | None]
    work_ids: Mapping[str, str]
    renewal_kind: str
    ends: Mapping[str, int] = field(factory=dict)
    markers: Mapping[str, tuple[str, ...]] = field(factory=dict)

    @cached_property
    def window(self) -> Sequence[Entry]:
        """The entries of the window."""
        return self.trace.since(self.window_start)

    @cached_property
    def words(self) -> list[tuple[str, str]]:
        """`(word, WorkItem name)` of every Command and effect in the window, in order.

        A Command that is sent again under its Action ID is still the same Command.
        """
        words: list[tuple[str, str]] = []
        sent: set[str] = set()
        for entry in self.window:
            if entry.kind is not EntryKind.EFFECT:
                continue
            action_id = find(entry.body, "frame", "command", "actionId")
            if isinstance(action_id, str):
                if action_id in sent:
                    continue
                sent.add(action_id)
            words.extend(self._words(entry.body))
        return words

    def _words(self, effect: JsonObject) -> Iterator[tuple[str, str]]:
        command = command_of(effect)
        word = str(effect.get("type"))
        about = effect
        if command is not None:
            kind = kind_of(command)
            word = "renew" if kind == self.renewal_kind else WORDS_OF_COMMANDS.get(kind, kind)
            about = command
        elif word not in WORDS_OF_EFFECTS:
            return
        elif word == "operation" and "refused" in effect:
            word = "refuse"
        work_item_id = work_item_of(about, set(self.work_ids.values()))
        name = (self.name_of(work_item_id) if work_item_id else None) or "?"
        yield word, name
        if word == "run" and "resumeFrom" in effect:
            yield "resume", name


def atoms_of(condition: Condition, view: View) -> tuple[Atom, ...]:
    """Answer one condition that the Trace alone decides (FAIR and SERVED_WITHIN are elsewhere)."""
    return tuple(_ANSWERS.get(condition.kind, _word_atoms)(condition, view))


def _word_atoms(condition: Condition, view: View) -> Iterator[Atom]:
    word = condition.kind.value
    for name in cast("Iterable[str]", condition.value):
        yield Atom(f"{word} {name}", (word, name) in view.words, _seen(view, name))


def _seen(view: View, name: str) -> str:
    words = [word for word, about in view.words if about == name]
    return f"{name}: {in_a_row(words)}" if words else f"nothing about {name}"


def _decline_atoms(condition: Condition, view: View) -> Iterator[Atom]:
    if not isinstance(condition.value, Mapping):
        yield from _word_atoms(condition, view)
        return
    reasons = {
        view.name_of(str(entry.body.get("workItemId"))): entry.body.get("reason")
        for entry in view.window
        if entry.kind is EntryKind.EFFECT and entry.body.get("type") == "decline"
    }
    for name, reason in condition.value.items():
        observed = f"declined for {reasons[name]}" if name in reasons else _seen(view, str(name))
        yield Atom(f"decline {name} for {reason}", reasons.get(name) == reason, observed)


def _position_atoms(condition: Condition, view: View) -> Iterator[Atom]:
    """The last position of each Group; ACKs that lag leave the question open.

    How long an ACK may lag is declared, and that one comes at all is a SHOULD: a lower position is
    no breach. `afterSequence` is the durable Cursor itself, so there a lower one is.
    """
    frame_type = condition.kind.value.upper()
    for group, wanted in cast("Mapping[str, int]", condition.value).items():
        told = _positions(view, group)
        seen = [position for kind, position in told if kind == frame_type]
        if not seen:
            yield Atom(f"{frame_type} {group}", None, f"no {frame_type} for Group {group} at all")
        elif wanted == ACKED:
            yield _not_below_ack(group, told)
        else:
            yield _position_atom(
                condition.kind, group, view.ends[group] if wanted == END else wanted, seen[-1]
            )


def _positions(view: View, group: str) -> list[tuple[str, int]]:
    return [
        (kind, position)
        for entry in view.trace
        if entry.kind is EntryKind.EFFECT
        for kind, group_id, position in positions_in(entry.body)
        if view.name_of(group_id) == group
    ]


def _position_atom(kind: ConditionKind, group: str, wanted: int, seen: int) -> Atom:
    asked = f"{kind.value.upper()} {group}:{wanted}"
    if kind is ConditionKind.ACK and seen < wanted:
        return Atom(asked, None, f"the last ACK of Group {group} is {seen}")
    return Atom(asked, seen == wanted, f"{kind.value.upper()} {group}:{seen}")


def _not_below_ack(group: str, told: Sequence[tuple[str, int]]) -> Atom:
    """Whether the last SUBSCRIBE begins no lower than the last ACK before it."""
    last = max(place for place, (kind, _) in enumerate(told) if kind == "SUBSCRIBE")
    acked = max((position for kind, position in told[:last] if kind == "ACK"), default=0)
    seen = told[last][1]
    asked = f"SUBSCRIBE {group} at its last ACK ({acked}) or above"
    return Atom(asked, seen >= acked, f"SUBSCRIBE {group}:{seen}")


def _running_atoms(condition: Condition, view: View) -> Iterator[Atom]:
    running = set(_running(view.trace))
    names = {view.name_of(work_item_id) or work_item_id for work_item_id in running}
    wanted = condition.kind is ConditionKind.RUNNING
    observed = f"running: {', '.join(sorted(names)) or 'nothing'}"
    for name in cast("Iterable[str]", condition.value):
        asked = f"{name} {'runs' if wanted else 'does not run'}"
        yield Atom(asked, (name in names) == wanted, observed)


def _running(trace: Trace) -> Iterable[str]:
    """What runs at the end; at a safe point it stands for as long as a `preempt` is outstanding."""
    by_slot: dict[str, str] = {}
    preempting: set[str] = set()
    standing: set[str] = set()
    for entry in trace:
        body, slot = entry.body, str(entry.body.get("slotId"))
        if entry.kind is EntryKind.NOTE and body["note"] in {NoteKind.CRASHED, NoteKind.STOPPED}:
            by_slot.clear()
        elif entry.kind is EntryKind.EFFECT and body.get("type") == "run":
            by_slot[slot] = str(body.get("workItemId"))
            preempting.discard(slot)
            standing.discard(slot)
        elif entry.kind is EntryKind.EFFECT and body.get("type") == "preempt":
            preempting.add(slot)
        elif entry.kind is EntryKind.EFFECT and body.get("type") == "continue":
            preempting.discard(slot)
            standing.discard(slot)
        elif find(body, "report", "kind") == "safe_point" and slot in preempting:
            standing.add(slot)
        elif body.get("type") in _ENDS_IN_EFFECTS or (
            body.get("type") == "execution" and find(body, "report", "kind") in _ENDS_IN_REPORTS
        ):
            by_slot.pop(slot, None)
    return [item for slot, item in by_slot.items() if slot not in standing]


def _state_atoms(condition: Condition, view: View) -> Iterator[Atom]:
    """The state in which the Group's record shows a WorkItem now."""
    states = {
        entry.body["work"]: entry.body["state"]
        for entry in view.trace
        if entry.kind is EntryKind.NOTE
        and entry.body["note"] == NoteKind.APPENDED
        and entry.body["state"] is not None
    }
    for name, wanted in cast("Mapping[str, str]", condition.value).items():
        seen = states.get(name, "not there")
        yield Atom(f"{name} is {wanted}", seen == wanted, f"{name} is {seen}")


def _order_atoms(condition: Condition, view: View) -> Iterator[Atom]:
    wanted = cast("Sequence[str]", condition.value)
    seen = [f"{word} {name}" for word, name in view.words]
    rest = iter(seen)
    holds = all(step in rest for step in wanted)
    told = in_a_row(seen) or "nothing"
    yield Atom(f"in this order: {', '.join(wanted)}", holds, f"seen: {told}")


def _count_atoms(condition: Condition, view: View) -> Iterator[Atom]:
    for step, count in cast("Mapping[str, int]", condition.value).items():
        word, _, name = step.partition(" ")
        seen = view.words.count((word, name))
        yield Atom(f"{step}: {count} time(s)", seen == count, f"{step}: {seen} time(s)")


def _lease_atoms(condition: Condition, view: View) -> Iterator[Atom]:
    for name, ordinal in cast("Mapping[str, int]", condition.value).items():
        leases = [
            str(entry.body["lease"])
            for entry in view.trace
            if entry.kind is EntryKind.NOTE
            and entry.body["note"] == NoteKind.APPENDED
            and entry.body["kind"] == "work.started"
            and entry.body["work"] == name
        ]
        asked = f"a Command or operation names lease {ordinal} of {name}"
        if len(leases) < ordinal:
            yield Atom(asked, None, f"{name} was granted {len(leases)} lease(s)")
            continue
        naming = [_told(entry.body) for entry in view.window if _names(entry, leases[ordinal - 1])]
        yield Atom(asked, bool(naming), f"named by: {', '.join(naming) or 'nothing'}")


def _names(entry: Entry, lease_id: str) -> bool:
    if entry.kind is not EntryKind.EFFECT:
        return False
    command = command_of(entry.body)
    if command is not None:
        return lease_id in strings_in(command.get("payload"))
    is_operation = entry.body.get("type") == "operation" and "refused" not in entry.body
    return is_operation and entry.body.get("leaseId") == lease_id


def _told(effect: JsonObject) -> str:
    command = command_of(effect)
    return kind_of(command) if command is not None else str(effect.get("type"))


def _leak_atoms(condition: Condition, view: View) -> Iterator[Atom]:
    watched = PrivacyWatch(view.markers, {}, view.name_of)
    receipts = [receipt for _, receipt in leaks_between(view.trace, watched)]
    for receiver, owners in cast("Mapping[str, Sequence[str]]", condition.value).items():
        received = [one for one in receipts if one.receiver in (receiver, EVERYBODY)]
        said = [one for one in received if one.route in _SAYING]
        for owner in owners:
            leaks = [leak for one in received for leak in one.leaks if leak.owner == owner]
            asked = f"Group {receiver} receives something of Group {owner}"
            if not said:
                yield Atom(asked, None, f"Group {receiver} received nothing at all")
            else:
                yield Atom(asked, bool(leaks), f"found: {leaks[0] if leaks else 'nothing'}")


_SAYING = frozenset({Route.COMMAND, Route.ESTIMATE, Route.DECLINE, Route.REJECTION, Route.SLOT})
"""Routes by which a Group is told anything at all: more than where its log has come to."""


def _pong_atoms(_: Condition, view: View) -> Iterator[Atom]:
    sent = [
        find(frame, "nonce")
        for entry in view.trace
        if entry.kind is EntryKind.STIMULUS and entry.body.get("type") == "frames"
        for frame in cast("list[JsonObject]", entry.body["frames"])
        if frame.get("frameType") == "PING" and "replyToNonce" not in frame
    ]
    answered = [
        find(entry.body, "frame", "replyToNonce")
        for entry in view.trace
        if entry.kind is EntryKind.EFFECT and find(entry.body, "frame", "frameType") == "PING"
    ]
    holds = bool(sent) and sent[-1] in answered
    yield Atom("the last PING is answered with its nonce", holds, f"answered: {answered}")


def _one_key_atoms(condition: Condition, view: View) -> Iterator[Atom]:
    """One operation, carried out at least twice in the whole history, under one key."""
    for name, operation_id in cast("Mapping[str, str]", condition.value).items():
        keys = [
            key
            for about, operation, key in _operations(view)
            if (about, operation) == (name, operation_id)
        ]
        asked = f"{operation_id} of {name} is always carried out under one idempotency key"
        if len(keys) < 2:
            yield Atom(asked, None, f"{operation_id} of {name} was carried out {len(keys)} time(s)")
        else:
            yield Atom(asked, len(set(keys)) == 1, f"keys: {', '.join(dict.fromkeys(keys))}")


def _keys_apart_atoms(condition: Condition, view: View) -> Iterator[Atom]:
    """WorkItems whose operations share no idempotency key."""
    names = cast("Sequence[str]", condition.value)
    keys = {name: {key for about, _, key in _operations(view) if about == name} for name in names}
    asked = f"no idempotency key in common: {', '.join(names)}"
    silent = [name for name in names if not keys[name]]
    if silent:
        yield Atom(asked, None, f"no operation of {', '.join(silent)} was carried out")
        return
    shared = sum(map(len, keys.values())) - len(set().union(*keys.values()))
    yield Atom(asked, shared == 0, f"{shared} key(s) in common")


def _operations(view: View) -> Iterator[tuple[str | None, object, str]]:
    """WorkItem, operation and idempotency key of everything that was carried out."""
    for entry in view.trace:
        effect = entry.body
        carried_out = entry.kind is EntryKind.EFFECT and effect.get("type") == "operation"
        if carried_out and "refused" not in effect:
            name = view.name_of(str(effect.get("workItemId")))
            yield name, effect.get("operationId"), str(effect.get("idempotencyKey"))


_ANSWERS: Mapping[ConditionKind, Callable[[Condition, View], Iterator[Atom]]] = {
    ConditionKind.DECLINE: _decline_atoms,
    ConditionKind.ACK: _position_atoms,
    ConditionKind.SUBSCRIBE: _position_atoms,
    ConditionKind.RUNNING: _running_atoms,
    ConditionKind.NOT_RUNNING: _running_atoms,
    ConditionKind.STATE: _state_atoms,
    ConditionKind.ORDER: _order_atoms,
    ConditionKind.COUNT: _count_atoms,
    ConditionKind.NAMES_LEASE: _lease_atoms,
    ConditionKind.LEAKS: _leak_atoms,
    ConditionKind.PONG: _pong_atoms,
    ConditionKind.ONE_KEY: _one_key_atoms,
    ConditionKind.KEYS_APART: _keys_apart_atoms,
}
