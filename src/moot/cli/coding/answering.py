"""What a hook answers: who the session is, what waits for it, and that its hooks work.

What is handed over is handed out, as by `check_messages`: a turn is open, and what the agent says belongs to it.
"""

import asyncio
import json
from typing import Any, Final, cast

from moot.cli.coding.hooking import Asked
from moot.cli.coding.identity import mine
from moot.cli.coding.waking import MOST, announced, handed_over
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
        return await _answer(hub, Unread(home, name), moment, name) if name else None


async def _answer(hub: RemoteHub, unread: "Unread", moment: Asked, name: str) -> dict[str, Any] | None:
    try:
        await hub.agents.seen(name, door="mcp", reach="next-turn")
    except NotFound:  # the server of this session has not said yet who it is
        return None
    if moment.event == "SessionStart":
        unread.keep([turn.id for turn in await hub.turns(agent=name, state="running")])
        return announced(name, (await hub.agents.get(name)).queue)
    if not moment.wants_messages:
        return None
    found = await hub.acting_as(name).check(limit=MOST, handed=await _read(hub, name, unread))
    return handed_over(moment.event, name, found)


async def _read(hub: RemoteHub, name: str, unread: "Unread") -> list[str] | None:
    """The open turns that this session was given: all, but for those that were open when it began."""
    before = unread.take()
    if not before:
        return None
    return [turn.id for turn in await hub.turns(agent=name, state="running") if turn.id not in before]


class Unread:
    """Turns that an earlier session of an agent was given and left open: a new one has not read them."""

    def __init__(self, home: Home, name: str) -> None:
        self._path = home.run / "hooks" / f"{name}.json"

    def keep(self, turns: list[str]) -> None:
        if not turns:
            self._path.unlink(missing_ok=True)
            return
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        self._path.write_text(json.dumps(turns), encoding="utf-8")

    def take(self) -> list[str]:
        """Once: from then on they were read."""
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
            self._path.unlink()
        except (OSError, ValueError):
            return []
        return [str(turn) for turn in found] if isinstance(found, list) else []
