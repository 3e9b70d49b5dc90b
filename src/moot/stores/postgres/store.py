"""The store of a home on PostgreSQL: write side, read ports and the check for `moot doctor`, in one object."""

from collections.abc import Callable
from typing import Any, TypeAlias

from moot.errors import StoreDamaged
from moot.model.event import Commit
from moot.ports import BatchWatcher, Health, Verb
from moot.stores.async_runner import AsyncRunner
from moot.stores.postgres.address import Address
from moot.stores.postgres.engine import PostgresEngine
from moot.stores.postgres.growth import Growth
from moot.stores.postgres.reads import PostgresReads
from moot.stores.postgres.server import Server
from moot.stores.postgres.soundness import read_all, warnings
from moot.stores.postgres.storage import ENGINE
from moot.stores.runner import Source

OnCommit: TypeAlias = Callable[[Commit], None]


class PostgresStore(PostgresReads):
    """`Store` and all read ports over one database."""

    def __init__(
        self,
        server: Server,
        engine: PostgresEngine,
        source: Source,
        on_commit: OnCommit,
        on_growth: Callable[[], None],
    ) -> None:
        super().__init__(server)
        self._engine = engine
        self._on_commit = on_commit
        self._growth = Growth(server, self.reach, on_growth)
        self.far_lane = self._growth.lane
        self._runner = AsyncRunner(engine, source, self._committed)

    @classmethod
    async def open(
        cls,
        address: Address,
        source: Source,
        on_commit: OnCommit = lambda commit: None,
        on_growth: Callable[[], None] = lambda: None,
    ) -> "PostgresStore":
        """Open the store at an address; its schema is created or migrated first. `on_growth` is called whenever the log
        may have grown, whichever hub wrote."""
        server = Server(address)
        engine = await PostgresEngine.open(server)
        return cls(server, engine, source, on_commit, on_growth)

    def watch_batches(self, watcher: BatchWatcher) -> None:
        self._runner.watchers.append(watcher)

    async def transact(self, verb: Verb[Any, Any], command: Any) -> Any:
        return await self._runner.submit(verb, command)

    async def preview(self, verb: Verb[Any, Any], command: Any) -> Any:
        return await self._runner.submit(verb, command, dry=True)

    def _committed(self, commit: Commit) -> None:
        self._on_commit(commit)
        self._growth.committed(commit.events[-1].id)

    async def close(self) -> None:
        """Finish what was accepted, then close all connections."""
        await self._runner.close()
        await self._growth.close()
        await super().close()

    async def forget_events(self, *, before: float) -> int:
        """In small steps between the batches of others; how many events were deleted."""
        forgotten = 0
        while some := await self._runner.call(lambda: self._engine.forget_some(before)):
            forgotten += some
        return forgotten

    async def check(self) -> Health:
        """Read everything: every row, and the audit chain of every conversation."""
        problems: list[str] = []
        messages = 0
        notes: tuple[str, ...] = ()
        try:
            messages, damage_found = await self._reading(read_all)
            problems += damage_found
            notes = await self._reading(warnings)
        except StoreDamaged as damage:
            problems.append(f"{damage.title}: {damage.detail}")
        return Health(
            engine=ENGINE,
            version=self._server.version,
            durable=self._server.is_durable,
            messages=messages,
            problems=tuple(problems),
            facts=self._server.settings,
            warnings=notes,
        )
