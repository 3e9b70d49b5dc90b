"""A chat app in memory, and the bridge to it: what every bridge promises can be tried without a network.

It models groups and private chats, one bot per agent, deliveries that are repeated until they are acknowledged, a flood
limit and connections that break. It models neither privacy modes nor topics nor anything else of a real one.
"""

import asyncio
from collections import defaultdict, deque
from itertools import count

from msgspec import Struct

from moot.bridges.bridge import (
    AccountRef,
    BotPlaced,
    BridgeInbox,
    ButtonPress,
    ChatMessage,
    ChatRef,
    FloodRule,
    Incoming,
)
from moot.model.entrance import DoorName
from moot.model.records.chat_apps.bridge import BridgePost, ChatKind


class MemoryPost(Struct, frozen=True):
    """What a bot has posted."""

    chat: str
    speaker: str
    text: str
    id: str
    buttons: tuple[str, ...] = ()


class MemoryChatApp:
    """The chat app itself: it outlives the bridges that connect to it."""

    def __init__(self, *bots: str) -> None:
        self.bots = bots
        self.members: dict[str, tuple[ChatRef, tuple[str, ...]]] = {}
        self.posts: list[MemoryPost] = []
        self.edits: list[str] = []
        self.typing: list[tuple[str, str]] = []
        self.drafts: list[tuple[str, str, str]] = []
        self.troubles: deque[tuple[BaseException, bool]] = deque()
        """What the next posts meet: a trouble, and whether they are there all the same."""
        self._ids = count(1)
        self._queues: defaultdict[str, deque[Incoming]] = defaultdict(deque)
        self._grown = asyncio.Event()

    def add_chat(self, chat: str, kind: ChatKind, *bots: str, title: str = "") -> None:
        ref = ChatRef(chat, kind, title or chat)
        self.members[chat] = (ref, bots or self.bots)
        for bot in self.members[chat][1]:
            self.deliver(bot, BotPlaced(ref, bot))

    def say(self, chat: str, account: AccountRef, text: str, *, reply_to: str = "") -> str:
        """Everybody's bot in the chat hears it."""
        ref, bots = self.members[chat]
        id = str(next(self._ids))
        for bot in bots:
            own = f"{bot}-{id}" if ref.kind is ChatKind.GROUP else id
            key = f"{chat}/{own}" if ref.kind is not ChatKind.PRIVATE else f"{bot}/{chat}/{own}"
            self.deliver(bot, ChatMessage(key, ref, account, text, bot, own, reply_to))
        return id

    def press(self, account: AccountRef, post: MemoryPost, choice: int) -> None:
        ref, bots = self.members[post.chat]
        key = f"press/{next(self._ids)}"
        self.deliver(bots[0], ButtonPress(key, ref, account, post.id, choice, bots[0]))

    def deliver(self, bot: str, incoming: Incoming) -> None:
        self._queues[bot].append(incoming)
        self._grown.set()

    def posted(self, chat: str) -> list[MemoryPost]:
        return [post for post in self.posts if post.chat == chat]

    @property
    def is_drained(self) -> bool:
        return not any(self._queues.values())

    async def next_of(self, bot: str) -> Incoming:
        while not self._queues[bot]:
            self._grown.clear()
            await self._grown.wait()
        return self._queues[bot][0]

    def acknowledge(self, bot: str) -> None:
        self._queues[bot].popleft()

    def take(self, post: BridgePost) -> str:
        id = f"p{next(self._ids)}"
        self.posts.append(MemoryPost(post.chat, post.speaker, post.text, id, post.buttons))
        return id


class MemoryBridge:
    name = DoorName.TELEGRAM
    max_size = 400

    def __init__(self, app: MemoryChatApp, rule: FloodRule | None = None) -> None:
        self._app = app
        self._rule = rule or FloodRule(0.0, 1000)

    def size(self, text: str) -> int:
        return len(text)

    def flood_rule(self, kind: ChatKind) -> FloodRule:
        return self._rule

    def can_speak_as(self, agent: str) -> bool:
        return agent in self._app.bots

    async def run(self, inbox: BridgeInbox) -> None:
        async with asyncio.TaskGroup() as listeners:
            for bot in self._app.bots:
                listeners.create_task(self._listen(bot, inbox))

    async def _listen(self, bot: str, inbox: BridgeInbox) -> None:
        while True:
            await inbox.hear(await self._app.next_of(bot))
            self._app.acknowledge(bot)

    async def send(self, post: BridgePost) -> str:
        await asyncio.sleep(0)
        if not self._app.troubles:
            return self._app.take(post)
        trouble, is_there = self._app.troubles.popleft()
        if is_there:
            self._app.take(post)
        raise trouble

    async def show_typing(self, chat: str, speaker: str) -> None:
        self._app.typing.append((chat, speaker))

    def has_drafts(self, kind: ChatKind) -> bool:
        return kind is ChatKind.PRIVATE

    async def show_draft(self, chat: str, speaker: str, turn: str, text: str) -> None:
        self._app.drafts.append((chat, speaker, text))

    async def edit(self, post: BridgePost) -> None:
        self._app.edits.append(post.text)
        changed = [
            MemoryPost(one.chat, one.speaker, post.text, one.id) if one.id == post.external else one
            for one in self._app.posts
        ]
        self._app.posts[:] = changed
