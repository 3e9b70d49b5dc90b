"""`moot inbox`: what waits for you, or for an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from moot.cli.frame import resolve
from moot.cli.frame.hub_access import with_hub, with_reading
from moot.cli.frame.params import AT_LEAST_1, leaf
from moot.cli.frame.session import Session
from moot.cli.read.why import address
from moot.cli.terminal.phrases import is_agent, marks_of, title
from moot.cli.terminal.screen import clock_time, safe

if TYPE_CHECKING:
    from moot.hub import Hub


@leaf(
    "inbox", examples=("moot inbox", "moot inbox --agent arya --unread --json", "moot inbox --ack build:12")
)
@click.option("--agent", metavar="NAME", help="Show this agent's messages instead of yours.")
@click.option("--unread", is_flag=True, help="Only unread messages.")
@click.option(
    "--limit", type=AT_LEAST_1, default=20, metavar="N", help="Maximum number of messages (default 20)."
)
@click.option(
    "--ack",
    metavar="MSG",
    multiple=True,
    help="Mark everything up to this message as read, such as build:12.",
)
def inbox(session: Session, agent: str | None, unread: bool, limit: int, ack: tuple[str, ...]) -> None:
    """Show messages waiting for you, or for an agent."""
    if ack and agent:
        raise click.UsageError("--ack works only on your own inbox; an agent's inbox moves with its turns")
    if ack:
        with_hub(session, lambda hub: acknowledge(hub, ack))

    async def work(hub: Hub) -> None:
        whose = await resolve.agent(hub, agent) if agent else None
        received = await hub.inbox(agent=whose, unread=unread, limit=limit)
        if session.json:
            session.screen.data([each.to_dict() for each in received])
            return
        for each in received:
            message = each.message
            place = await hub.conversations.get(message.conversation)
            sender = message.sender
            if is_agent(message):
                sender = session.screen.name(sender, marks_of(place).get(sender, "●"))
            new = "new " if each.unread else "    "
            where = f"{title(place)}:{message.seq}"
            session.screen.say(f"{new} {clock_time(message.at)}  {where}  {sender}: {safe(message.text)}")
        if not received:
            session.screen.note(f"no messages for {agent or 'you'}")

    with_reading(session, work)


async def acknowledge(hub: Hub, messages: tuple[str, ...]) -> None:
    for message in messages:
        where, _, seq = (await address(hub, message, None)).rpartition(":")
        await hub.conversations.read(where, int(seq))
