"""A campaign over a cluster: nothing is lost or counted twice, whatever dies on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from worker_conformance.errors import UsageError
from worker_conformance.judge.verdicts import Verdict
from worker_conformance.suite.soak import world
from worker_conformance.suite.soak.campaign import Campaign
from worker_conformance.suite.soak.cluster import Ending, Limits, nodes, spread
from worker_conformance.suite.soak.outcome import Outcome
from worker_conformance.suite.soak.store import OUTCOMES, Store

REFERENCE = "reference_worker:factory"
CAMPAIGN = Campaign(REFERENCE, "Reference Worker", "0", 5, ("PROP-0002", "PROP-0003"))
WORLDS = 6
KILLED_AFTER = 2
ANSWER_SECONDS = 60  # never waited for, unless something hangs

pytest.importorskip("distributed")  # an extra
pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's sockets, when its nodes are killed


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with nodes(None, 2) as connected:
        yield connected


def lines(folder: Path) -> list[Outcome]:
    return [Outcome.from_line(line) for line in (folder / OUTCOMES).read_bytes().splitlines()]


def test_every_world_is_accounted_for_once_though_a_node_is_killed(
    client: Any, tmp_path: Path
) -> None:
    victim = next(iter(client.run(os.getpid).values()))
    heard: list[Outcome] = []

    def hear(outcome: Outcome) -> None:
        heard.append(outcome)
        if len(heard) == KILLED_AFTER:
            os.kill(victim, signal.SIGKILL)

    with Store(tmp_path, CAMPAIGN) as store:
        ending = spread(store, client, Limits(worlds=WORLDS), threading.Event(), hear)
    assert ending is Ending.COMPLETE
    assert len(heard) == WORLDS
    assert sorted(one.number for one in lines(tmp_path)) == list(range(WORLDS))
    assert victim not in client.run(os.getpid).values()

    # What came over the cluster is what this process gets for the same number.
    known = next(one for one in heard if one.number == WORLDS - 1)
    assert world.play_world(CAMPAIGN, WORLDS - 1) == known
    world.close_benches()

    # A later time goes on behind it, and plays nothing again.
    with Store(tmp_path, CAMPAIGN) as store:
        stop = threading.Event()
        assert spread(store, client, Limits(worlds=WORLDS + 1), stop, hear) is Ending.COMPLETE
    assert len(heard) == WORLDS + 1


def test_a_budget_and_a_signal_end_a_campaign_that_has_no_end(client: Any, tmp_path: Path) -> None:
    stop = threading.Event()
    with Store(tmp_path, CAMPAIGN) as store:
        assert spread(store, client, Limits(seconds=0.5), stop, lambda _: None) is Ending.BUDGET
        ending = spread(store, client, Limits(), stop, lambda _: stop.set())
    assert ending is Ending.STOPPED
    numbers = [one.number for one in lines(tmp_path)]
    assert len(numbers) == len(set(numbers))


class Deadly:
    """A Future of a task that has ended each node it was given to."""

    status = "error"

    def add_done_callback(self, heard: Callable[[Deadly], None]) -> None:
        heard(self)

    def result(self, **_: object) -> None:
        from distributed import KilledWorker

        raise KilledWorker("a task", "a node", 4)


class DeadlyCluster:
    """A client of nothing but such tasks."""

    status = "running"

    def nthreads(self) -> dict[str, int]:
        return {"a node": 1}

    def submit(self, *_: object, **__: object) -> Deadly:
        return Deadly()


def test_a_worker_that_ends_its_process_is_told_with_the_number_of_the_world(
    tmp_path: Path,
) -> None:
    heard: list[Outcome] = []
    client: Any = DeadlyCluster()
    with Store(tmp_path, CAMPAIGN) as store:
        spread(store, client, Limits(worlds=2), threading.Event(), heard.append)
    assert [one.verdict for one in heard] == [Verdict.ADAPTER_ERROR] * 2
    assert "ended before it had an answer" in heard[0].reason


def test_a_cluster_that_exists_is_used_and_left_without_a_worker(tmp_path: Path) -> None:
    from distributed import LocalCluster

    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            protocol="tcp",
            dashboard_address=None,
        ) as cluster,
        Store(tmp_path, CAMPAIGN) as store,
    ):
        with nodes(cluster.scheduler_address, 1) as client:
            spread(store, client, Limits(worlds=1), threading.Event(), lambda _: None)
            assert world.open_benches() == 1  # its only node is a thread of this process
        assert world.open_benches() == 0
        assert store.tally.worlds == 1


def test_no_cluster_at_an_address_is_a_mistake_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker_conformance.suite.soak.cluster.CONNECT_SECONDS", 0.5)
    with (
        pytest.raises(UsageError, match="no Dask scheduler answers"),
        nodes("tcp://127.0.0.1:9", 1),
    ):
        pass


@pytest.mark.parametrize("address", ["foo", "", "fnord://x:1", "tcp://host", "tcp://host:99999"])
def test_what_is_no_address_is_refused_before_a_client_is_made(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(*_: object, **__: object) -> None:
        pytest.fail("a client was made, which hangs when it is closed")

    monkeypatch.setattr("distributed.Client", made)
    with pytest.raises(UsageError, match="is no address of a Dask scheduler"), nodes(address, 1):
        pass


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_order_and_leaves_no_process(
    how: signal.Signals, tmp_path: Path
) -> None:
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    program += "from worker_conformance.cli import main; main()"
    store = tmp_path / "store"
    arguments = ["soak", "--seed", "5", "--jobs", "1", "--store", str(store), "--worlds", "100000"]
    soak = subprocess.Popen(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        start_new_session=True,
    )
    try:
        _wait_for_a_world(store / OUTCOMES, soak)
        if how is signal.SIGINT:
            os.killpg(soak.pid, how)  # as a terminal does
        else:
            soak.send_signal(how)
        # The nodes hold the other ends of the pipes: these close when all are gone.
        out, err = soak.communicate(timeout=ANSWER_SECONDS)
    finally:
        soak.kill()
    assert "stopped by a signal" in out
    assert "Traceback" not in err
    assert soak.returncode == 0
    assert len(lines(store)) == int(out.splitlines()[-1].split()[0])
    assert (store / "report.html").exists()
    assert not list(tmp_path.glob("worker-conformance-soak-*"))


def _wait_for_a_world(path: Path, soak: subprocess.Popen[str]) -> None:
    """Nobody tells when it begins: look, after a little work each time, so and so often."""
    for _ in range(3_000):
        assert soak.poll() is None, soak.communicate()
        if path.exists() and b"\n" in path.read_bytes():
            return
        subprocess.run([sys.executable, "-S", "-c", ""], check=True)
    raise AssertionError("no world was played")
