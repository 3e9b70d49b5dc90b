"""The schema: made by its migrations alone, never half, never over what we do not know or cannot read."""

import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest

from moot.errors import MootError, StoreDamaged, StoreNewer, StoreUnwritable
from moot.model.change import PutConversation
from moot.model.limits import Terms
from moot.ports import Page
from moot.stores.ids import ConversationIds
from moot.stores.runner import Source
from moot.stores.sqlite.engine import SqliteEngine
from moot.stores.sqlite.file import database, migrate
from moot.stores.sqlite.store import SqliteStore
from tests.contract.store.verbs import conversation, put, say
from tests.support.waiting import PATIENCE

ROOM = conversation("room")
REPOSITORY = Path(__file__).resolve().parents[2]


async def opened(home: Path) -> SqliteStore:
    return await SqliteStore.open(home, Source(lambda: 1_800_000_000.0, Terms(), ConversationIds()))


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """A home with a database that holds five messages."""
    store = await opened(tmp_path)
    await put(store, PutConversation(ROOM))
    for n in range(5):
        await say(store, ROOM.id, f"text {n}")
    await store.close()
    return tmp_path


def schema(path: Path) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(path))
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name").fetchall()
    connection.close()
    return rows


def sql(path: Path, statement: str) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(path))
    rows = connection.execute(statement).fetchall()
    connection.close()
    return rows


def everything(home: Path) -> dict[str, bytes]:
    """What is stored, byte for byte; whoever looks at it may leave an empty log and its index behind."""
    found = {path.name: path.read_bytes() for path in home.glob("moot.db*") if path.is_file()}
    return {name: content for name, content in found.items() if content and not name.endswith("-shm")}


# --- what the schema is -----------------------------------------------------------------------------------


def test_migrations_are_numbered_without_gaps() -> None:
    assert [step.number for step in migrate.shipped()] == list(range(1, len(migrate.shipped()) + 1))


def test_a_fresh_database_is_what_its_migrations_make(tmp_path: Path) -> None:
    SqliteEngine.open(tmp_path / "home").close()
    one_by_one = tmp_path / "one.db"
    for number in range(1, len(migrate.shipped()) + 1):
        connection = database.writer(one_by_one)
        migrate.apply(connection, migrate.shipped()[:number])
        connection.close()
    assert schema(tmp_path / "home" / "moot.db") == schema(one_by_one)


async def test_opening_again_changes_nothing(home: Path) -> None:
    before = schema(home / "moot.db"), sql(home / "moot.db", "SELECT * FROM schema_version")
    store = await opened(home)
    await store.close()
    assert (schema(home / "moot.db"), sql(home / "moot.db", "SELECT * FROM schema_version")) == before
    assert not (home / "backups").exists()


def test_many_processes_may_open_a_new_home_at_once(tmp_path: Path) -> None:
    engines: list[SqliteEngine] = []
    threads = [threading.Thread(target=lambda: engines.append(SqliteEngine.open(tmp_path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(engines) == 8
    for engine in engines:
        engine.close()
    assert sql(tmp_path / "moot.db", "SELECT count(*) FROM schema_version") == [(len(migrate.shipped()),)]


# --- migrating --------------------------------------------------------------------------------------------

NEXT = migrate.Migration(len(migrate.shipped()) + 1, "CREATE TABLE extra (x INTEGER) STRICT;")
BROKEN = migrate.Migration(
    NEXT.number, "CREATE TABLE extra (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1);"
)


def test_a_migration_is_preceded_by_a_backup_that_verifies(home: Path) -> None:
    old = schema(home / "moot.db")
    SqliteEngine.open(home, (*migrate.shipped(), NEXT)).close()
    assert "extra" in {name for _, name, *_ in schema(home / "moot.db")}
    assert sql(home / "moot.db", "SELECT max(version) FROM schema_version") == [(NEXT.number,)]
    [backup] = (home / "backups").iterdir()
    assert schema(backup) == old
    assert sql(backup, "PRAGMA integrity_check") == [("ok",)]
    assert sql(backup, "SELECT count(*), max(content) FROM messages") == [(5, "text 4")]


def test_a_new_database_needs_no_backup(tmp_path: Path) -> None:
    SqliteEngine.open(tmp_path, (*migrate.shipped(), NEXT)).close()
    assert not (tmp_path / "backups").exists()


def test_a_failing_migration_leaves_the_old_schema_whole(home: Path) -> None:
    old = schema(home / "moot.db")
    with pytest.raises(migrate.Broken):
        SqliteEngine.open(home, (*migrate.shipped(), BROKEN))
    assert schema(home / "moot.db") == old
    SqliteEngine.open(home).close()


KILLED_WITHIN = """
import os, signal, sys
from pathlib import Path
from typing import Any
import apsw
from moot.stores.sqlite.file import migrate
from moot.stores.sqlite.engine import SqliteEngine

def die():
    os.kill(os.getpid(), signal.SIGKILL)

apsw.connection_hooks.append(lambda connection: connection.create_scalar_function("die", die))
statements = ["CREATE TABLE a (x)", "CREATE TABLE b (x)", "INSERT INTO a VALUES (1)"]
statements.insert(int(sys.argv[2]), "SELECT die()")
step = migrate.Migration(len(migrate.shipped()) + 1, ";".join(statements))
SqliteEngine.open(Path(sys.argv[1]), (*migrate.shipped(), step))
"""


@pytest.mark.parametrize("statement", range(4))
def test_a_kill_within_a_migration_leaves_the_old_schema_whole(home: Path, statement: int) -> None:
    old = schema(home / "moot.db")
    done = subprocess.run(
        [sys.executable, "-c", KILLED_WITHIN, str(home), str(statement)],
        cwd=REPOSITORY,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert schema(home / "moot.db") == old
    assert sql(home / "moot.db", "SELECT count(*) FROM messages") == [(5,)]
    SqliteEngine.open(home).close()


def test_a_kill_while_the_first_schema_is_made_leaves_no_trace(tmp_path: Path) -> None:
    (tmp_path / "moot.db.new").write_bytes(b"half a database")
    (tmp_path / "moot.db.new-wal").write_bytes(b"and its log")
    SqliteEngine.open(tmp_path).close()
    assert sorted(path.name for path in tmp_path.glob("moot.db*")) == ["moot.db"]


# --- what is refused --------------------------------------------------------------------------------------


def test_a_newer_schema_is_refused_and_stays_as_it_was(home: Path) -> None:
    sql(home / "moot.db", "INSERT INTO schema_version VALUES (99, 1, '9.9', 'tomorrow')")
    before = everything(home)
    with pytest.raises(StoreNewer, match=r"moot\.db was written by moot 9\.9, this is ") as refusal:
        SqliteEngine.open(home)
    assert refusal.value.fix
    assert everything(home) == before
    assert not (home / "backups").exists()


@pytest.mark.parametrize("compat", [1, 99])
def test_a_newer_schema_may_be_read_where_it_says_so(home: Path, compat: int) -> None:
    sql(home / "moot.db", f"INSERT INTO schema_version VALUES (99, {compat}, '9.9', 'tomorrow')")
    steps = migrate.shipped()
    if compat <= steps[-1].number:
        assert migrate.known_version(home / "moot.db", steps, reading=True) == 99
    else:
        with pytest.raises(StoreNewer):
            migrate.known_version(home / "moot.db", steps, reading=True)


def refused(home: Path) -> MootError:
    before = everything(home)
    with pytest.raises(StoreDamaged) as refusal:
        SqliteEngine.open(home)
    assert everything(home) == before
    assert refusal.value.title
    assert refusal.value.fix
    return refusal.value


@pytest.mark.parametrize("keep", [0, 1, 15, 16, 100, 511, 512, 4095, 4096, 8192, 40_000])
def test_a_truncated_database_is_refused_never_emptied(home: Path, keep: int) -> None:
    path = home / "moot.db"
    assert path.stat().st_size > keep
    path.write_bytes(path.read_bytes()[:keep])
    refused(home)


@pytest.mark.parametrize(
    "content", [b"\x00" * 8192, b"garbage" * 2000, b"SQLite format 3\x00" + b"\xff" * 9000]
)
def test_garbage_is_refused(home: Path, content: bytes) -> None:
    (home / "moot.db").write_bytes(content)
    refused(home)


async def test_a_flipped_bit_in_the_header_is_refused_or_harmless(home: Path, tmp_path: Path) -> None:
    sound = (home / "moot.db").read_bytes()
    outcomes = {"refused": 0, "harmless": 0}
    for place in range(100):
        there = tmp_path / f"flip-{place}"
        there.mkdir()
        flipped = bytearray(sound)
        flipped[place] ^= 1 << (place % 8)
        (there / "moot.db").write_bytes(flipped)
        try:
            store = await opened(there)
        except (StoreDamaged, StoreUnwritable):
            outcomes["refused"] += 1
            assert (there / "moot.db").read_bytes() == bytes(flipped)
        else:
            assert len(await store.messages(ROOM.id, Page())) == 5
            outcomes["harmless"] += 1
            await store.close()
        shutil.rmtree(there)
    assert outcomes["refused"] >= 20


def test_somebody_elses_database_is_refused(tmp_path: Path) -> None:
    sql(tmp_path / "moot.db", "CREATE TABLE recipes (title TEXT)")
    assert "no Moot schema" in refused(tmp_path).detail


def test_an_empty_database_is_damage_not_a_start(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "moot.db"))
    connection.pragma("user_version", 1)
    connection.close()
    refused(tmp_path)


def test_a_log_without_its_database_is_refused(home: Path) -> None:
    (home / "moot.db").rename(home / "elsewhere")
    (home / "moot.db-wal").write_bytes(b"what was not yet in the database")
    assert "log" in refused(home).detail
    assert not (home / "moot.db").exists()


def test_a_home_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreUnwritable, match="cannot create"):
        SqliteEngine.open(tmp_path / "file" / "home")
    (tmp_path / "moot.db").mkdir()
    with pytest.raises(StoreUnwritable):
        SqliteEngine.open(tmp_path)
