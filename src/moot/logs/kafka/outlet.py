"""The producer: records in, and for every one of them a definite answer. One thread serves its callbacks.

Idempotent, `acks=all`. Whatever goes wrong beyond a refused record, this producer is given up and the next batch makes
a new one; a record that was not acknowledged may have been written all the same, which readers pass over.
"""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import structlog
from confluent_kafka import KafkaError, KafkaException, Producer

from moot.logs.kafka.address import Brokers

log = structlog.get_logger("moot.kafka")

DELIVERY_MS = 5_000
"""So long a record is tried; a hint that takes longer is made by the sweep."""
POLL_SECONDS = 0.2


class Sent:
    """The answers to one batch, counted in the thread that gets them."""

    def __init__(self, count: int, loop: asyncio.AbstractEventLoop) -> None:
        self.acknowledged = [False] * count
        self.left = count
        self.done: asyncio.Future[None] = loop.create_future()
        self._loop = loop

    def report(self, n: int) -> Any:
        def reported(error: KafkaError | None, _: object) -> None:
            self.acknowledged[n] = error is None
            self.left -= 1
            if not self.left:
                self.end()

        return reported

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
            }
        )
        self._patience = DELIVERY_MS / 1000 + 5
        self._producer: Producer | None = None
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()

    async def publish(self, records: Sequence[tuple[str, str, bytes]]) -> list[bool]:
        """Topic, key and value of each; which were acknowledged."""
        loop = asyncio.get_running_loop()
        sent = Sent(len(records), loop)
        try:
            producer = self._opened()
            for n, (topic, key, value) in enumerate(records):
                producer.produce(topic, value, key.encode(), on_delivery=sent.report(n))
            async with asyncio.timeout(self._patience):
                await sent.done
        except (KafkaException, BufferError, SystemError, TimeoutError) as error:
            log.warning("records were not taken", action="publish_failed", error=str(error))
        if not all(sent.acknowledged):
            await self.close()
        return sent.acknowledged

    def _opened(self) -> Producer:
        if self._producer is None:
            self._producer = Producer({**self._config, "error_cb": _ignore})
            self._ending = threading.Event()
            self._thread = threading.Thread(
                target=self._serve, args=(self._producer, self._ending), name="moot-kafka-out", daemon=True
            )
            self._thread.start()
        return self._producer

    def _serve(self, producer: Producer, ending: threading.Event) -> None:
        """Answers are handed out here. A producer that cannot go on says so by raising: then nobody answers any more,
        and whoever waits runs into its patience."""
        while not ending.is_set():
            try:
                producer.poll(POLL_SECONDS)
            except (KafkaException, SystemError) as error:
                log.warning("the producer has ended", action="producer_ended", error=str(error))
                return

    async def close(self) -> None:
        """What is still under way is given up."""
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


def _ignore(error: KafkaError) -> None:
    """A connection that is lost comes back by itself; what was not taken is told by its own answer."""
