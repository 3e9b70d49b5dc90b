"""Every log the contract is held against, over the store it reads. To add one, add its place to `PLACES`.

`late` is a store as several writers would have it: it gives ids before the commit and leaves some unused.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path

from msgspec import structs

from moot.host.clock import SystemClock
from moot.logs.embedded import EmbeddedLog
from moot.logs.kafka.address import brokers_of
from moot.logs.kafka.log import KafkaLog
from moot.logs.memory import MemoryLog
from moot.model.change import Change, Decision, Emit, PutConversation, PutParticipant
from moot.model.event import Commit, Event, EventType
from moot.model.ids import ConversationId, HostId, ParticipantId
from moot.model.limits import Terms
from moot.model.participant import Kind, Participant
from moot.ports import EventReads, Follower, HomeStore, Log, Scope
from moot.stores.desk import Desk
from moot.stores.ids import ConversationIds
from moot.stores.memory_engine import STEP, MemoryEngine, Shelf, SteppedEngine
from moot.stores.postgres.address import address_of
from moot.stores.postgres.store import PostgresStore
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore
from moot.testing import ManualClock, MemoryStore
from tests.contract.store.verbs import conversation, do, put
from tests.support.kafka import broker, fresh_prefix
from tests.support.postgres import empty_database
from tests.support.waiting import PATIENCE


class SharedDesk(Desk):
    """The first id of a commit is the next there is; the others lie apart, with room for somebody else's."""

    def event_id(self) -> int:
        given = super().event_id()
        self.next_event += STEP
        return given


class SharedEngine(MemoryEngine):
    """One of several writers: what it stores may not be the next there is."""

    desk = SharedDesk

    def load(self, scopes: Sequence[Scope]) -> Desk:
        desk = super().load(scopes)
        desk.last_event = None
        return desk


class LateStore(MemoryStore):
    """A store in which ids are given first and rows become visible later."""

    def __init__(self, source: Source, on_commit: Callable[[Commit], None], shelf: Shelf) -> None:
        super().__init__(source, on_commit, shelf, SharedEngine)
        self._under_way: set[int] = set()

    def begin(self, where: ConversationId, id: int = 0) -> Event:
        """Somebody else has taken an id and not committed yet."""
        event = Event(EventType.MESSAGE_POSTED, 0.0, conversation=where, id=id or self.shelf.next_event)
        self.shelf.next_event += 0 if id else STEP
        self._under_way.add(event.id)
        return event

    def commit(self, event: Event) -> None:
        self._under_way.discard(event.id)
        self.shelf.events = sorted([*self.shelf.events, event], key=lambda one: one.id)

    def roll_back(self, event: Event) -> None:
        self._under_way.discard(event.id)

    async def last_event(self) -> int:
        return min(self._under_way, default=self.shelf.next_event) - 1


class Place:
    """A store, the log over it in this process, and a second writer that nobody hears of."""

    log: Log
    store: HomeStore
    elsewhere: HomeStore

    def __init__(self, log: Callable[[EventReads], Log], store: str, folder: Path) -> None:
        self._new_log = log
        self._kind = store
        self._folder = folder
        self._shelf = Shelf()
        self._url = ""
        self.clock = ManualClock()

    async def open(self) -> "Place":
        self.store = await self._open(self._committed)
        self.elsewhere = await self._open(lambda commit: None)
        self.log = await self.new_log()
        return self

    async def new_log(self) -> Log:
        log = self._new_log(self.store)
        await log.start()
        return log

    async def _open(self, on_commit: Callable[[Commit], None]) -> HomeStore:
        source = self._source()
        if self._kind == "sqlite":
            return await SqliteStore.open(self._folder, source, on_commit)
        if self._kind == "postgresql":
            self._url = self._url or await empty_database()
            return await PostgresStore.open(address_of(self._url), source, on_commit, self._grown)
        if self._kind == "late":
            return LateStore(source, on_commit, self._shelf)
        engine = SteppedEngine if self._kind == "gaps" else MemoryEngine
        return MemoryStore(source, on_commit, self._shelf, engine)

    def _source(self) -> Source:
        return Source(self.clock.now, Terms(), ConversationIds(self.clock.now))

    def _committed(self, commit: Commit) -> None:
        self.log.committed(commit)

    def _grown(self) -> None:
        """A hub elsewhere says so. Of the second store here nobody hears: its hints are lost."""

    @property
    def late(self) -> LateStore:
        assert isinstance(self.store, LateStore)
        return self.store

    async def say(self, *where: ConversationId) -> list[int]:
        """This process stores an event for each, in one commit."""
        return await self._put(self.store, where)

    async def say_elsewhere(self, *where: ConversationId) -> list[int]:
        """Another process does, and its hint is lost."""
        return await self._put(self.elsewhere, where)

    async def _put(self, store: HomeStore, where: Sequence[ConversationId]) -> list[int]:
        before = {event.id for event in await self.stored()}
        happened = Event(EventType.MESSAGE_POSTED, self.clock.now())
        told: list[Change] = [Emit(structs.replace(happened, conversation=one)) for one in where]
        await do(store, lambda seen, at: Decision(told, None), conversations=tuple(set(where)))
        return [event.id for event in await self.stored() if event.id not in before]

    async def stored(self) -> list[Event]:
        return await self.store.events(after=0, limit=100_000)

    async def close(self) -> None:
        await self.log.close()
        await self.store.close()
        await self.elsewhere.close()


async def handed(follower: Follower, count: int) -> list[Event]:
    """The next events a follower gets."""
    got: list[Event] = []
    async with asyncio.timeout(PATIENCE), aclosing(aiter(follower)) as events:
        while len(got) < count:
            got.append(await anext(events))
    return got


async def ids(follower: Follower, count: int) -> list[int]:
    return [event.id for event in await handed(follower, count)]


WRITER, READER = HostId("writer"), HostId("reader")
AGENT = ParticipantId("arya")


class KafkaPlace(Place):
    """The same with a real broker between two processes: what one stores, the other hears of by its record."""

    writes: KafkaLog

    def _over(self, store: HomeStore) -> KafkaLog:
        return KafkaLog(store, SystemClock(), brokers_of(f"kafka://{broker().address}"), self._prefix)

    async def open(self) -> "KafkaPlace":
        self._prefix = fresh_prefix()
        await super().open()
        agent = Participant(AGENT, "arya", Kind.AGENT)
        homes = [conversation(one, id=ConversationId(one), home=AGENT) for one in ("here", "there")]
        await put(self.elsewhere, PutParticipant(agent), *map(PutConversation, homes))
        self.writes = self._over(self.elsewhere)
        await self.writes.start()
        await self.writes.serve(WRITER, [AGENT], watches=False)
        await self.log.serve(READER, [], watches=True)
        return self

    async def new_log(self) -> Log:
        log = self._over(self.store)
        await log.start()
        return log

    def _source(self) -> Source:
        source = super()._source()
        source.has_outbox = True
        return source

    async def _put(self, store: HomeStore, where: Sequence[ConversationId]) -> list[int]:
        found = await super()._put(store, where)
        self.writes.hinted()  # as sockets or the database would have told the process that publishes
        return found

    async def close(self) -> None:
        await self.writes.close()
        await super().close()


PLACES: dict[str, tuple[Callable[[EventReads], Log], str]] = {
    "embedded over sqlite": (EmbeddedLog, "sqlite"),
    "embedded over postgresql": (EmbeddedLog, "postgresql"),
    "embedded over memory": (EmbeddedLog, "memory"),
    "embedded over gaps": (EmbeddedLog, "gaps"),
    "embedded over many writers": (EmbeddedLog, "late"),
    "memory": (MemoryLog, "memory"),
    "memory over many writers": (MemoryLog, "late"),
    "kafka over sqlite": (EmbeddedLog, "sqlite"),
    "kafka over postgresql": (EmbeddedLog, "postgresql"),
}


def place_of(name: str, folder: Path) -> Place:
    return (KafkaPlace if name.startswith("kafka") else Place)(*PLACES[name], folder)
