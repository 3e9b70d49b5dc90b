"""`moot tasks`: hand work to agents, and see what became of it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from moot import shapes
from moot.cli.frame import resolve
from moot.cli.frame.hub_access import with_hub, with_reading
from moot.cli.frame.params import AT_LEAST_1, SECONDS, Branch
from moot.cli.frame.session import Session
from moot.cli.terminal.screen import ago
from moot.errors import NotFound

if TYPE_CHECKING:
    from moot.hub import Hub

STATES = ("unfinished", "open", "working", "done", "failed", "cancelled", "expired")


@click.group(
    "tasks",
    cls=Branch,
    examples=('moot tasks new support "find the open tickets"', "moot tasks list --state unfinished"),
    short_help="Delegate tasks to agents and follow them.",
    aliases={"delegate": "new", "cancel": "stop"},
)
def tasks() -> None:
    """Delegate tasks to agents and follow them."""


@tasks.command("list", examples=("moot tasks list", "moot tasks list --state unfinished --json"))
@click.option("--state", type=click.Choice(STATES), help="Only tasks in this state.")
@click.option("--by", metavar="AGENT", help="Only tasks delegated by this agent.")
@click.option("--to", metavar="AGENT", help="Only tasks given to this agent.")
@click.option("--before", metavar="ID", help="Only those older than this one.")
@click.option(
    "--limit",
    type=AT_LEAST_1,
    default=100,
    metavar="N",
    help="Maximum number of results, the newest (default 100).",
)
@click.pass_obj
def list_(session: Session, /, by: str | None, to: str | None, *, limit: int, **page: str | None) -> None:
    """List tasks, oldest first."""

    async def work(hub: Hub) -> list[shapes.Task]:
        giver = await resolve.agent(hub, by) if by else None
        worker = await resolve.agent(hub, to) if to else None
        return await hub.tasks.list(by=giver, to=worker, limit=limit, **page)

    rows = with_reading(session, work)
    if session.json:
        session.screen.data([task.to_dict() for task in rows])
    elif not rows:
        session.screen.note("no tasks")
    else:
        session.screen.table(
            ("id", "state", "by", "to", "task", "changed"),
            [(t.id, t.state, t.by, t.to, t.task.splitlines()[0][:60], ago(t.updated_at)) for t in rows],
        )
        if len(rows) == limit:
            session.screen.note(f"older ones: add --before {rows[0].id}")


@tasks.command("show", examples=("moot tasks show t1m7", "moot tasks show t1m7 --json"))
@click.argument("id")
@click.pass_obj
def show(session: Session, id: str) -> None:
    """Show a task and the conversation it is worked on in."""
    _tell(session, with_reading(session, lambda hub: _with_place(hub, hub.tasks.get(id))))


@tasks.command(
    "new",
    examples=('moot tasks new support "find the open tickets"', 'moot tasks new dev "fix it" --deadline 600'),
)
@click.argument("agent")
@click.argument("text")
@click.option(
    "--deadline",
    type=SECONDS,
    metavar="SECONDS",
    help="Seconds until it expires (default: limits.task_deadline_seconds).",
)
@click.option("--conv", metavar="ID", help="Conversation to report the outcome to; you must be in it.")
@click.option("--as", "speaker", metavar="NAME", help="Delegate as one of your agents, along its links.")
@click.pass_obj
def new(session: Session, /, agent: str, text: str, *, speaker: str | None, **options: Any) -> None:
    """Delegate a task to an agent; the outcome is reported back."""
    deadline, conv = options["deadline"], options["conv"]

    async def work(hub: Hub) -> PlacedTask:
        where = (await resolve.place(hub, conv)).id if conv else None
        worker = await resolve.agent(hub, agent)
        voice = hub.acting_as(await resolve.agent(hub, speaker)) if speaker else hub
        delegation = voice.delegate(worker, text, deadline_seconds=deadline, conversation=where)
        return await _with_place(hub, delegation)

    _tell(session, with_hub(session, work))


@tasks.command("stop", examples=("moot tasks stop t1m7", 'moot tasks stop t1m7 --because "no longer needed"'))
@click.argument("id")
@click.option("--because", default="", metavar="TEXT", help="Reason to give to its delegator and its worker.")
@click.pass_obj
def stop(session: Session, id: str, because: str) -> None:
    """Cancel a task; whoever delegated it is notified."""

    async def work(hub: Hub) -> PlacedTask:
        whole = (await hub.tasks.get(id)).id
        return await _with_place(hub, hub.tasks.update(whole, "cancelled", result=because or None))

    _tell(session, with_hub(session, work))


PlacedTask: TypeAlias = tuple[shapes.Task, str]
"""A task, and the name of the conversation it is worked on in."""


async def _with_place(hub: Hub, pending: Awaitable[shapes.Task]) -> PlacedTask:
    task = await pending
    try:
        return task, (await hub.conversations.get(task.conversation)).name
    except NotFound:  # it was deleted since
        return task, ""


def _tell(session: Session, placed: PlacedTask) -> None:
    task, conversation = placed
    if session.json:
        session.screen.data(task.to_dict())
        return
    session.screen.say(f"{task.id}: {task.by} → {task.to}, {task.state}")
    session.screen.say(f"  {task.task}")
    for label, text in (("note", task.note), ("result", task.result), ("deadline", task.deadline)):
        if text:
            session.screen.say(f"  {label}: {text}")
    if conversation:
        session.screen.note(f"  conversation: {conversation}")
