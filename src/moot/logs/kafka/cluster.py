"""Topics of the brokers: create, describe and drop them, and read the newest record of each. How far agents have read:
offsets.py.

Every call runs in a thread, and its answer is typed here: the client's are not. Trouble is `KafkaOutOfReach`.
"""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any, TypeAlias

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from msgspec import Struct, structs

from moot.logs.kafka.address import Brokers
from moot.logs.kafka.record import Envelope, UnreadableRecord, decode_record

SECONDS = 5.0
"""Timeout of a request."""
POLL_SECONDS = 0.2
NEWEST = -2001
"""For librdkafka: one before the end."""
THREADS = 2
TRIES = 10
AGAIN_SECONDS = 0.3
COMING_UP = (
    KafkaError.BROKER_NOT_AVAILABLE,
    KafkaError.INVALID_REPLICATION_FACTOR,  # no broker has joined yet
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_CONTROLLER,
)

Place: TypeAlias = tuple[str, int]
"""A topic and a partition of it."""


class KafkaOutOfReach(Exception):
    """The brokers do not answer, or not as they should."""


class Topic(Struct, frozen=True):
    name: str
    identity: str
    partitions: int
    is_new: bool = False
    """This call created it."""


class Cluster:
    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        self._client: AdminClient | None = None
        self._threads = ThreadPoolExecutor(THREADS, "moot-kafka")

    @property
    def _admin(self) -> AdminClient:
        if self._client is None:
            self._client = AdminClient(self._brokers.client(error_cb=ignore))
        return self._client

    async def make_topics(self, names: Iterable[str], partitions: int = 1) -> dict[str, Topic]:
        """Create the missing topics; returns all of them as they are then."""
        distinct = list(dict.fromkeys(names))
        created: set[str] = await self._in_thread(self._make, distinct, partitions)
        topics = await self.topics(distinct)
        tries = TRIES
        while len(topics) < len(distinct) and tries:  # a new topic is not known to all brokers at once
            await asyncio.sleep(AGAIN_SECONDS)
            topics, tries = await self.topics(distinct), tries - 1
        if len(topics) == len(distinct):
            return {name: structs.replace(topic, is_new=name in created) for name, topic in topics.items()}
        missing = ", ".join(name for name in distinct if name not in topics)
        raise KafkaOutOfReach(f"topics were made and are not there: {missing}")

    def _make(self, names: list[str], partitions: int) -> set[str]:
        created: set[str] = set()
        if not names:
            return created
        topics = [NewTopic(name, partitions, -1) for name in names]
        for name, future in self._admin.create_topics(topics, request_timeout=SECONDS).items():
            error = _error(future)
            if error is None:
                created.add(name)
            elif not is_error(error, KafkaError.TOPIC_ALREADY_EXISTS):
                raise error
        return created

    async def drop_topics(self, names: Iterable[str]) -> None:
        await self._in_thread(self._drop, list(names))

    def _drop(self, names: list[str]) -> None:
        for future in self._admin.delete_topics(names, request_timeout=SECONDS).values() if names else ():
            error = _error(future)
            if error is not None and not is_error(error, KafkaError.UNKNOWN_TOPIC_OR_PART):
                raise error

    async def topics(self, names: Iterable[str]) -> dict[str, Topic]:
        """Those of these topics that exist."""
        topics: dict[str, Topic] = await self._in_thread(self._describe, list(names))
        return topics

    def _describe(self, names: list[str]) -> dict[str, Topic]:
        topics: dict[str, Topic] = {}
        if not names:
            return topics
        answers = self._admin.describe_topics(TopicCollection(names), request_timeout=SECONDS)
        for name, future in answers.items():
            error = _error(future)
            if error is None:
                description = future.result()
                topics[name] = Topic(name, str(description.topic_id), len(description.partitions))
            elif not is_error(error, KafkaError.UNKNOWN_TOPIC_OR_PART):
                raise error
        return topics

    async def newest(self, topics: Iterable[Topic]) -> dict[str, list[Envelope]]:
        """The newest record of each partition, by topic. Topics that did not answer are left out."""
        records: dict[str, list[Envelope]] = await self._in_thread(self._read_newest, list(topics))
        return records

    def _read_newest(self, topics: list[Topic]) -> dict[str, list[Envelope]]:
        """All topics at once, so that a silent one does not delay the others."""
        silent = {(topic.name, part) for topic in topics for part in range(topic.partitions)}
        records: dict[str, list[Envelope]] = {topic.name: [] for topic in topics}
        if not silent:
            return records
        options = {"group.id": "moot-none", "enable.auto.commit": False, "enable.partition.eof": True}
        consumer = Consumer(self._brokers.client(**options))
        try:
            consumer.assign([TopicPartition(*place, NEWEST) for place in silent])
            until = monotonic() + SECONDS
            while silent and monotonic() < until:
                message = consumer.poll(POLL_SECONDS)
                if message is None or _is_trouble(message):
                    continue
                place = (str(message.topic()), int(message.partition() or 0))
                if place in silent and message.error() is None:
                    with suppress(UnreadableRecord):
                        records[place[0]].append(decode_record(message.value()).envelope)
                silent.discard(place)
        finally:
            consumer.close()
        unanswered = {name for name, _ in silent}
        return {name: envelopes for name, envelopes in records.items() if name not in unanswered}

    async def _in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Retry while a broker is starting up."""
        tries = TRIES
        while True:
            tries -= 1
            try:
                return await in_thread(self._threads, work, *arguments)
            except KafkaException as error:
                if not tries or not any(is_error(error, code) for code in COMING_UP):
                    raise KafkaOutOfReach(error_text(error)) from error
            except TimeoutError as error:
                raise KafkaOutOfReach("the brokers do not answer") from error
            await asyncio.sleep(AGAIN_SECONDS)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


async def in_thread(threads: ThreadPoolExecutor, work: Callable[..., Any], *arguments: Any) -> Any:
    """Run in threads of the caller, which it can abandon: closing must not wait for silent brokers."""
    return await asyncio.get_running_loop().run_in_executor(threads, partial(work, *arguments))


def is_error(error: BaseException, code: int) -> bool:
    return isinstance(error, KafkaException) and bool(error.args) and error.args[0].code() == code


def error_text(error: KafkaException) -> str:
    """The client's description of an error."""
    [reason, *_] = error.args or (error,)
    return str(reason.str() if isinstance(reason, KafkaError) else reason)


def _is_trouble(message: Any) -> bool:
    error = message.error()
    return error is not None and error.code() != KafkaError._PARTITION_EOF


def ignore(error: KafkaError) -> None:
    """Errors are reported by each call itself."""


def _error(future: "Future[Any]") -> BaseException | None:
    try:
        future.result(SECONDS * 2)  # the client times out before that
    except KafkaException as error:
        return error
    return None
