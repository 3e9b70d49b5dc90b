"""The bridge to Telegram: polls for each bot, posts through the speaker's bot.

Above: start.py. Below: updates.py reads, entities.py draws, connection.py has the bots. Privacy mode is checked when
a group is first seen, and a notice there says how to change it.
"""

import asyncio
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Final
from zlib import crc32

import httpx
import structlog
from msgspec import Struct, structs
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
    BotPlaced,
    BridgeInbox,
    ChatMessage,
    ChatMoved,
    ChatRef,
    Flooded,
    FloodRule,
    NotReached,
    NotSent,
    SendTrouble,
    Unsure,
)
from moot.bridges.findings import BOT_TO_BOT
from moot.bridges.pieces import split, utf16
from moot.bridges.telegram.connection import API_URL, AgentBot, close, connect, fetch_updates, own
from moot.bridges.telegram.entities import render
from moot.bridges.telegram.menu import menu
from moot.bridges.telegram.updates import incoming
from moot.bridges.telegram.webhook import WebhookListener, WebhookPlan
from moot.errors import BadValue
from moot.model.entrance import DoorName
from moot.model.json import JsonObject
from moot.model.records.chat_apps.bridge import BridgePost, ChatKind

log = structlog.get_logger("moot.bridges")

UPDATE_KINDS: Final = ["message", "edited_message", "my_chat_member", "callback_query"]
POLL_SECONDS: Final = 25
AGAIN_SECONDS: Final = 2.0
IN_GROUPS: Final = FloodRule(1.0, 20)
IN_PRIVATE: Final = FloodRule(1.0, 60)
MEMBER_STATUSES: Final = frozenset(
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
    """It receives every message there."""


class TelegramBridge:
    name = DoorName.TELEGRAM
    max_size = 3900
    """A little less than Telegram accepts: lists and tables grow when they are rendered."""

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
        self._receiving_bots: set[str] = set()
        """Agents whose bots received a post of another bot."""
        self._looking = asyncio.Lock()
        self._present_bots: dict[int, list[BotPresence]] = {}
        """Group → our bots in it, for the groups that were looked at."""

    def size(self, text: str) -> int:
        return utf16(text)

    def flood_rule(self, kind: ChatKind) -> FloodRule:
        return self._pace or (IN_PRIVATE if kind is ChatKind.PRIVATE else IN_GROUPS)

    def can_speak_as(self, agent: str) -> bool:
        return agent in self._tokens

    # --- in -------------------------------------------------------------------------------------------------

    async def run(self, inbox: BridgeInbox) -> None:
        self._bots = await connect(self._tokens, self._api_url, on_refused=_log_refused)
        self._looked_at.clear()
        self._present_bots.clear()
        try:
            await self._offer_commands()
            async with asyncio.TaskGroup() as listening:
                if self._webhook is not None:
                    listener = WebhookListener(self._webhook, self._bots, partial(self._on_update, inbox))
                    listening.create_task(listener.serve(UPDATE_KINDS))
                else:
                    for bot in self._bots.values():
                        listening.create_task(self._poll(bot, inbox))
        finally:
            bots, self._bots = self._bots, {}
            await close(bots)

    async def _on_update(self, inbox: BridgeInbox, bot: AgentBot, update: JsonObject) -> None:
        await self._take(update, bot, inbox)

    async def _offer_commands(self) -> None:
        """In private chats each bot offers its commands; in a group one does, or each would be offered repeatedly."""
        for bot in self._bots.values():
            await self._quietly(bot.bot.set_my_commands(menu(), scope=BotCommandScopeAllPrivateChats()))

    async def _poll(self, bot: AgentBot, inbox: BridgeInbox) -> None:
        offset: int | None = None
        while True:
            try:
                updates = await fetch_updates(bot.bot, offset, self._poll_seconds, UPDATE_KINDS)
            except TelegramError as error:
                await self._wait(bot, error)
                continue
            for update in updates:
                try:
                    await self._take(update, bot, inbox)
                except TelegramError as error:  # it is not confirmed, and comes again
                    await self._wait(bot, error)
                    break
                offset = int(update["update_id"]) + 1

    async def _wait(self, bot: AgentBot, error: TelegramError) -> None:
        if isinstance(error, Conflict):
            text = "another process polls this bot, or a webhook is set; the setup check tells which"
            log.error(text, action="poll_conflict", bot=bot.username)
        elif isinstance(error, InvalidToken | Forbidden):
            log.error("the token is not accepted any more", action="token_refused", bot=bot.username)
        else:
            log.warning("could not poll", action="poll_failed", bot=bot.username, error=error.message)
        await asyncio.sleep(_seconds(error) if isinstance(error, RetryAfter) else AGAIN_SECONDS)

    async def _take(self, raw: JsonObject, bot: AgentBot, inbox: BridgeInbox) -> None:
        try:
            update = Update.de_json(raw, bot.bot)
            arrivals = incoming(update, bot.agent, own(self._bots))
        except Exception as error:  # the border to the library: one update must not block the rest
            await inbox.lay_aside(f"update/{bot.agent}/{raw.get('update_id')}", type(error).__name__)
            return
        for arrival in arrivals:
            if isinstance(arrival, ChatMessage) and arrival.account.is_bot:
                await self._note_bot_to_bot(bot, inbox)
            if isinstance(arrival, BotPlaced):
                await self._on_placed(arrival)
            is_group = arrival.chat.kind is not ChatKind.PRIVATE
            if is_group and not (isinstance(arrival, BotPlaced) and (arrival.left or arrival.moved_from)):
                await self._look_at(arrival.chat, inbox)
            await inbox.hear(arrival)
        if update.callback_query is not None:
            await self._quietly(bot.bot.answer_callback_query(update.callback_query.id))

    async def _on_placed(self, placed: BotPlaced) -> None:
        """Look at the group anew: a bot may have been added again so that it reads, or made an administrator."""
        self._present_bots.pop(_numbers(placed.chat.id)[0], None)
        self._looked_at.discard(placed.chat.id)
        if not placed.left and placed.agent in self._bots:
            bot = self._bots[placed.agent]
            me = await bot.bot.get_me()
            self._bots[placed.agent] = structs.replace(bot, reads_all=bool(me.can_read_all_group_messages))

    async def _note_bot_to_bot(self, bot: AgentBot, inbox: BridgeInbox) -> None:
        """Record once for the owner that another bot's post arrived: only that shows that this mode is on. Such posts
        are never taken in."""
        if bot.agent not in self._receiving_bots:
            self._receiving_bots.add(bot.agent)
            await inbox.lay_aside(f"{BOT_TO_BOT}/{bot.username}", HEARS_BOTS.format(bot=f"@{bot.username}"))

    async def _look_at(self, chat: ChatRef, inbox: BridgeInbox) -> None:
        """On the first message of a group: find out which of our bots are in it, and report them."""
        async with self._looking:
            if chat.id not in self._looked_at:
                await self._look_around(chat, inbox)
                self._looked_at.add(chat.id)

    async def _look_around(self, chat: ChatRef, inbox: BridgeInbox) -> None:
        present = await self._present(_numbers(chat.id)[0])
        nobody_reads = bool(present) and not any(one.reads for one in present)
        names = ", ".join(f"@{self._bots[one.agent].username}" for one in present)
        readers = tuple(one.agent for one in present if one.reads)
        for one in present[:1]:
            scope = BotCommandScopeChat(_numbers(chat.id)[0])
            await self._quietly(self._bots[one.agent].bot.set_my_commands(menu(), scope=scope))
        for one in present:
            notice = PRIVACY.format(bots=names) if nobody_reads else ""
            await inbox.hear(BotPlaced(chat, one.agent, notice=notice, readers=readers))
            nobody_reads = False

    async def _present(self, group: int) -> list[BotPresence]:
        """Our bots in a group; those that read every message come first."""
        if group not in self._present_bots:
            present = [one for agent in self._bots if (one := await self._presence(group, agent)) is not None]
            self._present_bots[group] = sorted(present, key=lambda one: not one.reads)
        return self._present_bots[group]

    async def _presence(self, group: int, agent: str) -> BotPresence | None:
        bot = self._bots[agent]
        try:
            member = await bot.bot.get_chat_member(group, bot.id)
        except (BadRequest, Forbidden):
            return None
        if member.status not in MEMBER_STATUSES:
            return None
        return BotPresence(agent, bot.reads_all or member.status == ChatMemberStatus.ADMINISTRATOR)

    # --- out ------------------------------------------------------------------------------------------------

    async def send(self, post: BridgePost) -> str:
        try:
            with _before_posting():
                bot = await self._carrier(post.chat, post.speaker)
            try:
                return await self._send_by(bot, post)
            except Forbidden:
                with _before_posting():
                    other = await self._other_carrier(post, bot)
                if other is None:
                    raise
                return await self._send_by(other, post)
        except TelegramError as error:
            raise _trouble(error) from error

    async def _send_by(self, bot: AgentBot, post: BridgePost) -> str:
        markdown = _markdown(bot, post)
        text, entities = render(markdown)
        try:
            message = await self._send_text(bot.bot, post, text, entities)
        except BadRequest as error:
            if isinstance(error, ChatMigrated) or not entities:
                raise
            # Nothing was sent yet: without markup the text may be accepted.
            log.warning("sent without markup", action="markup_refused", post=post.id, error=error.message)
            message = await self._send_text(bot.bot, post, markdown, [])
        return str(message.message_id)

    async def _carrier(self, chat: str, speaker: str) -> AgentBot:
        """The bot that posts: the speaker's own if it is in the chat, else another there, which names the speaker."""
        if not self._bots:
            raise NotReached("not connected to Telegram")
        if ":" in chat:
            present = [chat.partition(":")[0]]
        else:
            present = [one.agent for one in await self._present(_numbers(chat)[0])]
        name = speaker if speaker in present else next(iter(present), speaker)
        return self._bots.get(name) or next(iter(self._bots.values()))

    async def _other_carrier(self, post: BridgePost, bot: AgentBot) -> AgentBot | None:
        """Another bot for the post, if this one was removed from the group without an update about it."""
        if ":" in post.chat:
            return None
        self._present_bots.pop(_numbers(post.chat)[0], None)
        other = await self._carrier(post.chat, post.speaker)
        return other if other.agent != bot.agent else None

    async def _send_text(
        self, bot: Bot, post: BridgePost, text: str, entities: list[MessageEntity]
    ) -> Message:
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
        """Where ids differ per account, a bot knows only the ids that it received itself."""
        chat = _numbers(post.chat)[0]
        return ":" in post.chat or str(chat).startswith("-100")

    async def show_typing(self, chat: str, speaker: str) -> None:
        number, thread = _numbers(chat)
        bot = (await self._carrier(chat, speaker)).bot
        await bot.send_chat_action(number, ChatAction.TYPING, message_thread_id=thread or None)

    def has_drafts(self, kind: ChatKind) -> bool:
        return kind is ChatKind.PRIVATE

    async def show_draft(self, chat: str, speaker: str, turn: str, text: str) -> None:
        """A draft disappears after half a minute and is no message: nothing has to be deleted."""
        bot, (number, thread) = (await self._carrier(chat, speaker)).bot, _numbers(chat)
        newest = split(text, self.max_size, utf16)[-1:]
        if newest:
            draft = crc32(turn.encode()) | 1
            await bot.send_message_draft(number, draft, newest[0], message_thread_id=thread or None)

    async def edit(self, post: BridgePost) -> None:
        try:
            bot = await self._carrier(post.chat, post.speaker)
            if bot.agent != post.speaker and not self._may_reply(post):
                return  # by its number there, another bot would change another post
            text, entities = render(_markdown(bot, post))
            await bot.bot.edit_message_text(
                text, _numbers(post.chat)[0], int(post.external), entities=entities or None
            )
        except TelegramError as error:
            if not isinstance(error, BadRequest) or not _is_gone(error):
                raise _trouble(error) from error
            log.info("not changed", action="edit_refused", post=post.id, error=error.message)

    async def _quietly(self, call: Awaitable[object]) -> None:
        """Make a call whose failure does not matter."""
        try:
            await call
        except TelegramError as error:
            log.debug("not done", action="call_failed", error=error.message)


def _log_refused(agent: str, refusal: BadValue) -> None:
    """The other bots go on."""
    log.error(refusal.title, action="bot_refused", agent=agent, fix=[str(way) for way in refusal.fix])


def _numbers(chat: str) -> tuple[int, int]:
    """Telegram's id of the chat, and its topic, from our name for it."""
    id, _, thread = chat.rpartition(":")[2].partition("/")
    return int(id), int(thread or 0)


def _keyboard(buttons: tuple[str, ...]) -> InlineKeyboardMarkup | None:
    rows = [[InlineKeyboardButton(text[:60], callback_data=f"d:{n}")] for n, text in enumerate(buttons)]
    return InlineKeyboardMarkup(rows) if rows else None


def _markdown(bot: AgentBot, post: BridgePost) -> str:
    """What a post says; another bot than the speaker's names the speaker."""
    return post.text if post.speaker in ("", bot.agent) else f"● {post.speaker}: {post.text}"


def _is_gone(error: BadRequest) -> bool:
    """Whether there is nothing to change: it is so already, was deleted, or cannot be changed any more."""
    text = error.message.lower()
    return any(words in text for words in ("not modified", "not found", "can't be edited", "id_invalid"))


@contextmanager
def _before_posting() -> Iterator[None]:
    """A failure in this block means that nothing was posted."""
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
