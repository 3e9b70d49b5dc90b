"""`moot mcp`: the MCP server that a coding agent starts, on standard input and output."""

import os
import sys

import click

from moot.cli.frame.params import Branch
from moot.cli.frame.session import Session


@click.group(
    "mcp",
    cls=Branch,
    invoke_without_command=True,
    examples=("moot mcp --client claude", "moot mcp --agent reviewer"),
    short_help="Connect coding agents: Claude Code, Codex and others.",
)
@click.option(
    "--agent", metavar="NAME", envvar="MOOT_AGENT", help="The agent's name; created if it does not exist."
)
@click.option(
    "--client", metavar="NAME", help="The program that starts it; used with the folder to name the agent."
)
@click.pass_context
def mcp(ctx: click.Context, agent: str | None, client: str | None) -> None:
    """Serve MCP on standard input and output. Coding agents start this; people use moot mcp install.

    Without --agent the name is CLIENT-FOLDER. It is remembered, so that name and inbox survive restarts.
    """
    if ctx.invoked_subcommand is not None:
        return
    session: Session = ctx.obj
    if sys.stdin.isatty():
        session.screen.note(
            "moot mcp serves MCP to a coding agent; Ctrl+D ends it. To connect one: moot mcp install"
        )
    from moot.cli.mcp.stdio import serve  # noqa: PLC0415  a hook, which comes by here too, does without it

    whence = {
        "name": agent or "",
        "client": client or "",
        "folder": os.getcwd(),
        "pid": os.getpid(),
    }
    serve(session, whence)
