"""The consumer: one per process, told what to read, never a member of a group. One thread serves it.

What it reads is handed to the loop in batches. Where more waits than is wanted it pauses. Positions are given by
whoever assigns (offsets of agents live in groups of their own); a position that the log no longer has begins at the
end, and is said to be lost. Reading from the end begins once the broker has said where that is, and what else is read
goes on meanwhile.
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
from moot.logs.kafka.cluster import Place, is_error

log = structlog.get_logger("moot.kafka")

POLL_SECONDS = 0.2
AT_ONCE = 500
MOST_WAITING = 1000
END_SECONDS = 2.0
"""So long the end of a topic is waited for, and nothing read meanwhile."""
COUNT_SECONDS = 1.0
"""So often it counts what it has not read."""
SILENT_SECONDS = 5.0
"""After so long it is asked for again."""
SILENT = (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN)


class RecordRead(Struct, frozen=True):
    topic: str
    part: int
    place: int
    """Its offset."""
    value: bytes | None


Take = Callable[[list[RecordRead]], None]
Began = Callable[[dict[Place, int]], None]
"""Where reading has begun."""


class TopicReader:
    def __init__(self, brokers: Brokers, take: Take, began: Began, lost: Callable[[], None]) -> None:
        self._take = take
        self._began = began
        self._lost = lost
        self._loop = asyncio.get_running_loop()
        self._consumer = Consumer(
            brokers.client(
                **{
                    "group.id": "moot-none",
                    "enable.auto.commit": False,
                    "auto.offset.reset": "error",
                    "fetch.wait.max.ms": 100,
                    "error_cb": self._on_error,
                }
            )
        )
        self._requests: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._to_begin: dict[Place, int | None] = {}
        """Places to be read that are not yet, each with its offset; None for its end."""
        self._silent_until: dict[Place, float] = {}
        """Of these, those whose end nobody told, and until when they are left alone."""
        self._ending = threading.Event()
        self._waiting = 0
        self._was_down = False
        self.unread = 0
        """Records that the brokers hold behind the last one read, counted every second."""
        self._counted_at = 0.0
        self._thread = threading.Thread(target=self._serve, name="moot-kafka-in", daemon=True)
        self._thread.start()

    def read(self, places: dict[Place, int | None]) -> None:
        """Read these too, each from an offset, or from its end as it is by then; said to be lost when that is done, as
        what lies before is told by nobody."""
        self._requests.put(lambda: self._to_begin.update(places))

    def leave(self, places: Iterable[Place]) -> None:
        gone = set(places)
        self._requests.put(lambda: self._leave(gone))

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
                if self._waiting > MOST_WAITING:
                    self._ending.wait(POLL_SECONDS / 10)
                    continue
                first = self._consumer.poll(POLL_SECONDS)
                if first is not None:
                    self._hand_over([first, *self._consumer.consume(AT_ONCE, 0)])
            except (KafkaException, SystemError, RuntimeError) as error:
                log.warning("reading failed", action="reader_failed", error=str(error))
                self._ending.wait(POLL_SECONDS)
        self._consumer.close()

    def _begin(self) -> None:
        begun: dict[Place, int] = {}
        for place, offset in list(self._to_begin.items()):
            if self._silent_until.get(place, 0.0) > monotonic():
                continue
            try:
                begun[place] = self._end(*place) if offset is None else offset
            except KafkaException as error:
                if any(is_error(error, code) for code in SILENT):
                    self._silent_until[place] = monotonic() + SILENT_SECONDS
                    break  # what is read goes on first, and the next one is asked for then
        if not begun:
            return
        self._consumer.incremental_assign([TopicPartition(*place, start) for place, start in begun.items()])
        for place in begun:
            del self._to_begin[place]
            self._silent_until.pop(place, None)
        self._tell(self._began, begun)
        self._tell(self._lost)

    def _count_unread(self) -> None:
        """By what the client knows of each topic's end from its last fetch: nobody is asked."""
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
        waiting = places & self._to_begin.keys()
        for place in waiting:
            del self._to_begin[place]
            self._silent_until.pop(place, None)
        self._consumer.incremental_unassign([TopicPartition(*place) for place in places - waiting])

    def _end(self, topic: str, part: int) -> int:
        """Where the next record will be. (Asked through the admin client it may end the whole process.)"""
        _, end = self._consumer.get_watermark_offsets(TopicPartition(topic, part), timeout=END_SECONDS)
        return int(end)

    def _hand_over(self, messages: list[Any]) -> None:
        batch = []
        for message in messages:
            error = message.error()
            if error is None:
                batch.append(
                    RecordRead(message.topic(), message.partition(), message.offset(), message.value())
                )
            elif error.code() == KafkaError._AUTO_OFFSET_RESET:
                self._begin_at_end(message)
        if self._was_down:
            self._was_down = False
            self._tell(self._lost)
        if batch:
            self._waiting += len(batch)
            self._tell(self._taken, batch)

    def _begin_at_end(self, message: Any) -> None:
        log.warning("records were lost", action="offset_lost", topic=message.topic())
        self._consumer.incremental_unassign([TopicPartition(message.topic(), message.partition())])
        self._to_begin[message.topic(), message.partition()] = None

    def _on_error(self, error: KafkaError) -> None:
        """Connections come back by themselves; what happened meanwhile is looked for when something comes again."""
        self._was_down = True

    def _tell(self, what: Callable[..., None], *values: Any) -> None:
        if not self._ending.is_set():
            self._loop.call_soon_threadsafe(what, *values)

    # --- in the loop -------------------------------------------------------------------------------------

    def _taken(self, batch: list[RecordRead]) -> None:
        self._waiting -= len(batch)
        self._take(batch)
