"""The bridge to Telegram: polls for each bot, posts through the bot of whoever speaks.

Above: start.py. Below: updates.py reads, entities.py draws, connection.py has the bots. Privacy mode is found out when
a group is first seen, and the group is told what to do about it.
"""

import asyncio
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Final
from zlib import crc32

import httpx
import structlog
from msgspec import Struct
from telegram import (
    Bot,
    BotCommandScopeAllPrivateChats,
    BotCommandScopeChat,
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
    NotReached,
    NotSent,
    SendTrouble,
    Unsure,
    Wrote,
)
from moot.bridges.findings import BOT_TO_BOT
from moot.bridges.pieces import split, utf16
from moot.bridges.telegram.connection import API_URL, AgentBot, closed, connected, fetched, own
from moot.bridges.telegram.entities import rendered
from moot.bridges.telegram.menu import menu
from moot.bridges.telegram.updates import incoming
from moot.bridges.telegram.webhook import WebhookListener, WebhookPlan
from moot.errors import BadValue
from moot.model.entrance import DoorName
from moot.model.json import JsonObject
from moot.model.records.chat_apps.bridge import BridgePost, ChatKind

log = structlog.get_logger("moot.bridges")

WANTED: Final = ["message", "edited_message", "my_chat_member", "callback_query"]
POLL_SECONDS: Final = 25
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
HEARS_BOTS: Final = (
    "bot-to-bot mode is on for {bot}, or for a bot that wrote to it: its posts arrive, and are not taken in"
)
PRIVACY: Final = (
    "{bots} cannot read this group: privacy mode is on, so only commands and replies arrive. "
    "In @BotFather: /setprivacy, choose the bot, Disable; then remove the bot from this group and add it again. "
    "One bot that reads, or that is an administrator here, is enough."
)


class BotPresence(Struct, frozen=True):
    """One of our bots is in a group."""

    agent: str
    reads: bool
    """It hears every line there."""


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
        webhook: WebhookPlan | None = None,
    ) -> None:
        self._tokens = tokens
        self._api_url = api_url
        self._pace = pace
        self._poll_seconds = poll_seconds
        self._webhook = webhook
        self._bots: dict[str, AgentBot] = {}
        self._looked_at: set[str] = set()
        self._hears_bots: set[str] = set()
        """Agents whose bots were brought a post of another bot."""
        self._looking = asyncio.Lock()
        self._there: dict[int, list[BotPresence]] = {}
        """Group → our bots in it, as far as it was looked at."""

    def size(self, text: str) -> int:
        return utf16(text)

    def flood_rule(self, kind: ChatKind) -> FloodRule:
        return self._pace or (IN_PRIVATE if kind is ChatKind.PRIVATE else IN_GROUPS)

    def can_speak_as(self, agent: str) -> bool:
        return agent in self._tokens

    # --- in -------------------------------------------------------------------------------------------------

    async def run(self, ears: Ears) -> None:
        self._bots = await connected(self._tokens, self._api_url, on_refused=_tell_refused)
        self._looked_at.clear()
        self._there.clear()
        try:
            await self._offer_commands()
            async with asyncio.TaskGroup() as listening:
                if self._webhook is not None:
                    listener = WebhookListener(self._webhook, self._bots, partial(self._called, ears))
                    listening.create_task(listener.serve(WANTED))
                else:
                    for one in self._bots.values():
                        listening.create_task(self._poll(one, ears))
        finally:
            bots, self._bots = self._bots, {}
            await closed(bots)

    async def _called(self, ears: Ears, one: AgentBot, update: JsonObject) -> None:
        await self._take(update, one, ears)

    async def _offer_commands(self) -> None:
        """Each bot in its private chats; in a group only one of them, or every command would be offered by each."""
        for one in self._bots.values():
            await self._quietly(one.bot.set_my_commands(menu(), scope=BotCommandScopeAllPrivateChats()))

    async def _poll(self, one: AgentBot, ears: Ears) -> None:
        offset: int | None = None
        while True:
            try:
                updates = await fetched(one.bot, offset, self._poll_seconds, WANTED)
            except TelegramError as error:
                await self._wait(one, error)
                continue
            for update in updates:
                try:
                    await self._take(update, one, ears)
                except TelegramError as error:  # it is not confirmed, and comes again
                    await self._wait(one, error)
                    break
                offset = int(update["update_id"]) + 1

    async def _wait(self, one: AgentBot, error: TelegramError) -> None:
        if isinstance(error, Conflict):
            text = "another process polls this bot, or a webhook is set; the setup check tells which"
            log.error(text, action="poll_conflict", bot=one.username)
        elif isinstance(error, InvalidToken | Forbidden):
            log.error("the token is not accepted any more", action="token_refused", bot=one.username)
        else:
            log.warning("could not poll", action="poll_failed", bot=one.username, error=error.message)
        await asyncio.sleep(_seconds(error) if isinstance(error, RetryAfter) else AGAIN_SECONDS)

    async def _take(self, raw: JsonObject, one: AgentBot, ears: Ears) -> None:
        try:
            update = Update.de_json(raw, one.bot)
            found = incoming(update, one.agent, own(self._bots))
        except Exception as error:  # the border to the library: one update must not block the rest
            await ears.lay_aside(f"update/{one.agent}/{raw.get('update_id')}", type(error).__name__)
            return
        for heard in found:
            if isinstance(heard, Wrote) and heard.account.is_bot:
                await self._note_bot_to_bot(one, ears)
            if isinstance(heard, ChatSeen):
                self._there.pop(_numbers(heard.chat.id)[0], None)
            is_group = heard.chat.kind is not ChatKind.PRIVATE
            if is_group and not (isinstance(heard, ChatSeen) and (heard.left or heard.moved_from)):
                await self._look_at(heard.chat, ears)
            if isinstance(heard, ChatSeen) and heard.left:
                self._looked_at.discard(heard.chat.id)
            await ears.hear(heard)
        if update.callback_query is not None:
            await self._quietly(one.bot.answer_callback_query(update.callback_query.id))

    async def _note_bot_to_bot(self, one: AgentBot, ears: Ears) -> None:
        """Telegram does not say whether this mode is on; that another bot's post arrives does. None is ever taken in,
        and the owner is told once."""
        if one.agent not in self._hears_bots:
            self._hears_bots.add(one.agent)
            await ears.lay_aside(f"{BOT_TO_BOT}/{one.username}", HEARS_BOTS.format(bot=f"@{one.username}"))

    async def _look_at(self, chat: ChatRef, ears: Ears) -> None:
        """Which of our bots are in a group that was not seen before, those first that read every line."""
        async with self._looking:
            if chat.id not in self._looked_at:
                await self._look_around(chat, ears)
                self._looked_at.add(chat.id)

    async def _look_around(self, chat: ChatRef, ears: Ears) -> None:
        there = await self._present(_numbers(chat.id)[0])
        deaf = bool(there) and not any(one.reads for one in there)
        names = ", ".join(f"@{self._bots[one.agent].username}" for one in there)
        for one in there[:1]:
            scope = BotCommandScopeChat(_numbers(chat.id)[0])
            await self._quietly(self._bots[one.agent].bot.set_my_commands(menu(), scope=scope))
        for one in there:
            await ears.hear(ChatSeen(chat, one.agent, notice=PRIVACY.format(bots=names) if deaf else ""))
            deaf = False

    async def _present(self, group: int) -> list[BotPresence]:
        """Our bots in a group, those first that read every line."""
        if group not in self._there:
            found = [one for agent in self._bots if (one := await self._presence(group, agent)) is not None]
            self._there[group] = sorted(found, key=lambda one: not one.reads)
        return self._there[group]

    async def _presence(self, group: int, agent: str) -> BotPresence | None:
        one = self._bots[agent]
        try:
            member = await one.bot.get_chat_member(group, one.id)
        except (BadRequest, Forbidden):
            return None
        if member.status not in HERE:
            return None
        return BotPresence(agent, one.reads_all or member.status == ChatMemberStatus.ADMINISTRATOR)

    # --- out ------------------------------------------------------------------------------------------------

    async def send(self, post: BridgePost) -> str:
        try:
            with _before_posting():
                one = await self._carrier(post.chat, post.speaker)
            try:
                return await self._sent_by(one, post)
            except Forbidden:
                with _before_posting():
                    other = await self._other_carrier(post, one)
                if other is None:
                    raise
                return await self._sent_by(other, post)
        except TelegramError as error:
            raise _trouble(error) from error

    async def _sent_by(self, one: AgentBot, post: BridgePost) -> str:
        said = post.text if post.speaker in ("", one.agent) else f"● {post.speaker}: {post.text}"
        text, entities = rendered(said)
        try:
            message = await self._sent(one.bot, post, text, entities)
        except BadRequest as error:
            if isinstance(error, ChatMigrated) or not entities:
                raise
            # A refusal says that nothing was sent: without its markup the text may pass.
            log.warning("sent without markup", action="markup_refused", post=post.id, error=error.message)
            message = await self._sent(one.bot, post, said, [])
        return str(message.message_id)

    async def _carrier(self, chat: str, speaker: str) -> AgentBot:
        """Whose bot says it: the speaker's own where it is in the chat; else one that is, which names the speaker."""
        if not self._bots:
            raise NotReached("not connected to Telegram")
        if ":" in chat:
            there = [chat.partition(":")[0]]
        else:
            there = [one.agent for one in await self._present(_numbers(chat)[0])]
        name = speaker if speaker in there else next(iter(there), speaker)
        return self._bots.get(name) or next(iter(self._bots.values()))

    async def _other_carrier(self, post: BridgePost, one: AgentBot) -> AgentBot | None:
        """Another bot, where one has been thrown out of a group and nobody was told yet."""
        if ":" in post.chat:
            return None
        self._there.pop(_numbers(post.chat)[0], None)
        other = await self._carrier(post.chat, post.speaker)
        return other if other.agent != one.agent else None

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

    async def show_typing(self, chat: str, speaker: str) -> None:
        number, thread = _numbers(chat)
        bot = (await self._carrier(chat, speaker)).bot
        await bot.send_chat_action(number, ChatAction.TYPING, message_thread_id=thread or None)

    def has_drafts(self, kind: ChatKind) -> bool:
        return kind is ChatKind.PRIVATE

    async def show_draft(self, chat: str, speaker: str, turn: str, text: str) -> None:
        """It lasts for half a minute and is no message: nothing is left to be taken back."""
        bot, (number, thread) = (await self._carrier(chat, speaker)).bot, _numbers(chat)
        shown = split(text, self.longest, utf16)[-1:]
        if shown:
            draft = crc32(turn.encode()) | 1
            await bot.send_message_draft(number, draft, shown[0], message_thread_id=thread or None)

    async def close_buttons(self, post: BridgePost, text: str) -> None:
        bot = (await self._carrier(post.chat, post.speaker)).bot
        words, entities = rendered(text)
        await bot.edit_message_text(
            words, _numbers(post.chat)[0], int(post.external), entities=entities or None
        )

    async def _quietly(self, call: Awaitable[object]) -> None:
        """What nobody waits for."""
        try:
            await call
        except TelegramError as error:
            log.debug("not done", action="call_failed", error=error.message)


def _tell_refused(agent: str, refusal: BadValue) -> None:
    """One bot less: the others need not be silent for it."""
    log.error(refusal.title, action="bot_refused", agent=agent, fix=[str(way) for way in refusal.fix])


def _numbers(chat: str) -> tuple[int, int]:
    """The chat's own id and its topic, of what we call it."""
    id, _, thread = chat.rpartition(":")[2].partition("/")
    return int(id), int(thread or 0)


def _keyboard(buttons: tuple[str, ...]) -> InlineKeyboardMarkup | None:
    rows = [[InlineKeyboardButton(text[:60], callback_data=f"d:{n}")] for n, text in enumerate(buttons)]
    return InlineKeyboardMarkup(rows) if rows else None


@contextmanager
def _before_posting() -> Iterator[None]:
    """Whatever goes wrong here: nothing was posted."""
    try:
        yield
    except TelegramError as error:
        trouble = _trouble(error)
        raise (NotSent(str(trouble)) if isinstance(trouble, Unsure) else trouble) from error


def _trouble(error: TelegramError) -> SendTrouble:
    match error:
        case RetryAfter():
            return Flooded(_seconds(error))
        case ChatMigrated():
            return ChatMoved(ChatRef(str(error.new_chat_id), ChatKind.SUPERGROUP))
        case Forbidden() | InvalidToken() | BadRequest():
            return NotSent(error.message, is_final=True)
        case NetworkError() if isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout):
            return NotReached(error.message)
        case TimedOut() if isinstance(error.__cause__, httpx.ConnectTimeout | httpx.PoolTimeout):
            return NotReached(error.message)
        case _:
            return Unsure(error.message)


def _seconds(error: RetryAfter) -> float:
    wait = error.retry_after
    return float(wait) if isinstance(wait, int | float) else wait.total_seconds()
