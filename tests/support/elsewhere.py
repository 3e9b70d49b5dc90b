"""A hub that listens on loopback, as a program elsewhere finds it; and a wire to it that can break."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from random import SystemRandom
from typing import Any

from moot import Hub
from moot.doors.http.listener import serving
from moot.hub.process.owner_token import owner_token
from moot.settings import Home

FIRST_PORT = 10_000
FACTS = {"instance": "i1", "started_at": None}


class Elsewhere:
    """One home and one port; the hub on it can be stopped and started again."""

    def __init__(self, home: Path, limits: str = "requests_per_second = 100000.0") -> None:
        self.home = home
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        groups = "[groups]\ncooldown_seconds = 0.0\nreactive_round = false\n"
        (home / "moot.toml").write_text(f"[hub]\nport = {self.port}\n{groups}[limits]\n{limits}\n")
        self.token = owner_token(Home(home))
        self._running: AbstractAsyncContextManager[Hub]

    @asynccontextmanager
    async def up(self, agents: Sequence[Any] = ()) -> AsyncIterator[Hub]:
        async with (
            Hub.open(self.home, agents=agents) as hub,
            serving(hub, home=self.home, owner_token=self.token, facts=FACTS),
        ):
            yield hub

    async def start(self, agents: Sequence[Any] = ()) -> Hub:
        self._running = self.up(agents)
        return await self._running.__aenter__()

    async def stop(self) -> None:
        await self._running.__aexit__(None, None, None)


def free_port() -> int:
    """One that the system gives to nobody who asks for any: it is still free when a hub comes, or comes back, to it,
    however many connections others make meanwhile."""
    given = Path("/proc/sys/net/ipv4/ip_local_port_range")
    lowest = int(given.read_text().split()[0]) if given.exists() else 0
    while True:
        port = SystemRandom().randrange(FIRST_PORT, lowest) if lowest > 2 * FIRST_PORT else 0
        with socket.socket() as found, suppress(OSError):
            found.bind(("127.0.0.1", port))
            return int(found.getsockname()[1])


class Wire:
    """Everything passes, except what it is told to lose."""

    def __init__(self, port: int) -> None:
        self._to = port
        self.url = ""
        self.answers_to_lose = 0
        self.requests: list[bytes] = []
        """First line of each."""
        self._open: set[asyncio.StreamWriter] = set()

    @asynccontextmanager
    async def laid(self) -> AsyncIterator["Wire"]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            self.cut()
            await server.wait_closed()

    def cut(self) -> None:
        """Every connection breaks."""
        for writer in list(self._open):
            writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            there, onwards = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.transport.abort()
            self._open.discard(writer)
            return
        tasks = [
            asyncio.ensure_future(self._requests(reader, onwards)),
            asyncio.ensure_future(self._answers(there, writer)),
        ]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for end in (writer, onwards):
            end.transport.abort()
        self._open.discard(writer)

    async def _requests(self, reader: asyncio.StreamReader, onwards: asyncio.StreamWriter) -> None:
        host = f"127.0.0.1:{self._to}".encode()
        with suppress(OSError):
            while data := await reader.read(65536):
                self.requests.append(data.partition(b"\r\n")[0])
                onwards.write(data.replace(self.url.removeprefix("http://").encode(), host))

    async def _answers(self, there: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await there.read(65536):
                if self.answers_to_lose:
                    self.answers_to_lose -= 1
                    return
                writer.write(data)
