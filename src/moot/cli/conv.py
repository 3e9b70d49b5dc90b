"""`moot conv`: make, find and change conversations."""

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import click

from moot import shapes
from moot.cli.grammar import Branch
from moot.cli.opening import with_hub
from moot.cli.session import Session
from moot.cli.words import agents_in, is_agent, line, marks_of, reason_for, title
from moot.errors import BadValue
from moot.hub import Hub

SHOWN = 50
KINDS = ("direct", "group", "link", "task", "ephemeral")
STRATEGIES = ("hybrid", "mention_only", "round_robin")


@click.group(
    "conv",
    cls=Branch,
    examples=("moot conv new build --with arya,gendry", "moot conv show build"),
    short_help="Make, find and change conversations.",
)
def conv() -> None:
    """Make, find and change conversations."""


@conv.command(
    "new", examples=("moot conv new build --with arya,gendry", "moot conv new ask --with arya --json")
)
@click.argument("name")
@click.option("--with", "members", metavar="A,B", default="", help="Who takes part, besides you.")
@click.option("--strategy", type=click.Choice(STRATEGIES), help="Who answers (hybrid).")
@click.pass_obj
def new(session: Session, name: str, members: str, strategy: str | None) -> None:
    """Make a group conversation."""
    names = [member.strip().lstrip("@") for member in members.split(",") if member.strip()]
    settings = {"reply_strategy": strategy} if strategy else {}

    async def work(hub: Hub) -> shapes.Conversation:
        return await hub.conversations.create(name, participants=names, settings=settings)

    _tell(session, with_hub(session, work), "made")


@conv.command("list", examples=("moot conv list", "moot conv list --archived --json"))
@click.option("--archived", is_flag=True, help="The archived ones.")
@click.option("--kind", type=click.Choice(KINDS), help="Only this kind.")
@click.pass_obj
def list_(session: Session, archived: bool, kind: str | None) -> None:
    """All conversations."""

    async def work(hub: Hub) -> list[shapes.Conversation]:
        return await hub.conversations.list(archived=archived, kind=kind)

    found = with_hub(session, work)
    if session.json:
        session.screen.data([conversation.to_dict() for conversation in found])
    elif not found:
        session.screen.note("none. Make one: moot conv new NAME --with AGENT,AGENT")
    else:
        rows = [(title(c), c.kind, c.id, ", ".join(s.name for s in agents_in(c))) for c in found]
        session.screen.table(("name", "kind", "id", "agents"), rows)


@conv.command("show", examples=("moot conv show build", "moot conv show build --json"))
@click.argument("ref", metavar="ID")
@click.pass_obj
def show(session: Session, ref: str) -> None:
    """A conversation with its newest messages."""

    async def work(hub: Hub) -> None:
        found = await hub.conversations.get(ref)
        messages = await hub.newest(found.id, SHOWN)
        if session.json:
            session.screen.data({**found.to_dict(), "messages": [message.to_dict() for message in messages]})
            return
        screen, marks = session.screen, marks_of(found)
        who = "   ".join(screen.name(seat.name, seat.mark) for seat in agents_in(found))
        screen.say(f"{title(found)}   {who}{'   archived' if found.archived else ''}")
        for message in messages:
            reason = await reason_for(hub, message) if is_agent(message) else ""
            screen.say(line(screen, hub, message, marks, reason))

    with_hub(session, work)


def _tell(session: Session, conversation: shapes.Conversation, done: str) -> None:
    if session.json:
        session.screen.data(conversation.to_dict())
    else:
        members = ", ".join(seat.name for seat in conversation.participants)
        session.screen.say(f"{done} {title(conversation)} ({conversation.id}) with {members}")


def _verb(
    name: str, help: str, done: str, *more: str
) -> Callable[[Callable[..., Awaitable[shapes.Conversation]]], click.Command]:
    """A verb that changes one conversation and shows it afterwards."""

    def decorate(work: Callable[..., Awaitable[shapes.Conversation]]) -> click.Command:
        def command(session: Session, /, ref: str, **words: str) -> None:
            _tell(session, with_hub(session, lambda hub: work(hub, ref, **words)), done)

        example = " ".join(["moot conv", name, "build", *(word.lower() for word in more)])
        made = click.pass_obj(command)
        for word in reversed(more):
            made = click.argument(word.lower(), metavar=word)(made)
        made = click.argument("ref", metavar="ID")(made)
        return conv.command(name, help=help, examples=(example, f"{example} --json"))(made)

    return decorate


@_verb("join", "Bring somebody in.", "joined", "NAME")
async def join(hub: Hub, ref: str, name: str) -> shapes.Conversation:
    return await hub.conversations.join(ref, name)


@_verb("leave", "Take somebody out.", "left", "NAME")
async def leave(hub: Hub, ref: str, name: str) -> shapes.Conversation:
    await hub.conversations.leave(ref, name)
    return await hub.conversations.get(ref)


@_verb("rename", "Give it another name.", "renamed", "NEW")
async def rename(hub: Hub, ref: str, new: str) -> shapes.Conversation:
    return await hub.conversations.rename(ref, new)


@_verb("archive", "Close it; it stays readable.", "archived")
async def archive(hub: Hub, ref: str) -> shapes.Conversation:
    found = await hub.conversations.get(ref)
    await hub.conversations.archive(found.id)
    return await hub.conversations.get(found.id)


@_verb("unarchive", "Bring it back.", "brought back")
async def unarchive(hub: Hub, ref: str) -> shapes.Conversation:
    closed = await hub.conversations.list(archived=True)
    named = [c.id for c in closed if ref in (c.name, c.id)]
    found = named[-1] if named else (await hub.conversations.get(ref)).id
    await hub.conversations.unarchive(found)
    return await hub.conversations.get(found)


@conv.command("delete", examples=("moot conv delete build", "moot conv delete build --yes"))
@click.argument("ref", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def delete(session: Session, ref: str, yes: bool) -> None:
    """Erase it with everything said in it."""
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("deleting asks first, and nobody is there to answer: add --yes")

    async def work(hub: Hub) -> str:
        found = await hub.conversations.get(ref)
        if not yes:
            click.confirm(f"Erase {title(found)} and everything said in it?", abort=True, err=True)
        await hub.conversations.delete(found.id)
        return found.id

    gone = with_hub(session, work)
    if session.json:
        session.screen.data({"deleted": gone})
    else:
        session.screen.say(f"deleted {gone}")


@conv.command("continue", examples=("moot conv continue build", "moot conv continue build --json"))
@click.argument("ref", metavar="ID")
@click.pass_obj
def go_on(session: Session, ref: str) -> None:
    """Let a stopped round or chain go on."""

    async def work(hub: Hub) -> bool:
        return await hub.conversations.resume(ref)

    moved = with_hub(session, work)
    if session.json:
        session.screen.data({"continued": moved})
    else:
        session.screen.say("it goes on" if moved else "nothing was stopped here")


@conv.command("config", examples=("moot conv config build", "moot conv config build max_depth 4"))
@click.argument("ref", metavar="ID")
@click.argument("key", required=False)
@click.argument("value", required=False)
@click.pass_obj
def config(session: Session, ref: str, key: str | None, value: str | None) -> None:
    """Show the settings of a conversation, or set one."""

    async def work(hub: Hub) -> shapes.Conversation:
        found = await hub.conversations.get(ref)
        if key is not None and key not in found.settings:
            raise BadValue(f'"{key}" is no setting', detail=f"settings are {', '.join(found.settings)}")
        return (
            found
            if key is None or value is None
            else await hub.conversations.configure(ref, **{key: _value(value)})
        )

    settings = with_hub(session, work).settings
    chosen = settings if key is None else {key: settings[key]}
    if session.json:
        session.screen.data(chosen)
    else:
        for name, held in chosen.items():
            session.screen.say(f"{name} = {json.dumps(held)}")


def _value(text: str) -> Any:
    """Numbers and true/false as such, everything else as text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
