"""The bridge to Telegram: polls for each bot, posts through the bot of whoever speaks.

Above: start.py. Below: updates.py reads, entities.py draws, connection.py has the bots. Privacy mode is found out when
a group is first seen, and the group is told what to do about it.
"""

import asyncio
from collections.abc import Mapping
from typing import Final

import httpx
import structlog
from telegram import (
    Bot,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    Message,
    MessageEntity,
    ReplyParameters,
    Update,
)
from telegram.constants import ChatAction, ChatMemberStatus
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from moot.bridges.bridge import (
    ChatMoved,
    ChatRef,
    ChatSeen,
    Ears,
    Flooded,
    FloodRule,
    NotSent,
    SendTrouble,
    Unsure,
)
from moot.bridges.pieces import utf16
from moot.bridges.telegram.connection import API_URL, AgentBot, closed, connected, own
from moot.bridges.telegram.entities import rendered
from moot.bridges.telegram.updates import incoming
from moot.model.entrance import DoorName
from moot.model.records.chat_apps.bridge import BridgePost, ChatKind

log = structlog.get_logger("moot.bridges")

WANTED: Final = ["message", "edited_message", "my_chat_member", "callback_query"]
POLL_SECONDS: Final = 25
READ_MORE: Final = 10.0
AGAIN_SECONDS: Final = 2.0
IN_GROUPS: Final = FloodRule(1.0, 20)
IN_PRIVATE: Final = FloodRule(1.0, 60)
HERE: Final = frozenset(
    {
        ChatMemberStatus.MEMBER,
        ChatMemberStatus.ADMINISTRATOR,
        ChatMemberStatus.OWNER,
        ChatMemberStatus.RESTRICTED,
    }
)
PRIVACY: Final = (
    "{bots} cannot read this group: privacy mode is on, so only commands and replies arrive. "
    "In @BotFather: /setprivacy, choose the bot, Disable; then remove the bot from this group and add it again. "
    "One bot that reads, or that is an administrator here, is enough."
)


class TelegramBridge:
    name = DoorName.TELEGRAM
    longest = 3900
    """Some letters less than Telegram takes: lists and tables grow when they are drawn."""

    def __init__(
        self,
        tokens: Mapping[str, str],
        *,
        api_url: str = API_URL,
        pace: FloodRule | None = None,
        poll_seconds: int = POLL_SECONDS,
    ) -> None:
        self._tokens = tokens
        self._api_url = api_url
        self._pace = pace
        self._poll_seconds = poll_seconds
        self._bots: dict[str, AgentBot] = {}
        self._looked_at: set[str] = set()
        self._looking = asyncio.Lock()
        self._speaks_in: dict[str, str] = {}
        """Group → an agent whose bot is in it."""

    def size(self, text: str) -> int:
        return utf16(text)

    def flood_rule(self, kind: ChatKind) -> FloodRule:
        return self._pace or (IN_PRIVATE if kind is ChatKind.PRIVATE else IN_GROUPS)

    def can_speak_as(self, agent: str) -> bool:
        return agent in self._tokens

    # --- in -------------------------------------------------------------------------------------------------

    async def run(self, ears: Ears) -> None:
        self._bots = await connected(self._tokens, self._api_url)
        try:
            async with asyncio.TaskGroup() as polls:
                for one in self._bots.values():
                    polls.create_task(self._poll(one, ears))
        finally:
            bots, self._bots = self._bots, {}
            await closed(bots)

    async def _poll(self, one: AgentBot, ears: Ears) -> None:
        offset: int | None = None
        while True:
            try:
                updates = await one.bot.get_updates(
                    offset=offset,
                    timeout=self._poll_seconds,
                    allowed_updates=WANTED,
                    read_timeout=self._poll_seconds + READ_MORE,
                )
            except TelegramError as error:
                await self._wait(one, error)
                continue
            for update in updates:
                await self._take(update, one, ears)
                offset = update.update_id + 1

    async def _wait(self, one: AgentBot, error: TelegramError) -> None:
        if isinstance(error, Conflict):
            text = "another process polls this bot, or a webhook is set; the setup check tells which"
            log.error(text, action="poll_conflict", bot=one.username)
        elif isinstance(error, InvalidToken | Forbidden):
            log.error("the token is not accepted any more", action="token_refused", bot=one.username)
        else:
            log.warning("could not poll", action="poll_failed", bot=one.username, error=error.message)
        await asyncio.sleep(_seconds(error) if isinstance(error, RetryAfter) else AGAIN_SECONDS)

    async def _take(self, update: Update, one: AgentBot, ears: Ears) -> None:
        try:
            found = incoming(update, one.agent, own(self._bots))
        except Exception as error:  # the border to the library: one update must not block the rest
            log.error(
                "an update cannot be read", action="update_unreadable", id=update.update_id, error=repr(error)
            )
            return
        for heard in found:
            is_group = heard.chat.kind is not ChatKind.PRIVATE
            if is_group and not (isinstance(heard, ChatSeen) and (heard.left or heard.moved_from)):
                self._speaks_in[heard.chat.id] = one.agent
                await self._look_at(heard.chat, ears)
            if isinstance(heard, ChatSeen) and heard.left:
                self._looked_at.discard(heard.chat.id)
                self._speaks_in.pop(heard.chat.id, None)
            await ears.hear(heard)
        if update.callback_query is not None:
            await self._quietly(one.bot.answer_callback_query(update.callback_query.id))

    async def _look_at(self, chat: ChatRef, ears: Ears) -> None:
        """Which of our bots are in a group that was not seen before, those first that read every line."""
        async with self._looking:
            if chat.id not in self._looked_at:
                await self._look_around(chat, ears)
                self._looked_at.add(chat.id)

    async def _look_around(self, chat: ChatRef, ears: Ears) -> None:
        there: list[tuple[bool, str]] = []
        for agent, one in self._bots.items():
            try:
                member = await one.bot.get_chat_member(_numbers(chat.id)[0], one.id)
            except TelegramError:
                continue
            if member.status in HERE:
                reads = one.reads_all or member.status == ChatMemberStatus.ADMINISTRATOR
                there.append((reads, agent))
        there.sort(key=lambda found: not found[0])
        deaf = bool(there) and not any(reads for reads, _ in there)
        names = ", ".join(f"@{self._bots[agent].username}" for _, agent in there)
        for _, agent in there:
            await ears.hear(ChatSeen(chat, agent, notice=PRIVACY.format(bots=names) if deaf else ""))
            deaf = False

    # --- out ------------------------------------------------------------------------------------------------

    async def send(self, post: BridgePost) -> str:
        one = self._speaker(post.chat, post.speaker)
        text, entities = rendered(post.text)
        try:
            message = await self._sent(one.bot, post, text, entities)
        except BadRequest as error:
            if isinstance(error, ChatMigrated) or not entities:
                raise _trouble(error) from error
            message = await self._sent_plain(one.bot, post, error)
        except TelegramError as error:
            raise _trouble(error) from error
        return str(message.message_id)

    async def _sent_plain(self, bot: Bot, post: BridgePost, first: BadRequest) -> Message:
        """A refusal says that nothing was sent: without its markup the text may pass."""
        log.warning("sent without markup", action="markup_refused", post=post.id, error=first.message)
        try:
            return await self._sent(bot, post, post.text, [])
        except TelegramError as error:
            raise _trouble(error) from error

    async def _sent(self, bot: Bot, post: BridgePost, text: str, entities: list[MessageEntity]) -> Message:
        chat, thread = _numbers(post.chat)
        reply = int(post.reply_to) if post.reply_to.isdigit() and self._may_reply(post) else 0
        return await bot.send_message(
            chat,
            text,
            entities=entities or None,
            message_thread_id=thread or None,
            reply_parameters=ReplyParameters(reply, allow_sending_without_reply=True) if reply else None,
            reply_markup=_keyboard(post.buttons),
            link_preview_options=LinkPreviewOptions(is_disabled=True),
        )

    def _may_reply(self, post: BridgePost) -> bool:
        """Where ids differ per account, only whoever heard a message knows what it is called."""
        chat = _numbers(post.chat)[0]
        return ":" in post.chat or str(chat).startswith("-100")

    def _speaker(self, chat: str, speaker: str) -> AgentBot:
        name = chat.partition(":")[0] if ":" in chat else speaker or self._speaks_in.get(chat, "")
        found = self._bots.get(name) or next(iter(self._bots.values()), None)
        if found is None:
            raise NotSent("not connected to Telegram")
        return found

    async def show_typing(self, chat: str, speaker: str) -> None:
        number, thread = _numbers(chat)
        bot = self._speaker(chat, speaker).bot
        await bot.send_chat_action(number, ChatAction.TYPING, message_thread_id=thread or None)

    async def close_buttons(self, post: BridgePost, text: str) -> None:
        bot = self._speaker(post.chat, post.speaker).bot
        words, entities = rendered(text)
        await bot.edit_message_text(
            words, _numbers(post.chat)[0], int(post.external), entities=entities or None
        )

    async def _quietly(self, call: object) -> None:
        try:
            await call  # type: ignore[misc]
        except TelegramError as error:
            log.debug("not answered", action="press_unanswered", error=error.message)


def _numbers(chat: str) -> tuple[int, int]:
    """The chat's own id and its topic, of what we call it."""
    id, _, thread = chat.rpartition(":")[2].partition("/")
    return int(id), int(thread or 0)


def _keyboard(buttons: tuple[str, ...]) -> InlineKeyboardMarkup | None:
    rows = [[InlineKeyboardButton(text[:60], callback_data=f"d:{n}")] for n, text in enumerate(buttons)]
    return InlineKeyboardMarkup(rows) if rows else None


def _trouble(error: TelegramError) -> SendTrouble:
    match error:
        case RetryAfter():
            return Flooded(_seconds(error))
        case ChatMigrated():
            return ChatMoved(ChatRef(str(error.new_chat_id), ChatKind.SUPERGROUP))
        case Forbidden() | InvalidToken() | BadRequest():
            return NotSent(error.message, is_final=True)
        case NetworkError() if isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout):
            return NotSent(error.message)
        case TimedOut() if isinstance(error.__cause__, httpx.ConnectTimeout | httpx.PoolTimeout):
            return NotSent(error.message)
        case _:
            return Unsure(error.message)


def _seconds(error: RetryAfter) -> float:
    wait = error.retry_after
    return float(wait) if isinstance(wait, int | float) else wait.total_seconds()
