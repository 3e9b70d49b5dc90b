"""Waiting until nothing is open: no turn waits, is ready, held or running. Owed ones do not count."""

import asyncio

from moot import shapes
from moot.hub.core import Core
from moot.model.turn import TurnState

UNSETTLED = (TurnState.WAITING, TurnState.READY, TurnState.RUNNING, TurnState.HELD)


async def unsettled(core: Core, conversation: str | None) -> list[shapes.Turn]:
    where = (await core.conversation(conversation)).id if conversation else None
    found = await core.parts.store.turns(conversation=where, states=UNSETTLED)
    return [shapes.Turn.of(turn, core.names) for turn in found]


async def settled(core: Core, conversation: str | None, seconds: float) -> None:
    """Return once nothing is open; `TimedOut` with what still is."""
    where = (await core.conversation(conversation)).id if conversation else None
    await core.watch()
    subscription = core.parts.log.subscribe(conversation=where)
    store = core.parts.store
    try:
        async with asyncio.timeout(seconds):
            if not await store.turns(conversation=where, states=UNSETTLED, limit=1):
                return
            async for event in subscription:
                if event.turn is None or event.turn.state in UNSETTLED:
                    continue
                if not await store.turns(conversation=where, states=UNSETTLED, limit=1):
                    return
    except TimeoutError:
        raise shapes.still_open(await unsettled(core, conversation), seconds) from None
    finally:
        subscription.close()
