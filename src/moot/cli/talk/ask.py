"""`moot ask`: make some agents answer one question, and print the answers."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import click
from msgspec import Struct

from moot.cli.frame import resolve
from moot.cli.frame.hub_access import open_hub
from moot.cli.frame.params import SECONDS, Leaf
from moot.cli.frame.session import Session
from moot.cli.talk.follow import Outcome
from moot.cli.talk.outcome import post_and_wait, report
from moot.cli.terminal.standard_input import message_text
from moot.errors import NotFound
from moot.model.intent import Intent
from moot.model.json import JsonObject
from moot.rules import answer_shape

ASK_SECONDS = 60.0
TEXT = "moot.ask.text"


class AskLeaf(Leaf):
    """Words before `--` are agents, words after it the question."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta[TEXT] = args[at + 1 :]
            args = args[:at]
        return super().parse_args(ctx, args)


@click.command(
    "ask",
    cls=AskLeaf,
    examples=("moot ask arya gendry -- is it ready?", 'moot ask arya -m "which port?" --timeout 20 --json'),
)
@click.argument("names", nargs=-1, metavar="AGENT... -- TEXT")
@click.option("-m", "--message", metavar="TEXT", help="The question; - reads standard input.")
@click.option(
    "--timeout", type=SECONDS, metavar="SECS", default=ASK_SECONDS, help="Seconds to wait (default 60)."
)
@click.option(
    "--choice", "choices", multiple=True, metavar="TEXT", help="An answer to choose from; repeatable."
)
@click.option("--shape", metavar="JSON", help="A JSON Schema that the answer must fit; @FILE reads a file.")
@click.option("--as", "speaker", metavar="NAME", help="Speak as one of your agents.")
@click.option(
    "--plain", is_flag=True, help="Plain lines without redrawing; each reply is printed once, complete."
)
@click.pass_context
def ask(ctx: click.Context, /, names: tuple[str, ...], message: str | None, **options: Any) -> int:
    """Ask agents a question and wait for their answers."""
    words = [message] if message is not None else ctx.meta.get(TEXT)
    is_guessed = words is None and len(names) > 1
    if is_guessed:
        names, words = names[:-1], [names[-1]]
    if not names:
        raise click.UsageError("no agent given; use moot ask AGENT... -- TEXT")
    session: Session = ctx.obj
    question = message_text(session, words or ())
    if not question:
        raise click.UsageError("no text given; use moot ask AGENT... -- TEXT (-m - reads standard input)")
    try:
        return report(session, asyncio.run(asking(session, list(names), question, AskOptions(**options))))
    except NotFound as missing:
        if not is_guessed or len(names) == 1:
            raise
        agent, text = names[0], " ".join((*names[1:], *(words or ())))
        raise NotFound(
            missing.title,
            what="agent",
            detail="without quotes every word but the last is taken for an agent",
            fix=(f"moot ask {agent} -- {text}", f'moot ask {agent} "{text}"'),
            ref="",
        ) from None


class AskOptions(Struct, frozen=True):
    timeout: float
    choices: tuple[str, ...]
    shape: str | None
    speaker: str | None
    plain: bool


async def asking(session: Session, names: list[str], text: str, options: AskOptions) -> Outcome:
    """Ask one agent in your direct conversation; several in a conversation of all, each forced to answer."""
    async with open_hub(session) as hub:
        voice = hub.acting_as(options.speaker) if options.speaker else hub
        names = await resolve.agents(hub, resolve.names_in(names))
        where = await voice.conversations.implicit(names, text=text)
        message: JsonObject = {"correlation_id": f"q{uuid4().hex}"}
        shape = requested_shape(options)
        if shape is not None:
            message |= {"intent": Intent.ASK.value, "shape": shape}
        if where.kind == "group":
            message |= {"force": names, "max_turns": len(set(names))}
        return await post_and_wait(
            session, voice, where, text, wait=options.timeout, plain=options.plain, **message
        )


def requested_shape(options: AskOptions) -> JsonObject | None:
    """The shape that the answer must have, if one was given."""
    if options.choices and options.shape is not None:
        raise click.UsageError("--choice and --shape cannot be combined")
    if options.choices:
        return answer_shape.one_of(options.choices)
    if options.shape is None:
        return None
    text = options.shape
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            raise click.UsageError(f"cannot read the shape from {text[1:]}: {problem}") from None
    return answer_shape.read(text)
