"""PG: the workloads on PostgreSQL, each beside the same rows written or read raw by asyncpg in one run.

W1 as in w1.py; W2 as in w2.py, with a hub that keeps its conversations in PostgreSQL; W5 the newest twenty messages of a
long conversation and of a short one; W10 as in w10.py. The server is a real one on this machine's disk, with fsync on;
both sides speak to it over loopback.
"""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import asyncpg

from bench import bare, pairs, processes, w2, w10
from bench.measure import Table
from bench.posts import TEXT, USER, posting
from bench.raw_postgres import RawPostgresWriter
from bench.w1 import CONVERSATIONS, ROOMS, TURNS, measured
from moot.flow import create, enrol
from moot.flow.enrol import Newcomer
from moot.model.ids import ConversationId
from moot.model.limits import Terms
from moot.model.participant import Kind
from moot.ports import Page
from moot.stores.ids import ConversationIds
from moot.stores.postgres.address import address_of
from moot.stores.postgres.store import PostgresStore
from moot.stores.runner import Source
from tools.postgres_server import PostgresServer

LONG, SHORT = 20_000, 100
READS = 2_000
TURN_GROUPS = (1, 10, 100)
NEWEST = "SELECT * FROM messages WHERE conversation = $1 ORDER BY seq DESC LIMIT 20"
numbers = count(1)
schemas = count(1)


def fresh(server: PostgresServer) -> str:
    """The address of a schema in which nothing is yet."""
    return f"{server.url()}&schema=bench_{next(schemas)}"


async def opened(server: PostgresServer) -> PostgresStore:
    return await PostgresStore.open(address_of(fresh(server)), Source(time.time, Terms(), ConversationIds()))


async def enrolled(store: PostgresStore, groups: int) -> list[ConversationId]:
    """So many new groups of six agents that are away, as posts.py makes them on SQLite."""
    people = (Newcomer("user", Kind.HUMAN), *(Newcomer(name) for name in "abcdef"))
    await store.transact(enrol, enrol.Enrol(people))
    commands = [create.Create(USER, f"g{n}", tuple("abcdef")) for n in range(groups)]
    return [(await store.transact(create, command)).id for command in commands]


async def ours(server: PostgresServer, producers: int, total: int) -> float:
    store = await opened(server)
    rooms = await enrolled(store, CONVERSATIONS)

    async def one(number: int) -> None:
        await store.transact(*posting(rooms[number % CONVERSATIONS], f"k{next(numbers)}"))

    rate = await measured(one, producers, total, None)
    await store.close()
    return rate


async def raw(server: PostgresServer, producers: int, total: int) -> float:
    writer = await RawPostgresWriter.open(fresh(server), TURNS)

    async def one(number: int) -> None:
        await writer.post(ROOMS[number % CONVERSATIONS], TEXT, f"k{next(numbers)}")

    rate = await measured(one, producers, total, None)
    await writer.close()
    return rate


async def writes(server: PostgresServer, producers: int, total: int, rounds: int) -> Table:
    table = Table(f"W1 durable-write on PostgreSQL {producers}", "posts/s")
    contenders: dict[str, Any] = {
        "moot": lambda: ours(server, producers, total),
        "raw asyncpg group commit": lambda: raw(server, producers, total),
    }
    await table.run(contenders, rounds)
    table.notes["share of raw"] = table.ratio("moot", "raw asyncpg group commit")
    return table


async def rate_of(one: Callable[[], Awaitable[Any]], times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        await one()
    return times / (time.perf_counter() - start)


async def reads(server: PostgresServer, rounds: int) -> Table:
    store = await opened(server)
    long, short = await enrolled(store, 2)
    for where, size in ((long, LONG), (short, SHORT)):
        for start in range(0, size, 500):
            some = range(start, min(start + 500, size))
            await asyncio.gather(*(store.transact(*posting(where, f"r{next(numbers)}")) for _ in some))
    address = store._server.address  # the schema that was just filled
    connection = await asyncpg.connect(address.dsn, server_settings={"search_path": address.schema})
    newest = Page(limit=20, newest=True)
    table = Table("W5 window-flat on PostgreSQL", "reads/s")
    await table.run(
        {
            f"moot, {LONG} messages": lambda: rate_of(lambda: store.messages(long, newest), READS),
            f"moot, {SHORT} messages": lambda: rate_of(lambda: store.messages(short, newest), READS),
            "raw asyncpg": lambda: rate_of(lambda: connection.fetch(NEWEST, long), READS),
        },
        rounds,
    )
    table.notes["long over short"] = table.ratio(f"moot, {LONG} messages", f"moot, {SHORT} messages")
    table.notes["share of raw"] = table.ratio(f"moot, {LONG} messages", "raw asyncpg")
    await connection.close()
    await store.close()
    return table


def stored_in(server: PostgresServer) -> str:
    return f'[store]\nurl = "{fresh(server)}"\n'


async def pair_paths(server: PostgresServer, rounds: int) -> AsyncIterator[tuple[str, Table]]:
    with (
        TemporaryDirectory() as folder,
        processes.hub(Path(folder) / "home", pairs.SETTINGS + stored_in(server)) as hub,
        processes.postgres() as notified,
        bare.served() as limit,
    ):
        for count in w2.CYCLES:
            where = " on PostgreSQL"
            table = await w2.beside_each_other(hub.socket, notified, limit, count, rounds, where=where)
            yield f"{count} pairs", table


async def turns(server: PostgresServer, groups: int, rounds: int) -> Table:
    """Beside it as many of W1's raw writes as those turns need."""
    table = Table(f"W10 turn-rate on PostgreSQL {groups}", "turns/s")
    each, at_once = w10.ROUNDS_EACH[groups], min(groups, 256)

    async def limit() -> float:
        return await raw(server, at_once, 20 * at_once) / w10.WRITES_PER_TURN

    contenders: dict[str, Any] = {
        "moot": lambda: w10.turn_rate(groups, each, [], store=stored_in(server)),
        w10.LIMIT: limit,
    }
    await table.run(contenders, rounds)
    table.notes["of the limit"] = table.ratio("moot", w10.LIMIT)
    return table


async def tables(server: PostgresServer, rounds: int) -> AsyncIterator[tuple[str, Table]]:
    for producers, total in ((8, 3000), (32, 6000), (256, 12000)):
        yield f"{producers} producers", await writes(server, producers, total, rounds)
    async for named in pair_paths(server, rounds):
        yield named
    yield "windows", await reads(server, rounds)
    for groups in TURN_GROUPS:
        yield f"{groups} groups", await turns(server, groups, rounds)


async def run(rounds: int = 5) -> list[str]:
    folder = Path(mkdtemp(prefix="moot-bench-pg-", dir="/tmp"))
    server = PostgresServer(folder=folder).start()
    lines = ["PG: W1, W2, W5 and W10 on PostgreSQL (per second; fsync on, loopback)"]
    try:
        async for name, table in tables(server, rounds):
            table.save()
            lines.append(f" {name}")
            table.show(lines)
    finally:
        server.remove()
        shutil.rmtree(folder, ignore_errors=True)
    return lines
