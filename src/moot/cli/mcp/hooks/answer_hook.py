"""The answer of a hook: which agent the session is, and what the hub delivers to it now.

The hub is told only after the client has the messages: a hook that is killed before that has delivered nothing.
"""

import asyncio
from typing import Final, cast

from moot.cli.frame.hub_access import open_hub
from moot.cli.frame.session import Session
from moot.cli.mcp.hooks.identity import session_agent
from moot.cli.mcp.hooks.run_hook import HookMoment, Say
from moot.cli.mcp.hooks.wake_text import MAX_MESSAGES, hook_output
from moot.client import RemoteHub
from moot.errors import NotFound
from moot.settings.home import Home

SECONDS: Final = 5.0
"""Half of what the client allows: what was handed out must still reach the client."""


def answer(home: Home, moment: HookMoment, say: Say) -> None:
    asyncio.run(_answer_in_time(home, moment, say))


async def _answer_in_time(home: Home, moment: HookMoment, say: Say) -> None:
    session = Session()
    session.home_option = str(home.path)
    async with asyncio.timeout(SECONDS), open_hub(session) as connection:
        hub = cast(RemoteHub, connection)  # one of our own has the same methods
        name = moment.name or session_agent(await hub.agents.arrivals(moment.client, str(moment.folder)))
        if not name:
            return
        try:
            delivery = await hub.agents.hooked(name, moment.event, again=moment.again, limit=MAX_MESSAGES)
        except NotFound:  # there is no such agent yet, or the hub itself wakes it
            return
        output = hook_output(moment.event, delivery)
        if output is not None:
            say(output)
        if output is not None or delivery.found.handed:
            await hub.agents.hook_said(name, handed=delivery.found.handed)
