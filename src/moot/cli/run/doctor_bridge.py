"""What `moot doctor bridge` and `moot bridge … test` check: settings, tokens, and what only the chat app knows.

Below: each bridge's own checkup, loaded where it is set up. Tokens are never shown.
"""

from __future__ import annotations

from typing import Final

from moot.bridges.findings import BAD, BOT_TO_BOT, BOT_TO_BOT_FIX, WARN, SetupFinding
from moot.cli.run.doctor_line import DoctorLine
from moot.errors import MootError
from moot.hub import Hub
from moot.hub.process.hub_lock import running_hub
from moot.settings import DiscordIdentity, DiscordSettings, Home, Settings, TelegramSettings, load
from moot.shapes import ChatElsewhere
from moot.wiring import storage

STEPS: Final[dict[str, tuple[str, ...]]] = {
    "telegram": (
        "In Telegram, write /newbot to @BotFather, once for each agent, and keep the token it gives you.",
        "Write /setprivacy to @BotFather, choose the bot, and Disable: otherwise it hears only commands in groups.",
        "Put each token into an environment variable of the hub, such as TELEGRAM_BOT_TOKEN_ANALYST.",
        'In moot.toml write [bridges.telegram] and bots.analyst = "${TELEGRAM_BOT_TOKEN_ANALYST}" for each agent.',
        "Start the hub with moot up, and add the bots to a group, or write to one of them.",
        "Run moot bridge telegram add, and write the /pair line it prints in that chat.",
    ),
    "discord": (
        "At discord.com/developers/applications make an application; under Bot, reset the token and keep it.",
        "On the same page switch on Message Content Intent: without it the bot hears nothing.",
        "Under OAuth2 make an invite link with the scopes bot and applications.commands, and open it.",
        "Give it the permissions View Channels, Send Messages, Read Message History and Manage Webhooks.",
        "Put the token into an environment variable of the hub, such as DISCORD_TOKEN.",
        'In moot.toml write [bridges.discord] and token = "${DISCORD_TOKEN}".',
        "Start the hub with moot up, run moot bridge discord add, and write the /pair line it prints in a channel.",
    ),
}


def problems(settings: Settings, name: str) -> list[str]:
    """What the settings lack, without asking the chat app."""
    bridge = settings.bridges.telegram if name == "telegram" else settings.bridges.discord
    if bridge is None:
        return [f"moot.toml has no [bridges.{name}]"]
    missing = [] if bridge.enabled else [f"bridges.{name}.enabled is false"]
    agent_names = {row.name for row in settings.agents}
    if bridge.default_agent and bridge.default_agent not in agent_names:
        missing.append(f'default_agent = "{bridge.default_agent}" is no agent of moot.toml')
    missing += [
        f"bots.{agent} has no token: its variable is not set"
        for agent, token in bridge.bots.items()
        if not token
    ]
    missing += [f"{' and '.join(names)} have the same token: each needs its own" for names in _twins(bridge)]
    if name == "telegram" and not bridge.bots:
        missing.append('no bot is set: write bots.AGENT = "${VARIABLE}"')
    if settings.bridges.discord is not None and name == "discord":
        if not settings.bridges.discord.token:
            missing.append("token is not set: the bot that reads needs one")
        if settings.bridges.discord.identity is DiscordIdentity.BOTS and not bridge.bots:
            missing.append('identity = "bots" needs bots.AGENT = "${VARIABLE}" for each agent')
    return missing


def _twins(bridge: TelegramSettings | DiscordSettings) -> list[list[str]]:
    """Bots that share a token: in Telegram they would take each other's updates, in Discord speak as one."""
    tokens = {f"bots.{agent}": token for agent, token in bridge.bots.items() if token}
    if isinstance(bridge, DiscordSettings) and bridge.token:
        tokens["token"] = bridge.token
    by_token: dict[str, list[str]] = {}
    for name, token in tokens.items():
        by_token.setdefault(token, []).append(name)
    return [names for names in by_token.values() if len(names) > 1]


def not_started(settings: Settings) -> list[tuple[str, str]]:
    """Bridges that are switched on and lack something, with what they lack."""
    rows = {name: getattr(settings.bridges, name) for name in STEPS}
    names = [name for name, row in rows.items() if row is not None and row.enabled]
    return [(name, problem) for name in names for problem in problems(settings, name)]


async def findings(home: Home, name: str, *, posts: bool = False) -> list[SetupFinding]:
    try:
        settings = load(home)
    except MootError as error:
        return [SetupFinding("moot.toml", BAD, error.title)]
    how = f"moot bridge {name} setup shows the steps"
    missing = [SetupFinding("moot.toml", BAD, one, how) for one in problems(settings, name)]
    if missing:
        return missing
    chats, heard_bots = await _chats(home, name)
    try:
        if name == "telegram":
            from moot.bridges.telegram.checkup import check_setup  # noqa: PLC0415  an extra

            assert settings.bridges.telegram is not None
            bridge = settings.bridges.telegram
            hub_polls = running_hub(home) is not None
            bot_findings = await check_setup(
                bridge.bots,
                bridge.api_url,
                chats,
                hub_polls=hub_polls,
                posts=posts,
                webhook_url=bridge.webhook_url,
            )
            return [*bot_findings, *heard_bots]
        from moot.bridges.discord.checkup import check_setup as check_discord  # noqa: PLC0415  an extra

        assert settings.bridges.discord is not None
        agents = [row.name for row in settings.agents]
        return await check_discord(settings.bridges.discord, chats, agents, posts=posts)
    except ImportError as error:
        return [
            SetupFinding(name, BAD, f"its library is not installed: {error}", f"pip install 'moot[{name}]'")
        ]


async def _chats(home: Home, name: str) -> tuple[list[ChatElsewhere], list[SetupFinding]]:
    """The known chats, and warnings about bots that hear other bots."""
    if not storage(home).exists():
        return [], []
    async with Hub.reading(home.path) as hub:
        letters = [one for one in await hub.bridges.dead_letters() if one.bridge == name]
        overheard = [one for one in letters if one.key.startswith(BOT_TO_BOT)]
        warnings = [
            SetupFinding(f"@{one.key.partition('/')[2]}", WARN, one.error, BOT_TO_BOT_FIX)
            for one in overheard
        ]
        return await hub.bridges.chats(name), warnings


async def bridges(home: Home) -> list[DoctorLine]:
    """Every bridge that is set up, or a line that none is."""
    return await bridges_set_up(home) or [
        DoctorLine("bridge", WARN, "no bridge is set up", "moot bridge telegram setup")
    ]


async def bridges_set_up(home: Home) -> list[DoctorLine]:
    """Every bridge that is set up; none if moot.toml cannot be read, which has a line of its own."""
    try:
        settings = load(home)
    except MootError:
        return []
    names = [name for name in STEPS if getattr(settings.bridges, name) is not None]
    rows = [(name, one) for name in names for one in await findings(home, name)]
    return [DoctorLine(name, one.state, f"{one.about}: {one.text}", one.fix) for name, one in rows]
