"""How far each agent has read: offsets of groups that nobody is a member of, read and written from outside.

Nothing here may hold up anything else. librdkafka 2.16 asks the coordinator of a group once and may then wait for good
(its answer "not yet" is tried again only when a connection changes); asked to give up by itself it frees what it still
needs, and the process ends when the coordinator is back. So requests are made without an end of their own, by a client
that does nothing else, and whoever has waited long enough drops that client: all it had under way ends with it.

Reading goes by a consumer that lives as long as its question. The admin client's way of reading ends the process when
the coordinator has moved, and is done rarely enough: once for each agent, when its topics are first read.
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from time import monotonic
from typing import Any

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from moot.logs.kafka.address import Brokers
from moot.logs.kafka.cluster import KafkaOutOfReach, Place, ignore, in_thread, spoken

READ_SECONDS = 5.0
WRITE_SECONDS = 5.0
"""So long an answer is waited for."""
NEVER_SECONDS = 3600.0
KNOCK = "moot-knock"
"""A topic that need not be there: only brokers that answer for it are asked for more."""
KNOCK_SECONDS = 3.0
THREADS = 4


class GroupOffsets:
    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        self._threads = ThreadPoolExecutor(THREADS, "moot-kafka-offsets")
        self._writing = Lock()
        self._client: AdminClient | None = None

    async def read(self, group: str, places: Iterable[Place]) -> dict[Place, int]:
        """How far a group has read; places it has never read are left out."""
        found: dict[Place, int] = await self._in_thread(self._read, group, list(places))
        return found

    def _read(self, group: str, places: list[Place]) -> dict[Place, int]:
        if not places:
            return {}
        consumer = Consumer(
            self._brokers.client(**{"group.id": group, "enable.auto.commit": False, "error_cb": ignore})
        )
        try:
            kept = consumer.committed([TopicPartition(*place) for place in places], timeout=READ_SECONDS)
        finally:
            consumer.close()
        for one in kept:
            if one.error is not None:
                raise KafkaException(one.error)
        return {(one.topic, one.partition): one.offset for one in kept if one.offset >= 0}

    async def write(self, by_group: Mapping[str, Mapping[Place, int]]) -> None:
        await self._in_thread(self._write, by_group)

    def _write(self, by_group: Mapping[str, Mapping[Place, int]]) -> None:
        """One at a time, and all or nothing as far as the client is concerned."""
        with self._writing:
            if self._client is None:
                self._client = AdminClient(self._brokers.client(error_cb=ignore))
            self._client.list_topics(KNOCK, timeout=KNOCK_SECONDS)
            trouble = ""
            try:
                _all_taken(_asked(self._client, by_group))
            except KafkaException as error:
                trouble = spoken(error)
            except TimeoutError:
                trouble = "the coordinator of a group does not answer"
            if trouble:
                self._client = (
                    None  # here, where nobody waits for its end, and nothing else holds it any more
                )
                raise KafkaOutOfReach(trouble)

    async def _in_thread(self, work: Any, *arguments: Any) -> Any:
        try:
            return await in_thread(self._threads, work, *arguments)
        except KafkaException as error:
            raise KafkaOutOfReach(spoken(error)) from error

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _asked(client: AdminClient, by_group: Mapping[str, Mapping[Place, int]]) -> "list[Future[Any]]":
    asked: list[Future[Any]] = []
    for group, offsets in by_group.items():
        places = [TopicPartition(topic, part, offset) for (topic, part), offset in offsets.items()]
        request = [ConsumerGroupTopicPartitions(group, places)]
        asked += client.alter_consumer_group_offsets(request, request_timeout=NEVER_SECONDS).values()
    return asked


def _all_taken(asked: "Iterable[Future[Any]]") -> None:
    until = monotonic() + WRITE_SECONDS
    for each in asked:
        for place in each.result(max(until - monotonic(), 0)).topic_partitions:
            if place.error is not None:
                raise KafkaException(place.error)
