"""What the judge knows of pauses, cards, later sessions, raw frames and operations."""

import pytest

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.conditions import Atom, View, atoms_of
from worker_conformance.judge.facts import Facts
from worker_conformance.judge.trace import EntryKind, Trace
from worker_conformance.scenario.clock import text_of
from worker_conformance.scenario.model import Condition, ConditionKind, SetPolicy
from worker_conformance.scenario.surroundings import RegisterCard
from worker_conformance.suite.spelling import raw_frame

SECOND = 1_000_000


class Told:
    """A Worker's history of stimuli, folded."""

    def __init__(self, desk) -> None:
        self.trace, self.facts, self.desk = Trace("TEST-0001", 1), Facts(), desk
        start = {"type": "start", "stateDirectory": "/nowhere", "seed": 1, **desk.start}
        self.tell({**start, "now": text_of(0)})

    def tell(self, stimulus: JsonObject) -> None:
        entry = self.trace.append(len(self.trace), 0, EntryKind.STIMULUS, stimulus)
        self.facts.observe(entry)

    def frames(self, *frames: JsonObject) -> None:
        self.tell({"type": "frames", "frames": list(frames), "now": text_of(0)})

    def log(self, spell=lambda frame: frame) -> None:
        organization = self.desk.organization
        self.frames(*(spell(organization.event_frame(one)) for one in self.desk.group.events))

    @property
    def item(self):
        return self.facts.items.now(self.desk.work_id())


@pytest.fixture
def queued(desk) -> Told:
    desk.reach("queued")
    told = Told(desk)
    told.log()
    return told


def test_an_owned_item_with_nothing_in_its_way_may_not_wait(queued: Told) -> None:
    assert queued.item.state == "queued"
    assert not queued.facts.may_wait(queued.item, 0)


def test_a_group_under_backpressure_may_wait(queued: Told) -> None:
    organization = queued.desk.organization
    error = organization.press_back("A", 30 * SECOND, 0)
    queued.frames(organization.error_frame(error))
    assert queued.facts.may_wait(queued.item, 29 * SECOND)
    assert not queued.facts.may_wait(queued.item, 30 * SECOND)


def test_work_under_an_incompatible_card_may_wait(queued: Told) -> None:
    organization = queued.desk.organization
    policy = organization.set_policy(SetPolicy(cards={"4": "incompatible"}))
    queued.tell({"type": "policy", "policy": policy, "now": text_of(0)})
    assert not queued.facts.may_wait(queued.item, 0)
    queued.frames(organization.event_frame(organization.register_card(RegisterCard(4), 0)))
    assert queued.facts.card_version == 4
    assert queued.facts.may_wait(queued.item, 0)


def test_work_for_an_unavailable_capability_may_wait(queued: Told) -> None:
    policy = queued.desk.organization.set_policy(
        SetPolicy(capabilities={"acme.build": "unavailable"})
    )
    queued.tell({"type": "policy", "policy": policy, "now": text_of(0)})
    assert queued.facts.may_wait(queued.item, 0)


def test_a_replaced_runtime_may_wait_and_one_that_hears_of_itself_may_not(queued: Told) -> None:
    organization = queued.desk.organization
    queued.frames(organization.event_frame(organization.session_opened_event(0)))
    assert not queued.facts.fenced
    organization.replace_session(0)
    queued.frames(organization.event_frame(organization.session_opened_event(0)))
    assert queued.facts.fenced
    assert queued.facts.may_wait(queued.item, 0)


def test_work_whose_ownership_has_run_out_may_wait(queued: Told) -> None:
    lease = queued.desk.group.ledger.item("a1").owner.lease
    assert not queued.facts.may_wait(queued.item, lease.expires_at - 1)
    assert queued.facts.may_wait(queued.item, lease.expires_at)


def test_a_cut_link_is_known_until_it_heals(queued: Told) -> None:
    group_id = queued.desk.group.group_id
    for state, cut in (("down", True), ("up", False)):
        link = {"type": "link", "state": state, "groupIds": [group_id], "now": text_of(0)}
        queued.tell(link)
        assert queued.facts.groups.now(group_id).cut is cut


@pytest.mark.parametrize(
    ("how", "state"), [("respelled", "offered"), ("duplicate_member", None), ("truncated", None)]
)
def test_raw_bytes_state_facts_only_if_they_are_one_strict_value(desk, how, state) -> None:
    desk.reach("offered")
    told = Told(desk)
    told.log(lambda frame: raw_frame(frame, how))
    assert (told.item.state if told.item else None) == state


# --- operations ---------------------------------------------------------------------------


def asked(desk, kind: ConditionKind, value: object, *operations: tuple[str, str, str]) -> Atom:
    """One condition about operations (WorkItem, operation, key; without a key: refused)."""
    desk.reach("open")
    trace, ids = Trace("TEST-0001", 1), {"a1": desk.work_id(), "b1": "urn:other"}
    for work, operation, key in operations:
        body: JsonObject = {"type": "operation", "workItemId": ids[work], "operationId": operation}
        body |= {"idempotencyKey": key} if key else {"refused": "no token"}
        trace.append(1, 0, EntryKind.EFFECT, body)
    names = {uri: name for name, uri in ids.items()}
    view = View(trace, 0, names.get, ids, "renew")
    (atom,) = atoms_of(Condition(kind, value), view)
    return atom


ONE_KEY = ConditionKind.ONE_KEY
APART = ConditionKind.KEYS_APART


@pytest.mark.parametrize(
    ("operations", "holds"),
    [
        ([("a1", "o1", "k"), ("a1", "o1", "k")], True),
        ([("a1", "o1", "k"), ("a1", "o1", "x")], False),
        ([("a1", "o1", "k")], None),
        ([("a1", "o1", "k"), ("a1", "o1", "")], None),
        ([("a1", "o1", "k"), ("b1", "o1", "k")], None),
    ],
)
def test_one_key_compares_repetitions_of_one_operation(desk, operations, holds) -> None:
    assert asked(desk, ONE_KEY, {"a1": "o1"}, *operations).holds is holds


@pytest.mark.parametrize(
    ("operations", "holds"),
    [
        ([("a1", "o1", "k"), ("b1", "o1", "x")], True),
        ([("a1", "o1", "k"), ("b1", "o1", "k")], False),
        ([("a1", "o1", "k"), ("a1", "o2", "k"), ("b1", "o1", "x")], True),
        ([("a1", "o1", "k")], None),
    ],
)
def test_keys_apart_looks_for_a_key_in_common(desk, operations, holds) -> None:
    assert asked(desk, APART, ("a1", "b1"), *operations).holds is holds


@pytest.mark.parametrize(
    ("kind", "key", "holds"),
    [
        (ConditionKind.OPERATION, "k", True),
        (ConditionKind.OPERATION, "", False),
        (ConditionKind.REFUSE, "k", False),
        (ConditionKind.REFUSE, "", True),
    ],
)
def test_an_operation_is_carried_out_or_refused(desk, kind, key: str, holds) -> None:
    assert asked(desk, kind, ("a1",), ("a1", "o1", key)).holds is holds
