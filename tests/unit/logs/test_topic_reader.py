"""The reader over a consumer that knows of some topics only."""

import threading
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from moot.logs.kafka import reader as reader_module
from moot.logs.kafka.address import Brokers
from moot.logs.kafka.cluster import Place
from moot.logs.kafka.reader import TopicReader
from tests.support.waiting import until


class FakeConsumer:
    def __init__(self, config: object) -> None:
        self.asked: list[str] = []
        self.read: list[TopicPartition] = []
        self._nothing = threading.Event()

    def get_watermark_offsets(
        self, place: TopicPartition, timeout: float = 0.0, *, cached: bool = False
    ) -> tuple[int, int]:
        if cached:
            return 0, 12
        self.asked.append(place.topic)
        if place.topic.startswith("silent"):
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        return 0, 7

    def incremental_assign(self, places: list[TopicPartition]) -> None:
        self.read += places

    def assignment(self) -> list[TopicPartition]:
        return self.read

    def position(self, places: list[TopicPartition]) -> list[TopicPartition]:
        return places

    def poll(self, seconds: float) -> None:
        self._nothing.wait(0.001)

    def close(self) -> None: ...


async def test_topics_that_do_not_answer_keep_nobody_from_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "Consumer", FakeConsumer)
    begun: dict[Place, int] = {}
    reader = TopicReader(Brokers("127.0.0.1:1"), lambda batch: None, begun.update, lambda: None)
    consumer: Any = reader._consumer
    try:
        reader.read(dict.fromkeys([("silent-1", 0), ("silent-2", 0), ("agent-arya", 0)]))

        async def found() -> dict[Place, int]:
            return dict(begun)

        assert await until(found, bool) == {("agent-arya", 0): 7}
        assert consumer.asked.count("silent-1") < 3, "nothing is read while it is asked for"
    finally:
        await reader.close()


async def test_it_counts_what_it_has_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "Consumer", FakeConsumer)
    monkeypatch.setattr(reader_module, "COUNT_SECONDS", 0.0)
    reader = TopicReader(Brokers("127.0.0.1:1"), lambda batch: None, lambda begun: None, lambda: None)
    try:
        reader.read({("agent-arya", 0): 10, ("agent-bob", 0): 4})

        async def unread() -> int:
            return reader.unread

        await until(unread, lambda count: count == 2 + 8)
    finally:
        await reader.close()
