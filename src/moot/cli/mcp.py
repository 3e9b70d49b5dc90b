"""`moot mcp`: the MCP server that a coding CLI starts."""

import click

from moot.cli.grammar import Branch


@click.group(
    "mcp",
    cls=Branch,
    examples=("moot mcp install", "moot mcp config arya"),
    short_help="Connect coding CLIs by MCP.",
)
def mcp() -> None:
    """Connect coding CLIs by MCP."""
