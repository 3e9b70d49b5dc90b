"""Connections to the server, with the settings they need; lost ones are opened again, with growing pauses.

Above: the engine has one that writes, the reads a few more. Below: asyncpg. The first connection checks the server: its
version, its encoding, and that it keeps what it acknowledges.
"""

import asyncio
import hashlib
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar
from uuid import uuid4

import asyncpg

from moot.errors import MootError, StoreUnwritable
from moot.stores.postgres.address import Address
from moot.stores.postgres.statements import SCHEMA
from moot.stores.postgres.trouble import OUT_OF_REACH, connect_errors, moot_errors, unreachable

T = TypeVar("T")

Connection: TypeAlias = Any
"""A connection of asyncpg; its own type is generic over records, which are not used here."""

MIN_VERSION = 150000
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.1, 5.0
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
"""There are few statements, and planning one takes longer than running it. The server drops a client whose machine or
network is gone within about ten seconds, with the locks it holds."""
SOCKET_OPTIONS = (
    (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPIDLE", 5),
    (socket.IPPROTO_TCP, "TCP_KEEPINTVL", 2),
    (socket.IPPROTO_TCP, "TCP_KEEPCNT", 3),
    (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", 10_000),
)
"""The same at the client's end."""


def lock_number(schema: str, kind: str, name: str = "") -> int:
    """The number of an advisory lock, as PostgreSQL takes it: a signed integer of 64 bits."""
    digest = hashlib.blake2b(f"{schema}\0{kind}\0{name}".encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _keep_alive(connection: Connection) -> None:
    """Let the kernel notice a dead connection. asyncpg has no setting for it, so its transport is used."""
    transport = getattr(connection, "_transport", None)
    end = transport.get_extra_info("socket") if transport is not None else None
    if end is None or end.family not in (socket.AF_INET, socket.AF_INET6):
        return
    for level, name, value in SOCKET_OPTIONS:
        if hasattr(socket, name):
            with suppress(OSError):
                end.setsockopt(level, getattr(socket, name), value)


def application_name(schema: str) -> str:
    """The name under which the server lists users of a schema; at most 63 characters."""
    return f"moot {schema}"[:63]


BY_INDEX = {"enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off"}
"""Every row that a batch loads has an index. A plan that the server made while a table was empty, and keeps, would read
all of it until somebody gathers statistics."""


class Server:
    """A database, and the pause before it may be reached again."""

    def __init__(self, address: Address, clock: Callable[[], float] = time.monotonic) -> None:
        self.address = address
        self._clock = clock
        self._pause = FIRST_PAUSE_SECONDS
        self._not_before = 0.0
        self.version = ""
        self.started = ""
        """When the server that was reached last had started."""
        self.settings: dict[str, str] = {}

    async def connect(self, *, writes: bool = False) -> Connection:
        """Open a connection at once, even during a pause."""
        schema = self.address.schema
        settings = {**SETTINGS, "search_path": schema, "application_name": application_name(schema)}
        if writes:
            settings["moot.writers"] = str(lock_number(schema, "write"))
            settings["moot.writer"] = (
                uuid4().hex
            )  # the row of `writers` in which this connection notes what it wrote
            settings.update(BY_INDEX)
        with connect_errors(self.address.shown):
            connection = await asyncpg.connect(
                self.address.dsn,
                timeout=CONNECT_SECONDS,
                command_timeout=COMMAND_SECONDS,
                server_settings=settings,
            )
        _keep_alive(connection)
        return connection

    async def reconnect(self) -> Connection:
        """Open a writing connection in place of a lost one; refused while the pause lasts."""
        left = self._not_before - self._clock()
        if left > 0:
            raise unreachable(self.address.shown, OSError("it could not be reached a moment ago"))
        try:
            connection = await self.connect(writes=True)
        except MootError:
            self._not_before = self._clock() + self._pause
            self._pause = min(self._pause * 2, MAX_PAUSE_SECONDS)
            raise
        self._pause, self._not_before = FIRST_PAUSE_SECONDS, 0.0
        return connection

    async def check(self, connection: Connection) -> None:
        """Refuse a server that cannot keep our promises."""
        with moot_errors(self.address.shown):
            facts = dict(await connection.fetchrow(SCHEMA.server))
        self.version, self.started = str(facts["shown"]), str(facts["started"])
        self.settings = {
            name: str(facts[name]) for name in ("fsync", "full_page_writes", "synchronous_commit")
        }
        if facts["version"] < MIN_VERSION:
            raise self._refusal(
                f"runs PostgreSQL {facts['shown']}",
                "15 or newer is needed",
                "upgrade the server, or use another",
            )
        if facts["encoding"] != "UTF8":
            raise self._refusal(
                f"has the encoding {facts['encoding']}",
                "UTF8 is needed",
                "CREATE DATABASE moot ENCODING 'UTF8'",
            )
        if facts["standby"]:
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
    """A few connections for reading, opened when needed and reused while they work."""

    def __init__(self, server: Server, max_connections: int) -> None:
        self._server = server
        self._slots = asyncio.Semaphore(max_connections)
        self._idle: list[Connection] = []
        self._closed = False

    async def run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Do some work on a connection. If an idle one turns out to be lost, the work is repeated on a new one."""
        async with self._slots:
            while self._idle:
                idle = self._idle.pop()
                if not idle.is_closed():
                    with suppress(*OUT_OF_REACH):
                        return await self._run_on(idle, work)
            return await self._run_on(await self._server.connect(), work)

    async def _run_on(self, connection: Connection, work: Callable[[Connection], Awaitable[T]]) -> T:
        is_usable = False
        try:
            answer = await work(connection)
            is_usable = True
            return answer
        except asyncpg.PostgresError as error:
            is_usable = not isinstance(error, OUT_OF_REACH)
            raise
        finally:
            if is_usable and not self._closed and not connection.is_closed():
                self._idle.append(connection)
            else:
                connection.terminate()

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._idle.pop().terminate()
