"""W5, window-flat: the last 20 messages of conversations of 1,000 and 100,000, and what an insert costs at each size.

Read through the store's own port, as the SDK does. Beside it the raw fetch of the same 20 rows, and a scan that has no
index to go by.
"""

import asyncio
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw

from bench.measure import Table
from bench.posts import TEXT, USER
from moot.flow import create, enrol, post
from moot.flow.enrol import Newcomer
from moot.model.limits import Terms
from moot.model.participant import Kind
from moot.ports import Page
from moot.stores.ids import ConversationIds
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore

SIZES = (1_000, 100_000)
READS = 400
INSERTS = 1_500
RAW = "SELECT seq, sender, content FROM messages WHERE conversation = ? ORDER BY seq DESC LIMIT 20"
SCAN = "SELECT seq, sender, content FROM messages WHERE +conversation = ? ORDER BY +seq DESC LIMIT 20"


async def fill(store: SqliteStore, where: str, size: int) -> None:
    async def producer(numbers: Any) -> None:
        for _ in numbers:
            await store.transact(post, post.posting(USER, where, TEXT))

    numbers = iter(range(size))
    await asyncio.gather(*(producer(numbers) for _ in range(256)))


async def windows(store: SqliteStore, where: Any) -> float:
    """Microseconds for one window, median."""
    page = Page(limit=20, newest=True)
    taken = []
    for _ in range(READS):
        start = time.perf_counter()
        found = await store.messages(where, page)
        taken.append(time.perf_counter() - start)
        assert len(found) == 20
    return statistics.median(taken) * 1e6


async def inserts(store: SqliteStore, where: Any) -> float:
    start = time.perf_counter()
    await fill(store, where, INSERTS)
    return INSERTS / (time.perf_counter() - start)


def fetches(path: Path, where: str, statement: str, times: int) -> float:
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        db.execute(statement, (where,)).fetchall()
        taken.append(time.perf_counter() - start)
    db.close()
    return statistics.median(taken) * 1e6


async def run(rounds: int = 5) -> list[str]:
    lines = ["W5 window-flat (last 20; a group with one agent that is away)"]
    with TemporaryDirectory() as folder:
        store = await SqliteStore.open(Path(folder), Source(time.time, Terms(), ConversationIds()))
        await store.transact(enrol, enrol.Enrol((Newcomer("user", Kind.HUMAN), Newcomer("b"))))
        rooms = {}
        for size in SIZES:
            made = await store.transact(create, create.Create(USER, f"n{size}", ("b",)))
            rooms[size] = made.id
            await fill(store, made.id, size)
        path = Path(folder) / "moot.db"
        small, large = (rooms[size] for size in SIZES)
        reads = Table("W5 window-flat reads", "µs")
        await reads.run(
            {
                "moot, 1k": lambda: windows(store, small),
                "moot, 100k": lambda: windows(store, large),
                "raw fetch, 100k": lambda: as_async(fetches(path, large, RAW, READS)),
                "unindexed scan, 100k": lambda: as_async(fetches(path, large, SCAN, 3)),
            },
            rounds,
        )
        reads.notes["100k over 1k"] = reads.ratio("moot, 100k", "moot, 1k")
        reads.save()
        reads.show(lines)
        writes = Table("W5 window-flat inserts", "posts/s")
        await writes.run(
            {"insert at 1k": lambda: inserts(store, small), "insert at 100k": lambda: inserts(store, large)},
            rounds,
        )
        writes.notes["100k over 1k"] = writes.ratio("insert at 100k", "insert at 1k")
        writes.save()
        writes.show(lines)
        await store.close()
    return lines


async def as_async(figure: float) -> float:
    return figure
