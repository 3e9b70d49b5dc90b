"""What only the SQLite store has: the check for doctor, reads without a writer, an index that catches up alone."""

from pathlib import Path

import apsw
import pytest

from moot.errors import StoreUnwritable
from moot.model.change import PutConversation
from moot.model.limits import Terms
from moot.model.query import Query
from moot.ports import Page
from moot.stores.ids import ConversationIds
from moot.stores.runner import Source
from moot.stores.sqlite import store as module
from moot.stores.sqlite.file.lock import OpenMark
from moot.stores.sqlite.reads import reads_of
from moot.stores.sqlite.store import SqliteStore
from tests.contract.store.verbs import conversation, put, say

ROOM = conversation("room")


async def opened(home: Path) -> SqliteStore:
    """A store with three messages."""
    store = await SqliteStore.open(home, Source(lambda: 1_800_000_000.0, Terms(), ConversationIds()))
    await put(store, PutConversation(ROOM))
    for n in range(3):
        await say(store, ROOM.id, f"text {n}")
    return store


def change(home: Path, statement: str) -> None:
    connection = apsw.Connection(str(home / "moot.db"))
    connection.set_busy_timeout(5000)  # the store may be indexing
    connection.execute(statement)
    connection.close()


async def test_the_check_says_what_it_found_sound(tmp_path: Path) -> None:
    store = await opened(tmp_path)
    health = await store.check()
    await store.close()
    assert (health.engine, health.durable, health.messages) == ("sqlite", True, 3)
    assert health.facts == {"journal": "wal", "synchronous": "2"}
    assert health.version.startswith(apsw.sqlite_lib_version())
    assert health.problems == ()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE messages SET content = 'forged' WHERE seq = 2",
        "UPDATE messages SET sender = 'somebody else' WHERE seq = 3",
        "DELETE FROM messages WHERE seq = 2",
        "DELETE FROM messages WHERE seq = 3",
        "UPDATE conversations SET chain_length = 2",
        "UPDATE messages SET at_us = at_us + 1 WHERE seq = 1",
    ],
)
async def test_the_check_notices_what_was_altered_behind_its_back(tmp_path: Path, statement: str) -> None:
    store = await opened(tmp_path)
    change(tmp_path, statement)
    health = await store.check()
    await store.close()
    [problem] = health.problems
    assert problem.startswith("room (c-room): ")


async def test_the_check_notices_a_damaged_page(tmp_path: Path) -> None:
    store = await opened(tmp_path)
    await store.close()
    path = tmp_path / "moot.db"
    content = bytearray(path.read_bytes())
    place = content.index(b"text 1")
    content[place - 300 : place] = b"\xff" * 300
    path.write_bytes(content)
    store = await SqliteStore.open(tmp_path, Source(lambda: 1.0, Terms(), ConversationIds()))
    assert (await store.check()).problems
    await store.close()


async def test_reads_alone_see_what_a_running_store_commits(tmp_path: Path) -> None:
    store = await opened(tmp_path)
    reads = reads_of(tmp_path)
    assert len(await reads.messages(ROOM.id, Page())) == 3
    await say(store, ROOM.id, "one more")
    assert len(await reads.messages(ROOM.id, Page(newest=True))) == 4
    await reads.close()
    await store.close()


def test_reads_alone_need_a_database(tmp_path: Path) -> None:
    with pytest.raises(StoreUnwritable, match="does not exist"):
        reads_of(tmp_path)
    assert list(tmp_path.iterdir()) == []


async def test_the_index_catches_up_when_nobody_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.0)
    store = await opened(tmp_path)
    assert store._catching_up is not None
    await store._catching_up
    reads = reads_of(tmp_path)
    assert len(await reads.search(Query(terms=("text",)), 10)) == 3
    await reads.close()
    await store.close()


async def test_a_large_page_is_the_same_as_many_small_ones(tmp_path: Path) -> None:
    store = await opened(tmp_path)
    for n in range(100):
        await say(store, ROOM.id, f"more {n}")
    whole = await store.messages(ROOM.id, Page(limit=1000))
    pieces = [await store.messages(ROOM.id, Page(after=after, limit=7)) for after in range(0, 103, 7)]
    assert [message for piece in pieces for message in piece] == whole
    assert await store.messages(ROOM.id, Page(limit=33)) == whole[:33]
    assert await store.messages(ROOM.id, Page(limit=34)) == whole[:34]
    assert await store.messages(ROOM.id, Page(limit=-1)) == []
    await store.close()


async def test_whoever_comes_while_the_last_other_closes_it_is_let_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its mark was still there when it was asked for, and then the log was gone: that is no damage."""
    await (await opened(tmp_path)).close()
    answers, is_open = iter([True]), OpenMark.others
    monkeypatch.setattr(OpenMark, "others", lambda mark: next(answers, False) or is_open(mark))
    source = Source(lambda: 1_800_000_000.0, Terms(), ConversationIds())
    again = await SqliteStore.open(tmp_path, source)
    assert len(await again.messages(ROOM.id, Page())) == 3
    await again.close()
