"""Checks for the known traps of Discord, one by one: tokens, message content, names, commands, channels, posting.

Above: the command line. A test message is deleted again.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import aiohttp
import hikari
from hikari.applications import get_token_id
from hikari.impl import RESTApp

from moot.bridges.discord.messages import webhook_name
from moot.bridges.findings import BAD, OK, TEST_TEXT, WARN, SetupFinding
from moot.model.records.chat_apps.bridge import ChatKind
from moot.settings import DiscordIdentity, DiscordSettings
from moot.shapes import ChatElsewhere

CONTENT_FIX: Final = "at discord.com/developers, the application, Bot: switch on Message Content Intent"
NETWORK_FIX: Final = "check the network, and api_url if you have set it"
HAS_CONTENT: Final = (
    hikari.ApplicationFlags.MESSAGE_CONTENT_INTENT | hikari.ApplicationFlags.MESSAGE_CONTENT_INTENT_LIMITED
)
THREADS: Final = (10, 11, 12)


async def check_setup(
    settings: DiscordSettings,
    chats: Sequence[ChatElsewhere],
    agents: Sequence[str] = (),
    *,
    posts: bool = False,
) -> list[SetupFinding]:
    app = RESTApp(max_retries=0, max_rate_limit=1.0, url=settings.api_url)
    await app.start()
    try:
        bots = settings.bots if settings.identity is DiscordIdentity.BOTS else {}
        reader = await _token(app, "bot that reads", settings.token)
        findings = [reader]
        for agent, token in bots.items():
            findings += await _bot(app, agent, token)
        if settings.identity is DiscordIdentity.WEBHOOK:
            findings += _names(agents)
        if reader.state == OK:
            async with app.acquire(settings.token, hikari.TokenType.BOT) as rest:
                findings += await _content(rest)
                paired = [one for one in chats if one.kind != ChatKind.PRIVATE and one.state == "paired"]
                for chat in paired:
                    findings += await _channel(rest, chat, settings, posts=posts)
                    findings += await _bots_in(app, chat, bots)
        return findings
    finally:
        await app.close()


async def _token(app: RESTApp, about: str, token: str) -> SetupFinding:
    try:
        async with app.acquire(token, hikari.TokenType.BOT) as rest:
            me = await rest.fetch_my_user()
    except hikari.UnauthorizedError:
        fix = "at discord.com/developers, the application, Bot: Reset Token, and set the variable again"
        return SetupFinding(about, BAD, "Discord does not accept the token", fix)
    except (hikari.HikariError, aiohttp.ClientError, ValueError) as error:
        return SetupFinding(about, BAD, f"Discord cannot be asked: {type(error).__name__}", NETWORK_FIX)
    return SetupFinding(about, OK, f"token accepted, is {me.username}")


async def _bot(app: RESTApp, agent: str, token: str) -> list[SetupFinding]:
    """A bot that only speaks. Commands of its own would be offered beside those of the bot that reads."""
    about = f"bot of {agent}"
    accepted = await _token(app, about, token)
    if accepted.state != OK:
        return [accepted]
    try:
        async with app.acquire(token, hikari.TokenType.BOT) as rest:
            commands = await rest.fetch_application_commands(get_token_id(token))
    except (hikari.HikariError, aiohttp.ClientError, ValueError):
        return [accepted]
    if not commands:
        return [accepted]
    names = ", ".join(sorted(f"/{one.name}" for one in commands)[:5])
    text = f"it offers commands of its own, which nobody answers: {names}"
    fix = "remove them where they were registered; only the bot that reads needs commands"
    return [accepted, SetupFinding(about, WARN, text, fix)]


def _names(agents: Sequence[str]) -> list[SetupFinding]:
    return [
        SetupFinding(
            agent,
            WARN,
            f'Discord refuses this name for a webhook: its posts appear as "{webhook_name(agent)}"',
            f"give it another name: moot agents rename {agent} NEW",
        )
        for agent in agents
        if webhook_name(agent) != agent
    ]


async def _content(rest: hikari.api.RESTClient) -> list[SetupFinding]:
    about = "message content"
    try:
        application = await rest.fetch_application()
    except hikari.HikariError as error:
        return [SetupFinding(about, WARN, f"could not be checked: {type(error).__name__}", CONTENT_FIX)]
    if application.flags & HAS_CONTENT:
        return [SetupFinding(about, OK, "the bot may read what people write")]
    return [SetupFinding(about, BAD, "the bot hears no text: the intent is off", CONTENT_FIX)]


async def _channel(
    rest: hikari.api.RESTClient, chat: ChatElsewhere, settings: DiscordSettings, *, posts: bool
) -> list[SetupFinding]:
    title, permission = chat.title or chat.chat, "View Channel"
    try:
        place = await rest.fetch_channel(int(chat.chat))
        parent = getattr(place, "parent_id", None) if int(place.type) in THREADS else None
        permission = "Manage Webhooks"
        if settings.identity is DiscordIdentity.WEBHOOK:
            await rest.fetch_channel_webhooks(int(parent or chat.chat))
        permission = "Read Message History"
        newest = await rest.fetch_messages(int(chat.chat)).limit(1)
        permission = "Send Messages"
        if posts:
            await _post(rest, int(chat.chat))
    except hikari.ForbiddenError:
        return [_lacks(title, permission)]
    except hikari.NotFoundError:
        fix = f"unpair it: moot bridge rm discord {chat.chat}"
        return [SetupFinding(title, BAD, "the channel is gone", fix)]
    except hikari.HikariError as error:
        return [SetupFinding(title, WARN, f"could not be checked: {type(error).__name__}", NETWORK_FIX)]
    if not newest:
        text = "its history is empty, or the bot may not read it: what is written while the hub is away is missed"
        return [SetupFinding(title, WARN, text, _permit("Read Message History"))]
    return [SetupFinding(title, OK, "can be read and posted to" if posts else "can be read")]


async def _post(rest: hikari.api.RESTClient, channel: int) -> None:
    message = await rest.create_message(channel, TEST_TEXT)
    await rest.delete_message(channel, message.id)


async def _bots_in(app: RESTApp, chat: ChatElsewhere, bots: Mapping[str, str]) -> list[SetupFinding]:
    """Whether each agent's own bot is where its agent speaks."""
    findings = []
    for agent, token in bots.items():
        try:
            async with app.acquire(token, hikari.TokenType.BOT) as rest:
                await rest.fetch_channel(int(chat.chat))
        except (hikari.ForbiddenError, hikari.NotFoundError):
            about = f"{chat.title or chat.chat} bot of {agent}"
            fix = "invite this bot to the server too, and let it see the channel"
            findings.append(SetupFinding(about, BAD, "it does not see the channel", fix))
        except (hikari.HikariError, aiohttp.ClientError, ValueError):
            continue  # its token has a line of its own
    return findings


def _lacks(title: str, permission: str) -> SetupFinding:
    return SetupFinding(title, BAD, f"the bot lacks the permission {permission}", _permit(permission))


def _permit(permission: str) -> str:
    return f"in the channel's settings, Permissions: give the bot {permission}"
