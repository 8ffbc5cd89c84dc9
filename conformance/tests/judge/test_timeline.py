"""From a Trace to the marks of a timeline."""

from __future__ import annotations

from worker_conformance.judge.evidence import Mark, MarkKind
from worker_conformance.judge.timeline import MARKS_FIRST, MARKS_MAX, SLOTS_MAX, timeline_of
from worker_conformance.judge.trace import EntryKind, NoteKind, Trace

SECOND = 1_000_000
NAMES = {"urn:a": "A", "urn:b": "B", "urn:a1": "a1"}


class Story:
    """A Trace in the making, call by call."""

    def __init__(self) -> None:
        self.trace = Trace("TEST-0001", 1)
        self.call = 0
        self.at = 0

    def wait(self, seconds: float) -> None:
        self.at += round(seconds * SECOND)

    def told(self, kind: str, **members: object) -> None:
        self.call += 1
        self._add(EntryKind.STIMULUS, {"type": kind, **members})

    def events(self, group: str, *sequences: int, kind: str = "message.posted") -> None:
        frames = [
            {
                "frameType": "EVENT",
                "event": {"groupId": group, "sequence": one, "kind": kind},
            }
            for one in sequences
        ]
        self.told("frames", frames=frames)

    def did(self, kind: str, **members: object) -> None:
        self._add(EntryKind.EFFECT, {"type": kind, **members})

    def command(self, kind: str) -> None:
        command = {"kind": kind, "groupId": "urn:a", "workItemId": "urn:a1"}
        self.did("frame", frame={"frameType": "COMMAND", "command": command})

    def noted(self, note: NoteKind, **members: object) -> None:
        self._add(EntryKind.NOTE, {"note": note.value, **members})

    def appended(self, state: str, lease: str | None = None) -> None:
        self.noted(
            NoteKind.APPENDED, group="A", work="a1", kind="x", state=state, lease=lease, ours=True
        )

    def marks(self) -> list[Mark]:
        return list(timeline_of(self.trace.since(0), NAMES.get).marks)

    def _add(self, kind: EntryKind, body: dict[str, object]) -> None:
        self.trace.append(self.call, self.at, kind, body)  # type: ignore[arg-type]


def test_events_of_one_call_are_one_mark_for_each_group() -> None:
    story = Story()
    frames = [
        {"frameType": "EVENT", "event": {"groupId": group, "sequence": one, "kind": "k"}}
        for group, one in (("urn:a", 1), ("urn:a", 2), ("urn:b", 1))
    ]
    story.told("frames", frames=frames)
    assert [(m.kind, m.group, m.times) for m in story.marks()] == [
        (MarkKind.EVENT, "A", 2),
        (MarkKind.EVENT, "B", 1),
    ]


def test_many_events_are_told_by_the_first_and_the_last() -> None:
    story = Story()
    story.events("urn:a", *range(1, 10))
    (mark,) = story.marks()
    assert mark.text == "EVENT A/1 message.posted, … EVENT A/9 message.posted (9 Events)"


def test_a_lease_lasts_until_its_work_is_no_longer_active() -> None:
    story = Story()
    story.appended("active", lease="urn:lease")
    story.wait(60)
    story.appended("active")
    story.appended("submitted")
    assert [(m.kind, m.at) for m in story.marks()] == [
        (MarkKind.GRANTED, 0.0),
        (MarkKind.ENDED, 60.0),
    ]


def test_a_new_session_ends_the_leases_of_the_old_one() -> None:
    story = Story()
    story.appended("active", lease="urn:lease")
    story.noted(NoteKind.CRASHED)
    story.told("start", sessionEpoch=2, groups=[{"groupId": "urn:a"}])
    kinds = [mark.kind for mark in story.marks()]
    assert kinds == [MarkKind.GRANTED, MarkKind.CRASH, MarkKind.ENDED, MarkKind.START]


def test_a_command_sent_again_and_again_is_one_mark() -> None:
    story = Story()
    for _ in range(40):
        story.told("tick")
        story.command("work.start")
        story.wait(30)
    (mark,) = story.marks()
    assert (mark.kind, mark.text) == (MarkKind.COMMAND, "COMMAND work.start a1")
    assert (mark.times, mark.at, mark.until) == (40, 0.0, 39 * 30.0)


def test_what_is_about_a_slot_stands_in_its_row() -> None:
    story = Story()
    story.did("run", slotId="s1", groupId="urn:a", workItemId="urn:a1")
    story.did("preempt", slotId="s1", workItemId="urn:a1")
    story.did("release", slotId="s1", workItemId="urn:a1")
    marks = story.marks()
    assert [mark.kind for mark in marks] == [MarkKind.RUN, MarkKind.SLOT, MarkKind.RELEASED]
    assert {mark.slot for mark in marks} == {"s1"}


def test_what_a_worker_makes_up_gets_no_lane_and_few_rows() -> None:
    story = Story()
    for number in range(100):
        story.did("run", slotId=f"slot-{number}", groupId=f"urn:none:{number}", workItemId="x")
        story.did(
            "frame",
            frame={
                "frameType": "ACK",
                "acknowledgements": [{"groupId": f"urn:none:{number}", "sequence": number}],
            },
        )
    timeline = timeline_of(story.trace.since(0), NAMES.get)
    assert timeline.groups == ()
    assert len(timeline.slots) == SLOTS_MAX


def test_each_group_of_an_ack_gets_its_own_position() -> None:
    story = Story()
    rows = [{"groupId": "urn:a", "sequence": 5}, {"groupId": "urn:b", "sequence": 2}]
    story.did("frame", frame={"frameType": "ACK", "acknowledgements": rows})
    assert [(m.kind, m.text) for m in story.marks()] == [
        (MarkKind.POSITION, "ACK A:5"),
        (MarkKind.POSITION, "ACK B:2"),
    ]


def test_a_cut_link_is_that_of_its_groups_or_of_all() -> None:
    story = Story()
    story.told("link", state="down", groupIds=["urn:b"])
    story.told("link", state="up", groupIds=["urn:b"])
    story.told("link", state="down")
    assert [(m.kind, m.group) for m in story.marks()] == [
        (MarkKind.CUT, "B"),
        (MarkKind.HEALED, "B"),
        (MarkKind.CUT, ""),
    ]


def test_a_long_history_keeps_its_beginning_and_its_end_and_says_how_much_is_left_out() -> None:
    story = Story()
    for sequence in range(1, 301):
        story.events("urn:a", sequence, kind=f"k{sequence}")
    timeline = timeline_of(story.trace.since(0), NAMES.get)
    assert len(timeline.marks) == MARKS_MAX
    assert (timeline.left_out, timeline.left_out_after) == (300 - MARKS_MAX, MARKS_FIRST)
    assert "A/24 " in timeline.marks[MARKS_FIRST - 1].text
    assert "A/300 " in timeline.marks[-1].text


def test_in_a_long_history_what_comes_round_is_shown_once_at_each_end() -> None:
    story = Story()
    for sequence in range(1, 101):
        story.events("urn:a", sequence)
        story.command("work.renew")
    texts = [mark.text for mark in story.marks()]
    assert texts == [
        "EVENT A/1 message.posted",
        "COMMAND work.renew a1",
        "(the 2 before come round 98 times more)",
        "EVENT A/100 message.posted",
        "COMMAND work.renew a1",
    ]


def test_only_something_that_the_worker_did_can_itself_be_the_violation() -> None:
    story = Story()
    story.events("urn:a", 1)
    assert not timeline_of(story.trace.since(0), NAMES.get, last_breaks=True).last_breaks
    story.did("frame", frame={"frameType": "PING"})
    assert timeline_of(story.trace.since(0), NAMES.get, last_breaks=True).last_breaks
    assert not timeline_of(story.trace.since(0), NAMES.get).last_breaks
