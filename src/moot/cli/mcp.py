"""`moot mcp`: the MCP server that a coding agent starts, on standard input and output."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator, Callable

import click

from moot.cli.grammar import Branch
from moot.cli.opening import home_of, set_up_logs
from moot.cli.session import Session
from moot.cli.shim import Shim

LONGEST_LINE = 1 << 23


@click.group(
    "mcp",
    cls=Branch,
    invoke_without_command=True,
    examples=("moot mcp --client claude", "moot mcp --agent reviewer"),
    short_help="Connect coding agents: Claude Code, Codex and others.",
)
@click.option("--agent", metavar="NAME", envvar="MOOT_AGENT", help="Who it is; made if nobody goes by it.")
@click.option(
    "--client", metavar="NAME", help="The program that starts it; with the folder it makes the name."
)
@click.pass_context
def mcp(ctx: click.Context, agent: str | None, client: str | None) -> None:
    """Speak MCP on standard input and output. A coding agent starts this; people install it.

    Without --agent the name is CLIENT-FOLDER, remembered, so that name and inbox survive restarts.
    """
    if ctx.invoked_subcommand is not None:
        return
    session: Session = ctx.obj
    if sys.stdin.isatty():
        session.screen.note(
            "moot mcp speaks MCP with a coding agent; Ctrl+D ends it. To connect one: moot mcp install"
        )
    set_up_logs(session)
    whence = {
        "name": agent or "",
        "client": client or "",
        "folder": os.getcwd(),
        "pid": os.getpid(),
    }
    asyncio.run(_serve(Shim(home_of(session), whence, _writer())))


async def _serve(shim: Shim) -> None:
    await shim.run(_lines())


def _writer() -> Callable[[bytes], None]:
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever else is printed here must not stand between the messages

    def write(line: bytes) -> None:
        out.write(line)
        out.flush()

    return write


async def _lines() -> AsyncIterator[bytes]:
    """Standard input, line by line, whatever it is."""
    if stat.S_ISREG(os.fstat(0).st_mode):
        for line in sys.stdin.buffer:
            yield line
        return
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        while line := await reader.readline():
            yield line
    finally:
        transport.close()
