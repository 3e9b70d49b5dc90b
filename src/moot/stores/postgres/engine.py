"""The engine over a PostgreSQL server: a transaction per batch, locks in a fixed order, dirty rows written once.

Above: the asynchronous runner. Below: batch/ locks and fills the desk and knows what others may have
changed, server.py reconnects, trouble.py translates errors. Not here: reading for doors and people.
"""

import asyncio
import random
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import asyncpg

from moot.errors import MootError, StoreUnwritable
from moot.failpoints import failpoint
from moot.model.message import Message
from moot.model.records.link import LINKS
from moot.model.records.tables import TABLES
from moot.ports import Scope
from moot.stores import rows
from moot.stores.async_runner import TryAgain
from moot.stores.desk import Desk, Dirty
from moot.stores.postgres import migrate
from moot.stores.postgres.batch.load import LockedLoad
from moot.stores.postgres.batch.numbered_desk import MAX_IDS, Demanded, NumberedDesk
from moot.stores.postgres.batch.seen_rows import unguarded
from moot.stores.postgres.search import searchable
from moot.stores.postgres.server import Connection, Server, lock_number
from moot.stores.postgres.statements import LOAD, LOCK, READ, RECORDS, WRITE, by_keys
from moot.stores.postgres.trouble import (
    OUT_OF_REACH,
    commit_errors,
    moot_errors,
    unknown,
    unreachable,
    write_errors,
)
from moot.stores.runner import BadRow

MAX_RUNS = 8
"""Runs of one batch; after that its commands are refused as too contended."""
MAX_DEMANDED = 64
"""Further runs of a batch, each with something that a decision asked for and that was not loaded."""
ALONE_FROM = 3
"""From this run on, the batch runs while nobody else writes."""
BAD_FROM = 2
"""A row that violates a unique constraint in this many runs is taken for a bad one."""
MAX_FORGOTTEN_AT_ONCE = 1000
MESSAGE_COLUMNS = re.findall(r"\w+", WRITE.append_message.partition("(")[2].partition(")")[0])
"""In the order in which the statement names them."""
SETTLING_SECONDS = 15.0
"""How long to wait for a server that may know whether it has committed."""
PENDING = "in progress"
LOOK_SECONDS = 0.05
ROW_LOCKS = 1024
"""Locks that the rows of a table share: a server has a limited number of locks."""


class PostgresEngine:
    """Used by one task at a time. It raises only errors of Moot."""

    def __init__(self, server: Server, connection: Connection) -> None:
        self._server = server
        self._connection: Connection | None = connection
        self._place = server.address.shown
        self._loading = LockedLoad(self._place, server.address.schema)
        self._desk: NumberedDesk | None = None
        self._dirty = Dirty()
        """What the batch under way writes."""
        self._runs = self._demanded = 0
        self._is_rerun = False
        self._in_transaction = False

    @classmethod
    async def open(cls, server: Server) -> "PostgresEngine":
        """Open the engine of a database, whose schema is created or migrated if need be."""
        connection = await server.connect(writes=True)
        try:
            await server.check(connection)
            await migrate.bring_up(server, connection)
            with moot_errors(server.address.shown):
                await connection.execute(WRITE.forget_writers)
        except BaseException:  # nothing may stay open
            await connection.close()
            raise
        return cls(server, connection)

    # --- the transaction ---------------------------------------------------------------------------------

    async def begin(self) -> None:
        if not self._is_rerun:
            self._forget_batch()
        self._is_rerun = False
        self._dirty = Dirty()
        connection = await self._connect()
        with write_errors(self._place):
            self._in_transaction = True
            await connection.execute(LOCK.begin_alone if self._runs >= ALONE_FROM else LOCK.begin)

    async def load(self, scopes: Sequence[Scope]) -> Desk:
        with write_errors(self._place):
            self._desk = await self._loading.desk(self._open_connection, scopes)
        return self._desk

    async def commit(self) -> None:
        """Commit. If the answer is lost, ask the server by the number of the transaction."""
        try:
            with commit_errors(self._place):
                await self._open_connection.execute("COMMIT")
        except OUT_OF_REACH as error:
            await self._settle(error)
        else:
            assert self._desk is not None
            self._loading.keep(self._desk, self._dirty)
        self._in_transaction = False

    async def rollback(self) -> None:
        """Undo the batch; harmless if there is nothing to undo."""
        self._loading.forget()
        connection, in_transaction, self._in_transaction = self._connection, self._in_transaction, False
        if connection is None or not in_transaction:
            return
        try:
            await connection.execute("ROLLBACK")
        except Exception:  # the server undoes the transaction of a lost connection
            self._lose()

    def _forget_batch(self) -> None:
        self._runs = self._demanded = 0
        self._loading.begin_batch()

    async def again(self, reason: TryAgain) -> None:
        """Run the batch again: another hub was faster, or more must be loaded. Bounded, with a random pause."""
        if isinstance(reason, Demanded) and self._demanded < MAX_DEMANDED:
            self._demanded += 1
            self._is_rerun = True
            return
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
        self._is_rerun = True
        await asyncio.sleep(random.uniform(0, 0.002) * self._runs)

    async def close(self) -> None:
        if self._connection is not None:
            with suppress(*OUT_OF_REACH, asyncpg.PostgresError):
                await self._connection.execute(WRITE.forget_writer)
            with suppress(*OUT_OF_REACH):
                await self._connection.close(timeout=5)
            self._connection = None

    # --- the connection ----------------------------------------------------------------------------------

    @property
    def _open_connection(self) -> Connection:
        if self._connection is None:
            raise unreachable(self._place, OSError("the connection was lost"))
        return self._connection

    async def _connect(self) -> Connection:
        if self._connection is not None and self._connection.is_closed():
            self._lose()
        if self._connection is None:
            self._connection = await self._reopen()
        return self._connection

    async def _reopen(self) -> Connection:
        """Reconnect. The server may be another one now: check it again."""
        connection = await self._server.reconnect()
        try:
            await self._server.check(connection)
            await migrate.bring_up(self._server, connection)
        except BaseException:  # nothing may stay open
            await connection.close()
            raise
        return connection

    def _lose(self) -> None:
        self._loading.forget()
        if self._connection is not None:
            self._connection.terminate()
        self._connection = None

    async def _settle(self, error: BaseException) -> None:
        """The answer to COMMIT was lost: return if the batch was stored; raise if not, or if that stays unknown."""
        self._lose()
        self._in_transaction = False
        started = self._server.started
        clock = asyncio.get_running_loop().time
        until = clock() + SETTLING_SECONDS
        outcome = PENDING
        while outcome == PENDING and clock() < until:
            try:
                self._connection = self._connection or await self._reopen()
                outcome = await self._outcome(self._connection, restarted=self._server.started != started)
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
        """The outcome of the transaction, by its number. A crashed server may assign a number again: then the events
        stored under it must be those of this batch."""
        try:
            status: str | None = await connection.fetchval(LOCK.status, self._loading.xid)
        except asyncpg.InvalidParameterValueError:  # the number was never stored, nor assigned again
            return "aborted"
        if status != "committed" or not restarted:
            return status or "unknown"
        if self._desk is None or not self._dirty.events:
            return "unknown"
        first = self._desk.first
        stored = rows.EVENTS.many(await connection.fetchval(READ.events_of, first, first + MAX_IDS))
        return "committed" if stored == self._dirty.events else "aborted"

    # --- writing -----------------------------------------------------------------------------------------

    async def write(self, dirty: Dirty) -> None:
        assert self._desk is not None
        self._dirty = dirty
        if max(len(dirty.events), len(dirty.messages), len(dirty.turns)) >= MAX_IDS:
            raise BadRow(f"more than {MAX_IDS - 1} events, turns or messages in one transaction")
        with write_errors(self._place):
            self._loading.check_locks(self._desk, dirty)
            await self._guard(dirty)
            await self._erase(dirty)
            numbers = range(self._desk.first, self._desk.first + len(dirty.messages))
            await self._append(list(map(message_row, dirty.messages, numbers)))
            failpoint("write.messages")
            for message, revision in dirty.revisions:
                await self._open_connection.execute(
                    WRITE.revise_message, *rows.MESSAGES.row(message), *searchable(message)
                )
                await self._open_connection.execute(WRITE.append_revision, *rows.REVISIONS.row(revision))
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
        all_values = list(values)
        if len(all_values) == 1:
            await self._open_connection.execute(statement, *all_values[0])
        elif all_values:
            await self._open_connection.executemany(statement, all_values)

    async def _append(self, messages: list[list[Any]]) -> None:
        """One message by a statement, many by COPY: it takes their rows as one."""
        if len(messages) > 1:
            await self._open_connection.copy_records_to_table(
                "messages", records=messages, columns=MESSAGE_COLUMNS
            )
        else:
            await self._many(WRITE.append_message, messages)

    async def _guard(self, dirty: Dirty) -> None:
        """Lock the rows that no conversation guards, and check that they are unchanged since they were loaded."""
        written = unguarded(dirty)
        if not written:
            return
        schema = self._server.address.schema
        locks = {
            lock_number(schema, table, str(hash_of(key) % ROW_LOCKS))
            for table, keys in written.items()
            for key in keys
        }
        await self._open_connection.execute(LOCK.each, sorted(locks))
        seen = self._loading.seen
        for table, values in written.items():
            keys = [key for key, value in values.items() if seen.is_known(table, key, value)]
            if not keys:
                continue
            stored = await self._stored(table, keys)
            for key in keys:
                if stored.get(key) != seen.value(table, key):
                    raise TryAgain(f"{table} {key} was changed meanwhile")

    async def _stored(self, table: str, keys: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], Any]:
        """These rows as they are now."""
        fetch = self._open_connection.fetchval
        first = [key[0] for key in keys]
        if table == "roots":
            return {(one.id,): one for one in rows.ROOTS.many(await fetch(LOAD.roots, first))}
        if table == "pairs":
            pairs = rows.PAIRS.many(await fetch(LOAD.pairs, first, [key[1] for key in keys]))
            return {(one.sender, one.receiver): one for one in pairs}
        if table == "quotas":
            return {(one.agent,): one for one in rows.QUOTAS.many(await fetch(LOAD.quotas, first))}
        if table == "registry":
            return {(one.id,): one for one in rows.PARTICIPANTS.many(await fetch(LOAD.people, first))}
        if table == "hosts":
            return {(one.id,): one for one in rows.HOSTS.many(await fetch(LOAD.hosts, first))}
        [record_table] = [one for one in TABLES if one.name == table]
        records = rows.RECORDS[table].many(await fetch(RECORDS[table].by_key, by_keys(keys)))
        return {record_table.key(record): record for record in records}

    async def _records(self, dirty: Dirty) -> None:
        for table in TABLES:
            records = dirty.records.get(table.name, {})
            await self._many(RECORDS[table.name].put, map(rows.RECORDS[table.name].row, _sorted(records)))
        if LINKS.name in dirty.records or LINKS.name in dirty.dropped_records:
            await self._open_connection.execute(WRITE.links_changed)

    async def _erase(self, dirty: Dirty) -> None:
        """Delete first: the names may be used again in the same batch."""
        await self._many(WRITE.drop_member, sorted(dirty.dropped_members))
        await self._many(WRITE.drop_host, [(host,) for host in sorted(dirty.dropped_hosts)])
        for table in TABLES:
            await self._many(RECORDS[table.name].drop, sorted(dirty.dropped_records.get(table.name, ())))
        await self._many(WRITE.forget_summaries, [(where,) for where in sorted(dirty.forgotten_summaries)])
        if dirty.dropped_conversations:
            await self._open_connection.execute(WRITE.drop_conversations, sorted(dirty.dropped_conversations))

    async def _talk(self, dirty: Dirty) -> None:
        """Write what nearly every batch has, in one statement: each statement is a round trip while locks are held."""
        conversations = [
            one for where, one in dirty.conversations.items() if where not in dirty.whole_conversations
        ]
        turns = [turn for number, turn in dirty.turns.items() if number not in dirty.whole_turns]
        changes_kept = dirty.changes_kept()
        if changes_kept or dirty.events:
            await self._open_connection.execute(
                WRITE.talk,
                *columns(map(rows.TALK, conversations), 9),
                *columns(map(rows.CALLING, turns), 4),
                *columns(map(rows.EVENTS.row, dirty.events), 8),
                changes_kept,
            )

    async def _people(self, dirty: Dirty) -> None:
        people = _sorted(dirty.participants)
        if people:
            await self._many(WRITE.put_participant, map(rows.PARTICIPANTS.row, people))
            await self._many(WRITE.forget_names, [(person.id,) for person in people])
            names = [
                (name, person.id) for person in people for name in (person.id, person.name, *person.aliases)
            ]
            await self._many(WRITE.put_name, names)
        await self._many(WRITE.put_host, map(rows.HOSTS.row, _sorted(dirty.hosts)))

    # --- between batches ---------------------------------------------------------------------------------

    async def forget_some(self, before: float) -> int:
        """Delete some of the oldest events before a moment; how many were deleted."""
        connection = await self._connect()
        with moot_errors(self._place):
            async with connection.transaction():
                upto = await connection.fetchval(
                    WRITE.forgettable, round(before * 1e6), MAX_FORGOTTEN_AT_ONCE
                )
                if upto is None:
                    return 0
                await connection.execute(WRITE.move_horizon, upto)
                return int(await connection.fetchval(WRITE.forget_events, upto))


def hash_of(key: tuple[Any, ...]) -> int:
    """A hash that is the same in every process."""
    return lock_number("", "row", "\0".join(map(str, key)))


def message_row(message: Message, number: int) -> list[Any]:
    return [*rows.MESSAGES.row(message), number, *searchable(message)]


def columns(values: Iterable[Sequence[Any]], count: int) -> list[list[Any]]:
    """Rows as lists of columns, as `unnest` takes them."""
    all_rows = list(values)
    return [[row[number] for row in all_rows] for number in range(count)]


def _sorted(changed: dict[Any, Any]) -> list[Any]:
    """In the order of their keys, so that two hubs never deadlock."""
    return [changed[key] for key in sorted(changed)]
