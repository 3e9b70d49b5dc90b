"""The coding CLIs people start themselves: how each is told of Moot, how it is woken, how all of it is undone.

Above: `moot mcp config|install|uninstall|status|hook`. Below: the files and commands of those programs, and the hub.
Not here: the MCP server that they then talk to.
"""
