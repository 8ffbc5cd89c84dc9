"""The network on the way to a Worker: delay, order, copies, loss, cuts; all from the seed."""

import pytest

from worker_conformance.scenario.clock import SECOND
from worker_conformance.scenario.model import Act, ActKind
from worker_conformance.scenario.surroundings import CALM, Disturbance
from worker_conformance.suite.delivery import Delivery
from worker_conformance.suite.mailbox import Mailbox
from worker_conformance.suite.network import RETRANSMIT_SECONDS, Network

MANY = range(1, 201)


def flown(disturbance: Disturbance, seed: int = 1, group: str = "A") -> list[tuple[int, int]]:
    """When each Event arrives (seconds, sequence), sent all at once."""
    network = Network(seed)
    network.disturb(group, disturbance, 0)
    network.send(group, MANY, 0)
    arrivals: list[tuple[int, int]] = []
    while (at := network.next_due(0)) is not None:
        arrivals += [(at, sequence) for sequence in network.arrived(group, at)]
    return arrivals


def test_delay_keeps_order_and_number() -> None:
    arrivals = flown(Disturbance(delay_seconds=5))
    assert arrivals == [(5 * SECOND, sequence) for sequence in MANY]


def test_reordering_lets_some_overtake_and_loses_none() -> None:
    arrivals = flown(Disturbance(reorder_seconds=10))
    order = [sequence for _, sequence in arrivals]
    assert order != sorted(order)
    assert sorted(order) == list(MANY)
    assert max(at for at, _ in arrivals) < 10 * SECOND


def test_duplicates_come_in_about_the_share_that_was_asked_for() -> None:
    arrivals = flown(Disturbance(duplicate=50))
    assert 260 < len(arrivals) < 340
    assert {sequence for _, sequence in arrivals} == set(MANY)


def test_what_is_dropped_comes_later() -> None:
    arrivals = flown(Disturbance(drop=30))
    late = [sequence for at, sequence in arrivals if at == RETRANSMIT_SECONDS * SECOND]
    assert 30 < len(late) < 90
    assert len(arrivals) == len(MANY)


def test_a_seed_repeats_and_another_differs() -> None:
    weather = Disturbance(delay_seconds=1, reorder_seconds=9, duplicate=20, drop=20)
    assert flown(weather) == flown(weather)
    assert flown(weather, seed=2) != flown(weather)
    assert flown(weather, group="B") != flown(weather)


def test_some_commands_are_lost_and_the_same_ones_again() -> None:
    def lost() -> list[bool]:
        network = Network(7)
        network.disturb("A", Disturbance(lose=25), 0)
        return [network.loses_commands("A", now) for now in range(200)]

    assert lost() == lost()
    assert 25 < sum(lost()) < 75
    assert not Network(7).loses_commands("A", 0)


def test_commands_of_one_moment_are_lost_together() -> None:
    network = Network(7)
    network.disturb("A", Disturbance(lose=50), 0)
    for now in range(50):
        assert len({network.loses_commands("A", now) for _ in range(3)}) == 1


def test_a_link_is_cut_at_the_end_of_each_round_and_heals() -> None:
    network, seen = Network(1), []
    network.disturb("A", Disturbance(cut_seconds=10, every_seconds=60), 0)
    now = 0
    while now < 200 * SECOND:
        now = network.next_due(now) or 0
        seen += [(now // SECOND, *turn) for turn in network.turns(now)]
    assert seen[:4] == [(50, "A", "down"), (60, "A", "up"), (110, "A", "down"), (120, "A", "up")]


def test_calm_weather_ends_a_cut_and_lets_arrive_what_is_under_way() -> None:
    network = Network(1)
    network.disturb("A", Disturbance(delay_seconds=90, cut_seconds=10, every_seconds=60), 0)
    network.send("A", [1], 0)
    assert list(network.turns(55 * SECOND)) == [("A", "down")]
    network.disturb("A", CALM, 56 * SECOND)
    assert not network.is_calm("A")
    assert network.next_due(56 * SECOND) == 56 * SECOND
    assert list(network.turns(56 * SECOND)) == [("A", "up")]
    assert network.arrived("A", 90 * SECOND) == (1,)
    assert network.is_calm("A")


def test_on_a_link_that_is_up_a_new_subscription_loses_nothing_that_is_under_way() -> None:
    """Else whoever subscribes more often than a frame takes never hears anything."""
    network = Network(1)
    network.disturb("A", Disturbance(delay_seconds=5), 0)
    network.send("A", [1, 2, 3], 0)
    network.restart("A", after=1)
    assert network.arrived("A", 5 * SECOND) == (1, 2, 3)


def test_a_link_that_is_cut_loses_what_was_under_way() -> None:
    network = Network(1)
    network.disturb("A", Disturbance(delay_seconds=5), 0)
    network.send("A", [1, 2, 3], 0)
    network.lose("A")
    network.restart("A", after=1)
    assert network.arrived("A", 10 * SECOND) == ()
    network.send("A", [1, 2, 3], 10 * SECOND)
    assert network.arrived("A", 15 * SECOND) == (2, 3)


# --- mailboxes and delivery ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("batches", "position", "early"),
    [
        ([[1, 2, 3]], 3, [()]),
        ([[1], [3], [2]], 3, [(), (), (3,)]),
        ([[3, 2, 1]], 3, [(2, 3)]),
        ([[2], [2], [1], [2]], 2, [(), (), (2,), ()]),
        ([[5]], 0, [()]),
    ],
)
def test_a_mailbox_tells_what_came_before_its_turn(batches, position, early) -> None:
    mailbox = Mailbox("A")
    mailbox.subscribe(0)
    assert [mailbox.delivered(batch) for batch in batches] == early
    assert mailbox.position == position


def delivery_of(desk, seed: int = 1) -> Delivery:
    for text in ("one", "two", "three"):
        desk.group.act(Act(ActKind.MESSAGE, args={"text": text}), 0)
    delivery = Delivery(desk.scenario, desk.organization, seed)
    delivery.subscribe("A", 0)
    return delivery


def sequences(frames) -> list[int]:
    return [frame["event"]["sequence"] for frame in frames]


def test_without_a_disturbance_everything_arrives_at_once(desk) -> None:
    delivery = delivery_of(desk)
    assert sequences(delivery.due(0)) == [1, 2, 3, 4, 5]
    assert delivery.due(0) == []
    assert delivery.replayed() == [(desk.group.group_id, 5)]
    assert delivery.reached() == {"A": 5}


def test_a_replay_has_ended_only_when_all_of_it_arrived(desk) -> None:
    delivery = delivery_of(desk)
    delivery.network.disturb("A", Disturbance(delay_seconds=5), 0)
    assert delivery.due(0) == []
    assert delivery.replayed() == []
    assert sequences(delivery.due(5 * SECOND)) == [1, 2, 3, 4, 5]
    assert delivery.replayed() == [(desk.group.group_id, 5)]


@pytest.mark.parametrize("seed", range(20))
def test_what_lay_above_a_gap_comes_again_as_soon_as_it_has_closed(desk, seed: int) -> None:
    delivery = delivery_of(desk, seed)
    weather = Disturbance(reorder_seconds=60, duplicate=40, drop=40)
    delivery.network.disturb("A", weather, 0)
    seen: list[int] = []
    now: int | None = 0
    while now is not None:
        while together := sequences(delivery.due(now)):
            seen += dict.fromkeys(together)  # one that drops copies within a call, too
        now = delivery.network.next_due(now)
    position = 0
    for sequence in seen:  # a Worker that discards what lies above a gap
        position += sequence == position + 1
    assert position == 5


def test_nothing_arrives_over_a_cut_link(desk) -> None:
    delivery = delivery_of(desk)
    delivery.cut.add("A")
    assert delivery.due(0) == []
    assert delivery.reached() == {}
    delivery.connect()
    assert sequences(delivery.due(0)) == [1, 2, 3, 4, 5]
