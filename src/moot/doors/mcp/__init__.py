"""MCP: coding agents come in here, over the hub's port (`/mcp/`) or by `moot mcp` on standard input and output.

The official SDK speaks the protocol, old and new. tools.py is the table of what can be called; caller.py is who calls;
server.py binds them together. Everything of the SDK is imported when the first client comes: it costs most of a second.
"""
