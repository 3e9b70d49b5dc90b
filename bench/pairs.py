"""A sender and a receiver, each with a connection of its own, by three ways: Moot, PostgreSQL NOTIFY, the bare limit.

A way sends (and returns when that is committed), waits until the receiver is woken, and pulls the receiver's last 20.
All clients live in this process, all servers in theirs; the way decides what a wake-up carries.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from bench.bare import End
from bench.processes import connect_to_postgres
from moot.client import RemoteHub

WINDOW = 20
TEXT = "a sentence of the usual kind, neither long nor short; " * 10
SETTINGS = "[limits]\nagent_turns_per_hour = 1000000\n"


def text(pair: int, number: int) -> str:
    """512 bytes that no other message has."""
    return f"{pair}:{number} {TEXT}"[:512]


class Way(Protocol):
    async def send(self, pair: int, text: str) -> None: ...

    async def woken(self, pair: int) -> str:
        """The text, where the wake-up carries it."""

    async def newest(self, pair: int) -> list[str]: ...


async def fill(way: Way, pairs: int) -> None:
    """A full window in every conversation, and nobody left woken."""
    for pair in range(pairs):
        for number in range(WINDOW):
            await way.send(pair, text(pair, -number))
            await way.woken(pair)


class ByMoot:
    """The owner writes to an agent that is reached from outside, in their pair's conversation."""

    def __init__(self) -> None:
        self._senders: list[RemoteHub] = []
        self._receivers: list[RemoteHub] = []
        self._followed: list[AsyncIterator[Any]] = []
        self._rooms: list[str] = []

    @classmethod
    @asynccontextmanager
    async def open(cls, socket: Path, pairs: int) -> AsyncIterator["ByMoot"]:
        way = cls()
        async with AsyncExitStack() as stack:
            for pair in range(pairs):
                sender = await stack.enter_async_context(RemoteHub.open(socket))
                receiver = await stack.enter_async_context(RemoteHub.open(socket))
                name = f"r{pairs}x{pair}"
                await sender.agents.create(name, external=True)
                room = (await sender.conversations.implicit([name])).id
                followed = receiver.events(
                    conversation=room, types=["message.posted"], after=receiver.position
                )
                way._senders.append(sender)
                way._receivers.append(receiver.acting_as(name))
                way._rooms.append(room)
                way._followed.append(followed)
            yield way

    async def send(self, pair: int, text: str) -> None:
        await self._senders[pair].post(self._rooms[pair], text)

    async def woken(self, pair: int) -> str:
        event = await anext(self._followed[pair])
        return str(event.body["text"])

    async def newest(self, pair: int) -> list[str]:
        found = await self._receivers[pair].newest(self._rooms[pair], WINDOW)
        return [message.text for message in found]


class ByPostgres:
    """One statement inserts and notifies: one round trip, one synced commit. No rules, no values, no chain."""

    SCHEMA = """
    CREATE TABLE IF NOT EXISTS messages (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, room int, seq int, content text, UNIQUE (room, seq));
    TRUNCATE messages;
    """
    SEND = """
    WITH stored AS (INSERT INTO messages (room, seq, content) VALUES ($1, $2, $3))
    SELECT pg_notify('room' || $1, $4)
    """
    LAST = "SELECT seq, content FROM messages WHERE room = $1 ORDER BY seq DESC LIMIT 20"

    def __init__(self, *, carries_text: bool) -> None:
        self._carries_text = carries_text
        self._receivers: list[Any] = []
        self._statements: list[Any] = []
        self._pulls: list[Any] = []
        self._wakes: list[asyncio.Queue[str]] = []
        self._seq: list[int] = []

    @classmethod
    @asynccontextmanager
    async def open(
        cls, folder: str, pairs: int, *, carries_text: bool = False
    ) -> AsyncIterator["ByPostgres"]:
        way = cls(carries_text=carries_text)
        connections: list[Any] = []
        try:
            first = await connect_to_postgres(folder)
            connections.append(first)
            await first.execute(cls.SCHEMA)
            for pair in range(pairs):
                sender, receiver = await connect_to_postgres(folder), await connect_to_postgres(folder)
                connections += [sender, receiver]
                wakes: asyncio.Queue[str] = asyncio.Queue()
                way._statements.append(await sender.prepare(cls.SEND))
                way._pulls.append(await receiver.prepare(cls.LAST))
                await receiver.add_listener(
                    f"room{pair}", lambda _c, _p, _ch, said, q=wakes: q.put_nowait(said)
                )
                way._wakes.append(wakes)
                way._seq.append(0)
            yield way
        finally:
            for connection in connections:
                await connection.close()

    async def send(self, pair: int, text: str) -> None:
        self._seq[pair] += 1
        await self._statements[pair].fetchval(pair, self._seq[pair], text, text if self._carries_text else "")

    async def woken(self, pair: int) -> str:
        return await self._wakes[pair].get()

    async def newest(self, pair: int) -> list[str]:
        return [row[1] for row in reversed(await self._pulls[pair].fetch(pair))]


class ByBareLimit:
    """bench/bare.py from the other side."""

    def __init__(self, *, carries_text: bool) -> None:
        self._carries_text = carries_text
        self._senders: list[End] = []
        self._receivers: list[End] = []
        self._receipts: list[asyncio.Queue[Any]] = []
        self._wakes: list[asyncio.Queue[str]] = []
        self._pulled: list[asyncio.Queue[Any]] = []

    @classmethod
    @asynccontextmanager
    async def open(
        cls, socket: Path, pairs: int, *, carries_text: bool = False
    ) -> AsyncIterator["ByBareLimit"]:
        way = cls(carries_text=carries_text)
        for pair in range(pairs):
            await way._add(socket, pair)
        try:
            yield way
        finally:
            for end in (*way._senders, *way._receivers):
                end.close()

    async def _add(self, socket: Path, pair: int) -> None:
        receipts, wakes, pulled = asyncio.Queue[Any](), asyncio.Queue[str](), asyncio.Queue[Any]()

        def heard(said: Any, end: End) -> None:
            if isinstance(said, dict):
                wakes.put_nowait(said["woken"])
            else:
                pulled.put_nowait(said)

        loop = asyncio.get_running_loop()
        _, sender = await loop.create_unix_connection(
            lambda: End(lambda said, end: receipts.put_nowait(said)), str(socket)
        )
        _, receiver = await loop.create_unix_connection(lambda: End(heard), str(socket))
        receiver.tell(["listen", pair])
        await pulled.get()
        self._senders.append(sender)
        self._receivers.append(receiver)
        self._receipts.append(receipts)
        self._wakes.append(wakes)
        self._pulled.append(pulled)

    async def send(self, pair: int, text: str) -> None:
        self._senders[pair].tell(["post", pair, text, self._carries_text])
        await self._receipts[pair].get()

    async def woken(self, pair: int) -> str:
        return await self._wakes[pair].get()

    async def newest(self, pair: int) -> list[str]:
        self._receivers[pair].tell(["pull", pair])
        found: list[str] = await self._pulled[pair].get()
        return found
