"""What a client on the hub's socket may count on when the hub is not there yet, not a hub, or no longer there."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvloop

from moot.client import RemoteHub, line
from moot.errors import HubAbsent
from moot.host.pings import Line, Socket, connect
from moot.hub import Hub
from moot.hub.calls import Calls
from moot.hub.neighbours import Neighbours
from moot.testing import ManualClock


def nothing(*_: Any) -> None:
    """Not of interest here."""


async def test_what_is_asked_while_the_hub_is_opening_is_answered_when_it_is_open(tmp_path: Path) -> None:
    people: Any = SimpleNamespace()
    neighbours = Neighbours(
        tmp_path / "hub.sock", people, ManualClock(), hinted=nothing, live=nothing, lost=nothing
    )
    answers: asyncio.Queue[Line] = asyncio.Queue()
    await neighbours.listen()
    peer = await connect(tmp_path / "hub.sock", lambda said, _: answers.put_nowait(said), nothing)
    peer.tell({"hello": 1})
    peer.tell({"ping": 7})
    assert "pong" in await asyncio.wait_for(answers.get(), 5)
    neighbours.answer_with(Calls(SimpleNamespace(name="user", position=3)))
    assert await asyncio.wait_for(answers.get(), 5) == {"hello": {"name": "user", "position": 3}}
    peer.close()
    await neighbours.close()


async def test_a_socket_that_never_greets_is_no_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "GREETING_SECONDS", 0.05)
    silent = Socket(tmp_path / "hub.sock", nothing)
    await silent.open()
    with pytest.raises(HubAbsent, match="does not answer like a hub"):
        async with RemoteHub.open(tmp_path / "hub.sock"):
            raise AssertionError("nobody greeted")
    await silent.close()


async def test_a_stream_can_be_left_after_the_hub_has_gone(tmp_path: Path) -> None:
    socket = tmp_path / "run" / "hub.sock"
    async with Hub.open(tmp_path, socket=socket) as here:
        await here.conversations.create("room")
        async with RemoteHub.open(socket) as there:
            events = there.events(conversation="room", after=there.position)
            await here.post("room", "hello")
            assert isinstance(await anext(events), object)
            await there._line.close()
            await asyncio.sleep(0.01)
            await events.aclose()  # type: ignore[attr-defined]


def test_hub_and_client_speak_on_uvloop(tmp_path: Path) -> None:
    async def both() -> list[str]:
        socket = tmp_path / "run" / "hub.sock"
        async with Hub.open(tmp_path, socket=socket) as here, RemoteHub.open(socket) as there:
            await here.conversations.create("room")
            await there.post("room", "hello")
            return [message.text for message in await there.newest("room")]

    assert uvloop.run(both()) == ["hello"]
