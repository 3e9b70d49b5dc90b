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

    made = with_hub(session, work)
    if session.json:
        session.screen.data(made.to_dict())
        return
    session.screen.say(f"{safe(made.agent)} was started from the template {made.template}")
    if made.task is not None:
        session.screen.say(f"it was given the task {made.task.id}")


@agents.command("tree", examples=("moot agents tree", "moot agents tree --json"))
@click.pass_obj
def tree(session: Session) -> None:
    """Show who started whom; agents that retired in the last day too."""
    found = with_reading(session, lambda hub: hub.agents.tree())
    if session.json:
        session.screen.data([one.to_dict() for one in found])
        return
    if not found:
        session.screen.note("no agents were started from templates")
    for line in _lines(found):
        session.screen.say(line)


def _lines(found: list[shapes.Spawned]) -> Iterator[str]:
    """Everybody below whoever started it."""
    children: dict[str, list[shapes.Spawned]] = {}
    for one in found:
        children.setdefault(one.by, []).append(one)
    started = {one.agent for one in found}
    for top in [by for by in children if by not in started]:
        yield safe(top)
        yield from _below(top, children, 1)


def _below(above: str, children: dict[str, list[shapes.Spawned]], depth: int) -> Iterator[str]:
    for one in children.get(above, ()):
        state = (
            f"retired {ago(one.ended_at)}: {one.ending}" if one.ended_at else f"since {ago(one.created_at)}"
        )
        yield f"{INDENT * depth}{safe(one.agent)}  ({one.template}, {state})"
        yield from _below(one.agent, children, depth + 1)
