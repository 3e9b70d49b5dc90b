"""`moot agents spawn|tree`: agents that are started from templates, by people and by other agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from moot import shapes
from moot.cli.frame.hub_access import with_hub, with_reading
from moot.cli.frame.session import Session
from moot.cli.run.agent_daemon import agents
from moot.cli.terminal.screen import safe
from moot.cli.terminal.spawn_tree import tree_lines

if TYPE_CHECKING:
    from moot.hub import Hub

__all__ = ["agents"]


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
    for line in tree_lines([one.to_dict() for one in rows]):
        session.screen.say(line)
