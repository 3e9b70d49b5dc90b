"""What lies in the topics of a home, read as any other program would."""

import asyncio
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from msgspec import json

from moot import Hub
from moot.logs.kafka.address import Brokers
from moot.logs.kafka.cluster import Cluster, Place
from moot.logs.kafka.log import KafkaLog
from moot.logs.kafka.offsets import GroupOffsets
from tests.support.beneath import store_of
from tests.support.waiting import until


class Topics:
    def __init__(self, address: str, prefix: str) -> None:
        self._brokers = Brokers(address)
        self._prefix = prefix
        self.cluster = Cluster(self._brokers)
        self.offsets = GroupOffsets(self._brokers)

    async def names(self) -> list[str]:
        return [name for name in await asyncio.to_thread(self._list) if name.startswith(self._prefix)]

    def _list(self) -> list[str]:
        return sorted(self.cluster._admin.list_topics(timeout=10).topics)

    async def records(self) -> list[tuple[str, Any]]:
        """All there are, in the order of their topics: the topic and the record of each."""
        places = [(name, 0) for name in await self.names()]
        return await asyncio.to_thread(self._read, places)

    async def end(self, place: Place) -> int:
        """Where its next record will be."""
        return await asyncio.to_thread(self._end, self._consumer(), place)

    def _end(self, consumer: Consumer, place: Place) -> int:
        _, end = consumer.get_watermark_offsets(TopicPartition(*place), timeout=10)
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
            message = consumer.poll(10)
            assert message is not None, "the broker is silent"
            assert message.error() is None, message.error()
            topic, offset = str(message.topic()), int(message.offset() or 0)
            found.append((topic, offset, json.decode(message.value() or b"{}")))
            if offset + 1 >= left[topic, 0]:
                del left[topic, 0]
        consumer.close()
        return [(topic, value) for topic, _, value in sorted(found, key=lambda one: one[:2])]


def log_of(hub: Hub) -> KafkaLog:
    log = hub._core.parts.log
    assert isinstance(log, KafkaLog)
    return log


async def all_published(hub: Hub, seconds: float = 40.0) -> None:
    """Nothing waits in the outbox any more."""
    await until(lambda: store_of(hub).unpublished(1), lambda rows: not rows, seconds)
