"""`moot group`: the verbs of `/group`, from a shell. Where a chat knows its conversation, here `--conv` says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from moot import shapes
from moot.cli.frame import resolve
from moot.cli.frame.hub_access import with_hub, with_reading
from moot.cli.frame.params import Branch
from moot.cli.frame.session import Session
from moot.cli.manage import conv as of_conv
from moot.cli.terminal.phrases import title
from moot.cli.terminal.screen import hollow
from moot.hub.commands.slash import create_group

if TYPE_CHECKING:
    from moot.hub import Hub


@click.group(
    "group",
    cls=Branch,
    examples=("moot group create arya gendry", "moot group add critic --conv arya-gendry"),
    short_help="The /group commands, from a shell.",
    aliases={"new": "create", "rm": "remove", "show": "list", "set": "config"},
)
def group() -> None:
    """The /group commands, from a shell."""


def _conv(work: Callable[..., object]) -> Callable[..., object]:
    return click.option("--conv", metavar="ID", required=True, help="The group.")(work)


@group.command(
    "create", examples=("moot group create arya gendry", "moot group create arya --name ask --json")
)
@click.argument("agents", nargs=-1, required=True, metavar="AGENT...")
@click.option("--name", default="", help="Its name (default: made from the agents' names).")
@click.pass_obj
def create(session: Session, agents: tuple[str, ...], name: str) -> None:
    """Create a group with these agents."""

    async def work(hub: Hub) -> shapes.Conversation:
        return await create_group(hub, tuple(await resolve.agents(hub, resolve.names_in(agents))), name=name)

    of_conv.tell_change(session, with_hub(session, work), "created")


@group.command(
    "add", examples=("moot group add arya --conv build", "moot group add arya --conv build --json")
)
@click.argument("agents", nargs=-1, required=True, metavar="AGENT...")
@_conv
@click.pass_obj
def add(session: Session, agents: tuple[str, ...], conv: str) -> None:
    """Add agents to a group."""
    of_conv.tell_change(
        session, with_hub(session, lambda hub: of_conv.add_agents(hub, conv, agents)), "added to"
    )


@group.command(
    "remove", examples=("moot group remove arya --conv build", "moot group remove arya --conv build --json")
)
@click.argument("agents", nargs=-1, required=True, metavar="AGENT...")
@_conv
@click.pass_obj
def remove(session: Session, agents: tuple[str, ...], conv: str) -> None:
    """Remove agents from a group."""
    of_conv.tell_change(
        session, with_hub(session, lambda hub: of_conv.remove_agents(hub, conv, agents)), "removed from"
    )


@group.command("list", examples=("moot group list --conv build", "moot group list --conv build --json"))
@_conv
@click.pass_obj
def list_(session: Session, conv: str) -> None:
    """Show a group's members and its turn-taking settings."""

    async def work(hub: Hub) -> shapes.Conversation:
        return await resolve.place(hub, conv)

    conversation = with_reading(session, work)
    if session.json:
        session.screen.data(conversation.to_dict())
        return
    session.screen.say(title(conversation))
    for seat in conversation.participants:
        session.screen.say(f"  {session.screen.name(seat.name, hollow(seat.mark))} ({seat.kind})")
    of_conv.show_settings(session, conversation, None)


@group.command(
    "dissolve", examples=("moot group dissolve --conv build", "moot group dissolve --conv build --yes")
)
@_conv
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def dissolve(session: Session, conv: str, yes: bool) -> None:
    """Dissolve a group; its history stays readable."""
    of_conv.dissolving(session, conv, yes=yes)


@group.command(
    "config",
    examples=("moot group config --conv build", "moot group config max_depth 4 --conv build"),
)
@click.argument("key", required=False)
@click.argument("value", required=False)
@_conv
@click.pass_obj
def config(session: Session, key: str | None, value: str | None, conv: str) -> None:
    """Show a group's turn-taking settings, or change one."""

    async def work(hub: Hub) -> shapes.Conversation:
        return await of_conv.show_or_configure(hub, conv, key, value)

    run = with_reading if value is None else with_hub
    of_conv.show_settings(session, run(session, work), key)
