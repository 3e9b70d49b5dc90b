"""A new agent of moot.toml, added by an operator: its row, its files, and the hub runs it at once.

Above: `hub.operator.add_agent`, which the page uses. Below: settings/toml/agents.py writes the row, settings/starter.py
the files. Not here: brains that run programs of this machine; those are named by whoever can edit the file.
"""

import asyncio
import os
from typing import Final

from moot.errors import BadName, BadValue, Conflict, MootError
from moot.hub.core import Core
from moot.model.hint import Act, Hint
from moot.model.participant import Kind
from moot.rules.brain_kinds import has_model
from moot.settings.starter import StarterAgent, write_workspace
from moot.settings.toml.agents import add_agent

DEMO: Final = "demo"


async def add(core: Core, name: str, *, role: str, brain: str) -> None:
    if brain != DEMO and not has_model(brain):
        raise BadValue(
            f'an agent with the brain "{brain}" cannot be made from here',
            detail="expected demo, anthropic:MODEL, openai:MODEL or openai:MODEL@URL; what runs a program is set up on "
            "its own machine",
            fix=(Hint(Act.NEW_AGENT, agent=name),),
        )
    await _check_name(core, name)
    home = core.parts.home
    typed = {"role": role.replace("${", "$${"), "brain": brain}
    take_back = await asyncio.to_thread(add_agent, home, os.environ, name, typed)
    try:
        await core.reload()
    except MootError:  # a refusal changes nothing
        await asyncio.to_thread(take_back)
        raise
    participant = await core.directory.participant(name)
    user = core.parts.settings.hub.user
    await asyncio.to_thread(
        write_workspace, home.agents / participant.id, StarterAgent(name, role, brain), user
    )


async def _check_name(core: Core, name: str) -> None:
    """Who has the name, or had it, is not made anew; an agent that was taken out of the file comes back."""
    for participant in await core.parts.store.participants():
        if name in participant.aliases:
            raise BadName(
                f'a new agent cannot be called "{name}": that is a former name of {participant.name}',
                detail="former names stay reserved, so that old messages keep their author",
                problem="taken",
            )
        if participant.name == name and participant.listed and participant.kind is not Kind.AGENT:
            raise Conflict(
                f"{name} already exists, as {participant.kind.value}",
                fix=(Hint(Act.SHOW_AGENT, agent=name),),
                agent=name,
            )
