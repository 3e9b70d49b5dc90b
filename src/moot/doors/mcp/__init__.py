"""MCP: coding agents connect here, over the hub's port (`/mcp/`) or by `moot mcp` on standard input and output.

The official SDK speaks the protocol, old and new. tools.py is the table of what can be called; caller.py is who calls;
server.py binds them together. The SDK is imported when the first client connects: that takes most of a second.
"""
