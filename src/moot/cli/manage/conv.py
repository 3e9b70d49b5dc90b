"""`moot conv`: make, find and change conversations."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import click

from moot import shapes
from moot.cli.frame import resolve
from moot.cli.frame.confirm import ask_first
from moot.cli.frame.exit_codes import OK
from moot.cli.frame.hub_access import home_of, host_the_absent, open_hub, with_hub, with_reading
from moot.cli.frame.params import SECONDS, Branch
from moot.cli.frame.session import Session
from moot.cli.run.unloadable import tell_broken, with_load_errors
from moot.cli.talk.follow import FollowedConversation
from moot.cli.talk.outcome import WAIT_SECONDS, report, view_for
from moot.cli.terminal.phrases import agents_in, is_agent, line, marks_of, reason_for, title
from moot.cli.terminal.screen import Screen, hollow
from moot.hub.commands.slash import At, CommandOutcome, carry_out, check_setting, configure
from moot.hub.process.hub_lock import running_hub
from moot.model.json import JsonObject
from moot.rules.words import slash

if TYPE_CHECKING:
    from moot.hub import Hub

MAX_MESSAGES = 50
KINDS = ("direct", "group", "link", "task", "ephemeral")
STRATEGIES = ("hybrid", "mention_only", "round_robin")
WORDS: dict[str, tuple[str, tuple[str, ...], JsonObject]] = {
    "": ("", (), {}),
    "NEW": ("new", ("built",), {}),
    "[NAME]": ("name", ("arya",), {"required": False}),
    "AGENT...": ("agents", ("arya",), {"nargs": -1, "required": True}),
}


@click.group(
    "conv",
    cls=Branch,
    examples=("moot conv new build --with arya,gendry", "moot conv show build"),
    short_help="Create, list and change conversations.",
    aliases={"restore": "unarchive", "create": "new", "rm": "delete", "resume": "continue"},
)
def conv() -> None:
    """Create, list and change conversations."""


@conv.command(
    "new", examples=("moot conv new build --with arya,gendry", "moot conv new ask --with arya --json")
)
@click.argument("name")
@click.option("--with", "members", metavar="A,B", default="", help="Participants besides you.")
@click.option("--strategy", type=click.Choice(STRATEGIES), help="Who answers (default hybrid).")
@click.pass_obj
def new(session: Session, name: str, members: str, strategy: str | None) -> None:
    """Create a group conversation."""
    names = [member.strip() for member in members.split(",") if member.strip()]
    settings = {"reply_strategy": strategy} if strategy else {}

    async def work(hub: Hub) -> shapes.Conversation:
        people = await resolve.agents(hub, names)
        return await hub.conversations.create(name, participants=people, settings=settings)

    tell_change(session, with_hub(session, work), "created")


@conv.command("list", examples=("moot conv list", "moot conv list --archived --json"))
@click.option("--mine", is_flag=True, help="Only conversations you are in.")
@click.option("--archived", is_flag=True, help="Archived conversations instead.")
@click.option("--kind", type=click.Choice(KINDS), help="Only this kind.")
@click.pass_obj
def list_(session: Session, mine: bool, archived: bool, kind: str | None) -> None:
    """List conversations."""

    async def work(hub: Hub) -> list[shapes.Conversation]:
        every = await hub.conversations.list(archived=archived, kind=kind)
        return [each for each in every if not mine or hub.name in {seat.name for seat in each.participants}]

    conversations = with_reading(session, work)
    if session.json:
        session.screen.data([conversation.to_dict() for conversation in conversations])
    elif not conversations:
        make = session.screen.command("moot conv new NAME --with AGENT,AGENT")
        session.screen.note(f"no conversations. Create one: {make}")
    else:
        rows = [(title(c), c.kind, c.id, ", ".join(s.name for s in agents_in(c))) for c in conversations]
        session.screen.table(("name", "kind", "id", "agents"), rows)


@conv.command("show", examples=("moot conv show build", "moot conv show build --json"))
@click.argument("ref", metavar="ID")
@click.pass_obj
def show(session: Session, ref: str) -> None:
    """Show a conversation with its newest messages."""

    async def work(hub: Hub) -> None:
        conversation = await resolve.place(hub, ref)
        messages = await hub.newest(conversation.id, MAX_MESSAGES)
        if session.json:
            session.screen.data(
                {**conversation.to_dict(), "messages": [message.to_dict() for message in messages]}
            )
            return
        screen = session.screen
        with screen.paged():
            await tell(screen, hub, conversation, messages)

    with_reading(session, work)


async def tell(
    screen: Screen, hub: Hub, conversation: shapes.Conversation, messages: list[shapes.Message]
) -> None:
    marks = marks_of(conversation)
    members = "   ".join(screen.name(seat.name, hollow(seat.mark)) for seat in agents_in(conversation))
    screen.say(f"{title(conversation)}   {members}{'   archived' if conversation.archived else ''}")
    for message in messages:
        reason = await reason_for(hub, message) if is_agent(message) else ""
        screen.say(line(screen, hub, message, marks, reason))


def tell_change(session: Session, conversation: shapes.Conversation, done_words: str) -> None:
    if session.json:
        session.screen.data(conversation.to_dict())
    else:
        members = ", ".join(seat.name for seat in conversation.participants)
        session.screen.say(f"{done_words} {title(conversation)}; members: {members}")


Find = Callable[["Hub", str], Awaitable[shapes.Conversation]]


def _verb(
    name: str, help: str, done_words: str, more: str = "", find: Find = resolve.place
) -> Callable[[Callable[..., Awaitable[shapes.Conversation]]], click.Command]:
    """A verb that changes one conversation and shows it afterwards. `more` is the word behind its ID."""
    field, sample, options = WORDS[more]

    def decorate(work: Callable[..., Awaitable[shapes.Conversation]]) -> click.Command:
        def command(session: Session, /, ref: str, **words: object) -> None:
            async def change_it(hub: Hub) -> shapes.Conversation:
                return await work(hub, (await find(hub, ref)).id, **words)

            tell_change(session, with_hub(session, change_it), done_words)

        example = " ".join(["moot conv", name, "build", *sample])
        command_made = click.pass_obj(command)
        if field:
            command_made = click.argument(field, metavar=more, **options)(command_made)
        command_made = click.argument("ref", metavar="ID")(command_made)
        return conv.command(name, help=help, examples=(example, f"{example} --json"))(command_made)

    return decorate


@_verb("join", "Join a conversation, or add somebody to it.", "joined", "[NAME]")
async def join(hub: Hub, ref: str, name: str | None = None) -> shapes.Conversation:
    return await hub.conversations.join(ref, await resolve.agent(hub, name or hub.name))


@_verb("leave", "Leave a conversation, or remove somebody from it.", "left", "[NAME]")
async def leave(hub: Hub, ref: str, name: str | None = None) -> shapes.Conversation:
    await hub.conversations.leave(ref, await resolve.agent(hub, name or hub.name))
    return await hub.conversations.get(ref)


@_verb("add", "Add agents to a conversation.", "added to", "AGENT...")
async def add(hub: Hub, ref: str, agents: tuple[str, ...]) -> shapes.Conversation:
    return await add_agents(hub, ref, agents)


async def add_agents(hub: Hub, ref: str, agents: tuple[str, ...]) -> shapes.Conversation:
    where = (await resolve.place(hub, ref)).id
    for name in await resolve.agents(hub, resolve.names_in(agents)):
        await hub.conversations.join(where, name)
    return await hub.conversations.get(where)


@_verb("remove", "Remove agents from a conversation.", "removed from", "AGENT...")
async def remove(hub: Hub, ref: str, agents: tuple[str, ...]) -> shapes.Conversation:
    return await remove_agents(hub, ref, agents)


async def remove_agents(hub: Hub, ref: str, agents: tuple[str, ...]) -> shapes.Conversation:
    where = (await resolve.place(hub, ref)).id
    for name in await resolve.agents(hub, resolve.names_in(agents)):
        await hub.conversations.leave(where, name)
    return await hub.conversations.get(where)


@_verb("rename", "Rename a conversation.", "renamed to", "NEW")
async def rename(hub: Hub, ref: str, new: str) -> shapes.Conversation:
    return await hub.conversations.rename(ref, new)


@_verb("archive", "Archive a conversation; it stays readable.", "archived")
async def archive(hub: Hub, ref: str) -> shapes.Conversation:
    await hub.conversations.archive(ref)
    return await hub.conversations.get(ref)


async def _archived_place(hub: Hub, ref: str) -> shapes.Conversation:
    """By its name too, which an open one may have by now."""
    ref = ref.lstrip("#")
    matching = [each for each in await hub.conversations.list(archived=True) if ref in (each.name, each.id)]
    return matching[-1] if matching else await resolve.place(hub, ref)


@_verb("unarchive", "Unarchive a conversation.", "unarchived", find=_archived_place)
async def unarchive(hub: Hub, ref: str) -> shapes.Conversation:
    await hub.conversations.unarchive(ref)
    return await hub.conversations.get(ref)


@conv.command("dissolve", examples=("moot conv dissolve build", "moot conv dissolve build --yes"))
@click.argument("ref", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def dissolve(session: Session, ref: str, yes: bool) -> None:
    """Dissolve a group; its history stays readable."""
    dissolving(session, ref, yes=yes)


def dissolving(session: Session, ref: str, *, yes: bool) -> None:
    ask_first(yes=yes, what="dissolving")

    async def work(hub: Hub) -> shapes.Conversation:
        conversation = await resolve.place(hub, ref)
        if not yes:
            click.confirm(
                f"Dissolve {title(conversation)}? Its history stays readable.", abort=True, err=True
            )
        await hub.conversations.dissolve(conversation.id)
        return await hub.conversations.get(conversation.id)

    tell_change(session, with_hub(session, work), "dissolved")


@conv.command("delete", examples=("moot conv delete build", "moot conv delete build --yes"))
@click.argument("ref", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def delete(session: Session, ref: str, yes: bool) -> None:
    """Delete a conversation and its whole history."""
    ask_first(yes=yes, what="deleting")

    async def work(hub: Hub) -> shapes.Conversation:
        conversation = await resolve.place(hub, ref)
        if not yes:
            click.confirm(f"Delete {title(conversation)} and its whole history?", abort=True, err=True)
        await hub.conversations.delete(conversation.id)
        return conversation

    conversation_deleted = with_hub(session, work)
    if session.json:
        session.screen.data({"deleted": conversation_deleted.id})
    else:
        session.screen.say(f"deleted {title(conversation_deleted)} and its history")


@conv.command("continue", examples=("moot conv continue build", "moot conv continue build --json"))
@click.argument("ref", metavar="ID")
@click.pass_obj
def go_on(session: Session, ref: str) -> None:
    """Resume a round or chain that a brake stopped."""

    async def work(hub: Hub) -> bool:
        return await hub.conversations.resume((await resolve.place(hub, ref)).id)

    is_resumed = with_hub(session, work)
    if session.json:
        session.screen.data({"continued": is_resumed})
    else:
        session.screen.say("resumed" if is_resumed else "nothing was stopped here")
        if is_resumed and running_hub(home_of(session)) is None:
            up = session.screen.command("moot up")
            session.screen.note(f"no hub is running, so the agents go on when they run again: {up}")


@conv.command("stop", examples=("moot conv stop build", "moot conv stop build arya --json"))
@click.argument("ref", metavar="ID")
@click.argument("agent", required=False)
@click.pass_obj
def stop(session: Session, ref: str, agent: str | None) -> None:
    """Stop the agents that are speaking; what they said so far is kept."""

    async def work(hub: Hub) -> tuple[str, ...]:
        where = await resolve.place(hub, ref)
        return await hub.conversations.stop(where.id, await resolve.agent(hub, agent) if agent else None)

    names = with_hub(session, work)
    if session.json:
        session.screen.data({"stopped": list(names)})
    else:
        session.screen.say(f"stopped {', '.join(names)}" if names else "nobody is speaking there")


@conv.command("retry", examples=("moot conv retry build", "moot conv retry build --json"))
@click.argument("ref", metavar="ID")
@click.option(
    "--timeout", type=SECONDS, metavar="SECS", default=WAIT_SECONDS, help="Seconds to wait (default 120)."
)
@click.pass_obj
def retry(session: Session, ref: str, timeout: float) -> int:
    """Retry the turns that failed, and wait for the answers."""
    return asyncio.run(retrying(session, ref, timeout))


async def retrying(session: Session, ref: str, seconds: float) -> int:
    async with open_hub(session) as hub:
        where = await resolve.place(hub, ref)
        tell_broken(session, await host_the_absent(hub, session, {seat.name for seat in agents_in(where)}))
        talk = FollowedConversation(hub, where, view_for(session, hub, where))
        async with talk.following():
            async with talk.by_other_means() as mine:
                result: CommandOutcome = await carry_out(slash.RetryCommand(), At(hub, where))
                mine.update({result.receipt.id} if result.receipt is not None else ())
            for line in result.lines:
                session.screen.note(line)
            if result.receipt is None:
                if session.json:
                    session.screen.data({"receipt": None, "replies": [], "outcome": "queued"})
                return OK
            outcome = await talk.outcome(result.receipt, await talk.wait(seconds))
            outcome = await with_load_errors(session, hub, outcome)
            await talk.read()
        return report(session, outcome)


@conv.command("config", examples=("moot conv config build", "moot conv config build max_depth 4"))
@click.argument("ref", metavar="ID")
@click.argument("key", required=False)
@click.argument("value", required=False)
@click.pass_obj
def config(session: Session, ref: str, key: str | None, value: str | None) -> None:
    """Show a conversation's settings, or change one."""

    async def work(hub: Hub) -> shapes.Conversation:
        return await show_or_configure(hub, ref, key, value)

    run = with_reading if value is None else with_hub
    show_settings(session, run(session, work), key)


def show_settings(session: Session, conversation: shapes.Conversation, key: str | None) -> None:
    settings = conversation.settings if key is None else {key: conversation.settings[key]}
    if session.json:
        session.screen.data(settings)
    else:
        for name, value in settings.items():
            session.screen.say(f"{name} = {json.dumps(value)}")


async def show_or_configure(hub: Hub, ref: str, key: str | None, value: str | None) -> shapes.Conversation:
    conversation = await resolve.place(hub, ref)
    if key is not None:
        check_setting(conversation, key)
    return conversation if key is None or value is None else await configure(hub, conversation, key, value)
