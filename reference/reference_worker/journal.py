"""The journal: a SQLite file whose commit lets Cursors move and effects leave.

Responsible for durability (MWP-WRK-008): one transaction for each stimulus, synchronous on disk
before any of its effects is seen. Never interprets what it stores.
"""

from __future__ import annotations

import json
import sqlite3
import weakref
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from reference_worker.projection import Projection, Receipt
from reference_worker.records import from_row, to_row

FILE_NAME = "worker.sqlite3"
SYNCHRONOUS = "FULL"  # a commit is on the disk before its effects leave
SEAL_LENGTH = 8  # hexadecimal digits in front of each row: SQLite's pages carry no checksum
LAYOUT = 7  # raised whenever a record's fields change; an older file is rebuilt by Replay

_SCHEMA = """
CREATE TABLE IF NOT EXISTS state (
    name TEXT NOT NULL, key TEXT NOT NULL, row TEXT NOT NULL, PRIMARY KEY (name, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS receipts (
    event_id TEXT PRIMARY KEY, group_id TEXT NOT NULL, sequence INTEGER NOT NULL,
    digest TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS standings (
    group_id TEXT NOT NULL, work_item_id TEXT NOT NULL, state TEXT NOT NULL,
    PRIMARY KEY (group_id, work_item_id)
) WITHOUT ROWID;
"""


class JournalError(Exception):
    """The journal cannot be used. Carries code, cause and hint."""

    def __init__(self, code: str, cause: str, hint: str) -> None:
        super().__init__(f"{code}: {cause} ({hint})")
        self.code, self.cause, self.hint = code, cause, hint


class Journal:
    """An open journal. It is also the Recall that the projections ask."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        # Dropping a Worker without a word, as a crash within a process does, leaves no file open.
        self._close = weakref.finalize(self, connection.close)

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Open or create the journal of a state directory.

        A damaged or older file is set aside: every projection in it is rebuildable by Replay
        (section 5), so a clean first life is the honest recovery. Raises JournalError where the
        directory cannot be written or another Worker holds it.
        """
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise JournalError(
                "JOURNAL_UNWRITABLE", str(problem), "give a writable directory"
            ) from None
        path = directory / FILE_NAME
        try:
            return cls(_connect(path))
        except sqlite3.OperationalError as problem:
            hint = "another Worker may hold this state directory, or the disk is full"
            raise JournalError("JOURNAL_UNAVAILABLE", str(problem), hint) from None
        except sqlite3.DatabaseError:
            _set_aside(path)
            return cls(_connect(path))

    def load(self) -> Projection:
        """The projections as of the last commit."""
        projection = Projection(recall=self)
        try:
            for table in projection.tables():
                rows = self._connection.execute(
                    "SELECT key, row FROM state WHERE name = ? ORDER BY key", (table.name,)
                )
                table.load({key: from_row(table.record, _unsealed(key, row)) for key, row in rows})
        except (sqlite3.DatabaseError, ValueError, TypeError) as problem:
            hint = "empty the state directory; Replay rebuilds it"
            raise JournalError("JOURNAL_UNREADABLE", str(problem), hint) from None
        return projection

    def commit(self, projection: Projection) -> None:
        """Write what changed in one transaction, or nothing of it and raise JournalError."""
        if not projection.is_changed():
            return
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            for table in projection.tables():
                if table.changed:
                    self._write(table.name, {k: table.get(k) for k in table.changed})
            connection.executemany(
                "INSERT OR REPLACE INTO receipts VALUES (?, ?, ?, ?)",
                [(i, r.group_id, r.sequence, r.digest) for i, r in projection.new_receipts.items()],
            )
            connection.executemany(
                "INSERT OR REPLACE INTO standings VALUES (?, ?, ?)",
                [(*key, state) for key, state in projection.new_standings.items()],
            )
            connection.execute("COMMIT")
        except sqlite3.Error as problem:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            hint = "free the disk, then start the Worker again on the same directory"
            raise JournalError("JOURNAL_WRITE_FAILED", str(problem), hint) from None
        projection.committed()

    def _write(self, name: str, records: dict[str, object]) -> None:
        rows = [(name, k, _sealed(k, to_row(v))) for k, v in records.items() if v is not None]  # type: ignore[arg-type]  # every table holds records
        gone = [(name, key) for key, value in records.items() if value is None]
        if rows:
            self._connection.executemany("INSERT OR REPLACE INTO state VALUES (?, ?, ?)", rows)
        if gone:
            self._connection.executemany("DELETE FROM state WHERE name = ? AND key = ?", gone)

    def receipt(self, event_id: str) -> Receipt | None:
        """See projection.Recall."""
        query = "SELECT group_id, sequence, digest FROM receipts WHERE event_id = ?"
        row = self._look_up(query, event_id)
        return None if row is None else Receipt(str(row[0]), int(str(row[1])), str(row[2]))

    def receipts(self, event_ids: Iterable[str]) -> dict[str, Receipt]:
        """See projection.Recall."""
        names = list(event_ids)
        if len(names) == 1:
            found = self.receipt(names[0])
            return {} if found is None else {names[0]: found}
        query = (
            "SELECT event_id, group_id, sequence, digest FROM receipts"
            " WHERE event_id IN (SELECT value FROM json_each(?))"
        )
        try:
            rows = self._connection.execute(query, (json.dumps(names),)).fetchall()
        except sqlite3.Error as problem:
            hint = "empty the state directory; Replay rebuilds it"
            raise JournalError("JOURNAL_UNREADABLE", str(problem), hint) from None
        return {i: Receipt(group_id, sequence, text) for i, group_id, sequence, text in rows}

    def standing(self, group_id: str, work_item_id: str) -> str | None:
        """See projection.Recall."""
        query = "SELECT state FROM standings WHERE group_id = ? AND work_item_id = ?"
        row = self._look_up(query, group_id, work_item_id)
        return None if row is None else str(row[0])

    def _look_up(self, query: str, *key: str) -> tuple[object, ...] | None:
        try:
            row: tuple[object, ...] | None = self._connection.execute(query, key).fetchone()
        except sqlite3.Error as problem:
            hint = "empty the state directory; Replay rebuilds it"
            raise JournalError("JOURNAL_UNREADABLE", str(problem), hint) from None
        return row

    def close(self) -> None:
        """Close the file; what was committed stays."""
        self._close()


def _sealed(key: str, row: str) -> str:
    return f"{zlib.crc32(row.encode(), zlib.crc32(key.encode())):08x}{row}"


def _unsealed(key: str, sealed: str) -> str:
    row = sealed[SEAL_LENGTH:]
    if _sealed(key, row) != sealed:
        raise ValueError("a damaged row")
    return row


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=0, check_same_thread=False)
    try:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")  # two processes, one directory: refused
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={SYNCHRONOUS}")
        _check(connection)
        connection.executescript(_SCHEMA)
        connection.execute(f"PRAGMA user_version={LAYOUT}")
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA user_version").fetchone()[0] not in (0, LAYOUT):
        raise sqlite3.DatabaseError("another layout")
    if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise sqlite3.DatabaseError("damaged")


def _set_aside(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.replace(part.with_name(part.name + ".damaged"))
