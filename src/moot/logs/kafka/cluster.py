"""Topics of the brokers: create, describe and drop them, and read the newest record of each. How far agents have read:
offsets.py.

Every call runs in a thread, and its answer is typed here: the client's are not. What brokers refuse for one topic is an
answer about that topic (`Answers.refused`) and says nothing about the others. Brokers that do not answer are
`KafkaOutOfReach`.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any, Generic, TypeAlias, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from msgspec import Struct, structs

from moot.logs.kafka.address import Brokers
from moot.logs.kafka.record import Envelope, UnreadableRecord, decode_record

T = TypeVar("T")

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
PASSING = (
    *COMING_UP,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER,
    KafkaError.DUPLICATE_SEQUENCE_NUMBER,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.UNKNOWN_PRODUCER_ID,
)
"""Said while a topic or a group moves, or of a producer, not of what it was asked for."""

Place: TypeAlias = tuple[str, int]
"""A topic and a partition of it."""
Request: TypeAlias = "Callable[[list[str]], Mapping[str, Future[Any]]]"


class KafkaOutOfReach(Exception):
    """The brokers do not answer, or not as they should."""


class Topic(Struct, frozen=True):
    name: str
    identity: str
    partitions: int
    is_led: bool = True
    """Whether brokers say who leads it; without a leader it can be neither read nor written."""
    is_new: bool = False
    """This call created it."""


class Answers(Struct, Generic[T], frozen=True):
    """What brokers say, topic by topic. A topic in neither is missing, or did not answer."""

    found: dict[str, T]
    refused: dict[str, str]
    """Topic → the reason that a broker gave."""


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

    async def make_topics(self, names: Iterable[str], partitions: int = 1) -> Answers[Topic]:
        """Create the missing topics; returns all of them as they are then. Who may not create a topic may still use
        one that is there."""
        distinct = list(dict.fromkeys(names))
        made = await self._ask(partial(self._create, partitions), distinct)
        refused = {
            name: error.str()
            for name, error in made.items()
            if error is not None and error.code() != KafkaError.TOPIC_ALREADY_EXISTS
        }
        topics = await self.topics(distinct)
        tries = TRIES
        while awaited := [
            name for name in distinct if name not in {**topics.found, **topics.refused, **refused}
        ]:
            if not tries:
                refused |= dict.fromkeys(awaited, "it was made and is not there yet")
                break
            await asyncio.sleep(AGAIN_SECONDS)  # a new topic is not known to all brokers at once
            topics, tries = await self.topics(distinct), tries - 1
        found = {
            name: structs.replace(topic, is_new=made[name] is None) for name, topic in topics.found.items()
        }
        not_made = {name: reason for name, reason in refused.items() if name not in found}
        return Answers(found, {**not_made, **topics.refused})

    def _create(self, partitions: int, names: list[str]) -> "Mapping[str, Future[Any]]":
        topics = [NewTopic(name, partitions, -1) for name in names]
        return self._admin.create_topics(topics, request_timeout=SECONDS)

    async def drop_topics(self, names: Iterable[str]) -> None:
        answers = await self._ask(self._drop, list(names))
        for error in answers.values():
            if error is not None and error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise KafkaOutOfReach(error.str())

    def _drop(self, names: list[str]) -> "Mapping[str, Future[Any]]":
        return self._admin.delete_topics(names, request_timeout=SECONDS)

    async def topics(self, names: Iterable[str]) -> Answers[Topic]:
        """Those of these topics that exist."""
        topics, refused = dict[str, Topic](), dict[str, str]()
        for name, answer in (await self._ask(self._describe, list(names))).items():
            if not isinstance(answer, KafkaError):
                is_led = all(part.leader is not None for part in answer.partitions)
                topics[name] = Topic(name, str(answer.topic_id), len(answer.partitions), is_led)
            elif answer.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                refused[name] = answer.str()
        return Answers(topics, refused)

    def _describe(self, names: list[str]) -> "Mapping[str, Future[Any]]":
        return self._admin.describe_topics(TopicCollection(names), request_timeout=SECONDS)

    async def _ask(self, request: Request, names: list[str]) -> dict[str, Any]:
        """What brokers answer for each topic, which may be an error of it alone. Repeated while a broker is starting
        up."""
        answers: dict[str, Any] = {}
        waiting, tries = names, TRIES
        while waiting:
            answers |= await self._in_thread(_answers_to, request, waiting)
            tries -= 1
            waiting = [name for name in waiting if tries and _is_coming_up(answers[name])]
            if waiting:
                await asyncio.sleep(AGAIN_SECONDS)
        return answers

    async def newest(self, topics: Iterable[Topic]) -> Answers[list[Envelope]]:
        """The newest record of each partition, by topic. Topics that did not answer are left out."""
        answers: Answers[list[Envelope]] = await self._in_thread(self._read_newest, list(topics))
        return answers

    def _read_newest(self, topics: list[Topic]) -> Answers[list[Envelope]]:
        """All topics at once, so that a silent one does not delay the others."""
        silent = {(topic.name, part) for topic in topics for part in range(topic.partitions)}
        records: dict[str, list[Envelope]] = {topic.name: [] for topic in topics}
        refused: dict[str, str] = {}
        if not silent:
            return Answers(records, refused)
        options = {"group.id": "moot-none", "enable.auto.commit": False, "enable.partition.eof": True}
        consumer = Consumer(self._brokers.client(**options))
        try:
            consumer.assign([TopicPartition(*place, NEWEST) for place in silent])
            until = monotonic() + SECONDS
            while silent and monotonic() < until:
                message = consumer.poll(POLL_SECONDS)
                if message is None:
                    continue
                place, error = (str(message.topic()), int(message.partition() or 0)), message.error()
                if error is None and place in silent:
                    with suppress(UnreadableRecord):
                        records[place[0]].append(decode_record(message.value()).envelope)
                if error is None or error.code() == KafkaError._PARTITION_EOF:
                    silent.discard(place)
                elif is_refusal(error) and place in silent:
                    refused[place[0]] = error.str()
                    silent = {other for other in silent if other[0] != place[0]}
        finally:
            consumer.close()
        unanswered = {name for name, _ in silent} | refused.keys()
        return Answers({name: found for name, found in records.items() if name not in unanswered}, refused)

    async def _in_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        try:
            return await in_thread(self._threads, work, *arguments)
        except KafkaException as error:
            raise KafkaOutOfReach(error_text(error)) from error
        except TimeoutError as error:
            raise KafkaOutOfReach("the brokers do not answer") from error

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


async def in_thread(threads: ThreadPoolExecutor, work: Callable[..., T], *arguments: Any) -> T:
    """Run in threads of the caller, which it can abandon: closing must not wait for silent brokers."""
    return await asyncio.get_running_loop().run_in_executor(threads, partial(work, *arguments))


def is_error(error: BaseException, code: int) -> bool:
    return isinstance(error, KafkaException) and bool(error.args) and error.args[0].code() == code


def is_refusal(error: KafkaError) -> bool:
    """Whether a broker has said no for good, to one topic or group; the codes of the client itself are negative."""
    return error.code() > 0 and error.code() not in PASSING


def error_text(error: KafkaException) -> str:
    """The client's description of an error."""
    [reason, *_] = error.args or (error,)
    return str(reason.str() if isinstance(reason, KafkaError) else reason)


def ignore(error: KafkaError) -> None:
    """Errors are reported by each call itself."""


def _is_coming_up(answer: Any) -> bool:
    return isinstance(answer, KafkaError) and answer.code() in COMING_UP


def _answers_to(request: Request, names: list[str]) -> dict[str, Any]:
    """By topic: the answer, or the error that a broker gave instead. Raises what the client itself says: then no broker
    has answered."""
    answers: dict[str, Any] = {}
    for name, future in request(names).items():
        try:
            answers[name] = future.result(SECONDS * 2)  # the client times out before that
        except KafkaException as error:
            if not isinstance(error.args[0], KafkaError) or error.args[0].code() < 0:
                raise
            answers[name] = error.args[0]
    return answers
