"""A client of the WebSocket as somebody would write it: plain text both ways, and a count where it wants one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.doors.http.world import World
from tests.support.waiting import PATIENCE

HUB = "! "
"""How frames begin that are the hub's own words."""


class Talker:
    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.received = 0

    async def say(self, *texts: str) -> None:
        for text in texts:
            await self.connection.send(text)

    async def next(self, seconds: float = PATIENCE) -> str:
        async with asyncio.timeout(seconds):
            frame = await self.connection.recv()
        assert isinstance(frame, str)
        self.received += not frame.startswith(HUB)
        return frame

    async def texts(self, count: int) -> list[str]:
        return [await self.next() for _ in range(count)]

    async def silence(self, seconds: float = 0.2) -> bool:
        try:
            await self.next(seconds)
        except TimeoutError:
            return True
        return False

    async def ends(self, seconds: float = PATIENCE) -> tuple[int | None, list[str]]:
        """The code it was closed with, and what it heard before."""
        heard: list[str] = []
        try:
            while True:
                heard.append(await self.next(seconds))
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None, heard

    async def ends_or_says(self) -> str:
        """The next frame, or the code it was closed with."""
        try:
            return await self.next()
        except ConnectionClosed as closed:
            return str(closed.rcvd.code if closed.rcvd else 0)


def at(world: World, path: str, **query: Any) -> str:
    asked = {name: value for name, value in query.items() if value is not None}
    return f"ws://127.0.0.1:{world.at.port}{path}" + (f"?{urlencode(asked)}" if asked else "")


@asynccontextmanager
async def talking(
    world: World, who: str | None = "owner", path: str = "/ws/conversations/room", **query: Any
) -> AsyncIterator[Talker]:
    """Let in by the subprotocol, as a browser would be; `who` is a key of `tokens`, or None for no token."""
    offered = ["moot", f"bearer.{world.tokens[who]}"] if who is not None else []
    async with connect(
        at(world, path, **query),
        subprotocols=offered or None,  # type: ignore[arg-type]
        compression=None,
        proxy=None,
        max_size=None,
        open_timeout=PATIENCE,
    ) as connection:
        assert connection.subprotocol == ("moot" if offered else None)
        yield Talker(connection)


async def refused(
    world: World, who: str | None = "owner", path: str = "/ws/conversations/room", **query: Any
) -> int:
    """The status a handshake is answered with; 101 where it is let in."""
    try:
        async with talking(world, who, path, **query):
            return 101
    except InvalidStatus as status:
        return int(status.response.status_code)
