"""The chat apps that the contract of bridges is held against. To add one, add its world to `WORLDS`.

A world is the chat app: it outlives the bridges that connect to it, and shows what its users see.
"""

from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, NamedTuple, Protocol

from moot.bridges.bridge import AccountRef, Bridge, Flooded, FloodRule, NotSent, Unsure
from moot.model.records.chat_apps.bridge import ChatKind
from moot.testing.fake_discord import FakeDiscord
from moot.testing.fake_discord.server_state import BOT_ID, user_of
from moot.testing.fake_telegram import FakeTelegram
from moot.testing.memory_bridge import MemoryBridge, MemoryChatApp

AGENTS = ("analyst", "writer", "critic")
KARL, EVE = "1001", "1002"
NAMES = {KARL: "Karl", EVE: "Eve"}


class Shown(NamedTuple):
    """A post as people in the chat see it."""

    speaker: str
    """Whose identity it has; the bridge's own is ""."""
    text: str
    id: str


class World(Protocol):
    bridge_name: str
    kinds: tuple[ChatKind, ...]
    """The kinds of groups it has."""
    has_bots: bool
    """Each agent has a bot of its own; otherwise a chat is paired by naming its agents."""

    def bridge(self) -> Bridge: ...
    def add_group(self, kind: ChatKind, title: str = "Team A") -> str:
        """A group with all bots in it."""
        ...

    def add_private(self, account: str, agent: str) -> str: ...
    def say(self, chat: str, account: str, text: str, *, reply_to: str = "") -> str: ...
    def repeat(self, chat: str) -> None:
        """Everything that was delivered in a chat is delivered once more."""
        ...

    def say_as_bot(self, chat: str, agent: str, text: str) -> None:
        """One of our own bots' posts comes back to the others."""
        ...

    def posts(self, chat: str) -> list[Shown]: ...
    def press(self, chat: str, account: str, post: str, choice: int) -> None: ...
    def flood(self, seconds: float) -> None: ...
    def refuse_for_good(self) -> None:
        """The next post is surely not taken, however often it is tried."""
        ...

    def break_off(self, *, is_there: bool) -> None:
        """The next post gets no answer."""
        ...

    def is_drained(self) -> bool:
        """Whether everything that was delivered is acknowledged."""
        ...

    def typed(self, chat: str) -> list[str]: ...


class MemoryWorld:
    bridge_name = "telegram"
    kinds: tuple[ChatKind, ...] = (ChatKind.SUPERGROUP, ChatKind.GROUP)
    has_bots = True

    def __init__(self) -> None:
        self.app = MemoryChatApp(*AGENTS)
        self._said: dict[str, list[tuple[str, str, str]]] = {}

    def bridge(self) -> Bridge:
        return MemoryBridge(self.app)

    def add_group(self, kind: ChatKind, title: str = "Team A") -> str:
        chat = f"-10{len(self.app.members)}"
        self.app.add_chat(chat, kind, title=title)
        return chat

    def add_private(self, account: str, agent: str) -> str:
        chat = f"{agent}:{account}"
        self.app.add_chat(chat, ChatKind.PRIVATE, agent, title=NAMES[account])
        return chat

    def say(self, chat: str, account: str, text: str, *, reply_to: str = "") -> str:
        id = self.app.say(chat, AccountRef(account, NAMES[account]), text, reply_to=reply_to)
        self._said.setdefault(chat, []).append((id, account, text))
        return id

    def repeat(self, chat: str) -> None:
        from moot.bridges.bridge import ChatMessage  # noqa: PLC0415

        ref, bots = self.app.members[chat]
        for id, account, text in reversed(self._said[chat]):
            for bot in bots:
                own = f"{bot}-{id}" if ref.kind is ChatKind.GROUP else id
                key = f"{chat}/{own}" if ref.kind is not ChatKind.PRIVATE else f"{bot}/{chat}/{own}"
                self.app.deliver(
                    bot, ChatMessage(key, ref, AccountRef(account, NAMES[account]), text, bot, own)
                )

    def say_as_bot(self, chat: str, agent: str, text: str) -> None:
        self.app.say(chat, AccountRef(f"bot-{agent}", agent, is_bot=True), text)

    def posts(self, chat: str) -> list[Shown]:
        return [Shown(post.speaker, post.text, post.id) for post in self.app.posted(chat)]

    def press(self, chat: str, account: str, post: str, choice: int) -> None:
        [found] = [one for one in self.app.posted(chat) if one.id == post]
        self.app.press(AccountRef(account, NAMES[account]), found, choice)

    def flood(self, seconds: float) -> None:
        self.app.troubles.append((Flooded(seconds), False))

    def refuse_for_good(self) -> None:
        self.app.troubles.extend((NotSent("bad gateway"), False) for _ in range(5))

    def break_off(self, *, is_there: bool) -> None:
        self.app.troubles.append((Unsure("connection lost"), is_there))

    def is_drained(self) -> bool:
        return self.app.is_drained

    def typed(self, chat: str) -> list[str]:
        return [speaker for where, speaker in self.app.typing if where == chat]


class TelegramWorld:
    """The real bridge, speaking over sockets to a fake of the Bot API."""

    bridge_name = "telegram"
    kinds: tuple[ChatKind, ...] = (ChatKind.SUPERGROUP, ChatKind.GROUP)
    has_bots = True

    def __init__(self, server: FakeTelegram) -> None:
        self.server = server
        self.tokens = {agent: f"{number}11:token-{agent}" for number, agent in enumerate(AGENTS, 1)}
        for agent, token in self.tokens.items():
            server.add_bot(token, f"{agent}_bot", sees_bots=True)
        self._agents = {token: agent for agent, token in self.tokens.items()}

    def bridge(self) -> Bridge:
        from moot.bridges.telegram.bridge import TelegramBridge  # noqa: PLC0415  an extra

        return TelegramBridge(self.tokens, api_url=self.server.url, pace=FloodRule(0.0, 1000), poll_seconds=2)

    def add_group(self, kind: ChatKind, title: str = "Team A") -> str:
        add = self.server.add_supergroup if kind is ChatKind.SUPERGROUP else self.server.add_basic_group
        return str(add(title, *self.tokens.values()).id)

    def add_private(self, account: str, agent: str) -> str:
        self.server.add_private(int(account), NAMES[account])
        return f"{agent}:{account}"

    def say(self, chat: str, account: str, text: str, *, reply_to: str = "") -> str:
        agent, _, number = chat.rpartition(":")
        place = self.server.chats[int(number)]
        more = {"reply_to_message": self._post(place.id, reply_to)} if reply_to else {}
        for name in AGENTS:
            text = text.replace(f"@{name}", f"@{name}_bot")
        to = self.tokens[agent] if agent else ""
        message = self.server.say(place, int(account), NAMES[account], text, to=to, **more)
        return str(message["message_id"])

    def _post(self, chat: int, number: str) -> dict[str, Any]:
        [sent] = [one for one in self.server.posts_in(chat) if str(one.number) == number]
        bot = self.server.bots[sent.bot]
        return {
            "message_id": sent.ids[sent.bot],
            "date": 1,
            "chat": self.server.chats[chat].fields,
            "from": bot.as_user,
            "text": sent.text,
        }

    def repeat(self, chat: str) -> None:
        self.server.repeat(self.server.chats[int(chat)])

    def say_as_bot(self, chat: str, agent: str, text: str) -> None:
        self.server.say_as_bot(self.server.chats[int(chat)], self.tokens[agent], text)

    def posts(self, chat: str) -> list[Shown]:
        agent, _, number = chat.rpartition(":")
        return [
            Shown("" if _is_own(one.text) else self._agents[one.bot], one.text, str(one.number))
            for one in self.server.posts_in(int(number))
            if not agent or self._agents[one.bot] == agent
        ]

    def press(self, chat: str, account: str, post: str, choice: int) -> None:
        number = int(chat.rpartition(":")[2])
        [sent] = [one for one in self.server.posts_in(number) if str(one.number) == post]
        self.server.press(int(account), NAMES[account], sent, choice)

    def flood(self, seconds: float) -> None:
        self.server.floods.append(seconds)

    def refuse_for_good(self) -> None:
        self.server.refusals.append((403, "Forbidden: bot was blocked"))

    def break_off(self, *, is_there: bool) -> None:
        self.server.breaks.append(is_there)

    def is_drained(self) -> bool:
        return self.server.is_confirmed

    def typed(self, chat: str) -> list[str]:
        number = int(chat.rpartition(":")[2])
        return [self._agents[token] for where, token in self.server.typing if where == number]


def _is_own(text: str) -> bool:
    """Whether the bridge says it, and no agent."""
    return text.startswith(("● ", "Paired", "This"))


READER = f"{b64encode(BOT_ID.encode()).decode()}.test-token.reader"


class DiscordWorld:
    """The real bridge, speaking over sockets to a fake of Discord's API and gateway."""

    bridge_name = "discord"
    kinds: tuple[ChatKind, ...] = (ChatKind.SUPERGROUP,)
    has_bots = False

    def __init__(self, server: FakeDiscord, bots: Mapping[str, str] | None = None) -> None:
        self.server = server
        self._bots = bots or {}
        self._bridge: Any = None

    def bridge(self) -> Bridge:
        from moot.bridges.discord.bridge import DiscordBridge  # noqa: PLC0415  an extra

        made = DiscordBridge(READER, self._bots, api_url=self.server.url, pace=FloodRule(0.0, 1000))
        self._bridge = made
        return made

    def add_group(self, kind: ChatKind, title: str = "Team A") -> str:
        return self.server.add_channel(title).id

    def add_private(self, account: str, agent: str) -> str:
        return self.server.add_dm(NAMES[account]).id

    def say(self, chat: str, account: str, text: str, *, reply_to: str = "") -> str:
        channel = self.server.channels[chat]
        return str(self.server.say(channel, account, NAMES[account], text, reply_to=reply_to)["id"])

    def repeat(self, chat: str) -> None:
        again = [one for one in self.server.events if one[1].get("channel_id") == chat]
        for kind, body in reversed(again):
            self.server.dispatch(kind, body)

    def say_as_bot(self, chat: str, agent: str, text: str) -> None:
        channel = self.server.channels[chat]
        author = {**user_of("777", agent), "bot": True}
        body = self.server.message(channel, self.server.next_id(), author, text)
        self.server.dispatch("MESSAGE_CREATE", {**body, "webhook_id": "777", "guild_id": "1"})

    def posts(self, chat: str) -> list[Shown]:
        found = [post for post in self.server.posts if post.channel == chat]
        return [Shown(*_speaker(post.name, post.text), post.id) for post in found]

    def press(self, chat: str, account: str, post: str, choice: int) -> None:
        [found] = [one for one in self.server.posts if one.id == post]
        self.server.press(self.server.channels[chat], account, NAMES[account], found, choice)

    def flood(self, seconds: float) -> None:
        self.server.floods.append(seconds)

    def refuse_for_good(self) -> None:
        self.server.refusals.append((403, "Missing Permissions"))

    def break_off(self, *, is_there: bool) -> None:
        self.server.breaks.append(is_there)

    def is_drained(self) -> bool:
        due_events = self.server.gateway.due_events
        return due_events is not None and self._bridge.is_listening and self._bridge.taken >= due_events

    def typed(self, chat: str) -> list[str]:
        return ["" for where in self.server.typing if where == chat]


def _speaker(name: str, text: str) -> tuple[str, str]:
    """In a direct chat the one bot speaks for all, and says for whom."""
    if not name and text.startswith("● ") and not text.startswith("● user"):
        said, _, rest = text.removeprefix("● ").partition(": ")
        return said, rest
    return name, text


@asynccontextmanager
async def memory() -> AsyncIterator[World]:
    yield MemoryWorld()


@asynccontextmanager
async def telegram() -> AsyncIterator[World]:
    async with FakeTelegram() as server:
        yield TelegramWorld(server)


@asynccontextmanager
async def discord() -> AsyncIterator[World]:
    async with FakeDiscord(READER) as server:
        yield DiscordWorld(server)


WORLDS: dict[str, Callable[[], AbstractAsyncContextManager[World]]] = {
    "memory": memory,
    "telegram": telegram,
    "discord": discord,
}
