"""The limit of W3: a server on the same SDK, set up as our MCP door sets up its own, that does nothing.

`python -m bench.noop` says its port on standard output. Its two tools answer with constants in the shape and size of
our answers, so that what is left between it and us is our work and not the SDK's.
"""

import socket
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from msgspec import json

from bench.pairs import text
from moot.doors.http.listener import listening_socket
from moot.hub.process.tuning import run, tune_process

SENT = {
    "delivered": True,
    "target": "r1",
    "id": "c0k3v9z8x2ab4qd:1234",
    "seq": 1234,
    "reachability": "on-demand",
}
MESSAGE = {
    "id": "c0k3v9z8x2ab4qd:1234",
    "conversation": "c0k3v9z8x2ab4qd",
    "seq": 1234,
    "from": "s1",
    "kind": "external",
    "text": text(0, 0),
    "mentions": [],
    "reply_to": None,
    "root": "c0k3v9z8x2ab4qd:1234",
    "hop": 0,
    "at": "2026-11-16T09:21:14.177046Z",
    "version": 1,
    "metadata": {},
}
ANSWERS: dict[str, dict[str, Any]] = {"send": SENT, "read": {"messages": [MESSAGE], "next": None}}
TAKES = {"type": "object", "properties": {"target": {"type": "string"}, "message": {"type": "string"}}}


def server() -> Server[Any]:
    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        tools = [types.Tool(name=name, description=name, input_schema=TAKES) for name in ANSWERS]
        return types.ListToolsResult(tools=tools)

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        told = ANSWERS[params.name]
        content = types.TextContent(type="text", text=json.encode(told).decode())
        return types.CallToolResult(content=[content], structured_content=told)

    return Server(
        "noop",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda name: TAKES,
    )


async def serve(listener: socket.socket) -> None:
    guarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    manager = StreamableHTTPSessionManager(server(), stateless=True, security_settings=guarded)
    config = uvicorn.Config(
        manager.handle_request,
        interface="asgi3",
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
    )
    async with manager.run():
        await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    tune_process()
    listening = listening_socket("127.0.0.1", 0)
    print(listening.getsockname()[1], flush=True)
    run(serve(listening))
