"""What of an address may be shown: everything but the secrets that are written out in it."""

import pytest

from moot.settings.catalogue import conceal


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("postgresql://moot:S3CRET@db.example/moot", "postgresql://moot:…@db.example/moot"),
        ("postgresql://moot:S3C/R@T@db.example/moot", "postgresql://moot:…@db.example/moot"),
        ("postgresql://moot@db.example/moot?password=S3CRET", "postgresql://moot@db.example/moot?password=…"),
        ("postgresql://moot:${PW}@db.example/moot", "postgresql://moot:${PW}@db.example/moot"),
        ("sqlite:moot.db", "sqlite:moot.db"),
    ],
)
def test_passwords_in_addresses_are_not_shown(written: str, seen: str) -> None:
    assert conceal(written) == seen


def test_options_with_secrets_are_not_shown_and_the_rest_is() -> None:
    address = "kafka://k.example:9092?sasl.username=moot&sasl.password=S3CRET&ssl.key.pem=S3CRET"
    assert conceal(address) == "kafka://k.example:9092?sasl.username=moot&sasl.password=…&ssl.key.pem=…"


def test_a_secret_with_an_ampersand_is_not_shown_from_there_on() -> None:
    assert (
        conceal("kafka://k.example?sasl.password=S3C&RET&ssl.x=1")
        == "kafka://k.example?sasl.password=…&ssl.x=1"
    )
