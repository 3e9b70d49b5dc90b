"""`moot mcp config`: exactly what a person pastes into a client's settings."""

import click

from moot.cli.frame.session import Session
from moot.cli.mcp.command import mcp

PRINTED = ("claude", "codex", "gemini", "antigravity", "vscode", "generic")


@mcp.command(
    "config",
    examples=("moot mcp config", "moot mcp config reviewer --client codex", "moot mcp config ci --http"),
)
@click.argument("name", required=False)
@click.option(
    "--client",
    "client_name",
    type=click.Choice(PRINTED),
    default="generic",
    metavar="CLIENT",
    help="claude, codex, gemini, antigravity, vscode or generic (default).",
)
@click.option(
    "--http",
    is_flag=True,
    help="Connect to the running hub over HTTP instead of starting a process; creates a token.",
)
@click.pass_obj
def config(session: Session, name: str | None, client_name: str, http: bool) -> None:
    """Print the configuration that adds Moot to a client as an MCP server; NAME is the agent it speaks as.

    Without NAME an agent is named after its client and folder, such as claude-api. Standard output has only the text to
    paste.
    """
    from moot.cli.frame.hub_access import home_of  # noqa: PLC0415
    from moot.cli.mcp.clients import tokens  # noqa: PLC0415  nothing of this is needed by the other commands
    from moot.cli.mcp.clients.entry import Http, Way, server, variable_of  # noqa: PLC0415
    from moot.cli.mcp.clients.known import PRINTED as CLIENTS  # noqa: PLC0415
    from moot.cli.mcp.clients.known import UserEnvironment  # noqa: PLC0415
    from moot.cli.run.welcome import tilde_path  # noqa: PLC0415

    client, home = CLIENTS[client_name], home_of(session)
    agent = name or (client_name if http and client_name != "generic" else "")
    if http and not agent:
        raise click.UsageError(
            "over HTTP the token identifies the agent, so NAME is required: moot mcp config NAME --http"
        )
    address = tokens.address(home) if http else ""
    issued = tokens.issue(session, agent) if http else None
    known_client = client_name if client_name != "generic" else ""
    way: Way = (
        Http(address, variable_of(agent))
        if http
        else server(home.path, client=known_client, agent=name or "")
    )
    where = client.config("user", UserEnvironment.here())
    if session.json:
        data = {"client": client_name, "file": str(where), "config": client.snippet(way)}
        session.screen.data({**data, "token": issued.token if issued else None})
        return
    session.screen.say(client.snippet(way), end="")
    session.screen.note(f"for {client.title}, in {tilde_path(where)}")
    if issued is not None:
        # Said also with --quiet: it is not kept anywhere, and cannot be asked for again.
        export_line = f"export {variable_of(agent)}={issued.token}   # {agent}'s token, shown this once"
        click.echo(export_line, err=True)
