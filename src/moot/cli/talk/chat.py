"""`moot chat`: talk with agents, line by line; with a text, say it, print the replies and leave."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from moot import shapes
from moot.cli.frame import resolve
from moot.cli.frame.exit_codes import OK
from moot.cli.frame.hub_access import host_the_absent, opened_hub
from moot.cli.frame.params import AT_LEAST_0, AT_LEAST_1, SECONDS, leaf
from moot.cli.frame.session import Session
from moot.cli.run.unloadable import tell_broken
from moot.cli.talk.dialogue import Dialogue
from moot.cli.talk.follow import Outcome, Talk, View
from moot.cli.talk.outcome import WAIT_SECONDS, posted, told, view_for
from moot.cli.terminal.phrases import agents_in, is_agent, line, marks_of, reason_for, title
from moot.cli.terminal.screen import hollow
from moot.cli.terminal.standard_input import message_text
from moot.errors import BadValue, HubAbsent
from moot.rules.reasons import REMOVED
from moot.rules.words import slash

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
    """Talk with agents, or in a conversation. What is piped in stands behind the text."""
    order = Order(**options)
    if order.conv is None and not order.agents:
        raise click.UsageError("say with whom: moot chat AGENT, or moot chat --conv NAME")
    if order.message is not None and order.said:
        raise click.UsageError("the text is there twice: as words and with -m")
    said = order.said if order.message is None else (order.message,)
    if not said and session.json:
        raise click.UsageError("with --json there is nobody to type: give the text with -m")
    done = asyncio.run(chatting(session, order, one_shot(session, said) if said else None))
    return OK if done is None else told(session, done)


def one_shot(session: Session, said: tuple[str, ...]) -> slash.Say | slash.Command:
    """A message, with what is piped in behind it, or a command of the chat; what is piped is never a command."""
    waits = said[-1:] if said[-1] == "-" else ()
    typed = slash.parse(" ".join(said[: len(said) - len(waits)]))
    if isinstance(typed, slash.Say):
        return slash.Say(message_text(session, (*([typed.text] if typed.text else []), *waits)))
    if session.json:
        raise BadValue("the commands of a chat answer in lines, not in JSON", fix=("moot help slash",))
    return typed


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

    @property
    def agents(self) -> tuple[str, ...]:
        """With whom: all words, unless a conversation is named, up to a command; no name begins with a slash."""
        return (
            tuple(takewhile(lambda word: not word.startswith("/"), self.words)) if self.conv is None else ()
        )

    @property
    def said(self) -> tuple[str, ...]:
        return self.words[len(self.agents) :]


async def chatting(session: Session, order: Order, typed: slash.Say | slash.Command | None) -> Outcome | None:
    async with AsyncExitStack() as hubs:
        hub = await hubs.enter_async_context(opened_hub(session))
        voice = hub.acting_as(order.speaker) if order.speaker else hub
        if order.conv:
            where = await resolve.place(hub, order.conv)
        else:
            names = await resolve.agents(hub, order.agents)
            where = await voice.conversations.implicit(names)
            await _tell_removed(session, hub, names)
        if isinstance(typed, slash.Say):
            said = {"max_turns": order.max_turns}
            return await posted(
                session, voice, where, typed.text, wait=order.timeout, plain=order.plain, **said
            )
        tell_broken(session, await host_the_absent(hub, session))
        talk = Talk(voice, where, view_for(session, voice, where, plain=order.plain))

        async def reopen() -> tuple[Hub, View]:
            """The hub that runs now, or one of our own."""
            hub = await hubs.enter_async_context(opened_hub(session))
            await host_the_absent(hub, session)
            voice = hub.acting_as(order.speaker) if order.speaker else hub
            return voice, view_for(session, voice, talk.conversation, plain=order.plain)

        dialogue = Dialogue(session, talk, max_turns=order.max_turns, reopen=reopen)
        if typed is None:
            await _show_newest(session, voice, where, order.last)
        async with talk.following():
            session.left = "left. What is still open goes on; moot chat shows it."
            await (dialogue.run(once=order.once) if typed is None else dialogue.command(typed))
            with suppress(HubAbsent):  # it is only unread then
                await talk.read()
        return None


async def _tell_removed(session: Session, hub: Hub, names: list[str]) -> None:
    """Of one alone the receipt tells; among several nobody would notice."""
    for name in names if len(names) > 1 else ():
        if (await hub.agents.get(name)).activity["state"] == "removed":
            again = session.screen.command(f"moot agents new {name}")
            session.screen.note(f"warning[E201] {name} {REMOVED}\n  fix   {again}")


async def _show_newest(session: Session, hub: Hub, where: shapes.Conversation, many: int) -> None:
    screen, marks = session.screen, marks_of(where)
    who = "   ".join(screen.name(seat.name, hollow(seat.mark)) for seat in agents_in(where))
    screen.say(f"{title(where)}   {who}")
    for message in await hub.newest(where.id, many) if many else ():
        reason = await reason_for(hub, message) if is_agent(message) else ""
        screen.say(line(screen, hub, message, marks, reason))
