"""Checks for the known traps of Discord, one by one: token, message content, channels, webhooks.

Above: the command line. Nothing is posted.
"""

from collections.abc import Sequence
from typing import Final

import hikari
from hikari.impl import RESTApp

from moot.bridges.findings import BAD, OK, WARN, SetupFinding
from moot.model.records.chat_apps.bridge import ChatKind
from moot.settings import DiscordIdentity, DiscordSettings
from moot.shapes import ChatElsewhere

CONTENT_FIX: Final = "at discord.com/developers, the application, Bot: switch on Message Content Intent"
HAS_CONTENT: Final = (
    hikari.ApplicationFlags.MESSAGE_CONTENT_INTENT | hikari.ApplicationFlags.MESSAGE_CONTENT_INTENT_LIMITED
)
THREADS: Final = (10, 11, 12)


async def check_setup(settings: DiscordSettings, chats: Sequence[ChatElsewhere]) -> list[SetupFinding]:
    app = RESTApp(max_retries=0, max_rate_limit=1.0, url=settings.api_url)
    await app.start()
    findings: list[SetupFinding] = []
    try:
        tokens = {"bot that reads": settings.token}
        if settings.identity is DiscordIdentity.BOTS:
            tokens |= settings.bots
        for about, token in tokens.items():
            findings.append(await _token(app, about, token))
        async with app.acquire(settings.token, hikari.TokenType.BOT) as rest:
            if findings[0].state == OK:
                findings += await _content(rest)
                for chat in chats:
                    findings += await _channel(rest, chat, settings)
    finally:
        await app.close()
    return findings


async def _token(app: RESTApp, about: str, token: str) -> SetupFinding:
    try:
        async with app.acquire(token, hikari.TokenType.BOT) as rest:
            me = await rest.fetch_my_user()
    except hikari.UnauthorizedError:
        fix = "at discord.com/developers, the application, Bot: Reset Token, and set the variable again"
        return SetupFinding(about, BAD, "Discord does not accept the token", fix)
    except (hikari.HikariError, ValueError) as error:
        return SetupFinding(about, BAD, f"Discord cannot be asked: {type(error).__name__}")
    return SetupFinding(about, OK, f"token accepted, is {me.username}")


async def _content(rest: hikari.api.RESTClient) -> list[SetupFinding]:
    try:
        application = await rest.fetch_application()
    except hikari.HikariError as error:
        return [
            SetupFinding(
                "message content", WARN, f"could not be checked: {type(error).__name__}", CONTENT_FIX
            )
        ]
    if application.flags & HAS_CONTENT:
        return [SetupFinding("message content", OK, "the bot may read what people write")]
    return [SetupFinding("message content", BAD, "the bot hears no text: the intent is off", CONTENT_FIX)]


async def _channel(
    rest: hikari.api.RESTClient, chat: ChatElsewhere, settings: DiscordSettings
) -> list[SetupFinding]:
    if chat.kind == ChatKind.PRIVATE or chat.state != "paired":
        return []
    title = chat.title or chat.chat
    try:
        place = await rest.fetch_channel(int(chat.chat))
        parent = getattr(place, "parent_id", None) if int(place.type) in THREADS else None
        if settings.identity is DiscordIdentity.WEBHOOK:
            await rest.fetch_channel_webhooks(int(parent or chat.chat))
    except hikari.ForbiddenError:
        fix = "give the bot View Channel, Send Messages, Read Message History and Manage Webhooks there"
        return [SetupFinding(title, BAD, "the bot lacks a permission", fix)]
    except hikari.NotFoundError:
        return [SetupFinding(title, BAD, "the channel is gone", f"unpair it: {chat.chat}")]
    except hikari.HikariError as error:
        return [SetupFinding(title, WARN, f"could not be checked: {type(error).__name__}")]
    return [SetupFinding(title, OK, "can be read and posted to")]
