"""`moot chat`: talk with agents, line by line; with a text, say it, print the replies and leave."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from moot import shapes
from moot.cli.frame import resolve
from moot.cli.frame.exit_codes import OK
from moot.cli.frame.hub_access import host_the_absent, open_hub, with_hub, with_reading
from moot.cli.frame.params import AT_LEAST_0, AT_LEAST_1, SECONDS, leaf
from moot.cli.frame.session import Session
from moot.cli.run.unloadable import tell_broken
from moot.cli.talk.dialogue import Dialogue
from moot.cli.talk.follow import FollowedConversation, Outcome, TalkView
from moot.cli.talk.outcome import WAIT_SECONDS, chips, post_and_wait, report, view_for
from moot.cli.terminal.phrases import agents_in, is_agent, line, marks_of, reason_for, title
from moot.cli.terminal.screen import hollow
from moot.cli.terminal.standard_input import message_text
from moot.cli.tui import launch
from moot.errors import BadValue, HubAbsent, NotFound
from moot.model.entrance import DoorName
from moot.rules.reasons import REMOVED
from moot.rules.words import slash

if TYPE_CHECKING:
    from moot.hub import Hub

DEFAULT_MESSAGES = 10
LEFT = "left the chat. Agents still at work continue; moot chat shows their replies."


@leaf(
    "chat",
    examples=("moot chat arya", "moot chat arya gendry", 'moot chat --conv build "hey @arya"'),
)
@click.argument("words", nargs=-1, metavar="[AGENT]... | --conv NAME [TEXT]")
@click.option("--conv", metavar="NAME", help="Chat in this conversation; words after it are the message.")
@click.option(
    "-m", "--message", metavar="TEXT", help="Send this, print the replies and exit; - reads standard input."
)
@click.option(
    "--last",
    type=AT_LEAST_0,
    default=DEFAULT_MESSAGES,
    metavar="N",
    help="Show the last N messages (default 10).",
)
@click.option("--once", is_flag=True, help="Send one message, print its replies and exit.")
@click.option("--max-turns", type=AT_LEAST_1, metavar="N", help="Maximum number of agent turns per message.")
@click.option(
    "--plain", is_flag=True, help="Plain lines without redrawing; each reply is printed once, complete."
)
@click.option("--as", "speaker", metavar="NAME", help="Speak as one of your agents.")
@click.option(
    "--timeout", type=SECONDS, metavar="SECS", default=WAIT_SECONDS, help="Seconds to wait (default 120)."
)
def chat(session: Session, **options: Any) -> int:
    """Chat with agents, or in a conversation. Piped input is appended to the text."""
    chat_options = ChatOptions(**options)
    if chat_options.conv is None and not chat_options.agents:
        raise with_whom([agent.name for agent in with_reading(session, lambda hub: hub.agents.list())])
    if chat_options.message is not None and chat_options.text_words:
        raise click.UsageError("the text is given twice: as words and with -m")
    if chat_options.plain:
        session.screen.only_append()
    text = chat_options.text_words if chat_options.message is None else (chat_options.message,)
    if not text and session.json:
        raise click.UsageError("--json cannot be interactive: give the text with -m")
    outcome = asyncio.run(chatting(session, chat_options, one_shot(session, text) if text else None))
    return OK if outcome is None else report(session, outcome)


def open_newest(session: Session, name: str) -> None:
    """Chat in a conversation, by default the one with the newest message; the others are one key away."""
    if session.json:
        raise click.UsageError("--json cannot be interactive")
    name = name or with_hub(session, _newest_place)
    options = ChatOptions((), name, None, DEFAULT_MESSAGES, False, None, False, None, WAIT_SECONDS)
    asyncio.run(chatting(session, options, None))


async def _newest_place(hub: Hub) -> str:
    mine = [
        place
        for place in await hub.conversations.list()
        if hub.name in {seat.name for seat in place.participants}
    ]
    if not mine:
        raise NotFound(
            "there is no conversation to open yet", fix=("moot chat AGENT", "moot conv new NAME --with AGENT")
        )
    return max(mine, key=lambda place: place.updated_at or "").id


def one_shot(session: Session, words: tuple[str, ...]) -> slash.Say | slash.Command:
    """A message, with piped input after it, or a chat command; piped input is never a command."""
    waits = words[-1:] if words[-1] == "-" else ()
    typed = slash.parse(" ".join(words[: len(words) - len(waits)]))
    if isinstance(typed, slash.Say):
        return slash.Say(message_text(session, (*([typed.text] if typed.text else []), *waits)))
    if session.json:
        raise BadValue("slash commands have no JSON output", fix=("moot help slash",))
    return typed


def with_whom(names: list[str]) -> BadValue:
    """The error when no agent is named, with the agents there are."""
    if not names:
        return BadValue("no agent given, and there are none yet", fix=("moot init", "moot demo"))
    ways = (f"moot chat {names[0]}", "moot chat --conv NAME")
    return BadValue("no agent given", detail=f"agents here: {', '.join(names)}", fix=ways)


class ChatOptions(Struct, frozen=True):
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
        """The agents: all words up to a slash command, unless a conversation is named."""
        return (
            tuple(takewhile(lambda word: not word.startswith("/"), self.words)) if self.conv is None else ()
        )

    @property
    def text_words(self) -> tuple[str, ...]:
        return self.words[len(self.agents) :]


async def chatting(
    session: Session, options: ChatOptions, typed: slash.Say | slash.Command | None
) -> Outcome | None:
    is_full = typed is None and not options.once and launch.why_not(session, plain=options.plain) is None
    door = DoorName.TUI if is_full else DoorName.CLI
    async with AsyncExitStack() as hubs:
        hub = await hubs.enter_async_context(open_hub(session, door=door))
        voice = hub.acting_as(options.speaker) if options.speaker else hub
        if options.conv:
            where = await resolve.place(hub, options.conv, may_be_made=True)
        else:
            typed_names = resolve.names_in(options.agents)
            names = await resolve.agents(hub, typed_names)
            for line_ in resolve.prefix_notes(typed_names, names):
                session.screen.note(line_)
            text = typed.text if isinstance(typed, slash.Say) else None
            where = await voice.conversations.implicit(names, text=text)
            await _warn_of_removed(session, hub, names)
        if isinstance(typed, slash.Say):
            limits = {"max_turns": options.max_turns}
            return await post_and_wait(
                session, voice, where, typed.text, wait=options.timeout, plain=options.plain, **limits
            )
        tell_broken(session, await host_the_absent(hub, session))

        async def reconnect() -> Hub:
            """The hub that runs now, or one in this process."""
            hub = await hubs.enter_async_context(open_hub(session, door=door))
            await host_the_absent(hub, session)
            return hub.acting_as(options.speaker) if options.speaker else hub

        if typed is None and await _full_screen(session, voice, where, options, reconnect):
            return None
        talk = FollowedConversation(voice, where, view_for(session, voice, where, plain=options.plain))

        async def reopen() -> tuple[Hub, TalkView]:
            voice = await reconnect()
            return voice, view_for(session, voice, talk.conversation, plain=options.plain)

        dialogue = Dialogue(session, talk, max_turns=options.max_turns, reopen=reopen)
        if typed is None:
            await _show_newest(session, voice, where, options.last)
        async with talk.following():
            session.left = LEFT
            try:
                await (dialogue.run(once=options.once) if typed is None else dialogue.command(typed))
            finally:  # also after Ctrl+C: what was shown counts as read
                with suppress(HubAbsent):  # without a hub the messages stay unread
                    await talk.read()
        return None


async def _full_screen(
    session: Session,
    voice: Hub,
    where: shapes.Conversation,
    options: ChatOptions,
    reopen: Callable[[], Awaitable[Hub]],
) -> bool:
    """Chat until the person leaves; False if the chat cannot have the whole terminal."""
    reason = "" if options.once else launch.why_not(session, plain=options.plain)
    if reason is not None:
        if reason:
            session.screen.note(reason)
        return False
    from moot.cli.tui.chat_room import ChatPlan  # noqa: PLC0415  heavy

    plan = ChatPlan(
        look=launch.look(session), chips=chips(voice), many=options.last, max_turns=options.max_turns
    )
    session.left = LEFT
    if await launch.run(session, voice, where, plan, reopen):
        raise click.Abort
    return True


async def _warn_of_removed(session: Session, hub: Hub, names: list[str]) -> None:
    """Warn of removed agents among several; for a single one the receipt says it."""
    for name in names if len(names) > 1 else ():
        if (await hub.agents.get(name)).activity["state"] == "removed":
            again = session.screen.command(f"moot agents new {name}")
            session.screen.note(f"warning[E201] {name} {REMOVED}\n  fix   {again}")


async def _show_newest(session: Session, hub: Hub, where: shapes.Conversation, many: int) -> None:
    screen, marks = session.screen, marks_of(where)
    members = "   ".join(screen.name(seat.name, hollow(seat.mark)) for seat in agents_in(where))
    screen.say(f"{title(where)}   {members}")
    for message in await hub.newest(where.id, many) if many else ():
        reason = await reason_for(hub, message) if is_agent(message) else ""
        screen.say(line(screen, hub, message, marks, reason))
