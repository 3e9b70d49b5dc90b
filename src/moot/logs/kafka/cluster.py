"""Topics of the brokers: made, described and dropped, and the newest record of each. How far agents have read in them:
offsets.py.

Every call is made in a thread and typed here: the client's answers are not. Trouble is `KafkaOutOfReach`.
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
from moot.logs.kafka.record import Envelope, UnreadableRecord, decoded

SECONDS = 5.0
"""So long an answer is waited for."""
POLL_SECONDS = 0.2
NEWEST = -2001
"""For librdkafka: one before the end."""
THREADS = 2
TRIES = 10
AGAIN_SECONDS = 0.3
COMING_UP = (
    KafkaError.BROKER_NOT_AVAILABLE,
    KafkaError.INVALID_REPLICATION_FACTOR,  # nobody has come yet to keep it
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_CONTROLLER,
)

Place: TypeAlias = tuple[str, int]
"""A topic and a partition of it."""


class KafkaOutOfReach(Exception):
    """The brokers do not answer, or not as they should."""


class TopicFound(Struct, frozen=True):
    name: str
    identity: str
    partitions: int
    is_new: bool = False
    """It was made by whoever asked."""


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

    async def make_topics(self, names: Iterable[str], partitions: int = 1) -> dict[str, TopicFound]:
        """Those that are not there yet; all of them as they are then."""
        wanted = list(dict.fromkeys(names))
        new: set[str] = await self._in_thread(self._make, wanted, partitions)
        found = await self.topics(wanted)
        tries = TRIES
        while len(found) < len(wanted) and tries:  # one that was just made is not known to everybody at once
            await asyncio.sleep(AGAIN_SECONDS)
            found, tries = await self.topics(wanted), tries - 1
        if len(found) == len(wanted):
            return {name: structs.replace(topic, is_new=name in new) for name, topic in found.items()}
        missing = ", ".join(name for name in wanted if name not in found)
        raise KafkaOutOfReach(f"topics were made and are not there: {missing}")

    def _make(self, names: list[str], partitions: int) -> set[str]:
        new: set[str] = set()
        if not names:
            return new
        topics = [NewTopic(name, partitions, -1) for name in names]
        for name, each in self._admin.create_topics(topics, request_timeout=SECONDS).items():
            error = _error(each)
            if error is None:
                new.add(name)
            elif not is_error(error, KafkaError.TOPIC_ALREADY_EXISTS):
                raise error
        return new

    async def drop_topics(self, names: Iterable[str]) -> None:
        await self._in_thread(self._drop, list(names))

    def _drop(self, names: list[str]) -> None:
        for each in self._admin.delete_topics(names, request_timeout=SECONDS).values() if names else ():
            error = _error(each)
            if error is not None and not is_error(error, KafkaError.UNKNOWN_TOPIC_OR_PART):
                raise error

    async def topics(self, names: Iterable[str]) -> dict[str, TopicFound]:
        """Those of them that are there."""
        found: dict[str, TopicFound] = await self._in_thread(self._describe, list(names))
        return found

    def _describe(self, names: list[str]) -> dict[str, TopicFound]:
        found: dict[str, TopicFound] = {}
        if not names:
            return found
        asked = self._admin.describe_topics(TopicCollection(names), request_timeout=SECONDS)
        for name, each in asked.items():
            error = _error(each)
            if error is None:
                answer = each.result()
                found[name] = TopicFound(name, str(answer.topic_id), len(answer.partitions))
            elif not is_error(error, KafkaError.UNKNOWN_TOPIC_OR_PART):
                raise error
        return found

    async def newest(self, topics: Iterable[TopicFound]) -> dict[str, list[Envelope]]:
        """The newest record of each partition that has one, by topic; of those topics that answered."""
        found: dict[str, list[Envelope]] = await self._in_thread(self._read_newest, list(topics))
        return found

    def _read_newest(self, topics: list[TopicFound]) -> dict[str, list[Envelope]]:
        """All at once: one that does not answer takes no time from the others."""
        silent = {(topic.name, part) for topic in topics for part in range(topic.partitions)}
        found: dict[str, list[Envelope]] = {topic.name: [] for topic in topics}
        if not silent:
            return found
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
                        found[place[0]].append(decoded(message.value()).envelope)
                silent.discard(place)
        finally:
            consumer.close()
        unanswered = {name for name, _ in silent}
        return {name: records for name, records in found.items() if name not in unanswered}

    async def _in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """A broker that is just coming up asks to be asked again."""
        tries = TRIES
        while True:
            tries -= 1
            try:
                return await in_thread(self._threads, work, *arguments)
            except KafkaException as error:
                if not tries or not any(is_error(error, code) for code in COMING_UP):
                    raise KafkaOutOfReach(spoken(error)) from error
            except TimeoutError as error:
                raise KafkaOutOfReach("the brokers do not answer") from error
            await asyncio.sleep(AGAIN_SECONDS)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


async def in_thread(threads: ThreadPoolExecutor, work: Callable[..., Any], *arguments: Any) -> Any:
    """In threads that somebody owns: nobody who ends waits for brokers that do not answer."""
    return await asyncio.get_running_loop().run_in_executor(threads, partial(work, *arguments))


def is_error(error: BaseException, code: int) -> bool:
    return isinstance(error, KafkaException) and bool(error.args) and error.args[0].code() == code


def spoken(error: KafkaException) -> str:
    """What the client says of it, in words."""
    [reason, *_] = error.args or (error,)
    return str(reason.str() if isinstance(reason, KafkaError) else reason)


def _is_trouble(message: Any) -> bool:
    error = message.error()
    return error is not None and error.code() != KafkaError._PARTITION_EOF


def ignore(error: KafkaError) -> None:
    """Every call says by itself how it went."""


def _error(each: "Future[Any]") -> BaseException | None:
    try:
        each.result(SECONDS * 2)  # the client gives up before
    except KafkaException as error:
        return error
    return None
