"""Start the bridges that moot.toml sets up, beside the other doors of a hub, and stop them with it.

A bridge that cannot start is logged, and the rest goes on. Its library is an extra, loaded only here.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from moot.bridges.bridge import Bridge
from moot.bridges.intake import Manners
from moot.bridges.worker import BridgeWorker
from moot.errors import BadValue, MootError
from moot.flow.hear import GuestAllowance
from moot.hub import Hub
from moot.settings import BridgeSettings, DiscordIdentity, DiscordSettings, TelegramSettings

log = structlog.get_logger("moot.bridges")


@asynccontextmanager
async def open_bridges(hub: Hub) -> AsyncIterator[list[BridgeWorker]]:
    """Until the block is left."""
    workers: list[BridgeWorker] = []
    for name, settings in enabled(hub.settings.bridges).items():
        try:
            workers.append(BridgeWorker(hub, bridge_of(settings), manners(settings)))
        except MootError as error:
            log.error(error.title, action="bridge_not_started", bridge=name, fix=list(map(str, error.fix)))
    running = [asyncio.ensure_future(worker.run()) for worker in workers]
    try:
        yield workers
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def enabled(settings: BridgeSettings) -> dict[str, TelegramSettings | DiscordSettings]:
    """Those that are set up and switched on, by name."""
    bridges = {"telegram": settings.telegram, "discord": settings.discord}
    return {name: bridge for name, bridge in bridges.items() if bridge is not None and bridge.enabled}


def manners(settings: TelegramSettings | DiscordSettings) -> Manners:
    allowance = GuestAllowance(settings.guest_messages_per_minute, settings.guest_messages_per_day)
    return Manners(settings.default_agent, allowance)


def bridge_of(settings: TelegramSettings | DiscordSettings) -> Bridge:
    if isinstance(settings, TelegramSettings):
        return _telegram(settings)
    return _discord(settings)


def _telegram(settings: TelegramSettings) -> Bridge:
    tokens = {agent: token for agent, token in settings.bots.items() if token}
    if not tokens:
        raise BadValue(
            "no Telegram bot has a token",
            detail='[bridges.telegram] needs bots.AGENT = "${VARIABLE}", and the variable has to be set',
        )
    try:
        from moot.bridges.telegram.bridge import TelegramBridge  # noqa: PLC0415  an extra, only where it is used
        from moot.bridges.telegram.webhook import webhook_plan  # noqa: PLC0415  as above
    except ImportError as error:
        raise missing("telegram", error) from error
    webhook = webhook_plan(settings.webhook_url, settings.webhook_secret, settings.webhook_listen)
    return TelegramBridge(tokens, api_url=settings.api_url, webhook=webhook)


def _discord(settings: DiscordSettings) -> Bridge:
    if not settings.token:
        raise BadValue(
            "the Discord bot has no token",
            detail='[bridges.discord] needs token = "${DISCORD_TOKEN}", and the variable has to be set',
        )
    try:
        from moot.bridges.discord.bridge import DiscordBridge  # noqa: PLC0415  an extra, only where it is used
    except ImportError as error:
        raise missing("discord", error) from error
    bots = settings.bots if settings.identity is DiscordIdentity.BOTS else {}
    return DiscordBridge(settings.token, bots, api_url=settings.api_url, avatar_url=settings.avatar_url)


def missing(name: str, error: ImportError) -> BadValue:
    return BadValue(
        f"the library for the {name} bridge is not installed",
        detail=str(error),
        fix=(f"pip install 'moot[{name}]'",),
    )
