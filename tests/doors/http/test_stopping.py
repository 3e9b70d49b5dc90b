"""The door of a hub that is being stopped: who comes now is told so at once, and nothing it asked for is done."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from moot import Hub
from moot.client.transport import http
from moot.doors.http.streams.acks import Marks
from moot.errors import HubAbsent
from tests.support.elsewhere import Elsewhere
from tests.support.waiting import PATIENCE


class Stopping:
    """A hub that has begun to stop, and goes on with it when the test is over."""

    def __init__(self, place: Elsewhere, hub: Hub, client: httpx2.AsyncClient) -> None:
        self.place = place
        self.hub = hub
        self.client = client


@pytest.fixture
async def stopping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stopping]:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait_until_idle(marks: Marks, seconds: float) -> None:
        begun.set()
        await go_on.wait()

    monkeypatch.setattr(Marks, "wait_until_idle", wait_until_idle)
    place = Elsewhere(tmp_path)
    hub = await place.start()
    await hub.agents.create("bob", external=True)
    await hub.conversations.create("room", participants=["bob"])
    headers = {"Authorization": f"Bearer {place.token}"}
    async with httpx2.AsyncClient(base_url=place.url, headers=headers, timeout=PATIENCE) as client:
        stopped = asyncio.ensure_future(place.stop())
        await asyncio.wait_for(begun.wait(), PATIENCE)
        yield Stopping(place, hub, client)
        go_on.set()
        await asyncio.wait_for(stopped, PATIENCE)
        with pytest.raises(httpx2.ConnectError):
            await client.get("/healthz")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/agents/bob/check", {"wait_seconds": 60}),
        ("POST", "/api/agents/bob/ask", {"text": "unasked", "timeout": 60}),
        ("GET", "/api/settled?timeout=60", None),
        ("GET", "/api/conversations/room/settled?timeout=60", None),
    ],
)
async def test_who_would_wait_is_told_to_come_back(
    stopping: Stopping, method: str, path: str, body: Any
) -> None:
    answer = await stopping.client.request(method, path, json=body)
    told = answer.json()
    assert (answer.status_code, told["code"], told["title"]) == (503, "E402", "the hub is stopping")
    assert (answer.headers["retry-after"], told["retryable"]) == ("1", True)
    assert await stopping.hub.search("unasked") == []
    assert await stopping.hub.turns(agent="bob") == []


async def test_what_can_be_answered_at_once_is(stopping: Stopping) -> None:
    answer = await stopping.client.post("/api/conversations/room/messages", json={"text": "in time"})
    assert answer.status_code == 201
    assert [message.text for message in await stopping.hub.newest("room", 1)] == ["in time"]


async def test_a_stream_is_told_to_come_back_with_its_cursor(stopping: Stopping) -> None:
    async with stopping.client.stream("GET", "/api/events") as response:
        heard = "".join([piece async for piece in response.aiter_text()])
    assert f'event: server_restarting\ndata: {{"after":"{stopping.hub.position}"}}' in heard


async def test_a_socket_is_told_to_come_back(stopping: Stopping) -> None:
    at = f"ws://127.0.0.1:{stopping.place.port}/ws/conversations/room"
    headers = {"Authorization": f"Bearer {stopping.place.token}"}
    async with connect(at, additional_headers=headers, proxy=None) as socket:
        with pytest.raises(ConnectionClosed) as closed:
            await asyncio.wait_for(socket.recv(), PATIENCE)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012


async def test_a_client_that_waits_long_enough_says_that_no_hub_is_there(
    stopping: Stopping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "RETRY_SECONDS", 0.2)
    async with Hub.connect(stopping.place.url, token=stopping.place.token) as hub:
        with pytest.raises(HubAbsent, match="is stopping"):
            await hub.settled(timeout=60)
