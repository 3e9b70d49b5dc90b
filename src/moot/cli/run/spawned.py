"""`moot agents spawn|tree`: agents that are started from templates, by people and by other agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from moot import shapes
from moot.cli.frame.hub_access import with_hub, with_reading
from moot.cli.frame.session import Session
from moot.cli.run.agent_daemon import agents
from moot.cli.terminal.screen import ago, safe

if TYPE_CHECKING:
    from moot.hub import Hub

__all__ = ["agents"]
INDENT = "  "


@agents.command(
    "spawn",
    examples=("moot agents spawn reviewer", 'moot agents spawn coder --name ann --task "write the parser"'),
)
@click.argument("template")
@click.option("--name", default="", metavar="NAME", help="Name of the agent (default: that of the template).")
@click.option("--project", default="", metavar="DIR", help="Folder it works in.")
@click.option("--task", default="", metavar="TEXT", help="Task to delegate to it at once.")
@click.pass_obj
def spawn(session: Session, template: str, name: str, project: str, task: str) -> None:
    """Start an agent from a template of moot.toml."""

    async def work(hub: Hub) -> shapes.Spawned:
        return await hub.spawn(template, name=name, project=project, task=task)

    spawned = with_hub(session, work)
    if session.json:
        session.screen.data(spawned.to_dict())
        return
    session.screen.say(f"{safe(spawned.agent)} was started from the template {spawned.template}")
    if spawned.task is not None:
        session.screen.say(f"it was given the task {spawned.task.id}")


@agents.command("tree", examples=("moot agents tree", "moot agents tree --json"))
@click.pass_obj
def tree(session: Session) -> None:
    """Show who started whom; agents that retired in the last day too."""
    rows = with_reading(session, lambda hub: hub.agents.tree())
    if session.json:
        session.screen.data([one.to_dict() for one in rows])
        return
    if not rows:
        session.screen.note("no agents were started from templates")
    for line in _lines(rows):
        session.screen.say(line)


def _lines(rows: list[shapes.Spawned]) -> Iterator[str]:
    """Every agent below the one that started it."""
    children: dict[str, list[shapes.Spawned]] = {}
    for one in rows:
        children.setdefault(one.by, []).append(one)
    started_names = {one.agent for one in rows}
    for top in [by for by in children if by not in started_names]:
        yield safe(top)
        yield from _below(top, children, 1)


def _below(above: str, children: dict[str, list[shapes.Spawned]], depth: int) -> Iterator[str]:
    for one in children.get(above, ()):
        state = (
            f"retired {ago(one.ended_at)}: {one.ending}" if one.ended_at else f"since {ago(one.created_at)}"
        )
        yield f"{INDENT * depth}{safe(one.agent)}  ({one.template}, {state})"
        yield from _below(one.agent, children, depth + 1)
