"""`moot links`: who may write to whom, and who is whose superior. A link is always shown as a sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from moot import shapes
from moot.cli.frame import resolve
from moot.cli.frame.confirm import ask_first
from moot.cli.frame.hub_access import opened_hub, with_hub, with_links
from moot.cli.frame.params import AT_LEAST_1, Branch
from moot.cli.frame.session import Session
from moot.cli.terminal.phrases import where_set
from moot.cli.terminal.screen import clock_time, day_time, safe
from moot.cli.terminal.watch import LOOK_SECONDS
from moot.errors import NotFound
from moot.model.event import EventType
from moot.model.json import JsonObject

if TYPE_CHECKING:
    from moot.hub import Hub

SHOWN = 5
LAST = 2**53
CHANNEL = "link:"
MAX_AT_ONCE = 200
"""Entries that are looked at again while a log is followed."""
MAX_SHOWN = 2_000
LINK_EVENTS = (
    EventType.MESSAGE_POSTED,
    EventType.LINK_CREATED,
    EventType.LINK_CHANGED,
    EventType.LINK_DELETED,
)


@click.group(
    "links",
    cls=Branch,
    examples=("moot links new manager support --superior", "moot links list"),
    short_help="Decide who may write to whom, and who is whose superior.",
    aliases={"add": "new", "delete": "rm", "remove": "rm", "create": "new"},
)
def links() -> None:
    """Decide who may write to whom, and who is whose superior."""


@links.command("list", examples=("moot links list", "moot links list arya --json"))
@click.argument("agent", required=False)
@click.pass_obj
def list_(session: Session, agent: str | None) -> None:
    """All links, or those of one agent."""

    async def work(hub: Hub) -> list[shapes.Link]:
        name = await resolve.agent(hub, agent) if agent else None
        return await hub.links.list(between=name)

    found = with_links(session, work)
    if session.json:
        session.screen.data([link.to_dict() for link in found])
        return
    if not found:
        session.screen.note("no links: agents write to each other freely (hub.policy)")
        return
    session.screen.table(("id", "link", "set"), [(link.id, link.sentence, where_set(link)) for link in found])


@links.command("show", examples=("moot links show l1m7", "moot links show l1m7 --prompts"))
@click.argument("id")
@click.option("--prompts", is_flag=True, help="Print what each agent's prompt says about the other.")
@click.option("--told", "also_prompts", is_flag=True, hidden=True, help="The same as --prompts.")
@click.pass_obj
def show(session: Session, id: str, prompts: bool, also_prompts: bool) -> None:
    """Show a link and the newest messages in its channel."""
    if prompts or also_prompts:
        _show_prompts(session, with_links(session, lambda hub: hub.links.prompts(id)))
        return

    async def work(hub: Hub) -> tuple[shapes.Link, list[shapes.Message]]:
        found = await hub.links.get(id)
        return found, await _newest_messages(hub, found)

    link, messages = with_links(session, work)
    if session.json:
        session.screen.data({**link.to_dict(), "messages": [message.to_dict() for message in messages]})
        return
    session.screen.say(link.sentence)
    session.screen.say(f"  id {link.id}, channel {link.channel}, set {where_set(link)}")
    for message in messages:
        session.screen.say(f"  {clock_time(message.at)} {message.sender}: {message.text}")


def _show_prompts(session: Session, prompts: shapes.LinkPrompts) -> None:
    """Exactly what the prompts say."""
    if session.json:
        session.screen.data(prompts.to_dict())
        return
    session.screen.say(prompts.sentence)
    for end in prompts.prompts:
        session.screen.note(f"\nin the prompt of {end.agent}:")
        for part in (end.link, end.organisation):
            if part:
                session.screen.say(f"\n{part}")


async def _newest_messages(hub: Hub, link: shapes.Link) -> list[shapes.Message]:
    return await hub.messages(link.channel, before=LAST, limit=SHOWN)


def _kinds(work: Callable[..., object]) -> Callable[..., object]:
    """Options for the relationship, and for who may start."""
    for name, value, text in (
        ("--subordinate", "subordinate", "FROM reports to TO."),
        ("--superior", "superior", "FROM is the superior of TO and may delegate to it."),
        ("--peer", "peer", "FROM and TO are peers."),
    ):
        work = click.option(name, "relationship", flag_value=value, help=text)(work)
    for name, value, text in (
        ("--one-way", "one_way", "Only FROM may start; TO may answer."),
        ("--two-way", "two_way", "Both may start."),
    ):
        work = click.option(name, "direction", flag_value=value, help=text)(work)
    return work


@links.command(
    "new", examples=("moot links new manager support --superior", "moot links new arya gendry --one-way")
)
@click.argument("source", metavar="FROM")
@click.argument("to", metavar="TO")
@_kinds
@click.option("--off", is_flag=True, help="Create it disabled.")
@click.pass_obj
def new(session: Session, /, source: str, to: str, *, off: bool, **kinds: str | None) -> None:
    """Link two agents."""

    async def work(hub: Hub) -> shapes.MadeLink:
        ends = await resolve.agents(hub, (source, to))
        return await hub.links.create(
            *ends,
            relationship=kinds["relationship"] or "peer",
            direction=kinds["direction"] or "two_way",
            enabled=not off,
        )

    made = with_hub(session, work)
    if session.json:
        session.screen.data(made.to_dict())
        return
    session.screen.say(made.sentence)
    session.screen.note(f"  id {made.id}, channel {made.channel}")
    for end, names in made.cuts_off.items():
        session.screen.note(
            f"  {end} can now write only to agents it is linked with, no longer to {', '.join(names)}"
        )


@links.command("set", examples=("moot links set l1m7 --two-way", "moot links set l1m7 --peer --json"))
@click.argument("id")
@_kinds
@click.pass_obj
def set_(session: Session, id: str, relationship: str | None, direction: str | None) -> None:
    """Change who may start, or who is whose superior."""
    if relationship is None and direction is None:
        raise click.UsageError(
            "nothing to change: add --peer, --superior, --subordinate, --one-way or --two-way"
        )
    _changed(session, id, relationship=relationship, direction=direction)


@links.command("enable", examples=("moot links enable l1m7", "moot links enable l1m7 --json"))
@click.argument("id")
@click.pass_obj
def enable(session: Session, id: str) -> None:
    """Enable a link."""
    _changed(session, id, enabled=True)


@links.command("disable", examples=("moot links disable l1m7", "moot links disable l1m7 --json"))
@click.argument("id")
@click.pass_obj
def disable(session: Session, id: str) -> None:
    """Disable a link: no messages pass until it is enabled again."""
    _changed(session, id, enabled=False)


def _changed(
    session: Session,
    id: str,
    relationship: str | None = None,
    direction: str | None = None,
    enabled: bool | None = None,
) -> None:
    async def work(hub: Hub) -> shapes.Link:
        whole = (await hub.links.get(id)).id
        return await hub.links.update(whole, relationship=relationship, direction=direction, enabled=enabled)

    link = with_hub(session, work)
    if session.json:
        session.screen.data(link.to_dict())
    else:
        session.screen.say(link.sentence)


@links.command("rm", examples=("moot links rm l1m7", "moot links rm l1m7 --purge-history --yes"))
@click.argument("id")
@click.option("--purge-history", is_flag=True, help="Also erase the messages in its channel.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def rm(session: Session, id: str, purge_history: bool, yes: bool) -> None:
    """Delete a link; the messages in its channel stay readable."""
    ask_first(yes=yes, what="deleting a link")
    found = with_links(session, lambda hub: hub.links.get(id))
    if not yes:
        kept = "its messages are erased" if purge_history else "its messages stay readable"
        click.confirm(f"Delete the link ({found.sentence})? {kept.capitalize()}", abort=True, err=True)
    link = with_hub(session, lambda hub: hub.links.delete(found.id, purge=purge_history))
    if session.json:
        session.screen.data(link.to_dict())
    else:
        session.screen.say(f"deleted: {link.sentence}")


@links.command(
    "log", examples=("moot links log manager,support", "moot links log l1m7 -f", "moot links log l1m7 --json")
)
@click.argument("id")
@click.option("-f", "--follow", is_flag=True, help="Follow until interrupted.")
@click.option(
    "--limit", type=AT_LEAST_1, default=50, metavar="N", help="Maximum number of entries (default 50)."
)
@click.pass_obj
def log(session: Session, id: str, follow: bool, limit: int) -> None:
    """Show what was done to a link, what was refused and what was said over it, oldest first; also of deleted links."""
    if follow:
        asyncio.run(_follow_log(session, id, limit))
        return
    found = with_links(session, lambda hub: link_log(hub, id, limit))
    if session.json:
        session.screen.data(found)
        return
    for entry in found:
        _show_entry(session, entry)


def _show_entry(session: Session, entry: JsonObject) -> None:
    session.screen.say(f"{day_time(entry['at'])}  {safe(entry['line'])}")


async def _follow_log(session: Session, ref: str, limit: int) -> None:
    """Entries as they come: what is said and done at once, refusals, of which no event tells, at the next look."""
    async with opened_hub(session) as hub:
        after, id = hub.position, await _link_id(hub, ref)
        looking = asyncio.Event()
        following = asyncio.create_task(_on_link_events(hub, after, looking.set))
        shown: dict[str, None] = {}
        try:
            while not following.done():
                looking.clear()
                for entry in await link_log(hub, id, limit if not shown else MAX_AT_ONCE):
                    line = f"{entry['at']} {entry['line']}"
                    if line not in shown:
                        shown[line] = None
                        session.screen.data(entry) if session.json else _show_entry(session, entry)
                if len(shown) > MAX_SHOWN:
                    shown = dict.fromkeys([*shown][-MAX_AT_ONCE:])
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await looking.wait()
            await following
        finally:
            following.cancel()


async def _on_link_events(hub: Hub, after: int, look: Callable[[], None]) -> None:
    async for _ in hub.events(types=LINK_EVENTS, after=after):
        look()


async def _link_id(hub: Hub, ref: str) -> str:
    """Of a link that there is, or was."""
    try:
        return (await hub.links.get(ref)).id
    except NotFound:
        id = ref.removeprefix(CHANNEL)
        if not await hub.audit.log(link=id, limit=1):
            raise
        return id


async def link_log(hub: Hub, ref: str, limit: int) -> list[JsonObject]:
    """What the audit has of a link, and the newest messages of its channel, if they were not erased."""
    id = await _link_id(hub, ref)
    done = [
        {
            "at": entry.at,
            "by": entry.by,
            "what": entry.act,
            "door": entry.door,
            "line": entry.sentence,
            "text": None,
        }
        for entry in await hub.audit.log(link=id, limit=limit)
    ]
    messages: list[shapes.Message] = []
    with suppress(NotFound):
        messages = await hub.messages(f"{CHANNEL}{id}", before=LAST, limit=limit)
    spoken = [
        {
            "at": message.at,
            "by": message.sender,
            "what": message.intent or "message",
            "door": None,
            "line": f"{message.sender}: {message.text}",
            "text": message.text,
        }
        for message in messages
    ]
    return sorted((*done, *spoken), key=lambda entry: str(entry["at"]))[-limit:]
