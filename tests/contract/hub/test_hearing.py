"""A person says something in a group and hears what comes of it: the same over events and over a WebSocket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from websockets.asyncio.client import connect

from moot import Hub
from moot.cli.run.doors import open_doors
from moot.hub.process.owner_token import owner_token
from moot.settings import Home
from tests.contract.hub.conftest import TOML, arya, broken, quiet, reached
from tests.support.waiting import PATIENCE

WAYS = ("in process", "socket", "http", "websocket")


class Person(Protocol):
    async def say(self, text: str) -> None: ...
    async def hears(self, count: int) -> list[str]:
        """What others said, as `name: text`."""


class ByEvents:
    def __init__(self, hub: Any) -> None:
        self._hub = hub
        self._events = hub.events(conversation="room", types=("message.posted",), after=hub.position)

    async def say(self, text: str) -> None:
        await self._hub.post("room", text)

    async def hears(self, count: int) -> list[str]:
        found: list[str] = []
        async with asyncio.timeout(PATIENCE):
            while len(found) < count:
                told = (await anext(self._events)).body
                if told["from"] != self._hub.name:
                    found.append(f"{told['from']}: {told['text']}")
        return found

    async def close(self) -> None:
        await self._events.aclose()


class BySocket:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def say(self, text: str) -> None:
        await self._connection.send(text)

    async def hears(self, count: int) -> list[str]:
        async with asyncio.timeout(PATIENCE):
            return [str(await self._connection.recv()) for _ in range(count)]


@asynccontextmanager
async def person(way: str, here: Hub, home: Home) -> AsyncIterator[Person]:
    if way != "websocket":
        async with reached(way, here, home.path) as hub:
            ear = ByEvents(hub)
            yield ear
            await ear.close()
        return
    token, facts = owner_token(home), {"instance": "i1", "started_at": None}
    async with (
        open_doors(here, home, facts) as at,
        connect(
            f"ws://127.0.0.1:{at.port}/ws/conversations/room",
            subprotocols=["moot", f"bearer.{token}"],  # type: ignore[list-item]
            proxy=None,
        ) as connection,
    ):
        yield BySocket(connection)


@pytest.mark.req("K-11", "S-13")
@pytest.mark.parametrize("way", WAYS)
async def test_what_others_say_is_heard_whole_in_order_and_once(way: str, tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text(TOML)
    home = Home(tmp_path)
    async with Hub.open(tmp_path, agents=[arya, quiet, broken], socket=home.hub_sock) as here:
        await here.agents.create("x", external=True)
        await here.conversations.create("room", participants=["arya", "quiet", "x"])
        async with person(way, here, home) as me:
            await me.say("hello @arya")
            assert await me.hears(1) == ["arya: arya heard hello arya"]
            await here.settled("room", timeout=40)
            for n in range(3):
                await here.acting_as("x").post("room", f"note {n}\nin two lines")
            assert await me.hears(3) == [f"x: note {n}\nin two lines" for n in range(3)]
        said = [(message.sender, message.text) for message in await here.messages("room")]
        assert said[0] == ("user", "hello @arya")
        assert len(said) == 5
