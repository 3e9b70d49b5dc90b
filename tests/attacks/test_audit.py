"""What somebody with the database in their hands could do to it: every single edit, deletion, insertion or swap in what
the audit holds is found by verifying, and named."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from moot import Hub, agent
from moot.errors import MootError
from moot.hub.process import heads_key
from moot.hub.process.heads_export import HeadsExport
from moot.hub.process.heads_file import HeadsFile
from moot.model.entrance import DoorName
from moot.settings import Home
from moot.stores.sqlite.file import database, soundness

pytestmark = pytest.mark.req("S-17")

TRIES = 1000
TABLES = {
    "messages": ("conversation", "seq"),
    "revisions": ("conversation", "chain_place"),
    "agent_links": ("id",),
    "tasks": ("id",),
    "notes": ("name",),
    "note_versions": ("note", "version"),
    "note_permissions": ("note", "participant"),
    "audit_entries": ("chain", "place"),
    "chain_heads": ("chain",),
}
"""By table, the key of its rows."""
WORDS = {
    "messages": "message entry",
    "revisions": "message entry revisions",
    "agent_links": "link agent_links",
    "tasks": "task",
    "notes": "note",
    "note_versions": "note",
    "note_permissions": "permission note_permissions",
    "audit_entries": "acts refusals task link permission entries audit_entries",
    "chain_heads": "acts refusals chain_heads head",
}
"""Of which the report of a problem there has at least one."""


@agent("arya")
async def arya(turn: Any) -> str:
    return f"done: {turn.text}"


@agent("gendry")
async def gendry(turn: Any) -> str:
    return "[PASS]"


@agent("loner")
async def loner(turn: Any) -> str:
    return "[PASS]"


async def lived(home: Path) -> None:
    """A home with every kind of row, and what is known of it outside."""
    async with Hub.open(home, agents=[arya, gendry, loner]) as hub:
        await hub.conversations.create("room", participants=["arya"])
        for text in ("one", "@arya two", "three"):
            await hub.through(DoorName.CLI).post("room", text)
        await hub.settled()
        [first, *_] = await hub.messages("room")
        edited = await hub.edit(first.id, "one, mended", version=1)
        await hub.delete(edited.id, version=2)
        link = await hub.links.create("arya", "gendry", relationship="superior")
        await hub.links.update(link.id, relationship="peer")
        await hub.links.delete((await hub.links.create("gendry", "user")).id, purge=True)
        await hub.delegate("arya", "look into it")
        await hub.settled()
        for name in ("plan", "other"):
            await hub.notes.create(name, "one")
            await hub.notes.append(name, "two")
            for who in ("arya", "gendry"):
                await hub.notes.share(name, who, "read")
        await hub.notes.share("plan", "gendry", "none")
        for target in ("arya", "arya", "gendry"):
            try:
                await hub.voice_of("loner", DoorName.MCP).send(target, "let me in")
            except MootError:
                continue
        await HeadsExport(hub._core.parts).export()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("audited")
    asyncio.run(lived(home))
    return home


class Copies:
    """Copies of a database in memory, one after the other on one connection."""

    def __init__(self, path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[18:20] = b"\x01\x01"  # not WAL, which needs a file
        self._data = bytes(data)
        self.connection = apsw.Connection(":memory:")
        self.renew()
        database.give_shapes(self.connection)

    def renew(self) -> None:
        self.connection.deserialize("main", self._data)


class Tampering:
    """One random change to a copy of the database."""

    def __init__(self, connection: apsw.Connection, chance: random.Random) -> None:
        self._connection = connection
        self._chance = chance
        self.table = chance.choice(list(TABLES))
        self.what = ""

    def columns(self) -> list[str]:
        rows = self._connection.execute("SELECT name FROM pragma_table_info(?)", (self.table,))
        return [str(name) for (name,) in rows]

    def rows(self) -> list[tuple[Any, ...]]:
        names = ", ".join(f'"{name}"' for name in self.columns())
        return list(self._connection.execute(f"SELECT {names} FROM {self.table}"))

    def do(self) -> bool:
        """Whether anything has changed."""
        kinds: dict[str, Callable[[], None]] = {
            "edit": self._edit,
            "delete": self._delete,
            "insert": self._insert,
            "swap": self._swap,
        }
        self.what = self._chance.choice(list(kinds))
        before = sorted(map(repr, self.rows()))
        try:
            kinds[self.what]()
        except apsw.ConstraintError:
            return False
        return before != sorted(map(repr, self.rows()))

    def _where(self, row: dict[str, Any]) -> tuple[str, list[Any]]:
        key = TABLES[self.table]
        return " AND ".join(f'"{name}" = ?' for name in key), [row[name] for name in key]

    def _row(self) -> dict[str, Any]:
        return dict(zip(self.columns(), self._chance.choice(self.rows()), strict=True))

    def _edit(self) -> None:
        row = self._row()
        name = self._chance.choice(self.columns())
        where, key = self._where(row)
        value = self._other(row[name])
        self.what = f"edit of {name}"
        self._connection.execute(f'UPDATE {self.table} SET "{name}" = ? WHERE {where}', [value, *key])

    def _other(self, value: Any) -> Any:
        if isinstance(value, int | float):
            return value + self._chance.choice((1, 2, 7))
        text = str(value or "")
        return text[:-1] if text and self._chance.random() < 0.3 else f"{text}x"

    def _delete(self) -> None:
        where, key = self._where(self._row())
        self._connection.execute(f"DELETE FROM {self.table} WHERE {where}", key)

    def _insert(self) -> None:
        row = self._row()
        for name in TABLES[self.table]:
            if self._chance.random() < 0.7:
                row[name] = self._other(row[name])
        names = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join("?" for _ in row)
        self._connection.execute(f"INSERT INTO {self.table} ({names}) VALUES ({marks})", list(row.values()))

    def _swap(self) -> None:
        """Two rows change places: all that they hold but their keys."""
        one, other = self._row(), self._row()
        rest = [name for name in self.columns() if name not in TABLES[self.table]]
        for row, values in ((one, other), (other, one)):
            where, key = self._where(row)
            sets = ", ".join(f'"{name}" = ?' for name in rest)
            new = [values[name] for name in rest]
            self._connection.execute(f"UPDATE {self.table} SET {sets} WHERE {where}", [*new, *key])


def test_every_single_change_of_the_database_is_found_and_named(original: Path) -> None:
    home = Home(original)
    known = HeadsFile(home, heads_key.read(heads_key.place_of(home, ""))).read()
    assert known
    copies = Copies(original / "moot.db")
    whole = soundness.verify(copies.connection, known)
    assert whole.problems == (), whole.problems
    assert whole.purged
    chance = random.Random(20261117)
    tried, unseen, unnamed = 0, [], []
    while tried < TRIES:
        copies.renew()
        tampering = Tampering(copies.connection, chance)
        if not tampering.do():
            continue
        tried += 1
        problems = soundness.verify(copies.connection, known).problems
        if not problems:
            unseen.append(f"{tampering.table}: {tampering.what}")
        elif not any(word in text for text in problems for word in WORDS[tampering.table].split()):
            unnamed.append((tampering.table, tampering.what, problems[:2]))
    assert unseen == []
    assert unnamed == []
