"""Every kind of store the contract is held against. To add one, add its place to `PLACES`.

A place is where the rows outlive a store: a folder, a shelf in memory, a database server.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Protocol

from moot.model.event import Commit, Event
from moot.model.limits import Terms
from moot.ports import (
    BrakeReads,
    ConversationReads,
    EventReads,
    MessageSearch,
    OutboxReads,
    People,
    Recall,
    Records,
    Retention,
    Store,
    TurnReads,
)
from moot.stores.async_memory import AsyncMemoryStore
from moot.stores.ids import ConversationIds
from moot.stores.memory_engine import Shelf, SteppedEngine
from moot.stores.postgres.address import address_of
from moot.stores.postgres.store import PostgresStore
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore
from moot.testing import ManualClock, MemoryStore
from tests.support.postgres import empty_database


class WholeStore(
    Store,
    ConversationReads,
    MessageSearch,
    TurnReads,
    Recall,
    People,
    Records,
    BrakeReads,
    EventReads,
    OutboxReads,
    Retention,
    Protocol,
):
    """The write side and every read port."""


class Place(ABC):
    durable: ClassVar[bool] = True
    """Checks what rows hold, and takes several commands in one transaction."""
    shared: ClassVar[bool] = True
    """Several processes may write here at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = ManualClock()
        self.told: list[Event] = []
        self._opened: list[WholeStore] = []

    async def open(self) -> WholeStore:
        """A store here. Opening a second one while the first is open is a second process."""
        source = Source(self.clock.now, Terms(), ConversationIds(self.clock.now))
        store = await self.opened(source, lambda commit: self.told.extend(commit.events))
        self._opened.append(store)
        return store

    async def reopen(self) -> WholeStore:
        """What a restart would find."""
        await self.close()
        return await self.open()

    async def close(self) -> None:
        for store in self._opened:
            await store.close()
        self._opened.clear()

    @property
    def where(self) -> str:
        """How another process finds it."""
        return str(self.folder)

    @abstractmethod
    async def opened(self, source: Source, on_commit: Callable[[Commit], None]) -> WholeStore: ...


class SqlitePlace(Place):
    async def opened(self, source: Source, on_commit: Callable[[Commit], None]) -> WholeStore:
        return await SqliteStore.open(self.folder, source, on_commit)


class PostgresPlace(Place):
    """A database of a real server."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._url = ""

    @property
    def where(self) -> str:
        return self._url

    async def opened(self, source: Source, on_commit: Callable[[Commit], None]) -> WholeStore:
        self._url = self._url or await empty_database()
        return await PostgresStore.open(address_of(self._url), source, on_commit)


class MemoryPlace(Place):
    durable = False
    shared = False

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.shelf = Shelf()

    async def opened(self, source: Source, on_commit: Callable[[Commit], None]) -> WholeStore:
        return MemoryStore(source, on_commit, self.shelf)


class SteppedPlace(MemoryPlace):
    """Ids of turns and events have gaps."""

    async def opened(self, source: Source, on_commit: Callable[[Commit], None]) -> WholeStore:
        return MemoryStore(source, on_commit, self.shelf, SteppedEngine)


class AsyncPlace(MemoryPlace):
    """Every step of a transaction gives the loop to others."""

    async def opened(self, source: Source, on_commit: Callable[[Commit], None]) -> WholeStore:
        return AsyncMemoryStore(source, on_commit, self.shelf)


PLACES: dict[str, type[Place]] = {
    "sqlite": SqlitePlace,
    "postgresql": PostgresPlace,
    "memory": MemoryPlace,
    "gaps": SteppedPlace,
    "asynchronous": AsyncPlace,
}
