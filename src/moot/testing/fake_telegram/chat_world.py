"""The state of a fake Telegram: bots, chats, messages, and each bot's unconfirmed updates."""

import asyncio
from collections import Counter
from itertools import count
from typing import Any, Final

from msgspec import Struct

from moot.model.json import Json, JsonObject

PRIVATE, BASIC, SUPER = "private", "group", "supergroup"
NOW: Final = 1_800_000_000


class FakeBot(Struct):
    id: int
    token: str
    username: str
    privacy: bool = False
    """On: in groups it receives commands, replies to it and its own membership, but no plain mention."""
    sees_bots: bool = False
    webhook: str = ""
    secret: str = ""
    """Sent with every call to its webhook."""
    queue: list[JsonObject] = []
    poller: int = 0
    """The number of the newest poll."""
    commands: dict[str, list[str]] = {}
    """Where they are offered → their names."""
    grown: Any = None

    @property
    def as_user(self) -> JsonObject:
        return {"id": self.id, "is_bot": True, "first_name": self.username, "username": self.username}


class FakeChat(Struct):
    id: int
    kind: str
    title: str
    bots: set[str] = set()
    """Tokens of the bots in it."""
    admins: set[str] = set()
    migrated_to: int = 0
    is_forum: bool = False

    @property
    def fields(self) -> JsonObject:
        name = {"first_name": self.title} if self.kind == PRIVATE else {"title": self.title}
        forum = {"is_forum": True} if self.is_forum else {}
        return {"id": self.id, "type": self.kind, **name, **forum}


class SentMessage(Struct):
    """What a bot has posted, as people see it."""

    number: int
    """The same for every account, unlike `ids`."""
    chat: int
    bot: str
    text: str
    entities: list[JsonObject] = []
    buttons: list[str] = []
    ids: dict[str, int] = {}
    """Its id for each account."""
    thread: int = 0
    reply_to: int = 0


class ChatWorld:
    """The state behind the API, and what people do in it."""

    def __init__(self) -> None:
        super().__init__()
        self.bots: dict[str, FakeBot] = {}
        self.chats: dict[int, FakeChat] = {}
        self.sent: list[SentMessage] = []
        self.typing: list[tuple[int, str]] = []
        self.drafts: dict[tuple[int, str], str] = {}
        """Chat and bot → what is shown as being written."""
        self.drafted: list[str] = []
        """Every draft that was shown."""
        self._updates = count(1000)
        self._numbers = count(1)
        self._ids: Counter[tuple[int, str]] = Counter()
        self._delivered: dict[int, list[tuple[str, JsonObject]]] = {}
        """By chat: to which bot, and what."""

    # --- set-up ---------------------------------------------------------------------------------------------

    def add_bot(
        self, token: str, username: str, *, privacy: bool = False, sees_bots: bool = False
    ) -> FakeBot:
        bot = FakeBot(
            int(token.partition(":")[0]), token, username, privacy, sees_bots, grown=asyncio.Event()
        )
        self.bots[token] = bot
        return bot

    def add_supergroup(self, title: str, *tokens: str, is_forum: bool = False) -> FakeChat:
        return self._add(
            FakeChat(-1_000_000_000_000 - len(self.chats), SUPER, title, is_forum=is_forum), tokens
        )

    def add_basic_group(self, title: str, *tokens: str) -> FakeChat:
        return self._add(FakeChat(-5_000 - len(self.chats), BASIC, title), tokens)

    def add_private(self, user: int, name: str) -> FakeChat:
        """The chats that somebody has with bots; every bot has its own, under the same id."""
        return self.chats.setdefault(user, FakeChat(user, PRIVATE, name, set(self.bots)))

    def _add(self, chat: FakeChat, tokens: tuple[str, ...]) -> FakeChat:
        self.chats[chat.id] = chat
        for token in tokens:
            self.add_member(chat, token)
        return chat

    def add_member(self, chat: FakeChat, token: str, status: str = "member") -> None:
        self._member_changed(chat, token, "left", status)
        chat.bots.add(token)

    def remove_member(self, chat: FakeChat, token: str) -> None:
        chat.bots.discard(token)
        self._member_changed(chat, token, "member", "left")

    def _member_changed(self, chat: FakeChat, token: str, before: str, after: str) -> None:
        user = self.bots[token].as_user
        body = {
            "chat": chat.fields,
            "from": person(1, "Somebody"),
            "date": NOW,
            "old_chat_member": {"user": user, "status": before},
            "new_chat_member": {"user": user, "status": after},
        }
        self._queue(token, "my_chat_member", body)

    # --- what people do -------------------------------------------------------------------------------------

    def say(
        self, chat: FakeChat, user: int, name: str, text: str, *, to: str = "", **more: Any
    ) -> JsonObject:
        """Somebody writes; every bot that may see it is told. In a private chat `to` is the bot's token."""
        number = next(self._numbers)
        tokens = [to] if chat.kind == PRIVATE else sorted(chat.bots)
        common = self._next_id(chat, "") if chat.kind == SUPER else 0
        message: JsonObject = {}
        for token in tokens:
            own = common or self._next_id(chat, token)
            message = {
                "message_id": own,
                "date": NOW + number,
                "chat": chat.fields,
                "from": person(user, name),
                **({"text": text} if text else {}),
                **self._entities(text),
                **more,
            }
            if self._sees(self.bots[token], chat, message):
                self._deliver(chat, token, "message", message)
        return message

    def edit(self, chat: FakeChat, message: JsonObject, text: str) -> None:
        for token in sorted(chat.bots):
            changed = {
                **message,
                "text": text,
                "edit_date": NOW + next(self._numbers),
                **self._entities(text),
            }
            if self._sees(self.bots[token], chat, changed):
                self._deliver(chat, token, "edited_message", changed)

    def say_as_bot(self, chat: FakeChat, token: str, text: str) -> None:
        """What a bot posts reaches the bots that see bots."""
        common = self._next_id(chat, "") if chat.kind == SUPER else 0
        for other in sorted(chat.bots - {token}):
            bot = self.bots[other]
            if bot.sees_bots and (not bot.privacy or other in chat.admins):
                message = {
                    "message_id": common or self._next_id(chat, other),
                    "date": NOW,
                    "chat": chat.fields,
                    "from": self.bots[token].as_user,
                    "text": text,
                    **self._entities(text),
                }
                self._deliver(chat, other, "message", message)

    def press(self, user: int, name: str, post: SentMessage, choice: int) -> None:
        chat = self.chats[post.chat]
        message = {
            "message_id": post.ids[post.bot],
            "date": NOW,
            "chat": chat.fields,
            "from": self.bots[post.bot].as_user,
            "text": post.text,
        }
        query = {
            "id": str(next(self._numbers)),
            "from": person(user, name),
            "chat_instance": "1",
            "message": message,
            "data": f"d:{choice}",
        }
        self._deliver(chat, post.bot, "callback_query", query)

    def migrate(self, chat: FakeChat) -> FakeChat:
        """A basic group becomes a supergroup under another id."""
        new = FakeChat(
            -1_000_000_000_000 - len(self.chats), SUPER, chat.title, set(chat.bots), set(chat.admins)
        )
        self.chats[new.id] = new
        chat.migrated_to = new.id
        for token in sorted(chat.bots):
            service = {"message_id": self._next_id(chat, token), "date": NOW, "chat": chat.fields}
            self._deliver(chat, token, "message", {**service, "migrate_to_chat_id": new.id})
        return new

    def repeat(self, chat: FakeChat) -> None:
        """Everything that was delivered comes once more, in another order."""
        for token, update in reversed(list(self._delivered.get(chat.id, []))):
            kind = next(name for name in update if name != "update_id")
            self._queue(token, kind, update[kind])

    # --- what bots receive ----------------------------------------------------------------------------------

    def _sees(self, bot: FakeBot, chat: FakeChat, message: JsonObject) -> bool:
        if chat.kind == PRIVATE or not bot.privacy or bot.token in chat.admins:
            return True
        reply = message.get("reply_to_message") or {}
        text = str(message.get("text", ""))
        is_command = text.startswith("/") and (
            f"@{bot.username}" in text or "@" not in text.split(maxsplit=1)[0]
        )
        return is_command or reply.get("from", {}).get("id") == bot.id

    def _deliver(self, chat: FakeChat, token: str, kind: str, body: JsonObject) -> None:
        update = self._queue(token, kind, body)
        self._delivered.setdefault(chat.id, []).append((token, update))

    def _queue(self, token: str, kind: str, body: Json) -> JsonObject:
        update: JsonObject = {"update_id": next(self._updates), kind: body}
        self.bots[token].queue.append(update)
        self.bots[token].grown.set()
        return update

    def _next_id(self, chat: FakeChat, token: str) -> int:
        """Per chat where ids are common; per account, over all its chats, where they are not."""
        place = (chat.id, "") if chat.kind == SUPER else (0, token)
        self._ids[place] += 1
        return self._ids[place]

    def posted_id(self, chat: FakeChat, token: str) -> int:
        return self._next_id(chat, "" if chat.kind == SUPER else token)

    def next_number(self) -> int:
        return next(self._numbers)

    def _entities(self, text: str) -> JsonObject:
        """Mentions and a command at the beginning, as Telegram marks them."""
        entities = []
        at = 0
        for word in text.split(" "):
            bare = word.rstrip(",.!?:")
            kind = "mention" if bare.startswith("@") and len(bare) > 1 else ""
            kind = "bot_command" if bare.startswith("/") and at == 0 and len(bare) > 1 else kind
            if kind:
                entities.append({"type": kind, "offset": utf16(text[:at]), "length": utf16(bare)})
            at += len(word) + 1
        return {"entities": entities} if entities else {}


def person(user: int, name: str) -> JsonObject:
    return {"id": user, "is_bot": False, "first_name": name}


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
