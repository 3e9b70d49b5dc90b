"""The store of a home on SQLite: write side, read ports and the check for `moot doctor`, in one object."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import structlog

from moot.errors import StoreDamaged, StoreUnwritable
from moot.model.event import Commit
from moot.model.message import Message
from moot.model.query import Query
from moot.ports import BatchWatcher, Health, Verb
from moot.stores.runner import Runner, Source
from moot.stores.sqlite.engine import NO_END, SqliteEngine
from moot.stores.sqlite.file.soundness import read_all
from moot.stores.sqlite.file.storage import ENGINE, version
from moot.stores.sqlite.reads import SqliteReads
from moot.stores.sqlite.statements import SEARCH
from moot.stores.sqlite.trouble import damaged

log = structlog.get_logger("moot.store")

OnCommit: TypeAlias = Callable[[Commit], None]

FULL = 2
"""Of SQLite's `synchronous`: every commit is synced before it returns."""
QUIET_SECONDS = 0.25
"""How long after the last commit the full-text index is brought up to date in the background."""
MAX_SECONDS_BEHIND = 60.0
"""A store that is never quiet is caught up as often as this."""


class SqliteStore(SqliteReads):
    """`Store` and all read ports over one database file."""

    def __init__(self, engine: SqliteEngine, source: Source, on_commit: OnCommit) -> None:
        super().__init__(engine.path)
        self._engine = engine
        self._tell = on_commit
        self._last_commit = 0.0
        self._catching_up: asyncio.Task[None] | None = None
        self._closing = False
        self._verdict: Health | None = None
        self._runner = Runner(engine, source, self._committed)

    @classmethod
    async def open(
        cls, home: Path, source: Source, on_commit: OnCommit = lambda commit: None
    ) -> "SqliteStore":
        """The store of a home; its database is made or brought up to date first."""
        engine = await asyncio.to_thread(SqliteEngine.open, home)
        return cls(engine, source, on_commit)

    def watch_batches(self, watcher: BatchWatcher) -> None:
        self._runner.watchers.append(watcher)

    async def transact(self, verb: Verb[Any, Any], command: Any) -> Any:
        try:
            return await self._runner.submit(verb, command)
        except LookupError as error:  # a bug, or a row that is no longer what it was
            doubted = await self._doubted(error)
            if doubted is error:
                raise
            raise doubted from error

    async def _doubted(self, error: LookupError) -> Exception:
        """The error for something that should be impossible: the whole store is checked for it, once in its life."""
        if self._verdict is None:
            self._verdict = await self.check()
        problems = self._verdict.problems
        return damaged(self._path, problems[0]) if problems else error

    async def preview(self, verb: Verb[Any, Any], command: Any) -> Any:
        return await self._runner.submit(verb, command, dry=True)

    async def close(self) -> None:
        """Finish what was accepted; then nothing of this store is open any more. The writer goes last: only a
        connection that may write can fold the log back into the file."""
        self._closing = True
        if self._catching_up is not None:
            self._catching_up.cancel()
            await asyncio.wait([self._catching_up])
        await super().close()
        await self._runner.close()

    # --- the full-text index -----------------------------------------------------------------------------

    async def search(self, query: Query, limit: int) -> list[tuple[Message, str]]:
        """Finds everything that was committed before it was asked; while the disk takes nothing, what was indexed."""
        await self._caught_up()
        return await super().search(query, limit)

    async def count(self, query: Query, limit: int) -> int:
        await self._caught_up()
        return await super().count(query, limit)

    async def _caught_up(self) -> None:
        newest = self._get(SEARCH.newest_row)
        try:
            while await self._runner.call(self._engine.index_some) < newest:
                pass
        except StoreUnwritable as trouble:
            log.warning("the index is behind", action="index_behind", error=str(trouble))

    def _committed(self, commit: Commit) -> None:
        self._last_commit = asyncio.get_running_loop().time()
        if not self._closing and (self._catching_up is None or self._catching_up.done()):
            self._catching_up = asyncio.create_task(self._catch_up(self._last_commit))
        self._tell(commit)

    async def _catch_up(self, since: float) -> None:
        """Little by little, whenever nobody has written for a moment."""
        clock = asyncio.get_running_loop().time
        reached = 0
        while reached != NO_END:
            left = min(self._last_commit + QUIET_SECONDS, since + MAX_SECONDS_BEHIND) - clock()
            if left > 0:
                await asyncio.sleep(left)
            else:
                reached = await self._runner.call(self._engine.index_some)

    # --- retention -----------------------------------------------------------------------------------------

    async def forget_events(self, *, before: float) -> int:
        """Little by little, between the batches of others."""
        gone = 0
        while some := await self._runner.call(lambda: self._engine.forget_some(before)):
            gone += some
        return gone

    # --- the check ---------------------------------------------------------------------------------------

    async def check(self) -> Health:
        """Read everything: the file, and the audit chain of every conversation."""
        journal, synchronous = await self._runner.call(self._engine.modes)
        problems: list[str] = []
        try:
            messages, found = await self._long(read_all)
            problems += found
        except StoreDamaged as damage:
            messages = 0
            problems.append(f"{damage.title}: {damage.detail}")
        return Health(
            engine=ENGINE,
            version=version(),
            durable=journal == "wal" and synchronous >= FULL,
            messages=messages,
            problems=tuple(problems),
            facts={"journal": journal, "synchronous": str(synchronous)},
        )
