"""`moot mcp`: the server on standard input and output, and how coding CLIs are connected to it."""
