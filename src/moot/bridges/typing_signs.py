"""Signs that somebody is at work: typing while a turn runs, and what it has said so far where a chat app has drafts.

A failed sign is ignored, and none is stored. Above: worker.py reports what happens to turns. Below: the bridge.
"""

import asyncio
from contextlib import suppress
from typing import Final

from moot.bridges.bridge import Bridge
from moot.hub import Hub
from moot.model.records.chat_apps.bridge import BridgeChat, PairingState
from moot.shapes import Event

TYPING_SECONDS: Final = 4.0
"""How long a chat app shows that somebody is typing."""
DRAFT_SECONDS: Final = 3.0
"""Between two drafts: chat apps count them as posts."""
MAX_SECONDS: Final = 900.0
"""A turn whose end was missed is not shown for ever."""


class TypingSigns:
    def __init__(self, hub: Hub, bridge: Bridge) -> None:
        self._records = hub.bridges.records
        self._bridge = bridge
        self._tasks: dict[str, list[asyncio.Task[None]]] = {}
        """Turn → one for each chat in which it is shown."""
        self._texts: dict[str, str] = {}

    @property
    def shown(self) -> dict[str, int]:
        """Turn → in how many chats it is shown now."""
        return {turn: len(tasks) for turn, tasks in self._tasks.items()}

    def text_of(self, turn: str) -> str:
        """The text of a turn so far."""
        return self._texts.get(turn, "")

    async def begin(self, event: Event) -> None:
        turn, speaker = str(event.body.get("id", "")), str(event.body.get("agent", ""))
        self.end(turn)
        tasks = [
            asyncio.ensure_future(self._show(chat, speaker, turn))
            for chat in await self._records.chats(self._bridge.name)
            if chat.state is PairingState.PAIRED and chat.conversation == event.conversation
        ]
        if tasks:
            self._tasks[turn] = tasks

    def append(self, event: Event) -> None:
        """Add a piece to the answer that grows."""
        turn, offset = str(event.body.get("turn", "")), int(event.body.get("offset") or 0)
        if turn in self._tasks:
            before = self._texts.get(turn, "")
            self._texts[turn] = before[:offset] + str(event.body.get("text", ""))

    def end(self, turn: str) -> None:
        self._texts.pop(turn, None)
        for task in self._tasks.pop(turn, []):
            task.cancel()

    async def close(self) -> None:
        tasks = [task for running in self._tasks.values() for task in running]
        for turn in list(self._tasks):
            self.end(turn)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _show(self, chat: BridgeChat, speaker: str, turn: str) -> None:
        clock, has_drafts = self._records.clock, self._bridge.has_drafts(chat.kind)
        end, shown = clock.now() + MAX_SECONDS, ""
        while clock.now() < end:
            text = self.text_of(turn) if has_drafts else ""
            with suppress(Exception):  # the border of the bridge: a failed sign is ignored
                if text and text != shown:
                    shown = text
                    await self._bridge.show_draft(chat.chat, speaker, turn, text)
                else:
                    await self._bridge.show_typing(chat.chat, speaker)
            await clock.sleep_until(clock.now() + (DRAFT_SECONDS if has_drafts else TYPING_SECONDS))
