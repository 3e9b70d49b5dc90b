"""`moot mcp install|uninstall|status`: connect coding CLIs, disconnect them, show their state."""

import sys
from typing import cast

import click

from moot.cli.frame.exit_codes import FAILED, OK
from moot.cli.frame.session import Session
from moot.cli.mcp.command import mcp

CLIENT_NAMES = ("claude", "codex", "gemini", "antigravity", "vscode")
NAMES = click.argument("names", nargs=-1, type=click.Choice(CLIENT_NAMES), metavar="[CLIENT]...")


@mcp.command(
    "install",
    examples=("moot mcp install", "moot mcp install --wake claude codex", "moot mcp install --print"),
)
@NAMES
@click.option(
    "--wake",
    is_flag=True,
    help="Also install hooks that deliver waiting messages when a turn ends or begins.",
)
@click.option(
    "--http", is_flag=True, help="Register the hub's HTTP address instead; creates a token per client."
)
@click.option("--print", "only_print", is_flag=True, help="Only show what would be done.")
@click.option(
    "--scope",
    type=click.Choice(("user", "project")),
    default="user",
    metavar="SCOPE",
    help="user (all your projects, the default) or project (this folder).",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def install(
    session: Session,
    names: tuple[str, ...],
    *,
    wake: bool,
    http: bool,
    only_print: bool,
    scope: str,
    yes: bool,
) -> None:
    """Connect Claude Code, Codex, Gemini CLI, Antigravity CLI or VS Code; without names, all that are on PATH.

    Shows what it will run and write before doing it. `moot mcp uninstall` restores every file.
    """
    from moot.cli.mcp.clients.known import Scope  # noqa: PLC0415  help and completion do without all this
    from moot.cli.mcp.clients.report import Installing  # noqa: PLC0415

    work = Installing(session, names, wake=wake, http=http, scope=cast(Scope, scope))
    if only_print or not work.has_to_change:
        work.show()
        return
    if not yes and (session.json or not sys.stdin.isatty()):
        raise click.UsageError("installing needs confirmation, and there is no terminal to ask on: add --yes")
    if not session.json:
        work.show()
    if not yes:
        click.confirm("Continue?", default=True, abort=True, err=True)
    work.carry_out()


@mcp.command("uninstall", examples=("moot mcp uninstall", "moot mcp uninstall claude --print"))
@NAMES
@click.option("--print", "only_print", is_flag=True, help="Only show what would be undone.")
@click.pass_obj
def uninstall(session: Session, names: tuple[str, ...], only_print: bool) -> int:
    """Undo what install did and restore every file. From a file changed since, only Moot's entry is removed."""
    from moot.cli.mcp.clients.report import undo  # noqa: PLC0415

    return OK if undo(session, names, only_print=only_print) else FAILED


@mcp.command("status", examples=("moot mcp status", "moot mcp status codex --json"))
@NAMES
@click.pass_obj
def status(session: Session, names: tuple[str, ...]) -> None:
    """Show each client: installed, registered, hooks, last session and reachability."""
    from moot.cli.mcp.clients.report import tell_client_states  # noqa: PLC0415

    tell_client_states(session, names)
