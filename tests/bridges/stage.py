"""A hub and a chat app with a bridge between them, and what a test does with the three."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from moot import Hub, shapes
from moot.bridges.intake import Manners
from moot.bridges.worker import BridgeWorker
from moot.model.records.chat_apps.bridge import ChatKind
from tests.bridges.worlds import AGENTS, KARL, Shown, World
from tests.support.waiting import PATIENCE, until


class Stage:
    def __init__(self, hub: Hub, world: World, manners: Manners | None = None) -> None:
        self.hub = hub
        self.world = world
        self.manners = manners or Manners(default_agent="analyst")
        self.worker: BridgeWorker
        self._running: asyncio.Task[None] | None = None

    async def connect(self, seconds: float = PATIENCE) -> None:
        self.worker = BridgeWorker(self.hub, self.world.bridge(), self.manners)
        self._running = asyncio.ensure_future(self.worker.run())
        async with asyncio.timeout(seconds):
            await self.worker.is_running.wait()

    async def disconnect(self) -> None:
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running
            self._running = None

    async def quiet(self) -> None:
        """Everything that was written is taken in, everybody has answered, and every answer was sent. A worker whose
        lease ran out while the machine stood still lets a post lie until it has it again."""

        async def at_rest() -> bool:
            if not self.world.is_drained():
                return False
            await self.hub.settled(timeout=PATIENCE)
            await self.worker.dispatch.plan_all()
            await self.worker.dispatch.settled()
            return self.world.is_drained() and not await self.hub.bridges.posts("queued")

        await until(at_rest, bool, PATIENCE)

    async def group(self, kind: ChatKind = ChatKind.SUPERGROUP) -> tuple[str, str]:
        """A paired group with all bots in it: the chat, and its conversation."""
        chat = self.world.add_group(kind)
        await self.quiet()
        return chat, await self.pair(chat)

    async def pair(self, chat: str, account: str = KARL, agents: Sequence[str] = AGENTS) -> str:
        code = await self.hub.bridges.code(self.world.bridge_name)
        names = "" if self.world.has_bots else " ".join(agents)
        self.world.say(chat, account, f"/pair {code.code} {names}")
        found = await until(lambda: self.chat(chat), lambda one: one.state == "paired", PATIENCE)
        await self.quiet()
        return str(found.conversation)

    async def chat(self, chat: str) -> shapes.ChatElsewhere:
        found = [one for one in await self.hub.bridges.chats() if one.chat == chat]
        return found[0] if found else shapes.ChatElsewhere("", chat, "", "", "unknown", None, (), "", None)

    async def said(self, conversation: str) -> list[tuple[str, str]]:
        return [(m.sender, m.text) for m in await self.hub.messages(conversation) if m.kind != "system"]

    async def shown(self, chat: str, since: int = 0) -> list[Shown]:
        await self.quiet()
        return self.world.posts(chat)[since:]
