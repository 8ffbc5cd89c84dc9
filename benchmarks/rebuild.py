"""Rebuilding queued WorkItems from the journal, and the memory they take.

    python benchmarks/rebuild.py [items]

A Worker takes so many accepted WorkItems of 100 Groups by Replay into a journal. Then, side by
side: the bare reading (every row fetched and parsed with json.loads) and Journal.load, which makes
the projections of them. Memory is what tracemalloc counts for the loaded projections, and for
those together with everything that `start` builds on them (queues, timers, indexes). At last every
item ends, and what is still held in memory is counted. Seconds are processor time of this process.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import tempfile
import time
import tracemalloc
from pathlib import Path

from reference_worker.instants import spell
from reference_worker.journal import Journal
from reference_worker.worker import Worker
from replay import open_worker, worker_replay
from world import START, History, group_id, start

GROUPS = 100
BATCH = 500
ROUNDS = 5


def bare(journal: Journal) -> float:
    """Seconds to read and parse the rows."""
    gc.collect()
    began = time.process_time()
    query = "SELECT key, row FROM state WHERE name = 'items' ORDER BY key"
    rows = [(key, json.loads(row[8:])) for key, row in journal._connection.execute(query)]
    seconds = time.process_time() - began
    assert rows
    return seconds


def load(journal: Journal) -> float:
    """Seconds to rebuild the projections."""
    gc.collect()
    began = time.process_time()
    projection = journal.load()
    seconds = time.process_time() - began
    assert len(projection.items)
    return seconds


def memory(journal: Journal, directory: Path) -> tuple[float, float]:
    """Bytes of the projections, and of a Worker that has queued all of them."""
    gc.collect()
    tracemalloc.start()
    projection = journal.load()
    gc.collect()
    loaded = tracemalloc.get_traced_memory()[0]
    worker = Worker(projection)
    worker.handle(start(directory, GROUPS, slots=1))
    for number in range(GROUPS):
        stimulus = {"type": "caught_up", "now": spell(START), "groupId": group_id(number)}
        worker.handle(stimulus)
    worker.handle({"type": "tick", "now": spell(START)})
    gc.collect()
    whole = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return loaded, whole


def main() -> None:
    """Print the costs and their ratio, and the bytes for each item."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("items", type=int, nargs="?", default=100_000)
    items = parser.parse_args().items
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name) / "state"
        history = History(GROUPS, signed=False)
        port = open_worker(directory, GROUPS, verify=False)
        worker_replay(port, list(history.queued(items)), BATCH)
        port.shutdown()
        journal = Journal.open(directory)
        seconds = {"bare": 0.0, "load": 0.0}
        rounds = [(bare(journal), load(journal)) for _ in range(ROUNDS)]
        seconds["bare"] = statistics.median(first for first, _ in rounds)
        seconds["load"] = statistics.median(second for _, second in rounds)
        loaded, whole = memory(journal, directory)
        journal.close()
        port = open_worker(directory, GROUPS, verify=False)
        worker_replay(port, list(history.ended(items)), BATCH)
        assert port._worker is not None
        held = len(port._worker.projection.items)
        port.shutdown()
    print(
        json.dumps(
            {
                "items": items,
                "bareSeconds": round(seconds["bare"], 3),
                "rebuildSeconds": round(seconds["load"], 3),
                "ratio": round(seconds["load"] / seconds["bare"], 2),
                "bytesPerItemLoaded": round(loaded / items),
                "bytesPerItemQueued": round(whole / items),
                "itemsInMemoryAfterAllEnded": held,
            }
        )
    )


if __name__ == "__main__":
    main()
