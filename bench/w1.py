"""W1, durable-write: producers that post and wait for their commit.

512-byte messages by a human with one mention, 50 groups of 6 agents that are away, everything on: key probe, floor,
brakes, why-record, audit chain. Beside it the raw limit, and a connection per call as most small programs do it.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiosqlite

from bench.measure import Table
from bench.raw import EVENT, HASH, MESSAGE, PLAN, PROBE, RawWriter
from moot.flow import create, post
from moot.flow.enrol import Enrol, Newcomer, enrolling
from moot.model.ids import ParticipantId
from moot.model.limits import Terms
from moot.model.participant import Kind
from moot.stores.ids import ConversationIds
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore

CONVERSATIONS = 50
TEXT = "@b " + "a sentence of the usual kind, neither long nor short; " * 10
TEXT = TEXT[:512]
USER = ParticipantId("user")
numbers = count(1)


async def produce(one: Callable[[int], Awaitable[Any]], producers: int, total: int) -> float:
    """Posts per second of so many producers, each awaiting its own commit."""
    left = iter(range(total))

    async def producer() -> None:
        for number in left:
            await one(number)

    start = time.perf_counter()
    await asyncio.gather(*(producer() for _ in range(producers)))
    return total / (time.perf_counter() - start)


class Stall:
    """How late the event loop is, sampled each millisecond."""

    def __init__(self) -> None:
        self.late: list[float] = []

    async def watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + 0.001
            await asyncio.sleep(0.001)
            self.late.append((loop.time() - due) * 1000)

    def p99(self) -> float:
        return statistics.quantiles(self.late, n=100)[98] if len(self.late) > 100 else 0.0


async def ours(producers: int, total: int, stalls: list[float]) -> float:
    with TemporaryDirectory() as folder:
        store = await SqliteStore.open(Path(folder), Source(time.time, Terms(), ConversationIds()))
        people = (Newcomer("user", Kind.HUMAN), *(Newcomer(name) for name in "abcdef"))
        await store.transact(enrolling, Enrol(people))
        rooms = [
            (await store.transact(create, create.Create(USER, f"g{n}", tuple("abcdef")))).id
            for n in range(CONVERSATIONS)
        ]

        async def one(number: int) -> None:
            where = rooms[number % CONVERSATIONS]
            await store.transact(post, post.posting(USER, where, TEXT, key=f"k{next(numbers)}"))

        await produce(one, producers, total // 10)
        stall = Stall()
        watching = asyncio.create_task(stall.watch())
        rate = await produce(one, producers, total)
        watching.cancel()
        stalls.append(stall.p99())
        await store.close()
        return rate


async def raw(producers: int, total: int, *, by_table: bool = False) -> float:
    with TemporaryDirectory() as folder:
        rooms = [f"c0k3v9z8x2ab4{n:02}" for n in range(CONVERSATIONS)]
        turns = {where: n + 1 for n, where in enumerate(rooms)}
        writer = RawWriter(Path(folder), rooms, turns, by_table=by_table)

        async def one(number: int) -> None:
            await writer.post(rooms[number % CONVERSATIONS], TEXT, f"k{next(numbers)}")

        await produce(one, producers, total // 10)
        rate = await produce(one, producers, total)
        await writer.close()
        return rate


async def connection_per_call(producers: int, total: int) -> float:
    """The same rows through a new connection each time, as a small program would write them."""
    with TemporaryDirectory() as folder:
        rooms = [f"c0k3v9z8x2ab4{n:02}" for n in range(CONVERSATIONS)]
        turns = {where: n + 1 for n, where in enumerate(rooms)}
        writer = RawWriter(Path(folder), rooms, turns, by_table=False)
        await writer.close()
        path = Path(folder) / "moot.db"

        async def one(number: int) -> None:
            where = rooms[number % CONVERSATIONS]
            async with aiosqlite.connect(path, timeout=60) as db:
                await db.execute("PRAGMA synchronous = FULL")
                await db.execute("BEGIN IMMEDIATE")
                await db.execute(PROBE, ("user", f"k{number}"))
                found = await db.execute("SELECT next_seq FROM conversations WHERE id = ?", (where,))
                seq = (await found.fetchone())[0]  # type: ignore[index]
                row = (where, seq, "user", "human", TEXT, f"{where}:{seq}", 0, 0, '["b"]', 0, "", 1, None, seq, 0,
                       "{}", PLAN, f"k{next(numbers)}", HASH, seq, HASH)  # fmt: skip
                await db.execute(MESSAGE, row)
                await db.execute("UPDATE conversations SET next_seq = ? WHERE id = ?", (seq + 1, where))
                await db.execute(EVENT, ("message.posted", 0, where, "user", seq, None, None, next(numbers)))
                await db.commit()

        return await produce(one, producers, total)


async def run(rounds: int = 5) -> list[str]:
    lines = ["W1 durable-write (posts/s; human author, group of 6 with one mention, 512 bytes, FULL)"]
    for producers, total in ((8, 2000), (32, 6000), (256, 12000)):
        table = Table(f"W1 durable-write {producers}", "posts/s")
        stalls: list[float] = []
        contenders: dict[str, Any] = {
            "moot": lambda p=producers, t=total: ours(p, t, stalls),
            "raw APSW group commit": lambda p=producers, t=total: raw(p, t),
            "raw, written table by table": lambda p=producers, t=total: raw(p, t, by_table=True),
        }
        if producers == 8:
            contenders["connection per call"] = lambda: connection_per_call(8, 300)
        await table.run(contenders, rounds)
        table.notes["share of raw"] = table.ratio("moot", "raw APSW group commit")
        table.notes["share of raw by table"] = table.ratio("moot", "raw, written table by table")
        table.notes["loop stall p99"] = f"{statistics.median(stalls):.1f} ms"
        if producers == 8:
            table.notes["over connection per call"] = table.ratio("moot", "connection per call")
        table.save()
        lines.append(f" {producers} producers")
        table.show(lines)
    return lines
