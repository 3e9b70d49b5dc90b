"""What a hook answers: which agent the session is, and what the hub hands over at this moment."""

import asyncio
from typing import Any, Final, cast

from moot.cli.coding.hooking import Asked
from moot.cli.coding.identity import mine
from moot.cli.coding.waking import MOST, said
from moot.cli.opening import opened_hub
from moot.cli.session import Session
from moot.client import RemoteHub
from moot.errors import NotFound
from moot.settings.home import Home

SECONDS: Final = 5.0
"""Half of what the client allows: what was handed out must still reach it."""


def answer(home: Home, moment: Asked) -> dict[str, Any] | None:
    return asyncio.run(_bounded(home, moment))


async def _bounded(home: Home, moment: Asked) -> dict[str, Any] | None:
    session = Session()
    session.home_option = str(home.path)
    async with asyncio.timeout(SECONDS), opened_hub(session) as opened:
        hub = cast(RemoteHub, opened)  # one of our own has the same methods
        name = moment.name or mine(await hub.agents.arrivals(moment.client, str(moment.folder)))
        if not name:
            return None
        try:
            told = await hub.agents.hooked(name, moment.event, again=moment.again, limit=MOST)
        except NotFound:  # nobody is called so yet, or it is the hub's own to wake
            return None
    return said(moment.event, told)
