"""Connections to the server: made with what must hold on them, and made again, with growing pauses, once they are lost.

Above: the engine has one that writes, the reads a few more. Below: asyncpg. What must hold of the server itself is
looked at with the first one: its version, its encoding, and that it keeps what it acknowledges.
"""

import asyncio
import hashlib
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

import asyncpg

from moot.errors import MootError, StoreUnwritable
from moot.stores.postgres.address import Address
from moot.stores.postgres.statements import SCHEMA
from moot.stores.postgres.trouble import OUT_OF_REACH, letting_in, speaking_of, unreachable

T = TypeVar("T")

Connection: TypeAlias = Any
"""Of asyncpg; its own type is generic over records, which nobody here looks at."""

OLDEST = 150000
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
CONNECT_SECONDS = 5.0
COMMAND_SECONDS = 60.0
SETTINGS = {
    "TimeZone": "UTC",
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
    "idle_in_transaction_session_timeout": "60000",
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
"""Statements are few, and planning one of them anew would take longer than running it. A client whose machine or line
is gone is let go of within about ten seconds, with the locks it holds."""
LINE = (
    (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPIDLE", 5),
    (socket.IPPROTO_TCP, "TCP_KEEPINTVL", 2),
    (socket.IPPROTO_TCP, "TCP_KEEPCNT", 3),
    (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", 10_000),
)
"""The same at this end."""


def lock_number(schema: str, kind: str, name: str = "") -> int:
    """The number of an advisory lock, as PostgreSQL takes it: a signed integer of 64 bits."""
    digest = hashlib.blake2b(f"{schema}\0{kind}\0{name}".encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _watch_line(connection: Connection) -> None:
    """Have the kernel notice a line that is dead. asyncpg has no word for it, so its transport is asked."""
    transport = getattr(connection, "_transport", None)
    end = transport.get_extra_info("socket") if transport is not None else None
    if end is None or end.family not in (socket.AF_INET, socket.AF_INET6):
        return
    for level, name, value in LINE:
        if hasattr(socket, name):
            with suppress(OSError):
                end.setsockopt(level, getattr(socket, name), value)


def application_name(schema: str) -> str:
    """By which the server knows who works on a schema; it keeps 63 letters."""
    return f"moot {schema}"[:63]


class Server:
    """A database, and how often reaching it has failed of late."""

    def __init__(self, address: Address, clock: Callable[[], float] = time.monotonic) -> None:
        self.address = address
        self._clock = clock
        self._pause = FIRST_PAUSE
        self._not_before = 0.0
        self.version = ""
        self.started = ""
        """When the server was started that was reached last."""
        self.settings: dict[str, str] = {}

    async def connect(self, *, writes: bool = False) -> Connection:
        """A new connection; at once, whatever happened before."""
        schema = self.address.schema
        settings = {**SETTINGS, "search_path": schema, "application_name": application_name(schema)}
        if writes:
            settings["moot.writers"] = str(lock_number(schema, "write"))
            settings["enable_seqscan"] = (
                "off"  # every row a batch loads has an index, also before anybody counted rows
            )
        with letting_in(self.address.shown):
            connection = await asyncpg.connect(
                self.address.dsn,
                timeout=CONNECT_SECONDS,
                command_timeout=COMMAND_SECONDS,
                server_settings=settings,
            )
        _watch_line(connection)
        return connection

    async def reconnect(self) -> Connection:
        """A connection that writes, in place of one that was lost; refused while the pause lasts."""
        left = self._not_before - self._clock()
        if left > 0:
            raise unreachable(self.address.shown, OSError("it could not be reached a moment ago"))
        try:
            connection = await self.connect(writes=True)
        except MootError:
            self._not_before = self._clock() + self._pause
            self._pause = min(self._pause * 2, LONGEST_PAUSE)
            raise
        self._pause, self._not_before = FIRST_PAUSE, 0.0
        return connection

    async def check(self, connection: Connection) -> None:
        """Refuse a server on which nothing could be promised."""
        with speaking_of(self.address.shown):
            found = dict(await connection.fetchrow(SCHEMA.server))
        self.version, self.started = str(found["shown"]), str(found["started"])
        self.settings = {
            name: str(found[name]) for name in ("fsync", "full_page_writes", "synchronous_commit")
        }
        if found["version"] < OLDEST:
            raise self._refusal(
                f"runs PostgreSQL {found['shown']}",
                "15 or newer is needed",
                "upgrade the server, or use another",
            )
        if found["encoding"] != "UTF8":
            raise self._refusal(
                f"has the encoding {found['encoding']}",
                "UTF8 is needed",
                "CREATE DATABASE moot ENCODING 'UTF8'",
            )
        if found["standby"]:
            raise self._refusal(
                "is a standby", "only a primary can be written", "set store.url to the primary"
            )
        lax = [f"{name}=off" for name, value in self.settings.items() if value == "off"]
        if lax and not self.address.unsafe:
            raise self._refusal(
                f"is set up to lose what it acknowledged: {', '.join(lax)}",
                "an acknowledged message must survive a power cut",
                "turn it on in postgresql.conf; or set store.unsafe = true and accept the loss",
            )

    @property
    def is_durable(self) -> bool:
        return "off" not in self.settings.values()

    def _refusal(self, what: str, expected: str, fix: str) -> MootError:
        return StoreUnwritable(
            f"{self.address.shown} {what}",
            detail=f"{expected}; nothing was changed",
            fix=(fix,),
            path=self.address.shown,
        )


class Connections:
    """A few that read, made when they are needed, and kept while they are good."""

    def __init__(self, server: Server, most: int) -> None:
        self._server = server
        self._slots = asyncio.Semaphore(most)
        self._idle: list[Connection] = []
        self._closed = False

    async def run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """What the work answers. A connection that was lost while nobody used it is not the work's concern: then it is
        done once more, on a new one."""
        async with self._slots:
            while self._idle:
                kept = self._idle.pop()
                if not kept.is_closed():
                    with suppress(*OUT_OF_REACH):
                        return await self._on(kept, work)
            return await self._on(await self._server.connect(), work)

    async def _on(self, connection: Connection, work: Callable[[Connection], Awaitable[T]]) -> T:
        good = False
        try:
            answer = await work(connection)
            good = True
            return answer
        except asyncpg.PostgresError as error:
            good = not isinstance(error, OUT_OF_REACH)
            raise
        finally:
            if good and not self._closed and not connection.is_closed():
                self._idle.append(connection)
            else:
                connection.terminate()

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._idle.pop().terminate()
