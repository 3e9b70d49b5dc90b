"""`moot mcp hook`: run by a client's own hooks. Quick, silent, and never the reason why a session fails."""

import json
import os
import sys

import click

from moot.cli.frame import streams
from moot.cli.frame.session import Session
from moot.cli.mcp.command import mcp
from moot.model.json import JsonObject

MAX_EVENT_BYTES = 16 << 20
"""An event includes a whole prompt."""


@mcp.command(
    "hook",
    hidden=True,
    examples=(
        "moot mcp hook --client claude Stop < event.json",
        "moot mcp hook --client codex --agent reviewer SessionStart < event.json",
    ),
)
@click.argument("event", type=click.Choice(("Stop", "UserPromptSubmit", "SessionStart")))
@click.option("--client", required=True, metavar="CLIENT", help="The program that runs the hook.")
@click.option(
    "--agent", default="", metavar="NAME", help="The session's agent (default: by client and folder)."
)
@click.pass_obj
def hook(session: Session, event: str, client: str, agent: str) -> None:
    """Deliver waiting messages to the session that runs this hook."""
    if streams.is_output_closed():  # what cannot be read must not count as delivered
        return
    from moot.cli.mcp.hooks import run_hook  # noqa: PLC0415  the other verbs do without it

    moment = run_hook.read_moment(event, client, sys.stdin.buffer.read(MAX_EVENT_BYTES), os.environ, agent)
    run_hook.run(session.home_folder(), moment, _say)


def _say(answer: JsonObject) -> None:
    """Write to the client and flush: what stays in our buffer it would never see."""
    click.echo(json.dumps(answer, ensure_ascii=False), color=False)
    sys.stdout.flush()
