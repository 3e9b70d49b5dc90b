"""All doors of a hub, opened together: HTTP on its port, MCP beside it there and on the hub's socket."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from moot.bridges.start import open_bridges
from moot.doors.http.listener import Listening, serving
from moot.doors.mcp.start import DOOR, opener
from moot.doors.mcp.streamable import McpEndpoint
from moot.doors.open_limit import OpenAtOnce
from moot.hub import Hub
from moot.hub.process.owner_token import owner_token
from moot.model.json import JsonObject
from moot.settings import Home


@asynccontextmanager
async def open_doors(
    hub: Hub, home: Home, facts: JsonObject, *, openly: bool = False
) -> AsyncIterator[Listening]:
    """Open all doors until the block is left; `openly` allows tokens without TLS."""
    open_at_once = OpenAtOnce(hub.settings.limits.open_at_once)
    mcp = McpEndpoint(open_at_once)
    hub.openers[DOOR] = opener(hub, open_at_once)
    try:
        async with serving(
            hub,
            home=home.path,
            owner_token=owner_token(home),
            facts=facts,
            openly=openly,
            beside={"/mcp/": mcp, "/mcp": mcp},
            open_at_once=open_at_once,
        ) as at:
            try:
                async with open_bridges(hub):
                    yield at
            finally:
                hub.agents.dismiss()
    finally:
        del hub.openers[DOOR]
        await mcp.close()
