"""`moot send`: one message, its receipt, and the reply if one waits for it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import click
from msgspec import Struct, convert

from moot import shapes
from moot.cli.frame import resolve
from moot.cli.frame.exit_codes import OUTCOMES
from moot.cli.frame.hub_access import home_of, host_the_absent, open_hub
from moot.cli.frame.params import AT_LEAST_1, SECONDS, Leaf
from moot.cli.frame.session import Session
from moot.cli.read.why import address
from moot.cli.run.unloadable import tell_broken
from moot.cli.talk.follow import FollowedConversation, Outcome
from moot.cli.talk.no_wait import SENDING_INTERRUPTED
from moot.cli.talk.outcome import (
    NOT_SENT,
    WAIT_SECONDS,
    post_and_wait,
    report,
    report_at_once,
    report_stored_if_hub_goes,
    stored_words,
    view_for,
)
from moot.cli.terminal.phrases import is_agent
from moot.cli.terminal.standard_input import message_text
from moot.client import RemoteHub
from moot.errors import Braked, HubAbsent, NotFound, NotPermitted, RateLimited
from moot.model.answer import Receipt
from moot.model.intent import INTENTS
from moot.model.json import JsonObject

if TYPE_CHECKING:
    from moot.cli.talk.no_wait import StoredPost
    from moot.hub import Hub

REQUIRED = ("queued", "delivered", "answered")


class SendLeaf(Leaf):
    """Takes `--wait` alone or `--wait=SECS`; a word after it is not its value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        ours = [f"--wait={WAIT_SECONDS:g}" if word == "--wait" else word for word in args[:end]]
        return super().parse_args(ctx, [*ours, *args[end:]])


@click.command(
    "send",
    cls=SendLeaf,
    examples=(
        'moot send arya "what changed?"',
        'moot send --conv build "@arya and @gendry, ready?"',
        'moot send --all "we ship at noon"',
    ),
)
@click.argument("words", nargs=-1, metavar="AGENT TEXT | --conv ID TEXT | --all TEXT")
@click.option("--conv", metavar="ID", help="Send to this conversation; all words are then the message.")
@click.option(
    "--all", "everyone", is_flag=True, help="Send to every agent, each in its own conversation with you."
)
@click.option("-m", "--message", metavar="TEXT", help="The text; - reads standard input.")
@click.option("--file", metavar="PATH", help="Read the text from a file; appended to TEXT if both are given.")
@click.option("--reply-to", metavar="MSG", help="The message this replies to, such as build:12.")
@click.option("--intent", type=click.Choice(INTENTS), help="What the message is meant as.")
@click.option("--no-wait", is_flag=True, help="Return as soon as the message is stored.")
@click.option(
    "--wait",
    type=SECONDS,
    metavar="[SECS]",
    help="Seconds to wait for the reply (default 120); waiting is the default.",
)
@click.option("--timeout", type=SECONDS, metavar="SECS", help="Seconds to wait (default 120).")
@click.option(
    "--require",
    type=click.Choice(REQUIRED),
    default="queued",
    help="Exit with 8 unless the message got this far.",
)
@click.option(
    "--interrupt", is_flag=True, help="Interrupt whoever is speaking there; this message goes first."
)
@click.option(
    "--max-turns", type=AT_LEAST_1, metavar="N", help="Maximum number of agent turns for this message."
)
@click.option("--as", "speaker", metavar="NAME", help="Speak as one of your agents.")
@click.option(
    "--plain", is_flag=True, help="Plain lines without redrawing; each reply is printed once, complete."
)
@click.option("--idempotency-key", metavar="K", help="Sending again with the same key stores nothing twice.")
@click.pass_obj
def send(session: Session, /, **options: Any) -> int:
    """Send one message and wait for the reply. Piped input is appended to the text; `-` waits for it."""
    send_options = SendOptions(**options)
    send_options.check()
    session.left = NOT_SENT
    agent, text = agent_and_text(session, send_options)
    if send_options.everyone:
        return asyncio.run(broadcasting(session, send_options, text))
    if session.posted is not None:
        return report(
            session, asyncio.run(explaining(session, send_options, session.posted)), send_options.require
        )
    return report(session, asyncio.run(sending(session, send_options, agent, text)), send_options.require)


class SendOptions(Struct, frozen=True):
    words: tuple[str, ...]
    conv: str | None
    everyone: bool
    message: str | None
    file: str | None
    reply_to: str | None
    intent: str | None
    no_wait: bool
    wait: float | None
    timeout: float | None
    require: str
    interrupt: bool
    max_turns: int | None
    speaker: str | None
    plain: bool
    idempotency_key: str | None

    @property
    def patience(self) -> float | None:
        """Seconds to wait; None for not waiting."""
        if self.no_wait:
            return None
        seconds = self.timeout if self.timeout is not None else self.wait
        return WAIT_SECONDS if seconds is None else seconds

    @property
    def to_a_place(self) -> bool:
        """Whether all words are the message."""
        return self.everyone or self.conv is not None or self.reply_to is not None

    def check(self) -> None:
        if self.no_wait and (self.wait is not None or self.timeout is not None):
            raise click.UsageError("--no-wait cannot be combined with --wait or --timeout")
        if self.no_wait and self.require != "queued":
            raise click.UsageError(f"--require {self.require} has to wait: leave out --no-wait")
        if self.everyone and (self.conv is not None or self.reply_to is not None):
            raise click.UsageError("--all sends to every agent: leave out --conv and --reply-to")
        if self.everyone and (
            self.idempotency_key is not None or self.interrupt or self.max_turns or self.intent
        ):
            raise click.UsageError(
                "--all cannot be combined with --idempotency-key, --intent, --interrupt or --max-turns"
            )


def agent_and_text(session: Session, options: SendOptions) -> tuple[str, str]:
    """The agent and the text: the first word is the agent, unless an option says where to send."""
    agent, rest = (
        ("", options.words) if options.to_a_place else ((options.words or ("",))[0], options.words[1:])
    )
    if not agent and not options.to_a_place:
        raise click.UsageError("no agent given; use moot send AGENT TEXT, or moot send --conv ID TEXT")
    if options.message is not None and rest:
        raise click.UsageError("the text is given twice: as words and with -m")
    words = rest if options.message is None else (options.message,)
    text = message_text(session, words, options.file)
    if not text and not words and options.file is None:
        raise click.UsageError("no text given (- reads it from standard input)")
    return agent, text


async def sending(session: Session, options: SendOptions, agent: str, text: str) -> Outcome:
    async with open_hub(session) as hub:
        voice = hub.acting_as(options.speaker) if options.speaker else hub
        key = options.idempotency_key
        message: JsonObject = {"interrupt": options.interrupt, "idempotency_key": key}
        message |= {"max_turns": options.max_turns, "intent": options.intent}
        message["correlation_id"] = f"q{key or uuid4().hex}"
        typed, agent = agent, await resolve.agent(hub, agent) if agent else ""
        for line in resolve.prefix_notes([typed], [agent]):
            session.screen.note(line)
        if options.reply_to is not None:
            message["reply_to"] = await address(hub, options.reply_to, options.conv)
        conv = options.conv or str(message.get("reply_to", "")).rpartition(":")[0]
        if conv:
            where = await resolve.place(hub, conv, may_be_made=True)
        elif options.speaker and options.speaker != hub.name:
            if options.max_turns:
                raise click.UsageError(
                    "--max-turns cannot be combined with --as and an agent: it holds in groups, and "
                    "between two agents limits.chain_turns bounds the chain"
                )
            draft = {"text": text, "intent": options.intent}  # between agents the link's rules apply
            where = await voice.conversations.implicit([agent], **draft)
        else:
            where, message["ref"] = await one_shot(voice, agent, text, options)
        outcome = await post_and_wait(
            session, voice, where, text, wait=options.patience, plain=options.plain, **message
        )
        with suppress(HubAbsent):  # the answer is there; a conversation left open does no harm
            await put_away(voice, outcome)
        return outcome


async def explaining(session: Session, options: SendOptions, post_and_wait: StoredPost) -> Outcome:
    """The outcome of a message that no_wait.py has posted."""
    where, receipt = (
        convert(post_and_wait.conversation, shapes.Conversation),
        convert(post_and_wait.receipt, Receipt),
    )
    with report_stored_if_hub_goes(*stored_words(where, receipt), message=receipt.id):
        hub = await RemoteHub.find(home_of(session), door="cli")
        if hub is None:
            raise HubAbsent("the hub has stopped", fix=("moot up",))
    try:
        voice = cast("Hub", hub.acting_as(options.speaker) if options.speaker else hub)
        view = view_for(session, voice, where, plain=options.plain)
        outcome = await report_at_once(session, FollowedConversation(voice, where, view), receipt)
        with suppress(HubAbsent):
            await put_away(voice, outcome)
        return outcome
    finally:
        await hub.close()


async def one_shot(hub: Hub, agent: str, text: str, options: SendOptions) -> tuple[shapes.Conversation, str]:
    """The conversation for this one message, and its reference. A repeated key finds the first one."""
    intent, key = options.intent, options.idempotency_key
    if key is None:
        conversation = await hub.conversations.ephemeral(agent, text=text, intent=intent)
        return conversation, conversation.id
    own = f"send:{(await hub.agents.get(agent)).id}:{key}"
    ref = f"ephemeral:{(await hub.agents.get(hub.name)).id}:{own}"
    try:
        before = await hub.post(ref, text, idempotency_key=key)
    except NotFound:
        return await hub.conversations.ephemeral(agent, own, text=text, intent=intent), ref
    return await hub.conversations.get(before.conversation), ref


async def put_away(hub: Hub, outcome: Outcome) -> None:
    """Archive the conversation of one message once nothing in it is open. Without waiting it stays."""
    where = await hub.conversations.get(outcome.receipt.conversation)
    is_over = outcome.outcome in ("replied", "passed", "failed")
    if (
        where.kind == "ephemeral"
        and not where.archived
        and is_over
        and not await is_still_open(hub, where.id)
    ):
        await hub.conversations.archive(where.id)


async def is_still_open(hub: Hub, conversation: str) -> bool:
    owed = await hub.turns(conversation=conversation, state="owed")
    return bool(owed or await hub.inspector.unsettled(conversation))


# --- to everybody ------------------------------------------------------------------------------------------


async def broadcasting(session: Session, options: SendOptions, text: str) -> int:
    """One message per agent in the pair's own conversation, under its own limit; then all replies."""
    async with open_hub(session) as hub, AsyncExitStack() as stack:
        voice = hub.acting_as(options.speaker) if options.speaker else hub
        talks: dict[str, FollowedConversation] = {}
        if options.patience is not None:
            tell_broken(session, await host_the_absent(hub, session))
            for agent in await hub.agents.list():
                pair = await _pair(voice, agent.name, text) if agent.name != voice.name else None
                if pair is not None:
                    talk = FollowedConversation(voice, pair, view_for(session, voice, pair, together=True))
                    talk.shows_own = False
                    talks[agent.name] = await stack.enter_async_context(talk.following())
        before = {name: talk.last for name, talk in talks.items()}
        session.left = SENDING_INTERRUPTED
        result = await voice.broadcast(text)
        session.left = "stopped waiting. The messages stay queued; agents answer when they can."
        with report_stored_if_hub_goes("the messages are kept", "moot tail"):
            reached = [talks[name] for name in result["delivered_to"] if name in talks]
            settled = await asyncio.gather(*(talk.wait(options.patience or 0) for talk in reached))
            replies = [
                message
                for talk in reached
                for message in await voice.messages(talk.conversation.id, after=_before(before, talks, talk))
                if is_agent(message) and message.sender != voice.name
            ]
            await asyncio.gather(*(talk.read() for talk in reached))
            states = [row.state for talk in reached for row in await _parts(voice, talk)]
            outcome = _word(result, replies, settled, states, has_waited=options.patience is not None)
            return _tell(session, {**result, "replies": [r.to_dict() for r in replies], "outcome": outcome})


async def _pair(voice: Hub, agent: str, text: str) -> shapes.Conversation | None:
    """The conversation of the answer; None if the message will not reach the agent, which the broadcast reports."""
    with suppress(NotPermitted, RateLimited, Braked):
        return await voice.conversations.implicit([agent], text=text)
    return None


def _before(
    before: dict[str, int], talks: dict[str, FollowedConversation], talk: FollowedConversation
) -> int:
    return next(before[name] for name, each in talks.items() if each is talk)


async def _parts(voice: Hub, talk: FollowedConversation) -> tuple[shapes.Because, ...]:
    """The agent's part in the message just sent to it."""
    own = [m for m in await voice.newest(talk.conversation.id) if m.sender == voice.name]
    return (await voice.why(own[-1].id)).agents if own else ()


def _word(
    result: JsonObject,
    replies: list[shapes.Message],
    settled: list[bool],
    states: list[str],
    *,
    has_waited: bool,
) -> str:
    if not result["delivered_to"]:
        return "failed"
    if not has_waited:
        return "queued"
    if not all(settled):
        return "timed_out"
    if replies:
        return "replied"
    return next((state for state in ("owed", "passed") if state in states), "failed")


def _tell(session: Session, result: JsonObject) -> int:
    screen = session.screen
    if session.json:
        screen.data(result)
    else:
        screen.note(
            f"sent to {', '.join(result['delivered_to']) or 'nobody'}: {result['outcome'].replace('_', ' ')}"
        )
        for failure in result["failed"]:
            screen.note(f"not sent to {failure['agent']}: {failure['error']}")
    return OUTCOMES[result["outcome"]]
