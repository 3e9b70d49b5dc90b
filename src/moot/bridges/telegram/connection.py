"""Our bots: each a token, its own queue of updates and its own connection, all in one process.

Updates are confirmed by the offset of the next poll, which is moved only after what they brought is stored. That is
why the library's own polling is not used: it confirms what it has fetched, whatever becomes of it.
"""

import os
from collections.abc import Mapping

from msgspec import Struct

from moot.errors import BadValue

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


async def connected(tokens: Mapping[str, str], api_url: str) -> dict[str, AgentBot]:
    """All bots, by their agents. A token that is refused is said by its agent, never by itself."""
    found: dict[str, AgentBot] = {}
    try:
        for agent, token in tokens.items():
            found[agent] = await _connected(agent, token, api_url)
    except BaseException:  # half connected is not connected, whatever went wrong
        await closed(found)
        raise
    return found


async def _connected(agent: str, token: str, api_url: str) -> AgentBot:
    bot = made(token, api_url)
    try:
        await bot.initialize()
        me = await bot.get_me()
    except InvalidToken as error:
        await _let_go(bot)
        raise BadValue(
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
