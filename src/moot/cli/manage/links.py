"""`moot links`: who may write to whom, and who is whose superior. A link is always shown as a sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from moot import shapes
from moot.cli.frame import resolve
from moot.cli.frame.confirm import ask_first
from moot.cli.frame.hub_access import open_hub, with_hub, with_links
from moot.cli.frame.params import AT_LEAST_1, Branch
from moot.cli.frame.session import Session
from moot.cli.terminal.phrases import where_set
from moot.cli.terminal.screen import clock_time, day_time, safe
from moot.cli.terminal.watch import LOOK_SECONDS
from moot.errors import NotFound
from moot.model.event import EventType
from moot.model.json import JsonObject
from moot.model.records.link import LinkOrigin

if TYPE_CHECKING:
    from moot.hub import Hub
    from moot.sdk.links import LinkCalls

MAX_MESSAGES = 5
LAST = 2**53
CHANNEL = "link:"
MAX_AT_ONCE = 200
"""Entries that are looked at again while a log is followed."""
MAX_REMEMBERED = 2_000
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

    rows = with_links(session, work)
    if session.json:
        session.screen.data([link.to_dict() for link in rows])
        return
    if not rows:
        session.screen.note("no links: agents write to each other freely (hub.policy)")
        return
    session.screen.table(("id", "link", "set"), [(link.id, link.sentence, where_set(link)) for link in rows])


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
        link_found = await hub.links.get(id)
        return link_found, await _newest_messages(hub, link_found)

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
    return await hub.messages(link.channel, before=LAST, limit=MAX_MESSAGES)


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

    link = with_hub(session, work)
    if session.json:
        session.screen.data(link.to_dict())
        return
    session.screen.say(link.sentence)
    session.screen.note(f"  id {link.id}, channel {link.channel}")
    for end, names in link.cuts_off.items():
        session.screen.note(
            f"  {end} can now write only to agents it is linked with, no longer to {', '.join(names)}"
        )


@links.command("set", examples=("moot links set l1m7 --two-way", "moot links set l1m7 --peer --json"))
@click.argument("id")
@_kinds
@click.option("--override", is_flag=True, help="Also of a link in moot.toml, until the file is read again.")
@click.pass_obj
def set_(session: Session, id: str, relationship: str | None, direction: str | None, override: bool) -> None:
    """Change who may start, or who is whose superior."""
    if relationship is None and direction is None:
        raise click.UsageError(
            "nothing to change: add --peer, --superior, --subordinate, --one-way or --two-way"
        )
    _change(
        session,
        id,
        lambda links, whole: links.update(
            whole, relationship=relationship, direction=direction, override=override
        ),
    )


@links.command("enable", examples=("moot links enable l1m7", "moot links enable l1m7 --json"))
@click.argument("id")
@click.pass_obj
def enable(session: Session, id: str) -> None:
    """Enable a link."""
    _change(session, id, lambda links, whole: links.update(whole, enabled=True))


@links.command("disable", examples=("moot links disable l1m7", "moot links disable l1m7 --json"))
@click.argument("id")
@click.pass_obj
def disable(session: Session, id: str) -> None:
    """Disable a link: no messages pass until it is enabled again."""
    _change(session, id, lambda links, whole: links.update(whole, enabled=False))


def _change(session: Session, id: str, change: Callable[[LinkCalls, str], Awaitable[shapes.Link]]) -> None:
    async def work(hub: Hub) -> shapes.Link:
        return await change(hub.links, (await hub.links.get(id)).id)

    link = with_hub(session, work)
    if session.json:
        session.screen.data(link.to_dict())
        return
    session.screen.say(link.sentence)
    if link.origin == LinkOrigin.OVERRIDDEN:
        session.screen.note(f"  {link.place} wins again when it is read next: by a reload or a start")


@links.command("rm", examples=("moot links rm l1m7", "moot links rm l1m7 --purge-history --yes"))
@click.argument("id")
@click.option("--purge-history", is_flag=True, help="Also erase the messages in its channel.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def rm(session: Session, id: str, purge_history: bool, yes: bool) -> None:
    """Delete a link; the messages in its channel stay readable."""
    ask_first(yes=yes, what="deleting a link")
    link_found = with_links(session, lambda hub: hub.links.get(id))
    if not yes:
        history_words = "its messages are erased" if purge_history else "its messages stay readable"
        click.confirm(
            f"Delete the link ({link_found.sentence})? {history_words.capitalize()}", abort=True, err=True
        )
    link = with_hub(session, lambda hub: hub.links.delete(link_found.id, purge=purge_history))
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
    entries = with_links(session, lambda hub: link_log(hub, id, limit))
    if session.json:
        session.screen.data(entries)
        return
    for entry in entries:
        _show_entry(session, entry)


def _show_entry(session: Session, entry: JsonObject) -> None:
    session.screen.say(f"{day_time(entry['at'])}  {safe(entry['line'])}")


async def _follow_log(session: Session, ref: str, limit: int) -> None:
    """Show entries as they come: messages and acts at once; refusals, which have no event, at the next look."""
    async with open_hub(session) as hub:
        after, id = hub.position, await _link_id(hub, ref)
        looking = asyncio.Event()
        following = asyncio.create_task(_on_link_events(hub, after, looking.set))
        lines_shown: dict[str, None] = {}
        try:
            while not following.done():
                looking.clear()
                for entry in await link_log(hub, id, limit if not lines_shown else MAX_AT_ONCE):
                    line = f"{entry['at']} {entry['line']}"
                    if line not in lines_shown:
                        lines_shown[line] = None
                        session.screen.data(entry) if session.json else _show_entry(session, entry)
                if len(lines_shown) > MAX_REMEMBERED:
                    lines_shown = dict.fromkeys([*lines_shown][-MAX_AT_ONCE:])
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
    """The id of a link that exists or existed."""
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
    acts = [
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
    messages_said = [
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
    return sorted((*acts, *messages_said), key=lambda entry: str(entry["at"]))[-limit:]
