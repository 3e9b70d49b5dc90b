"""MCP on the hub's port: streamable HTTP without sessions, old protocol and new.

No session means that nothing is lost when the hub restarts, and that no session id is worth stealing: every request
shows its token at the HTTP door's gate. The id that a client of the older protocol is given with its introduction only
tells it from others with the same token, and any id will do; in the newer one its name and version must. The SDK is
imported when the first request comes, beside the loop.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from importlib import import_module
from secrets import token_hex
from typing import Any, Final

from moot.doors.credentials import Credential
from moot.doors.mcp.caller import Caller, Callers
from moot.doors.open_limit import OpenAtOnce
from moot.hub import Hub

CALLER: Final = "moot.caller"
CLIENT: Final = b"mcp-session-id"
PROTOCOL: Final = b"mcp-protocol-version"
MAX_CLIENT_CHARACTERS: Final = 128
"""Characters of what a client says of itself; more are cut off."""


class McpEndpoint:
    """An application for the HTTP door to put beside its own routes."""

    def __init__(self, open_at_once: OpenAtOnce) -> None:
        self._callers = Callers(open_at_once)
        self._manager: Any = None
        self._making = asyncio.Lock()
        self._running: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    async def __call__(self, credential: Credential, hub: Hub, scope: Any, receive: Any, send: Any) -> None:
        manager = self._manager or await self._start_manager()
        scope[CALLER] = partial(self._callers.of, credential, hub)
        headers = dict(scope["headers"])
        if CLIENT not in headers and PROTOCOL not in headers:  # an introduction of the older protocol
            send = partial(_send_with_client_id, send, token_hex(16))
        await manager.handle_request(scope, receive, send)

    async def _start_manager(self) -> Any:
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


async def _send_with_client_id(send: Any, client: str, message: Any) -> None:
    """Give a client an id to say with each request."""
    if message["type"] == "http.response.start":
        message = {**message, "headers": [*message["headers"], (CLIENT, client.encode())]}
    await send(message)


def _caller(ctx: Any) -> Caller:
    of: Callable[[str], Caller] = ctx.request.scope[CALLER]
    return of(_client(ctx)[:MAX_CLIENT_CHARACTERS])


def _client(ctx: Any) -> str:
    """What tells a client from others with its token: the id it was given, else what it says of itself."""
    name: str | None = ctx.request.headers.get(CLIENT.decode())
    if name is not None:
        return name
    params = ctx.session.client_params
    return "" if params is None else f"{params.client_info.name} {params.client_info.version}"
