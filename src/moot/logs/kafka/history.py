"""What the topics of a home contain, from their oldest record on: for `moot replay`, which compares it with the store.

Records say only that something was posted or changed, and where. Records of other homes and unreadable ones are
skipped; what is older than the oldest record is in the store only.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from moot.logs.kafka.address import Brokers
from moot.logs.kafka.cluster import KafkaOutOfReach, error_text
from moot.logs.kafka.record import UnreadableRecord, decode_record, event_of
from moot.model.event import Event
from moot.model.ids import ParticipantId
from moot.model.records.topic import TOPICS
from moot.ports import OutboxReads, Records

AT_ONCE = 500
SECONDS = 5.0


async def recorded_events(
    brokers: Brokers, topics: Records, outbox: OutboxReads, agents: Iterable[ParticipantId]
) -> AsyncIterator[Event]:
    """The events in the topics of these agents, topic by topic."""
    instance = await outbox.instance()
    chosen = set(agents)
    consumer = Consumer(
        brokers.client(
            **{"group.id": "moot-none", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
        )
    )
    try:
        for topic in await topics.records(TOPICS.all()):
            for part in range(topic.partitions) if topic.agent in chosen else ():
                async for value in _records(consumer, topic.name, part):
                    event = _event(value, instance)
                    if event is not None:
                        yield event
    except KafkaException as error:
        raise KafkaOutOfReach(error_text(error)) from error
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
        envelope = decode_record(value).envelope
    except UnreadableRecord:
        return None
    return event_of(envelope) if envelope.instance == instance else None
