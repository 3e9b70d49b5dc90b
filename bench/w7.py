"""W7, fan-out: one message to 1, 100 and 1000 readers by server-sent events and by WebSocket, from the publishing until
the last of them has it; and the same with one reader that never reads.

Moot checks, stores and syncs the message and asks who may read it; its readers are authorised one by one. Beside it
Starlette on uvicorn with a queue for each connection, and the limit: a uvloop server that writes the same bytes
to each transport. Neither keeps anything. All readers are the same few lines of protocol, in this process.
"""

import asyncio
import base64
import statistics
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from msgspec import json

from bench import fan, processes
from bench.measure import Table, load

SIZES = (1, 100, 1000)
MESSAGES = 6
LENGTH = 512
SETTINGS = "[limits]\nrequests_per_second = 1000000.0\n"
AT_ONCE = 100
FOLLOWING = b"following"
KEY = base64.b64encode(bytes(16)).decode()
UPGRADE = (
    f"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n"
)


class Ear(asyncio.Protocol):
    """Sends one thing, then listens for the number of the message that everybody waits for."""

    def __init__(self, first: bytes, crowd: "Crowd") -> None:
        self._first = first
        self._crowd = crowd
        self._rest = b""
        self.follows = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(self._first)

    def data_received(self, data: bytes) -> None:
        found = self._rest + data
        self._rest = found[-40:]
        if not self.follows.done():
            if FOLLOWING in found or b"HTTP/1.1 101" in found:
                self.follows.set_result(None)
        elif self._crowd.wanted in found:
            self._rest = b""
            self._crowd.heard()


class Crowd:
    """Readers of one contender, and how it is told something."""

    def __init__(self, port: int, first: bytes, publish: Callable[[bytes, int], bytes]) -> None:
        self.port = port
        self.wanted = b"\0"
        self._first = first
        self._publish = publish
        self._left = 0
        self._ears: list[Ear] = []
        self._number = 0
        self._all = asyncio.Event()

    def heard(self) -> None:
        self._left -= 1
        if not self._left:
            self._all.set()

    @asynccontextmanager
    async def of(self, size: int) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        for begin in range(0, size, AT_ONCE):
            made = await asyncio.gather(
                *(
                    loop.create_connection(lambda: Ear(self._first, self), "127.0.0.1", self.port)
                    for _ in range(min(AT_ONCE, size - begin))
                )
            )
            self._ears += [ear for _, ear in made]
            await asyncio.gather(*(ear.follows for _, ear in made))
        try:
            yield
        finally:
            for ear in self._ears:
                ear.transport.abort()
            self._ears.clear()

    @asynccontextmanager
    async def one_that_never_reads(self) -> AsyncIterator[None]:
        """Its kernel's buffers are as small as they get, so that it is soon in nobody's way, or not."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1)
        writer.write(self._first)
        await reader.read(1)
        try:
            yield
        finally:
            writer.transport.abort()

    async def told(self) -> float:
        """Microseconds from the publishing until the last one has it, median. By a fresh connection: a server closes
        those that are quiet between two rounds."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        taken = []
        for _ in range(MESSAGES):
            self._number += 1
            self.wanted = b"number %08d" % self._number
            self._left = len(self._ears)
            self._all.clear()
            begun = time.perf_counter()
            writer.write(self._publish(self.wanted + b" " + b"x" * (LENGTH - 16), self._number))
            await self._all.wait()
            taken.append(time.perf_counter() - begun)
            if self._first != b"listen\n":
                await reader.readuntil(b"\r\n\r\n")
        writer.close()
        return statistics.median(taken) * 1e6


def crowds(moot: Any, starlette: int, raw: int) -> dict[str, Crowd]:
    def http(port: int, path: str, extra: str = "") -> bytes:
        return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{extra}\r\n".encode()

    def post(port: int, path: str, extra: str = "") -> Callable[[bytes, int], bytes]:
        def made(text: bytes, number: int) -> bytes:
            body = json.encode({"text": text.decode()}) if extra else text
            head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{extra}Content-Length: {len(body)}\r\n\r\n"
            return head.encode() + body

        return made

    def said(where: str) -> Callable[[bytes, int], bytes]:
        return post(moot.port, f"/api/conversations/{where}/messages", karl)

    owner = f"Authorization: Bearer {moot.token}\r\n"
    karl = f"Authorization: Bearer {moot.karl}\r\nContent-Type: application/json\r\n"
    events = "/api/events?conversation=events&types=message.posted"
    socket = "/ws/conversations/sockets"
    return {
        "moot SSE": Crowd(moot.port, http(moot.port, events, owner), said("events")),
        "Starlette SSE": Crowd(starlette, http(starlette, "/events"), post(starlette, "/say/events")),
        "moot WebSocket": Crowd(moot.port, http(moot.port, socket, UPGRADE + owner), said("sockets")),
        "Starlette WebSocket": Crowd(
            starlette, http(starlette, "/ws", UPGRADE), post(starlette, "/say/sockets")
        ),
        "raw": Crowd(raw, b"listen\n", lambda text, number: text + b"\n"),
    }


class Moot:
    """Where a hub listens, and the tokens of who listens and who speaks."""

    def __init__(self, hub: processes.Served) -> None:
        self.port = json.decode((hub.home / "run" / "hub.json").read_bytes())["port"]
        self.token = (hub.home / "run" / "token").read_text().strip()
        self.karl = ""

    async def ask(self, path: str, body: Any) -> Any:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        sent = json.encode(body)
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {self.token}\r\n"
            f"Content-Type: application/json\r\nConnection: close\r\nContent-Length: {len(sent)}\r\n\r\n"
        )
        writer.write(head.encode() + sent)
        answer = await reader.read()
        writer.close()
        return json.decode(answer.split(b"\r\n\r\n", 1)[1])

    async def furnish(self) -> None:
        await self.ask("/api/agents", {"name": "karl", "kind": "human"})
        self.karl = (await self.ask("/api/agents/karl/tokens", {}))["token"]
        for name in ("events", "sockets"):
            await self.ask("/api/conversations", {"name": name, "participants": ["karl"]})


async def measured(found: dict[str, Crowd], size: int, rounds: int) -> Table:
    table = Table(f"W7 fan-out {size}", "µs")
    async with AsyncExitStack() as stack:
        for crowd in found.values():
            await stack.enter_async_context(crowd.of(size))
        contenders: dict[str, Any] = {name: crowd.told for name, crowd in found.items()}
        if size == max(SIZES):
            for kind in ("SSE", "WebSocket"):
                contenders[f"moot {kind}, one never reads"] = _beside_one(found[f"moot {kind}"])
        for crowd in found.values():
            await crowd.told()
        await table.run(contenders, rounds)
    for kind in ("SSE", "WebSocket"):
        table.notes[f"moot {kind} over raw"] = table.ratio(f"moot {kind}", "raw")
        table.notes[f"moot {kind} over Starlette"] = table.ratio(f"moot {kind}", f"Starlette {kind}")
        if size == max(SIZES):
            table.notes[f"{kind}: with over without"] = table.ratio(
                f"moot {kind}, one never reads", f"moot {kind}"
            )
    table.notes["machine"] = load()
    table.save()
    return table


def _beside_one(crowd: Crowd) -> Callable[[], Any]:
    async def told() -> float:
        async with crowd.one_that_never_reads():
            return await crowd.told()

    return told


async def run(rounds: int = 5) -> list[str]:
    lines = ["W7 fan-out (publish until the last reader has it; smaller is better)"]
    with (
        TemporaryDirectory() as folder,
        processes.hub(Path(folder) / "home", SETTINGS) as hub,
        fan.served("starlette") as starlette,
        fan.served("raw") as raw,
    ):
        moot = Moot(hub)
        await moot.furnish()
        for size in SIZES:
            table = await measured(crowds(moot, starlette, raw), size, rounds)
            lines.append(f" {size} readers")
            table.show(lines)
    return lines
