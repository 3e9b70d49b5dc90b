"""What a hook answers: which agent the session is, and what the hub hands over at this moment.

Only once the client has it the hub is told so. Whoever is ended before that has handed over nothing.
"""

import asyncio
from typing import Final, cast

from moot.cli.frame.hub_access import opened_hub
from moot.cli.frame.session import Session
from moot.cli.mcp.hooks.identity import mine
from moot.cli.mcp.hooks.run_hook import HookMoment, Say
from moot.cli.mcp.hooks.wake_text import MAX_MESSAGES, hook_output
from moot.client import RemoteHub
from moot.errors import NotFound
from moot.settings.home import Home

SECONDS: Final = 5.0
"""Half of what the client allows: what was handed out must still reach it."""


def answer(home: Home, moment: HookMoment, say: Say) -> None:
    asyncio.run(_bounded(home, moment, say))


async def _bounded(home: Home, moment: HookMoment, say: Say) -> None:
    session = Session()
    session.home_option = str(home.path)
    async with asyncio.timeout(SECONDS), opened_hub(session) as opened:
        hub = cast(RemoteHub, opened)  # one of our own has the same methods
        name = moment.name or mine(await hub.agents.arrivals(moment.client, str(moment.folder)))
        if not name:
            return
        try:
            hooked = await hub.agents.hooked(name, moment.event, again=moment.again, limit=MAX_MESSAGES)
        except NotFound:  # nobody is called so yet, or it is the hub's own to wake
            return
        words = hook_output(moment.event, hooked)
        if words is not None:
            say(words)
        if words is not None or hooked.found.handed:
            await hub.agents.hook_said(name, handed=hooked.found.handed)
