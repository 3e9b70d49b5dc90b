"""A home moved to PostgreSQL and back: everything arrives, an interruption costs nothing, the old one stays."""

import asyncio
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import asyncpg
import pytest

from moot import Hub
from moot.errors import BadValue, Conflict, HubRunning, NotFound, StoreDamaged, StoreUnwritable
from moot.move_store import transfer_store
from moot.settings import Home
from moot.stores.postgres import holdings
from moot.stores.postgres.address import address_of
from moot.stores.postgres.holdings import PostgresHoldings
from moot.stores.sqlite.file import holdings as file_holdings
from moot.stores.sqlite.file.holdings import SqliteHoldings
from moot.stores.transfer import KINDS
from tests.migration import story
from tests.support.postgres import emptied
from tests.support.processes import NIGHTLY

pytestmark = pytest.mark.req("K-04")

BACK = "sqlite:moot.db"
MESSAGES = 100_000 if NIGHTLY else 2_000
MADE_ANEW = {"counters", "schema_version", "message_times", "message_words"}
"""Of each database its own."""
COLUMNS = """
SELECT group_concat('"' || name || '"') FROM pragma_table_xinfo(?)
WHERE hidden = 0 AND name NOT IN ('row', 'live_until')
"""
"""Rows are numbered anew; how long agents are there is what the lease of their host says."""


def quiet(what: str, done: int, total: int) -> None:
    """Nobody looks."""


def tables(connection: apsw.Connection) -> list[str]:
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    return [name for (name,) in found if name not in MADE_ANEW and not name.startswith("message_words_")]


def contents(db: Path) -> dict[str, list[Any]]:
    """All rows of all tables; of messages without the number of their row, but in its order."""
    connection = apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)
    columns = {name: connection.execute(COLUMNS, (name,)).get for name in tables(connection)}
    rows = {name: connection.execute(f'SELECT {columns[name]} FROM "{name}"').fetchall() for name in columns}
    connection.close()
    return {name: found if name == "messages" else sorted(found, key=repr) for name, found in rows.items()}


def point(home: Home, url: str) -> None:
    """Set the home to another store."""
    text = home.toml.read_text(encoding="utf-8").partition("[store]")[0]
    home.toml.write_text(f'{text}[store]\nurl = "{url}"\n', encoding="utf-8")


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which everything has happened that leaves a row."""
    home = tmp_path_factory.mktemp("story") / "home"
    asyncio.run(story.write(home))
    return home


@pytest.fixture
def home(lived_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A copy of it, moved in small pieces."""
    for engine in (holdings, file_holdings):
        monkeypatch.setattr(engine, "AT_ONCE", 7)
    shutil.copytree(lived_in, tmp_path / "home", ignore=shutil.ignore_patterns("*.sock"))
    return Home(tmp_path / "home")


@pytest.fixture
async def server() -> str:
    return await emptied()


async def test_everything_arrives_there_and_back(home: Home, server: str) -> None:
    before, digest = contents(home.db), hashlib.sha256(home.db.read_bytes()).hexdigest()
    assert all(before[name] for name in before if name not in ("note_permissions",)), (
        "the story has every table"
    )
    there = await transfer_store(home, server, quiet)
    assert hashlib.sha256(home.db.read_bytes()).hexdigest() == digest
    assert (there.messages, there.resumed) == (len(before["messages"]), 0)
    point(home, server)
    home.db.rename(home.path / "old.db")
    back = await transfer_store(home, BACK, quiet)
    assert back.rows == there.rows
    assert contents(home.db) == before


async def test_what_was_moved_is_talked_on_in(home: Home, server: str) -> None:
    await transfer_store(home, server, quiet)
    point(home, server)
    async with Hub.open(home.path) as hub:
        was = (await hub.messages("watch"))[-1]
        receipt = await hub.post("watch", "harvest time, on a server")
        assert receipt.seq == was.seq + 1
        assert len(await hub.search("harvest server")) == 1
    home.db.rename(home.path / "old.db")
    await transfer_store(home, BACK, quiet)
    point(home, BACK)
    async with Hub.open(home.path) as hub:
        assert (await hub.post("watch", "and home again")).seq == was.seq + 2
        assert len(await hub.search("harvest server")) == 1


class Cut(Exception):
    """The power goes."""


def cut_after(rows: int) -> Callable[[str, int, int], None]:
    def report(what: str, done: int, total: int) -> None:
        if done >= rows:
            raise Cut

    return report


async def test_a_move_that_was_cut_goes_on_where_it_was(home: Home, server: str) -> None:
    before = contents(home.db)
    total = sum(len(rows) for rows in before.values())
    for rows in (1, total // 2, total // 2 + 40):
        with pytest.raises(Cut):
            await transfer_store(home, server, cut_after(rows))
    point(home, server)
    for opening in (Hub.open(home.path), Hub.reading(home.path)):
        with pytest.raises(StoreUnwritable, match="not all of it has arrived"):
            await opening.__aenter__()
    point(home, BACK)
    done = await transfer_store(home, server, quiet)
    assert total // 2 < done.resumed < done.rows
    point(home, server)
    home.db.rename(home.path / "old.db")
    with pytest.raises(Cut):
        await transfer_store(home, BACK, cut_after(total // 2))
    assert not home.db.exists()
    assert (await transfer_store(home, BACK, quiet)).resumed > 0
    assert contents(home.db) == before


async def test_many_messages_arrive_there_and_back_though_both_moves_are_cut_half_way(
    tmp_path: Path, server: str
) -> None:
    home = Home(tmp_path / "home")
    home.path.mkdir(mode=0o700)
    home.toml.write_text("", encoding="utf-8")
    async with Hub.open(home.path) as hub:
        rooms = [await hub.conversations.create(f"room-{number}") for number in range(10)]
        for begin in range(0, MESSAGES, 1000):
            said = [
                hub.post(rooms[number % 10].id, f"number {number}") for number in range(begin, begin + 1000)
            ]
            await asyncio.gather(*said)
    before = contents(home.db)
    total = sum(len(rows) for rows in before.values())
    with pytest.raises(Cut):
        await transfer_store(home, server, cut_after(total // 2))
    there = await transfer_store(home, server, quiet)
    assert (there.messages, there.resumed > 0) == (MESSAGES, True)
    point(home, server)
    home.db.rename(home.path / "old.db")
    with pytest.raises(Cut):
        await transfer_store(home, BACK, cut_after(total // 2))
    back = await transfer_store(home, BACK, quiet)
    assert (back.messages, back.resumed > 0) == (MESSAGES, True)
    assert contents(home.db) == before


async def test_where_the_old_store_has_changed_meanwhile_it_begins_anew(home: Home, server: str) -> None:
    with pytest.raises(Cut):
        await transfer_store(home, server, cut_after(100))
    async with Hub.open(home.path) as hub:
        await hub.post("watch", "one more thing")
    done = await transfer_store(home, server, quiet)
    assert (done.resumed, done.messages) == (0, len(contents(home.db)["messages"]))


async def test_a_row_that_was_altered_is_noticed(home: Home, server: str) -> None:
    target = await PostgresHoldings.open(address_of(server))
    await target.close()
    connection = await asyncpg.connect(server)
    await connection.execute(
        "CREATE FUNCTION moot.alter_text() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN NEW.content := NEW.content || '!'; RETURN NEW; END $$;"
        "CREATE TRIGGER altering BEFORE INSERT ON moot.messages FOR EACH ROW EXECUTE FUNCTION moot.alter_text()"
    )
    with pytest.raises(StoreDamaged, match="are not those of"):
        await transfer_store(home, server, quiet)
    await connection.execute("DROP TRIGGER altering ON moot.messages")
    await connection.close()
    assert (await transfer_store(home, server, quiet)).resumed == 0


async def test_a_store_that_is_not_empty_is_left_alone(home: Home, server: str, tmp_path: Path) -> None:
    other = Home(tmp_path / "other")
    other.make()
    other.toml.write_text(f'[store]\nurl = "{server}"\n', encoding="utf-8")
    async with Hub.open(other.path) as hub:
        await hub.conversations.create("theirs")
    with pytest.raises(Conflict, match="is not empty"):
        await transfer_store(home, server, quiet)
    point(home, server)
    with pytest.raises(Conflict, match=r"moot\.db already exists"):
        await transfer_store(home, BACK, quiet)
    home.db.rename(home.path / "old.db")
    home.db.with_name("moot.db-wal").write_bytes(b"of the old one")
    with pytest.raises(Conflict, match=r"moot\.db-wal already exists"):
        await transfer_store(home, BACK, quiet)
    with pytest.raises(BadValue, match="there already"):
        await transfer_store(home, server, quiet)


async def test_an_unfinished_move_of_another_store_is_left_alone(
    home: Home, server: str, tmp_path: Path
) -> None:
    other = Home(tmp_path / "other")
    async with Hub.open(other.path) as hub:
        await hub.conversations.create("theirs")
    with pytest.raises(Cut):
        await transfer_store(home, server, cut_after(100))
    with pytest.raises(Conflict, match="unfinished move of another store"):
        await transfer_store(other, server, quiet)


async def test_a_store_in_use_is_not_moved(home: Home, server: str) -> None:
    await transfer_store(home, server, quiet)
    point(home, server)
    home.db.rename(home.path / "old.db")
    async with Hub.open(home.path):
        with pytest.raises(HubRunning, match="is in use"):
            await transfer_store(home, BACK, quiet)
    point(home, BACK)
    with pytest.raises(NotFound, match="nothing to move"):
        await transfer_store(home, server, quiet)


async def test_both_engines_move_the_same_kinds_of_rows(home: Home, server: str) -> None:
    there = await PostgresHoldings.open(address_of(server))
    here = await SqliteHoldings.open(home.path)
    try:
        assert set(await there.sizes()) == set(await here.sizes()) == set(KINDS)
    finally:
        await here.close()
        await there.close()
    names = {"agent_links" if kind == "links" else kind for kind in KINDS}
    kept = apsw.Connection(str(home.db), flags=apsw.SQLITE_OPEN_READONLY)
    assert set(tables(kept)) == names | {"aliases", "instance"}, (
        "a new table is moved, or listed as made anew"
    )
    kept.close()
