"""The bridge to Discord: one bot reads; agents speak through a webhook under their own names, or each as its own bot.

Above: start.py. Below: messages.py reads events. The gateway has no confirmations, so every session first fetches what
was missed (history.py). Until then messages that arrive live are held back: a newer known message would hide the missed
ones. The library never repeats a request: a post could appear twice.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import aiohttp
import hikari
import structlog
from hikari.applications import get_token_id
from hikari.impl import CacheSettings, GatewayBot, RESTApp, RESTClientImpl

from moot.bridges.bridge import (
    BridgeInbox,
    ChatDeletion,
    Flooded,
    FloodRule,
    Incoming,
    NotReached,
    NotSent,
    PairedChat,
    SendTrouble,
    Unsure,
)
from moot.bridges.discord.history import Missed, read_missed
from moot.bridges.discord.messages import (
    avatar_of,
    button_press,
    button_rows,
    chat_edit,
    chat_message,
    chat_of,
    commands,
    key_of,
    typed_command,
    webhook_name,
)
from moot.errors import Trouble
from moot.model.entrance import DoorName
from moot.model.records.chat_apps.bridge import BridgePost, ChatKind

log = structlog.get_logger("moot.bridges")

API_URL: Final = "https://discord.com/api/v10"
INTENTS: Final = (
    hikari.Intents.GUILDS
    | hikari.Intents.GUILD_MESSAGES
    | hikari.Intents.DM_MESSAGES
    | hikari.Intents.MESSAGE_CONTENT
)
MAX_WAIT_SECONDS: Final = 0.5
"""How long the library may wait for a rate limit by itself; a longer wait is raised as an error."""
PACE: Final = FloodRule(0.5, 30)
AGAIN_SECONDS: Final = 2.0
HOOK: Final = "Moot"
THREADS: Final = (
    hikari.ChannelType.GUILD_PUBLIC_THREAD,
    hikari.ChannelType.GUILD_PRIVATE_THREAD,
    hikari.ChannelType.GUILD_NEWS_THREAD,
)
QUIETLY: Final[dict[str, Any]] = {"mentions_everyone": False, "user_mentions": False, "role_mentions": False}
"""A post of an agent notifies nobody."""


CLOSED_SECONDS: Final = 100.0
"""Pause after Discord closed the session for good: it resets the token after 1,000 sessions a day."""


class PostRoute(NamedTuple):
    """How a post gets into a chat."""

    by: hikari.api.RESTClient
    hook: hikari.ExecutableWebhook | None = None
    is_own: bool = False
    """By the speaker's own bot."""
    thread: int | hikari.UndefinedType = hikari.UNDEFINED


GatewayItem: TypeAlias = (
    Incoming | hikari.Message | hikari.PartialInteraction | hikari.ShardReadyEvent | PairedChat | None
)
"""ShardReadyEvent: a new session, which may have missed messages. PairedChat: fetch its missed messages again."""


class DiscordBridge:
    name = DoorName.DISCORD
    max_size = 1900
    """A little less than Discord accepts: in direct chats the agent's name is added in front."""

    def __init__(
        self,
        token: str,
        bots: Mapping[str, str],
        *,
        api_url: str = API_URL,
        pace: FloodRule | None = None,
        avatar_url: str = "",
    ) -> None:
        self._token = token
        self._avatar_url = avatar_url
        self._bot_tokens = bots
        self._api_url = api_url
        self._pace = pace or PACE
        self._bot: GatewayBot | None = None
        self._app: RESTApp | None = None
        self._speakers: dict[str, RESTClientImpl] = {}
        self._places: dict[str, hikari.PartialChannel] = {}
        self._hooks: dict[int, hikari.ExecutableWebhook] = {}
        self._queue: asyncio.Queue[GatewayItem] = asyncio.Queue()
        self._held_back: dict[str, list[hikari.Message | Incoming]] = {}
        """Chat whose missed messages are not fetched yet → what has arrived live since."""
        self.taken = 0
        """Events of this connection that are stored or need not be."""
        self.is_listening = False
        """Connected, and all missed messages are fetched."""

    def size(self, text: str) -> int:
        return len(text)

    def flood_rule(self, kind: ChatKind) -> FloodRule:
        return self._pace

    def can_speak_as(self, agent: str) -> bool:
        return not self._bot_tokens or agent in self._bot_tokens

    # --- in -------------------------------------------------------------------------------------------------

    async def run(self, inbox: BridgeInbox) -> None:
        bot = GatewayBot(
            self._token,
            banner=None,
            logs=None,
            suppress_optimization_warning=True,
            intents=INTENTS,
            cache_settings=CacheSettings(components=hikari.api.CacheComponents.NONE),
            auto_chunk_members=False,
            max_retries=0,
            max_rate_limit=MAX_WAIT_SECONDS,
            rest_url=self._api_url,
        )
        self._queue = asyncio.Queue()
        self._held_back.clear()
        bot.subscribe(hikari.ShardReadyEvent, self._on_session)
        bot.subscribe(hikari.MessageCreateEvent, self._on_message)
        bot.subscribe(hikari.MessageUpdateEvent, self._on_edit)
        bot.subscribe(hikari.MessageDeleteEvent, self._on_delete)
        bot.subscribe(hikari.GuildBulkMessageDeleteEvent, self._on_delete)
        bot.subscribe(hikari.InteractionCreateEvent, self._on_interaction)
        try:
            await bot.start(check_for_updates=False)
            self._bot = bot
            await self._connect_speakers()
            await self._register(bot)
            async with asyncio.TaskGroup() as work:
                work.create_task(self._take_all(inbox))
                work.create_task(_until_closed(bot))
        except* hikari.GatewayServerClosedConnectionError as closed:
            log.error("closed for good", action="gateway_closed", reason=str(closed.exceptions[0]))
            await asyncio.sleep(CLOSED_SECONDS)
            raise
        finally:
            self._bot, self.is_listening = None, False
            for speaker in self._speakers.values():
                await speaker.close()
            self._speakers.clear()
            if self._app is not None:
                await self._app.close()
                self._app = None
            await bot.close()

    async def _connect_speakers(self) -> None:
        """Connect one bot per agent, for posting; only one bot reads."""
        if not self._bot_tokens:
            return
        self._app = RESTApp(max_retries=0, max_rate_limit=MAX_WAIT_SECONDS, url=self._api_url)
        await self._app.start()
        for agent, token in self._bot_tokens.items():
            self._speakers[agent] = self._app.acquire(token, hikari.TokenType.BOT)
            self._speakers[agent].start()

    async def _register(self, bot: GatewayBot) -> None:
        try:
            await bot.rest.set_application_commands(get_token_id(self._token), commands())
        except hikari.HTTPError as error:
            log.warning("no slash commands", action="commands_unregistered", error=describe(error))

    async def _take_all(self, inbox: BridgeInbox) -> None:
        while True:
            item = await self._queue.get()
            await self._take(item, inbox)
            self.taken = (
                0
                if isinstance(item, hikari.ShardReadyEvent)
                else self.taken + (not isinstance(item, PairedChat))
            )
            self.is_listening = not self._held_back

    async def _take(self, item: GatewayItem, inbox: BridgeInbox) -> None:
        """Retry while the store is away: the gateway delivers nothing twice. Later items wait in the queue."""
        while True:
            try:
                await self._take_once(item, inbox)
                return
            except Trouble as trouble:
                log.error("not stored yet", action="store_away", bridge=self.name, error=trouble.title)
                await asyncio.sleep(AGAIN_SECONDS)

    async def _take_once(self, item: GatewayItem, inbox: BridgeInbox) -> None:
        if isinstance(item, hikari.PartialInteraction):
            await self._interact(item, inbox)
        elif isinstance(item, hikari.ShardReadyEvent):
            paired = await inbox.chats()
            self._held_back.update({chat.chat: [] for chat in paired if chat.chat not in self._held_back})
            for chat in paired:
                await self._catch_up(chat, inbox)
        elif isinstance(item, PairedChat):
            await self._catch_up(item, inbox)
        elif item is not None:
            await self._take_live(item, inbox)

    async def _take_live(self, item: hikari.Message | Incoming, inbox: BridgeInbox) -> None:
        chat = str(int(item.channel_id)) if isinstance(item, hikari.Message) else item.chat.id
        if chat in self._held_back:
            self._held_back[chat].append(item)
        else:
            await self._hear(item, inbox)

    async def _interact(self, interaction: hikari.PartialInteraction, inbox: BridgeInbox) -> None:
        """Store it, then answer: Discord waits three seconds."""
        answer = hikari.ResponseType.MESSAGE_CREATE
        if isinstance(interaction, hikari.CommandInteraction):
            command = typed_command(interaction)
            await inbox.hear(command)
            await self._respond(interaction, answer, command.text)
        elif isinstance(interaction, hikari.ComponentInteraction) and (press := button_press(interaction)):
            await inbox.hear(press)
            await self._respond(interaction, hikari.ResponseType.DEFERRED_MESSAGE_UPDATE)

    async def _respond(self, interaction: Any, kind: hikari.ResponseType, text: str = "") -> None:
        try:
            if text:
                await interaction.create_initial_response(
                    kind, text, flags=hikari.MessageFlag.EPHEMERAL, **QUIETLY
                )
            else:
                await interaction.create_initial_response(kind)
        except hikari.HTTPError as error:
            log.debug("not answered", action="interaction_unanswered", error=describe(error))

    async def _on_session(self, event: hikari.ShardReadyEvent) -> None:
        await self._queue.put(event)

    async def _on_message(self, event: hikari.MessageCreateEvent) -> None:
        await self._queue.put(event.message)

    async def _on_edit(self, event: hikari.MessageUpdateEvent) -> None:
        is_guild = isinstance(event, hikari.GuildMessageUpdateEvent)
        await self._queue.put(chat_edit(event.message, is_guild=is_guild, bots=self._own_names))

    async def _on_delete(self, event: hikari.MessageDeleteEvent | hikari.GuildBulkMessageDeleteEvent) -> None:
        chat = chat_of(event.channel_id, is_guild=not isinstance(event, hikari.DMMessageDeleteEvent))
        ids = (event.message_id,) if isinstance(event, hikari.MessageDeleteEvent) else event.message_ids
        for message in ids:
            await self._queue.put(ChatDeletion(key_of(message), chat))

    async def _on_interaction(self, event: hikari.InteractionCreateEvent) -> None:
        await self._queue.put(event.interaction)

    async def _hear(self, item: hikari.Message | Incoming, inbox: BridgeInbox) -> None:
        if not isinstance(item, hikari.Message):
            await inbox.hear(item)
            return
        place = await self._place(str(int(item.channel_id)))
        is_guild = not isinstance(place, hikari.DMChannel)
        message = chat_message(item, is_guild=is_guild, title=place.name or "", bots=self._own_names)
        if message is not None:
            await inbox.hear(message)

    async def _catch_up(self, paired: PairedChat, inbox: BridgeInbox) -> None:
        """Take the missed messages, then those that were held back. Tried again later if Discord cannot be reached."""
        try:
            missed = await read_missed(self._rest(), paired, inbox)
        except hikari.ClientHTTPResponseError as error:  # the chat is gone, or not ours to read any more
            log.warning(
                "nothing to catch up", action="catch_up_refused", chat=paired.chat, error=describe(error)
            )
            missed = Missed([], [], [])
        except (hikari.HTTPError, aiohttp.ClientError, TimeoutError) as error:
            wait = error.retry_after if isinstance(error, hikari.RateLimitTooLongError) else AGAIN_SECONDS
            log.warning("not caught up yet", action="catch_up_failed", chat=paired.chat, seconds=wait)
            asyncio.get_running_loop().call_later(wait, self._queue.put_nowait, paired)
            return
        await self._take_missed(missed, paired.chat, inbox)
        held_back = self._held_back.get(paired.chat, [])
        while held_back:
            await self._hear(held_back[0], inbox)
            del held_back[0]
        self._held_back.pop(paired.chat, None)

    async def _take_missed(self, missed: Missed, chat: str, inbox: BridgeInbox) -> None:
        for message in missed.messages:
            await self._hear(message, inbox)
        if not missed.edited and not missed.deleted:
            return
        is_guild = not isinstance(await self._place(chat), hikari.DMChannel)
        edits = [chat_edit(one, is_guild=is_guild, bots=self._own_names) for one in missed.edited]
        deletions = [ChatDeletion(key_of(id), chat_of(int(chat), is_guild=is_guild)) for id in missed.deleted]
        for incoming in (*edits, *deletions):
            if incoming is not None:
                await inbox.hear(incoming)

    @property
    def _own_names(self) -> dict[int, str]:
        """Account → agent, of all our bots. A token begins with its bot's account."""
        speakers = {int(get_token_id(token)): agent for agent, token in self._bot_tokens.items()}
        return {int(get_token_id(self._token)): ""} | speakers

    # --- out ------------------------------------------------------------------------------------------------

    async def send(self, post: BridgePost) -> str:
        try:
            route = await self._route(post)
        except (hikari.HikariError, aiohttp.ClientError, TimeoutError) as error:
            trouble = self._trouble(error)  # nothing was posted yet
            raise (NotSent(str(trouble)) if isinstance(trouble, Unsure) else trouble) from error
        try:
            return str(int(await self._send_via(post, route)))
        except (hikari.HikariError, aiohttp.ClientError, TimeoutError) as error:
            raise self._trouble(error) from error

    async def _route(self, post: BridgePost) -> PostRoute:
        """How to post: in a direct chat only the bot that reads may write."""
        rest, place = self._rest(), await self._place(post.chat)
        if isinstance(place, hikari.DMChannel) or not post.speaker:
            return PostRoute(rest)
        if (own := self._speakers.get(post.speaker)) is not None:
            return PostRoute(own, is_own=True)
        is_thread = place.type in THREADS
        hook = await self._hook(int(place.parent_id) if is_thread else int(post.chat))  # type: ignore[attr-defined]
        return PostRoute(rest, hook, thread=int(post.chat) if is_thread else hikari.UNDEFINED)

    async def _send_via(self, post: BridgePost, route: PostRoute) -> hikari.Snowflake:
        buttons, hook = button_rows(post.buttons), route.hook
        if hook is None:
            text = _text(post, route)
            return (await route.by.create_message(int(post.chat), text, components=buttons, **QUIETLY)).id
        message = await route.by.execute_webhook(
            hook,
            str(hook.token),
            post.text,
            thread=route.thread,
            username=webhook_name(post.speaker),
            avatar_url=avatar_of(post.speaker, self._avatar_url),
            components=buttons,
            **QUIETLY,
        )
        return message.id

    async def _hook(self, channel: int) -> hikari.ExecutableWebhook:
        """Our webhook in a channel; its address is a secret and kept in memory only."""
        webhook = self._hooks.get(channel)
        if webhook is None:
            rest = self._rest()
            ours = [
                hook
                for hook in await rest.fetch_channel_webhooks(channel)
                if isinstance(hook, hikari.IncomingWebhook) and hook.token and hook.name == HOOK
            ]
            webhook = ours[0] if ours else await rest.create_webhook(channel, HOOK)
            self._hooks[channel] = webhook
        return webhook

    async def _place(self, chat: str) -> hikari.PartialChannel:
        if chat not in self._places:
            self._places[chat] = await self._rest().fetch_channel(int(chat))
        return self._places[chat]

    def _rest(self) -> hikari.api.RESTClient:
        if self._bot is None:
            raise NotReached("not connected to Discord")
        return self._bot.rest

    def _trouble(self, error: Exception) -> SendTrouble:
        match error:
            case hikari.RateLimitTooLongError():
                return Flooded(error.retry_after)
            case hikari.NotFoundError():
                self._hooks.clear()  # somebody may have deleted the webhook: the next try makes another
                return NotSent(describe(error))
            case hikari.ClientHTTPResponseError():
                return NotSent(describe(error), is_final=True)
            case hikari.HTTPError() if isinstance(error.__cause__, aiohttp.ClientConnectorError):
                return NotReached(describe(error))
            case aiohttp.ClientConnectorError():
                return NotReached(type(error).__name__)
            case _:
                return Unsure(describe(error))

    async def show_typing(self, chat: str, speaker: str) -> None:
        is_direct = isinstance(await self._place(chat), hikari.DMChannel)
        own = None if is_direct else self._speakers.get(speaker)
        await (own or self._rest()).trigger_typing(int(chat))

    def has_drafts(self, kind: ChatKind) -> bool:
        return False  # an edit counts as a post, and only five are allowed in five seconds

    async def show_draft(self, chat: str, speaker: str, turn: str, text: str) -> None:
        """Discord has no drafts."""

    async def edit(self, post: BridgePost) -> None:
        try:
            await self._edit_via(post, await self._route(post))
        except hikari.NotFoundError as error:  # it was deleted, or the webhook that posted it
            self._hooks.clear()
            log.info("not changed", action="edit_refused", post=post.id, error=describe(error))
        except (hikari.HikariError, aiohttp.ClientError, TimeoutError) as error:
            raise self._trouble(error) from error

    async def _edit_via(self, post: BridgePost, route: PostRoute) -> None:
        id, text, hook = int(post.external), _text(post, route), route.hook
        if hook is None:
            await route.by.edit_message(int(post.chat), id, text, components=[], **QUIETLY)
            return
        await route.by.edit_webhook_message(
            hook, str(hook.token), id, text, thread=route.thread, components=[], **QUIETLY
        )


def _text(post: BridgePost, route: PostRoute) -> str:
    """What a post says; without an identity of its own, the speaker is named."""
    is_named = bool(post.speaker) and route.hook is None and not route.is_own
    return f"● {post.speaker}: {post.text}" if is_named else post.text


async def _until_closed(bot: GatewayBot) -> None:
    await bot.join()
    raise ConnectionError("the connection to Discord has ended")


def describe(error: Exception) -> str:
    """Discord's message without the address: those of webhooks and interactions are secrets."""
    if isinstance(error, hikari.HTTPResponseError):
        return f"{int(error.status)} {error.message or 'and no reason given'}"
    return type(error).__name__
