"""`moot mcp` with all its verbs: importing this gives the group that the table of commands names."""

from moot.cli import mcp_config, mcp_hook, mcp_install
from moot.cli.mcp import mcp

__all__ = ["mcp", "mcp_config", "mcp_hook", "mcp_install"]
