"""The producer: for every record there is a definite answer. One thread serves its callbacks.

Idempotent, `acks=all`. On any error but a refused record the producer is closed, and the next batch opens a new one. A
record without an answer may still have been written; readers skip such repeats.
"""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import structlog
from confluent_kafka import KafkaError, KafkaException, Producer
from msgspec import Struct

from moot.logs.kafka.address import Brokers
from moot.logs.kafka.cluster import ignore, is_refusal

log = structlog.get_logger("moot.kafka")

DELIVERY_MS = 5_000
"""How long a record is tried; the sweep makes up for hints that take longer."""
RETRIES = 4
"""With the pauses between them about two seconds. A broker that says no each time is believed then; without this bound
its reason would be lost, and all of them time out."""
POLL_SECONDS = 0.2


class NotTaken(Struct, frozen=True):
    """A record that was not acknowledged."""

    reason: str = "no answer"
    is_refused: bool = False
    """A broker has said no. Otherwise it may even have been written."""


class PublishedBatch:
    """The answers to one batch, counted in the thread that gets them."""

    def __init__(self, count: int, loop: asyncio.AbstractEventLoop) -> None:
        self.answers: list[NotTaken | None] = [NotTaken()] * count
        self.left = count
        self.done: asyncio.Future[None] = loop.create_future()
        self._loop = loop

    def callback_for(self, n: int) -> Any:
        def on_delivery(error: KafkaError | None, _: object) -> None:
            self.answers[n] = None if error is None else NotTaken(error.str(), is_refusal(error))
            self.left -= 1
            if not self.left:
                self.end()

        return on_delivery

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._settle)

    def _settle(self) -> None:
        if not self.done.done():
            self.done.set_result(None)


class Outlet:
    """Used by one task at a time."""

    def __init__(self, brokers: Brokers) -> None:
        self._config = brokers.client(
            **{
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 0,
                "delivery.timeout.ms": DELIVERY_MS,
                "request.timeout.ms": DELIVERY_MS,
                "message.send.max.retries": RETRIES,
            }
        )
        self._patience = DELIVERY_MS / 1000 + 5
        self._producer: Producer | None = None
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        self._batch: PublishedBatch | None = None

    async def publish(self, records: Sequence[tuple[str, str, bytes]]) -> list[NotTaken | None]:
        """Publish records of topic, key and value; returns for each why it was not taken, or None."""
        loop = asyncio.get_running_loop()
        batch = self._batch = PublishedBatch(len(records), loop)
        try:
            producer = self._open()
            for n, (topic, key, value) in enumerate(records):
                producer.produce(topic, value, key.encode(), on_delivery=batch.callback_for(n))
            async with asyncio.timeout(self._patience):
                await batch.done
        except (KafkaException, BufferError, SystemError, TimeoutError) as error:
            log.warning("records were not taken", action="publish_failed", error=str(error))
        if any(answer is not None and not answer.is_refused for answer in batch.answers):
            await self.close()
        return batch.answers

    def _open(self) -> Producer:
        if self._producer is None:
            self._producer = Producer({**self._config, "error_cb": ignore})
            self._ending = threading.Event()
            self._thread = threading.Thread(
                target=self._serve, args=(self._producer, self._ending), name="moot-kafka-out", daemon=True
            )
            self._thread.start()
        return self._producer

    def _serve(self, producer: Producer, ending: threading.Event) -> None:
        """Call the delivery callbacks. A producer that cannot go on raises; then no more answers come, and nobody waits
        for them."""
        while not ending.is_set():
            try:
                producer.poll(POLL_SECONDS)
            except (KafkaException, SystemError) as error:
                log.warning("the producer has ended", action="producer_ended", error=str(error))
                if self._batch is not None:
                    self._batch.end()
                return

    async def close(self) -> None:
        """Give up what is still under way."""
        producer, self._producer = self._producer, None
        if producer is None:
            return
        await asyncio.to_thread(self._end, producer)

    def _end(self, producer: Producer) -> None:
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
        try:
            producer.purge()
            producer.flush(2)
        except (KafkaException, SystemError) as error:
            log.info("the producer would not end", action="producer_ended", error=str(error))
