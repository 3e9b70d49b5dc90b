"""All that a database file holds, read and written row by row, for moving a whole store.

Above: stores/transfer.py. A store that is taken in grows in a file of another name, and becomes the home's database
when it is whole: half of one is never opened. Nobody opens the home's database for writing meanwhile.
"""

from collections.abc import AsyncIterator, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
from msgspec import json

from moot.errors import Conflict, HubRunning, NotFound
from moot.stores.sqlite.file import copies, database, migrate
from moot.stores.sqlite.file.lock import WriterLock
from moot.stores.sqlite.file.soundness import read_all
from moot.stores.sqlite.statements import RECORDS, SOUND, TRANSFER, WRITE
from moot.stores.sqlite.trouble import moot_errors
from moot.stores.transfer import AT_ONCE, KINDS, InstanceFacts, TransferMark, put_statements

PUT = put_statements(WRITE, RECORDS)
ENDING = ".moving"
MOVING = "moving"


class SqliteHoldings:
    """`Holdings` of a database that nobody has open."""

    def __init__(self, path: Path, lock: WriterLock, connection: apsw.Connection) -> None:
        self.place = str(path)
        self._path = path
        self._lock = lock
        self._connection = connection

    @classmethod
    async def open(cls, home: Path) -> "SqliteHoldings":
        path = database.prepare_home(home)
        if not path.exists():
            raise NotFound(f"there is nothing to move: {path} does not exist", ref=path.name)
        lock = _taken(path)
        try:
            with moot_errors(path):
                _refuse_older(path)
                connection = database.reader(path)
                database.give_shapes(connection)
        except BaseException:  # nothing may stay locked
            lock.close()
            raise
        return cls(path, lock, connection)

    async def close(self) -> None:
        self._connection.close()
        self._lock.close()

    async def facts(self) -> InstanceFacts:
        with moot_errors(self._path):
            named: list[Any] = self._connection.execute(TRANSFER.facts).fetchall()
            reach: list[Any] = self._connection.execute(TRANSFER.reach).fetchall()
        return InstanceFacts(dict(named), *reach[0])

    async def sizes(self) -> dict[str, int]:
        with moot_errors(self._path):
            sizes: list[Any] = self._connection.execute(TRANSFER.sizes).fetchall()
            records = {kind: sum(map(len, self._rows(kind))) for kind in RECORDS}
        return dict(sizes) | records

    async def values(self, kind: str) -> AsyncIterator[list[Any]]:
        with moot_errors(self._path):
            for found in self._rows(kind):
                yield [KINDS[kind].one(shape) for _, shape in found]

    def _rows(self, kind: str) -> Iterator[list[Any]]:
        records = RECORDS.get(kind)
        statement = records.every if records else (TRANSFER.all().get(kind) or SOUND.all()[kind])
        cursor = self._connection.execute(statement)
        try:
            while found := list(islice(cursor, AT_ONCE)):
                yield found
        finally:
            cursor.close()


class NewSqliteHoldings(SqliteHoldings):
    """`EmptyHoldings`: a database that becomes the home's once it is whole."""

    @classmethod
    async def open(cls, home: Path) -> "NewSqliteHoldings":
        path = database.prepare_home(home)
        lock = _taken(path)
        try:
            left = [part for part in (path, path.with_name(path.name + "-wal")) if _holds_something(part)]
            if left:
                raise Conflict(
                    f"{left[0]} already exists",
                    detail="moving fills a new database and replaces none; nothing was changed",
                    fix=(f"move it out of the way: mkdir {path.parent}/old && mv {path}* {path.parent}/old",),
                )
            growing = path.with_name(path.name + ENDING)
            with moot_errors(growing):
                if not growing.exists():
                    database.create(growing, migrate.shipped())
                connection = database.writer(growing)
                database.give_shapes(connection)
        except BaseException:  # nothing may stay locked
            lock.close()
            raise
        made = cls(path, lock, connection)
        made._growing = growing
        return made

    _growing: Path

    async def mark(self) -> TransferMark | None:
        with moot_errors(self._growing):
            found = self._connection.execute(TRANSFER.mark).get
        return None if found is None else json.decode(found, type=TransferMark)

    async def put(self, kind: str, values: list[Any], mark: TransferMark) -> None:
        with moot_errors(self._growing), self._connection:
            self._connection.executemany(PUT[kind], [KINDS[kind].row(value) for value in values])
            if kind == "registry":
                names = [
                    (name, participant.id)
                    for participant in values
                    for name in (participant.id, participant.name, *participant.aliases)
                ]
                self._connection.executemany(WRITE.put_name, names)
            self._note(mark)

    def _note(self, mark: TransferMark) -> None:
        self._connection.execute(TRANSFER.put_fact, (MOVING, json.encode(mark).decode()))

    async def empty(self, mark: TransferMark) -> None:
        """A new file is quicker than an emptied one."""
        self._connection.close()
        copies.remove(self._growing)
        with moot_errors(self._growing):
            database.create(self._growing, migrate.shipped())
            self._connection = database.writer(self._growing)
            database.give_shapes(self._connection)
            self._note(mark)

    async def problems(self) -> list[str]:
        with moot_errors(self._growing):
            _, found = read_all(self._connection)
            return found

    async def finish(self, facts: InstanceFacts) -> None:
        with moot_errors(self._growing):
            with self._connection:
                self._connection.executemany(TRANSFER.put_fact, list(facts.named.items()))
                reach = {"event": facts.last_event, "horizon": facts.horizon}
                self._connection.execute(TRANSFER.go_on_behind, reach)
                self._connection.execute(TRANSFER.unmark)
            self._connection.close()
        copies.put_in_place(self._growing, self._path)


def _taken(path: Path) -> WriterLock:
    """Nobody has it open, and nobody opens it for writing until the lock is closed."""
    lock = WriterLock(path.parent / "run" / "writer.lock")
    try:
        lock.take()
        pid = copies.holder(path)
        if pid is not None:
            raise HubRunning(
                f"{path} is in use: process {pid} has it open",
                detail="a store is moved while nobody uses it; nothing was changed",
                fix=(f"kill {pid}",),
            )
    except BaseException:  # nothing may stay locked
        lock.close()
        raise
    return lock


def _holds_something(part: Path) -> bool:
    return part.exists() and part.stat().st_size > 0


def _refuse_older(path: Path) -> None:
    database.look_at(path)
    newest = migrate.shipped()[-1].number
    version = migrate.known_version(path, migrate.shipped())
    if version != newest:
        raise Conflict(
            f"{path} was written by an older version of Moot",
            detail=f"its schema is {version}, and {newest} is needed; moving does not change it",
            fix=("use this home once with this version, then move it",),
        )
