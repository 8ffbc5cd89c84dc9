"""Spreading the numbers of a campaign over Dask: nodes, and what is under way on them.

Dask plays a world again whose node has died; the store drops what it knows already. Only this
module knows Dask, which is an extra of this package: it is imported where it is used. Never knows
what a world is about.
"""

from __future__ import annotations

import logging
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from enum import StrEnum
from importlib.util import find_spec
from multiprocessing import resource_tracker
from pathlib import Path
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import TYPE_CHECKING, Any

from attrs import frozen

from worker_conformance.errors import SuiteError, SuiteFailure, UsageError
from worker_conformance.judge.verdicts import Verdict
from worker_conformance.port import guard
from worker_conformance.suite.soak.outcome import Outcome
from worker_conformance.suite.soak.store import Store
from worker_conformance.suite.soak.world import close_benches, play_world

if TYPE_CHECKING:  # an extra, and slow to import
    from distributed import Client, Future

EXTRA = "cluster"
DISTRIBUTION = "missionweaveprotocol-worker-conformance"

UNDER_WAY_PER_THREAD = 3
"""A thread that has played a world finds the next one there, and little is lost at an end."""

GRACE_SECONDS = 30.0
"""At the end of the budget the worlds under way may end: a failure is being shortened, maybe."""

POLL_SECONDS = 0.25  # how long a signal may wait to be noticed
COUNT_SECONDS = 5.0  # how often nodes are counted that come and go
CONNECT_SECONDS = 30.0
FETCH_SECONDS = 5.0
PORT_MAX = 65_535

Clock = Callable[[], float]
Heard = Callable[[Outcome], None]


class Ending(StrEnum):
    """Why no further world was begun."""

    COMPLETE = "all worlds are played"
    BUDGET = "the budget is used up"
    STOPPED = "stopped by a signal"


@frozen
class Limits:
    """How far a campaign goes: `worlds` counts those played earlier too, `seconds` is real time."""

    seconds: float | None = None
    worlds: int | None = None


def refuse_without_dask() -> None:
    """Raise UsageError where the extra is not installed."""
    if find_spec("distributed") is None:
        raise UsageError(
            "no-dask",
            "'soak' spreads its worlds over Dask, which is not installed",
            f"python -m pip install '{DISTRIBUTION}[{EXTRA}]'; '--world N' needs no Dask",
        )


def refuse_bad_address(address: str) -> None:
    """Raise UsageError for what cannot be an address: a client that is given it hangs at its end.

    Needs Dask, and asks nothing of the network.
    """
    from distributed.comm.addressing import get_address_host_port

    try:
        port = get_address_host_port(address)[1]
    except (ValueError, ImportError) as error:
        raise _bad_address(address, str(error)) from None
    if not 1 <= port <= PORT_MAX:
        raise _bad_address(address, f"a port is a number from 1 to {PORT_MAX}")


def _bad_address(address: str, why: str) -> UsageError:
    cause = f"'{address}' is no address of a Dask scheduler: {why}"
    return UsageError(
        "no-cluster", cause, "write what 'dask scheduler' prints, tcp://host:8786 say"
    )


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set; a second one interrupts, as always."""
    stop = threading.Event()

    def asked(number: int, _: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt(number)
        stop.set()

    signals = (signal.SIGINT, signal.SIGTERM)
    before = {one: signal.signal(one, asked) for one in signals}
    try:
        yield stop
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


@contextmanager
def nodes(address: str | None, jobs: int) -> Iterator[Client]:
    """A client of the cluster at `address`, or of one of so many processes on this machine.

    Raises UsageError where nobody answers. On leaving, no process of ours is left: neither a node
    of this machine nor a Worker on anybody's.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    from distributed import Client

    with ExitStack() as stack:
        with _interrupts_wait():
            if address is None:
                cluster = stack.enter_context(_local(jobs))
                client = stack.enter_context(Client(cluster, set_as_default=False))
            else:
                client = stack.enter_context(_connected(address))
        try:
            yield client
        finally:
            with suppress(Exception):  # a cluster that has gone has no Workers of ours
                client.run(close_benches, on_error="ignore")


@contextmanager
def _local(jobs: int) -> Iterator[object]:
    from distributed import LocalCluster

    folder = Path(tempfile.mkdtemp(prefix="worker-conformance-soak-"))
    guard.watch_folder(folder)
    try:
        with LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            security=True,  # others on this machine could hand code to an open one
            dashboard_address=None,
            memory_limit=None,
            silence_logs=logging.CRITICAL,
            local_directory=str(folder),
        ) as cluster:
            yield cluster
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        guard.forget_folder(folder)


def _connected(address: str) -> Client:
    from distributed import Client

    refuse_bad_address(address)
    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        told = str(error).split("\n", 1)[0]
        raise UsageError(
            "no-cluster",
            f"no Dask scheduler answers at '{address}': {told}",
            "write what 'dask scheduler' prints, 'tcp://host:8786' say",
        ) from None


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Threads and processes begun in here are deaf to Ctrl-C, which a terminal sends to all.

    Whoever began them hears it, and ends them in order.
    """
    resource_tracker.ensure_running()  # it would open the ears of whatever thread it starts in
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def spread(
    store: Store,
    client: Client,
    limits: Limits,
    stop: threading.Event,
    heard: Heard,
    clock: Clock = perf_counter,
) -> Ending:
    """Play worlds until a limit is reached or `stop` is set; every outcome goes to the store.

    `heard` is called once for each world that is new to the store. Raises UsageError where a node
    cannot play or the cluster goes away; the store is whole all the same.
    """
    return _Spread(store, client, limits, stop, heard, clock).run()


class _Spread:
    """What is under way."""

    def __init__(
        self,
        store: Store,
        client: Client,
        limits: Limits,
        stop: threading.Event,
        heard: Heard,
        clock: Clock,
    ) -> None:
        self._store, self._client, self._limits = store, client, limits
        self._stop, self._heard, self._clock = stop, heard, clock
        self._answers: SimpleQueue[tuple[int, Future]] = SimpleQueue()
        self._under_way: dict[int, Future] = {}
        self._next = 0
        self._threads, self._counted_at = 0, float("-inf")

    def run(self) -> Ending:
        began = self._clock()
        end = began + (float("inf") if self._limits.seconds is None else self._limits.seconds)
        try:
            while True:
                self._refuse_lost_cluster()
                if self._stop.is_set():
                    return Ending.STOPPED
                if self._clock() >= end:
                    self._wait_for_the_rest(end + GRACE_SECONDS)
                    return Ending.BUDGET
                self._begin_more()
                if not self._under_way and self._is_complete():
                    return Ending.COMPLETE
                self._take_answers(min(POLL_SECONDS, max(0.0, end - self._clock())))
        finally:
            self._call_off()

    def _wait_for_the_rest(self, end: float) -> None:
        while self._under_way and not self._stop.is_set() and self._clock() < end:
            self._refuse_lost_cluster()
            self._take_answers(POLL_SECONDS)

    def _begin_more(self) -> None:
        if self._clock() - self._counted_at >= COUNT_SECONDS:
            self._threads = sum(self._client.nthreads().values())
            self._counted_at = self._clock()
        room = UNDER_WAY_PER_THREAD * self._threads - len(self._under_way)
        while room > 0 and not self._is_complete():
            number, self._next = self._next, self._next + 1
            if number not in self._store.tally.numbers:
                self._begin(number)
                room -= 1

    def _is_complete(self) -> bool:
        """Whether every number has been begun at least."""
        return self._limits.worlds is not None and self._next >= self._limits.worlds

    def _begin(self, number: int) -> None:
        future = self._client.submit(play_world, self._store.campaign, number, pure=False)
        self._under_way[number] = future
        future.add_done_callback(lambda done: self._answers.put((number, done)))

    def _take_answers(self, seconds: float) -> None:
        """Take what has come, and wait so long for the first of it."""
        with suppress(Empty):
            number, future = self._answers.get(timeout=seconds)
            while True:
                self._take(number, future)
                number, future = self._answers.get_nowait()

    def _take(self, number: int, future: Any) -> None:  # a Future; its type is the extra's
        if number not in self._under_way or self._under_way[number] is not future:
            return  # called off, or begun anew
        if future.status in ("cancelled", "lost"):
            self._begin(number)  # the scheduler has forgotten it
            return
        outcome = self._outcome(number, future)
        if outcome is None:
            self._answers.put((number, future))  # its node died after it had told of its end
            return
        del self._under_way[number]
        if self._store.take(outcome):
            self._heard(outcome)

    def _outcome(self, number: int, future: Any) -> Outcome | None:
        from distributed import KilledWorker

        try:
            outcome = future.result(timeout=FETCH_SECONDS)
        except TimeoutError:
            return None
        except KilledWorker:
            return self._deadly(number)
        except SuiteFailure:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a node without the suite raises
            told = f"{type(error).__name__}: {error}".split("\n", 1)[0]
            raise UsageError(
                "node",
                f"a node cannot play world {number}: {told}",
                "install the suite, in the same version, and the Worker on every node",
            ) from None
        if not isinstance(outcome, Outcome):
            raise SuiteError("node", f"a node answers with {type(outcome).__name__}")
        return outcome

    def _deadly(self, number: int) -> Outcome:
        """A world that ended every process which played it, the Worker's doing where it is one."""
        worker, info = self._store.campaign.worker, self._store.campaign.property_of(number)
        in_process = not worker.startswith(("stdio:", "tcp:"))
        verdict = Verdict.ADAPTER_ERROR if in_process else Verdict.SUITE_ERROR
        reason = "each process that played it ended before it had an answer"
        return Outcome(number, info.check_id, verdict, reason=reason)

    def _refuse_lost_cluster(self) -> None:
        if self._client.status not in ("running", "connecting"):
            raise UsageError(
                "cluster-lost",
                "the cluster has gone",
                "nothing is lost: the same command goes on where this one ended",
            )

    def _call_off(self) -> None:
        futures = list(self._under_way.values())
        self._under_way.clear()
        if futures:
            with suppress(Exception):  # the cluster may have gone
                self._client.cancel(futures, force=True)
