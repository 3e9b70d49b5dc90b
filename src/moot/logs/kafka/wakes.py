"""Wake-ups: the records that concern this process, read to learn that the store has grown. They make no turns.

A process reads the topics of the agents it runs and of the conversations they are in, and for a supervisor those of the
agents it watches; a process that watches everything reads all. How far each agent has read is stored in a group of its
own, `agent-ID`, which any Kafka tool shows; it only says where to begin again. Records of another home or an earlier
epoch are skipped; unreadable ones are put aside.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from typing import Any

import structlog

from moot.errors import MootError
from moot.flow import park_record
from moot.logs.kafka.address import Brokers
from moot.logs.kafka.cluster import KafkaOutOfReach, Place
from moot.logs.kafka.offsets import GroupOffsets
from moot.logs.kafka.places import Places, StoreOfTopics
from moot.logs.kafka.reader import ReceivedRecord, TopicReader
from moot.logs.kafka.record import UnreadableRecord, decode_record, event_of
from moot.model.event import Event
from moot.model.ids import ParticipantId
from moot.model.records.outbox import POINTER
from moot.rules.access import watched_by

log = structlog.get_logger("moot.kafka")

KEEP_SECONDS = 1.0
"""How often changed offsets are stored."""
REFUSED_SECONDS = 60.0
"""Pause for a group whose offsets brokers refuse to store."""
CLOSE_SECONDS = 2.0
AROUND_SECONDS = 10.0
"""How often it looks for topics without a hint."""
AWAY_SECONDS = 5.0
"""Pause before silent brokers are asked again."""
AGAIN_SECONDS = 2.0
"""Delay of a second look after new topics: the first record of one may come late."""
PARK_SECONDS = 0.1
"""Between two records that are put aside."""
MAX_TO_PARK = 100
"""Records that may wait to be put aside; more are only counted."""


def group_of(agent: ParticipantId) -> str:
    return f"agent-{agent}"


class Wakes:
    def __init__(
        self,
        store: StoreOfTopics,
        brokers: Brokers,
        places: Places,
        *,
        instance: str,
        look: Callable[[int], None],
        on_records: Callable[[list[Event]], None] = lambda records: None,
    ) -> None:
        self._store = store
        self._brokers = brokers
        self._offsets = GroupOffsets(brokers)
        self._places = places
        self._instance = instance
        self._look = look
        """Called when events up to this one are readable now or soon; 0 for any."""
        self._on_records = on_records
        self._agents: set[ParticipantId] = set()
        self._watches = False
        self._reader: TopicReader | None = None
        self._readers: dict[Place, set[ParticipantId]] = {}
        """Place → the agents for which it is read."""
        self._epochs: dict[str, int] = {}
        self._reached: dict[Place, int] = {}
        self._stored_offsets: dict[tuple[ParticipantId, Place], int] = {}
        self._unstored: dict[str, float] = {}
        """Groups whose offsets brokers refuse to store, and until when they are left alone."""
        self._changing = asyncio.Lock()
        self._is_stale = False
        self._refreshing: asyncio.Task[None] | None = None
        self._around: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.foreign = 0
        """Records of other homes, or of earlier epochs."""
        self._shared: set[str] = set()
        """Topics that another home writes to as well."""
        self.unreadable = 0
        """Unreadable records, put aside or not."""
        self._to_park: asyncio.Queue[tuple[ReceivedRecord, str]] = asyncio.Queue(MAX_TO_PARK)
        self._parking: asyncio.Task[None] | None = None

    async def serve(self, agents: Iterable[ParticipantId], *, watches: bool) -> None:
        """Wake this process for these agents too."""
        self._agents |= set(agents)
        self._watches = self._watches or watches
        if self._around is None:
            self._around = self._spawn(self._look_around())
        await self.keep_up()

    @property
    def unread(self) -> int:
        """Records that the brokers hold and this process has not read."""
        return 0 if self._reader is None else self._reader.unread

    @property
    def refused(self) -> Mapping[str, str]:
        """Topics that brokers do not let this process read, each with their reason."""
        return {} if self._reader is None else self._reader.refused

    @property
    def reached(self) -> Mapping[Place, int]:
        """Place → the offset up to which it is read."""
        return self._reached

    @property
    def is_behind(self) -> bool:
        """Whether it is still finding out what to read: brokers did not answer, or something has changed."""
        return self._refreshing is not None and not self._refreshing.done()

    # --- what is read ------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Look again for what to read: somebody may have joined a conversation, or be new."""
        self._is_stale = True
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = self._spawn(self._keep_up_soon())

    async def _keep_up_soon(self) -> None:
        while self._is_stale:
            self._is_stale = False
            try:
                await self.keep_up()
            except (MootError, KafkaOutOfReach) as trouble:  # the sweep does it meanwhile
                log.info("topics cannot be read yet", action="kafka_away", error=str(trouble))
                self._is_stale = True
                await asyncio.sleep(AWAY_SECONDS)

    async def _look_around(self) -> None:
        """Refresh regularly: another process may have begun an epoch."""
        while True:
            await asyncio.sleep(AROUND_SECONDS)
            self.refresh()

    async def keep_up(self) -> None:
        """Read exactly the topics that concern this process now."""
        async with self._changing:
            places, trouble = await self._find_places()
            new = places.keys() - self._readers.keys()
            obsolete = self._readers.keys() - places.keys()
            starts = await self._starts({place: places[place] for place in new})
            self._readers = places
            if obsolete and self._reader is not None:
                self._reader.leave(obsolete)
                self._reached = {place: at for place, at in self._reached.items() if place not in obsolete}
            if starts:
                if self._reader is None:
                    self._reader = TopicReader(self._brokers, self._take, self._on_begin, self._on_loss)
                    self._spawn(self._keep_offsets())
                self._reader.read(starts)
        if starts:
            asyncio.get_running_loop().call_later(AGAIN_SECONDS, self._look, 0)
        if trouble is not None:
            raise trouble

    async def _find_places(self) -> tuple[dict[Place, set[ParticipantId]], KafkaOutOfReach | None]:
        """What to read, and why that is not all of it."""
        await self._places.refresh()
        readers: dict[ParticipantId, set[ParticipantId]] = {}
        if self._watches:
            readers = {agent: set() for agent in self._places.topics}
        listeners = await self._listeners()
        for agent, home in await self._store.homes_of(sorted(listeners)):
            readers.setdefault(home, set()).update(listeners[agent])
        for agent, readers_here in listeners.items():
            readers.setdefault(agent, set()).update(readers_here)
        trouble: KafkaOutOfReach | None = None
        try:
            topics = await self._places.of(readers)
        except KafkaOutOfReach as error:
            topics, trouble = self._places.known_of(readers), error
        self._epochs = {topic.name: topic.epoch for topic in topics.values()}
        places = {
            (topic.name, part): readers[agent]
            for agent, topic in topics.items()
            for part in range(topic.partitions)
        }
        return places, trouble

    async def _listeners(self) -> dict[ParticipantId, set[ParticipantId]]:
        """Agents whose records concern this process, each with its readers here: itself, if it runs here, and the
        supervisors that watch it."""
        listeners = {agent: {agent} for agent in self._agents}
        people = await self._store.participants()
        for person in people:
            if person.id in self._agents and person.only_watches:
                for agent in watched_by(person, people):
                    listeners.setdefault(agent, set()).add(person.id)
        return listeners

    async def _starts(self, new: dict[Place, set[ParticipantId]]) -> dict[Place, int | None]:
        """The offset to begin at for each place: the lowest of its readers; None (the end) if one has never read it, as
        the store is read then."""
        by_agent: dict[ParticipantId, set[Place]] = {}
        for place, agents in new.items():
            for agent in agents:
                by_agent.setdefault(agent, set()).add(place)
        groups = [self._read_offsets(agent, places) for agent, places in by_agent.items()]
        stored = dict(zip(by_agent, await asyncio.gather(*groups), strict=True))
        starts: dict[Place, int | None] = {}
        for place, agents in new.items():
            offsets = [stored[agent].get(place) for agent in agents]
            stored_offsets = [offset for offset in offsets if offset is not None]
            starts[place] = (
                min(stored_offsets) if stored_offsets and len(stored_offsets) == len(offsets) else None
            )
        return starts

    async def _read_offsets(self, agent: ParticipantId, places: set[Place]) -> dict[Place, int]:
        """Stored offsets of an agent; none if they cannot be read, so that reading begins at the end."""
        with suppress(KafkaOutOfReach):
            return await self._offsets.read(group_of(agent), places)
        return {}

    # --- records -----------------------------------------------------------------------------------------

    def _take(self, batch: list[ReceivedRecord]) -> None:
        newest, is_news, is_pointed = 0, False, False
        messages: list[Event] = []
        for received in batch:
            self._reached[received.topic, received.part] = received.place + 1
            try:
                envelope = decode_record(received.value).envelope
            except UnreadableRecord as reason:
                self._put_aside(received, str(reason))
                continue
            if envelope.instance != self._instance or envelope.epoch < self._epochs.get(received.topic, 0):
                self._pass_over(received.topic, envelope.instance)
                continue
            newest, is_news = max(newest, envelope.event), True
            if (event := event_of(envelope)) is not None:
                messages.append(event)
            is_pointed = is_pointed or envelope.action == POINTER
        if messages:
            self._on_records(messages)
        if is_news:
            self._look(newest)
        if is_pointed:
            self.refresh()

    def _pass_over(self, topic: str, instance: str) -> None:
        self.foreign += 1
        if instance != self._instance and topic not in self._shared:
            self._shared.add(topic)
            log.warning("another home writes to a topic of this one", action="topic_shared", topic=topic)

    def _on_begin(self, places: dict[Place, int]) -> None:
        """Note where reading has begun. Earlier records are covered by the store, which is read now."""
        for place, offset in places.items():
            self._reached.setdefault(place, offset)

    def _on_loss(self) -> None:
        """Brokers were away, records are gone, or reading has begun: look for events that no record reported."""
        self._look(0)

    def _put_aside(self, received: ReceivedRecord, reason: str) -> None:
        """Queue an unreadable record. They are stored one at a time, so that a topic full of them does not delay other
        writes."""
        self.unreadable += 1
        if self._to_park.full():
            return
        self._to_park.put_nowait((received, reason))
        if self._parking is None or self._parking.done():
            self._parking = self._spawn(self._park())

    async def _park(self) -> None:
        while not self._to_park.empty():
            received, reason = self._to_park.get_nowait()
            text = (received.value or b"").decode("utf-8", "replace").replace("\0", "\ufffd")
            command = park_record.ParkRecord(received.topic, received.part, received.place, reason, text)
            log.warning(
                "a record makes no sense",
                action="dead_letter",
                topic=received.topic,
                place=received.place,
                unreadable=self.unreadable,
            )
            with suppress(MootError):
                await self._store.transact(park_record, command)
            await asyncio.sleep(PARK_SECONDS)

    # --- offsets -----------------------------------------------------------------------------------------

    async def _keep_offsets(self) -> None:
        while True:
            await asyncio.sleep(KEEP_SECONDS)
            with suppress(KafkaOutOfReach):
                await self.keep_offsets()

    async def keep_offsets(self) -> None:
        now = asyncio.get_running_loop().time()
        moved = {
            (agent, place): at
            for place, at in self._reached.items()
            for agent in self._readers.get(place, ())
            if self._stored_offsets.get((agent, place)) != at
            and self._unstored.get(group_of(agent), 0) <= now
        }
        by_group: dict[str, dict[Place, int]] = {}
        for (agent, place), at in moved.items():
            by_group.setdefault(group_of(agent), {})[place] = at
        if not by_group:
            return
        refused = await self._offsets.write(by_group)
        for group, reason in refused.items():
            if group not in self._unstored:
                log.warning("offsets are not stored", action="offsets_refused", group=group, reason=reason)
            self._unstored[group] = now + REFUSED_SECONDS
        for group in by_group.keys() - refused.keys():
            self._unstored.pop(group, None)
        self._stored_offsets |= {key: at for key, at in moved.items() if group_of(key[0]) not in refused}

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._reader is not None:
            await self._reader.close()
            with suppress(KafkaOutOfReach, TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self.keep_offsets()
        self._offsets.close()
