"""The engine over a PostgreSQL server: a transaction per batch, locks in a fixed order, dirty rows written once.

Above: the asynchronous runner. Below: load.py locks and fills the desk, seen_rows.py tells what others may have
changed, server.py gets a connection back that was lost, trouble.py says what went wrong. Not here: reading for doors
and people.
"""

import asyncio
import random
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import asyncpg

from moot.errors import MootError, StoreUnwritable
from moot.failpoints import failpoint
from moot.model.event import Event
from moot.model.message import Message
from moot.model.records.link import LINKS
from moot.model.records.tables import TABLES
from moot.ports import Scope
from moot.stores import rows
from moot.stores.async_runner import TryAgain
from moot.stores.desk import Desk, Dirty
from moot.stores.postgres import migrate
from moot.stores.postgres.load import MAX_IDS, LaidDesk, LockedLoad
from moot.stores.postgres.search import searchable
from moot.stores.postgres.seen_rows import unguarded
from moot.stores.postgres.server import Connection, Server, lock_number
from moot.stores.postgres.statements import LOAD, LOCK, READ, RECORDS, WRITE, by_keys
from moot.stores.postgres.trouble import (
    OUT_OF_REACH,
    refusing,
    speaking_of,
    unknown,
    unreachable,
    writing_rows,
)
from moot.stores.runner import BadRow

MAX_RUNS = 8
"""Of one batch; then those who wait are told that it is too crowded."""
ALONE_FROM = 3
"""Overtaken so often, it is run while nobody else writes."""
BAD_FROM = 2
"""A row that does not fit beside others twice running is taken for a bad one."""
FORGOTTEN_AT_ONCE = 1000
SETTLING_SECONDS = 15.0
"""So long a server is waited for that may know whether it has committed."""
PENDING = "in progress"
LOOK_SECONDS = 0.05
ROW_LOCKS = 1024
"""Rows share this many locks of a table, as those of a server are limited."""


class PostgresEngine:
    """Used by one task at a time. Everything it raises is said in Moot's words."""

    def __init__(self, server: Server, connection: Connection) -> None:
        self._server = server
        self._connection: Connection | None = connection
        self._place = server.address.shown
        self._loading = LockedLoad(self._place, server.address.schema)
        self._desk: LaidDesk | None = None
        self._events: list[Event] = []
        """What the batch under way has to tell."""
        self._runs = 0
        self._is_again = False
        self._begun = False

    @classmethod
    async def open(cls, server: Server) -> "PostgresEngine":
        """The engine of a database, made or migrated if need be."""
        connection = await server.connect(writes=True)
        try:
            await server.check(connection)
            await migrate.bring_up(server, connection)
        except BaseException:  # nothing may stay open
            await connection.close()
            raise
        return cls(server, connection)

    # --- the transaction ---------------------------------------------------------------------------------

    async def begin(self) -> None:
        if not self._is_again:
            self._forget_batch()
        self._is_again = False
        self._events = []
        connection = await self._connected()
        with writing_rows(self._place):
            self._begun = True
            await connection.execute(LOCK.begin_alone if self._runs >= ALONE_FROM else LOCK.begin)

    async def load(self, scopes: Sequence[Scope]) -> Desk:
        with writing_rows(self._place):
            self._desk = await self._loading.desk(self._held, scopes)
        return self._desk

    async def commit(self) -> None:
        """Keep what was written. An answer that was lost is asked for again: the server knows what became of a
        transaction, by its number."""
        try:
            with refusing(self._place):
                await self._held.execute("COMMIT")
        except OUT_OF_REACH as error:
            await self._settle(error)
        self._begun = False

    async def rollback(self) -> None:
        """Leave nothing of the batch. Harmless where there is nothing to undo."""
        connection, begun, self._begun = self._connection, self._begun, False
        if connection is None or not begun:
            return
        try:
            await connection.execute("ROLLBACK")
        except Exception:  # a connection that cannot even undo is none; the server undoes what it began
            self._lose()

    def _forget_batch(self) -> None:
        self._runs = 0
        self._loading.also.clear()
        self._loading.in_full.clear()

    async def again(self, reason: TryAgain) -> None:
        """Somebody was faster, or more is needed: bounded, and with a pause that differs from that of others."""
        self._runs += 1
        if reason.bad_row and self._runs >= BAD_FROM:
            raise BadRow(str(reason)) from reason
        if self._runs >= MAX_RUNS:
            raise StoreUnwritable(
                f"others write the same in {self._place} all the time",
                detail=f"run {MAX_RUNS} times: {reason}; nothing was written",
                fix=("try again",),
                retry_after_ms=500,
            ) from reason
        self._is_again = True
        await asyncio.sleep(random.uniform(0, 0.002) * self._runs)

    async def close(self) -> None:
        if self._connection is not None:
            with suppress(*OUT_OF_REACH):
                await self._connection.close(timeout=5)
            self._connection = None

    # --- the connection ----------------------------------------------------------------------------------

    @property
    def _held(self) -> Connection:
        if self._connection is None:
            raise unreachable(self._place, OSError("the connection was lost"))
        return self._connection

    async def _connected(self) -> Connection:
        if self._connection is not None and self._connection.is_closed():
            self._lose()
        if self._connection is None:
            self._connection = await self._reopened()
        return self._connection

    async def _reopened(self) -> Connection:
        """A server that comes back may be another one: what must hold of it is looked at again."""
        connection = await self._server.reconnect()
        try:
            await self._server.check(connection)
            await migrate.bring_up(self._server, connection)
        except BaseException:  # nothing may stay open
            await connection.close()
            raise
        return connection

    def _lose(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
        self._connection = None

    async def _settle(self, error: BaseException) -> None:
        """The answer to COMMIT was lost. Return if it was stored, else raise; raise too where nobody can tell in
        time."""
        self._lose()
        self._begun = False
        began = self._server.started
        clock = asyncio.get_running_loop().time
        until = clock() + SETTLING_SECONDS
        outcome = PENDING
        while outcome == PENDING and clock() < until:
            try:
                self._connection = self._connection or await self._reopened()
                outcome = await self._outcome(self._connection, restarted=self._server.started != began)
            except (MootError, *OUT_OF_REACH):
                self._lose()
            if outcome == PENDING:
                await asyncio.sleep(LOOK_SECONDS)
        if outcome == "aborted":
            raise unreachable(
                self._place, error, detail="it was lost before the commit; nothing of this was stored"
            ) from error
        if outcome != "committed":
            raise unknown(self._place) from error

    async def _outcome(self, connection: Connection, *, restarted: bool) -> str:
        """What became of the transaction: the server knows by its number. But one that crashed may give a number again
        that it had not written down: then what is stored under it must be what was written."""
        try:
            status: str | None = await connection.fetchval(LOCK.status, self._loading.xid)
        except (
            asyncpg.InvalidParameterValueError
        ):  # it was not written down, and nobody has been given it since
            return "aborted"
        if status != "committed" or not restarted:
            return status or "unknown"
        if self._desk is None or not self._events:
            return "unknown"
        first = self._desk.first
        found = rows.EVENTS.many(await connection.fetchval(READ.events_of, first, first + MAX_IDS))
        return "committed" if found == self._events else "aborted"

    # --- writing -----------------------------------------------------------------------------------------

    async def write(self, dirty: Dirty) -> None:
        assert self._desk is not None
        self._events = dirty.events
        if max(len(dirty.events), len(dirty.messages), len(dirty.turns)) >= MAX_IDS:
            raise BadRow(f"more than {MAX_IDS - 1} events, turns or messages in one transaction")
        with writing_rows(self._place):
            await self._guard(dirty)
            await self._erase(dirty)
            numbers = range(self._desk.first, self._desk.first + len(dirty.messages))
            await self._many(WRITE.append_message, map(message_row, dirty.messages, numbers))
            failpoint("write.messages")
            for message, revision in dirty.revisions:
                await self._held.execute(
                    WRITE.revise_message, *rows.MESSAGES.row(message), *searchable(message)
                )
                await self._held.execute(WRITE.append_revision, *rows.REVISIONS.row(revision))
            changed = [
                dirty.conversations[where]
                for where in dirty.conversations
                if where in dirty.whole_conversations
            ]
            await self._many(WRITE.put_conversation, map(rows.CONVERSATIONS.row, changed))
            await self._many(WRITE.put_member, map(rows.MEMBERS.row, dirty.members.values()))
            moved = [dirty.turns[number] for number in dirty.turns if number in dirty.whole_turns]
            await self._many(WRITE.put_turn, map(rows.TURNS.row, moved))
            failpoint("write.turns")
            await self._many(WRITE.put_round, map(rows.ROUNDS.row, dirty.rounds.values()))
            await self._many(WRITE.put_root, map(rows.ROOTS.row, _sorted(dirty.roots)))
            await self._many(WRITE.put_pair, map(rows.PAIRS.row, _sorted(dirty.pairs)))
            await self._many(WRITE.put_quota, map(rows.QUOTAS.row, _sorted(dirty.quotas)))
            await self._people(dirty)
            await self._many(WRITE.add_summary, map(rows.SUMMARIES.row, dirty.summaries))
            await self._records(dirty)
            await self._many(WRITE.keep_text, sorted(dirty.texts.items()))
            await self._talk(dirty)
            failpoint("write.events")

    async def _many(self, statement: str, values: Iterable[Sequence[Any]]) -> None:
        found = list(values)
        if len(found) == 1:
            await self._held.execute(statement, *found[0])
        elif found:
            await self._held.executemany(statement, found)

    async def _guard(self, dirty: Dirty) -> None:
        """Lock the rows that no conversation guards, and see that they are what was decided on."""
        written = unguarded(dirty)
        if not written:
            return
        schema = self._server.address.schema
        locks = {
            lock_number(schema, table, str(hash_of(key) % ROW_LOCKS))
            for table, keys in written.items()
            for key in keys
        }
        await self._held.execute(LOCK.each, sorted(locks))
        seen = self._loading.seen
        for table, values in written.items():
            keys = [key for key, value in values.items() if seen.is_known(table, key, value)]
            if not keys:
                continue
            now = await self._stored(table, keys)
            for key in keys:
                if now.get(key) != seen.value(table, key):
                    raise TryAgain(f"{table} {key} was changed meanwhile")

    async def _stored(self, table: str, keys: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], Any]:
        """These rows as they are now."""
        fetch = self._held.fetchval
        first = [key[0] for key in keys]
        if table == "roots":
            return {(one.id,): one for one in rows.ROOTS.many(await fetch(LOAD.roots, first))}
        if table == "pairs":
            found = rows.PAIRS.many(await fetch(LOAD.pairs, first, [key[1] for key in keys]))
            return {(one.sender, one.receiver): one for one in found}
        if table == "quotas":
            return {(one.agent,): one for one in rows.QUOTAS.many(await fetch(LOAD.quotas, first))}
        if table == "registry":
            return {(one.id,): one for one in rows.PARTICIPANTS.many(await fetch(LOAD.people, first))}
        if table == "hosts":
            return {(one.id,): one for one in rows.HOSTS.many(await fetch(LOAD.hosts, first))}
        [of] = [one for one in TABLES if one.name == table]
        records = rows.RECORDS[table].many(await fetch(RECORDS[table].by_key, by_keys(keys)))
        return {of.key(record): record for record in records}

    async def _records(self, dirty: Dirty) -> None:
        for table in TABLES:
            records = dirty.records.get(table.name, {})
            await self._many(RECORDS[table.name].put, map(rows.RECORDS[table.name].row, _sorted(records)))
        if LINKS.name in dirty.records or LINKS.name in dirty.dropped_records:
            await self._held.execute(WRITE.links_changed)

    async def _erase(self, dirty: Dirty) -> None:
        """What is gone goes first: its names may be taken again in the same batch."""
        await self._many(WRITE.drop_member, sorted(dirty.dropped_members))
        await self._many(WRITE.drop_host, [(host,) for host in sorted(dirty.dropped_hosts)])
        for table in TABLES:
            await self._many(RECORDS[table.name].drop, sorted(dirty.dropped_records.get(table.name, ())))
        await self._many(WRITE.forget_summaries, [(where,) for where in sorted(dirty.forgotten_summaries)])
        if dirty.dropped_conversations:
            await self._held.execute(WRITE.drop_conversations, sorted(dirty.dropped_conversations))

    async def _talk(self, dirty: Dirty) -> None:
        """What is left of nearly every batch, in one statement: each costs a round trip while locks are held."""
        talked = [one for where, one in dirty.conversations.items() if where not in dirty.whole_conversations]
        joined = [turn for number, turn in dirty.turns.items() if number not in dirty.whole_turns]
        if talked or joined or dirty.events:
            await self._held.execute(
                WRITE.talk,
                *columns(map(rows.TALK, talked), 9),
                *columns(map(rows.CALLING, joined), 4),
                *columns(map(rows.EVENTS.row, dirty.events), 8),
            )

    async def _people(self, dirty: Dirty) -> None:
        people = _sorted(dirty.participants)
        if people:
            await self._many(WRITE.put_participant, map(rows.PARTICIPANTS.row, people))
            await self._many(WRITE.forget_names, [(who.id,) for who in people])
            names = [(name, who.id) for who in people for name in (who.id, who.name, *who.aliases)]
            await self._many(WRITE.put_name, names)
        await self._many(WRITE.put_host, map(rows.HOSTS.row, _sorted(dirty.hosts)))

    # --- between batches ---------------------------------------------------------------------------------

    async def forget_some(self, before: float) -> int:
        """Forget the oldest events that are older than a moment; how many went."""
        connection = await self._connected()
        with speaking_of(self._place):
            async with connection.transaction():
                upto = await connection.fetchval(WRITE.forgettable, round(before * 1e6), FORGOTTEN_AT_ONCE)
                if upto is None:
                    return 0
                await connection.execute(WRITE.move_horizon, upto)
                return int(await connection.fetchval(WRITE.forget_events, upto))


def hash_of(key: tuple[Any, ...]) -> int:
    """The same in every process."""
    return lock_number("", "row", "\0".join(map(str, key)))


def message_row(message: Message, number: int) -> list[Any]:
    return [*rows.MESSAGES.row(message), number, *searchable(message)]


def columns(values: Iterable[Sequence[Any]], count: int) -> list[list[Any]]:
    """Rows as lists of what stands in each column, which `unnest` takes."""
    found = list(values)
    return [[row[number] for row in found] for number in range(count)]


def _sorted(changed: dict[Any, Any]) -> list[Any]:
    """In the order of their keys, so that two hubs never wait for each other crosswise."""
    return [changed[key] for key in sorted(changed)]
