"""`moot agents`: who is here, and what each is doing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from moot import shapes
from moot.cli.frame import resolve
from moot.cli.frame.hub_access import home_of, with_reading
from moot.cli.frame.params import Branch
from moot.cli.frame.session import Session
from moot.cli.terminal.screen import count_words, day_time, hollow
from moot.hub.process.hub_lock import running_hub
from moot.model.json import JsonObject
from moot.rules.palette import AWAY, MARKS

if TYPE_CHECKING:
    from moot.hub import Hub


@click.group(
    "agents",
    cls=Branch,
    examples=("moot agents list", "moot agents show arya --json"),
    short_help="Create, list, change and run agents.",
    aliases={"remove": "rm", "create": "new"},
)
def agents() -> None:
    """Create, list, change and run agents."""


@agents.command("list", examples=("moot agents list", "moot agents list --json"))
@click.pass_obj
def list_(session: Session) -> None:
    """List all agents and what they are doing."""
    agents_listed = with_reading(session, lambda hub: hub.agents.list())
    if session.json:
        session.screen.data([agent.to_dict() for agent in agents_listed])
    elif not agents_listed:
        make = session.screen.command('moot agents new NAME --role "…"')
        session.screen.say(f"no agents yet. Create one: {make}        or try: moot demo")
    else:
        session.screen.table(
            ("  agent", "state", "queue", "brain", "role"), [_row(agent) for agent in agents_listed]
        )
        if running_hub(home_of(session)) is None and any(
            agent.status == "offline" for agent in agents_listed
        ):
            up = session.screen.command("moot up")
            session.screen.note(
                f"no hub is running: moot chat and moot send run agents while needed, {up} keeps them"
            )


def _row(agent: shapes.Agent) -> tuple[str, ...]:
    state = str(agent.activity["label"])
    return f"  {mark(agent.status)} {agent.name}", state, str(agent.queue), agent.brain, agent.role


def mark(status: str) -> str:
    if status == "offline":
        return AWAY
    return MARKS[0] if status == "streaming" else hollow(MARKS[0])


def _facts_of(agent: shapes.Agent) -> Iterator[tuple[str, str]]:
    """The facts of an agent for people; those that say nothing new are left out."""
    names = {
        "id": agent.id if agent.id != agent.name else "",
        "shown as": agent.display if agent.display != agent.name else "",
        "also called": ", ".join(agent.aliases),
    }
    facts = {
        **names,
        "kind": agent.kind,
        "role": agent.role,
        "brain": agent.brain,
        "project": agent.project,
        "state": str(agent.activity["label"]),
        "reached": agent.reachability,
        "waiting": count_words(agent.queue, "message") if agent.queue else "",
        "last active": day_time(agent.last_active) if agent.last_active else "",
        "came in by": agent.door or "",
    }
    yield from ((label, value) for label, value in facts.items() if value)


@agents.command("show", examples=("moot agents show arya", "moot agents show arya --json"))
@click.argument("name")
@click.pass_obj
def show(session: Session, name: str) -> None:
    """Show one agent in full."""

    async def work(hub: Hub) -> tuple[shapes.Agent, JsonObject]:
        agent = await resolve.agent(hub, name)
        return await hub.agents.get(agent), await hub.inspector.usage(agent=agent)

    agent, usage = with_reading(session, work)
    if session.json:
        session.screen.data({**agent.to_dict(), "usage": usage})
        return
    session.screen.say(session.screen.name(agent.name, mark(agent.status)))
    for label, value in _facts_of(agent):
        session.screen.say(f"  {label:<14}{value}")
    if usage["turns"]:
        hits = f", {usage['hit_rate']:.0%} from the cache" if usage["hit_rate"] is not None else ""
        cost = f", ${usage['cost_usd']:.4f}" if usage["cost_usd"] is not None else ""
        tokens = f"{usage['input_tokens']} tokens in{hits}, {usage['output_tokens']} out{cost}"
        session.screen.say(f"  {'used':<14}{tokens}")
