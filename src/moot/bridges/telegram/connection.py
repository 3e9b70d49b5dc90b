"""Our bots: each a token, its own queue of updates and its own connection, all in one process.

Updates are confirmed by the offset of the next poll, which is moved only after what they brought is stored. That is
why the library's own polling is not used: it confirms what it has fetched, whatever becomes of it.
"""

import logging
import os
import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from moot.errors import BadValue
from moot.model.json import JsonObject

os.environ.setdefault(
    "PTB_TIMEDELTA", "1"
)  # else reading how long to wait warns, and our warnings are errors

from telegram import Bot
from telegram.error import InvalidToken, NetworkError, TelegramError
from telegram.request import HTTPXRequest

from moot.bridges.telegram.updates import OwnBots

API_URL = "https://api.telegram.org"
CONNECT_SECONDS = 5.0
READ_SECONDS = 10.0


class TokenRefused(BadValue):
    """One bot cannot be used; nothing is said about the others."""


class _WithoutTokens(logging.Filter):
    """The address of a request has the bot's token in it, and whoever runs a hub may log requests."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = _token("/bot***", record.getMessage()), ()
        return True


_token = re.compile(r"/bot\d+(?::|%3A)[^/'\"\s]+").sub
for _name in ("telegram.Bot", "httpx", "httpcore.http11", "httpcore.connection"):
    logging.getLogger(_name).addFilter(_WithoutTokens())


class AgentBot(Struct, frozen=True):
    agent: str
    bot: Bot
    id: int
    username: str
    reads_all: bool
    """Privacy mode is off: it sees every line of its groups."""


def made(token: str, api_url: str) -> Bot:
    base = f"{api_url.rstrip('/')}/bot"
    return Bot(token, base_url=base, request=_client(8, base), get_updates_request=_client(1, base))


def _client(connections: int, base: str) -> HTTPXRequest:
    """One that speaks no TLS anyway need not load all certificates, which takes a third of a second."""
    return HTTPXRequest(
        connection_pool_size=connections,
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        http_version="1.1",
        httpx_kwargs={"verify": False} if base.startswith("http://") else {},
    )


async def connected(
    tokens: Mapping[str, str], api_url: str, on_refused: Callable[[str, BadValue], None] | None = None
) -> dict[str, AgentBot]:
    """All bots, by their agents. A token that is refused is said by its agent, never by itself; with `on_refused` the
    others connect all the same."""
    found: dict[str, AgentBot] = {}
    refused: list[TokenRefused] = []
    try:
        for agent, token in tokens.items():
            try:
                found[agent] = await _connected(agent, token, api_url)
            except TokenRefused as refusal:
                if on_refused is None:
                    raise
                on_refused(agent, refusal)
                refused.append(refusal)
    except BaseException:  # half connected is not connected, whatever went wrong
        await closed(found)
        raise
    if refused and not found:
        raise refused[0]
    return found


async def _connected(agent: str, token: str, api_url: str) -> AgentBot:
    bot = made(token, api_url)
    try:
        await bot.initialize()
        me = await bot.get_me()
    except InvalidToken as error:
        await _let_go(bot)
        raise TokenRefused(
            f"Telegram does not accept the token of {agent}'s bot",
            detail="it is wrong, or was revoked",
            fix=(
                "in @BotFather: /mybots, choose the bot, API Token",
                "then set the variable that moot.toml names",
            ),
        ) from error
    except NetworkError as error:
        await _let_go(bot)
        raise unreachable(error) from error
    return AgentBot(agent, bot, me.id, me.username or "", bool(me.can_read_all_group_messages))


async def _let_go(bot: Bot) -> None:
    """Of a bot that has not come up; its own way to do so wants one that has."""
    for client in (bot.request, bot._request[0]):
        await client.shutdown()


async def fetched(bot: Bot, offset: int | None, seconds: int, wanted: list[str]) -> list[JsonObject]:
    """What a bot has not confirmed yet, as Telegram wrote it. The library's own call reads all of it or nothing: one
    update that it cannot read would come again for ever, and nothing behind it."""
    asked = {"timeout": seconds, "offset": offset, "allowed_updates": wanted}
    found: list[JsonObject] = await bot._post("getUpdates", asked, read_timeout=seconds + READ_SECONDS)
    return found


def unreachable(error: TelegramError) -> BadValue:
    return BadValue("Telegram cannot be reached", detail=error.message, fix=("check the network",))


async def closed(bots: Mapping[str, AgentBot]) -> None:
    for one in bots.values():
        await one.bot.shutdown()


def own(bots: Mapping[str, AgentBot]) -> OwnBots:
    return OwnBots(
        {one.id: agent for agent, one in bots.items()},
        {one.username.lower(): agent for agent, one in bots.items()},
    )
