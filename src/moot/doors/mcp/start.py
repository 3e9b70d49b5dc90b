"""How this door is opened: by the hub for its port and its socket, by `moot mcp` for itself. The SDK is not loaded
until then."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from typing import Any

from moot.doors.open_limit import OpenAtOnce
from moot.hub import Hub

DOOR = "mcp"


def opener(
    hub: Hub, open_at_once: OpenAtOnce | None = None
) -> Callable[[dict[str, Any], Callable[[Any], None]], AbstractAsyncContextManager[Any]]:
    """For `hub.openers`: lets a client in that comes over the hub's socket, or from this very process."""
    limit = open_at_once or OpenAtOnce(hub.settings.limits.open_at_once)

    @asynccontextmanager
    async def open_visit(whence: dict[str, Any], tell: Callable[[Any], None]) -> AsyncIterator[Any]:
        piped = await asyncio.to_thread(import_module, "moot.doors.mcp.pipe")
        async with piped.visiting(hub, limit, whence, tell) as visit:
            yield visit

    return open_visit
