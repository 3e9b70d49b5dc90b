"""Checks for the known traps of Telegram, one by one: tokens, other pollers, webhooks, membership, privacy, posting.

Above: the command line. No update is confirmed, and a test message is deleted again.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from telegram import WebhookInfo
from telegram.constants import ChatMemberStatus
from telegram.error import Conflict, TelegramError

from moot.bridges.findings import BAD, OK, TEST_TEXT, WARN, SetupFinding
from moot.bridges.telegram.bridge import MEMBER_STATUSES
from moot.bridges.telegram.connection import AgentBot, close, connect
from moot.errors import BadValue
from moot.model.records.chat_apps.bridge import ChatKind
from moot.shapes import ChatElsewhere

PRIVACY_FIX: Final = "in @BotFather: /setprivacy, choose the bot, Disable; then remove and re-add the bot"


async def check_setup(
    tokens: Mapping[str, str],
    api_url: str,
    chats: Sequence[ChatElsewhere],
    *,
    hub_polls: bool,
    posts: bool,
    webhook_url: str = "",
) -> list[SetupFinding]:
    findings: list[SetupFinding] = []
    bots: dict[str, AgentBot] = {}
    try:
        for agent, token in tokens.items():
            try:
                bots |= await connect({agent: token}, api_url)
            except BadValue as error:
                fix = " · ".join(str(way) for way in error.fix)
                findings.append(SetupFinding(agent, BAD, error.title, fix))
        for bot in bots.values():
            findings += await _bot(bot, hub_polls=hub_polls, webhook_url=webhook_url)
        for chat in chats:
            findings += await _chat(chat, bots, posts=posts)
    finally:
        await close(bots)
    return findings


async def _bot(bot: AgentBot, *, hub_polls: bool, webhook_url: str) -> list[SetupFinding]:
    name = f"@{bot.username}"
    findings = [SetupFinding(name, OK, f"token accepted, speaks for {bot.agent}")]
    try:
        hook = await bot.bot.get_webhook_info()
        if webhook_url:
            findings += _hook(name, hook, f"{webhook_url.rstrip('/')}/{bot.agent}", is_up=hub_polls)
        elif hook.url:
            text = "a webhook is set, so that nothing can be polled"
            fix = 'remove it: curl "https://api.telegram.org/bot$TOKEN/deleteWebhook", or set webhook_url'
            findings.append(SetupFinding(name, BAD, text, fix))
        elif not hub_polls:
            await bot.bot.get_updates(limit=1, timeout=0)
            findings.append(SetupFinding(name, OK, "nobody else polls this token"))
    except Conflict:
        text = "another process polls this token (HTTP 409)"
        findings.append(
            SetupFinding(name, BAD, text, "stop the other program, or revoke the token in @BotFather")
        )
    except TelegramError as error:
        findings.append(
            SetupFinding(name, BAD, error.message, "check the network, and api_url if you have set it")
        )
    if not bot.reads_all:
        text = "privacy mode is on: in groups only commands and replies arrive, unless the bot is an administrator"
        findings.append(SetupFinding(name, WARN, text, PRIVACY_FIX))
    return findings


def _hook(name: str, hook: WebhookInfo, expected_url: str, *, is_up: bool) -> list[SetupFinding]:
    """Whether Telegram calls this hub, and whether its last call failed."""
    if hook.url != expected_url and not is_up:
        return [SetupFinding(name, OK, "the webhook is set when the hub starts")]
    if hook.url != expected_url:
        fix = "another hub may have set its own; start this one again"
        return [SetupFinding(name, BAD, f"Telegram does not call {expected_url}", fix)]
    if hook.last_error_message:
        fix = "look at webhook_url, its certificate, and the proxy in front of webhook_listen"
        return [SetupFinding(name, BAD, f"Telegram's last call failed: {hook.last_error_message}", fix)]
    return [SetupFinding(name, OK, "Telegram calls this hub")]


async def _chat(chat: ChatElsewhere, bots: Mapping[str, AgentBot], *, posts: bool) -> list[SetupFinding]:
    if chat.kind == ChatKind.PRIVATE:
        return []
    title = chat.title or chat.chat
    number = int(chat.chat.partition("/")[0])
    findings: list[SetupFinding] = []
    reads = False
    for agent in [*chat.agents, *(name for name in bots if name not in chat.agents)]:
        bot = bots.get(agent)
        if bot is None:
            continue
        try:
            member = await bot.bot.get_chat_member(number, bot.id)
            if member.status not in MEMBER_STATUSES:
                raise TelegramError("the bot is not in the group")
        except TelegramError as error:
            findings.append(
                SetupFinding(f"{title} @{bot.username}", WARN, error.message, "add the bot to the group")
            )
            continue
        reads = reads or bot.reads_all or member.status == ChatMemberStatus.ADMINISTRATOR
        findings += await _post(bot, number, title) if posts and chat.state == "paired" else []
    if not reads:
        text = "no bot can read this group: privacy mode is on"
        findings.append(SetupFinding(title, BAD, text, PRIVACY_FIX))
    if chat.kind == ChatKind.GROUP:
        text = f"a basic group: only {chat.listener}'s bot listens, since ids differ per account"
        findings.append(
            SetupFinding(
                title, WARN, text, "upgrade it to a supergroup, for example by making its history visible"
            )
        )
    return findings


async def _post(bot: AgentBot, chat: int, title: str) -> list[SetupFinding]:
    about = f"{title} @{bot.username}"
    try:
        message = await bot.bot.send_message(chat, TEST_TEXT, disable_notification=True)
        await bot.bot.delete_message(chat, message.message_id)
    except TelegramError as error:
        return [
            SetupFinding(
                about, BAD, f"cannot post: {error.message}", "let the bot write in the group's permissions"
            )
        ]
    return [SetupFinding(about, OK, "can post")]
