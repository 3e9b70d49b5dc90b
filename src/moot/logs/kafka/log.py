"""The log over Kafka: followed as the embedded one, from the store; others are told by records, and tell us by theirs.

Safety needs the store alone. That something happened is learnt from a record in milliseconds, or from the sweep. A
process that only looks, or says one thing and goes, never speaks to a broker: `serve` begins it.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Protocol

import structlog

from moot.errors import BadValue, MootError, StoreUnwritable, Trouble
from moot.logs.embedded import EmbeddedLog
from moot.logs.kafka.address import Brokers, brokers_of
from moot.logs.kafka.cluster import Cluster, KafkaOutOfReach
from moot.logs.kafka.outlet import Outlet
from moot.logs.kafka.places import Places, StoreOfTopics
from moot.logs.kafka.relay import Relay
from moot.logs.kafka.wakes import Wakes
from moot.model.event import Commit, Event, EventType
from moot.model.ids import HostId, ParticipantId
from moot.model.records.outbox import LogFigures, OutboxDepth
from moot.ports import Clock, EventReads
from moot.settings.values import LogSettings

log = structlog.get_logger("moot.kafka")

START_SECONDS = 2.0
"""So long a start waits for brokers, to hear that something is wrong with its settings; the rest is done meanwhile."""
LOOK_SECONDS = 0.01
PATIENCE_SECONDS = 30.0
"""So long a straggling transaction is waited for; then the sweep has it."""
CONCERNS_READERS = frozenset(
    {EventType.AGENT_JOINED, EventType.CONVERSATION_CREATED, EventType.CONVERSATION_JOINED}
)
MOST_WAITING = 1_000_000
"""Rows of the outbox; beyond that nothing new is taken."""
DEPTH_SECONDS = 5.0


class StoreOfLog(StoreOfTopics, EventReads, Protocol):
    """What of the store is used here."""


class KafkaLog(EmbeddedLog):
    def __init__(self, store: StoreOfLog, clock: Clock, brokers: Brokers, prefix: str = "") -> None:
        super().__init__(store)
        self._store = store
        self._clock = clock
        self._brokers = brokers
        self.cluster = Cluster(brokers)
        self.places = Places(store, self.cluster, prefix)
        self.relay: Relay | None = None
        self.wakes: Wakes | None = None
        self._record_watchers: list[Callable[[list[Event]], None]] = []
        self._awaited = 0
        self._depth = OutboxDepth()
        self._serving: list[asyncio.Task[None]] = []
        self._looking: asyncio.Task[None] | None = None

    async def serve(self, host: HostId, agents: Iterable[ParticipantId], *, watches: bool) -> None:
        mine = list(agents)
        if self.relay is None or self.wakes is None:
            instance = await self._store.instance()
            self.relay = Relay(
                self._store,
                self._clock,
                Outlet(self._brokers),
                self.places,
                host=host,
                instance=instance,
            )
            self.wakes = Wakes(
                self._store,
                self._brokers,
                self.places,
                instance=instance,
                look=self.grown,
                on_records=self._on_records,
            )
            self.watch(self._on_events)
            loop = asyncio.get_running_loop()
            self._serving = [loop.create_task(self.relay.run()), loop.create_task(self._keep_depth())]
        try:
            async with asyncio.timeout(0 if self.wakes.is_behind else START_SECONDS):
                await self.wakes.serve(mine, watches=watches)
        except (KafkaOutOfReach, TimeoutError) as trouble:
            # Nobody waits for brokers, and nobody twice: the sweep does their work meanwhile.
            why = str(trouble) or f"no answer within {START_SECONDS:g} s"
            log.warning("Kafka is out of reach", action="kafka_away", error=why)
            self.wakes.refresh()
        stopped, placed = self.places.stopped, self.places.known
        if taken := [stopped[agent] for agent in mine if agent in stopped and agent not in placed]:
            raise BadValue(
                f"{', '.join(sorted(taken))}: log.topic_prefix has to tell them apart",
                detail="two homes that share brokers need topics of their own",
                fix=("set log.topic_prefix to a name of this home", "delete the topics, if nobody uses them"),
            )

    def watch_records(self, watcher: Callable[[list[Event]], None]) -> None:
        self._record_watchers.append(watcher)

    def _on_records(self, records: list[Event]) -> None:
        for watcher in self._record_watchers:
            watcher(records)

    def committed(self, commit: Commit) -> None:
        super().committed(commit)
        if self.relay is not None:
            self.relay.hinted()

    def hinted(self) -> None:
        super().hinted()
        if self.relay is not None:
            self.relay.hinted()

    def grown(self, event: int) -> None:
        """A record says that everything up to an event can be read, or can be soon; 0: that there may be something."""
        self._awaited = max(self._awaited, event)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.get_running_loop().create_task(self._look_until())

    async def _look_until(self) -> None:
        clock = asyncio.get_running_loop().time
        until = clock() + PATIENCE_SECONDS
        with suppress(Trouble):
            await self.catch_up()
            while self.last < self._awaited and clock() < until:
                await asyncio.sleep(LOOK_SECONDS)
                await self.catch_up()
        self._awaited = min(self._awaited, self.last)

    def _on_events(self, events: list[Event]) -> None:
        if self.wakes is not None and any(event.type in CONCERNS_READERS for event in events):
            self.wakes.refresh()

    async def _keep_depth(self) -> None:
        """Nothing new is taken while more waits to be told than a disk should be filled with."""
        while True:
            with suppress(MootError):
                self._depth = await self._store.outbox_depth(MOST_WAITING + 1)
                self.refusal = overfull() if self._depth.rows > MOST_WAITING else None
            await asyncio.sleep(DEPTH_SECONDS)

    def figures(self) -> LogFigures:
        oldest = self._depth.oldest
        lease = self.relay.lease if self.relay is not None else None
        return LogFigures(
            waiting=self._depth.rows,
            oldest_seconds=0.0 if oldest is None else max(0.0, self._clock.now() - oldest),
            fence=0 if lease is None else lease.fence,
            publishes=self.relay is not None and self.relay.is_held,
            unread=0 if self.wakes is None else self.wakes.unread,
            foreign=0 if self.wakes is None else self.wakes.foreign,
            unreadable=0 if self.wakes is None else self.wakes.unreadable,
        )

    async def close(self) -> None:
        for task in (*self._serving, *([self._looking] if self._looking is not None else ())):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        if self.wakes is not None:
            await self.wakes.close()
        if self.relay is not None:
            await self.relay.close()
        self.cluster.close()
        await super().close()


def kafka_log(store: StoreOfLog, clock: Clock, settings: LogSettings) -> KafkaLog:
    """As it is set."""
    return KafkaLog(store, clock, brokers_of(settings.url), settings.topic_prefix)


def overfull() -> StoreUnwritable:
    return StoreUnwritable(
        f"more than {MOST_WAITING} records wait for Kafka",
        detail="nothing new is taken until they are published; everything that was said can be read",
        fix=("bring the brokers of log.url back",),
        retry_after_ms=30_000,
    )
