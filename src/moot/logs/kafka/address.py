"""Where the brokers are, as `log.url` says it: `kafka://HOST:PORT[,HOST:PORT…][?option=value&…]`.

Options are those of librdkafka, passed on unchanged, so that TLS and SASL work as its documentation says; only options
about the connection are accepted. They are never shown.
"""

import logging
import re
from typing import Any
from urllib.parse import unquote

from msgspec import Struct

from moot.errors import BadValue

_QUIET = logging.getLogger("moot.kafka.client")
"""librdkafka logs every connection it tries; the callers here log what matters."""
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False
_QUIET.setLevel(logging.CRITICAL)

SCHEME = "kafka://"
FAMILIES = ("security.", "sasl.", "ssl.", "socket.", "broker.address.", "client.dns.", "https.")
_SERVER = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
_NAME = re.compile(r"[a-z]+(\.[a-z]+)+")
"""The form of option names. After another option, what looks like one may be the rest of a value."""


class Brokers(Struct, frozen=True):
    servers: str
    options: dict[str, str] = {}

    @property
    def shown(self) -> str:
        return f"{SCHEME}{self.servers}"

    def client(self, **more: Any) -> dict[str, Any]:
        """The configuration that all clients share."""
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
    """Parse a `log.url`. The error quotes nothing of it: any part may be a password."""
    servers, _, query = url.removeprefix(SCHEME).partition("?")
    servers = servers.rstrip("/")
    if not all(_SERVER.fullmatch(server) for server in servers.split(",")):
        raise _unreadable("the servers cannot be read", f"expected {SCHEME}HOST:PORT[,HOST:PORT…]")
    options: dict[str, str] = {}
    for n, pair in enumerate(query.split("&") if query else (), 1):
        name, equals, value = pair.partition("=")
        if not equals or not name.startswith(FAMILIES):
            option = f"option {n} behind the ?" if options or not _NAME.fullmatch(name) else name
            raise _unreadable(
                f"{option} is not about the connection",
                f"expected NAME=VALUE as in librdkafka, where NAME begins with {', '.join(FAMILIES)}",
                f"leave {option} out",
            )
        options[name] = unquote(value)
    return Brokers(servers, options)


def _unreadable(what: str, expected: str, *fix: str) -> BadValue:
    return BadValue(
        f"log.url: {what}",
        detail=expected,
        fix=(
            "give user and password as the options sasl.username and sasl.password",
            "percent-encode the password, also where ${…} stands for it: & is %26, % is %25",
            *fix,
        ),
    )
