"""Waiting until nothing is open: no turn waits, is ready, held or running. Owed ones do not count."""

import asyncio

from moot import shapes
from moot.hub.core import Core
from moot.model.ids import ConversationId
from moot.model.turn import Turn, TurnState

MOVING = (TurnState.READY, TurnState.RUNNING, TurnState.HELD)
UNSETTLED = (TurnState.WAITING, *MOVING)


async def unsettled(core: Core, conversation: str | None) -> list[shapes.Turn]:
    where = (await core.directory.conversation(conversation)).id if conversation else None
    return [shapes.Turn.of(turn, core.directory.name) for turn in await _open(core, where)]


async def _open(core: Core, where: ConversationId | None) -> list[Turn]:
    """The turns to wait for: not those that are owed, nor questions that wait behind one that is."""
    turns: list[Turn] = await core.parts.store.turns(conversation=where, states=UNSETTLED)
    if not any(turn.is_queued_ask for turn in turns):
        return turns
    owed = await core.parts.store.turns(conversation=where, states=(TurnState.OWED,))
    absent = {(turn.conversation, turn.agent) for turn in owed}
    return [t for t in turns if not (t.is_queued_ask and (t.conversation, t.agent) in absent)]


async def _is_settled(core: Core, where: ConversationId | None) -> bool:
    """Questions that wait have one before them, and that one is not settled unless it is owed."""
    store = core.parts.store
    if await store.turns(conversation=where, states=MOVING, limit=1):
        return False
    waiting: list[Turn] = await store.turns(conversation=where, states=(TurnState.WAITING,))
    return all(turn.is_queued_ask for turn in waiting)


async def settled(core: Core, conversation: str | None, seconds: float) -> None:
    """Return once nothing is open; `TimedOut` with what still is."""
    where = (await core.directory.conversation(conversation)).id if conversation else None
    await core.watch()
    subscription = core.parts.log.subscribe(conversation=where)
    try:
        async with asyncio.timeout(seconds):
            if await _is_settled(core, where):
                return
            async for event in subscription:
                if event.turn is None or event.turn.state in UNSETTLED:
                    continue
                if await _is_settled(core, where):
                    return
    except TimeoutError:
        raise shapes.still_open(await unsettled(core, conversation), seconds) from None
    finally:
        subscription.close()
