"""A disk that loses power or fails, beneath the SQLite library that Python itself uses.

Responsible for a SQLite VFS, made with ctypes around the system's own: it counts every operation
that changes a file, can stop or fail at any of them, and knows what had been synced by then. Never
changes what SQLite reads while the disk is well.

What it proves: the journal's statements and pragmas, run by this very SQLite, keep their promise if
everything that was not synced is lost, or any part of it. What it does not prove: that the
operating system and the device keep theirs about fsync, or that directory entries survive.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

OK, IOERR, FULL = 0, 10, 13
POINTER, INT, INT64 = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
NAME = b"faulty"
# sqlite3_io_methods: its version, then functions in this order; sqlite3_vfs likewise.
FILE_FUNCTIONS = 18
WRITE, TRUNCATE, SYNC = 2, 3, 4
WRITE_TYPE = ctypes.CFUNCTYPE(INT, POINTER, POINTER, INT, INT64)
TRUNCATE_TYPE = ctypes.CFUNCTYPE(INT, POINTER, INT64)
SYNC_TYPE = ctypes.CFUNCTYPE(INT, POINTER, INT)
OPEN_TYPE = ctypes.CFUNCTYPE(INT, POINTER, ctypes.c_char_p, POINTER, INT, POINTER)
DELETE_TYPE = ctypes.CFUNCTYPE(INT, POINTER, ctypes.c_char_p, INT)

# For ever: a connection may be closed long after its disk was forgotten, and C code calls these.
_KEPT: list[Any] = []


class _FileMethods(ctypes.Structure):
    _fields_ = (("version", INT), ("functions", POINTER * FILE_FUNCTIONS))


class _Vfs(ctypes.Structure):
    _fields_ = (
        ("version", INT),
        ("file_size", INT),
        ("path_max", INT),
        ("next", POINTER),
        ("name", ctypes.c_char_p),
        ("data", POINTER),
        ("open", POINTER),
        ("delete", POINTER),
        ("others", POINTER * 14),
    )


class _File(ctypes.Structure):
    _fields_ = (("methods", ctypes.POINTER(_FileMethods)),)


def library() -> Any:
    """The SQLite library that Python's sqlite3 is linked to, or None where it cannot be reached."""
    found = ctypes.util.find_library("sqlite3")
    if found is None:
        return None
    loaded = ctypes.CDLL(found)
    loaded.sqlite3_libversion.restype = ctypes.c_char_p
    if loaded.sqlite3_libversion().decode() != sqlite3.sqlite_version:
        return None  # another copy: Python's own is linked in
    loaded.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    return loaded


class _Stored:
    """One file: what is surely on the disk, and what was written since the last sync."""

    def __init__(self) -> None:
        self.synced = bytearray()
        self.pending: list[tuple[int, bytes | None]] = []

    def image(self, rng: random.Random | None) -> bytes:
        """What a power cut leaves: the synced bytes and, with `rng`, some of the pending ones."""
        content = bytearray(self.synced)
        for offset, data in self.pending if rng is not None else ():
            assert rng is not None
            if rng.random() < 0.5:
                torn = data if data is None else data[: rng.choice([len(data), len(data) // 2])]
                _apply(content, offset, torn)
        return bytes(content)


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del content[offset:]
        return
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data


class FaultyDisk:
    """Every change of every database file, in order, while it is mounted."""

    def __init__(self) -> None:
        self.operations = 0
        self.stop_after = 0  # after so many operations nothing reaches the disk any more
        self.fail_at: int | None = None  # this one operation fails
        self.failure = IOERR
        self.files: dict[str, _Stored] = {}
        self._paths: dict[int, str] = {}

    def power_cut(self, directory: Path, target: Path, rng: random.Random | None = None) -> None:
        """Write what would be found after a power cut."""
        target.mkdir()
        for path, stored in self.files.items():
            if Path(path).parent == directory.resolve():
                (target / Path(path).name).write_bytes(stored.image(rng))

    def _next(self) -> int:
        """Count an operation and say what becomes of it."""
        if self.stop_after and self.operations >= self.stop_after:
            return IOERR
        self.operations += 1
        return self.failure if self.operations == self.fail_at else OK

    @contextmanager
    def mounted(self) -> Iterator[FaultyDisk]:
        """Make this the VFS of every connection that is opened meanwhile."""
        sqlite, vfs = library(), _Vfs()
        original = sqlite.sqlite3_vfs_find(None)
        ctypes.pointer(vfs)[0] = original.contents
        self._wrap_vfs(vfs, original)
        sqlite.sqlite3_vfs_register(ctypes.byref(vfs), 1)
        try:
            yield self
        finally:
            sqlite.sqlite3_vfs_unregister(ctypes.byref(vfs))
            sqlite.sqlite3_vfs_register(original, 1)

    def _wrap_vfs(self, vfs: _Vfs, original: Any) -> None:
        real_open = OPEN_TYPE(original.contents.open)
        real_delete = DELETE_TYPE(original.contents.delete)

        def open_file(_vfs: int, name: bytes | None, file: int, flags: int, out: int) -> int:
            code = real_open(ctypes.addressof(original.contents), name, file, flags, out)
            if code == OK and name is not None:
                path = name.decode()
                self._paths[file] = path
                stored = self.files.setdefault(path, _Stored())
                if not stored.synced and not stored.pending:
                    stored.synced = bytearray(Path(path).read_bytes())
                self._wrap_file(_File.from_address(file))
            return code

        def delete(_vfs: int, name: bytes, sync: int) -> int:
            code = self._next()
            if code == OK:
                code = real_delete(ctypes.addressof(original.contents), name, sync)
                self.files.pop(name.decode(), None)
            return code

        functions = OPEN_TYPE(open_file), DELETE_TYPE(delete)
        _KEPT.extend([vfs, *functions])
        vfs.name, vfs.next = NAME, None
        vfs.open, vfs.delete = (ctypes.cast(f, POINTER) for f in functions)

    def _wrap_file(self, file: _File) -> None:
        methods = _FileMethods()
        ctypes.pointer(methods)[0] = file.methods.contents
        real_write = WRITE_TYPE(methods.functions[WRITE])
        real_truncate = TRUNCATE_TYPE(methods.functions[TRUNCATE])

        def write(handle: int, data: int, size: int, offset: int) -> int:
            code = self._next()
            if code == OK:
                written = ctypes.string_at(data, size)
                self._stored(handle).pending.append((offset, written))
                code = real_write(handle, data, size, offset)
            return code

        def truncate(handle: int, size: int) -> int:
            code = self._next()
            if code == OK:
                self._stored(handle).pending.append((size, None))
                code = real_truncate(handle, size)
            return code

        def sync(handle: int, _flags: int) -> int:
            code = self._next()
            if code == OK:
                stored = self._stored(handle)
                for change in stored.pending:
                    _apply(stored.synced, *change)
                stored.pending.clear()
            return code  # the real disk is not asked: what it would keep is in `synced`

        functions = WRITE_TYPE(write), TRUNCATE_TYPE(truncate), SYNC_TYPE(sync)
        for place, function in zip((WRITE, TRUNCATE, SYNC), functions, strict=True):
            methods.functions[place] = ctypes.cast(function, POINTER).value
        _KEPT.extend([methods, *functions])
        file.methods = ctypes.pointer(methods)

    def _stored(self, handle: int) -> _Stored:
        return self.files.setdefault(self._paths[handle], _Stored())
