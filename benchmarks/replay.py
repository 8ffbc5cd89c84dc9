"""Replay: the Worker beside a bare loop over the same Events, in one run.

    python benchmarks/replay.py [events] [--history lives] [--batch 500]

Histories: whole `lives` of WorkItems from offer to verification, one `queued` WorkItem an Event
(the heaviest: each leaves a new row), and `messages`, which concern no WorkItem.

The Worker takes `frames` through its Port, into a file-backed journal with synchronous=FULL, one
transaction a batch. The bare loop parses the same lines strictly, validates the same documents
(the frame, and the WorkItem and Leases that it carries) and executes the very statements with the
very rows of the Worker's transactions, on a journal opened the same way; with verification it also
canonicalizes every Event and verifies its signature. Seconds are processor time of this process.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from reference_worker.documents import (
    Document,
    decode_base64url,
    is_valid,
    parse,
    without_signature,
)
from reference_worker.instants import spell
from reference_worker.journal import Journal
from reference_worker.port import WorkerPort
from reference_worker.signatures import KeyRing, _public_key
from world import START, History, start

KINDS = ("lives", "queued", "messages")
Statement = tuple[str, list[tuple[object, ...]] | None]


class Unverified(KeyRing):
    """A ring that believes every signature: what is left is the cost of everything else."""

    def verify(
        self, document: Document, protected_time: str, signer: tuple[str, str] | None
    ) -> tuple[str, str]:
        """Nothing is checked and nothing is hashed."""
        del document, protected_time
        assert signer is not None, "Events name who accepted them"
        return signer[1], "sha256:" + "0" * 64


class Recorder:
    """A connection that notes every statement, so that the bare loop can execute the same."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.transactions: list[list[Statement]] = []

    @property
    def in_transaction(self) -> bool:
        """As the connection says."""
        return self.connection.in_transaction

    def execute(self, query: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Note transactions; look-ups are the Worker's own affair."""
        if query.startswith("BEGIN"):
            self.transactions.append([])
        if not query.startswith("SELECT"):
            self.transactions[-1].append((query, None))
        return self.connection.execute(query, values)

    def executemany(self, query: str, rows: Iterable[tuple[Any, ...]]) -> sqlite3.Cursor:
        """Note the rows."""
        kept = list(rows)
        self.transactions[-1].append((query, kept))
        return self.connection.executemany(query, kept)

    def close(self) -> None:
        """Close."""
        self.connection.close()


def open_worker(directory: Path, groups: int, *, verify: bool) -> WorkerPort:
    """A Worker that has subscribed to every Group and replays."""
    port = WorkerPort()
    port.handle(start(directory, groups))
    assert port._worker is not None
    assert port._worker._runtime is not None
    if not verify:
        keys = port._worker._runtime.keys
        port._worker._runtime.keys = Unverified(keys.bindings, keys.coherent)
    return port


def worker_replay(port: WorkerPort, lines: Sequence[str], batch: int) -> float:
    """Seconds for the whole history, parsing included."""
    began = time.process_time()
    for first in range(0, len(lines), batch):
        frames = [parse(line.encode()) for line in lines[first : first + batch]]
        answer = port.handle({"type": "frames", "now": spell(START), "frames": frames})
        assert not [e for e in answer["effects"] if e["type"] == "reject"], answer["effects"][0]
    return time.process_time() - began


def bare_batch(
    connection: sqlite3.Connection,
    lines: Sequence[str],
    statements: Sequence[Statement],
    verify: Callable[[Document], None] | None,
) -> float:
    """Seconds for parsing, validating and inserting, and verifying where asked."""
    began = time.process_time()
    for line in lines:
        frame: Any = parse(line.encode())
        assert is_valid("eventFrame", frame)
        event = frame["event"]
        payload = event["payload"]
        assert "workItem" not in payload or is_valid("workItem", payload["workItem"])
        assert all(is_valid("lease", lease) for lease in payload.get("leases", ()))
        if verify is not None:
            verify(event)
    for query, rows in statements:
        if rows is None:
            connection.execute(query)
        else:
            connection.executemany(query, rows)
    return time.process_time() - began


def verifier(keys: KeyRing) -> Callable[[Document], None]:
    """Canonicalize and verify, and nothing else: no registry rules, no authorization."""
    ring = {key_id: _public_key(b.public_key) for key_id, b in keys.bindings.items()}

    def verify(event: Document) -> None:
        envelope = event["signature"]
        signature = decode_base64url(envelope["value"])
        ring[envelope["keyId"]].verify(signature, without_signature(event))

    return verify


def record(path: Path, lines: Sequence[str], groups: int, batch: int) -> list[list[Statement]]:
    """The statements of the Worker's transactions, from a replay of its own."""
    port = open_worker(path / "record", groups, verify=True)
    assert port._journal is not None
    recorder = Recorder(port._journal._connection)
    port._journal._connection = recorder  # type: ignore[assignment]  # quacks like one
    worker_replay(port, lines, batch)
    port.shutdown()
    return recorder.transactions


def compare(kind: str, events: int, groups: int, batch: int) -> None:
    """Print both rates without and with verification, taken in turns, batch by batch."""
    lines = list(getattr(History(groups), kind)(events))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        transactions = record(path, lines, groups, batch)
        for verify in (False, True):
            port = open_worker(path / f"worker{verify}", groups, verify=verify)
            assert port._worker is not None
            assert port._worker._runtime is not None
            check = verifier(port._worker._runtime.keys) if verify else None
            connection = Journal.open(path / f"bare{verify}")._connection
            seconds = {"worker": 0.0, "bare": 0.0}
            for number, first in enumerate(range(0, events, batch)):
                part = lines[first : first + batch]  # in turns: both meet the same disturbances
                seconds["worker"] += worker_replay(port, part, batch)
                seconds["bare"] += bare_batch(connection, part, transactions[number], check)
            port.shutdown()
            connection.close()
            rates = {who: events / seconds[who] for who in seconds}
            facts = {"history": kind, "verify": verify, "events": events, "batch": batch}
            figures = {f"{who}PerSecond": round(rate) for who, rate in rates.items()}
            ratio = round(rates["worker"] / rates["bare"], 2)
            print(json.dumps({**facts, **figures, "ratio": ratio}), flush=True)


def main() -> None:
    """Compare one kind of history or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("events", type=int, nargs="?", default=100_000)
    parser.add_argument("--history", choices=KINDS, action="append")
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--groups", type=int, default=10)
    options = parser.parse_args()
    for kind in options.history or KINDS:
        compare(kind, options.events, options.groups, options.batch)


if __name__ == "__main__":
    main()
