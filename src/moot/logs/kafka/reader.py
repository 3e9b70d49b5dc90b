"""The consumer: one per process, which is told what to read and is never a member of a group. One thread serves it.

It passes records to the loop in batches, and pauses while too many wait there. The caller gives the offsets to begin at
(those of agents live in groups of their own). Where the topic no longer has an offset, reading begins at the end, and
`on_loss` is called. Reading from the end begins once the broker has said where that is; other topics go on meanwhile.
A topic that brokers do not let it read is tried on and told in `refused`.
"""

import asyncio
import queue
import threading
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from msgspec import Struct

from moot.logs.kafka.address import Brokers
from moot.logs.kafka.cluster import Place, is_error, is_refusal

log = structlog.get_logger("moot.kafka")

POLL_SECONDS = 0.2
AT_ONCE = 500
MAX_WAITING_RECORDS = 1000
END_SECONDS = 2.0
"""Timeout for the end of a topic; nothing is read while it is asked for."""
COUNT_SECONDS = 1.0
"""How often the unread records are counted."""
SILENT_SECONDS = 5.0
"""Pause before a silent topic is asked again."""
SILENT = (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN)


class ReceivedRecord(Struct, frozen=True):
    topic: str
    part: int
    place: int
    """Its offset."""
    value: bytes | None


Take = Callable[[list[ReceivedRecord]], None]
OnBegin = Callable[[dict[Place, int]], None]
"""Called with the offsets where reading has begun."""


class TopicReader:
    def __init__(self, brokers: Brokers, take: Take, on_begin: OnBegin, on_loss: Callable[[], None]) -> None:
        self._take = take
        self._on_begin = on_begin
        self._on_loss = on_loss
        self._loop = asyncio.get_running_loop()
        self._consumer = Consumer(
            brokers.client(
                **{
                    "group.id": "moot-none",
                    "enable.auto.commit": False,
                    "auto.offset.reset": "error",
                    "fetch.wait.max.ms": 100,
                    "enable.partition.eof": True,
                    "error_cb": self._on_error,
                }
            )
        )
        self._requests: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._to_begin: dict[Place, int | None] = {}
        """Places whose reading has not begun yet, each with its offset; None for its end."""
        self._silent_until: dict[Place, float] = {}
        """Those of them whose end the broker did not tell, and when to ask again."""
        self._ending = threading.Event()
        self._waiting = 0
        self._was_down = False
        self.unread = 0
        """Records that the brokers hold behind the last one read, counted every second."""
        self.refused: dict[str, str] = {}
        """Topics that brokers do not let it read, each with their reason."""
        self._counted_at = 0.0
        self._thread = threading.Thread(target=self._serve, name="moot-kafka-in", daemon=True)
        self._thread.start()

    def read(self, places: dict[Place, int | None]) -> None:
        """Read these too, each from an offset or from its end. Calls `on_loss` then, as nothing reports earlier
        records."""
        self._requests.put(lambda: self._to_begin.update(places))

    def leave(self, places: Iterable[Place]) -> None:
        left = set(places)
        self._requests.put(lambda: self._leave(left))

    async def close(self) -> None:
        self._ending.set()
        await asyncio.to_thread(self._thread.join)

    # --- in its thread -----------------------------------------------------------------------------------

    def _serve(self) -> None:
        while not self._ending.is_set():
            try:
                while not self._requests.empty():
                    self._requests.get_nowait()()
                self._begin()
                self._count_unread()
                if self._waiting > MAX_WAITING_RECORDS:
                    self._ending.wait(POLL_SECONDS / 10)
                    continue
                first = self._consumer.poll(POLL_SECONDS)
                if first is not None:
                    self._pass_on([first, *self._consumer.consume(AT_ONCE, 0)])
            except (KafkaException, SystemError, RuntimeError) as error:
                log.warning("reading failed", action="reader_failed", error=str(error))
                self._ending.wait(POLL_SECONDS)
        self._consumer.close()

    def _begin(self) -> None:
        starts: dict[Place, int] = {}
        for place, offset in list(self._to_begin.items()):
            if self._silent_until.get(place, 0.0) > monotonic():
                continue
            try:
                starts[place] = self._end(*place) if offset is None else offset
            except KafkaException as error:
                self._silent_until[place] = monotonic() + SILENT_SECONDS
                if any(is_error(error, code) for code in SILENT):
                    break  # read on first; the next place is asked for after that
                self._note_refusal(place[0], error.args[0])
        if not starts:
            return
        self._consumer.incremental_assign([TopicPartition(*place, start) for place, start in starts.items()])
        for place in starts:
            del self._to_begin[place]
            self._silent_until.pop(place, None)
        self._call(self._on_begin, starts)
        self._call(self._on_loss)

    def _count_unread(self) -> None:
        """Count unread records by the ends that the client knows from its last fetch; the brokers are not asked."""
        if monotonic() < self._counted_at + COUNT_SECONDS:
            return
        self._counted_at = monotonic()
        unread = 0
        for place in self._consumer.position(self._consumer.assignment()):
            _, end = self._consumer.get_watermark_offsets(place, cached=True)
            if place.offset >= 0 and end >= 0:
                unread += max(0, end - place.offset)
        self.unread = unread

    def _leave(self, places: set[Place]) -> None:
        for topic, _ in places:
            self.refused.pop(topic, None)
        waiting = places & self._to_begin.keys()
        for place in waiting:
            del self._to_begin[place]
            self._silent_until.pop(place, None)
        self._consumer.incremental_unassign([TopicPartition(*place) for place in places - waiting])

    def _end(self, topic: str, part: int) -> int:
        """The offset of the next record. (Asking through the admin client can crash the process.)"""
        _, end = self._consumer.get_watermark_offsets(TopicPartition(topic, part), timeout=END_SECONDS)
        return int(end)

    def _note_refusal(self, topic: str, error: KafkaError) -> None:
        """The client goes on trying: a record, or the end of the topic, shows that it may be read again."""
        if not is_refusal(error):
            return
        if topic not in self.refused:
            log.warning("a topic may not be read", action="topic_unread", topic=topic, reason=error.str())
        self.refused[topic] = error.str()

    def _note_answer(self, topic: str) -> None:
        if self.refused.pop(topic, None) is not None:
            log.info("a topic may be read again", action="topic_read", topic=topic)
            self._call(self._on_loss)

    def _pass_on(self, messages: list[Any]) -> None:
        batch = []
        for message in messages:
            error = message.error()
            if error is None or error.code() == KafkaError._PARTITION_EOF:
                self._note_answer(message.topic())
            if error is None:
                batch.append(
                    ReceivedRecord(message.topic(), message.partition(), message.offset(), message.value())
                )
            elif error.code() == KafkaError._AUTO_OFFSET_RESET:
                self._begin_at_end(message)
            elif message.topic() is not None:
                self._note_refusal(message.topic(), error)
        if self._was_down:
            self._was_down = False
            self._call(self._on_loss)
        if batch:
            self._waiting += len(batch)
            self._call(self._deliver, batch)

    def _begin_at_end(self, message: Any) -> None:
        log.warning("records were lost", action="offset_lost", topic=message.topic())
        self._consumer.incremental_unassign([TopicPartition(message.topic(), message.partition())])
        self._to_begin[message.topic(), message.partition()] = None

    def _on_error(self, error: KafkaError) -> None:
        """Connections come back by themselves; the next record then triggers a look for what was missed."""
        self._was_down = True

    def _call(self, callback: Callable[..., None], *values: Any) -> None:
        if not self._ending.is_set():
            self._loop.call_soon_threadsafe(callback, *values)

    # --- in the loop -------------------------------------------------------------------------------------

    def _deliver(self, batch: list[ReceivedRecord]) -> None:
        self._waiting -= len(batch)
        self._take(batch)
