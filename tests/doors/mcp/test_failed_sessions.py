"""MCP sessions that fail, and messages that no session can take: whoever waits for an answer gets one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from moot import Hub
from moot.cli.mcp.relay import Shim
from moot.doors.mcp import pipe
from moot.doors.mcp.start import opener
from moot.settings import Home
from tests.doors.http.world import opened
from tests.support.waiting import until

pytestmark = pytest.mark.req("J-02")

POISON = "poison"
INTRODUCTION = {
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "claude", "version": "1"},
    },
}


class McpClient:
    """Speaks to `moot mcp` as a client does, line by line."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.answers: dict[Any, Any] = {}

    def say(self, message: Any) -> None:
        self._lines.put_nowait(json.encode(message) + b"\n")

    def end(self) -> None:
        self._lines.put_nowait(None)

    async def lines(self) -> AsyncIterator[bytes]:
        while (line := await self._lines.get()) is not None:
            yield line

    def write(self, line: bytes) -> None:
        message = json.decode(line)
        self.answers[message.get("id")] = message

    async def ask(self, number: Any, method: str, **params: Any) -> Any:
        self.say({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return await self.answer_to(number)

    async def answer_to(self, number: Any) -> Any:
        async def seen() -> bool:
            return number in self.answers

        await until(seen, bool)
        return self.answers.pop(number)


@asynccontextmanager
async def client_of(home: Path) -> AsyncIterator[McpClient]:
    client = McpClient()
    running = asyncio.create_task(Shim(Home(home), {"client": "claude"}, client.write).run(client.lines()))
    try:
        client.say({"jsonrpc": "2.0", "id": 1, **INTRODUCTION})
        assert "result" in await client.answer_to(1)
        client.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield client
    finally:
        client.end()
        await running


@asynccontextmanager
async def home_with(folder: Path, *, hub: bool) -> AsyncIterator[Path]:
    if hub:
        async with opened(folder):
            yield folder
    else:
        yield folder


@pytest.fixture
def poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that no door foresees: the answer to one request ends the session."""
    passes_back = pipe.Piped._pass_back

    async def fails(self: pipe.Piped, from_server: Any) -> None:
        tell = self._tell

        def checked(message: Any) -> None:
            if message.get("id") == POISON:
                raise RuntimeError("a fault of ours")
            tell(message)

        self._tell = checked
        await passes_back(self, from_server)

    monkeypatch.setattr(pipe.Piped, "_pass_back", fails)


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("hub", [True, False], ids=["through a hub", "without one"])
async def test_when_a_session_fails_what_was_open_is_answered_and_the_next_request_served(
    tmp_path: Path, hub: bool
) -> None:
    async with home_with(tmp_path, hub=hub) as home, client_of(home) as client:
        call = {"name": "wait_for_messages", "arguments": {"timeout_seconds": 60}}
        client.say({"jsonrpc": "2.0", "id": "waits", "method": "tools/call", "params": call})
        for number in range(2):  # the same again: it is not asked for ever
            failed = await client.ask(POISON, "tools/list")
            assert "session failed" in failed["error"]["message"]
            if not number:
                assert "session failed" in (await client.answer_to("waits"))["error"]["message"]
            answer = await client.ask(f"after {number}", "tools/call", name="list_agents", arguments={})
            assert answer["result"]["structuredContent"]["self"].startswith("claude")


@pytest.mark.parametrize("hub", [True, False], ids=["through a hub", "without one"])
@pytest.mark.parametrize(
    ("message", "number"),
    [
        ({"jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": [1]}, 9),
        ({"id": "no version", "method": "tools/list"}, "no version"),
        ([{"jsonrpc": "2.0", "id": 9, "method": "ping"}], None),
        ("hello", None),
    ],
)
async def test_a_request_of_another_shape_is_answered(
    tmp_path: Path, hub: bool, message: Any, number: Any
) -> None:
    async with home_with(tmp_path, hub=hub) as home, client_of(home) as client:
        client.say(message)
        answer = await client.answer_to(number)
        assert answer["error"] == {"code": -32600, "message": "this is not a message of JSON-RPC 2.0"}
        client.say({"jsonrpc": "2.0", "method": "notifications/none", "params": [1]})
        client.say({"jsonrpc": "2.0", "id": 5, "error": "odd"})
        assert "result" in await client.ask("next", "ping")
        assert client.answers == {}


async def test_a_request_that_finds_no_room_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipe, "MAX_WAITING", 2)
    messages: list[Any] = []
    async with (
        Hub.open(tmp_path) as hub,
        opener(hub)({"client": "claude", "pid": 0}, messages.append) as visit,
    ):
        for number in (1, 2, 3):
            visit.on_message({"jsonrpc": "2.0", "id": number, "method": "ping"})
        visit.on_message({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert [message["id"] for message in messages] == [3]
        assert "2 messages wait already" in messages[0]["error"]["message"]
