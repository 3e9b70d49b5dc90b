"""The chat's way to the hub: what it asks of it, and how it finds another one when the hub has gone.

Above: chat_room.py. Below: the SDK, on a hub in this process or elsewhere. Not here: what is made of the answers.
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
        """The event from which on nothing was heard yet: taken before anything is read, so nothing lies between."""

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
        asked = await self.hub.decisions.list(state="open")
        asking = frozenset(decision.by for decision in asked if decision.to == self.hub.name)
        return AgentsRead(tuple(agents), dict(unread), asking)

    async def older(self, conversation: str, before: int) -> OlderRead:
        messages = await self.hub.messages(conversation, before=before, limit=PAGE)
        turns = await self.hub.turns(conversation=conversation)
        return OlderRead(tuple(messages), tuple(turns), bool(messages) and messages[0].seq > 1)

    async def happenings(
        self, here: Callable[[], str]
    ) -> AsyncIterator[shapes.Event | ChatSnapshot | HubLost]:
        """Everything that happens, without end. Where the hub goes away, that is told, then what holds once it, or
        another on the same home, is there; `here` is the conversation that is looked at then."""
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
                yield await self._found_again(here)

    async def _found_again(self, here: Callable[[], str]) -> ChatSnapshot:
        self.is_up.clear()
        patience = FIRST_RETRY
        while True:
            try:
                if self._reopen is not None:
                    self.hub = await self._reopen()
                    self._after = self.hub.position
                seen = await self.snapshot(here())
            except (MootError, OSError):  # still away, or just starting
                await asyncio.sleep(patience)
                patience = min(MAX_RETRY, patience * 2)
            else:
                self.is_up.set()
                return seen

    async def again(self, seconds: float) -> bool:
        """Wait for a hub; False where none came in time."""
        try:
            async with asyncio.timeout(seconds):
                await self.is_up.wait()
        except TimeoutError:
            return False
        return True
