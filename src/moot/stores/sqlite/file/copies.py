"""Copies of a database: made while others write, verified, and put back in its place.

Above: hub/archive/backups.py names them, keeps them and asks. Below: SQLite's backup, migrate.py, soundness.py.
Not here: which copy, and whether anybody agreed.

A copy is one moment of the database: its reader holds one transaction from the first page to the last, so that
writers neither wait for it nor make it begin anew. It is written under another name and renamed when it has
been read back whole: a file called `*.db` in backups/ was complete and sound when it was made.
"""

import fcntl
import os
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

import apsw

from moot import files
from moot.errors import StoreDamaged, StoreUnwritable
from moot.storage import Inspection
from moot.stores.sqlite.file import database, migrate, outline
from moot.stores.sqlite.file.lock import WriterLock
from moot.stores.sqlite.file.soundness import read_all
from moot.stores.sqlite.file.untrusted import distrust
from moot.stores.sqlite.statements import BACKUP
from moot.stores.sqlite.trouble import ABOUT_THE_FILE, damaged, moot_errors

PAGES_AT_ONCE = 256
"""One mebibyte: between two steps other threads and readers of the disk get their turn."""
BESIDE = ("-wal", "-shm", "-journal")
MAX_ID = 1 << 53
"""Larger numbers are damage: no such id was ever given out."""
Token: TypeAlias = tuple[str, str, str, str]
"""Id, whose, digest, scopes."""
OPEN_MARK = 128
"""The byte of the `-shm` file on which every process that has the database open holds a shared lock."""


def copy(source: Path, target: Path) -> Inspection:
    """Make a verified copy of a database, even while it is in use."""
    with moot_errors(source):
        database.look_at(source)
        migrate.known_version(source, migrate.shipped(), reading=True)
    partial = target.with_name(target.name + ".partial")
    try:
        with moot_errors(target):
            _copy_pages(source, partial)
        found = inspect(partial)
        if found.problems:
            raise damaged(source, f"its copy failed verification: {found.problems[0]}")
        with moot_errors(target):
            partial.rename(target)
            sync_folder(target.parent)
    finally:
        remove(partial)
    return found


def _copy_pages(source: Path, target: Path) -> None:
    with moot_errors(source):
        there = database.reader(source)
    files.create_below(target.parent, (target.name,), b"")
    here = apsw.Connection(str(target))
    try:
        there.execute("BEGIN")
        there.execute(BACKUP.look).get  # noqa: B018  reading is what fixes the moment
        with here.backup("main", there, "main") as job:
            while not job.done:
                job.step(PAGES_AT_ONCE)
        here.pragma("journal_mode", "delete")  # one file, whole by itself
    except ABOUT_THE_FILE as error:
        raise damaged(source, str(error)) from error
    finally:
        here.close()
        there.close()


def inspect(path: Path) -> Inspection:
    """Read a copy whole: its pages, its schema, the chain of every conversation."""
    with moot_errors(path):
        database.look_at(path)
        version = migrate.known_version(path, migrate.shipped(), reading=True)
        if version >= migrate.shipped()[-1].number:
            return Inspection(version, *_read(path))
    return _inspect_older(path, version)


def _inspect_older(path: Path, version: int) -> Inspection:
    """Chains are read by today's code, so they are read in a copy of the copy that was brought up to date."""
    newer = path.with_name(path.name + ".checking")
    try:
        with moot_errors(path):
            remove(newer)
            _copy_pages(path, newer)
            _bring_up(newer)
            return Inspection(version, *_read(newer))
    finally:
        remove(newer)


def _read(path: Path) -> tuple[int, tuple[str, ...]]:
    connection = database.reader(path)
    try:
        database.give_shapes(connection)
        messages, problems = read_all(connection)
    except apsw.SQLError as error:
        raise damaged(path, str(error)) from error
    finally:
        connection.close()
    return messages, tuple(problems)


def _bring_up(path: Path) -> None:
    connection = apsw.Connection(str(path))
    distrust(connection)
    try:
        migrate.apply(connection, migrate.shipped())
    except migrate.Broken as broken:  # the steps are right: others have been through them
        raise damaged(path, str(broken)) from broken
    finally:
        connection.close()


# --- putting one back --------------------------------------------------------------------------------------


@contextmanager
def nobody_writes(db: Path) -> Iterator[None]:
    """Nobody opens the database for writing until the block is left; refused while somebody has it open."""
    lock = WriterLock(db.parent / "run" / "writer.lock")
    try:
        lock.take()
        yield
    finally:
        lock.close()


def holder(db: Path) -> int | None:
    """A process other than this one that has the database open. Not to be asked by a process that has it open
    itself: closing the file again would let go of its own locks."""
    try:
        file = os.open(db.with_name(db.name + "-shm"), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        record = _lock_record(fcntl.F_WRLCK)
        kind, pid = _read_lock(fcntl.fcntl(file, fcntl.F_GETLK, record))
    finally:
        os.close(file)
    return None if kind == fcntl.F_UNLCK else pid


_APPLE = sys.platform == "darwin"


def _lock_record(kind: int) -> bytes:
    if _APPLE:
        return struct.pack("qqihh", OPEN_MARK, 1, 0, kind, os.SEEK_SET)
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, OPEN_MARK, 1, 0)


def _read_lock(record: bytes) -> tuple[int, int]:
    if _APPLE:
        _, _, pid, kind, _ = struct.unpack("qqihh", record)
    else:
        kind, _, _, _, pid = struct.unpack("hhqqi4x", record)
    return kind, pid


def stage(source: Path, db: Path) -> tuple[Path, Inspection, int]:
    """A copy brought up to date beside the database it will replace, read whole, and how many tokens in it are no
    longer good; the database stays as it is."""
    staged = db.with_name(db.name + ".restoring")
    with moot_errors(source):
        database.look_at(source)
        migrate.known_version(source, migrate.shipped())
    remove(staged)
    try:
        with moot_errors(staged):
            _copy_pages(source, staged)
            _refuse_strange(source, staged)
            _bring_up(staged)
            revoked = _settle(staged, db)
        found = inspect(staged)
        if found.problems:
            raise damaged(source, f"it fails verification: {found.problems[0]}")
    except BaseException:  # half a database must not lie about
        remove(staged)
        raise
    return staged, found, revoked


def _refuse_strange(source: Path, staged: Path) -> None:
    """Before anything is written to it: what is not Moot's own might act on that."""
    version = migrate.known_version(staged, migrate.shipped())
    connection = database.reader(staged)
    try:
        strange = outline.differences(connection, version)
    finally:
        connection.close()
    if strange:
        raise damaged(source, strange[0])


def _settle(staged: Path, db: Path) -> int:
    """Fit a copy to the database it will replace; answers how many of its tokens are no longer valid."""
    turn, event = _last_numbers(db)
    good = _good_tokens(db)
    connection = apsw.Connection(str(staged))
    distrust(connection)
    try:
        with connection:
            connection.execute(BACKUP.go_on_behind, {"turn": turn, "event": event})
            connection.execute(BACKUP.next_epoch)
            connection.execute(BACKUP.forget_sockets)
            held: list[Token] = list(connection.execute(BACKUP.good_tokens))
            bad = [token for token in held if token not in good]
            connection.executemany(BACKUP.revoke_token, [(time.time(), token[0]) for token in bad])
    finally:
        connection.close()
    return len(bad)


def _last_numbers(db: Path) -> tuple[int, int]:
    """Where the numbers of the database to be replaced end, if it can still say."""
    [(turn, event)] = _rows_of(db, BACKUP.last_numbers) or [(0, 0)]
    return (turn, event) if max(turn, event) < MAX_ID else (0, 0)


def _good_tokens(db: Path) -> frozenset[Token]:
    """Tokens that are valid now. One that the database to be replaced does not know, or knows as revoked, was
    revoked since or never issued here; where that cannot be read, none is valid."""
    return frozenset(_rows_of(db, BACKUP.good_tokens))


def _rows_of(db: Path, statement: str) -> list[Any]:
    """Rows of the database to be replaced; none where it is missing or cannot be read."""
    if not db.exists():
        return []
    with suppress(StoreDamaged, StoreUnwritable, apsw.Error, OSError), moot_errors(db):
        database.look_at(db)
        connection = database.reader(db)
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()
    return []


def put_in_place(staged: Path, db: Path) -> None:
    """The staged copy becomes the database. The old one's log goes first: SQLite would replay it over the new."""
    with moot_errors(db):
        for ending in BESIDE:
            db.with_name(db.name + ending).unlink(missing_ok=True)
        sync_folder(db.parent)
        staged.rename(db)
        sync_folder(db.parent)


def fold_log(db: Path) -> None:
    """Whoever closes a database last folds its log into it: from here on the file is whole by itself."""
    with moot_errors(db):
        database.writer(db).close()


def set_aside(db: Path, folder: Path) -> None:
    """Keep a database that cannot be read, as it is: the file by a second name, its log moved."""
    with moot_errors(db):
        folder.mkdir(mode=0o700)
        if db.exists():
            os.link(db, folder / db.name)
        for ending in BESIDE:
            beside = db.with_name(db.name + ending)
            if beside.exists():
                beside.rename(folder / beside.name)
        sync_folder(folder)


def remove(path: Path) -> None:
    """A database file with whatever lies beside it."""
    for part in (path, *(path.with_name(path.name + ending) for ending in BESIDE)):
        part.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
