"""Our bots: each a token, its own queue of updates and its own connection, all in one process.

Updates are confirmed by the offset of the next poll, which moves on only after they are stored. That is why the
library's own polling is not used: it confirms what it has fetched, stored or not.
"""

import logging
import os
import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from moot.errors import BadValue
from moot.model.json import JsonObject

os.environ.setdefault("PTB_TIMEDELTA", "1")  # without it, reading how long to wait raises a warning

from telegram import Bot
from telegram.error import InvalidToken, NetworkError, TelegramError
from telegram.request import HTTPXRequest

from moot.bridges.telegram.updates import OwnBots

API_URL = "https://api.telegram.org"
CONNECT_SECONDS = 5.0
READ_SECONDS = 10.0


class TokenRefused(BadValue):
    """The token of one bot was refused; the others may work."""


class _WithoutTokens(logging.Filter):
    """Removes tokens from logged requests: the address of a request contains the bot's token."""

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


def _make_bot(token: str, api_url: str) -> Bot:
    base = f"{api_url.rstrip('/')}/bot"
    return Bot(token, base_url=base, request=_client(8, base), get_updates_request=_client(1, base))


def _client(connections: int, base: str) -> HTTPXRequest:
    """Without TLS the certificates need not be loaded, which takes a third of a second."""
    return HTTPXRequest(
        connection_pool_size=connections,
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        http_version="1.1",
        httpx_kwargs={"verify": False} if base.startswith("http://") else {},
    )


async def connect(
    tokens: Mapping[str, str], api_url: str, on_refused: Callable[[str, BadValue], None] | None = None
) -> dict[str, AgentBot]:
    """Connect all bots, by agent. The error for a refused token names the agent, never the token; with `on_refused`
    the others connect anyway."""
    bots: dict[str, AgentBot] = {}
    refused: list[TokenRefused] = []
    try:
        for agent, token in tokens.items():
            try:
                bots[agent] = await _connect(agent, token, api_url)
            except TokenRefused as refusal:
                if on_refused is None:
                    raise
                on_refused(agent, refusal)
                refused.append(refusal)
    except BaseException:  # all or none, whatever went wrong
        await close(bots)
        raise
    if refused and not bots:
        raise refused[0]
    return bots


async def _connect(agent: str, token: str, api_url: str) -> AgentBot:
    bot = _make_bot(token, api_url)
    try:
        await bot.initialize()
        me = await bot.get_me()
    except InvalidToken as error:
        await _shut_down(bot)
        raise TokenRefused(
            f"Telegram does not accept the token of {agent}'s bot",
            detail="it is wrong, or was revoked",
            fix=(
                "in @BotFather: /mybots, choose the bot, API Token",
                "then set the variable that moot.toml names",
            ),
        ) from error
    except NetworkError as error:
        await _shut_down(bot)
        raise unreachable(error) from error
    return AgentBot(agent, bot, me.id, me.username or "", bool(me.can_read_all_group_messages))


async def _shut_down(bot: Bot) -> None:
    """Close a bot that was not initialised; its own shutdown requires that it was."""
    for client in (bot.request, bot._request[0]):
        await client.shutdown()


async def fetch_updates(bot: Bot, offset: int | None, seconds: int, kinds: list[str]) -> list[JsonObject]:
    """The unconfirmed updates, as Telegram sent them. The library's own call parses all or none: one update that it
    cannot parse would block all later ones."""
    arguments = {"timeout": seconds, "offset": offset, "allowed_updates": kinds}
    updates: list[JsonObject] = await bot._post("getUpdates", arguments, read_timeout=seconds + READ_SECONDS)
    return updates


def unreachable(error: TelegramError) -> BadValue:
    return BadValue("Telegram cannot be reached", detail=error.message, fix=("check the network",))


async def close(bots: Mapping[str, AgentBot]) -> None:
    for bot in bots.values():
        await bot.bot.shutdown()


def own(bots: Mapping[str, AgentBot]) -> OwnBots:
    return OwnBots(
        {bot.id: agent for agent, bot in bots.items()},
        {bot.username.lower(): agent for agent, bot in bots.items()},
    )
