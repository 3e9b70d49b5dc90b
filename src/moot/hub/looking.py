"""Turns as callers ask for them: by conversation, agent and state; those that ended badly; and what they cost."""

from typing import Any

from moot import shapes
from moot.errors import BadValue
from moot.hub import deliveries
from moot.hub.core import Core
from moot.hub.usage import added_up
from moot.model.turn import TurnState

MOST_ADDED_UP = 1000


async def turns(
    core: Core, conversation: str | None, agent: str | None, state: str | None
) -> list[shapes.Turn]:
    if state is not None and state not in {item.value for item in TurnState}:
        raise BadValue(
            f'"{state}" is no state of a turn',
            detail=f"states are {', '.join(s.value for s in TurnState)}",
        )
    states = (TurnState(state),) if state else ()
    found = await core.parts.store.turns(**await _of(core, conversation, agent), states=states)
    return [shapes.Turn.of(turn, core.names) for turn in found]


async def dead_letters(core: Core, agent: str | None) -> list[shapes.Turn]:
    filters = {"agent": (await core.participant(agent)).id} if agent else {}
    return [shapes.Turn.of(turn, core.names) for turn in await deliveries.dead(core, **filters)]


async def usage(core: Core, agent: str | None, conversation: str | None) -> dict[str, Any]:
    of = await _of(core, conversation, agent)
    return added_up(await core.parts.store.turns(**of, limit=MOST_ADDED_UP))


async def _of(core: Core, conversation: str | None, agent: str | None) -> dict[str, Any]:
    return {
        "conversation": (await core.conversation(conversation)).id if conversation else None,
        "agent": (await core.participant(agent)).id if agent else None,
    }
