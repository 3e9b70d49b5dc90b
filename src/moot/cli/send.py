"""`moot send`: one message, its receipt, and the reply if one waits for it."""

import asyncio
import sys
from typing import Any

import click
from msgspec import Struct

from moot import shapes
from moot.cli.exits import OUTCOMES
from moot.cli.grammar import leaf
from moot.cli.opening import host_the_absent, opened_hub
from moot.cli.session import Session
from moot.cli.talk import Outcome, Talk, View
from moot.cli.views import Plain, Silent, Streaming
from moot.cli.words import agents_in, marks_of
from moot.errors import BadText
from moot.hub import Hub
from moot.rules.mentions import parse

WAIT_SECONDS = 120.0


@leaf(
    "send", examples=('moot send arya "what changed?"', 'moot send --conv build "@arya and @gendry, ready?"')
)
@click.argument("words", nargs=-1, metavar="AGENT TEXT | --conv ID TEXT")
@click.option("--conv", metavar="ID", help="Say it in this conversation; all words are then the message.")
@click.option("--no-wait", is_flag=True, help="Return as soon as it is stored.")
@click.option("--timeout", type=click.FloatRange(min=0), default=WAIT_SECONDS, help="Seconds to wait (120).")
@click.option("--interrupt", is_flag=True, help="Stop whoever speaks there now; this comes first.")
@click.option("--as", "speaker", metavar="NAME", help="Speak for one of your agents.")
@click.option("--idempotency-key", metavar="K", help="The same key again stores nothing twice.")
def send(session: Session, **options: Any) -> int:
    """Send one message and wait for the reply. The text `-` is read from standard input."""
    order = Order(**options)
    agent, text = addressed(order.words, order.conv)
    return told(session, asyncio.run(sending(session, order, agent, text)))


class Order(Struct, frozen=True):
    words: tuple[str, ...]
    conv: str | None
    no_wait: bool
    timeout: float
    interrupt: bool
    speaker: str | None
    idempotency_key: str | None


def addressed(words: tuple[str, ...], conv: str | None) -> tuple[str, str]:
    """To whom and what: without --conv the first word is the agent."""
    agent, rest = ("", words) if conv is not None else ((words or ("",))[0], words[1:])
    if conv is None and not agent:
        raise click.UsageError("say to whom: moot send AGENT TEXT, or moot send --conv ID TEXT")
    if not rest:
        raise click.UsageError("say what: the text is missing (- reads it from standard input)")
    return agent, standard_input() if rest == ("-",) else " ".join(rest)


def standard_input() -> str:
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadText(
            "the text cannot be stored: it is not valid UTF-8",
            detail=f"byte 0x{data[error.start]:02x} at {error.start} of standard input does not belong there",
            fix=("iconv -t utf-8 FILE | moot send …",),
            problem="utf8",
        ) from None


async def sending(session: Session, order: Order, agent: str, text: str) -> Outcome:
    async with opened_hub(session) as hub:
        voice = hub.acting_as(order.speaker) if order.speaker else hub
        where = await (
            hub.conversations.get(order.conv) if order.conv else voice.conversations.implicit([agent])
        )
        wait = None if order.no_wait else order.timeout
        said: dict[str, Any] = {"key": order.idempotency_key, "interrupt": order.interrupt}
        return await posted(session, voice, where, text, wait=wait, **said)


async def posted(
    session: Session,
    hub: Hub,
    where: shapes.Conversation,
    text: str,
    *,
    wait: float | None,
    plain: bool = False,
    **options: Any,
) -> Outcome:
    """Post, host whoever is concerned and has no host, and wait for what comes of it."""
    talk = Talk(hub, where, view_for(session, hub, where, plain=plain))
    if wait is not None:
        await host_the_absent(hub, session, {*(seat.name for seat in agents_in(where)), *parse(text)})
    async with talk.following():
        receipt = await talk.post(text, **options)
        session.left = (
            f"stopped waiting. The message stays queued as {receipt.id}; agents answer when they can."
        )
        for warning in receipt.warnings:
            session.screen.note(f"warning[{warning.code}] {warning.message}")
        if wait is None:
            why = await hub.why(receipt.id)
            return Outcome(receipt, (), "queued", why, why)
        return await talk.outcome(receipt, await talk.wait(wait))


def view_for(session: Session, hub: Hub, where: shapes.Conversation, *, plain: bool = False) -> View:
    screen = session.screen
    if session.json:
        return Silent()
    if session.is_terminal and not screen.plain and not plain:
        return Streaming(screen, hub, marks_of(where), chips(hub))
    return Plain(screen, hub, marks_of(where))


def chips(hub: Hub) -> dict[str, str]:
    """Which agents have a demo brain: said in the header while they still speak."""
    return {row.name: "demo" for row in hub.settings.agents if row.brain == "demo"}


def told(session: Session, done: Outcome) -> int:
    """Say what came of it, and give the exit code."""
    if session.json:
        session.screen.data(done.to_dict())
    else:
        tell(session, done)
    return OUTCOMES[done.outcome]


def tell(session: Session, done: Outcome) -> None:
    screen = session.screen
    away = [row.agent for row in done.why.agents if row.state == "owed"]
    match done.outcome:
        case "queued":
            screen.say(f"queued as {done.receipt.id}")
        case "owed":
            screen.say(
                f"queued as {done.receipt.id}: {', '.join(away)} is away and will answer when it is back"
            )
        case "passed":
            silent = [row.agent for row in done.why.agents if row.state == "passed"]
            screen.note(f"{', '.join(silent)} read it and chose to say nothing")
        case "timed_out":
            screen.note(f"no answer in time. The message stays queued as {done.receipt.id}.")
        case "failed":
            screen.note(f"no answer: moot why {done.receipt.id} says what went wrong")
        case _:
            pass
