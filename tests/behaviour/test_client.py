"""What a client on the hub's socket may count on when the hub is not there yet, not a hub, or no longer there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvloop
from msgspec import json

from moot.cli.mcp.relay import Shim
from moot.cli.run.doors import open_doors
from moot.client import RemoteHub
from moot.client.transport import socket_transport
from moot.errors import HubAbsent
from moot.host.pings import JsonLine, PingSocket, connect
from moot.host.presence import MachinePresence
from moot.hub import Hub
from moot.hub.process.peers import Peers
from moot.hub.process.rpc import Calls
from moot.model.answer import Receipt
from moot.sdk import CALLS
from moot.settings import Home
from moot.testing import ManualClock
from tests.support.waiting import PATIENCE, until


def nothing(*_: Any) -> None:
    """Not of interest here."""


async def test_what_is_asked_while_the_hub_is_opening_is_answered_when_it_is_open(tmp_path: Path) -> None:
    people: Any = SimpleNamespace()
    neighbours = Peers(
        tmp_path / "hub.sock", people, ManualClock(), hinted=nothing, lost=nothing, presence=MachinePresence()
    )
    answers: asyncio.Queue[JsonLine] = asyncio.Queue()
    await neighbours.listen()
    peer = await connect(tmp_path / "hub.sock", lambda said, _: answers.put_nowait(said), nothing)
    peer.send({"hello": 1})
    peer.send({"ping": 7})
    assert "pong" in await asyncio.wait_for(answers.get(), PATIENCE)
    neighbours.answer_with(Calls(SimpleNamespace(name="user", position=3)))
    assert await asyncio.wait_for(answers.get(), PATIENCE) == {"hello": {"name": "user", "position": 3}}
    peer.close()
    await neighbours.close()


async def test_a_socket_that_never_greets_is_no_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_transport, "GREETING_SECONDS", 0.05)
    silent = PingSocket(tmp_path / "hub.sock", nothing)
    await silent.open()
    with pytest.raises(HubAbsent, match="is not a Moot hub"):
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
            await there._transport.close()
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


# --- a hub that is stopping -------------------------------------------------------------------------


@pytest.fixture
async def stopping(tmp_path: Path) -> AsyncIterator[AsyncExitStack]:
    """A hub with a socket, as it is when its doors are shut already; it goes when the stack is closed."""
    (tmp_path / "moot.toml").write_text("[hub]\nport = 0\n", encoding="utf-8")
    async with AsyncExitStack() as opened:
        hub = await opened.enter_async_context(Hub.open(tmp_path, socket=tmp_path / "run" / "hub.sock"))
        await hub.agents.create("bob", external=True)
        async with open_doors(hub, Home(tmp_path), {}):
            await visited(tmp_path)
        yield opened


async def visited(home: Path) -> None:
    """Somebody comes in by a door of the hub, and goes."""
    connection = socket_transport.SocketTransport()
    await connection.open(home / "run" / "hub.sock")
    try:
        await connection.visit("mcp", nothing, nothing, name="bob")
    finally:
        await connection.close()


@pytest.mark.usefixtures("stopping")
async def test_a_hub_that_is_being_stopped_lets_nobody_in_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE), RemoteHub.open(tmp_path / "run" / "hub.sock") as there:
        with pytest.raises(HubAbsent, match='has no door "mcp" open'):
            await visited(tmp_path)
        assert (await there.acting_as("bob").mailbox.wait(timeout=60)).messages == ()
        assert (await there.send("bob", "in time")).seq == 1, "what needs no waiting is done"


async def test_what_a_hub_was_asked_and_did_not_answer_before_it_went_is_told_so(
    tmp_path: Path, stopping: AsyncExitStack
) -> None:
    socket = tmp_path / "run" / "hub.sock"
    async with asyncio.timeout(PATIENCE), RemoteHub.open(socket) as there:
        asking = asyncio.ensure_future(there.ask("bob", "well?", timeout=60))
        await until(lambda: there.turns(agent="bob"), lambda turns: len(turns) == 1)
        await stopping.aclose()
        with pytest.raises(HubAbsent, match="stopped during the request"):
            await asking
        with pytest.raises(HubAbsent, match="the hub has stopped"):
            await there.turns(agent="bob")
        with pytest.raises(HubAbsent, match="no hub at"):
            async with RemoteHub.open(socket):
                raise AssertionError("nobody is there")


@pytest.mark.parametrize("wrong", [{"after": "soon"}, {"after": []}, {"types": 7}, {"x": 1}, []])
async def test_who_follows_in_a_way_that_makes_no_sense_is_answered(tmp_path: Path, wrong: Any) -> None:
    socket = tmp_path / "run" / "hub.sock"
    answers: asyncio.Queue[JsonLine] = asyncio.Queue()
    async with Hub.open(tmp_path, socket=socket) as here, asyncio.timeout(PATIENCE):
        peer = await connect(socket, lambda said, _: answers.put_nowait(said), nothing)
        peer.send({"follow": 7, "with": wrong})
        if wrong == {"types": 7}:
            await here.conversations.create("room")
        told = await answers.get()
        assert (told["answer"], told["error"]["name"]) == (7, "bad_value")
        peer.close()


async def test_what_comes_after_the_last_call_is_refused_and_touches_nothing(tmp_path: Path) -> None:
    touched: list[str] = []

    async def post(**given: Any) -> Receipt:
        touched.append("store")
        return Receipt("c:1", 1, "c", "user", "c:1", 0)

    people: Any = SimpleNamespace()
    neighbours = Peers(
        tmp_path / "hub.sock", people, ManualClock(), hinted=nothing, lost=nothing, presence=MachinePresence()
    )
    calls = Calls(SimpleNamespace(name="user", position=0, post=post, openers={}))
    await neighbours.listen()
    neighbours.answer_with(calls)
    connection = socket_transport.SocketTransport()
    async with asyncio.timeout(PATIENCE):
        await connection.open(tmp_path / "hub.sock")
        await connection.call(CALLS["post"], socket_transport.Voice())
        await calls.close()
        with pytest.raises(HubAbsent, match="is stopping") as refused:
            await connection.call(CALLS["post"], socket_transport.Voice())
        with pytest.raises(HubAbsent, match="is stopping"):
            await connection.visit("mcp", nothing, nothing)
        await connection.close()
        await neighbours.close()
    assert refused.value.retry_after_ms
    assert touched == ["store"]


@pytest.mark.usefixtures("stopping")
async def test_a_coding_agents_line_to_a_hub_that_is_being_stopped_finds_another_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[bytes] = []
    let_go: list[socket_transport.SocketTransport] = []
    close = socket_transport.SocketTransport.close

    async def closed(connection: socket_transport.SocketTransport) -> None:
        let_go.append(connection)
        await close(connection)

    monkeypatch.setattr(socket_transport.SocketTransport, "close", closed)
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}

    async def lines() -> AsyncIterator[bytes]:
        yield json.encode(first)

    async with asyncio.timeout(PATIENCE):
        await Shim(Home(tmp_path), {"name": "bob"}, said.append).run(lines())
    [answer] = [json.decode(one) for one in said]
    assert (answer["id"], answer["result"]["serverInfo"]["name"]) == (1, "moot")
    assert len(let_go) == 1, "of the hub that had no door for it"
