"""A hub with all doors open, and official MCP clients that come in by them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from moot.testing import ManualClock
from tests.doors.http.world import World, opened
from tests.support.waiting import PATIENCE

ERAS = ("legacy", "2026-07-28")
"""The handshake of old, and the protocol without sessions."""


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """Members of "room": the owner, karl, arya and quiet; bob and eve are outside agents in no conversation."""
    async with opened(tmp_path) as found:
        await enter_eve(found)
        yield found


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def still(tmp_path: Path, clock: ManualClock) -> AsyncIterator[World]:
    """The same where time passes only when a test says so."""
    async with opened(tmp_path, clock=clock) as found:
        await enter_eve(found)
        yield found


async def enter_eve(world: World) -> None:
    await world.hub.agents.create("eve", external=True)
    world.tokens["eve"] = (await world.hub.agents.issue_token("eve")).token


class Called:
    """An MCP client with short words for what the tests do."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        found = await self.client.call_tool(tool, arguments)
        assert not found.is_error, found.structured_content
        return found.structured_content

    async def error(self, tool: str, **arguments: Any) -> Any:
        found = await self.client.call_tool(tool, arguments)
        assert found.is_error, found.structured_content
        return found.structured_content["error"]


@asynccontextmanager
async def came_in(
    world: World, who: str, era: str = "auto", client: str = "", **headers: str
) -> AsyncIterator[Called]:
    """Over HTTP, with somebody's token."""
    info = Implementation(name=client, version="1") if client else None
    sent = {"Authorization": f"Bearer {world.tokens[who]}", **headers}
    async with (
        httpx2.AsyncClient(headers=sent, timeout=PATIENCE, verify=False) as http,
        Client(
            streamable_http_client(f"{world.at.url}/mcp/", http_client=http), mode=era, client_info=info
        ) as found,
    ):
        yield Called(found)
