"""The database file: made whole or not at all, opened only when it is sound and of a version we know.

A new file is built under another name and moved into place, so an empty `moot.db` is never normal: it is
damage. Below: migrate.py. Above: engine.py and reads.py, which get their connections here.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

import apsw

from moot.errors import StoreUnwritable
from moot.files import create_below
from moot.stores.sqlite.file import migrate
from moot.stores.sqlite.file.lock import OpenMark, WriterLock
from moot.stores.sqlite.file.outline import differences
from moot.stores.sqlite.file.untrusted import PARTS, close_to_others, distrust
from moot.stores.sqlite.statements import RECORDS, SCHEMA, SHAPES
from moot.stores.sqlite.trouble import damaged, moot_errors

BUSY_MS = 5000
"""A last resort: whoever respects the writers' queue never finds the database busy."""
CHECKPOINT_PAGES = 1000
"""Then the log is folded back and begins again in the same file. While it grows a commit also has to sync the file's
new length, which took twice as long: measured with 4000, eight producers wrote a seventh less, more of them as much."""
KEPT_STATEMENTS = 300
"""Prepared statements the writer keeps. Each row written takes a place among them, and pushes out what was used so
many rows ago: with APSW's hundred, a batch of thirty posts would prepare all its statements anew."""
MAGIC = b"SQLite format 3\x00"
SMALLEST = 512
COUNTERS = 3


def prepare_home(home: Path) -> Path:
    """The folders a store needs; returns the database's path."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        (home / "run").mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreUnwritable(
            f"cannot create or write to {home}",
            detail=str(error),
            fix=("choose another folder with --home or MOOT_HOME",),
        ) from error
    return home / "moot.db"


def opened(
    path: Path, lock: WriterLock, mark: OpenMark, steps: tuple[migrate.Migration, ...]
) -> apsw.Connection:
    """Create the database, or check it and bring it up to date; then open it. One process at a time."""
    lock.take()
    try:
        with moot_errors(path):
            _refuse_to_begin_anew(path, mark)
            if path.exists():
                close_to_others(path)
                look_at(path)
                migrate.bring_up(path, steps, migrate.Opening(writer, differences))
            else:
                create(path, steps)
            connection = writer(path)
            if connection.execute(SCHEMA.counters).get != COUNTERS:
                raise damaged(path, "a counter is missing: ids would be reused")
            mark.share(_numbers(path))  # only now: from the first reading on the log is there
            return connection
    finally:
        lock.give()


def _refuse_to_begin_anew(path: Path, mark: OpenMark) -> None:
    """Who has a database open has its log and the log's index too. Where one of them is gone or another, it was
    deleted, with what it held; or the last who had it open closes it right now, which its mark tells first."""
    if not mark.others():
        return
    now = _numbers(path)
    gone = [name for name, number in mark.noted().items() if now.get(name) != number]
    if gone and mark.others():
        raise damaged(path, f"{' and '.join(gone)} was deleted, but another process still has it open")


def _numbers(path: Path) -> dict[str, int]:
    """The files of a database that are there, each by its number in the file system."""
    found = {}
    for ending in PARTS:
        part = path.with_name(path.name + ending)
        with suppress(FileNotFoundError):  # at any moment: whoever closes it last takes its log away
            found[part.name] = part.stat().st_ino
    return found


def create(path: Path, steps: tuple[migrate.Migration, ...]) -> None:
    left_over = path.with_name(path.name + "-wal")
    if left_over.exists() and left_over.stat().st_size:
        raise damaged(path, f"the file is missing, but its log {left_over.name} is still there")
    new = path.with_name(path.name + ".new")
    for part in (new, *(new.with_name(new.name + ending) for ending in ("-wal", "-shm", "-journal"))):
        part.unlink(missing_ok=True)
    create_below(new.parent, (new.name,), b"")
    connection = writer(new)
    migrate.apply(connection, steps)
    connection.close()
    new.rename(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def look_at(path: Path) -> None:
    """What can be seen without reading it all; `moot doctor` reads it all."""
    file = os.open(
        path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
    )  # a pipe would wait for somebody to write
    try:
        head = os.read(file, SMALLEST) if stat.S_ISREG(os.fstat(file).st_mode) else b""
    finally:
        os.close(file)
    if len(head) < SMALLEST:
        raise damaged(path, f"it is only {len(head)} bytes long")
    if not head.startswith(MAGIC):
        raise damaged(path, "it does not begin like a SQLite database")


def writer(path: Path) -> apsw.Connection:
    """The one connection of a process that writes and checkpoints."""
    connection = apsw.Connection(str(path), statementcachesize=KEPT_STATEMENTS)
    distrust(connection)
    connection.set_busy_timeout(BUSY_MS)
    connection.pragma("page_size", 4096)
    if connection.pragma("journal_mode", "wal") != "wal":
        raise StoreUnwritable(
            f"{path} cannot use WAL mode",
            detail="its file system does not support shared memory",
            fix=("put the home on a local disk",),
        )
    connection.pragma("synchronous", "full")
    connection.pragma(
        "secure_delete", "fast"
    )  # what was deleted is no longer in the file, nor in its backups
    connection.pragma("mmap_size", 0)
    connection.wal_autocheckpoint(CHECKPOINT_PAGES)
    return connection


def reader(path: Path) -> apsw.Connection:
    """A connection that cannot write, not even a checkpoint."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    distrust(connection)
    connection.set_busy_timeout(BUSY_MS)
    connection.pragma("mmap_size", 0)
    connection.wal_autocheckpoint(0)
    return connection


def give_shapes(connection: apsw.Connection) -> None:
    """The views through which values are read; they live with the connection."""
    connection.pragma("temp_store", "memory")
    for statement in (*SHAPES.all().values(), *(of.shape for of in RECORDS.values())):
        connection.execute(statement)
