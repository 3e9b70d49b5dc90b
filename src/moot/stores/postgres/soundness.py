"""Reads a whole database in one snapshot, for the checks of stores/soundness.py.

These block and the driver is asynchronous: they run in a thread, for which the loop fetches each piece of a result.
Damaged pages are for the server to find (data_checksums, pg_amcheck). Above: `moot doctor` and `moot audit` (reads.py,
store.py).
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import asyncpg
from msgspec import structs

from moot.ports import AuditReport
from moot.rules.audit import KnownHead
from moot.stores.postgres.server import Connection
from moot.stores.postgres.statements import READ, RECORDS, SCHEMA, SOUND
from moot.stores.soundness import Progress, Soundness

AT_ONCE = 500
CLOCKS_APART = 2.0
CROWDED = 0.8


async def read_all(connection: Connection) -> tuple[int, list[str]]:
    """The number of messages, and the problems found."""
    report = await verify(connection, {})
    return report.messages, list(report.problems)


async def warnings(connection: Connection, now: Callable[[], float] = time.time) -> tuple[str, ...]:
    """Warnings about this server: clocks that differ, and connections that run out."""
    before = now()
    server_time, connections, max_connections = await connection.fetchrow(SCHEMA.state)
    apart = server_time - (before + now()) / 2
    texts = []
    if abs(apart) > CLOCKS_APART:
        texts.append(
            f"the clock of the server is {apart:+.1f} s from that of this machine: leases end early or late; use NTP"
        )
    if connections > max_connections * CROWDED:
        texts.append(
            f"{connections} of {max_connections} connections are in use: raise max_connections, or run fewer hubs"
        )
    return tuple(texts)


async def verify(
    connection: Connection, heads: Mapping[str, KnownHead], progress: Progress = lambda messages: None
) -> AuditReport:
    """Check everything, and compare with chain heads known from earlier."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        stored = FetchedRows(connection, asyncio.get_running_loop())
        report = await asyncio.to_thread(Soundness(stored, heads, progress).whole)
        return structs.replace(report, messages=int(await connection.fetchval(READ.count_messages)))


class FetchedRows:
    """Rows as the loop fetches them, some at a time, for a thread that waits for each piece."""

    unreadable: tuple[type[Exception], ...] = (asyncpg.DataError, asyncpg.InternalServerError)

    def __init__(self, connection: Connection, loop: asyncio.AbstractEventLoop) -> None:
        self._connection = connection
        self._loop = loop

    def found(self, name: str, *values: str) -> Iterator[tuple[Any, ...]]:
        record_statements = RECORDS.get(name) if not values else None
        statement = SOUND.all()[name] if record_statements is None else record_statements.every
        cursor = self._wait(self._open_cursor(statement, values))
        while rows := self._wait(cursor.fetch(AT_ONCE)):
            yield from rows

    async def _open_cursor(self, statement: str, values: tuple[str, ...]) -> Any:
        return await self._connection.cursor(statement, *values)

    def _wait(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
