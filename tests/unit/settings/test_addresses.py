"""Addresses of services with passwords in them: read as they were meant, or refused without telling any piece."""

import pytest

from moot.errors import BadValue
from moot.logs.kafka.address import brokers_of
from moot.stores.postgres.address import address_of, is_postgres

PIECES = ("S3C", "RET", "aB3", "123")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://moot:aB3/S3CRET@db.example/moot",
        "postgresql://moot:123/S3CRET@db.example/moot",
        "postgresql://moot:123?S3CRET@db.example/moot",
        "postgresql://moot:123#S3CRET@db.example/moot",
        "postgresql://moot:S3CRET@db.example/moot#aB3",
        "postgresql://moot:S3C[RET@db.example/moot",
        "postgresql://moot:S3CRET@[aB3]/moot",
        "postgresql://moot:S3CRET@db.example:aB3/moot",
        "postgresql://moot:S3CRET\u2100@db.example/moot",
        "postgresql://moot@db.example/moot?password=S3C&RET",
        "postgresql://moot@db.example/moot?password=S3C&schema=RET",
        "S3CRET://db.example/moot",
    ],
)
def test_an_address_of_postgresql_that_cannot_be_read_is_refused_and_no_piece_of_it_told(url: str) -> None:
    with pytest.raises(BadValue) as refused:
        address_of(url)
    words = " ".join([str(refused.value), refused.value.detail, *map(str, refused.value.fix)])
    assert not [piece for piece in PIECES if piece in words]
    assert "percent-encode the password" in words
    assert refused.value.__cause__ is None


def test_a_password_that_is_percent_encoded_is_taken_and_not_shown() -> None:
    address = address_of("postgresql://moot:123%2FS3CRET@db.example:5433/moot?schema=team")
    assert address.dsn == "postgresql://moot:123%2FS3CRET@db.example:5433/moot"
    assert address.shown == "postgresql://db.example:5433/moot?schema=team"
    assert is_postgres("postgresql://moot:S3C[RET@db.example/moot")


def test_a_plus_is_a_plus_in_both() -> None:
    assert (
        address_of("postgresql://db/moot?password=a+b%26c").dsn == "postgresql://db/moot?password=a%2Bb%26c"
    )
    assert brokers_of("kafka://k?sasl.password=a+b%26c").options == {"sasl.password": "a+b&c"}


@pytest.mark.parametrize(
    "url",
    [
        "kafka://moot:S3CRET@k.example:9092",
        "kafka://k.example:9092,moot:S3CRET@l.example:9092",
        "kafka://k.example:9092/S3CRET",
        "kafka://",
        "kafka://k.example:9092?sasl.username=u&sasl.password=123&RET",
        "kafka://k.example:9092?sasl.username=u&sasl.password=123&RET=",
        "kafka://k.example:9092?S3CRET",
        "kafka://k.example:9092?sasl.password=123&S3C.RET=1",
    ],
)
def test_an_address_of_kafka_that_cannot_be_read_is_refused_and_no_piece_of_it_told(url: str) -> None:
    with pytest.raises(BadValue) as refused:
        brokers_of(url)
    words = " ".join([str(refused.value), refused.value.detail, *map(str, refused.value.fix)])
    assert not [piece for piece in PIECES if piece in words]
    assert "percent-encode the password" in words


def test_servers_of_kafka_are_taken_as_they_are() -> None:
    assert (
        brokers_of("kafka://a_b.example:9092,10.0.0.1:9093,[::1]:9094/").servers
        == "a_b.example:9092,10.0.0.1:9093,[::1]:9094"
    )
