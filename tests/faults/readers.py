"""Many readers of one conversation in a process of their own, each with its own place; the hub may die at any time.

`python -m tests.faults.readers` is told by its first line where the hub is, how many readers of which kind there are,
and from which event on. Then lines of JSON: `{"do": "ready" | "until" | "verdict", …}` in, an answer each out.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

import uvloop
from msgspec import json
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from tests.support.waiting import PATIENCE, until

AGAIN_SECONDS = 0.05
"""After which a reader whose hub is gone tries anew."""
MARK = b'"text":"number '


class Reader:
    """Keeps its cursor and nothing else; comes back with it however the connection ended."""

    def __init__(self, name: str, told: dict[str, Any], crowd: Crowd) -> None:
        self.name = name
        self.at: dict[str, Any] = told
        self.crowd = crowd
        self.heard: list[int] = []
        self.connects = 0

    def hear(self, number: int) -> None:
        self.heard.append(number)
        self.crowd.times[self.at["where"], number] = time.monotonic()

    async def run(self) -> None:
        while True:
            try:
                await self.listen()
            except (OSError, ConnectionClosed, InvalidHandshake, EOFError, ValueError):
                await asyncio.sleep(AGAIN_SECONDS)

    async def listen(self) -> None:
        raise NotImplementedError


class ByEvents(Reader):
    """Server-sent events, with the id of the last one."""

    async def listen(self) -> None:
        cursor = self.at["after"]
        reader, writer = await asyncio.open_connection("127.0.0.1", self.at["port"], limit=2**20)
        try:
            asked = [
                f"GET /api/events?conversation={self.at['where']}&types=message.posted&after={cursor} HTTP/1.1",
                f"Host: 127.0.0.1:{self.at['port']}", f"Authorization: Bearer {self.at['token']}",
            ]  # fmt: skip
            writer.write(("\r\n".join(asked) + "\r\n\r\n").encode())
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            self.connects += 1
            left = b""
            while size := int(await reader.readline(), 16):
                *events, left = (left + (await reader.readexactly(size + 2))[:-2]).split(b"\n\n")
                for event in events:
                    self.take(event)
        finally:
            writer.close()

    def take(self, event: bytes) -> None:
        if MARK in event:
            self.at = {**self.at, "after": int(event[4 : event.index(b"\n")])}
            self.hear(int(event.split(MARK)[1].split()[0]))


class BySocket(Reader):
    """A WebSocket, with its own name; `received` says how many messages it has had."""

    async def listen(self) -> None:
        at = f"ws://127.0.0.1:{self.at['port']}/ws/conversations/{self.at['where']}?client={self.name}"
        counted = f"&received={len(self.heard)}" if self.connects else ""
        offered: Any = ["moot", f"bearer.{self.at['token']}"]
        async with connect(
            at + counted, subprotocols=offered, compression=None, proxy=None, ping_interval=None
        ) as connection:
            self.connects += 1
            async for frame in connection:
                self.hear(int(frame.split()[2]))


class Crowd:
    def __init__(self, told: dict[str, Any]) -> None:
        kind = {"events": ByEvents, "socket": BySocket}[told["kind"]]
        self.times: dict[tuple[str, int], float] = {}
        """When the last reader heard a message."""
        self.readers = [
            kind(f"{told['kind']}-{n}", {**told, "where": where}, self)
            for where in told["where"]
            for n in range(told["count"])
        ]

    async def ready(self, times: int) -> dict[str, Any]:
        """All of them have connected so many times."""
        await self._all(lambda reader: reader.connects >= times)
        return {"readers": len(self.readers)}

    async def until(self, where: str, last: int) -> dict[str, Any]:
        await self._all(lambda r: r.at["where"] != where or (bool(r.heard) and r.heard[-1] >= last))
        return {"at": self.times[where, last]}

    async def verdict(self, where: str, first: int, last: int) -> dict[str, Any]:
        """Who did not hear exactly these numbers there, in order, each once."""
        expected, here = list(range(first, last + 1)), [r for r in self.readers if r.at["where"] == where]
        wrong = {reader.name: reader.heard for reader in here if reader.heard != expected}
        return {"wrong": dict(list(wrong.items())[:3]), "connects": sum(r.connects for r in here)}

    async def _all(self, is_so: Any) -> None:
        async def how_many() -> int:
            return sum(not is_so(reader) for reader in self.readers)

        await until(how_many, lambda left: left == 0, PATIENCE)


async def main() -> None:
    crowd = Crowd(json.decode(await asyncio.to_thread(sys.stdin.buffer.readline)))
    tasks = [asyncio.create_task(reader.run()) for reader in crowd.readers]
    while line := await asyncio.to_thread(sys.stdin.buffer.readline):
        asked = json.decode(line)
        answer = await getattr(crowd, asked.pop("do"))(**asked)
        sys.stdout.buffer.write(json.encode(answer) + b"\n")
        sys.stdout.buffer.flush()
    for task in tasks:
        task.cancel()


if __name__ == "__main__":
    uvloop.run(main())
