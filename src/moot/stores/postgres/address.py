"""Where a PostgreSQL database is: `postgresql://user:password@host:port/database?schema=moot`, and what of it may be
shown."""

import re
from urllib.parse import quote, unquote, urlencode, urlsplit, urlunsplit

from msgspec import Struct

from moot.errors import BadValue

SCHEMES = ("postgresql", "postgres")
DEFAULT_SCHEMA = "moot"
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_PASSWORD_ENDS_EARLY = re.compile(r"://[^/?#]*([/?#].*@|.*#)", re.DOTALL)
"""An address whose password contains characters that are special in addresses."""


class Address(Struct, frozen=True):
    """A database, and the schema in it that holds the tables."""

    dsn: str
    """With secrets: never shown."""
    schema: str
    shown: str
    """The address without secrets."""
    unsafe: bool = False
    """Accept a server that may lose acknowledged writes."""


def is_postgres(url: str) -> bool:
    return url.partition(":")[0].lower() in SCHEMES


def address_of(url: str, *, unsafe: bool = False) -> Address:
    """Parse a `store.url`. The error quotes nothing of it: any part may be the password."""
    if not is_postgres(url):
        raise _unreadable("it does not begin with postgresql://")
    if _PASSWORD_ENDS_EARLY.search(url):
        raise _unreadable("a / ? or # ends the password before its @, or there is a # in the rest of it")
    try:
        parts = urlsplit(url)
        options = _options(parts.query)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _unreadable("host and port cannot be told apart from the rest") from None
    schema = dict(options).get("schema", DEFAULT_SCHEMA)
    if not _SCHEMA.fullmatch(schema):
        raise _unreadable("schema has to be a name of small letters, digits and _")
    rest = urlencode([(name, value) for name, value in options if name != "schema"], quote_via=quote)
    dsn = urlunsplit(("postgresql", parts.netloc, parts.path, rest, ""))
    place = f"{host}:{port}" if port else host
    shown = f"postgresql://{place}{parts.path}" + (f"?schema={schema}" if schema != DEFAULT_SCHEMA else "")
    return Address(dsn, schema, shown, unsafe)


def _options(query: str) -> list[tuple[str, str]]:
    """Options as PostgreSQL's own programs read them: a plus is no space."""
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    if not all(equals for _, equals, _ in pairs):
        raise _unreadable("an option behind the ? has no value; an & inside of one is written as %26")
    return [(unquote(name), unquote(value)) for name, _, value in pairs]


def _unreadable(reason: str) -> BadValue:
    return BadValue(
        "store.url is not the address of a PostgreSQL database",
        detail=f"{reason}; expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE, perhaps with ?schema=NAME",
        fix=(
            "percent-encode the password, also where ${…} stands for it: / is %2F, ? is %3F, # is %23, % is %25",
            'set store.url, for example "postgresql://moot:${MOOT_PG_PASSWORD}@db.example/moot"',
        ),
    )
