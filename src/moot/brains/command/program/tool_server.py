"""Moot's tools as a small MCP server on an existing pipe: claude sends `mcp_message`, an ACP agent's own MCP client
connects by tool_relay.py.

Above: claude.py, acp.py. Below: the tools of the session's setup, which run in the agent's name. Only the methods that
tools need; the complete MCP server for other programs is doors/mcp.
"""

from typing import Final
from uuid import uuid4

from msgspec import json

from moot.brains.command.driver import CliSetup
from moot.model.json import JsonObject
from moot.model.prompt import ToolCall, ToolSpec

PROTOCOL: Final = "2025-06-18"


def to_wire(tool: ToolSpec) -> JsonObject:
    return {"name": tool.name, "description": tool.description, "inputSchema": tool.parameters}


async def respond(setup: CliSetup, message: JsonObject) -> JsonObject | None:
    """The answer to a client's message; None for a notification."""
    number = message.get("id")
    if number is None:
        return None
    method, params = message.get("method"), message.get("params") or {}
    match method:
        case "initialize":
            result: JsonObject = {
                "protocolVersion": params.get("protocolVersion", PROTOCOL),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "moot", "version": "1"},
            }
        case "ping":
            result = {}
        case "tools/list":
            result = {"tools": [to_wire(tool) for tool in setup.tools()]}
        case "tools/call":
            result = await _call(setup, params)
        case _:
            error = {"code": -32601, "message": f"unknown method {method}"}
            return {"jsonrpc": "2.0", "id": number, "error": error}
    return {"jsonrpc": "2.0", "id": number, "result": result}


async def _call(setup: CliSetup, params: JsonObject) -> JsonObject:
    call = new_call(str(params.get("name", "")), params.get("arguments") or {})
    done = await setup.call(call)
    return {"content": [{"type": "text", "text": done.text}], "isError": done.failed}


def new_call(name: str, arguments: object) -> ToolCall:
    """A call with an id of Moot's own: a CLI may use one id twice over its sessions."""
    return ToolCall(f"moot-{uuid4().hex[:12]}", name, json.encode(arguments).decode())
