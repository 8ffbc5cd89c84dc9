"""The executor: time that work takes, safe points, reports, and what a restart leaves."""

import pytest

from worker_conformance.documents.schemas import DocumentKind, problems
from worker_conformance.documents.signing import sign
from worker_conformance.errors import SuiteError
from worker_conformance.organization.executor import NotRunningError
from worker_conformance.organization.outcomes import Accepted
from worker_conformance.port.messages import check_stimulus
from worker_conformance.scenario.clock import SECOND
from worker_conformance.scenario.model import Answer, Report, WorkPlan


class Bench:
    """An executor with one running WorkItem `a1` in slot `s1`; times in seconds."""

    def __init__(self, desk) -> None:
        self.desk = desk
        self.executor = desk.executor
        desk.reach("active")
        self.run()

    def run(self, **members: object) -> None:
        lease = self.desk.view().lease_ids[-1]
        self.effect("run", leaseId=lease, groupId=self.desk.group.group_id, **members)

    def effect(self, kind: str, **members: object) -> None:
        effect = {"type": kind, "slotId": "s1", "workItemId": self.desk.work_id(), **members}
        self.executor.apply(effect, self.desk.micros)

    def at(self, seconds: float) -> None:
        self.desk.now = seconds

    def due(self) -> float | None:
        due = self.executor.next_due()
        return None if due is None else due / SECOND

    def next(self) -> dict | None:
        """The next report that is due, checked against the Port's schema."""
        stimulus = self.executor.next_report(round(self.desk.now * SECOND))
        if stimulus is None:
            return None
        check_stimulus({"type": "execution", "now": "2026-07-15T00:00:00Z", **stimulus})
        return stimulus["report"]

    def report(self, kind: str, lease: int | None = None, **members: object) -> dict:
        step = Report("a1", kind, members, lease)
        stimulus = self.executor.report(step, self.desk.micros)
        check_stimulus({"type": "execution", "now": "2026-07-15T00:00:00Z", **stimulus})
        return stimulus

    def send(self, kind: str) -> None:
        outcome = self.desk.do(kind)
        accepted = isinstance(outcome, Accepted)
        self.executor.answered(self.desk.work_id(), accepted=accepted)


@pytest.fixture
def bench(open_desk):
    def make(**plan: object) -> Bench:
        return Bench(open_desk(WorkPlan("a1", "A", lease_seconds=10_000, **plan)))

    return make


def test_work_is_done_after_its_planned_time(bench) -> None:
    desk = bench(duration_seconds=60)
    assert desk.due() == 60
    desk.at(59)
    assert desk.next() is None
    desk.at(60)
    assert desk.next()["kind"] == "completed"
    assert desk.due() is None
    assert desk.executor.occupied() == {"s1": desk.desk.work_id()}
    assert desk.executor.running() == {}


def test_work_without_an_end_runs_until_a_step_ends_it(bench) -> None:
    desk = bench(completes=False)
    assert desk.due() is None
    desk.at(1_000)
    assert desk.report("completed")["report"]["kind"] == "completed"


def test_a_preempt_is_answered_by_a_safe_point(bench) -> None:
    desk = bench(duration_seconds=60, safe_point_seconds=5)
    desk.at(10)
    desk.effect("preempt")
    assert desk.due() == 15
    desk.at(15)
    assert desk.next()["kind"] == "safe_point"
    assert desk.due() is None  # it stands still while the preempt is outstanding
    desk.at(100)
    assert desk.next() is None


def test_an_immediate_safe_point_falls_due_at_once(bench) -> None:
    desk = bench(safe_point_seconds=0)
    desk.at(10)
    desk.effect("preempt")
    assert desk.next()["kind"] == "safe_point"


def test_a_withdrawn_preempt_lets_the_work_go_on(bench) -> None:
    desk = bench(duration_seconds=60)
    desk.at(10)
    desk.effect("preempt")
    desk.next()
    desk.at(30)
    desk.effect("continue")
    assert desk.due() == 80


def test_a_preempt_withdrawn_before_the_safe_point_leaves_no_trace(bench) -> None:
    desk = bench(duration_seconds=60, safe_point_seconds=5)
    desk.at(10)
    desk.effect("preempt")
    desk.effect("continue")
    assert desk.due() == 60


def test_without_a_safe_point_of_its_own_the_work_waits_for_a_step(bench) -> None:
    desk = bench(duration_seconds=60, safe_point_seconds=None)
    desk.at(10)
    desk.effect("preempt")
    assert desk.due() == 60
    desk.at(20)
    desk.report("safe_point")
    assert desk.due() is None


def test_work_that_is_done_needs_no_safe_point(bench) -> None:
    desk = bench(duration_seconds=60, safe_point_seconds=10)
    desk.at(50)
    desk.effect("preempt")
    desk.at(60)
    assert desk.next()["kind"] == "completed"
    assert desk.next() is None


def test_resumed_work_goes_on_from_its_checkpoint(bench) -> None:
    desk = bench(duration_seconds=60)
    desk.at(20)
    desk.effect("preempt")
    checkpoint = desk.next()
    desk.send("work.checkpoint")
    for step in ("pause", "release"):
        desk.effect(step)
    assert desk.executor.occupied() == {}
    desk.at(100)
    desk.desk.done("work.start")
    desk.run(resumeFrom={"checkpointId": checkpoint["checkpointId"]})
    assert desk.due() == 140


@pytest.mark.parametrize("resume", [None, {"checkpointId": "urn:x:checkpoint:unknown"}])
def test_without_its_checkpoint_work_begins_from_nothing(bench, resume) -> None:
    desk = bench(duration_seconds=60)
    desk.at(20)
    desk.effect("preempt")
    desk.next()
    desk.effect("release")
    desk.run(**({"resumeFrom": resume} if resume else {}))
    assert desk.due() == 80


def test_a_checkpoint_of_other_work_is_worth_nothing(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A"), WorkPlan("a2", "A"))
    bench = Bench(desk)
    bench.at(20)
    foreign = bench.report("safe_point")["report"]["checkpointId"]
    desk.reach("active", "a2")
    effect = {
        "type": "run",
        "slotId": "s2",
        "workItemId": desk.work_id("a2"),
        "leaseId": desk.view("a2").lease_ids[-1],
        "resumeFrom": {"checkpointId": foreign},
    }
    bench.effect("release")
    desk.executor.apply(effect, desk.micros)
    assert bench.due() == 80


def test_after_a_crash_only_checkpoints_are_left(bench) -> None:
    desk = bench(duration_seconds=60)
    desk.at(30)
    checkpoint = desk.report("safe_point")["report"]
    desk.executor.drop_all(desk.desk.micros)
    assert desk.due() is None
    assert desk.executor.occupied() == {}
    desk.run(resumeFrom={"checkpointId": checkpoint["checkpointId"]})
    assert desk.due() == 60


def test_a_safe_point_that_nobody_uses_costs_no_time(bench) -> None:
    desk = bench(duration_seconds=60)
    desk.at(20)
    desk.report("safe_point")
    assert desk.due() == 60
    desk.at(40)
    desk.effect("preempt")
    assert desk.next()["kind"] == "safe_point"
    desk.effect("continue")
    assert desk.due() == 60


def test_work_stands_still_once_its_checkpoint_is_a_fact(bench) -> None:
    desk = bench(duration_seconds=60)
    desk.at(20)
    desk.report("safe_point")
    desk.send("work.checkpoint")
    assert desk.due() is None


def test_work_stands_still_while_its_checkpoint_is_unanswered(bench) -> None:
    desk = bench(duration_seconds=60)
    desk.at(20)
    desk.report("safe_point")
    desk.desk.organization.script_answer(Answer("work.checkpoint", "silence"))
    desk.send("work.checkpoint")
    assert desk.due() is None
    desk.desk.organization.script_answer(Answer("work.checkpoint", "BACKPRESSURE"))
    desk.send("work.checkpoint")
    assert desk.due() == 60


@pytest.mark.parametrize("kind", ["completed", "failed", "blocked"])
def test_an_end_ends_the_run_and_any_preempt(bench, kind) -> None:
    desk = bench(duration_seconds=60, safe_point_seconds=5)
    desk.at(10)
    desk.effect("preempt")
    desk.report(kind)
    assert desk.due() is None
    assert desk.executor.running() == {}
    assert list(desk.executor.occupied()) == ["s1"]


@pytest.mark.parametrize("kind", ["cancel", "pause"])
def test_what_is_cancelled_or_paused_reports_no_more(bench, kind) -> None:
    desk = bench(duration_seconds=60)
    desk.effect(kind)
    desk.at(100)
    assert desk.next() is None
    assert desk.executor.running() == {}


@pytest.mark.parametrize(
    "kind", ["safe_point", "progress", "blocked", "completed", "failed", "operation"]
)
def test_every_report_is_a_valid_stimulus(bench, kind) -> None:
    desk = bench()
    stimulus = desk.report(kind, usage={"toolCalls": 3})
    assert stimulus["leaseId"] == desk.desk.view().current_lease_id
    assert stimulus["report"]["usage"] == {"toolCalls": 3}


def test_a_step_may_name_its_checkpoint_in_short(bench) -> None:
    desk = bench()
    report = desk.report("safe_point", checkpointId="CP 1")["report"]
    assert report["checkpointId"].endswith("-cp-1")


def test_results_become_valid_documents_once_signed(bench) -> None:
    desk = bench()
    report = desk.report("completed")["report"]
    for document in report["artifacts"]:
        assert "signature" not in document
        signed = sign(DocumentKind.ARTIFACT, document, desk.desk.key)
        assert problems(DocumentKind.ARTIFACT, signed) == ()
    criteria = set()
    for document in [*report["evidence"], *desk.report("failed")["report"]["evidence"]]:
        signed = sign(DocumentKind.EVIDENCE, document, desk.desk.key)
        assert problems(DocumentKind.EVIDENCE, signed) == ()
        criteria.update(document["criterionIds"])
    contract = desk.desk.group.ledger.item("a1").contract
    assert criteria == {one["criterionId"] for one in contract["acceptanceCriteria"]}


def test_two_results_of_one_work_item_share_no_identifier(bench) -> None:
    desk = bench()
    first, second = (desk.report("completed")["report"] for _ in range(2))
    assert first["artifacts"][0]["artifactId"] != second["artifacts"][0]["artifactId"]
    assert first["evidence"][0]["evidenceId"] != second["evidence"][0]["evidenceId"]


def test_a_late_report_names_the_lease_of_its_run(bench) -> None:
    desk = bench(duration_seconds=60)
    desk.at(10)
    desk.effect("preempt")
    desk.next()
    desk.send("work.checkpoint")
    desk.effect("release")
    desk.desk.done("work.start")
    desk.run()
    first, second = desk.desk.view().lease_ids
    late = desk.report("completed", lease=1)
    assert (late["leaseId"], late["slotId"]) == (first, "s1")
    assert desk.due() == 70  # it does not count for the present run
    assert desk.report("completed", lease=2)["leaseId"] == second
    assert desk.due() is None


def test_a_report_of_a_run_that_never_was_says_so(desk) -> None:
    desk.reach("queued")
    for step in (Report("a1", "completed"), Report("a1", "completed", lease=1)):
        with pytest.raises(NotRunningError):
            desk.executor.report(step, 0)
    desk.done("work.start")
    with pytest.raises(NotRunningError):
        desk.executor.report(Report("a1", "completed", lease=1), 0)


def test_an_unknown_report_is_a_fault_of_the_scenario(bench) -> None:
    desk = bench()
    with pytest.raises(SuiteError, match="cannot report 'applause'"):
        desk.executor.report(Report("a1", "applause"), 0)


def test_reports_come_in_order_of_time_then_slot(open_desk) -> None:
    plans = [WorkPlan(f"a{n}", "A", duration_seconds=s) for n, s in ((1, 30), (2, 20), (3, 30))]
    desk = open_desk(*plans)
    for number, slot in ((1, "s3"), (2, "s1"), (3, "s2")):
        name = f"a{number}"
        desk.reach("active", name)
        effect = {
            "type": "run",
            "slotId": slot,
            "workItemId": desk.work_id(name),
            "leaseId": desk.view(name).lease_ids[-1],
        }
        desk.executor.apply(effect, 0)
    order = []
    while (stimulus := desk.executor.next_report(60 * SECOND)) is not None:
        order.append(stimulus["slotId"])
    assert order == ["s1", "s2", "s3"]


def test_effects_about_nothing_known_change_nothing(bench) -> None:
    desk = bench(duration_seconds=60)
    for effect in (
        {"type": "run", "slotId": "s9", "workItemId": "urn:x:unknown", "leaseId": "urn:x:l"},
        {"type": "cancel", "slotId": "s9", "workItemId": desk.desk.work_id()},
        {"type": "release", "slotId": "s1", "workItemId": "urn:x:other"},
        {"type": "disclose", "groupId": "urn:x:g"},
    ):
        desk.executor.apply(effect, 0)
    assert desk.due() == 60
    assert list(desk.executor.occupied()) == ["s1"]
