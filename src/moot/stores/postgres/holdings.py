"""The whole content of a schema of a PostgreSQL database, read and written row by row, for moving a store.

Above: stores/transfer.py. While it is open nobody else writes to the schema: hubs that try wait and are then refused.
"""

import time
from collections.abc import AsyncIterator
from typing import Any

from msgspec import json

from moot.errors import BadValue, HubRunning
from moot.stores.postgres import migrate
from moot.stores.postgres.address import Address
from moot.stores.postgres.engine import message_row
from moot.stores.postgres.server import Connection, Server, application_name, lock_number
from moot.stores.postgres.soundness import read_all
from moot.stores.postgres.statements import RECORDS, SCHEMA, SOUND, TRANSFER, WRITE
from moot.stores.postgres.trouble import ABOUT_THE_ROW, moot_errors
from moot.stores.transfer import AT_ONCE, KINDS, InstanceFacts, TransferMark, put_statements

PUT = put_statements(WRITE, RECORDS)
MOVING = "moving"


class PostgresHoldings:
    """`Holdings`, and `EmptyHoldings` where there is nothing yet."""

    def __init__(self, server: Server, connection: Connection) -> None:
        self.place = server.address.shown
        self._server = server
        self._connection = connection

    @classmethod
    async def open(cls, address: Address) -> "PostgresHoldings":
        """Open the schema for this process alone; it is created or migrated if need be."""
        server = Server(address)
        connection = await server.connect(writes=True)
        try:
            await server.check(connection)
            await migrate.bring_up(server, connection, unfinished=True)
            holdings = cls(server, connection)
            await holdings._refuse_others()
        except BaseException:  # nothing may stay open
            await connection.close()
            raise
        return holdings

    async def _refuse_others(self) -> None:
        """Refuse while hubs are connected, or hosts have a lease that still holds: they may come back."""
        schema, now = self._server.address.schema, time.time()
        others = int(await self._fetch(TRANSFER.others, application_name(schema)))
        hosts = [host async for some in self.values("hosts") for host in some if host.lease_until > now]
        if others or not await self._fetch(TRANSFER.alone, lock_number(schema, "write")):
            raise self._in_use(
                f"{others} connections of Moot are open" if others else "somebody writes to it"
            )
        if hosts:
            left = max(host.lease_until for host in hosts) - now
            raise self._in_use(
                f"{len(hosts)} hosts have said that they are there; if they were killed, wait {left:.0f} s"
            )

    def _in_use(self, why: str) -> HubRunning:
        return HubRunning(
            f"{self.place} is in use",
            detail=f"{why}. A store is moved while nobody uses it; nothing was changed",
            fix=("stop the hubs and agents that use it, on all machines, and try again",),
        )

    async def close(self) -> None:
        await self._connection.close()

    # --- reading -----------------------------------------------------------------------------------------

    async def _fetch(self, statement: str, *values: Any) -> Any:
        with moot_errors(self.place):
            return await self._connection.fetchval(statement, *values)

    async def facts(self) -> InstanceFacts:
        with moot_errors(self.place):
            named = dict(await self._connection.fetch(TRANSFER.facts))
            last, horizon = await self._connection.fetchrow(TRANSFER.reach)
        return InstanceFacts(named, last, horizon)

    async def sizes(self) -> dict[str, int]:
        with moot_errors(self.place):
            sizes = dict(await self._connection.fetch(TRANSFER.sizes))
            for kind in RECORDS:
                sizes[kind] = sum([len(some) async for some in self._rows(kind)])
        return sizes

    async def values(self, kind: str) -> AsyncIterator[list[Any]]:
        with moot_errors(self.place):
            async for batch in self._rows(kind):
                yield [KINDS[kind].one(shape) for _, shape in batch]

    async def _rows(self, kind: str) -> AsyncIterator[list[Any]]:
        records = RECORDS.get(kind)
        statement = records.every if records else (TRANSFER.all().get(kind) or SOUND.all()[kind])
        async with self._connection.transaction(isolation="repeatable_read", readonly=True):
            cursor = await self._connection.cursor(statement)
            while batch := await cursor.fetch(AT_ONCE):
                yield batch

    # --- writing -----------------------------------------------------------------------------------------

    async def mark(self) -> TransferMark | None:
        mark = await self._fetch(TRANSFER.mark)
        return None if mark is None else json.decode(mark, type=TransferMark)

    async def put(self, kind: str, values: list[Any], mark: TransferMark) -> None:
        with moot_errors(self.place):
            try:
                async with self._connection.transaction():
                    await self._write(kind, values, mark)
                    await self._connection.execute(TRANSFER.put_fact, MOVING, json.encode(mark).decode())
            except ABOUT_THE_ROW as error:
                raise BadValue(
                    f"PostgreSQL cannot hold one of the {kind}",
                    detail=f"{error}; nothing of this piece was stored",
                ) from error

    async def _write(self, kind: str, values: list[Any], mark: TransferMark) -> None:
        many = self._connection.executemany
        if kind == "messages":
            first = mark.done[kind] - len(values) + 1
            await many(PUT[kind], [message_row(one, first + n) for n, one in enumerate(values)])
            return
        await many(PUT[kind], [KINDS[kind].row(value) for value in values])
        if kind == "registry":
            names = [
                (name, person.id) for person in values for name in (person.id, person.name, *person.aliases)
            ]
            await many(WRITE.put_name, names)

    async def empty(self, mark: TransferMark) -> None:
        with moot_errors(self.place):
            async with self._connection.transaction():
                await self._connection.execute(TRANSFER.empty)
                await self._connection.execute(TRANSFER.put_fact, MOVING, json.encode(mark).decode())

    async def problems(self) -> list[str]:
        with moot_errors(self.place):
            _, problems = await read_all(self._connection)
            return problems

    async def finish(self, facts: InstanceFacts) -> None:
        with moot_errors(self.place):
            async with self._connection.transaction():
                await self._connection.executemany(TRANSFER.put_fact, list(facts.named.items()))
                await self._connection.execute(TRANSFER.set_horizon, facts.horizon)
                await self._connection.execute(TRANSFER.unmark)
                await self._connection.execute(SCHEMA.raise_base)
