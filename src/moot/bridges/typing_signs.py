"""Signs that somebody is at work: typing while a turn runs, and what it has said so far where a chat app has drafts.

Nobody misses a sign that failed, and none is kept. Above: worker.py tells what happens to turns. Below: the bridge.
"""

import asyncio
from contextlib import suppress
from typing import Final

from moot.bridges.bridge import Bridge
from moot.hub import Hub
from moot.model.records.chat_apps.bridge import BridgeChat, PairingState
from moot.shapes import Event

TYPING_SECONDS: Final = 4.0
"""After so long it has to be shown again."""
DRAFT_SECONDS: Final = 3.0
"""At most one draft in so long: chat apps count them as posts."""
MAX_SECONDS: Final = 900.0
"""A turn whose end nobody told of is not shown for ever."""


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
        """What it has said so far."""
        return self._texts.get(turn, "")

    async def began(self, event: Event) -> None:
        turn, speaker = str(event.body.get("id", "")), str(event.body.get("agent", ""))
        self.ended(turn)
        shown = [
            asyncio.ensure_future(self._show(chat, speaker, turn))
            for chat in await self._records.chats(self._bridge.name)
            if chat.state is PairingState.PAIRED and chat.conversation == event.conversation
        ]
        if shown:
            self._tasks[turn] = shown

    def said(self, event: Event) -> None:
        """A piece of an answer that grows."""
        turn, offset = str(event.body.get("turn", "")), int(event.body.get("offset") or 0)
        if turn in self._tasks:
            before = self._texts.get(turn, "")
            self._texts[turn] = before[:offset] + str(event.body.get("text", ""))

    def ended(self, turn: str) -> None:
        self._texts.pop(turn, None)
        for task in self._tasks.pop(turn, []):
            task.cancel()

    async def close(self) -> None:
        tasks = [task for shown in self._tasks.values() for task in shown]
        for turn in list(self._tasks):
            self.ended(turn)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _show(self, chat: BridgeChat, speaker: str, turn: str) -> None:
        clock, has_drafts = self._records.clock, self._bridge.has_drafts(chat.kind)
        end, shown = clock.now() + MAX_SECONDS, ""
        while clock.now() < end:
            text = self.text_of(turn) if has_drafts else ""
            with suppress(Exception):  # the border of the bridge: nobody misses it
                if text and text != shown:
                    shown = text
                    await self._bridge.show_draft(chat.chat, speaker, turn, text)
                else:
                    await self._bridge.show_typing(chat.chat, speaker)
            await clock.sleep_until(clock.now() + (DRAFT_SECONDS if has_drafts else TYPING_SECONDS))
