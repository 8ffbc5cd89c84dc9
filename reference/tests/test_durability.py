"""Section 5: what was committed stays, and what was not never was, on any disk.

The disk of faulty_disk.py stops, loses power or fails at every single operation in turn.
"""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from faulty_disk import FULL, IOERR, FaultyDisk, library
from test_crashes import doubled, outcome, play

from reference_worker import journal
from reference_worker.journal import Journal, JournalError
from reference_worker.projection import Projection, Receipt
from reference_worker.records import Group

Make = Callable[..., Any]
EVERY_WRITE = "WORKER_EVERY_WRITE" in os.environ  # a whole scenario for each: takes long
COMMITS = 7
NAMES = ("urn:test:group:A", "urn:test:group:B")
needs_faulty_disk = pytest.mark.skipif(
    library() is None, reason="Python's SQLite is linked in; a VFS of ours cannot reach it"
)


def commit(opened: Journal, projection: Projection, number: int) -> None:
    """One turn that moves both Cursors and leaves a receipt in each Group."""
    for name in NAMES:
        group = Group(name, "urn:test:mission", "urn:test:c", number, 1, "active", ("x" * 900,))
        projection.groups.put(name, group)
        projection.new_receipts[f"{name}:{number}"] = Receipt(name, number, "d" * 900)
    opened.commit(projection)


def write(directory: Path) -> int:
    """Commit as often as the disk allows; how often it did."""
    done = 0
    with suppress(JournalError):
        opened = Journal.open(directory)
        try:
            # So early that checkpoints, which write the database file, are among the operations.
            opened._connection.execute("PRAGMA wal_autocheckpoint=4")
            projection = opened.load()
            for number in range(1, COMMITS + 1):
                commit(opened, projection, number)
                done = number
        finally:
            opened.close()
    return done


def found(directory: Path) -> int:
    """How many commits a later life finds; every one of them has to be whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal, "SYNCHRONOUS", "OFF")  # the cut is over; only speed is at stake
        opened = Journal.open(directory)
    projection = opened.load()
    cursors = {group.cursor for group in projection.groups} or {0}
    assert len(cursors) == 1, "half a transaction"
    number = cursors.pop()
    for past in range(1, number + 1):
        for name in NAMES:
            assert opened.receipt(f"{name}:{past}") == Receipt(name, past, "d" * 900)
    commit(opened, projection, number + 1)  # and it can go on
    opened.close()
    return number


@pytest.fixture
def operations(tmp_path: Path) -> int:
    """How many operations `write` is on a disk that is well."""
    with FaultyDisk().mounted() as disk:
        assert write(tmp_path / "calm") == COMMITS
    assert any(s.synced or s.pending for p, s in disk.files.items() if p.endswith("sqlite3"))
    return disk.operations


@needs_faulty_disk
def test_a_power_cut_after_any_write_loses_nothing_that_was_committed(
    tmp_path: Path, operations: int
) -> None:
    for stop in range(1, operations + 1):
        with FaultyDisk().mounted() as disk:
            disk.stop_after = stop
            done = write(tmp_path / f"disk{stop}")
        for seed in (None, 1):  # nothing unsynced survives, or some of it, torn
            rng = None if seed is None else random.Random(seed * 10_000 + stop)
            cut = tmp_path / f"cut{stop}-{seed}"
            disk.power_cut(tmp_path / f"disk{stop}", cut, rng)
            assert found(cut) in (done, done + 1), (stop, seed)


@needs_faulty_disk
@pytest.mark.parametrize("failure", [IOERR, FULL], ids=["failed write", "full disk"])
def test_an_operation_that_fails_is_an_error_and_the_disk_stays_whole(
    tmp_path: Path, operations: int, failure: int
) -> None:
    for number in range(1, operations + 1):
        with FaultyDisk().mounted() as disk:
            disk.fail_at, disk.failure = number, failure
            done = write(tmp_path / f"disk{number}")
        assert found(tmp_path / f"disk{number}") in (done, done + 1), number


@needs_faulty_disk
def test_without_syncing_the_same_power_cut_would_be_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "SYNCHRONOUS", "OFF")
    with FaultyDisk().mounted() as disk:
        assert write(tmp_path / "disk") == COMMITS
    disk.power_cut(tmp_path / "disk", tmp_path / "cut")
    assert found(tmp_path / "cut") < COMMITS


@needs_faulty_disk
@pytest.mark.parametrize("slots", [1, 4])
def test_the_whole_worker_comes_to_the_same_end_over_a_power_cut(
    organization: Make, slots: int
) -> None:
    with FaultyDisk().mounted() as disk:
        calm = organization(slots=slots)
        play(calm)
    stride = 1 if EVERY_WRITE else max(1, disk.operations // 6)
    for stop in range(1 + slots, disk.operations, stride):
        org = organization(slots=slots)
        disk = FaultyDisk()
        disk.stop_after = stop

        def save(source: Path, target: Path, disk: FaultyDisk = disk) -> None:
            disk.stop_after = 0
            disk.power_cut(source, target, random.Random(disk.operations))

        org.save = save
        with disk.mounted():
            play(org)
        assert outcome(org) == outcome(calm), stop
        assert doubled(org) == [], stop


def damaged(path: Path) -> Iterator[tuple[str, bytes]]:
    """The same file, cut short or with one bit turned, at many places."""
    whole, rng = path.read_bytes(), random.Random(5)
    for length in (0, 1, 15, 16, 100, 511, 4095, 4096, 4097, len(whole) // 2, len(whole) - 1):
        yield f"cut at {length}", whole[:length]
    for _ in range(150):
        place = rng.randrange(len(whole) * 8)
        content = bytearray(whole)
        content[place // 8] ^= 1 << place % 8
        yield f"bit {place}", bytes(content)


def test_a_damaged_file_is_refused_or_set_aside_and_never_believed(tmp_path: Path) -> None:
    assert write(tmp_path / "whole") == COMMITS
    opened = Journal.open(tmp_path / "whole")
    opened._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    opened._connection.execute("PRAGMA journal_mode=DELETE")
    opened.close()
    for number, (what, content) in enumerate(damaged(tmp_path / "whole" / journal.FILE_NAME)):
        directory = tmp_path / str(number)
        directory.mkdir()
        (directory / journal.FILE_NAME).write_bytes(content)
        with suppress(JournalError):
            opened = Journal.open(directory)
            groups = {g.group_id: g for g in opened.load().groups}
            assert {g.cursor for g in groups.values()} <= {COMMITS}, what
            assert all(g.scopes == ("x" * 900,) for g in groups.values()), what
        opened.close()


def test_an_older_layout_is_set_aside(tmp_path: Path) -> None:
    write(tmp_path / "state")
    connection = sqlite3.connect(tmp_path / "state" / journal.FILE_NAME)
    connection.execute("PRAGMA user_version=1")
    connection.close()
    assert found(tmp_path / "state") == 0
    assert list((tmp_path / "state").glob("*.damaged"))
