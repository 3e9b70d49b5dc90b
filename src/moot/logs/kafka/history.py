"""What the topics of a home say, from the first record they keep: for `moot replay`, which holds it against the store.

Only that something was said or changed, and where. Records of other homes and what makes no sense are passed over; what
is older than the first kept record is told by nobody, and comes from the store.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from moot.logs.kafka.address import Brokers
from moot.logs.kafka.cluster import KafkaOutOfReach, spoken
from moot.logs.kafka.record import UnreadableRecord, decoded, event_of
from moot.model.event import Event
from moot.model.ids import ParticipantId
from moot.model.records.topic import TOPICS
from moot.ports import OutboxReads, Records

AT_ONCE = 500
SECONDS = 5.0


async def recorded(
    brokers: Brokers, topics: Records, outbox: OutboxReads, agents: Iterable[ParticipantId]
) -> AsyncIterator[Event]:
    """Of the topics of these agents, one after the other."""
    instance = await outbox.instance()
    wanted = set(agents)
    consumer = Consumer(
        brokers.client(
            **{"group.id": "moot-none", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
        )
    )
    try:
        for topic in await topics.records(TOPICS.all()):
            for part in range(topic.partitions) if topic.agent in wanted else ():
                async for value in _records(consumer, topic.name, part):
                    event = _event(value, instance)
                    if event is not None:
                        yield event
    except KafkaException as error:
        raise KafkaOutOfReach(spoken(error)) from error
    finally:
        await asyncio.to_thread(consumer.close)


async def _records(consumer: Consumer, topic: str, part: int) -> AsyncIterator[bytes | None]:
    place = TopicPartition(topic, part)
    low, end = await asyncio.to_thread(consumer.get_watermark_offsets, place, timeout=SECONDS)
    consumer.assign([TopicPartition(topic, part, low)])
    at = low
    while at < end:
        batch: list[Any] = await asyncio.to_thread(consumer.consume, min(AT_ONCE, end - at), SECONDS)
        if not batch:
            raise KafkaOutOfReach(f"{topic} has {end - at} more records, and none came in {SECONDS:.0f} s")
        for message in batch:
            if message.error() is not None:
                raise KafkaOutOfReach(str(message.error()))
            at = int(message.offset()) + 1
            yield message.value()


def _event(value: bytes | None, instance: str) -> Event | None:
    try:
        envelope = decoded(value).envelope
    except UnreadableRecord:
        return None
    return event_of(envelope) if envelope.instance == instance else None
