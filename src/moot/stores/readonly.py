"""A store for looking only: a database read beside whoever writes it, and the newest moot.toml held in memory.

Agents that moot.toml names and nobody has enrolled yet are seen as if they were; nothing is written for it. Nor is it
where a host's process is found to be gone: that host is not seen, and its agents are away.
Where there is no database yet, there is nothing to read, and none is made.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from moot.errors import NotPermitted
from moot.flow.enrol import Enrol
from moot.model.message import Message
from moot.model.participant import Host, Participant
from moot.model.query import Query
from moot.ports import BatchWatcher, Presence, Verb
from moot.stores.memory import MemoryStore

CatchUp = Callable[[], Awaitable[None]]


class StoreBeside:
    """All read ports, and of the verbs only enrolling, which changes nothing but what is seen here."""

    def __init__(self, reads: Any, people: MemoryStore, catch_up: CatchUp) -> None:
        self._reads = reads
        self._people = people
        self._catch_up = catch_up

    @classmethod
    async def on(
        cls, reads: Any, people: MemoryStore, catch_up: CatchUp, presence: Presence
    ) -> "StoreBeside":
        """`presence` tells whether a host has died; its lease may outlive it (ADR 13)."""
        for participant in await reads.participants():
            people.shelf.participants[participant.id] = participant
        for host in await reads.hosts():
            if not presence.has_died(host):
                people.shelf.hosts[host.id] = host
        return cls(reads, people, catch_up)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reads, name)

    def watch_batches(self, watcher: BatchWatcher) -> None:
        """Nothing is written here."""

    async def transact(self, verb: Verb[Any, Any], command: Any) -> Any:
        if not isinstance(command, Enrol):
            raise NotPermitted("this home was opened for reading only")
        return await self._people.transact(verb, command)

    async def participants(self) -> list[Participant]:
        return await self._people.participants()

    async def participant(self, name: str) -> Participant | None:
        return await self._people.participant(name)

    async def hosts(self) -> list[Host]:
        return await self._people.hosts()

    async def search(self, query: Query, limit: int) -> list[tuple[Message, str]]:
        """Only a writer can bring the index up to date: where it is behind, one is opened for that moment."""
        await self._catch_up()
        found: list[tuple[Message, str]] = await self._reads.search(query, limit)
        return found

    async def count(self, query: Query, limit: int) -> int:
        await self._catch_up()
        return int(await self._reads.count(query, limit))
