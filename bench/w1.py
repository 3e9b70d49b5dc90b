"""W1, durable-write: producers that post and wait for their commit.

512-byte messages by a human with one mention, 50 groups of 6 agents that are away, everything on: key probe, floor,
brakes, why-record, audit chain. Beside it the raw limit, a connection per call as most small programs do it, and a
store that only acknowledges, to tell how much of the event loop's lateness is ours.
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

from bench import guard
from bench.measure import Table
from bench.posts import NO_BRAKES, TEXT, open_store, posting, sending
from bench.raw import (
    CALLS,
    CONVERSATION,
    EVENT,
    HASH,
    MESSAGE,
    NOW,
    PLAN,
    PROBE,
    TURN,
    NullWriter,
    RawWriter,
)
from moot.model.records.link import Policy

CONVERSATIONS = 50
ROOMS = [f"c0k3v9z8x2ab4{n:02}" for n in range(CONVERSATIONS)]
TURNS = {where: n + 1 for n, where in enumerate(ROOMS)}
numbers = count(1)
One = Callable[[int], Awaitable[Any]]


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


async def produce(one: One, producers: int, total: int) -> float:
    """Posts per second of so many producers, each awaiting its own commit."""
    left = iter(range(total))

    async def producer() -> None:
        for number in left:
            await one(number)

    start = time.perf_counter()
    await asyncio.gather(*(producer() for _ in range(producers)))
    return total / (time.perf_counter() - start)


class Watched:
    """What was seen beside the rate, a figure per round."""

    def __init__(self) -> None:
        self.stalls: list[float] = []
        """How late the event loop was, p99 in ms."""
        self.costs: list[float] = []
        """Processor time of the whole process, µs a post."""


async def measured(one: One, producers: int, total: int, watched: Watched | None) -> float:
    """The rate once warm, with the loop watched. The same for everybody."""
    await produce(one, producers, total // 10)
    stall = Stall()
    watching = asyncio.create_task(stall.watch())
    begun = time.process_time()
    rate = await produce(one, producers, total)
    cost = time.process_time() - begun
    watching.cancel()
    if watched is not None:
        watched.stalls.append(stall.p99())
        watched.costs.append(cost / total * 1e6)
    return rate


LINKS = 1000


async def ours(
    producers: int,
    total: int,
    watched: Watched | None = None,
    *,
    policy: Policy = Policy.AUTO,
    links: int = 0,
) -> float:
    with TemporaryDirectory() as folder:
        store, rooms = await open_store(Path(folder), CONVERSATIONS, policy=policy, links=links)

        async def one(number: int) -> None:
            await store.transact(*posting(rooms[number % CONVERSATIONS], f"k{next(numbers)}"))

        rate = await measured(one, producers, total, watched)
        await store.close()
        return rate


async def raw(
    producers: int,
    total: int,
    watched: Watched | None = None,
    *,
    by_table: bool = False,
    made: type[RawWriter] = RawWriter,
) -> float:
    with TemporaryDirectory() as folder:
        writer = made(Path(folder), ROOMS, TURNS, by_table=by_table)

        async def one(number: int) -> None:
            await writer.post(ROOMS[number % CONVERSATIONS], TEXT, f"k{next(numbers)}")

        rate = await measured(one, producers, total, watched)
        await writer.close()
        return rate


async def connection_per_call(producers: int, total: int) -> float:
    """The same rows through a new connection each time, as a small program would write them."""
    with TemporaryDirectory() as folder:
        writer = RawWriter(Path(folder), ROOMS, TURNS, by_table=False)
        await writer.close()
        path = Path(folder) / "moot.db"

        async def one(number: int) -> None:
            where = ROOMS[number % CONVERSATIONS]
            async with aiosqlite.connect(path, timeout=60) as db:
                await db.execute("PRAGMA synchronous = FULL")
                await db.execute("BEGIN IMMEDIATE")
                await db.execute(PROBE, ("user", f"k{number}"))
                found = await db.execute("SELECT next_seq FROM conversations WHERE id = ?", (where,))
                seq = (await found.fetchone())[0]  # type: ignore[index]
                row = (where, seq, "user", "human", TEXT, f"{where}:{seq}", 0, NOW, '["b"]', 0, "", 1, None, seq, 0,
                       "{}", PLAN, f"k{next(numbers)}", HASH, seq, HASH)  # fmt: skip
                await db.execute(MESSAGE, row)
                await db.execute(CONVERSATION, (seq + 1, HASH, seq, NOW, seq, where))
                await db.execute(TURN, (CALLS[seq % 2], "must", TURNS[where]))
                await db.execute(
                    EVENT, ("message.posted", NOW, where, "user", seq, None, None, next(numbers))
                )
                await db.commit()

        return await produce(one, producers, total)


async def beside_each_other(producers: int, total: int, rounds: int) -> Table:
    table = Table(f"W1 durable-write {producers}", "posts/s")
    moot, limit, null = Watched(), Watched(), Watched()
    contenders: dict[str, Any] = {
        "moot": lambda: ours(producers, total, moot),
        "raw APSW group commit": lambda: raw(producers, total, limit),
        "raw, written table by table": lambda: raw(producers, total, by_table=True),
        "null: acknowledged, not written": lambda: raw(producers, 100_000, null, made=NullWriter),
    }
    if producers == 8:
        contenders["connection per call"] = lambda: connection_per_call(8, 600)
    await table.run(contenders, rounds)
    table.notes["share of raw"] = table.ratio("moot", "raw APSW group commit")
    table.notes["share of raw by table"] = table.ratio("moot", "raw, written table by table")
    cost, raw_cost = statistics.median(moot.costs), statistics.median(limit.costs)
    share = statistics.median([b / a for a, b in zip(moot.costs, limit.costs, strict=True)])
    table.notes["processor time a post"] = f"{cost:.0f} µs, raw {raw_cost:.0f}: a share of {share:.2f}"
    ms, null_ms = statistics.median(moot.stalls), statistics.median(null.stalls)
    table.notes["loop stall p99"] = f"{ms:.1f} ms, {ms - null_ms:+.1f} against the null store's {null_ms:.1f}"
    if producers == 8:
        table.notes["over connection per call"] = table.ratio("moot", "connection per call")
    return table


async def agents_own(producers: int, total: int, policy: Policy) -> float:
    """Agents that write along their links, each to the next one: whom the policy asks about every time."""
    with TemporaryDirectory() as folder:
        store, _ = await open_store(Path(folder), 0, policy=policy, links=LINKS, limits=NO_BRAKES)

        async def one(number: int) -> None:
            await store.transact(*sending(number % LINKS, f"k{next(numbers)}"))

        rate = await measured(one, producers, total, None)
        await store.close()
        return rate


async def linked(producers: int, total: int, rounds: int, *, by_agents: bool) -> Table:
    """What the link graph costs who posts: a thousand links under which everybody is bound, and none that bind."""
    whose = "sends of agents" if by_agents else "posts of a person"
    table = Table(f"W1 durable-write {producers} with {LINKS} links, {whose}", "posts/s")
    contenders: dict[str, Any] = {
        policy.value: (
            lambda policy=policy: (
                agents_own(producers, total, policy)
                if by_agents
                else ours(producers, total, policy=policy, links=LINKS)
            )
        )
        for policy in (Policy.LINKS, Policy.OPEN)
    }
    await table.run(contenders, rounds)
    table.notes["links over open"] = table.ratio(Policy.LINKS.value, Policy.OPEN.value)
    return table


async def run(rounds: int = 11) -> list[str]:
    """Eleven rounds: on a machine of two cores one round differs from the next by a tenth, and so did the median of
    five from run to run."""
    lines = ["W1 durable-write (posts/s; human author, group of 6 with one mention, 512 bytes, FULL)"]
    for producers, total in ((8, 6000), (32, 12000), (256, 24000)):
        table = await beside_each_other(producers, total, rounds)
        if producers == 32:
            table.notes["kill -9 mid-run"] = await guard.killed(producers)
        table.save()
        lines.append(f" {producers} producers")
        table.show(lines)
    for by_agents in (False, True):
        table = await linked(32, 12000, rounds, by_agents=by_agents)
        table.save()
        lines.append(
            f" 32 producers, {LINKS} links, {'sends of agents' if by_agents else 'posts of a person'}"
        )
        table.show(lines)
    return lines
