"""How far each agent has read: offsets of groups without members, read and written from outside.

Nothing here may delay anything else. librdkafka 2.16 asks the coordinator of a group once and may then wait for ever
(it repeats the request only when a connection changes). With a timeout of its own it frees memory that it still needs,
and crashes the process when the coordinator is back. So requests have no timeout, a client of their own makes them, and
the caller drops that client when it has waited long enough: all its requests end with it.

Each read uses a consumer of its own: reading through the admin client crashes the process when the coordinator has
moved. Reads are rare: once for each agent, when its topics are first read.
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from time import monotonic
from typing import Any

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from moot.logs.kafka.address import Brokers
from moot.logs.kafka.cluster import KafkaOutOfReach, Place, error_text, ignore, in_thread, is_refusal

READ_SECONDS = 5.0
WRITE_SECONDS = 5.0
"""Timeout of a request."""
NO_TIMEOUT_SECONDS = 3600.0
PROBE_TOPIC = "moot-knock"
"""Asking for this topic, which need not exist, shows whether the brokers answer at all."""
PROBE_SECONDS = 3.0
THREADS = 4


class GroupOffsets:
    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        self._threads = ThreadPoolExecutor(THREADS, "moot-kafka-offsets")
        self._writing = Lock()
        self._client: AdminClient | None = None

    async def read(self, group: str, places: Iterable[Place]) -> dict[Place, int]:
        """How far a group has read; places that it never read are left out."""
        offsets: dict[Place, int] = await self._in_thread(self._read, group, list(places))
        return offsets

    def _read(self, group: str, places: list[Place]) -> dict[Place, int]:
        if not places:
            return {}
        consumer = Consumer(
            self._brokers.client(**{"group.id": group, "enable.auto.commit": False, "error_cb": ignore})
        )
        try:
            committed = consumer.committed([TopicPartition(*place) for place in places], timeout=READ_SECONDS)
        finally:
            consumer.close()
        for place in committed:
            if place.error is not None:
                raise KafkaException(place.error)
        return {(place.topic, place.partition): place.offset for place in committed if place.offset >= 0}

    async def write(self, by_group: Mapping[str, Mapping[Place, int]]) -> dict[str, str]:
        """Store offsets; returns the groups for which brokers refused it, each with their reason."""
        refused: dict[str, str] = await self._in_thread(self._write, by_group)
        return refused

    def _write(self, by_group: Mapping[str, Mapping[Place, int]]) -> dict[str, str]:
        """One write at a time; after a failure the client is dropped."""
        with self._writing:
            if self._client is None:
                self._client = AdminClient(self._brokers.client(error_cb=ignore))
            self._client.list_topics(PROBE_TOPIC, timeout=PROBE_SECONDS)
            try:
                return _refused(_alter(self._client, by_group))
            except KafkaException as error:
                trouble = error_text(error)
            except TimeoutError:
                trouble = "the coordinator of a group does not answer"
            self._client = None  # dropped in this thread, where its end delays nobody
            raise KafkaOutOfReach(trouble)

    async def _in_thread(self, work: Any, *arguments: Any) -> Any:
        try:
            return await in_thread(self._threads, work, *arguments)
        except KafkaException as error:
            raise KafkaOutOfReach(error_text(error)) from error

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _alter(client: AdminClient, by_group: Mapping[str, Mapping[Place, int]]) -> "dict[str, Future[Any]]":
    futures: dict[str, Future[Any]] = {}
    for group, offsets in by_group.items():
        places = [TopicPartition(topic, part, offset) for (topic, part), offset in offsets.items()]
        request = [ConsumerGroupTopicPartitions(group, places)]
        futures |= client.alter_consumer_group_offsets(request, request_timeout=NO_TIMEOUT_SECONDS)
    return futures


def _refused(futures: "Mapping[str, Future[Any]]") -> dict[str, str]:
    """Groups with an error of their own, which says nothing about the others. Raises any other."""
    until = monotonic() + WRITE_SECONDS
    refused: dict[str, str] = {}
    for group, future in futures.items():
        try:
            places = future.result(max(until - monotonic(), 0)).topic_partitions
            errors = [place.error for place in places if place.error is not None]
        except KafkaException as error:
            errors = [error.args[0]]
        for reason in errors:
            if not is_refusal(reason):
                raise KafkaException(reason)
            refused[group] = reason.str()
    return refused
