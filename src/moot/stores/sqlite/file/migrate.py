"""Migrations: numbered files in schema/, each one transaction together with its row in `schema_version`.

A newer schema is refused and left untouched. Before a database is changed, a verified backup is made.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import apsw
from msgspec import Struct

from moot import __version__
from moot.errors import StoreNewer
from moot.files import create_below
from moot.stores.sqlite.file.untrusted import distrust
from moot.stores.sqlite.statements import SCHEMA
from moot.stores.sqlite.trouble import damaged

COMPAT = 12
"""The oldest schema whose Moot can still read what this one writes."""
BUSY_MS = 5000
"""While another process closes the database it is locked for a moment."""
_FILE = re.compile(r"^(\d{4})_\w+\.sql$")


class Opening(NamedTuple):
    """How a database is opened for migration, and what is unexpected in it: database.py and outline.py know."""

    write: Callable[[Path], apsw.Connection]
    differences: Callable[[apsw.Connection, int], list[str]]


class Migration(Struct, frozen=True):
    number: int
    script: str
    compat: int = COMPAT


def shipped() -> tuple[Migration, ...]:
    """The migrations in schema/, in order, without gaps."""
    folder = files("moot.stores.sqlite").joinpath("schema")
    found = [
        Migration(int(match[1]), file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if (match := _FILE.match(file.name))
    ]
    found.sort(key=lambda step: step.number)
    return tuple(found)


class Broken(Exception):
    """A migration step failed because of a bug in it, not because of the disk."""


def bring_up(path: Path, steps: tuple[Migration, ...], open_to: Opening) -> None:
    """Check a database; where it is older, back it up and migrate. Called under the writers' lock."""
    version = known_version(path, steps)
    if version == steps[-1].number:
        return
    connection = open_to.write(path)
    try:
        if strange := open_to.differences(connection, version):
            raise damaged(path, strange[0])
        backup(connection, path, version)
        apply(connection, steps)
    finally:
        connection.close()


def known_version(path: Path, steps: tuple[Migration, ...], *, reading: bool = False) -> int:
    """The schema's version, if we know it. Reads only, so that what is refused stays as it was."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        distrust(connection)
        connection.set_busy_timeout(BUSY_MS)
        connection.wal_autocheckpoint(0)
        found = recorded(connection, path)
    except apsw.SQLError as error:
        raise damaged(path, str(error)) from error
    finally:
        connection.close()
    version, compat, moot = found
    newest = steps[-1].number
    if version > newest and not (reading and compat <= newest):
        raise StoreNewer(
            f"{path} was written by moot {moot}, this is {__version__}",
            detail=f"its schema is {version}, the newest known here is {newest}; nothing was changed",
            fix=("uv tool upgrade moot",),
            path=str(path),
        )
    return version


def recorded(connection: apsw.Connection, path: Path) -> tuple[int, int, str]:
    """The newest row of schema_version; without one it is somebody else's file."""
    newest = connection.execute(SCHEMA.newest).fetchone() if connection.execute(SCHEMA.known).get else None
    if newest is None:
        raise damaged(path, "it has no Moot schema")
    version, compat, moot = newest
    return version, compat, moot


def apply(connection: apsw.Connection, steps: tuple[Migration, ...]) -> None:
    """Each step that is missing, in its own transaction; a step another process made meanwhile is skipped."""
    for step in steps:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not _has(connection, step.number):
                connection.execute(step.script)
                applied_at = datetime.now(UTC).isoformat()
                connection.execute(SCHEMA.record, (step.number, step.compat, __version__, applied_at))
            connection.execute("COMMIT")
        except BaseException as error:  # whatever it was, half a step must not stay
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if isinstance(error, apsw.SQLError):
                raise Broken(f"{step.number}: {error}") from error
            raise


def _has(connection: apsw.Connection, number: int) -> bool:
    return bool(connection.execute(SCHEMA.known).get) and bool(connection.execute(SCHEMA.has, (number,)).get)


def backup(connection: apsw.Connection, path: Path, version: int) -> Path:
    """A copy by SQLite's own backup, checked, in backups/. Only then may a migration begin."""
    folder = path.parent / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    target = folder / f"moot-schema{version}-{stamp}.db"
    create_below(folder, (target.name,), b"")
    copy = apsw.Connection(str(target))
    try:
        with copy.backup("main", connection, "main") as job:
            while not job.done:
                job.step(1000)
        copy.pragma("journal_mode", "delete")
        verdict = copy.pragma("integrity_check")
        if verdict != "ok" or recorded(copy, target)[0] != version:
            raise damaged(path, f"the backup made before the migration failed verification: {verdict}")
    finally:
        copy.close()
    return target
