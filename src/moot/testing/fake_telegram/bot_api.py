"""The methods of the Bot API that a bridge uses, answered from a world of chats, over HTTP on a loopback socket."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Final
from urllib.parse import parse_qsl

from msgspec import json

from moot.model.json import Json, JsonObject
from moot.testing.chat_app_server import AnswerLost, AnswerRefused, ChatAppServer, WholeAnswer
from moot.testing.fake_telegram.chat_world import (
    BASIC,
    NOW,
    PRIVATE,
    ChatWorld,
    FakeBot,
    FakeChat,
    SentMessage,
    utf16,
)
from moot.testing.fake_telegram.webhook_calls import WebhookCalls

MAX_TEXT: Final = 4096
MAX_ABOUT: Final = 256
Method = Callable[["FakeTelegram", FakeBot, JsonObject], Awaitable[Json]]


class FakeTelegram(ChatWorld, ChatAppServer):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, str, JsonObject]] = []
        """Bot, method, arguments."""
        self._hooks = WebhookCalls(self)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._hooks.close()
        await super().__aexit__(kind, error, trace)

    async def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> WholeAnswer:
        return WholeAnswer(200, {"ok": True, "result": await self._answer(path, _arguments(headers, body))})

    def refused(self, refusal: AnswerRefused) -> WholeAnswer:
        answer: JsonObject = {"ok": False, "error_code": refusal.status, "description": str(refusal)}
        answer |= {"parameters": refusal.more} if refusal.more else {}
        return WholeAnswer(refusal.status, answer)

    def flooded(self, seconds: float) -> AnswerRefused:
        text = f"Too Many Requests: retry after {seconds}"
        return AnswerRefused(429, text, retry_after=max(1, round(seconds)))

    async def _answer(self, path: str, arguments: JsonObject) -> Json:
        _, _, rest = path.partition("/bot")
        token, _, method = rest.partition("/")
        bot = self.bots.get(token.replace("%3A", ":"))
        if bot is None:
            raise AnswerRefused(401, "Unauthorized")
        work = METHODS.get(method)
        if work is None:
            raise AnswerRefused(404, f"Not Found: method {method} is not modelled")
        self.calls.append((bot.username, method, arguments))
        return await work(self, bot, arguments)

    # --- the methods ----------------------------------------------------------------------------------------

    async def get_me(self, bot: FakeBot, _: JsonObject) -> Json:
        return {
            **bot.as_user,
            "can_join_groups": True,
            "can_read_all_group_messages": not bot.privacy,
            "supports_inline_queries": False,
        }

    async def get_updates(self, bot: FakeBot, arguments: JsonObject) -> Json:
        if bot.webhook:
            raise AnswerRefused(409, "Conflict: can't use getUpdates method while webhook is active")
        bot.poller += 1
        mine = bot.poller
        bot.grown.set()  # an earlier poll learns that it is not alone
        offset = int(arguments.get("offset") or 0)
        if offset > 0:
            bot.queue = [update for update in bot.queue if update["update_id"] >= offset]
        end = asyncio.get_running_loop().time() + float(arguments.get("timeout") or 0)
        while not bot.queue or bot.poller != mine:
            if bot.poller != mine:
                raise AnswerRefused(409, "Conflict: terminated by other getUpdates request")
            left = end - asyncio.get_running_loop().time()
            if left <= 0:
                break
            bot.grown.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(bot.grown.wait(), left)
        return bot.queue[: int(arguments.get("limit") or 100)]

    async def send_message(self, bot: FakeBot, arguments: JsonObject) -> Json:
        chat = self._chat(bot, arguments)
        text = str(arguments.get("text", ""))
        entities = arguments.get("entities") or []
        if arguments.get("parse_mode"):
            raise AnswerRefused(400, "Bad Request: parse_mode is not modelled")
        _check_text(text, entities)
        is_lost = self.bad_luck()
        message = self._keep(bot, chat, text, arguments)
        self.drafts.pop((chat.id, bot.token), None)
        if is_lost:
            raise AnswerLost
        return self._message(bot, chat, message)

    async def send_message_draft(self, bot: FakeBot, arguments: JsonObject) -> Json:
        chat = self._chat(bot, arguments)
        if chat.kind != PRIVATE:
            raise AnswerRefused(400, "Bad Request: drafts are for private chats")
        if not int(arguments.get("draft_id") or 0):
            raise AnswerRefused(400, "Bad Request: draft_id must be non-zero")
        _check_text(str(arguments.get("text", "")), arguments.get("entities") or [])
        self.drafts[chat.id, bot.token] = str(arguments["text"])
        self.drafted.append(str(arguments["text"]))
        return True

    def _keep(self, bot: FakeBot, chat: FakeChat, text: str, arguments: JsonObject) -> SentMessage:
        markup = arguments.get("reply_markup") or {}
        message = SentMessage(
            number=self.next_number(),
            chat=chat.id,
            bot=bot.token,
            text=text,
            entities=list(arguments.get("entities") or []),
            buttons=[button["text"] for row in markup.get("inline_keyboard", []) for button in row],
            ids={bot.token: self.posted_id(chat, bot.token)},
            thread=int(arguments.get("message_thread_id") or 0),
            reply_to=int((arguments.get("reply_parameters") or {}).get("message_id") or 0),
        )
        self.sent.append(message)
        return message

    def _message(self, bot: FakeBot, chat: FakeChat, message: SentMessage) -> JsonObject:
        thread = {"message_thread_id": message.thread, "is_topic_message": True} if message.thread else {}
        return {
            "message_id": message.ids[bot.token],
            "date": NOW + message.number,
            "chat": chat.fields,
            "from": bot.as_user,
            "text": message.text,
            **({"entities": message.entities} if message.entities else {}),
            **thread,
        }

    async def edit_message_text(self, bot: FakeBot, arguments: JsonObject) -> Json:
        chat = self._chat(bot, arguments)
        message = self._own(bot, chat, arguments)
        _check_text(str(arguments.get("text", "")), arguments.get("entities") or [])
        message.text = str(arguments["text"])
        markup = arguments.get("reply_markup") or {}
        message.buttons = [button["text"] for row in markup.get("inline_keyboard", []) for button in row]
        return self._message(bot, chat, message)

    async def delete_message(self, bot: FakeBot, arguments: JsonObject) -> Json:
        self.sent.remove(self._own(bot, self._chat(bot, arguments), arguments))
        return True

    async def send_chat_action(self, bot: FakeBot, arguments: JsonObject) -> Json:
        self.typing.append((self._chat(bot, arguments).id, bot.token))
        return True

    async def get_chat(self, bot: FakeBot, arguments: JsonObject) -> Json:
        chat = self._chat(bot, arguments)
        return {**chat.fields, "accent_color_id": 0, "max_reaction_count": 0, "accepted_gift_types": GIFTS}

    async def get_chat_member(self, bot: FakeBot, arguments: JsonObject) -> Json:
        chat = self._chat(bot, arguments)
        bots = [bot for bot in self.bots.values() if bot.id == int(arguments["user_id"])]
        if not bots:
            raise AnswerRefused(400, "Bad Request: user not found")
        [member] = bots
        if member.token in chat.admins:
            return {"user": member.as_user, "status": "administrator", **ADMIN_RIGHTS}
        return {"user": member.as_user, "status": "member" if member.token in chat.bots else "left"}

    async def set_webhook(self, bot: FakeBot, arguments: JsonObject) -> Json:
        bot.webhook = str(arguments.get("url", ""))
        bot.secret = str(arguments.get("secret_token", ""))
        bot.grown.set()
        self._hooks.serve(bot)
        return True

    async def delete_webhook(self, bot: FakeBot, _: JsonObject) -> Json:
        bot.webhook = ""
        return True

    async def get_webhook_info(self, bot: FakeBot, _: JsonObject) -> Json:
        return {
            "url": bot.webhook,
            "has_custom_certificate": False,
            "pending_update_count": len(bot.queue),
        }

    async def set_my_commands(self, bot: FakeBot, arguments: JsonObject) -> Json:
        scope = arguments.get("scope") or {"type": "default"}
        place = str(scope.get("chat_id", scope["type"]))
        bot.commands[place] = [_command(one) for one in arguments.get("commands") or []]
        return True

    async def answer_callback_query(self, bot: FakeBot, arguments: JsonObject) -> Json:
        return True

    # --- what they share ------------------------------------------------------------------------------------

    def _chat(self, bot: FakeBot, arguments: JsonObject) -> FakeChat:
        chat = self.chats.get(int(arguments.get("chat_id") or 0))
        if chat is None:
            raise AnswerRefused(400, "Bad Request: chat not found")
        if chat.kind == BASIC and chat.migrated_to:
            description = "Bad Request: group chat was upgraded to a supergroup chat"
            raise AnswerRefused(400, description, migrate_to_chat_id=chat.migrated_to)
        if chat.kind != PRIVATE and bot.token not in chat.bots:
            raise AnswerRefused(403, "Forbidden: bot is not a member of the group chat")
        return chat

    def _own(self, bot: FakeBot, chat: FakeChat, arguments: JsonObject) -> SentMessage:
        id = int(arguments.get("message_id") or 0)
        for message in self.sent:
            if message.chat == chat.id and message.bot == bot.token and message.ids[bot.token] == id:
                return message
        raise AnswerRefused(400, "Bad Request: message to edit not found")

    def posts_in(self, chat: int) -> list[SentMessage]:
        return [message for message in self.sent if message.chat == chat]

    @property
    def is_confirmed(self) -> bool:
        """Whether every bot has confirmed all its updates."""
        return not any(bot.queue for bot in self.bots.values())


def _command(row: JsonObject) -> str:
    name, about = str(row["command"]), str(row["description"])
    if not re.fullmatch(r"[a-z0-9_]{1,32}", name) or not 1 <= len(about) <= MAX_ABOUT:
        raise AnswerRefused(400, f"Bad Request: invalid command {name}")
    return name


def _check_text(text: str, entities: list[JsonObject]) -> None:
    if not text.strip():
        raise AnswerRefused(400, "Bad Request: message text is empty")
    size = utf16(text)
    if size > MAX_TEXT:
        raise AnswerRefused(400, "Bad Request: message is too long")
    for entity in entities:
        offset, length = int(entity["offset"]), int(entity["length"])
        if offset < 0 or length <= 0 or offset + length > size:
            raise AnswerRefused(400, f"Bad Request: entity {entity['type']} lies outside the text")
        if entity["type"] == "text_link" and not str(entity.get("url", "")).startswith(SCHEMES):
            raise AnswerRefused(400, f"Bad Request: unsupported URL protocol in {entity.get('url')}")


def _arguments(headers: dict[str, str], body: bytes) -> JsonObject:
    if "json" in headers.get("content-type", ""):
        return dict(json.decode(body)) if body else {}
    arguments: JsonObject = {}
    for name, value in parse_qsl(body.decode(), keep_blank_values=True):
        try:
            arguments[name] = json.decode(value) if value[:1] in "[{" else value
        except ValueError:
            arguments[name] = value
    return arguments


SCHEMES: Final = ("http://", "https://", "tg://", "mailto:")
GIFTS: Final[JsonObject] = {
    "unlimited_gifts": False,
    "limited_gifts": False,
    "unique_gifts": False,
    "premium_subscription": False,
    "gifts_from_channels": False,
}
ADMIN_RIGHTS: Final[JsonObject] = {
    "can_be_edited": False,
    "is_anonymous": False,
    "can_manage_chat": True,
    "can_delete_messages": False,
    "can_manage_video_chats": False,
    "can_restrict_members": False,
    "can_promote_members": False,
    "can_change_info": False,
    "can_invite_users": False,
    "can_post_stories": False,
    "can_edit_stories": False,
    "can_delete_stories": False,
}
METHODS: Final[dict[str, Method]] = {
    "getMe": FakeTelegram.get_me,
    "getUpdates": FakeTelegram.get_updates,
    "sendMessage": FakeTelegram.send_message,
    "sendMessageDraft": FakeTelegram.send_message_draft,
    "editMessageText": FakeTelegram.edit_message_text,
    "deleteMessage": FakeTelegram.delete_message,
    "sendChatAction": FakeTelegram.send_chat_action,
    "getChat": FakeTelegram.get_chat,
    "getChatMember": FakeTelegram.get_chat_member,
    "setWebhook": FakeTelegram.set_webhook,
    "deleteWebhook": FakeTelegram.delete_webhook,
    "getWebhookInfo": FakeTelegram.get_webhook_info,
    "setMyCommands": FakeTelegram.set_my_commands,
    "answerCallbackQuery": FakeTelegram.answer_callback_query,
}
