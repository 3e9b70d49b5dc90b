"""FLOOD, before a token is shown: what people inside notice of strangers at the door, by every transport.

The hub, as `moot up` runs it, has one core to itself. From the other one, at the lowest priority, a process floods it
without a token: pipelined requests, idle connections, heads that come byte by byte, pings and empty fragments over
WebSockets, calls of MCP, and connections that come and go. Beside that a member posts, one message after the other over a
connection it has had before. The same flood goes to a listener that does nothing, while the hub has its peace: that is the
baseline, and has everything in it but the flood at the hub's own door. The two take turns, round by round.
"""

import asyncio
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import json

from bench.measure import Table, load, middle_and_late
from bench.processes import Served, end, hub
from moot.client import RemoteHub

POSTS, ROUNDS, SETTLING = 1000, 5, 0.5
CONNECTIONS = 40
"""Of each kind; those that are idle are ten times as many."""
KINDS = ("pipelined", "idle", "slow", "pings", "fragments", "mcp", "reconnects")
TEXT = json.encode({"text": "x" * 200})


# --- the flood -------------------------------------------------------------------------------------------


def upgrade(port: int) -> bytes:
    lines = ("GET /ws/conversations/room HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: Upgrade",
             "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==")  # fmt: skip
    return "\r\n".join((*lines, "", "")).encode()


def written(kind: str, port: int) -> tuple[bytes, bytes]:
    """What a connection begins with, and what it then repeats."""
    request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    call = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
    head = f"POST /mcp/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    mcp = f"{head}Content-Length: {len(call)}\r\n\r\n".encode() + call
    return {
        "pipelined": (b"", request * 500),
        "idle": (b"", b""),
        "slow": (b"GET / HTTP/1.1\r\nX: ", b"x"),
        "pings": (upgrade(port), b"\x89\x80\0\0\0\0" * 5000),
        "fragments": (upgrade(port), b"\x01\x80\0\0\0\0" + b"\x00\x80\0\0\0\0" * 5000),
        "mcp": (b"", mcp * 100),
        "reconnects": (b"", request),
    }[kind]


async def stranger(kind: str, port: int) -> None:
    """One connection after the other, each for as long as it is let."""
    begin, again = written(kind, port)
    while True:
        with suppress(OSError, asyncio.TimeoutError):
            reader, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 5)
            try:
                writer.write(begin)
                if kind == "idle":
                    await reader.read()
                while kind != "idle":
                    writer.write(again)
                    await asyncio.wait_for(writer.drain(), 30)
                    if kind == "reconnects":
                        break
                    await asyncio.sleep(0)
                    if reader.at_eof() or len(getattr(reader, "_buffer", b"")) > 1 << 20:
                        break
            finally:
                writer.transport.abort()
        await asyncio.sleep(0)


async def flood(port: int, kinds: tuple[str, ...]) -> None:
    crowd = [kind for kind in kinds for _ in range(CONNECTIONS * (10 if kind == "idle" else 1))]
    strangers = asyncio.gather(*(stranger(kind, port) for kind in crowd))
    print("at the door", flush=True)
    await strangers


@contextmanager
def flooding(port: int, kinds: tuple[str, ...], core: int) -> Iterator[None]:
    words = [sys.executable, "-m", "bench.flood", str(port), str(core), *kinds]
    process = subprocess.Popen(words, cwd=Path(__file__).resolve().parents[1], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"at the door\n"
        yield
    finally:
        process.kill()
        end(process)


@contextmanager
def nobody() -> Iterator[int]:
    """A listener that does nothing: connections stay in its queue, unread."""
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as listener:
        yield listener.getsockname()[1]


# --- who is inside ---------------------------------------------------------------------------------------


class Member:
    """Posts over one connection, and waits for each answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> None:
        self._reader = reader
        self._writer = writer
        self._head = head

    @classmethod
    @asynccontextmanager
    async def of(cls, served: Served) -> AsyncIterator["Member"]:
        port = int(served.url.rpartition(":")[2])
        async with RemoteHub.open(served.socket) as owner:
            await owner.agents.create("member", human=True)
            await owner.conversations.create("inside", participants=["member"])
            token = (await owner.agents.issue_token("member")).token
        head = (
            f"POST /api/conversations/inside/messages HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {len(TEXT)}\r\n\r\n"
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            yield cls(reader, writer, head.encode())
        finally:
            writer.close()

    async def post(self) -> float:
        """Seconds until it is on disk."""
        begun = time.perf_counter()
        self._writer.write(self._head + TEXT)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length"))
        await self._reader.readexactly(int(length.partition(b":")[2]))
        assert answer.startswith(b"HTTP/1.1 201"), answer[:100]
        return time.perf_counter() - begun


async def measured(member: Member, port: int, kinds: tuple[str, ...], core: int, posts: int) -> list[float]:
    """A member's posts while somebody is flooded."""
    with flooding(port, kinds, core):
        await asyncio.sleep(SETTLING)
        return [await member.post() for _ in range(posts)]


def pin(pid: int, core: int) -> None:
    """All threads of a process; those to come take after them."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {core})


async def compared(
    kinds: tuple[str, ...] = KINDS, rounds: int = ROUNDS, posts: int = POSTS
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """p50 and p99 of each round in milliseconds: at peace, and flooded."""
    first, *others = sorted(os.sched_getaffinity(0))
    elsewhere = others[0] if others else first
    settings = "[limits]\nrequests_per_second = 100000.0\n"
    calm: list[tuple[float, float]] = []
    flooded: list[tuple[float, float]] = []
    with TemporaryDirectory() as folder, hub(Path(folder) / "home", settings) as served, nobody() as silent:
        pin(served.pid, first)
        port = int(served.url.rpartition(":")[2])
        async with Member.of(served) as member:
            for _ in range(100):
                await member.post()
            for _ in range(rounds):
                calm.append(middle_and_late(await measured(member, silent, kinds, elsewhere, posts)))
                flooded.append(middle_and_late(await measured(member, port, kinds, elsewhere, posts)))
    return calm, flooded


async def run() -> list[str]:
    lines = [
        f"FLOOD  before a token is shown: {POSTS} posts of a member, {ROUNDS} rounds, hub on one core ({load()})"
    ]
    table = Table("flood", "ms")
    for kinds in (*((kind,) for kind in KINDS), KINDS):
        calm, flooded = await compared(kinds)
        name = kinds[0] if len(kinds) == 1 else "all at once"
        for column, word in ((0, "p50"), (1, "p99")):
            there = statistics.median(row[column] for row in flooded)
            alone = statistics.median(row[column] for row in calm)
            table.figures[f"{name}, {word}"] = [row[column] for row in flooded]
            table.figures[f"{name}, {word}, at peace"] = [row[column] for row in calm]
            lines.append(
                f"  {name:12} {word} {there:8.2f} ms, at peace {alone:8.2f} ms: {there / alone:5.2f}"
            )
    table.save()
    return lines


if __name__ == "__main__":
    os.nice(19)
    os.sched_setaffinity(0, {int(sys.argv[2])})
    asyncio.run(flood(int(sys.argv[1]), tuple(sys.argv[3:])))
