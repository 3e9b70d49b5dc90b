"""MCP for one client at the other end of a pipe: its messages in, ours out, for as long as it stays.

The pipe is `moot mcp`'s standard input and output, or its connection to the hub's socket. The kernel vouches for the
user at the other end; the client said which agent it is when it connected.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
import structlog
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from moot.doors.credentials import Credential
from moot.doors.mcp.caller import Caller
from moot.doors.mcp.server import server
from moot.doors.open_limit import OpenAtOnce
from moot.hub import Hub
from moot.model.entrance import DoorName
from moot.model.records.token import TokenScope
from moot.rules.access import Principal, Standing

log = structlog.get_logger("moot.mcp")

MAX_WAITING = 1000
ALL_SCOPES = frozenset(scope.value for scope in TokenScope)


class Piped:
    """One client's session."""

    def __init__(self, hub: Hub, open_at_once: OpenAtOnce, name: str, tell: Callable[[Any], None]) -> None:
        caller = Principal(Standing.PARTICIPANT, hub.agents.id_of(name), name, scopes=ALL_SCOPES)
        self._caller = Caller(Credential(caller), hub.voice_of(name, DoorName.MCP), open_at_once)
        self.facts = {"name": self._caller.hub.name}
        self._tell = tell
        self._incoming: asyncio.Queue[Any] = asyncio.Queue(MAX_WAITING)
        self.serving = asyncio.get_running_loop().create_task(self._serve())

    def on_message(self, message: Any) -> None:
        """Take a message of the client. A request that finds no room is refused."""
        if self._incoming.full():
            self._refuse(
                message, types.INTERNAL_ERROR, f"{MAX_WAITING} messages wait already; try again later"
            )
        else:
            self._incoming.put_nowait(message)

    async def until_ended(self) -> None:
        """Returns when this session answers no more, although its client is still there."""
        await asyncio.wait([self.serving])
        if not self.serving.cancelled() and (error := self.serving.exception()) is not None:
            log.error("an MCP session failed", action="mcp_session_failed", error=repr(error))

    async def _serve(self) -> None:
        to_server, incoming = create_context_streams[SessionMessage | Exception](0)
        outgoing, from_server = create_context_streams[SessionMessage](0)
        serving = server(lambda ctx: self._caller)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._pass_on, to_server)
            tasks.start_soon(self._pass_back, from_server)
            await serving.run(incoming, outgoing, serving.create_initialization_options())
            tasks.cancel_scope.cancel()

    async def _pass_on(self, to_server: Any) -> None:
        async with to_server:
            while True:
                message = await self._incoming.get()
                try:
                    read = types.jsonrpc_message_adapter.validate_python(message, by_name=False)
                except ValidationError:
                    self._refuse(message, types.INVALID_REQUEST, "this is not a message of JSON-RPC 2.0")
                    continue
                await to_server.send(SessionMessage(read))

    def _refuse(self, message: Any, code: int, text: str) -> None:
        """Answer a message that the server does not get. Only a request is answered: no one waits for the rest."""
        if isinstance(message, dict) and ("id" not in message or "method" not in message):
            return
        number = message.get("id") if isinstance(message, dict) else None
        request_id = number if isinstance(number, str | int) and not isinstance(number, bool) else None
        self._tell({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}})

    async def _pass_back(self, from_server: Any) -> None:
        async with from_server:
            async for message in from_server:
                self._tell(message.message.model_dump(mode="json", by_alias=True, exclude_unset=True))


@asynccontextmanager
async def visiting(
    hub: Hub, open_at_once: OpenAtOnce, whence: dict[str, Any], tell: Callable[[Any], None]
) -> AsyncIterator[Piped]:
    """Serve a client, as the agent that its origin makes it, until the block is left."""
    arrival = await hub.agents.arrive("mcp", **whence)
    async with hub.agents.session(arrival.id, pid=int(whence.get("pid", 0))):
        visit = Piped(hub, open_at_once, arrival.id, tell)
        try:
            yield visit
        finally:
            visit.serving.cancel()
            await asyncio.wait([visit.serving])
