"""The producer on brokers of librdkafka's own, which say what a real one would not say on command."""

import ctypes
from collections.abc import Iterator
from ctypes import c_char_p, c_int, c_int16, c_size_t, c_void_p
from pathlib import Path

import confluent_kafka
import pytest

from moot.logs.kafka.address import Brokers
from moot.logs.kafka.outlet import RETRIES, Outlet

PRODUCE = 0
"""The number of the request."""
NOT_ENOUGH_REPLICAS, OUT_OF_ORDER_SEQUENCE = 19, 45


class PretendedBrokers:
    def __init__(self) -> None:
        [path] = (Path(confluent_kafka.__file__).parents[1] / "confluent_kafka.libs").glob("librdkafka*.so*")
        self._library = ctypes.CDLL(str(path))
        for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_mock_cluster_new"):
            getattr(self._library, name).restype = c_void_p
        self._library.rd_kafka_mock_cluster_bootstraps.restype = c_char_p
        said = ctypes.create_string_buffer(512)
        settings = c_void_p(self._library.rd_kafka_conf_new())
        for key, value in ((b"bootstrap.servers", b"127.0.0.1:1"), (b"log_level", b"0")):
            self._library.rd_kafka_conf_set(settings, key, value, said, c_size_t(512))
        self._client = c_void_p(self._library.rd_kafka_new(0, settings, said, c_size_t(512)))
        self._cluster = c_void_p(self._library.rd_kafka_mock_cluster_new(self._client, c_int(1)))
        self.address = self._library.rd_kafka_mock_cluster_bootstraps(self._cluster).decode()

    def make(self, topic: str) -> None:
        self._library.rd_kafka_mock_topic_create(self._cluster, topic.encode(), c_int(1), c_int(1))

    def answer(self, *codes: int) -> None:
        """The next requests to take records are answered so."""
        count = c_size_t(len(codes))
        self._library.rd_kafka_mock_push_request_errors(
            self._cluster, c_int16(PRODUCE), count, *map(c_int, codes)
        )

    def remove(self) -> None:
        self._library.rd_kafka_mock_cluster_destroy(self._cluster)
        self._library.rd_kafka_destroy(self._client)


@pytest.fixture
def brokers() -> Iterator[PretendedBrokers]:
    made = PretendedBrokers()
    for topic in ("one", "other"):
        made.make(topic)
    yield made
    made.remove()


@pytest.mark.req("K-15")
async def test_a_broker_that_says_no_each_time_is_believed_and_its_reason_is_kept(
    brokers: PretendedBrokers,
) -> None:
    outlet = Outlet(Brokers(brokers.address))
    assert await outlet.publish([("one", "c", b"1")]) == [None]
    producer = outlet._producer
    brokers.answer(*[NOT_ENOUGH_REPLICAS] * (RETRIES + 1))
    [refused] = await outlet.publish([("one", "c", b"2")])
    assert refused is not None
    assert (refused.is_refused, "replicas" in refused.reason) == (True, True)
    assert await outlet.publish([("one", "c", b"3"), ("other", "c", b"4")]) == [None, None]
    assert outlet._producer is producer, "a refused record ends no producer"
    await outlet.close()


async def test_a_broker_that_says_no_once_is_asked_again(brokers: PretendedBrokers) -> None:
    outlet = Outlet(Brokers(brokers.address))
    brokers.answer(NOT_ENOUGH_REPLICAS)
    assert await outlet.publish([("one", "c", b"1")]) == [None]
    await outlet.close()


@pytest.mark.req("K-15")
async def test_a_producer_that_has_lost_count_is_replaced_and_refuses_no_topic(
    brokers: PretendedBrokers,
) -> None:
    outlet = Outlet(Brokers(brokers.address))
    assert await outlet.publish([("one", "c", b"1")]) == [None]
    brokers.answer(OUT_OF_ORDER_SEQUENCE)
    [answer] = await outlet.publish([("one", "c", b"2")])
    assert answer is None or not answer.is_refused
    assert await outlet.publish([("one", "c", b"3")]) == [None]
    await outlet.close()
