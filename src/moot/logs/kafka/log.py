"""The log over Kafka: events come from the store, as in the embedded log; records carry the hints between processes.

Safety needs the store alone. A record brings a hint within milliseconds; where it is lost, the sweep finds the event. A
process that only reads, or posts once and ends, never connects to a broker: only `serve` does.
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
from moot.model.records.topic import TopicTroubleKind
from moot.ports import Clock, EventReads
from moot.settings.values import LogSettings

log = structlog.get_logger("moot.kafka")

START_SECONDS = 2.0
"""How long a start waits for brokers, to report wrong settings; the start goes on without them after that."""
LOOK_SECONDS = 0.01
PATIENCE_SECONDS = 30.0
"""How long to wait for a slow transaction; after that the sweep finds its events."""
CONCERNS_READERS = frozenset(
    {EventType.AGENT_JOINED, EventType.CONVERSATION_CREATED, EventType.CONVERSATION_JOINED}
)
MAX_OUTBOX_ROWS = 1_000_000
"""With more unpublished rows, new writes are refused."""
DEPTH_SECONDS = 5.0


class StoreOfLog(StoreOfTopics, EventReads, Protocol):
    """What the log needs from the store."""


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
        served = list(agents)
        if self.relay is None or self.wakes is None:
            instance = await self._store.instance()
            self.relay = Relay(
                self._store,
                self._clock,
                Outlet(self._brokers),
                self.places,
                trial=Outlet(self._brokers),
                host=host,
                instance=instance,
            )
            self.wakes = Wakes(
                self._store,
                self._brokers,
                self.places,
                instance=instance,
                look=self.expect,
                on_records=self._on_records,
            )
            self.watch(self._on_events)
            loop = asyncio.get_running_loop()
            self._serving = [loop.create_task(self.relay.run()), loop.create_task(self._keep_depth())]
        try:
            async with asyncio.timeout(0 if self.wakes.is_behind else START_SECONDS):
                await self.wakes.serve(served, watches=watches)
        except (KafkaOutOfReach, TimeoutError) as trouble:
            # Do not wait longer for brokers: the sweep does their work meanwhile.
            reason = str(trouble) or f"no answer within {START_SECONDS:g} s"
            log.warning("Kafka is out of reach", action="kafka_away", error=reason)
            self.wakes.refresh()
            return
        self._refuse_taken(served)

    def _refuse_taken(self, served: Iterable[ParticipantId]) -> None:
        """A home whose agents never had topics, and cannot have any because another home has them, does not start."""
        stopped, placed = self.places.stopped, self.places.topics
        troubles = [stopped[agent] for agent in served if agent in stopped and agent not in placed]
        taken = [trouble.topic for trouble in troubles if trouble.kind is TopicTroubleKind.TAKEN]
        if taken:
            raise BadValue(
                f"another home writes to {', '.join(sorted(taken))}: log.topic_prefix has to tell them apart",
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

    def expect(self, event: int) -> None:
        """A record says that events up to this one are readable now or soon; 0: there may be new events."""
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
        """Refuse new writes while too many rows wait to be published, before they fill the disk."""
        while True:
            with suppress(MootError):
                self._depth = await self._store.outbox_depth(MAX_OUTBOX_ROWS + 1)
                self.refusal = outbox_full() if self._depth.rows > MAX_OUTBOX_ROWS else None
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
            stopped=len(self._stopped_topics()),
        )

    def _stopped_topics(self) -> set[str]:
        unread = set[str]() if self.wakes is None else set(self.wakes.refused)
        return unread | {trouble.topic for trouble in self.places.stopped.values()}

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
    """The log that the settings describe."""
    return KafkaLog(store, clock, brokers_of(settings.url), settings.topic_prefix)


def outbox_full() -> StoreUnwritable:
    return StoreUnwritable(
        f"more than {MAX_OUTBOX_ROWS} records wait for Kafka",
        detail="nothing new is taken until they are published; everything that was said can be read",
        fix=("bring the brokers of log.url back",),
        retry_after_ms=30_000,
    )
