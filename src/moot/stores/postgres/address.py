"""Where a PostgreSQL database is: `postgresql://user:password@host:port/database?schema=moot`, and what of it may be
shown."""

import re
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from msgspec import Struct

from moot.errors import BadValue

SCHEMES = ("postgresql", "postgres")
DEFAULT_SCHEMA = "moot"
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


class Address(Struct, frozen=True):
    """A database, and the schema in it that holds the tables."""

    dsn: str
    """With its secrets: never shown."""
    schema: str
    shown: str
    """Without them."""
    unsafe: bool = False
    """A server that may lose what it acknowledged is good enough."""


def is_postgres(url: str) -> bool:
    return urlsplit(url).scheme in SCHEMES


def address_of(url: str, *, unsafe: bool = False) -> Address:
    """What a `store.url` means."""
    try:
        parts = urlsplit(url)
        options = parse_qsl(parts.query, keep_blank_values=True)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _unreadable(str(error)) from error
    if parts.scheme not in SCHEMES:
        raise _unreadable(f"it begins with {parts.scheme!a}")
    schema = dict(options).get("schema", DEFAULT_SCHEMA)
    if not _SCHEMA.fullmatch(schema):
        raise _unreadable(f"{schema!a} is not a name for a schema: small letters, digits and _")
    rest = urlencode([(name, value) for name, value in options if name != "schema"])
    dsn = urlunsplit(("postgresql", parts.netloc, parts.path, rest, ""))
    place = f"{host}:{port}" if port else host
    shown = f"postgresql://{place}{parts.path}" + (f"?schema={schema}" if schema != DEFAULT_SCHEMA else "")
    return Address(dsn, schema, shown, unsafe)


def _unreadable(reason: str) -> BadValue:
    return BadValue(
        "store.url is not the address of a PostgreSQL database",
        detail=f"{reason}; expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE, perhaps with ?schema=NAME",
        fix=('set store.url, for example "postgresql://moot:${MOOT_PG_PASSWORD}@db.example/moot"',),
    )
