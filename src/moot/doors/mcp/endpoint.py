"""MCP on the hub's port: streamable HTTP without sessions, old protocol and new.

No session means that nothing is lost when the hub restarts, and that no session id is worth stealing: every request
shows its token at the HTTP door's gate. The SDK is imported when the first request comes, beside the loop.
"""

import asyncio
from importlib import import_module
from typing import Any

from moot.doors.access import Principal
from moot.doors.mcp.caller import Caller, Callers
from moot.doors.open_at_once import OpenAtOnce
from moot.hub import Hub

CALLER = "moot.caller"


class Endpoint:
    """An application for the HTTP door to put beside its own routes."""

    def __init__(self, open_at_once: OpenAtOnce) -> None:
        self._callers = Callers(open_at_once)
        self._manager: Any = None
        self._making = asyncio.Lock()
        self._running: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    async def __call__(self, who: Principal, hub: Hub, scope: Any, receive: Any, send: Any) -> None:
        manager = self._manager or await self._made()
        scope[CALLER] = self._callers.of(who, hub)
        await manager.handle_request(scope, receive, send)

    async def _made(self) -> Any:
        async with self._making:
            if self._manager is None:
                await asyncio.to_thread(import_module, "moot.doors.mcp.server")
                manager = self._new_manager()
                up = asyncio.Event()
                self._running = asyncio.get_running_loop().create_task(self._run(manager, up))
                await up.wait()
                self._manager = manager
        return self._manager

    def _new_manager(self) -> Any:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415
        from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415

        from moot.doors.mcp.server import server  # noqa: PLC0415

        guarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the guard in front has
        return StreamableHTTPSessionManager(server(_caller), stateless=True, security_settings=guarded)

    async def _run(self, manager: Any, up: asyncio.Event) -> None:
        async with manager.run():
            up.set()
            await self._over.wait()

    async def close(self) -> None:
        """Calls that still wait end with the hub."""
        self._over.set()
        if self._running is not None:
            await asyncio.wait([self._running])


def _caller(ctx: Any) -> Caller:
    found: Caller = ctx.request.scope[CALLER]
    return found
