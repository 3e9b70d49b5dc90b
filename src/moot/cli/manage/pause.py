"""`moot pause` and `moot resume`: an agent that gets no turns for a while, in moot.toml or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from moot.cli.frame import resolve
from moot.cli.frame.hub_access import with_hub
from moot.cli.frame.params import leaf
from moot.cli.frame.session import Session

if TYPE_CHECKING:
    from moot import shapes
    from moot.hub import Hub


@leaf("pause", examples=("moot pause arya", "moot pause arya gendry --json"))
@click.argument("names", nargs=-1, required=True, metavar="AGENT...")
def pause(session: Session, names: tuple[str, ...]) -> None:
    """Pause agents: they get no turns until they are resumed.

    What is waiting for them is dropped, and messages to them are kept: they read these with their next turn.
    """
    for agent in _each(session, names, paused=True):
        resume_it = session.screen.command(f"moot resume {agent.name}")
        session.screen.say(f"paused {agent.name}; it gets no turns until {resume_it}")


@leaf("resume", examples=("moot resume arya", "moot resume arya gendry --json"))
@click.argument("names", nargs=-1, required=True, metavar="AGENT...")
def resume(session: Session, names: tuple[str, ...]) -> None:
    """Resume paused agents: they get turns again."""
    for agent in _each(session, names, paused=False):
        session.screen.say(f"resumed {agent.name}")


def _each(session: Session, names: tuple[str, ...], *, paused: bool) -> list[shapes.Agent]:
    """Carried out for all of them or for none: a name that is wrong is refused first. For programs, printed here."""

    async def work(hub: Hub) -> list[shapes.Agent]:
        full_names = await resolve.agents(hub, resolve.names_in(names))
        carry_out = hub.agents.pause if paused else hub.agents.resume
        return [await carry_out(name) for name in dict.fromkeys(full_names)]

    agents_changed = with_hub(session, work)
    if session.json:
        session.screen.data([agent.to_dict() for agent in agents_changed])
        return []
    return agents_changed
