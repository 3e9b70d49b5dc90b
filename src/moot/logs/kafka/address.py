"""Where the brokers are, as `log.url` says it: `kafka://HOST:PORT[,HOST:PORT…][?option=value&…]`.

Options are those of librdkafka, passed through as they are, so that TLS and SASL work as its documentation says; only
the families that concern the connection are taken. What is shown of an address never has them.
"""

import logging
from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct

from moot.errors import BadValue

_QUIET = logging.getLogger("moot.kafka.client")
"""librdkafka tells of every connection it tries; what matters of it is told by whoever asked for something."""
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False
_QUIET.setLevel(logging.CRITICAL)

SCHEME = "kafka://"
FAMILIES = ("security.", "sasl.", "ssl.", "socket.", "broker.address.", "client.dns.", "https.")


class Brokers(Struct, frozen=True):
    servers: str
    options: dict[str, str] = {}

    @property
    def shown(self) -> str:
        return f"{SCHEME}{self.servers}"

    def client(self, **more: Any) -> dict[str, Any]:
        """How any client is set up."""
        return {
            "bootstrap.servers": self.servers,
            "reconnect.backoff.max.ms": 500,
            "allow.auto.create.topics": False,
            "logger": _QUIET,
            **self.options,
            **more,
        }


def is_kafka(url: str) -> bool:
    return url.startswith(SCHEME)


def brokers_of(url: str) -> Brokers:
    servers, _, query = url.removeprefix(SCHEME).partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    strange = sorted(name for name in options if not name.startswith(FAMILIES))
    if strange:
        raise BadValue(
            f"log.url has an option that is not about the connection: {strange[0]}",
            detail=f"taken are those of librdkafka that begin with {', '.join(FAMILIES)}",
            fix=(f"leave {strange[0]} out",),
        )
    return Brokers(servers.rstrip("/"), options)
