"""What lies in the topics of a home, read as any other program would."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, TypeVar

from confluent_kafka import Consumer, TopicPartition
from msgspec import json

from moot import Hub
from moot.logs.kafka.address import Brokers
from moot.logs.kafka.cluster import Cluster, KafkaOutOfReach, Place
from moot.logs.kafka.log import KafkaLog
from moot.logs.kafka.offsets import GroupOffsets
from moot.logs.kafka.wakes import group_of
from moot.model.ids import ParticipantId
from tests.support.beneath import store_of
from tests.support.waiting import until

T = TypeVar("T")

SLOW = 90.0
"""Seconds that anything at a broker may take, where nothing is promised: one that has just come up, on a machine that
other tests keep busy, takes many."""


class Topics:
    def __init__(self, address: str, prefix: str) -> None:
        self._brokers = Brokers(address)
        self._prefix = prefix
        self.cluster = Cluster(self._brokers)
        self.offsets = GroupOffsets(self._brokers)

    async def names(self) -> list[str]:
        return [name for name in await asyncio.to_thread(self._list) if name.startswith(self._prefix)]

    def _list(self) -> list[str]:
        return sorted(self.cluster._admin.list_topics(timeout=SLOW).topics)

    async def records(self) -> list[tuple[str, Any]]:
        """All there are, in the order of their topics: the topic and the record of each."""
        places = [(name, 0) for name in await self.names()]
        return await asyncio.to_thread(self._read, places)

    async def end(self, place: Place) -> int:
        """Where its next record will be."""
        return await asyncio.to_thread(self._end, self._consumer(), place)

    async def noted(self, agent: str, place: Place) -> int | None:
        """How far an agent has noted that it has read; None where it has not, or nobody says so yet."""
        with suppress(KafkaOutOfReach):
            return (await self.offsets.read(group_of(ParticipantId(agent)), [place])).get(place)
        return None

    def _end(self, consumer: Consumer, place: Place) -> int:
        _, end = consumer.get_watermark_offsets(TopicPartition(*place), timeout=SLOW)
        return int(end)

    def _consumer(self) -> Consumer:
        return Consumer(self._brokers.client(**{"group.id": "a-test", "enable.auto.commit": False}))

    def _read(self, places: list[Place]) -> list[tuple[str, Any]]:
        consumer = self._consumer()
        ends = {place: self._end(consumer, place) for place in places}
        found: list[tuple[str, int, Any]] = []
        left = {place: end for place, end in ends.items() if end}
        consumer.assign([TopicPartition(*place, 0) for place in left])
        while left:
            message = consumer.poll(SLOW)
            assert message is not None, "the broker is silent"
            assert message.error() is None, message.error()
            topic, offset = str(message.topic()), int(message.offset() or 0)
            found.append((topic, offset, json.decode(message.value() or b"{}")))
            if offset + 1 >= left[topic, 0]:
                del left[topic, 0]
        consumer.close()
        return [(topic, value) for topic, _, value in sorted(found, key=lambda one: one[:2])]


def once(records: Iterable[T]) -> list[T]:
    """Each where it came first: one that was not acknowledged in time is told again, and readers pass over it."""
    found: list[T] = []
    for record in records:
        if record not in found:
            found.append(record)
    return found


def log_of(hub: Hub) -> KafkaLog:
    log = hub._core.parts.log
    assert isinstance(log, KafkaLog)
    return log


async def all_published(hub: Hub, seconds: float = SLOW) -> None:
    """Nothing waits in the outbox any more."""
    await until(lambda: store_of(hub).unpublished(1), lambda rows: not rows, seconds)


async def reading(hub: Hub, *topics: str) -> None:
    """The process reads these: whatever is published from now on is handed to it, and what was before may not be."""

    async def begun() -> set[str]:
        wakes = log_of(hub).wakes
        return set() if wakes is None else {topic for topic, _ in wakes.reached}

    await until(begun, set(topics).issubset, SLOW)
