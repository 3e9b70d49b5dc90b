"""`moot chat`: talk with agents, line by line; with a text, say it, print the replies and leave."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from moot import shapes
from moot.cli import meaning
from moot.cli.dialogue import Dialogue
from moot.cli.exits import OK
from moot.cli.grammar import AT_LEAST_0, AT_LEAST_1, SECONDS, leaf
from moot.cli.opening import host_the_absent, opened_hub
from moot.cli.posting import WAIT_SECONDS, posted, standard_input, told, view_for
from moot.cli.screen import hollow
from moot.cli.session import Session
from moot.cli.talk import Outcome, Talk
from moot.cli.words import agents_in, is_agent, line, marks_of, reason_for, title

if TYPE_CHECKING:
    from moot.hub import Hub

SHOWN = 10


@leaf(
    "chat",
    examples=("moot chat arya", "moot chat arya gendry", 'moot chat --conv build "hey @arya"'),
)
@click.argument("words", nargs=-1, metavar="[AGENT]... | --conv NAME [TEXT]")
@click.option("--conv", metavar="NAME", help="An existing conversation; words are then the message.")
@click.option(
    "-m", "--message", metavar="TEXT", help="Post this, print the replies, and leave. - reads stdin."
)
@click.option("--last", type=AT_LEAST_0, default=SHOWN, metavar="N", help="Show the last N messages (10).")
@click.option("--once", is_flag=True, help="One message and its replies, then leave.")
@click.option("--max-turns", type=AT_LEAST_1, metavar="N", help="At most N agent turns per message.")
@click.option("--plain", is_flag=True, help="Append-only lines, each reply once and complete.")
@click.option("--as", "speaker", metavar="NAME", help="Speak for one of your agents.")
@click.option("--timeout", type=SECONDS, metavar="SECS", default=WAIT_SECONDS, help="Seconds to wait (120).")
def chat(session: Session, **options: Any) -> int:
    """Talk with agents, or in a conversation."""
    order = Order(**options)
    if order.conv is None and not order.words:
        raise click.UsageError("say with whom: moot chat AGENT, or moot chat --conv NAME")
    if order.message is not None and order.conv is not None and order.words:
        raise click.UsageError("the text is there twice: as words and with -m")
    text = order.message if order.message is not None else " ".join(order.words) if order.conv else ""
    if text == "-":
        text = standard_input()
    if not text and order.message is None and session.json:
        raise click.UsageError("with --json there is nobody to type: give the text with -m")
    done = asyncio.run(chatting(session, order, text))
    return OK if done is None else told(session, done)


class Order(Struct, frozen=True):
    words: tuple[str, ...]
    conv: str | None
    message: str | None
    last: int
    once: bool
    max_turns: int | None
    plain: bool
    speaker: str | None
    timeout: float


async def chatting(session: Session, order: Order, text: str) -> Outcome | None:
    async with opened_hub(session) as hub:
        voice = hub.acting_as(order.speaker) if order.speaker else hub
        if order.conv:
            where = await meaning.place(hub, order.conv)
        else:
            where = await voice.conversations.implicit(await meaning.agents(hub, order.words))
        if text or order.message is not None:
            said = {"max_turns": order.max_turns}
            return await posted(session, voice, where, text, wait=order.timeout, plain=order.plain, **said)
        await host_the_absent(hub, session)
        await _talk(session, voice, where, order)
        return None


async def _talk(session: Session, hub: Hub, where: shapes.Conversation, order: Order) -> None:
    screen, marks = session.screen, marks_of(where)
    who = "   ".join(screen.name(seat.name, hollow(seat.mark)) for seat in agents_in(where))
    screen.say(f"{title(where)}   {who}")
    for message in await hub.newest(where.id, order.last) if order.last else ():
        reason = await reason_for(hub, message) if is_agent(message) else ""
        screen.say(line(screen, hub, message, marks, reason))
    talk = Talk(hub, where, view_for(session, hub, where, plain=order.plain))
    async with talk.following():
        session.left = "left. What is still open goes on; moot chat shows it."
        await Dialogue(session, talk, max_turns=order.max_turns).run(once=order.once)
        await talk.read()
