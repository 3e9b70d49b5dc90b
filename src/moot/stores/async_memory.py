"""A store in memory whose engine is asynchronous, as that of a database server is. For tests; ships in `moot.testing`.

Every step gives the loop to others, and nothing is seen before the commit: what holds here holds over a network.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from moot.model.event import Commit
from moot.ports import Scope, Verb
from moot.stores.async_runner import AsyncRunner, TryAgain
from moot.stores.desk import Desk, Dirty
from moot.stores.memory import MemoryStore
from moot.stores.memory_engine import MemoryEngine, Shelf
from moot.stores.runner import Source


class AsyncMemoryEngine:
    """A memory engine, each step of which is awaited."""

    def __init__(self, shelf: Shelf) -> None:
        self._engine = MemoryEngine(shelf)
        self._written: Dirty | None = None

    async def begin(self) -> None:
        await asyncio.sleep(0)

    async def load(self, scopes: Sequence[Scope]) -> Desk:
        await asyncio.sleep(0)
        return self._engine.load(scopes)

    async def write(self, dirty: Dirty) -> None:
        await asyncio.sleep(0)
        self._written = dirty

    async def commit(self) -> None:
        await asyncio.sleep(0)
        if self._written is not None:
            self._engine.write(self._written)
            self._written = None

    async def rollback(self) -> None:
        self._written = None
        await asyncio.sleep(0)

    async def again(self, reason: TryAgain) -> None:
        """Nobody else writes here."""
        raise reason

    async def close(self) -> None:
        await asyncio.sleep(0)


class AsyncMemoryStore(MemoryStore):
    """Reads at once, as the memory store does; writes through the asynchronous runner."""

    def __init__(
        self,
        source: Source,
        on_commit: Callable[[Commit], None] = lambda commit: None,
        shelf: Shelf | None = None,
    ) -> None:
        super().__init__(source, on_commit, shelf)
        self._runner = AsyncRunner(AsyncMemoryEngine(self.shelf), source, on_commit)

    async def transact(self, verb: Verb[Any, Any], command: Any) -> Any:
        return await self._runner.submit(verb, command)

    async def preview(self, verb: Verb[Any, Any], command: Any) -> Any:
        return await self._runner.submit(verb, command, dry=True)

    async def close(self) -> None:
        await self._runner.close()
