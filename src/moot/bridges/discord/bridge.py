"""The bridge to Discord: one bot reads; agents speak through a webhook under their own names, or each as its own bot.

Above: start.py. Below: messages.py reads. The gateway confirms nothing, so what was missed while nobody listened is
fetched at the beginning of every session: backwards from the newest until something is met that was heard before. Until
that has succeeded nothing is taken live from the chat, or what lies before it would be taken for heard. The library
repeats no request: a post would be there twice.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeAlias

import aiohttp
import hikari
import structlog
from hikari.applications import get_token_id
from hikari.impl import CacheSettings, GatewayBot, RESTApp, RESTClientImpl

from moot.bridges.bridge import (
    Ears,
    Erased,
    Flooded,
    FloodRule,
    Incoming,
    NotReached,
    NotSent,
    PairedChat,
    SendTrouble,
    Unsure,
)
from moot.bridges.discord.messages import (
    avatar_of,
    button_rows,
    chat_of,
    commands,
    key_of,
    pressed,
    rewritten,
    shown_name,
    used,
    written,
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
WAIT_AT_MOST: Final = 0.5
"""Seconds that the library may wait by itself; what takes longer is told."""
PACE: Final = FloodRule(0.5, 30)
AGAIN_SECONDS: Final = 2.0
HOOK: Final = "Moot"
MAX_FETCHED: Final = 2_000
"""Messages per channel that are looked through for what was missed."""
THREADS: Final = (
    hikari.ChannelType.GUILD_PUBLIC_THREAD,
    hikari.ChannelType.GUILD_PRIVATE_THREAD,
    hikari.ChannelType.GUILD_NEWS_THREAD,
)
QUIETLY: Final[dict[str, Any]] = {"mentions_everyone": False, "user_mentions": False, "role_mentions": False}
"""What an agent writes rings nobody's bell."""


CLOSED_SECONDS: Final = 100.0
"""Before the next try after Discord closed for good: it counts sessions, and resets the token behind 1,000 a day."""


class PostRoute(NamedTuple):
    """How a post gets into a chat."""

    by: hikari.api.RESTClient
    hook: hikari.ExecutableWebhook | None = None
    is_own: bool = False
    """By the bot of whoever speaks."""
    thread: int | hikari.UndefinedType = hikari.UNDEFINED


Arrived: TypeAlias = (
    Incoming | hikari.Message | hikari.PartialInteraction | hikari.ShardReadyEvent | PairedChat | None
)
"""A session that is ready: what came before was not told. A chat: it is to be caught up with once more."""


class DiscordBridge:
    name = DoorName.DISCORD
    longest = 1900
    """Some letters less than Discord takes: in direct chats the agent's name stands in front."""

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
        self._heard: asyncio.Queue[Arrived] = asyncio.Queue()
        self._behind: dict[str, list[hikari.Message | Incoming]] = {}
        """Chat that is not caught up with yet → what came live from it meanwhile."""
        self.taken = 0
        """Events of this connection that are stored, or need not to be."""
        self.is_listening = False
        """Connected, and everything that was missed is fetched."""

    def size(self, text: str) -> int:
        return len(text)

    def flood_rule(self, kind: ChatKind) -> FloodRule:
        return self._pace

    def can_speak_as(self, agent: str) -> bool:
        return not self._bot_tokens or agent in self._bot_tokens

    # --- in -------------------------------------------------------------------------------------------------

    async def run(self, ears: Ears) -> None:
        bot = GatewayBot(
            self._token,
            banner=None,
            logs=None,
            suppress_optimization_warning=True,
            intents=INTENTS,
            cache_settings=CacheSettings(components=hikari.api.CacheComponents.NONE),
            auto_chunk_members=False,
            max_retries=0,
            max_rate_limit=WAIT_AT_MOST,
            rest_url=self._api_url,
        )
        self._heard = asyncio.Queue()
        self._behind.clear()
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
                work.create_task(self._attend(ears))
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
        """With a bot per agent, each posts by itself; the one that reads needs no other to listen."""
        if not self._bot_tokens:
            return
        self._app = RESTApp(max_retries=0, max_rate_limit=WAIT_AT_MOST, url=self._api_url)
        await self._app.start()
        for agent, token in self._bot_tokens.items():
            self._speakers[agent] = self._app.acquire(token, hikari.TokenType.BOT)
            self._speakers[agent].start()

    async def _register(self, bot: GatewayBot) -> None:
        try:
            await bot.rest.set_application_commands(get_token_id(self._token), commands())
        except hikari.HTTPError as error:
            log.warning("no slash commands", action="commands_unregistered", error=in_words(error))

    async def _attend(self, ears: Ears) -> None:
        while True:
            heard = await self._heard.get()
            await self._take(heard, ears)
            self.taken = (
                0
                if isinstance(heard, hikari.ShardReadyEvent)
                else self.taken + (not isinstance(heard, PairedChat))
            )
            self.is_listening = not self._behind

    async def _take(self, heard: Arrived, ears: Ears) -> None:
        """The gateway brings nothing twice: while the store is away it is kept here, and what follows behind it."""
        while True:
            try:
                await self._taken(heard, ears)
                return
            except Trouble as trouble:
                log.error("not stored yet", action="store_away", bridge=self.name, error=trouble.title)
                await asyncio.sleep(AGAIN_SECONDS)

    async def _taken(self, heard: Arrived, ears: Ears) -> None:
        if isinstance(heard, hikari.PartialInteraction):
            await self._interact(heard, ears)
        elif isinstance(heard, hikari.ShardReadyEvent):
            paired = await ears.chats()
            self._behind.update({one.chat: [] for one in paired if one.chat not in self._behind})
            for one in paired:
                await self._catch_up(one, ears)
        elif isinstance(heard, PairedChat):
            await self._catch_up(heard, ears)
        elif heard is not None:
            await self._take_live(heard, ears)

    async def _take_live(self, heard: hikari.Message | Incoming, ears: Ears) -> None:
        chat = str(int(heard.channel_id)) if isinstance(heard, hikari.Message) else heard.chat.id
        if chat in self._behind:
            self._behind[chat].append(heard)
        else:
            await self._hear(heard, ears)

    async def _interact(self, interaction: hikari.PartialInteraction, ears: Ears) -> None:
        """Stored first, then answered: Discord waits three seconds."""
        answer = hikari.ResponseType.MESSAGE_CREATE
        if isinstance(interaction, hikari.CommandInteraction):
            line = used(interaction)
            await ears.hear(line)
            await self._respond(interaction, answer, line.text)
        elif isinstance(interaction, hikari.ComponentInteraction) and (found := pressed(interaction)):
            await ears.hear(found)
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
            log.debug("not answered", action="interaction_unanswered", error=in_words(error))

    async def _on_session(self, event: hikari.ShardReadyEvent) -> None:
        await self._heard.put(event)

    async def _on_message(self, event: hikari.MessageCreateEvent) -> None:
        await self._heard.put(event.message)

    async def _on_edit(self, event: hikari.MessageUpdateEvent) -> None:
        is_guild = isinstance(event, hikari.GuildMessageUpdateEvent)
        await self._heard.put(rewritten(event.message, is_guild=is_guild, bots=self._own_names))

    async def _on_delete(self, event: hikari.MessageDeleteEvent | hikari.GuildBulkMessageDeleteEvent) -> None:
        chat = chat_of(event.channel_id, is_guild=not isinstance(event, hikari.DMMessageDeleteEvent))
        ids = (event.message_id,) if isinstance(event, hikari.MessageDeleteEvent) else event.message_ids
        for message in ids:
            await self._heard.put(Erased(key_of(message), chat))

    async def _on_interaction(self, event: hikari.InteractionCreateEvent) -> None:
        await self._heard.put(event.interaction)

    async def _hear(self, heard: hikari.Message | Incoming, ears: Ears) -> None:
        if not isinstance(heard, hikari.Message):
            await ears.hear(heard)
            return
        place = await self._place(str(int(heard.channel_id)))
        is_guild = not isinstance(place, hikari.DMChannel)
        found = written(heard, is_guild=is_guild, title=place.name or "", bots=self._own_names)
        if found is not None:
            await ears.hear(found)

    async def _catch_up(self, paired: PairedChat, ears: Ears) -> None:
        """What was missed, then what came live meanwhile. Tried again where Discord could not say what was missed."""
        try:
            missed = await self._missed(paired, ears)
        except hikari.ClientHTTPResponseError as error:  # the chat is gone, or not ours to read any more
            log.warning(
                "nothing to catch up", action="catch_up_refused", chat=paired.chat, error=in_words(error)
            )
            missed = []
        except (hikari.HTTPError, aiohttp.ClientError, TimeoutError) as error:
            wait = error.retry_after if isinstance(error, hikari.RateLimitTooLongError) else AGAIN_SECONDS
            log.warning("not caught up yet", action="catch_up_failed", chat=paired.chat, seconds=wait)
            asyncio.get_running_loop().call_later(wait, self._heard.put_nowait, paired)
            return
        for message in reversed(missed):
            await self._hear(message, ears)
        behind = self._behind.get(paired.chat, [])
        while behind:
            await self._hear(behind[0], ears)
            del behind[0]
        self._behind.pop(paired.chat, None)

    async def _missed(self, paired: PairedChat, ears: Ears) -> list[hikari.Message]:
        """What people wrote since something was last heard, the newest first. Agents' posts lie between, any number."""
        missed: list[hikari.Message] = []
        since = hikari.Snowflake.from_datetime(datetime.fromtimestamp(paired.since, UTC))
        seen = 0
        async for message in self._rest().fetch_messages(int(paired.chat)):
            seen += 1
            if message.id < since or await ears.knows(key_of(message.id)):
                return missed
            if seen > MAX_FETCHED:
                log.warning("too much was missed", action="catch_up_cut", chat=paired.chat, fetched=seen)
                return missed
            if not message.author.is_bot and message.webhook_id is None:
                missed.append(message)
        return missed

    @property
    def _own_names(self) -> dict[int, str]:
        """A token begins with its bot's account."""
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
            return str(int(await self._sent(post, route)))
        except (hikari.HikariError, aiohttp.ClientError, TimeoutError) as error:
            raise self._trouble(error) from error

    async def _route(self, post: BridgePost) -> PostRoute:
        """A direct chat is with the bot that reads: no other may write there."""
        rest, place = self._rest(), await self._place(post.chat)
        if isinstance(place, hikari.DMChannel) or not post.speaker:
            return PostRoute(rest)
        if (own := self._speakers.get(post.speaker)) is not None:
            return PostRoute(own, is_own=True)
        is_thread = place.type in THREADS
        hook = await self._hook(int(place.parent_id) if is_thread else int(post.chat))  # type: ignore[attr-defined]
        return PostRoute(rest, hook, thread=int(post.chat) if is_thread else hikari.UNDEFINED)

    async def _sent(self, post: BridgePost, route: PostRoute) -> hikari.Snowflake:
        buttons, hook = button_rows(post.buttons), route.hook
        if hook is None:
            prefix = f"● {post.speaker}: " if post.speaker and not route.is_own else ""
            text = f"{prefix}{post.text}"
            return (await route.by.create_message(int(post.chat), text, components=buttons, **QUIETLY)).id
        message = await route.by.execute_webhook(
            hook,
            str(hook.token),
            post.text,
            thread=route.thread,
            username=shown_name(post.speaker),
            avatar_url=avatar_of(post.speaker, self._avatar_url),
            components=buttons,
            **QUIETLY,
        )
        return message.id

    async def _hook(self, channel: int) -> hikari.ExecutableWebhook:
        """The channel's own webhook of ours; its address is a secret and kept in memory only."""
        found = self._hooks.get(channel)
        if found is None:
            rest = self._rest()
            ours = [
                hook
                for hook in await rest.fetch_channel_webhooks(channel)
                if isinstance(hook, hikari.IncomingWebhook) and hook.token and hook.name == HOOK
            ]
            found = ours[0] if ours else await rest.create_webhook(channel, HOOK)
            self._hooks[channel] = found
        return found

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
                return NotSent(in_words(error))
            case hikari.ClientHTTPResponseError():
                return NotSent(in_words(error), is_final=True)
            case hikari.HTTPError() if isinstance(error.__cause__, aiohttp.ClientConnectorError):
                return NotReached(in_words(error))
            case aiohttp.ClientConnectorError():
                return NotReached(type(error).__name__)
            case _:
                return Unsure(in_words(error))

    async def show_typing(self, chat: str, speaker: str) -> None:
        is_direct = isinstance(await self._place(chat), hikari.DMChannel)
        own = None if is_direct else self._speakers.get(speaker)
        await (own or self._rest()).trigger_typing(int(chat))

    def has_drafts(self, kind: ChatKind) -> bool:
        return False  # an edit counts as a post, and there are five in five seconds for all of them

    async def show_draft(self, chat: str, speaker: str, turn: str, text: str) -> None:
        """There are none."""

    async def close_buttons(self, post: BridgePost, text: str) -> None:
        route = await self._route(post)
        if route.hook is None:
            await route.by.edit_message(int(post.chat), int(post.external), text, components=[], **QUIETLY)
            return
        await route.by.edit_webhook_message(
            route.hook,
            str(route.hook.token),
            int(post.external),
            text,
            thread=route.thread,
            components=[],
            **QUIETLY,
        )


async def _until_closed(bot: GatewayBot) -> None:
    await bot.join()
    raise ConnectionError("the connection to Discord has ended")


def in_words(error: Exception) -> str:
    """What Discord said, without the address: a webhook's is a secret, and so is an interaction's."""
    if isinstance(error, hikari.HTTPResponseError):
        return f"{int(error.status)} {error.message or 'and no reason given'}"
    return type(error).__name__
