"""What is asked of the brokers besides records: topics made and described, offsets of agents kept.

Every call is made in a thread and typed here: the client's answers are not. Trouble is `KafkaOutOfReach`.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeAlias

from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from msgspec import Struct

from moot.logs.kafka.address import Brokers

SECONDS = 5.0
"""So long an answer is waited for."""
NEVER_SECONDS = 3600.0
"""So long a request is kept by the client. One for the offsets of a group that runs out of time there, and whose broker
comes back then, ends the whole process (librdkafka 2.16.0 asserts): so none runs out of time, and none is made while an
earlier one is under way."""
KNOCK = "moot-knock"
"""A topic that need not be there."""
KNOCK_SECONDS = 3.0
THREADS = 4
TRIES = 10
AGAIN_SECONDS = 0.3
COMING_UP = (
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
)

Place: TypeAlias = tuple[str, int]
"""A topic and a partition of it."""


class KafkaOutOfReach(Exception):
    """The brokers do not answer, or not as they should."""


class TopicFound(Struct, frozen=True):
    name: str
    identity: str
    partitions: int


class Cluster:
    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        self._client: AdminClient | None = None
        self._threads = ThreadPoolExecutor(THREADS, "moot-kafka")
        self._under_way: list[Future[Any]] = []
        """Requests that were given up waiting for."""

    @property
    def _admin(self) -> AdminClient:
        if self._client is None:
            self._client = AdminClient(self._brokers.client(error_cb=_ignore))
        return self._client

    async def make_topics(self, names: Iterable[str], partitions: int = 1) -> None:
        """Those that are not there yet."""
        await self._in_thread(self._make, list(names), partitions)

    def _make(self, names: list[str], partitions: int) -> None:
        if not names:
            return
        made = self._admin.create_topics(
            [NewTopic(name, partitions, -1) for name in names], request_timeout=NEVER_SECONDS
        )
        for each in made.values():
            error = self._error(each)
            if error is not None and not _is(error, KafkaError.TOPIC_ALREADY_EXISTS):
                raise error

    async def drop_topics(self, names: Iterable[str]) -> None:
        await self._in_thread(self._drop, list(names))

    def _drop(self, names: list[str]) -> None:
        for each in self._admin.delete_topics(names, request_timeout=NEVER_SECONDS).values() if names else ():
            error = self._error(each)
            if error is not None and not _is(error, KafkaError.UNKNOWN_TOPIC_OR_PART):
                raise error

    async def topics(self, names: Iterable[str]) -> dict[str, TopicFound]:
        """Those of them that are there."""
        found: dict[str, TopicFound] = await self._in_thread(self._describe, list(names))
        return found

    def _describe(self, names: list[str]) -> dict[str, TopicFound]:
        found: dict[str, TopicFound] = {}
        if not names:
            return found
        asked = self._admin.describe_topics(TopicCollection(names), request_timeout=NEVER_SECONDS)
        for name, each in asked.items():
            error = self._error(each)
            if error is None:
                answer = each.result()
                found[name] = TopicFound(name, str(answer.topic_id), len(answer.partitions))
            elif not _is(error, KafkaError.UNKNOWN_TOPIC_OR_PART):
                raise error
        return found

    async def offsets(self, group: str, places: Iterable[Place]) -> dict[Place, int]:
        """How far a group has read; places it has never read are left out."""
        found: dict[Place, int] = await self._in_thread(self._list_offsets, group, list(places))
        return found

    def _list_offsets(self, group: str, places: list[Place]) -> dict[Place, int]:
        if not places:
            return {}
        asked = ConsumerGroupTopicPartitions(group, [TopicPartition(*place) for place in places])
        [each] = self._admin.list_consumer_group_offsets([asked], request_timeout=NEVER_SECONDS).values()
        answer = self._answer(each)
        return {(one.topic, one.partition): one.offset for one in answer.topic_partitions if one.offset >= 0}

    async def keep_offsets(self, by_group: Mapping[str, Mapping[Place, int]]) -> None:
        await self._in_thread(self._alter_offsets, by_group)

    def _alter_offsets(self, by_group: Mapping[str, Mapping[Place, int]]) -> None:
        asked: list[Any] = []
        for group, offsets in by_group.items():
            places = [TopicPartition(topic, part, offset) for (topic, part), offset in offsets.items()]
            request = ConsumerGroupTopicPartitions(group, places)
            asked += self._admin.alter_consumer_group_offsets(
                [request], request_timeout=NEVER_SECONDS
            ).values()
        for each in asked:
            for place in self._answer(each).topic_partitions:
                if place.error is not None:
                    raise KafkaException(place.error)

    async def _in_thread(self, work: Any, *arguments: Any) -> Any:
        """A broker that is just coming up asks to be asked again."""
        tries = TRIES
        while True:
            tries -= 1
            try:
                return await self._run(self._asked, work, *arguments)
            except (KafkaException, TimeoutError) as error:
                if not tries or not any(_is(error, code) for code in COMING_UP):
                    raise KafkaOutOfReach(str(error)) from error
            await asyncio.sleep(AGAIN_SECONDS)

    async def _run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """In threads of its own: nobody who ends waits for brokers that do not answer."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(work, *arguments))

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _asked(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Only of brokers that answer."""
        self._under_way = [each for each in self._under_way if not each.done()]
        if self._under_way:
            raise TimeoutError("brokers have not answered an earlier request")
        self._admin.list_topics(KNOCK, timeout=KNOCK_SECONDS)
        return work(*arguments)

    def _answer(self, each: "Future[Any]") -> Any:
        try:
            return each.result(SECONDS)
        except TimeoutError:
            self._under_way.append(each)
            raise

    def _error(self, each: "Future[Any]") -> BaseException | None:
        try:
            self._answer(each)
        except KafkaException as error:
            return error
        return None


def _is(error: BaseException, code: int) -> bool:
    return isinstance(error, KafkaException) and bool(error.args) and error.args[0].code() == code


def _ignore(error: KafkaError) -> None:
    """Every call says by itself how it went."""
