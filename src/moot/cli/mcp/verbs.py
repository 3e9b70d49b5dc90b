"""`moot mcp` with all its verbs: importing this gives the group that the table of commands names."""

from moot.cli.mcp import hook, install, print_config
from moot.cli.mcp.command import mcp

__all__ = ["hook", "install", "mcp", "print_config"]
