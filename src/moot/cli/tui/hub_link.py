"""The chat's connection to the hub: what it reads, and how it reconnects when the hub has gone.

Above: chat_room.py. Below: the SDK, on a hub in this process or elsewhere. Not here: what is done with the answers.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Final

from moot import shapes
from moot.cli.tui.chat_state import AgentsRead, ChatSnapshot, HubLost, OlderRead
from moot.errors import HubAbsent, MootError
from moot.model.event import EventType

if TYPE_CHECKING:
    from moot.hub import Hub

PAGE: Final = 60
MAX_UNREAD: Final = 500
FIRST_RETRY: Final = 0.25
MAX_RETRY: Final = 4.0


class HubLink:
    def __init__(self, hub: Hub, reopen: Callable[[], Awaitable[Hub]] | None = None) -> None:
        self.hub = hub
        self.is_up = asyncio.Event()
        self.is_up.set()
        self._reopen = reopen
        self._after: str | int = hub.position
        """The position after which events are still to come; taken before anything is read, so none is missed."""

    async def snapshot(self, conversation: str, many: int = PAGE) -> ChatSnapshot:
        hub = self.hub
        where = await hub.conversations.get(conversation)
        messages = tuple(await hub.newest(where.id, many)) if many else ()
        turns = await hub.turns(conversation=where.id)
        now = await self.everybody(where.id)
        return ChatSnapshot(
            me=hub.name,
            where=where,
            messages=messages,
            turns=tuple(turns),
            agents=now.agents,
            unread=now.unread,
            asking=now.asking,
            has_more=bool(messages) and messages[0].seq > 1,
        )

    async def everybody(self, here: str) -> AgentsRead:
        agents = await self.hub.agents.list()
        waiting = await self.hub.inbox(unread=True, limit=MAX_UNREAD)
        unread = Counter(each.message.conversation for each in waiting)
        unread.pop(here, None)
        decisions = await self.hub.decisions.list(state="open")
        asking = frozenset(decision.by for decision in decisions if decision.to == self.hub.name)
        return AgentsRead(tuple(agents), dict(unread), asking)

    async def older(self, conversation: str, before: int) -> OlderRead:
        messages = await self.hub.messages(conversation, before=before, limit=PAGE)
        turns = await self.hub.turns(conversation=conversation)
        return OlderRead(tuple(messages), tuple(turns), bool(messages) and messages[0].seq > 1)

    async def changes(self, here: Callable[[], str]) -> AsyncIterator[shapes.Event | ChatSnapshot | HubLost]:
        """Every change, without end. If the hub goes away: HubLost, then a snapshot once it, or another hub on the same
        home, is up. `here` returns the conversation on the screen at that time."""
        while True:
            try:
                async for event in self.hub.events(after=self._after):
                    if event.type == EventType.RESET:
                        self._after = int(event.body["after"])
                        break
                    self._after = event.id or self._after
                    yield event
                yield await self.snapshot(here())
            except HubAbsent:
                yield HubLost()
                yield await self._reconnect(here)

    async def _reconnect(self, here: Callable[[], str]) -> ChatSnapshot:
        self.is_up.clear()
        patience = FIRST_RETRY
        while True:
            try:
                if self._reopen is not None:
                    self.hub = await self._reopen()
                    self._after = self.hub.position
                snapshot = await self.snapshot(here())
            except (MootError, OSError):  # still away, or just starting
                await asyncio.sleep(patience)
                patience = min(MAX_RETRY, patience * 2)
            else:
                self.is_up.set()
                return snapshot

    async def wait_until_up(self, seconds: float) -> bool:
        """Wait for a hub; False if none came in time."""
        try:
            async with asyncio.timeout(seconds):
                await self.is_up.wait()
        except TimeoutError:
            return False
        return True
