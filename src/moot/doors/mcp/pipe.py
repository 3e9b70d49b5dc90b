"""MCP for one client at the other end of a pipe: its messages in, ours out, for as long as it stays.

The pipe is `moot mcp`'s standard input and output, or the line over which it reaches the hub. Whoever holds it was
vouched for by the kernel; which agent it is was said when it came in.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
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

MAX_WAITING = 1000
ALL_SCOPES = frozenset(scope.value for scope in TokenScope)


class Piped:
    """One client's session."""

    def __init__(self, hub: Hub, open_at_once: OpenAtOnce, name: str, tell: Callable[[Any], None]) -> None:
        who = Principal(Standing.PARTICIPANT, hub.agents.id_of(name), name, scopes=ALL_SCOPES)
        self._caller = Caller(Credential(who), hub.voice_of(name, DoorName.MCP), open_at_once)
        self.facts = {"name": self._caller.hub.name}
        self._tell = tell
        self._incoming: asyncio.Queue[Any] = asyncio.Queue(MAX_WAITING)

    def on_message(self, message: Any) -> None:
        """A message of the client; one that finds no room is dropped, and its sender waits in vain for an answer."""
        if not self._incoming.full():
            self._incoming.put_nowait(message)

    async def serve(self) -> None:
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
                except ValidationError as wrong:
                    await to_server.send(wrong)
                    continue
                await to_server.send(SessionMessage(read))

    async def _pass_back(self, from_server: Any) -> None:
        async with from_server:
            async for message in from_server:
                self._tell(message.message.model_dump(mode="json", by_alias=True, exclude_unset=True))


@asynccontextmanager
async def visiting(
    hub: Hub, open_at_once: OpenAtOnce, whence: dict[str, Any], tell: Callable[[Any], None]
) -> AsyncIterator[Piped]:
    """A client that says where it comes from, answered as the agent that this makes it until the block is left."""
    who = await hub.agents.arrive("mcp", **whence)
    visit = Piped(hub, open_at_once, who.id, tell)
    async with hub.agents.session(who.id, pid=int(whence.get("pid", 0))):
        serving = asyncio.get_running_loop().create_task(visit.serve())
        try:
            yield visit
        finally:
            serving.cancel()
            await asyncio.wait([serving])
