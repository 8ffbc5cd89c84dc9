"""Faults of delivery: gaps, order, duplicates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from worker_conformance.documents.json_types import JsonObject, find, integer_at, text_at
from worker_conformance.judge.reading import frames_in, positions_in
from worker_conformance.scenario.model import ASIDES
from worker_conformance.selftest.copies import Parts, altered, notes
from worker_conformance.selftest.interposer import Interposer, effects_of, says
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.speaker import events_in, with_frames

# The copy's own types are known to the copy alone: alterations take its values as they come.
GAP_FORGIVEN_AFTER = 300 * 1_000_000  # microseconds
FRAMES_READ_MAX = 3


# --- order and gaps -----------------------------------------------------------------------


@altered
def cursor_over_a_gap(parts: Parts) -> None:
    """Takes each new Event for the next one, whatever its sequence number says."""
    sequence, process = parts.get("inbox._sequence"), parts.get("inbox._process")

    def at_once(turn: Any, group: Any, event: Any, digest: str) -> None:
        if event["sequence"] > group.cursor + 1:
            process(turn, group, event, digest)
        else:
            sequence(turn, group, event, digest)

    parts.replace("inbox._sequence", at_once)


@altered
def stops_without_a_handler(parts: Parts) -> None:
    """Goes no further where an Event is of a core kind that asks nothing of it."""
    process = parts.get("inbox._process")

    def handled(turn: Any, group: Any, event: Any, digest: str) -> None:
        if event["kind"] not in ASIDES:
            process(turn, group, event, digest)

    parts.replace("inbox._process", handled)


@altered
def gaps_between_asides_are_asides(parts: Parts) -> None:
    """Takes what is missing between two Events that ask nothing for a third of the kind."""
    sequence, process = parts.get("inbox._sequence"), parts.get("inbox._process")

    def at_once(turn: Any, group: Any, event: Any, digest: str) -> None:
        was_aside = notes(turn).get((group.group_id, "aside"), False)
        notes(turn)[group.group_id, "aside"] = event["kind"] in ASIDES
        if was_aside and event["kind"] in ASIDES and event["sequence"] > group.cursor + 1:
            process(turn, group, event, digest)
        else:
            sequence(turn, group, event, digest)

    parts.replace("inbox._sequence", at_once)


@altered
def gap_forgiven_after_a_while(parts: Parts) -> None:
    """Goes on without a missing Event once it has waited for it for five minutes."""
    tick, process = parts.get("replay.tick"), parts.get("inbox._process")

    def impatient(turn: Any, stimulus: Any) -> None:
        tick(turn, stimulus)
        waiting = notes(turn).setdefault("gaps", {})
        for group_id, buffer in turn.runtime.buffers.items():
            since = waiting.setdefault(group_id, turn.now) if buffer else turn.now
            if buffer and turn.now - since >= GAP_FORGIVEN_AFTER:
                for sequence in sorted(buffer):
                    process(turn, turn.group(group_id), *buffer.pop(sequence))

    parts.replace("replay.tick", impatient)
    parts.module("worker").STIMULI["tick"] = impatient
    _wake_at_gaps(parts)


def _wake_at_gaps(parts: Parts) -> None:
    buffered = parts.get("inbox._buffer")

    def watched(turn: Any, group: Any, event: Any, digest: str) -> None:
        buffered(turn, group, event, digest)
        notes(turn).setdefault("gaps", {}).setdefault(group.group_id, turn.now)

    parts.replace("inbox._buffer", watched)


class ReadsTheStartOfABatch(Interposer):
    """Handles three frames of a call and loses the rest of what it has read."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "frames":
            return stimulus
        return with_frames(stimulus, list(frames_in(stimulus))[:FRAMES_READ_MAX])


class SeenBeforeApplied(Interposer):
    """Marks an Event as seen on arrival and discards it if it is not the next one."""

    def _begin(self) -> None:
        super()._begin()
        self._seen: set[str] = set()
        self._position: dict[str, int] = {}

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "frames":
            return stimulus
        return with_frames(stimulus, [f for f in frames_in(stimulus) if self._is_wanted(f)])

    def _is_wanted(self, frame: JsonObject) -> bool:
        event = frame.get("event")
        group_id, sequence = find(event, "groupId"), find(event, "sequence")
        if not isinstance(group_id, str) or not isinstance(sequence, int):
            return True
        event_id = text_at(event, "eventId")
        repeated = event_id in self._seen
        self._seen.add(event_id)
        if repeated or sequence != self._position.get(group_id, 0) + 1:
            return False
        self._position[group_id] = sequence
        return True

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        for frame_type, group_id, sequence in positions_in(effect):
            if frame_type == "SUBSCRIBE":
                self._position[group_id] = sequence
        return (effect,)


@altered
def buffer_in_order_of_arrival(parts: Parts) -> None:
    """Applies buffered Events in the order in which they came once the hole is closed."""

    def drain(turn: Any, group_id: str) -> None:
        buffer = turn.runtime.buffers.get(group_id, {})
        end = turn.group(group_id).cursor + len(buffer)
        if sorted(buffer) != list(range(turn.group(group_id).cursor + 1, end + 1)):
            return
        for sequence in list(buffer):
            parts.get("inbox._process")(turn, turn.group(group_id), *buffer.pop(sequence))
        turn.change_group(turn.group(group_id), cursor=end)

    parts.replace("inbox._drain", drain)


class OneGapStopsEveryGroup(Interposer):
    """Waits in every Group for the Event that is missing in one."""

    def _begin(self) -> None:
        super()._begin()
        self._position: dict[str, int] = {}
        self._held: list[JsonObject] = []

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "frames":
            return stimulus
        frames = [*self._held, *frames_in(stimulus)]
        for event in events_in(stimulus):
            if "groupId" in event:
                self._count(text_at(event, "groupId"), integer_at(event, "sequence"))
        gaps = {group for group, position in self._position.items() if position < 0}
        ready = [f for f in frames if not gaps or find(f, "event", "groupId") in {None, *gaps}]
        self._held = [frame for frame in frames if frame not in ready]
        return with_frames(stimulus, ready)

    def _count(self, group_id: str, sequence: int) -> None:
        """A negative position marks a Group that waits for the Event after it."""
        position = abs(self._position.get(group_id, 0))
        if sequence == position + 1:
            self._position[group_id] = sequence
        elif sequence > position + 1:
            self._position[group_id] = -position

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        for frame_type, group_id, sequence in positions_in(effect):
            if frame_type == "SUBSCRIBE":
                self._position[group_id] = sequence
        return (effect,)


class OffersFromAStaleList(Interposer):
    """Notes offers as they come, answers one with each later call, and never looks again."""

    def _begin(self) -> None:
        self._list: list[JsonObject] = []

    def handle(self, stimulus: JsonObject) -> JsonObject:
        """Hand frames on one by one, so that each is judged before the next is read."""
        noted = self._list[:1]
        del self._list[:1]
        frames = list(frames_in(stimulus))
        if stimulus["type"] != "frames" or not frames:
            answers = [super().handle(stimulus)]
        else:
            one_by_one = [with_frames(stimulus, [frame]) for frame in frames]
            answers = [super(OffersFromAStaleList, self).handle(one) for one in one_by_one]
        effects = [effect for answer in answers for effect in effects_of(answer)]
        return {**answers[-1], "effects": [*noted, *effects]}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if not says(effect, "work.accept_offer"):
            return (effect,)
        self._list.append(effect)
        return ()


class AnswersNoPing(Interposer):
    """Reads a PING and says nothing."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        return () if find(effect, "frame", "frameType") == "PING" else (effect,)


class PingLosesTheThread(Interposer):
    """Drops what comes next after a PING: its answer resets the reader."""

    def _begin(self) -> None:
        self._is_lost = False

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "frames":
            return stimulus
        frames, was_lost = list(frames_in(stimulus)), self._is_lost
        self._is_lost = any(frame.get("frameType") == "PING" for frame in frames)
        return None if was_lost else stimulus


# --- duplicates ---------------------------------------------------------------------------


@altered
def no_dedupe(parts: Parts) -> None:
    """Applies an Event whenever it arrives, however often that is."""
    sequence = parts.get("inbox._sequence")

    def again(turn: Any, group: Any, event: Any, digest: str) -> None:
        if event["sequence"] <= group.cursor:
            parts.get("facts.apply")(turn, group, event)
        else:
            sequence(turn, group, event, digest)

    parts.replace("inbox._sequence", again)


@altered
def repetition_is_a_breach(parts: Parts) -> None:
    """Has no second effect of an Event that comes again, and calls it a breach of the protocol."""
    is_repeated = parts.get("inbox._is_repeated")

    def accuse(turn: Any, event: Any, digest: str) -> bool:
        if is_repeated(turn, event, digest):
            raise parts.get("inbox.DocumentError")("PROTOCOL_VIOLATION", "had that already")
        return False

    parts.replace("inbox._is_repeated", accuse)


@altered
def dedupe_by_sequence(parts: Parts) -> None:
    """Knows a repetition by its sequence number and never looks at the Event ID."""

    def is_repeated(turn: Any, event: Any, digest: str) -> bool:
        del digest
        return bool(event["sequence"] <= turn.group(event["groupId"]).cursor)

    parts.replace("inbox._is_repeated", is_repeated)


@altered
def counting_cursor(parts: Parts) -> None:
    """Counts new Event IDs instead of reading sequence numbers."""
    sequence, is_repeated = parts.get("inbox._sequence"), parts.get("inbox._is_repeated")

    def count(turn: Any, group: Any, event: Any, digest: str) -> None:
        if event["sequence"] <= group.cursor and not is_repeated(turn, event, digest):
            parts.get("inbox._process")(turn, group, event, digest)
            turn.change_group(turn.group(group.group_id), cursor=group.cursor + 1)
        else:
            sequence(turn, group, event, digest)

    parts.replace("inbox._sequence", count)


@altered
def offers_known_by_their_contract(parts: Parts) -> None:
    """Takes a second offer with the same deadline and risk for a repetition of the first."""
    review = parts.get("admission.review")

    def once(turn: Any, item: Any) -> None:
        if item.offer is not None:
            alike = (item.group_id, item.contract.deadline, item.contract.risk)
            if notes(turn).setdefault(alike, item.work_item_id) != item.work_item_id:
                return
        review(turn, item)

    parts.replace("admission.review", once)


class RunsAgainOnRedelivery(Interposer):
    """Starts the work again when its `work.started` is delivered again."""

    def _begin(self) -> None:
        super()._begin()
        self._runs: dict[str, JsonObject] = {}

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "run":
            self._runs[text_at(effect, "leaseId")] = effect
        return (effect,)

    def _afterwards(self) -> Iterable[JsonObject]:
        known = list(self._runs)
        for event in events_in(self.stimulus):
            lease_id = find(event, "payload", "executionLeaseId")
            if event["kind"] == "work.started" and lease_id in known:
                yield {**self._runs[str(lease_id)], "slotId": "s9"}


@altered
def steps_through_what_waits(parts: Parts) -> None:
    """Works off what waited for a gap to close, one number for each, twins included."""
    process = parts.get("inbox._process")

    def keep(turn: Any, group: Any, event: Any, signing_hash: str) -> None:
        waiting, place = turn.runtime.buffers.setdefault(group.group_id, {}), event["sequence"]
        while place in waiting and waiting[place][1] != signing_hash:
            place += 1
        waiting[place] = (event, signing_hash)

    def step(turn: Any, group: Any, event: Any, signing_hash: str) -> None:
        process(turn, group, event, signing_hash)
        turn.change_group(turn.group(group.group_id), cursor=group.cursor + 1)

    parts.replace("inbox._buffer", keep)
    parts.replace("inbox._process", step)


@altered
def repetition_in_a_gap_is_an_attack(parts: Parts) -> None:
    """Hears no more of a Group that sends an Event again which still waits for its turn."""
    buffer, sequence = parts.get("inbox._buffer"), parts.get("inbox._sequence")

    def suspicious(turn: Any, group: Any, event: Any, signing_hash: str) -> None:
        waiting = turn.runtime.buffers.get(group.group_id, {})
        if waiting.get(event["sequence"], ("", ""))[1] == signing_hash:
            notes(turn).setdefault("closed", set()).add(group.group_id)
        buffer(turn, group, event, signing_hash)

    def heard(turn: Any, group: Any, event: Any, signing_hash: str) -> None:
        if group.group_id not in notes(turn).get("closed", ()):
            sequence(turn, group, event, signing_hash)

    parts.replace("inbox._buffer", suspicious)
    parts.replace("inbox._sequence", heard)


MUTANTS = (
    mutant(
        stops_without_a_handler,
        "WRK-029.b",
        "REPLAY-0074",
        "A dispatch over known kinds that raises for all others, in an inbox that tries again.",
    ),
    mutant(
        gaps_between_asides_are_asides,
        "WRK-029.c",
        "REPLAY-0075",
        "A filter at the source that leaves out what the reader does not want, as it is believed.",
    ),
    mutant(
        steps_through_what_waits,
        "WRK-029.d",
        "REPLAY-0072 MON-0001",
        "A queue in front of a counter.",
    ),
    mutant(
        repetition_in_a_gap_is_an_attack,
        "WRK-029.a",
        "REPLAY-0073",
        "Replay protection that does not know at-least-once delivery.",
    ),
    mutant(
        AnswersNoPing,
        "EVT-011.a",
        "REPLAY-0017",
        "Liveness left to the transport, which knows nothing of the runtime behind it.",
    ),
    mutant(
        PingLosesTheThread,
        "EVT-011.a",
        "REPLAY-0018",
        "A read buffer shared by control frames and data.",
    ),
    mutant(
        cursor_over_a_gap,
        "WRK-029.c",
        "REPLAY-0001 MON-0001",
        "Trusting the transport to be ordered, as it was in every test.",
    ),
    mutant(
        gap_forgiven_after_a_while,
        "WRK-029.c",
        "REPLAY-0001 MON-0001",
        "A watchdog that was added so that one lost message does not stop everything.",
    ),
    mutant(
        ReadsTheStartOfABatch,
        "WRK-029.b",
        "REPLAY-0002",
        "A fixed number of messages taken from a read that may hold more.",
    ),
    mutant(
        SeenBeforeApplied,
        "WRK-029.b",
        "REPLAY-0009 REPLAY-0034 REPLAY-0035",
        "The dedupe table is written by the receiver, the message applied by somebody else.",
    ),
    mutant(
        repetition_is_a_breach,
        "WRK-029.a",
        "MON-0024",
        "A condition turned round: what is already known is taken for what collides.",
        seen_in="REPLAY-0003",
    ),
    mutant(
        buffer_in_order_of_arrival,
        "WRK-029.b",
        "REPLAY-0009",
        "A list as reorder buffer where a heap was meant.",
    ),
    mutant(
        OneGapStopsEveryGroup,
        "MSN-014.a",
        "REPLAY-0012",
        "One reorder buffer for the whole connection.",
    ),
    mutant(
        OffersFromAStaleList,
        "WRK-003.a",
        "REPLAY-0010",
        "A to-do list that later facts never prune.",
    ),
    mutant(
        no_dedupe,
        "WRK-029.a",
        "REPLAY-0003",
        "Handlers written for exactly-once delivery.",
    ),
    mutant(
        dedupe_by_sequence,
        "WRK-029.d",
        "REPLAY-0014",
        "Using the position as the only identity of an Event.",
    ),
    mutant(
        counting_cursor,
        "WRK-029.d",
        "REPLAY-0013",
        "A counter beside the stream instead of the stream's own number.",
    ),
    mutant(
        offers_known_by_their_contract,
        "WRK-029.a",
        "REPLAY-0004",
        "Content hashes as dedupe keys.",
    ),
    mutant(
        RunsAgainOnRedelivery,
        "WRK-029.a",
        "REPLAY-0003 MON-0011 MON-0006",
        "The start of a job is the handler of its message.",
    ),
)
