"""W6, http-ingest: 32 connections, and one, post messages and wait for each answer.

Ours is `moot up` as people run it: token, Host and Origin, scopes, membership, the rate limiter, and then the same
rules as everywhere. Beside it servers that check nothing (bench/ingest.py). Every server is a process of its own; the
load comes from this one, over keep-alive connections, 512 bytes by a human with one mention to groups of six agents
that are away.
"""

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import Request, urlopen

from msgspec import Struct, json

from bench.ingest import ROOMS, installed
from bench.measure import Table, load, middle_and_late
from bench.posts import TEXT
from bench.processes import end, hub, processor_seconds, with_bytecode

WARM, POSTS = 200, 3000
MOOT_TOML = "[hub]\nport = 0\n" + "".join(
    f'[[agents]]\nname = "{name}"\nbrain = "demo"\nautostart = false\n' for name in "abcdef"
)
BODY = json.encode({"text": TEXT})


class Target(Struct, frozen=True):
    port: int
    rooms: list[str]
    pid: int
    token: str = ""

    def spent(self) -> float:
        """Seconds of processor time that the server has taken, in the program and in the kernel."""
        return processor_seconds(self.pid)

    def requests(self) -> Iterator[bytes]:
        """One for each room, over and over."""
        token = f"Authorization: Bearer {self.token}\r\n" if self.token else ""
        head = (
            f"POST /api/conversations/{{}}/messages HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n{token}"
            f"Content-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n"
        )
        return cycle([head.format(room).encode() + BODY for room in self.rooms])


class Caller(asyncio.Protocol):
    """One connection: the next request leaves when the last one is answered."""

    def __init__(self, requests: Iterator[bytes], left: Iterator[int], taken: list[float]) -> None:
        self._requests = requests
        self._left = left
        self._taken = taken
        self._heard = b""
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]
        self._next()

    def _next(self) -> None:
        if next(self._left, None) is None:
            self._transport.close()
            self.done.set_result(None)
            return
        self._begun = time.perf_counter()
        self._transport.write(next(self._requests))

    def data_received(self, data: bytes) -> None:
        self._heard += data
        head, end_of_head, body = self._heard.partition(b"\r\n\r\n")
        if not end_of_head:
            return
        lower = head.lower()
        at = lower.index(b"content-length:") + 15
        if len(body) < int(lower[at:].split(b"\r\n", 1)[0]):
            return
        if not head.startswith(b"HTTP/1.1 201"):
            self.done.set_exception(RuntimeError(self._heard[:500].decode("latin-1")))
            return
        self._taken.append(time.perf_counter() - self._begun)
        self._heard = b""
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or ConnectionError("the server hung up"))


async def called(target: Target, connections: int, posts: int) -> tuple[float, list[float]]:
    """Posts a second, and how long each took."""
    loop = asyncio.get_running_loop()
    requests, left, taken = target.requests(), iter(range(posts)), list[float]()
    begun = time.perf_counter()
    callers = [
        (await loop.create_connection(lambda: Caller(requests, left, taken), "127.0.0.1", target.port))[1]
        for _ in range(connections)
    ]
    await asyncio.gather(*(caller.done for caller in callers))
    return posts / (time.perf_counter() - begun), taken


@contextmanager
def beside(name: str) -> Iterator[Target]:
    with TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.ingest", name, folder], stdout=subprocess.PIPE, env=with_bytecode()
        )
        try:
            assert process.stdout is not None
            yield json.decode(process.stdout.readline(), type=Target)
        finally:
            end(process)


@contextmanager
def moot() -> Iterator[Target]:
    with TemporaryDirectory() as folder, hub(Path(folder), MOOT_TOML) as served:
        told = json.decode((served.home / "run" / "hub.json").read_bytes())
        token = (served.home / "run" / "token").read_text().strip()
        target = Target(told["port"], [f"g{n}" for n in range(ROOMS)], served.pid, token)
        for room in target.rooms:
            body = json.encode({"name": room, "participants": list("abcdef")})
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            urlopen(Request(f"{told['url']}/api/conversations", body, headers)).close()
        yield target


SERVERS: dict[str, Callable[[], AbstractContextManager[Target]]] = {
    "moot": moot,
    "raw ASGI, same writer": lambda: beside("bare"),
    "FastAPI, same writer, no checks": lambda: beside("fastapi"),
    "Starlette and aiosqlite": lambda: beside("aiosqlite"),
}
NEEDS = {"FastAPI, same writer, no checks": "fastapi"}


@asynccontextmanager
async def warm(name: str) -> AsyncIterator[Target]:
    with SERVERS[name]() as target:
        await called(target, 8, WARM)
        yield target


async def beside_each_other(connections: int, rounds: int) -> Table:
    table = Table(f"W6 http-ingest {connections}", "posts/s")
    here = [name for name in SERVERS if NEEDS.get(name, "bare") in installed()]
    late: dict[str, list[float]] = {name: [] for name in here}
    costs: dict[str, list[float]] = {name: [] for name in here}
    posts = POSTS if connections > 1 else POSTS // 5

    async def rate(name: str) -> float:
        async with warm(name) as target:
            before = target.spent()
            found, taken = await called(target, connections, posts)
            costs[name].append((target.spent() - before) / posts * 1e6)
        p50, p99 = middle_and_late(taken)
        late[name].append(p99 / p50)
        return found

    await table.run({name: lambda name=name: rate(name) for name in here}, rounds)  # type: ignore[misc]
    for name in here[1:]:
        table.notes[f"over {name}"] = table.ratio("moot", name)
    for name in here:
        cost = f"{statistics.median(costs[name]):.0f} µs of processor time a post"
        table.notes[name] = f"{cost}, p99 over p50 {statistics.median(late[name]):.1f}"
    return table


async def run(rounds: int = 5) -> list[str]:
    lines = [f"W6 http-ingest (posts/s over keep-alive connections; {load()})"]
    if "fastapi" not in installed():
        lines.append(" FastAPI is not installed: the others run without it")
    for connections in (32, 1):
        table = await beside_each_other(connections, rounds)
        table.save()
        lines.append(f" {connections} connection{'s' if connections > 1 else ''}")
        table.show(lines)
    return lines
