"""What has been delivered, and what of it a Worker may lawfully not know, or leave alone."""

from __future__ import annotations

from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.judge.facts import Facts, GroupFact
from worker_conformance.judge.trace import EntryKind, NoteKind, Trace

AGENT, GROUP, OTHER, WORK = "agent:w", "group:a", "group:b", "work:a1"
AT = "2026-01-01T00:00:00Z"


def event_id(group_id: str, sequence: int) -> str:
    return f"event:{group_id}:{sequence}"


class Story:
    """Facts that are told one thing after the other."""

    def __init__(self) -> None:
        self.facts = Facts()
        self._trace = Trace("TEST-0001", 1)
        self.says(
            {
                "type": "start",
                "agent": {"agentId": AGENT, "maxConcurrency": 1},
                "groups": [{"groupId": GROUP}],
                "sessionEpoch": 1,
            }
        )

    def says(self, body: JsonObject, kind: EntryKind = EntryKind.STIMULUS) -> None:
        self.facts.observe(self._trace.append(len(self._trace), 0, kind, body))

    def note(self, note: NoteKind) -> None:
        self.says({"note": note.value}, EntryKind.NOTE)

    def misfiled(self, group_id: str, sequence: int) -> None:
        told: JsonObject = {"note": NoteKind.APPENDED, "misfiled": event_id(group_id, sequence)}
        self.says(told, EntryKind.NOTE)

    def frame(self, **frame: JsonObject) -> None:
        self.says({"type": "frames", "now": AT, "frames": [{"frameId": "frame:1", **frame}]})

    def joins(self, group_id: str) -> None:
        self.says({"type": "join", "group": {"groupId": group_id}})

    def event(
        self,
        sequence: int,
        group_id: str = GROUP,
        kind: str = "work.offer.accepted",
        **payload: JsonValue,
    ) -> None:
        document: JsonObject = {
            "groupId": group_id,
            "sequence": sequence,
            "eventId": event_id(group_id, sequence),
            "kind": kind,
            "payload": {**payload},
        }
        self.frame(event=document)

    def asks_to_start(self, session_epoch: int = 1) -> None:
        start: JsonObject = {
            "actionId": "action:1",
            "kind": "work.start",
            "workItemId": WORK,
            "sessionEpoch": session_epoch,
        }
        frame: JsonObject = {"frameType": "COMMAND", "command": start}
        self.says({"type": "frame", "frame": frame}, EntryKind.EFFECT)

    @property
    def group(self) -> GroupFact:
        known = self.facts.groups.now(GROUP)
        assert known is not None
        return known

    @property
    def kept(self) -> int:
        return self.facts.kept(self.group)

    @property
    def may_wait(self) -> bool:
        (item,) = self.facts.items.values()
        return self.facts.may_wait(item, 0)


def owned(epoch: int) -> JsonObject:
    return {
        "workItemId": WORK,
        "groupId": GROUP,
        "state": "queued",
        "revision": 1 + epoch,
        "owner": {"agentId": AGENT, "ownershipEpoch": epoch},
        "contract": {"contractVersion": 1},
    }


def test_what_waited_for_an_earlier_event_need_not_outlive_the_process() -> None:
    story = Story()
    story.event(1)
    story.event(3)
    story.note(NoteKind.CRASHED)
    story.event(2)
    assert (story.group.contiguous, story.kept) == (3, 2)
    story.event(3)
    assert story.kept == 3


def test_what_waited_for_an_earlier_event_need_not_outlive_the_subscription() -> None:
    story = Story()
    story.event(1)
    story.event(3)
    story.says({"type": "link", "state": "down", "groupIds": [GROUP]})
    story.says({"type": "link", "state": "up", "groupIds": [GROUP]})
    story.event(2)
    assert (story.group.contiguous, story.kept) == (3, 2)
    story.event(3)
    assert story.kept == 3


def test_no_group_speaks_of_anothers_work_or_membership() -> None:
    story = Story()
    story.joins(OTHER)
    for sequence in (1, 2):
        story.misfiled(OTHER, sequence)
    ended = {"groupId": GROUP, "member": {"type": "agent", "id": AGENT}, "state": "ended"}
    for _ in range(2):  # also where nothing is known of the work yet, or no more
        claim = {**owned(1), "state": "cancelled", "groupId": OTHER}
        story.event(1, OTHER, workItem=claim, leases=[])
        assert list(story.facts.items.values()) == []
        story.event(1, workItem=owned(1))
        story.event(2, OTHER, "membership.ended", membership=ended)
        (item,) = story.facts.items.values()
        assert (item.group_id, item.state) == (GROUP, "queued")
        assert story.group.member
        story.note(NoteKind.WIPED)
        story.joins(GROUP)
        story.joins(OTHER)
    story.event(1, GROUP, "membership.ended", membership=ended)
    assert not story.group.member


def test_what_was_in_order_is_kept_over_a_crash() -> None:
    story = Story()
    story.event(1)
    story.event(2)
    story.note(NoteKind.CRASHED)
    assert story.kept == 2


def test_a_snapshot_replaces_what_was_lost_below_it() -> None:
    story = Story()
    story.event(2)
    story.event(4)
    story.note(NoteKind.STOPPED)
    story.event(1)
    story.event(3)
    assert story.kept == 1
    snapshot: JsonObject = {"snapshotId": "snapshot:1", "groupId": GROUP, "throughSequence": 2}
    story.says({"type": "snapshot", "snapshot": snapshot, "state": {}})
    assert story.kept == 3


def test_work_whose_ownership_the_authority_calls_stale_is_asked_for_no_longer() -> None:
    story = Story()
    story.event(1, workItem=owned(1))
    story.asks_to_start()
    assert not story.may_wait
    story.frame(error={"code": "WORK_STALE_OWNERSHIP", "relatedActionId": "action:1"})
    assert story.may_wait
    story.event(2, workItem=owned(2))
    assert not story.may_wait


def test_another_refusal_leaves_the_ownership_as_it_is() -> None:
    story = Story()
    story.event(1, workItem=owned(1))
    story.asks_to_start()
    story.frame(error={"code": "REVISION_CONFLICT", "relatedActionId": "action:1"})
    assert not story.may_wait


def test_a_session_that_the_authority_calls_stale_is_fenced_and_no_other() -> None:
    for epoch, fenced in ((1, True), (0, False)):
        story = Story()
        story.event(1, workItem=owned(1))
        story.asks_to_start(epoch)
        story.frame(error={"code": "AUTH_STALE_SESSION", "relatedActionId": "action:1"})
        assert story.facts.fenced is fenced
        assert story.may_wait is fenced


def test_whether_ended_work_is_tried_again_is_no_matter_of_an_idle_slot() -> None:
    for kind, waits in (("completed", True), ("failed", True), ("progress", False)):
        story = Story()
        story.event(1, workItem=owned(1))
        story.says({"type": "execution", "workItemId": WORK, "report": {"kind": kind}})
        assert story.may_wait is waits


def test_work_of_which_a_budget_was_refused_need_not_go_on() -> None:
    story = Story()
    story.event(1, workItem=owned(1))
    story.asks_to_start()
    story.frame(error={"code": "BUDGET_EXCEEDED", "relatedActionId": "action:1"})
    assert story.may_wait
